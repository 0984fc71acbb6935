// HTIF: the mailbox `tohost`/`fromhost` by which RISC-V test programs communicate with a simulator.
//
// tohost: device in bits 63:56, command in 55:48, payload in 47:0. Device 0: if bit 0 of the payload is set, the program ends
// with exit code payload >> 1; otherwise the payload is the address of a block {number, argument 0, 1, 2, ...} of a Linux
// system call, of which only exit and write to stdout or stderr are implemented. Device 1: command 1 writes a character to the
// console, command 0 reads a character. Source: the convention documented by riscv-isa-sim, as used by riscv-tests. No SystemC.
#pragma once

#include <cstdint>

#include "models/host/rv64/guest_access.h"

namespace lacuna {

class Htif {
 public:
  /// `fromhost` 0 = the program has no such mailbox. `console` is read at every call.
  Htif(std::uint64_t tohost, std::uint64_t fromhost, const HartConsole& console, GuestAccess& guest);
  /// Call it when the guest has stored to tohost: performs the command.
  void serve();

 private:
  void system_call(std::uint64_t block);
  void respond(std::uint64_t value);

  std::uint64_t tohost_;
  std::uint64_t fromhost_;
  const HartConsole& console_;
  GuestAccess& guest_;
};

}  // namespace lacuna

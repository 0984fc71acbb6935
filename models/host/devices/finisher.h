// Test finisher, compatible with the "sifive,test0" device: a 32-bit store ends the simulation.
//
//   offset 0  RW 32  bits 15:0 command, bits 31:16 code
//     0x5555  pass: exit code 0
//     0x3333  fail: exit code = code, or 1 when the code is 0
//     0x7777  reset: not supported, exit code 0
// Other commands are logged and ignored. Reads return the last value written.
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

#include "models/common/transport/mmio_peripheral.h"

namespace lacuna {

class Finisher : public MmioPeripheral {
 public:
  explicit Finisher(sc_core::sc_module_name module_name, const MmioParameters& parameters = {});

  /// Sets the function that the store calls with the exit code.
  void set_exit_callback(std::function<void(int)> on_exit) { on_exit_ = std::move(on_exit); }
  void reset() { value_ = 0; }

 private:
  std::uint64_t read_register(const RegisterAccess& access) override;
  void write_register(const RegisterAccess& access, std::uint64_t value) override;

  std::function<void(int)> on_exit_;
  std::uint32_t value_ = 0;
};

}  // namespace lacuna

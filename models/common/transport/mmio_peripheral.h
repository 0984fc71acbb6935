// Base class of memory-mapped devices: register table, access time and checks of accesses.
//
// A device lists its registers in its constructor (name, offset, width, mode) and implements read_register and
// write_register. The base decodes the transaction, checks it, charges the access latency once (never for debug accesses)
// and responds:
//   no register at the offset, or access across the end      TLM_ADDRESS_ERROR_RESPONSE
//   length other than the register's width, misaligned,
//   streaming width below the length                         TLM_BURST_ERROR_RESPONSE
//   write to a read-only or read of a write-only register    TLM_COMMAND_ERROR_RESPONSE
//   byte enables                                             TLM_BYTE_ENABLE_ERROR_RESPONSE
//   no data pointer, or length zero                          TLM_GENERIC_ERROR_RESPONSE
// Each error is logged with the instance, the access and the nearest register. Debug accesses are not logged and must have no
// side effects; for them, RegisterAccess::debug is set.
//
// A device whose hook changes the level of one of its interrupt lines calls report_line_change(), which notifies the initiator
// (models/common/transport/line_change.h). Reads as well as writes may change lines, for instance a claim or a read that
// acknowledges an interrupt.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"

namespace lacuna {

struct MmioParameters {
  Frequency clock{100'000'000};
  Cycles read_latency{1};
  Cycles write_latency{1};

  void describe(ParameterSection& section);
};

enum class RegisterMode : std::uint8_t { read_only, write_only, read_write };

/// One register, or an array of identical registers.
struct MmioRegister {
  std::string name;
  std::uint64_t offset = 0;
  unsigned width = 4;  ///< width in bytes: 1, 2, 4 or 8
  RegisterMode mode = RegisterMode::read_write;
  unsigned count = 1;
  std::uint64_t stride = 0;  ///< distance of array elements in bytes; 0: `width`
  /// Allows accesses to a 64-bit register as two 32-bit words.
  bool halves = false;
  unsigned id = 0;  ///< result of add_register(), for use in the device's switch statement
};

/// An access, as passed to the hook of a device.
struct RegisterAccess {
  const MmioRegister& reg;
  unsigned index;  ///< index of the element in a register array
  Tick at;         ///< local time of the initiator at which the access takes effect
  bool debug;      ///< true: the access must have no side effects
};

class MmioPeripheral : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<MmioPeripheral> bus;

  Bytes size() const { return size_; }
  const std::vector<MmioRegister>& registers() const { return registers_; }

 protected:
  /// `size`: length of the device's address range.
  MmioPeripheral(sc_core::sc_module_name module_name, const MmioParameters& parameters, Bytes size);

  /// A register must lie within the device, must not overlap another register, and must be naturally aligned (throws
  /// std::invalid_argument otherwise). Returns the id: 0, 1, 2, ... in order of registration.
  unsigned add_register(MmioRegister reg);

  /// Reads a whole register, also if only half of it is accessed; called only for legal accesses. The value is zero-extended.
  virtual std::uint64_t read_register(const RegisterAccess& access) = 0;
  virtual void write_register(const RegisterAccess& access, std::uint64_t value) = 0;

  /// A hook calls this if its access changes the level of an interrupt line, immediately or some delta cycles later.
  void report_line_change() { line_changed_ = true; }

 private:
  struct Place {
    std::uint64_t begin;
    std::uint64_t end;
    unsigned index;  // index in registers_
  };
  struct Decoded {
    const MmioRegister* reg = nullptr;
    unsigned element = 0;
    unsigned half = 0;  // 1 for the upper word of a 64-bit register that is accessed by halves
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  Decoded decode(const tlm::tlm_generic_payload& payload) const;
  void perform(const Decoded& decoded, tlm::tlm_generic_payload& payload, Tick at, bool debug);
  void log_refusal(const tlm::tlm_generic_payload& payload, const Decoded& decoded) const;

  Tick read_latency_;
  Tick write_latency_;
  Bytes size_;
  bool line_changed_ = false;  // whether the current access changes an interrupt line
  std::vector<MmioRegister> registers_;
  std::vector<Place> places_;  // sorted by begin
};

}  // namespace lacuna

// Platform-level interrupt controller (RISC-V PLIC specification 1.0.0). Sources are level-triggered and numbered from 1.
//
//   0x000000 + 4 s           RW 32  priority of source s, 0 = never, up to max_priority; s = 1..sources
//   0x001000 + 4 w           RO 32  pending bits of sources 32 w .. 32 w + 31
//   0x002000 + 0x80 c + 4 w  RW 32  enable bits of context c; bit 0 of word 0 is zero
//   0x200000 + 0x1000 c      RW 32  threshold of context c: sources of higher priority interrupt
//   0x200004 + 0x1000 c      RW 32  read: claim the pending enabled source of highest priority (lowest number among equals), 0
//   = none
//                                   write: complete; ignored when the source is not enabled for the context
// A source's gateway delays further requests between claim and completion; a pending request stays pending until it is claimed.
// Context 0 is hart 0 in M mode. The gateways sample the sources at SystemC time: an initiator whose access has changed a
// source's line waits until the change is visible before it continues (models/common/transport/line_change.h).
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/common/transport/mmio_peripheral.h"

namespace lacuna {

struct PlicParameters {
  MmioParameters bus;
  unsigned max_priority = 7;

  void describe(ParameterSection& section);
};

class Plic : public MmioPeripheral {
 public:
  /// Source s is source_lines[s - 1].
  sc_core::sc_vector<sc_core::sc_in<bool>> source_lines;
  sc_core::sc_vector<sc_core::sc_out<bool>> interrupt;  ///< one per context

  /// `sources` is at most 1023, `contexts` at most 15872 (the limits of the specification's register map).
  Plic(sc_core::sc_module_name module_name, const PlicParameters& parameters, unsigned sources, unsigned contexts = 1);

  sc_core::sc_in<bool>& source(unsigned number) { return source_lines.at(number - 1); }
  void reset();

 private:
  struct Context {
    std::vector<std::uint32_t> enable;
    std::uint32_t threshold = 0;
  };
  std::uint64_t read_register(const RegisterAccess& access) override;
  void write_register(const RegisterAccess& access, std::uint64_t value) override;
  void sample_sources();
  void follow_requests();
  void update_lines();
  /// Source of highest priority above `threshold` that is pending and enabled, or 0.
  unsigned best(const Context& context, std::uint32_t threshold) const;

  enum : unsigned { kPriority, kPending, kFirstContext };  // then the registers of each context: enable, threshold, claim
  unsigned max_priority_;
  unsigned sources_;
  std::vector<std::uint32_t> priority_;  // indexed by source number
  std::vector<std::uint32_t> pending_;   // one bit per source
  std::vector<bool> in_service_;         // indexed by source number
  std::vector<Context> contexts_;
  std::vector<bool> levels_;  // levels of the contexts' lines, which follow a delta cycle later
  sc_core::sc_event update_;
};

}  // namespace lacuna

// Notification to an initiator that has interrupt inputs: an access of this initiator has changed an interrupt line of a
// device.
#pragma once

#include <tlm>

namespace lacuna {

/// Optional extension of tlm_generic_payload. An initiator that runs ahead of the SystemC kernel attaches the extension; the
/// target sets `changed`. Interrupt lines are signals, which change some delta cycles after the access; after an access that
/// has changed a line, the initiator waits for these cycles before its next instruction.
struct LineChange : tlm::tlm_extension<LineChange> {
  bool changed = false;

  tlm::tlm_extension_base* clone() const override { return new LineChange(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const LineChange&>(other); }
};

}  // namespace lacuna

// Notification of an initiator with interrupt inputs that its access has changed an interrupt line of a device.
#pragma once

#include <tlm>

namespace lacuna {

/// Optional extension of tlm_generic_payload: attached by an initiator that runs ahead of the kernel, set by the target. The
/// lines themselves are signals, which change some delta cycles after the access; if an access has changed one, its initiator
/// waits for these cycles before its next instruction.
struct LineChange : tlm::tlm_extension<LineChange> {
  bool changed = false;

  tlm::tlm_extension_base* clone() const override { return new LineChange(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const LineChange&>(other); }
};

}  // namespace lacuna

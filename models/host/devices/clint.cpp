#include "models/host/devices/clint.h"

#include <algorithm>

#include "models/common/time/tlm_time.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kNeverCompare = ~std::uint64_t{0};

}  // namespace

void ClintParameters::describe(ParameterSection& section) {
  bus.describe(section);
  section.add("timebase", timebase, "Rate of mtime", {.range = {1, 1e12}});
}

Clint::Clint(sc_core::sc_module_name module_name, const ClintParameters& parameters, unsigned harts)
    : MmioPeripheral(module_name, parameters.bus, Bytes{0x10000}),
      timer_interrupt("timer_interrupt", harts),
      software_interrupt("software_interrupt", harts),
      period_(parameters.timebase.period()),
      msip_(harts, 0),
      mtimecmp_(harts, kNeverCompare) {
  add_register({.name = "msip", .offset = 0, .width = 4, .count = harts});
  add_register({.name = "mtimecmp", .offset = 0x4000, .width = 8, .count = harts, .halves = true});
  add_register({.name = "mtime", .offset = 0xbff8, .width = 8, .halves = true});
  SC_HAS_PROCESS(Clint);
  SC_METHOD(update_lines);
  sensitive << update_;
}

bool Clint::reached(unsigned hart, Tick now) const { return mtime(later(now, written_)) >= mtimecmp_[hart]; }

Tick Clint::fires(unsigned hart, Tick now) const {
  if (reached(hart, now)) return kNever;
  const Tick at = later(now, written_);
  const std::uint64_t remaining = mtimecmp_[hart] - mtime(at);
  const std::uint64_t elapsed = at.ps / period_.ps;
  // A compare value beyond the range of SystemC time is never reached.
  if (remaining >= kNever.ps / period_.ps - elapsed) return kNever;
  return {period_.ps * (elapsed + remaining)};
}

Tick Clint::next_line_change(unsigned hart, Tick now) const {
  const bool on_its_way =
      timer_interrupt[hart].read() != reached(hart, now) || software_interrupt[hart].read() != (msip_[hart] != 0);
  return on_its_way ? now : fires(hart, now);
}

void Clint::reset() {
  std::fill(msip_.begin(), msip_.end(), 0);
  std::fill(mtimecmp_.begin(), mtimecmp_.end(), kNeverCompare);
  offset_ = 0;
  written_ = {};
  update_.notify(sc_core::SC_ZERO_TIME);
}

std::uint64_t Clint::read_register(const RegisterAccess& access) {
  switch (access.reg.id) {
    case kMsip:
      return msip_[access.index];
    case kMtimecmp:
      return mtimecmp_[access.index];
    default:
      return mtime(access.at);
  }
}

void Clint::write_register(const RegisterAccess& access, std::uint64_t value) {
  switch (access.reg.id) {
    case kMsip:
      msip_[access.index] = value & 1;
      break;
    case kMtimecmp:
      mtimecmp_[access.index] = value;
      break;
    default:
      offset_ += value - mtime(access.at);
      break;
  }
  written_ = access.at;
  // Lines change at SystemC time instead of the initiator's local time, so that a falling line is low before the initiator
  // reads it again.
  update_.notify(sc_core::SC_ZERO_TIME);
  report_line_change();
}

void Clint::update_lines() {
  const Tick now = kernel_time();
  Tick next = kNever;
  for (unsigned h = 0; h < msip_.size(); ++h) {
    software_interrupt[h].write(msip_[h] != 0);
    timer_interrupt[h].write(reached(h, now));
    next = earlier(next, fires(h, now));
  }
  if (next != kNever) update_.notify(to_sc_time(next - now));
}

}  // namespace lacuna

#include "models/common/time/clocked_calendar.h"

namespace lacuna {

void ClockedCalendar::leave_grid() {
  on_grid_ = false;
  slots_.each_booked([this](std::uint64_t cycle) { intervals_.reserve({cycle * grain_.ps}, grain_); });
  slots_.reset();
}

void ClockedCalendar::return_to_grid(Tick horizon) {
  on_grid_ = clock_.period() == grain_;
  slots_.retire(clock_.floor(horizon).n);
}

}  // namespace lacuna

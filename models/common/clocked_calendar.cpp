#include "models/common/clocked_calendar.h"

namespace lacuna {

void ClockedCalendar::leave_grid() {
  on_grid_ = false;
  for (std::uint64_t cycle = slots_.first_kept(); cycle < slots_.first_kept() + slots_.window(); ++cycle) {
    if (slots_.is_booked(cycle)) intervals_.reserve({cycle * grain_.ps}, grain_);
  }
  slots_.reset();
}

void ClockedCalendar::return_to_grid(Tick horizon) {
  on_grid_ = clock_.period() == grain_;
  slots_.retire(clock_.floor(horizon).n);
}

}  // namespace lacuna

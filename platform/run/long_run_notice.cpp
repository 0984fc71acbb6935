#include "platform/run/long_run_notice.h"

#include <ostream>
#include <sstream>

#include "platform/run/text_table.h"

namespace lacuna {

bool LongRunNotice::due(double seconds) {
  spent_ += seconds;
  return !said_ && after_ > 0 && spent_ >= after_;
}

void LongRunNotice::say(const ProgressLine::Snapshot& snapshot) {
  said_ = true;
  std::ostringstream line;
  line << "lacuna: simulating for " << fixed(spent_, 0) << " s: ";
  if (!snapshot.kernel.empty()) line << "kernel " << readable_kernel(std::string(snapshot.kernel)) << ", ";
  line << readable_time(snapshot.simulated) << " of simulated time, "
       << fixed(static_cast<double>(snapshot.wavefront_instructions) / spent_ / 1e6, 2) << " million wavefront instructions/s";
  if (timed_) line << "; without timing (--set gpu.timing=functional) some ten times faster";
  out_ << line.str() << std::endl;
}

}  // namespace lacuna

// The kernels of a run: collected while it goes on, written as CSV and as the table that the user sees at the end.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "models/gpu/kernel_record.h"
#include "platform/run_hash.h"

namespace lacuna {

class KernelLog : public KernelObserver {
 public:
  void kernel_started(const Dispatch& dispatch) override;
  void kernel_ended(const KernelRecord& record) override;

  const std::vector<KernelRecord>& records() const { return records_; }
  /// Name of the kernel launched last that still runs; empty = none.
  const std::string& running() const;

 private:
  struct Running {
    std::uint64_t index;
    std::string name;
  };
  std::vector<KernelRecord> records_;
  std::vector<Running> running_;
};

/// kernels.csv: one line per kernel in order of completion, times in picoseconds.
void write_kernels_csv(const std::vector<KernelRecord>& records, std::ostream& out);
/// The table for people: one line per kernel and a total.
void write_kernel_table(const std::vector<KernelRecord>& records, std::ostream& out);
/// Everything that must be the same in every run: all but the wall time.
void add_kernels(const std::vector<KernelRecord>& records, RunHash& hash);

/// "1.234 ms": four significant digits in the unit that fits.
std::string readable_time(Tick time);
/// "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace lacuna

// The kernels of a run: collected during the run, written as CSV, and shown as a table at the end of the run.
#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/command/kernel_record.h"
#include "platform/run/output_file.h"
#include "platform/run/run_hash.h"

namespace lacuna {

/// All dispatches of kernels with the same name.
struct KernelSummary {
  std::string name;
  std::uint64_t dispatches = 0;
  std::uint64_t failed = 0;
  std::uint64_t unfinished = 0;
  Tick time{};
  Tick shortest{kNever};
  Tick longest{};
  std::uint64_t cycles = 0;
  std::uint64_t least_cycles = std::numeric_limits<std::uint64_t>::max();  ///< cycles of the shortest dispatch
  std::uint64_t most_cycles = 0;
  std::uint64_t workgroups = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t untimed_instructions = 0;
  /// Half-width of the confidence interval of `cycles`; summed over dispatches, because errors of launches of a class are not
  /// independent.
  std::uint64_t half_width = 0;
  std::uint64_t bulk_bytes = 0;
  double wall_seconds = 0;
  KernelActivity activity{};
  KernelEnergy energy{};

  void add(const KernelRecord& record);
};

/// Collects the kernels of a run. Only the first kKept dispatches are kept individually, so that memory does not grow with the
/// number of dispatches.
class KernelLog : public KernelObserver {
 public:
  static constexpr std::size_t kKept = 1000;

  void kernel_started(const Dispatch& dispatch) override;
  void kernel_ended(const KernelRecord& record) override;

  /// Sets the names of the blocks whose energy is recorded; empty: energy is not accounted for. Call it before record_to().
  void set_energy_blocks(std::vector<std::string> blocks) { energy_blocks_ = std::move(blocks); }
  const std::vector<std::string>& energy_blocks() const { return energy_blocks_; }
  /// From now on, writes to this file (kernels.csv) every kernel that ends, or that is unfinished at the end of the run.
  void record_to(std::shared_ptr<OutputFile> csv);
  /// The first kKept records, in order of completion.
  const std::deque<KernelRecord>& records() const { return records_; }
  std::uint64_t count() const { return count_; }
  /// Summaries of kernels, in order of first completion.
  const std::vector<KernelSummary>& summaries() const { return summaries_; }
  /// Hash of all records, including those that are not kept.
  std::string hash() const { return hash_.text(); }
  /// Name of the running kernel that was launched last; empty = none.
  const std::string& running() const;

 private:
  struct Running {
    std::uint64_t index;
    std::string name;
  };
  std::deque<KernelRecord> records_;  ///< a deque: references stay valid when records are added
  std::vector<Running> running_;
  std::vector<KernelSummary> summaries_;
  std::map<std::string, std::size_t, std::less<>> summary_of_;  ///< index in summaries_ by kernel name
  std::vector<std::string> energy_blocks_;
  std::uint64_t count_ = 0;
  RunHash hash_;
  std::shared_ptr<OutputFile> csv_;
  std::string line_;  ///< current line of csv_
};

/// Writes kernels.csv: one line per dispatch in order of completion, with times in picoseconds and, if there are blocks,
/// energy.
void write_kernels_csv(const std::vector<KernelRecord>& records, std::ostream& out,
                       const std::vector<std::string>& energy_blocks = {});
/// Writes kernel_totals.csv: a line per kernel in order of first completion, with counts and times of all its dispatches; times
/// and cycles also as minimum, mean and maximum of a dispatch.
void write_kernel_totals_csv(const std::vector<KernelSummary>& summaries, std::ostream& out,
                             const std::vector<std::string>& energy_blocks = {});
/// Writes a table for the terminal: a line per dispatch and a total.
void write_kernel_table(const std::deque<KernelRecord>& records, std::ostream& out);
/// Writes a table for the terminal, for runs with many dispatches: a line per kernel, with the number of dispatches and their
/// shortest, mean and longest time, and a total.
void write_kernel_table(const std::vector<KernelSummary>& summaries, std::ostream& out);
/// Adds the records to the run hash: names, sizes, times, instruction counts and some counts of activity. Wall time and energy
/// are not covered.
void add_kernels(std::span<const KernelRecord> records, RunHash& hash);

}  // namespace lacuna

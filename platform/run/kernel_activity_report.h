// Breakdown of the time of kernels, in files and as text.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "models/compute/kernel_activity.h"
#include "platform/run/json_writer.h"
#include "platform/run/run_hash.h"

namespace lacuna {

/// Further columns of kernels.csv, each with a comma before it: wavefront cycles by cause ("cycles_issue", …, and those of
/// slots without a wavefront), requests of loads and the parts of their time, used and available amounts of each resource.
void write_activity_csv_header(std::ostream& out);
void append_activity_csv(const KernelActivity& activity, std::string& line);
/// docs/reference/kernels-csv.md: all columns and their meaning.
void write_kernels_csv_reference(std::ostream& out);
/// Writes the values of append_activity_csv() as an object, with each wavefront class.
void write_activity_json(const KernelActivity& activity, JsonWriter& json);
void add_activity(const KernelActivity& activity, RunHash& hash);

struct NamedActivity {
  std::string name;
  Tick time;  ///< total time of its dispatches
  const KernelActivity* activity;
};
/// Writes two tables: shares of the wavefronts' cycles by cause, and a line per kernel with its bound and achieved against peak
/// for every resource. Causes that only lazy cores have are columns if a kernel has any. Then, if loads have been held, the
/// outcomes of their transactions, and a warning for each kernel with lanes found by lazy.check (lanes_changed). Then, if
/// chains have been begun, where they were performed. Nothing if no kernel has been timed.
void write_activity_report(const std::vector<NamedActivity>& kernels, std::ostream& out);
/// "DRAM bandwidth" if a resource is used to kBoundShare of its peak or more, otherwise the most frequent wait of the
/// wavefronts: "latency of vector memory, with 40 % of the wavefront slots in use".
inline constexpr double kBoundShare = 0.6;
std::string bound_of(const KernelActivity& activity);

}  // namespace lacuna

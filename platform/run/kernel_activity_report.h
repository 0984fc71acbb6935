// Where the time of kernels went, for files and for people.
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
/// slots without a wavefront), requests of loads and the parts of their time, what was used and available of each resource.
void write_activity_csv_header(std::ostream& out);
void append_activity_csv(const KernelActivity& activity, std::string& line);
/// docs/kernels-csv.md: all columns and their meaning.
void write_kernels_csv_reference(std::ostream& out);
/// The same as an object, with the wavefront classes one by one.
void write_activity_json(const KernelActivity& activity, JsonWriter& json);
void add_activity(const KernelActivity& activity, RunHash& hash);

struct NamedActivity {
  std::string name;
  Tick time;  ///< that it took, of all its dispatches
  const KernelActivity* activity;
};
/// Two tables: shares of the wavefronts' cycles by cause, and one line for each kernel that says what bounded it, with achieved
/// against peak for every resource. Causes that only lazy cores know are columns when a kernel has any. Then, when loads have
/// been held, what has become of their transactions, and a warning for each kernel with lanes that lazy.check has found
/// (lanes_changed). Then, when chains have been begun, where they were performed. Nothing when no kernel has been timed.
void write_activity_report(const std::vector<NamedActivity>& kernels, std::ostream& out);
/// "DRAM bandwidth" when a resource is used to kBoundShare of its peak or more, otherwise the wait that most of the wavefronts'
/// time goes to: "latency of vector memory, with 40 % of the wavefront slots in use".
inline constexpr double kBoundShare = 0.6;
std::string bound_of(const KernelActivity& activity);

}  // namespace lacuna

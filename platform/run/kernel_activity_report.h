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

/// Writes the names of the activity columns of kernels.csv, each with a comma before it: wavefront cycles by cause
/// ("cycles_issue", …) and cycles of slots without a wavefront, issued instructions, requests of loads and the parts of their
/// time, used and available amounts of each resource, and counts of memory, research machines and matrix operations.
void write_activity_csv_header(std::ostream& out);
void append_activity_csv(const KernelActivity& activity, std::string& line);
/// Writes docs/reference/kernels-csv.md: all columns and their meaning.
void write_kernels_csv_reference(std::ostream& out);
/// Writes the values of append_activity_csv() as a JSON object, with a breakdown by wavefront class.
void write_activity_json(const KernelActivity& activity, JsonWriter& json);
void add_activity(const KernelActivity& activity, RunHash& hash);

struct NamedActivity {
  std::string name;
  Tick time;  ///< total time of its dispatches
  const KernelActivity* activity;
};
/// Writes two tables: the shares of the wavefronts' cycles by cause, and a line per kernel with its bound and with achieved and
/// peak rates of each resource. A cause of a research machine is a column only if a kernel has it. A table of each research
/// machine that was used follows, with warnings for kernels in which its checks failed. Writes nothing if no kernel was timed.
void write_activity_report(const std::vector<NamedActivity>& kernels, std::ostream& out);
/// Share of a resource's peak from which bound_of() names the resource, such as "DRAM bandwidth". Otherwise bound_of() names
/// the wait that takes most wavefront cycles: "latency of vector memory, with 40 % of the wavefront slots in use".
inline constexpr double kBoundShare = 0.6;
std::string bound_of(const KernelActivity& activity);

}  // namespace lacuna

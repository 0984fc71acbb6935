#include "platform/sida/jobs_csv.h"

#include <fmt/format.h>

#include <ostream>
#include <string_view>

#include "models/common/config/statistics.h"
#include "models/sida/machine/count_statistics.h"

namespace lacuna {
namespace {

struct Column {
  std::string_view name, meaning;
  std::string (*value)(const SidaJobRecord& job);
};

constexpr std::string_view name_of(SidaJobEnd end) {
  switch (end) {
    case SidaJobEnd::done:
      return "done";
    case SidaJobEnd::failed:
      return "failed";
    case SidaJobEnd::dropped:
      return "dropped";
  }
  return "";
}

constexpr Column kColumns[]{
    {"job", "number of the job in its accelerator, in the order in which they began, from 0",
     [](const SidaJobRecord& job) { return std::to_string(job.number); }},
    {"queue", "number of its queue", [](const SidaJobRecord& job) { return std::to_string(job.packet.slot); }},
    {"packet", "number of its packet in the queue", [](const SidaJobRecord& job) { return std::to_string(job.packet.index); }},
    {"program", "GPU address of its program", [](const SidaJobRecord& job) { return fmt::format("{:#x}", job.program); }},
    {"end", "`done`; `failed`, an error of the program; `dropped`, with its queue",
     [](const SidaJobRecord& job) { return std::string(name_of(job.end)); }},
    {"error", "code of the error (`LACUNA_SIDA_ERROR_…`); 0: none",
     [](const SidaJobRecord& job) { return std::to_string(job.error); }},
    {"start_ps", "simulated time at which it began", [](const SidaJobRecord& job) { return std::to_string(job.began.ps); }},
    {"end_ps", "simulated time at which it ended", [](const SidaJobRecord& job) { return std::to_string(job.ended.ps); }},
    {"iterations", "of its loop", [](const SidaJobRecord& job) { return std::to_string(job.iterations); }},
    {"passes", "over a matrix, or over vectors alone", [](const SidaJobRecord& job) { return std::to_string(job.passes); }},
    {"passes_in_bulk", "passes that took the time and the requests of an earlier one (`sida.passes`)",
     [](const SidaJobRecord& job) { return std::to_string(job.passes_in_bulk); }},
    {"cycles", "cycles of the accelerator in its passes",
     [](const SidaJobRecord& job) { return std::to_string(job.sums.cycles); }},
};

/// Calls visit(name, statistic) for the counters of passes; the name of a counter in a group begins with the group's name.
template <class Visit>
void for_each_count(const sida::PassCounts& counts, const Visit& visit) {
  StatisticsGroup group("");
  sida::describe_counts(counts, group);
  for (const Statistic& count : group.statistics()) visit(count.name, count);
  for (const auto& child : group.groups()) {
    for (const Statistic& count : child->statistics()) visit(child->name() + "_" + count.name, count);
  }
}

}  // namespace

void write_jobs_csv_header(std::ostream& out) {
  out << "device";
  for (const Column& column : kColumns) out << ',' << column.name;
  for_each_count({}, [&](const std::string& name, const Statistic&) { out << ',' << name; });
  out << '\n';
}

void write_jobs_csv(const std::string& device, const SidaJobRecord& job, std::ostream& out) {
  out << device;
  for (const Column& column : kColumns) out << ',' << column.value(job);
  for_each_count(job.sums, [&](const std::string&, const Statistic& count) { out << ',' << count.count(); });
  out << '\n';
}

void write_jobs_csv_reference(std::ostream& out) {
  out << "| column | meaning |\n|---|---|\n| `device` | GPU |\n";
  for (const Column& column : kColumns) out << fmt::format("| `{}` | {} |\n", column.name, column.meaning);
  for_each_count({}, [&](const std::string& name, const Statistic& count) {
    out << fmt::format("| `{}` | {}, {} |\n", name, count.unit, count.description);
  });
}

}  // namespace lacuna

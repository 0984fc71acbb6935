#include "platform/sida/jobs_csv.h"

#include <fmt/format.h>

#include <ostream>
#include <string_view>

#include "models/common/config/statistics.h"
#include "models/sida/machine/count_statistics.h"

namespace lacuna {
namespace {

template <class Record>
struct Column {
  std::string_view name, meaning;
  std::string (*value)(const Record& record);
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

constexpr Column<SidaJobRecord> kColumns[]{
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

constexpr Column<SidaPassRecord> kPassColumns[]{
    {"job", "number of its job, as in jobs.csv", [](const SidaPassRecord& pass) { return std::to_string(pass.job); }},
    {"pass", "number of the pass in the program", [](const SidaPassRecord& pass) { return std::to_string(pass.pass); }},
    {"iteration", "iterations of the loop that were complete before it",
     [](const SidaPassRecord& pass) { return std::to_string(pass.iteration); }},
    {"products", "products that it has executed: 2, 1 or, of a pass over vectors alone, 0",
     [](const SidaPassRecord& pass) { return std::to_string(pass.products); }},
    {"in_bulk", "1 if it took the time and the requests of an earlier one (`sida.passes`)",
     [](const SidaPassRecord& pass) { return std::string(pass.in_bulk ? "1" : "0"); }},
    {"cycles", "cycles of the accelerator", [](const SidaPassRecord& pass) { return std::to_string(pass.counts.cycles); }},
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

template <class Columns>
void write_header(const Columns& columns, std::ostream& out) {
  out << "device";
  for (const auto& column : columns) out << ',' << column.name;
  for_each_count({}, [&](const std::string& name, const Statistic&) { out << ',' << name; });
  out << '\n';
}

template <class Columns, class Record>
void write_line(const std::string& device, const Columns& columns, const Record& record, const sida::PassCounts& counts,
                std::ostream& out) {
  out << device;
  for (const auto& column : columns) out << ',' << column.value(record);
  for_each_count(counts, [&](const std::string&, const Statistic& count) { out << ',' << count.count(); });
  out << '\n';
}

template <class Columns>
void write_meanings(const Columns& columns, std::ostream& out) {
  out << "| column | meaning |\n|---|---|\n| `device` | GPU |\n";
  for (const auto& column : columns) out << fmt::format("| `{}` | {} |\n", column.name, column.meaning);
}

}  // namespace

void write_jobs_csv_header(std::ostream& out) { write_header(kColumns, out); }

void write_jobs_csv(const std::string& device, const SidaJobRecord& job, std::ostream& out) {
  write_line(device, kColumns, job, job.sums, out);
}

void write_jobs_csv_reference(std::ostream& out) {
  write_meanings(kColumns, out);
  for_each_count({}, [&](const std::string& name, const Statistic& count) {
    out << fmt::format("| `{}` | {}, {} |\n", name, count.unit, count.description);
  });
}

void write_passes_csv_header(std::ostream& out) { write_header(kPassColumns, out); }

void write_passes_csv(const std::string& device, const SidaPassRecord& pass, std::ostream& out) {
  write_line(device, kPassColumns, pass, pass.counts, out);
}

void write_passes_csv_reference(std::ostream& out) { write_meanings(kPassColumns, out); }

}  // namespace lacuna

#include "platform/run/run_report.h"

#include <array>
#include <cstdint>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string_view>

#include "platform/run/energy_report.h"
#include "platform/run/json_writer.h"
#include "platform/run/kernel_activity_report.h"
#include "platform/run/text_table.h"
#include "platform/version.h"

namespace lacuna {
namespace {

void write_group(const StatisticsGroup& group, JsonWriter& json) {
  json.begin_object();
  for (const Statistic& statistic : group.statistics()) {
    json.begin_object(statistic.name);
    if (statistic.is_count()) {
      json.member("value", statistic.count());
    } else {
      json.member("value", statistic.value());
    }
    json.member("unit", statistic.unit);
    json.member("description", statistic.description);
    json.end_object();
  }
  for (const auto& child : group.groups()) {
    json.key(child->name());
    write_group(*child, json);
  }
  json.end_object();
}

void write_size(std::string_view name, const std::array<std::uint32_t, 3>& size, JsonWriter& json) {
  json.begin_array(name);
  for (const std::uint32_t items : size) json.value(items);
  json.end_array();
}

/// Writes the members that a kernel and a summary of its dispatches have in common: activity, and the energy used in `time`.
void write_activity_and_energy(const KernelActivity& activity, const KernelEnergy& energy, Tick time,
                               const std::vector<std::string>& energy_blocks, JsonWriter& json) {
  json.key("activity");
  write_activity_json(activity, json);
  if (energy.measured()) json.member("energy", energy_json(energy, energy_blocks, time));
}

void write_kernel(const KernelRecord& r, const std::vector<std::string>& energy_blocks, JsonWriter& json) {
  json.begin_object();
  json.member("index", r.index);
  json.member("kernel", r.name);
  json.member("queue", r.queue);
  write_size("grid", r.grid, json);
  write_size("workgroup", r.workgroup, json);
  json.member("workgroups", r.workgroups);
  json.member("wavefronts", r.wavefronts);
  json.member("start_ps", r.start.ps);
  json.member("end_ps", r.end.ps);
  json.member("cycles", r.cycles);
  json.member("wavefront_instructions", r.wavefront_instructions);
  json.member("thread_instructions", r.thread_instructions);
  json.member("failed", r.failed);
  json.member("unfinished", r.unfinished);
  json.member("wall_seconds", r.wall_seconds);
  json.member("untimed_instructions", r.untimed_instructions);
  json.member("half_width_cycles", r.half_width);
  json.member("bulk_bytes", r.bulk_bytes);
  write_activity_and_energy(r.activity, r.energy, r.end - r.start, energy_blocks, json);
  json.end_object();
}

void write_summary(const KernelSummary& s, const std::vector<std::string>& energy_blocks, JsonWriter& json) {
  json.begin_object();
  json.member("kernel", s.name);
  json.member("dispatches", s.dispatches);
  json.member("failed", s.failed);
  json.member("unfinished", s.unfinished);
  json.member("time_ps", s.time.ps);
  json.member("shortest_ps", s.shortest.ps);
  json.member("longest_ps", s.longest.ps);
  json.member("cycles", s.cycles);
  json.member("least_cycles", s.least_cycles);
  json.member("most_cycles", s.most_cycles);
  json.member("workgroups", s.workgroups);
  json.member("wavefronts", s.wavefronts);
  json.member("wavefront_instructions", s.wavefront_instructions);
  json.member("thread_instructions", s.thread_instructions);
  json.member("untimed_instructions", s.untimed_instructions);
  json.member("half_width_cycles", s.half_width);
  json.member("bulk_bytes", s.bulk_bytes);
  json.member("wall_seconds", s.wall_seconds);
  write_activity_and_energy(s.activity, s.energy, s.time, energy_blocks, json);
  json.end_object();
}

void write_run(const RunSummary& summary, JsonWriter& json) {
  json.begin_object("run");
  json.member("lacuna", kVersion);
  json.member("program", summary.program);
  json.member("ended_by", run_end_name(summary.end));
  json.member("exit_code", summary.exit_code);
  json.member("simulated_ps", summary.simulated.ps);
  json.member("wall_seconds", summary.wall_seconds);
  json.member("peak_host_memory_bytes", summary.peak_host_memory_bytes);
  json.member("run_hash", summary.run_hash);
  json.begin_object("guest_mistakes");
  for (const GuestMistakeCount& kind : summary.guest_mistakes) json.member(kind.kind, kind.count);
  json.end_object();
  json.end_object();
}

/// Maximum number of dispatches that are listed individually; if there are more, dispatches are summed up by kernel.
constexpr std::uint64_t kMostLines = 40;

}  // namespace

std::string run_hash(const RunSummary& summary, const std::string& console, const KernelLog& kernels,
                     const StatisticsGroup& statistics) {
  RunHash hash;
  hash.add("end", run_end_name(summary.end));
  hash.add("exit_code", static_cast<std::uint64_t>(summary.exit_code));
  hash.add("simulated_ps", summary.simulated.ps);
  hash.add("console", console);
  hash.add("kernels", kernels.hash());
  hash.add(statistics);
  return hash.text();
}

void write_statistics_json(const RunSummary& summary, const KernelLog& kernels, const StatisticsGroup& statistics,
                           std::ostream& out) {
  JsonWriter json(out);
  json.begin_object();
  write_run(summary, json);
  json.begin_array("kernels");
  for (const KernelRecord& record : kernels.records()) write_kernel(record, kernels.energy_blocks(), json);
  json.end_array();
  json.begin_array("kernel_totals");
  for (const KernelSummary& summary_of_kernel : kernels.summaries())
    write_summary(summary_of_kernel, kernels.energy_blocks(), json);
  json.end_array();
  if (summary.energy != nullptr) json.member("energy", summary.energy->json());
  json.key("statistics");
  write_group(statistics, json);
  json.end_object();
  json.flush();
  out << '\n';
}

void write_run_report(const RunSummary& summary, const KernelLog& kernels, std::ostream& out) {
  out << '\n';
  if (kernels.count() != 0) {
    if (kernels.count() <= kMostLines) {
      write_kernel_table(kernels.records(), out);
    } else {
      write_kernel_table(kernels.summaries(), out);
    }
    out << '\n';
    std::vector<NamedActivity> activities;
    for (const KernelSummary& s : kernels.summaries()) activities.push_back({s.name, s.time, &s.activity});
    std::ostringstream activity;
    write_activity_report(activities, activity);
    if (!activity.str().empty()) out << activity.str() << '\n';
    if (summary.energy_table && kernels.energy_blocks().empty()) {
      out << "energy.table = true: the configuration has no energies; docs/guide/energy.md has files with some, such as "
             "energy/r9nano\n\n";
    } else if (summary.energy_table) {
      std::vector<NamedEnergy> energies;
      for (const KernelSummary& s : kernels.summaries()) energies.push_back({s.name, s.dispatches, s.time, &s.energy});
      write_energy_table(energies, kernels.energy_blocks(), out);
      out << '\n';
    }
  }
  out << "simulated time  " << readable_time(summary.simulated) << " in " << std::fixed << std::setprecision(2)
      << summary.wall_seconds << " s, ";
  if (summary.hart_instructions != 0) out << grouped(summary.hart_instructions) << " hart instructions, ";
  out << "peak memory " << (summary.peak_host_memory_bytes >> 20) << " MiB\n"
      << "run hash        " << summary.run_hash << '\n';
  if (!summary.output_folder.empty()) out << "output folder   " << summary.output_folder << '\n';
}

}  // namespace lacuna

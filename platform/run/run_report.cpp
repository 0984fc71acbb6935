#include "platform/run/run_report.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "platform/run/energy_report.h"
#include "platform/run/kernel_activity_report.h"
#include "platform/run/text_table.h"
#include "platform/version.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

Json group_json(const StatisticsGroup& group) {
  Json json = Json::object();
  for (const Statistic& statistic : group.statistics()) {
    Json& entry = json[statistic.name];
    if (statistic.count) {
      entry["value"] = statistic.count();
    } else {
      entry["value"] = statistic.value();
    }
    entry["unit"] = statistic.unit;
    entry["description"] = statistic.description;
  }
  for (const auto& child : group.groups()) json[child->name()] = group_json(*child);
  return json;
}

Json kernel_json(const KernelRecord& r, const std::vector<std::string>& energy_blocks) {
  Json json{{"index", r.index},
            {"kernel", r.name},
            {"queue", r.queue},
            {"grid", r.grid},
            {"workgroup", r.workgroup},
            {"workgroups", r.workgroups},
            {"wavefronts", r.wavefronts},
            {"start_ps", r.start.ps},
            {"end_ps", r.end.ps},
            {"cycles", r.cycles},
            {"wavefront_instructions", r.wavefront_instructions},
            {"thread_instructions", r.thread_instructions},
            {"failed", r.failed},
            {"unfinished", r.unfinished},
            {"wall_seconds", r.wall_seconds},
            {"bulk_bytes", r.bulk_bytes},
            {"activity", activity_json(r.activity)}};
  if (r.energy.measured()) json["energy"] = energy_json(r.energy, energy_blocks, r.end - r.start);
  return json;
}

Json summary_json(const KernelSummary& s, const std::vector<std::string>& energy_blocks) {
  Json json{{"kernel", s.name},
            {"dispatches", s.dispatches},
            {"failed", s.failed},
            {"unfinished", s.unfinished},
            {"time_ps", s.time.ps},
            {"shortest_ps", s.shortest.ps},
            {"longest_ps", s.longest.ps},
            {"cycles", s.cycles},
            {"least_cycles", s.least_cycles},
            {"most_cycles", s.most_cycles},
            {"workgroups", s.workgroups},
            {"wavefronts", s.wavefronts},
            {"wavefront_instructions", s.wavefront_instructions},
            {"thread_instructions", s.thread_instructions},
            {"bulk_bytes", s.bulk_bytes},
            {"wall_seconds", s.wall_seconds},
            {"activity", activity_json(s.activity)}};
  if (s.energy.measured()) json["energy"] = energy_json(s.energy, energy_blocks, s.time);
  return json;
}

/// More dispatches than this are summed up by kernel.
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
  Json json;
  json["run"] = {{"lacuna", kVersion},
                 {"program", summary.program},
                 {"ended_by", run_end_name(summary.end)},
                 {"exit_code", summary.exit_code},
                 {"simulated_ps", summary.simulated.ps},
                 {"wall_seconds", summary.wall_seconds},
                 {"peak_host_memory_bytes", summary.peak_host_memory_bytes},
                 {"run_hash", summary.run_hash}};
  Json& mistakes = json["run"]["guest_mistakes"] = Json::object();
  for (const GuestMistakeCount& kind : summary.guest_mistakes) mistakes[kind.kind] = kind.count;
  json["kernels"] = Json::array();
  for (const KernelRecord& record : kernels.records()) json["kernels"].push_back(kernel_json(record, kernels.energy_blocks()));
  json["kernel_totals"] = Json::array();
  for (const KernelSummary& summary_of_kernel : kernels.summaries())
    json["kernel_totals"].push_back(summary_json(summary_of_kernel, kernels.energy_blocks()));
  if (summary.energy != nullptr) json["energy"] = summary.energy->json();
  json["statistics"] = group_json(statistics);
  // Names come from the guest: what is not UTF-8 is replaced, not thrown.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
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
    if (summary.energy_table) {
      std::vector<NamedEnergy> energies;
      for (const KernelSummary& s : kernels.summaries()) energies.push_back({s.name, s.time, &s.energy});
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

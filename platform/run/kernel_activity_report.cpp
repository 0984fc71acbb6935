#include "platform/run/kernel_activity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "platform/run/text_table.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, static_cast<std::size_t>(MemoryLevel::count)> kLevelNames{"tlb", "l1",   "noc",
                                                                                                 "l2",  "dram", "host_memory"};
constexpr std::array<std::string_view, static_cast<std::size_t>(isa::Unit::count)> kUnitNames{
    "valu", "salu", "smem", "vmem", "lds", "branch", "special"};

// What to say of a kernel whose wavefronts spend most of their time so.
constexpr std::array<std::string_view, kWavefrontTimes> kWaits{"the rate at which instructions issue",
                                                               "instruction fetch",
                                                               "latency of its instructions",
                                                               "latency of vector memory",
                                                               "latency of LDS and scalar memory",
                                                               "barriers",
                                                               "vector ALUs and issue cycles taken by other wavefronts",
                                                               "LDS bank conflicts",
                                                               "L1 or L2 MSHRs all in use",
                                                               "queues for ports, links, banks and buses of the memory system",
                                                               "address translation",
                                                               "s_sleep"};

constexpr std::array<std::string_view, kResources> kResourceTitles{"wavefront slots", "vector ALUs",   "L1 bandwidth",
                                                                   "L2 bandwidth",    "NoC bandwidth", "DRAM bandwidth"};

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
double use_of(const KernelActivity& a, Resource r) {
  const auto i = static_cast<std::size_t>(r);
  return share(a.used[i], a.available[i]);
}
std::string percent(double value) { return fixed(100 * value, 0); }

std::uint64_t cycles_without_wavefront(const KernelActivity& a, std::uint64_t resident) {
  const std::uint64_t slots = a.available[static_cast<std::size_t>(Resource::slots)];
  return slots > resident ? slots - resident : 0;
}

// "L2 301.5 of 512.0 GB/s (59 %)"
std::string achieved(const KernelActivity& a, Resource r, Tick time) {
  const auto i = static_cast<std::size_t>(r);
  if (r == Resource::compute) return fmt::format("compute {} %", percent(use_of(a, r)));
  std::string name(kResourceTitles[i]);
  name.resize(name.find(' '));
  const double seconds = static_cast<double>(time.ps) * 1e-12;
  const auto rate = [&](std::uint64_t bytes) { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0.0; };
  return fmt::format("{} {:.1f} of {:.1f} GB/s ({} %)", name, rate(a.used[i]), rate(a.available[i]), percent(use_of(a, r)));
}

bool timed(const KernelActivity& a) { return a.all().resident != 0; }

}  // namespace

void write_activity_csv_header(std::ostream& out) {
  for (const std::string_view name : kWavefrontTimeNames) out << ",cycles_" << name;
  out << ",cycles_no_wavefront";
  for (const std::string_view name : kUnitNames) out << ",issued_" << name;
  out << ",load_requests,load_requests_ps";
  for (const std::string_view name : kLevelNames) out << ',' << name << "_queueing_ps," << name << "_service_ps";
  out << ",mshr_ps";
  for (const std::string_view name : kResourceNames) out << ',' << name << "_used," << name << "_peak";
}

void write_activity_csv(const KernelActivity& a, std::ostream& out) {
  const WavefrontClass all = a.all();
  for (const std::uint64_t cycles : all.cycles) out << ',' << cycles;
  out << ',' << cycles_without_wavefront(a, all.resident);
  for (const std::uint64_t count : a.issued) out << ',' << count;
  out << ',' << a.requests << ',' << a.request_time.ps;
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) out << ',' << a.latency.queueing[i].ps << ',' << a.latency.service[i].ps;
  out << ',' << a.latency.mshr.ps;
  for (std::size_t i = 0; i < kResources; ++i) out << ',' << a.used[i] << ',' << a.available[i];
}

Json activity_json(const KernelActivity& a) {
  const auto class_json = [](const WavefrontClass& c) {
    Json json{{"wavefronts", c.wavefronts}, {"resident_cycles", c.resident}};
    for (std::size_t i = 0; i < kWavefrontTimes; ++i) json["cycles"][std::string(kWavefrontTimeNames[i])] = c.cycles[i];
    return json;
  };
  const WavefrontClass all = a.all();
  Json json;
  json["wavefront_cycles"] = class_json(all)["cycles"];
  json["wavefront_cycles"]["no_wavefront"] = cycles_without_wavefront(a, all.resident);
  for (std::size_t i = 0; i < kUnitNames.size(); ++i) json["issued"][std::string(kUnitNames[i])] = a.issued[i];
  json["load_requests"] = {{"count", a.requests}, {"time_ps", a.request_time.ps}, {"mshr_ps", a.latency.mshr.ps}};
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    json["load_requests"][std::string(kLevelNames[i])] = {{"queueing_ps", a.latency.queueing[i].ps},
                                                          {"service_ps", a.latency.service[i].ps}};
  }
  for (std::size_t i = 0; i < kResources; ++i)
    json["resources"][std::string(kResourceNames[i])] = {{"used", a.used[i]}, {"peak", a.available[i]}};
  json["bounded_by"] = timed(a) ? bound_of(a) : "";
  // By the wavefront's number in its workgroup.
  json["wavefront_classes"] = Json::array();
  for (const WavefrontClass& c : a.classes)
    if (c.wavefronts != 0) json["wavefront_classes"].push_back(class_json(c));
  return json;
}

void add_activity(const KernelActivity& a, RunHash& hash) {
  const WavefrontClass all = a.all();
  for (std::size_t i = 0; i < kWavefrontTimes; ++i) hash.add(kWavefrontTimeNames[i], all.cycles[i]);
  hash.add("resident", all.resident);
  hash.add("load_requests", a.requests);
  hash.add("load_requests_ps", a.request_time.ps);
  for (std::size_t i = 0; i < kResources; ++i) hash.add(kResourceNames[i], a.used[i]);
}

std::string bound_of(const KernelActivity& a) {
  constexpr std::array kLimits{Resource::compute, Resource::l1, Resource::l2, Resource::noc, Resource::dram};
  const Resource busiest =
      *std::max_element(kLimits.begin(), kLimits.end(), [&](Resource x, Resource y) { return use_of(a, x) < use_of(a, y); });
  if (use_of(a, busiest) >= kBoundShare) return std::string(kResourceTitles[static_cast<std::size_t>(busiest)]);
  const WavefrontClass all = a.all();
  const auto longest = static_cast<std::size_t>(std::max_element(all.cycles.begin(), all.cycles.end()) - all.cycles.begin());
  return fmt::format("{}, with {} % of the wavefront slots in use", kWaits[longest], percent(use_of(a, Resource::slots)));
}

void write_activity_report(const std::vector<NamedActivity>& kernels, std::ostream& out) {
  std::vector<TextRow> rows(2);
  rows[0] = {"", "slots"};
  rows[1] = {"% of cycles", "in use"};
  for (const std::string_view name : kWavefrontTimeNames) {
    const std::size_t cut = name.find('_');
    rows[0].emplace_back(cut == std::string_view::npos ? "" : name.substr(0, cut));
    rows[1].emplace_back(cut == std::string_view::npos ? name : name.substr(cut + 1));
  }
  for (const NamedActivity& kernel : kernels) {
    if (!timed(*kernel.activity)) continue;
    const WavefrontClass all = kernel.activity->all();
    TextRow row{readable_kernel(kernel.name), percent(use_of(*kernel.activity, Resource::slots))};
    for (const std::uint64_t cycles : all.cycles) row.push_back(cycles == 0 ? "-" : percent(share(cycles, all.resident)));
    rows.push_back(std::move(row));
  }
  if (rows.size() == 2) return;
  write_aligned(rows, out);
  out << '\n';
  std::size_t width = 0;
  for (const NamedActivity& kernel : kernels) width = std::max(width, readable_kernel(kernel.name).size());
  for (const NamedActivity& kernel : kernels) {
    const KernelActivity& a = *kernel.activity;
    if (!timed(a)) continue;
    out << fmt::format("{:<{}}  bounded by {}\n{:<{}}  {}, {}, {}, {}, {}\n", readable_kernel(kernel.name), width, bound_of(a),
                       "", width, achieved(a, Resource::compute, kernel.time), achieved(a, Resource::l1, kernel.time),
                       achieved(a, Resource::l2, kernel.time), achieved(a, Resource::noc, kernel.time),
                       achieved(a, Resource::dram, kernel.time));
  }
}

}  // namespace lacuna

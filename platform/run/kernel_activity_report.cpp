#include "platform/run/kernel_activity_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "models/duplo/duplo_texts.h"
#include "models/lazy/lazy_texts.h"
#include "models/neardata/near_data_texts.h"
#include "platform/reference/extension_reference.h"
#include "platform/run/decimal.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
/// Whether DRAM's commands and bursts allow less than the peak of its data buses. Ignores differences below 1 %, which are due
/// to rounding.
bool reaches_less(const KernelActivity& a) {
  const std::uint64_t bus = a.available[static_cast<std::size_t>(Resource::dram)];
  return a.reachable_dram_bytes != 0 && a.reachable_dram_bytes + bus / 100 < bus;
}
double use_of(const KernelActivity& a, Resource r) {
  const auto i = static_cast<std::size_t>(r);
  return share(a.used[i], a.available[i]);
}
/// Used share of the reachable amount of a resource.
double reached_use_of(const KernelActivity& a, Resource r) {
  return r == Resource::dram && reaches_less(a) ? share(a.used[static_cast<std::size_t>(r)], a.reachable_dram_bytes)
                                                : use_of(a, r);
}
std::string percent(double value) { return fixed(100 * value, 0); }
/// Percent, with a decimal digit below 1 %, so that small values are not shown as 0.
std::string fine_percent(double value) { return fixed(100 * value, value > 0 && value < 0.01 ? 1 : 0); }

std::uint64_t cycles_without_wavefront(const KernelActivity& a, std::uint64_t resident) {
  const std::uint64_t slots = a.available[static_cast<std::size_t>(Resource::slots)];
  return slots > resident ? slots - resident : 0;
}

// Text such as "L2 301.5 of 512.0 GB/s (59 %)".
std::string achieved(const KernelActivity& a, Resource r, Tick time) {
  const auto i = static_cast<std::size_t>(r);
  if (r == Resource::compute) return fmt::format("compute {} %", percent(use_of(a, r)));
  if (r == Resource::matrix) return fmt::format("matrix units {} %", percent(use_of(a, r)));
  std::string name(kResourceTexts[i].title);
  name.resize(name.find(' '));
  const double seconds = static_cast<double>(time.ps) * 1e-12;
  const auto rate = [&](std::uint64_t bytes) { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0.0; };
  std::string text =
      fmt::format("{} {:.1f} of {:.1f} GB/s ({} %)", name, rate(a.used[i]), rate(a.available[i]), percent(use_of(a, r)));
  if (r == Resource::dram && reaches_less(a))
    text += fmt::format(", of which {:.1f} GB/s can be reached", rate(a.reachable_dram_bytes));
  return text;
}

std::uint64_t count_of(const KernelActivity& a, MemoryCount what) { return a.memory[static_cast<std::size_t>(what)]; }

/// "L2 hit rate 33 %, DRAM row hits 80 %, row conflicts 18,556 (12 %)": shares of the reads of L2 and of DRAM's bursts. Omits
/// DRAM for a kernel that hardly uses it, since most bursts would be writes of an earlier kernel that were waiting in DRAM's
/// queues.
std::string memory_outcomes(const KernelActivity& a) {
  constexpr double kLeastUse = 0.01;
  std::string text;
  if (const std::uint64_t reads = count_of(a, MemoryCount::l2_reads); reads != 0)
    text = fmt::format("L2 hit rate {} %", percent(share(count_of(a, MemoryCount::l2_read_hits), reads)));
  const std::uint64_t hits = count_of(a, MemoryCount::dram_row_hits);
  const std::uint64_t conflicts = count_of(a, MemoryCount::dram_row_conflicts);
  if (const std::uint64_t bursts = hits + count_of(a, MemoryCount::dram_row_empty) + conflicts;
      bursts != 0 && use_of(a, Resource::dram) >= kLeastUse) {
    text += fmt::format("{}DRAM row hits {} %, row conflicts {} ({} %)", text.empty() ? "" : ", ", percent(share(hits, bursts)),
                        grouped(conflicts), percent(share(conflicts, bursts)));
  }
  return text;
}

bool timed(const KernelActivity& a) { return a.all().resident != 0; }

std::uint64_t count_of(const KernelActivity& a, LazyCount what) {
  return a.extension[lazy_slots().first_count + static_cast<std::size_t>(what)];
}
std::uint64_t count_of(const KernelActivity& a, NearDataCount what) {
  return a.extension[near_data_slots().first_count + static_cast<std::size_t>(what)];
}
std::uint64_t count_of(const KernelActivity& a, DuploCount what) {
  return a.extension[duplo_slots().first_count + static_cast<std::size_t>(what)];
}

/// Whether only research machines and extended matrix units have the cause; it is then shown only if a kernel has it.
bool only_of_some_machines(StallCause cause) { return cause >= StallCause::extension; }

/// Calls `visit(text, cycles)` for every cause that has a text.
template <typename Visit>
void for_causes(const WavefrontClass& c, const Visit& visit) {
  for (std::size_t i = 0; i < kStallCauses; ++i) {
    if (const StallText* const text = stall_text(i)) visit(*text, c.cycles[i]);
  }
}

/// Calls `visit(machine, text, number)` for the counts of all research machines; `number`: index into
/// KernelActivity::extension.
template <typename Visit>
void for_extension_counts(const Visit& visit) {
  std::size_t number = 0;
  for (const ExtensionTexts& machine : extension_texts()) {
    for (const ExtensionCountText& text : machine.counts) visit(machine, text, number++);
  }
}

/// Indices of the causes that have a column. Causes of only some machines are included only if a kernel has them.
std::vector<std::size_t> shown_causes(const std::vector<NamedActivity>& kernels) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < kStallCauses; ++i) {
    if (!only_of_some_machines(static_cast<StallCause>(i)) ||
        std::any_of(kernels.begin(), kernels.end(), [i](const NamedActivity& k) { return k.activity->all().cycles[i] != 0; }))
      shown.push_back(i);
  }
  return shown;
}

/// Writes a table of the outcomes of held loads of lazy cores, if there were any.
void write_lazy_table(const std::vector<NamedActivity>& kernels, std::ostream& out) {
  std::vector<TextRow> rows{{"", "loads", "their", "", "eliminated", "eliminated", "eliminated"},
                            {"% of transactions", "held, %", "transactions", "sent", "by zeros", "by (x)", "as dead"}};
  for (const NamedActivity& kernel : kernels) {
    const KernelActivity& a = *kernel.activity;
    const std::uint64_t held = count_of(a, LazyCount::loads_held);
    const std::uint64_t sent = count_of(a, LazyCount::issued);
    const std::uint64_t zeros = count_of(a, LazyCount::zero_block) + count_of(a, LazyCount::zero_part);
    const std::uint64_t otimes = count_of(a, LazyCount::otimes);
    const std::uint64_t dead = count_of(a, LazyCount::dead);
    const std::uint64_t all = sent + zeros + otimes + dead;
    if (all == 0) continue;
    const auto cell = [all](std::uint64_t part) { return part == 0 ? "-" : fine_percent(share(part, all)); };
    rows.push_back({readable_kernel(kernel.name), fine_percent(share(held, held + count_of(a, LazyCount::loads_eager))),
                    grouped(all), cell(sent), cell(zeros), cell(otimes), cell(dead)});
  }
  if (rows.size() > 2) {
    out << '\n';
    write_aligned(rows, out);
  }
  for (const NamedActivity& kernel : kernels) {
    const std::uint64_t lanes = count_of(*kernel.activity, LazyCount::lanes_changed);
    if (lanes == 0) continue;
    out << fmt::format(
        "warning: {}: memory had changed for {} lanes of held loads when they were sent; hardware would have loaded other "
        "values "
        "(docs/deviations/lazygpu.md, release by a plain store)\n",
        readable_kernel(kernel.name), grouped(lanes));
  }
}

/// Writes a table of near-data computing if there were chains: their share that is offloaded, their packets, and the two most
/// frequent reasons why parts stayed at the core.
void write_near_data_table(const std::vector<NamedActivity>& kernels, std::ostream& out) {
  std::vector<TextRow> rows{{"", "", "offloaded", "", "at LLCs", "bounced", "at the", "of these,"},
                            {"chains", "begun", "%", "packets", "%", "%", "core, %", "%"}};
  for (const NamedActivity& kernel : kernels) {
    const KernelActivity& a = *kernel.activity;
    const std::uint64_t chains = count_of(a, NearDataCount::chains);
    if (chains == 0) continue;
    const std::uint64_t packets = count_of(a, NearDataCount::packets);
    std::vector<std::pair<std::uint64_t, std::string_view>> reasons;
    std::uint64_t stayed = 0;
    for (const auto& [reason, text] : kNearDataReasonsToStay) {
      const std::uint64_t parts = count_of(a, reason);
      stayed += parts;
      if (parts != 0) reasons.emplace_back(parts, text);
    }
    std::stable_sort(reasons.begin(), reasons.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    std::string first;
    for (std::size_t i = 0; i < reasons.size() && i < 2; ++i)
      first += fmt::format("{}{} {}", i == 0 ? "" : ", ", percent(share(reasons[i].first, stayed)), reasons[i].second);
    const auto cell = [](std::uint64_t part, std::uint64_t whole) { return part == 0 ? "-" : percent(share(part, whole)); };
    rows.push_back({readable_kernel(kernel.name), grouped(chains), cell(count_of(a, NearDataCount::offloaded), chains),
                    grouped(packets), cell(count_of(a, NearDataCount::packets_llc), packets),
                    cell(count_of(a, NearDataCount::bounced), packets), cell(stayed, packets + stayed),
                    first.empty() ? "-" : first});
  }
  if (rows.size() == 2) return;
  out << '\n';
  write_aligned(rows, out);
  for (const NamedActivity& kernel : kernels) {
    const std::uint64_t lanes = count_of(*kernel.activity, NearDataCount::lanes_changed);
    if (lanes == 0) continue;
    out << fmt::format(
        "warning: {}: memory had changed for {} lanes of chains' operands when service queues read them; wavefronts race for "
        "them (docs/guide/near-data.md, Checking the hardware)\n",
        readable_kernel(kernel.name), grouped(lanes));
  }
}

/// Writes a table of the loads of workspaces that Duplo looked up, if there were any.
void write_duplo_table(const std::vector<NamedActivity>& kernels, std::ostream& out) {
  std::vector<TextRow> rows{{"loads of", "", "hits", "of these: same", "other", "in", "not found:", "", "", "", "lines from"},
                            {"workspaces", "looked up", "%", "address, %", "SIMD, %", "flight, %", "new, %", "gone, %",
                             "replaced, %", "passed by", "registers, %"}};
  for (const NamedActivity& kernel : kernels) {
    const KernelActivity& a = *kernel.activity;
    const std::uint64_t looked_up = count_of(a, DuploCount::look_ups);
    std::uint64_t passed = 0;
    for (const DuploCount reason : {DuploCount::form, DuploCount::exec, DuploCount::control, DuploCount::registers,
                                    DuploCount::filler, DuploCount::dual, DuploCount::no_slab, DuploCount::partly_held})
      passed += count_of(a, reason);
    if (looked_up + passed == 0) continue;
    const std::uint64_t hits = count_of(a, DuploCount::hits), lines = count_of(a, DuploCount::lines);
    const auto cell = [](std::uint64_t part, std::uint64_t whole) { return part == 0 ? "-" : percent(share(part, whole)); };
    rows.push_back({readable_kernel(kernel.name), grouped(looked_up), cell(hits, looked_up),
                    cell(count_of(a, DuploCount::hits_address), hits), cell(hits - count_of(a, DuploCount::hits_simd), hits),
                    cell(count_of(a, DuploCount::hits_in_flight), hits), cell(count_of(a, DuploCount::compulsory), looked_up),
                    cell(count_of(a, DuploCount::released), looked_up),
                    cell(count_of(a, DuploCount::conflict) + count_of(a, DuploCount::capacity), looked_up), grouped(passed),
                    cell(lines, lines + a.loads[static_cast<std::size_t>(LoadKind::vector)].requests)});
  }
  if (rows.size() > 2) {
    out << '\n';
    write_aligned(rows, out);
  }
  const bool by_row = std::any_of(kernels.begin(), kernels.end(), [](const NamedActivity& kernel) {
    return count_of(*kernel.activity, DuploCount::loads_by_row) != 0;
  });
  if (by_row) {
    out << "looked up: rows of 16 elements (duplo.entry = row), an upper bound that no hardware reaches: their data move "
           "between "
           "lanes and SIMDs at no cost\n";
  }
  for (const NamedActivity& kernel : kernels) {
    const std::uint64_t wrong = count_of(*kernel.activity, DuploCount::hits_wrong);
    if (wrong == 0) continue;
    out << fmt::format(
        "warning: {}: {} loads of a workspace hit on registers with other data; hardware would have computed with these "
        "(duplo.ids other than exact, a parameter block that describes another convolution, or a workspace that has changed)\n",
        readable_kernel(kernel.name), grouped(wrong));
  }
}

// Sections on lazy cores, near-data computing, Duplo and matrix units.
void write_extension_columns(std::ostream& out) {
  out << "\n## Lazy cores and zero caches\n"
         "With `lazy.mode` other than `eager` (see [parameters](parameters.md)); 0 otherwise.\n\n"
         "| column | counts | |\n|---|---|---|\n";
  write_count_lines(kLazyTexts, out);
  out << "\n## Near-data computing\n"
         "With `ndc.mode` other than `none` (see [parameters](parameters.md)); 0 otherwise. [Near-data "
         "computing](../guide/near-data.md) "
         "has chains, parts and packets.\n\n"
         "| column | counts | |\n|---|---|---|\n";
  write_count_lines(kNearDataTexts, out);
  out << "\n## Duplo\n"
         "With `duplo.mode = on` (see [parameters](parameters.md)), for kernels with a parameter block; 0 otherwise. "
         "[Duplo](../guide/duplo.md) has tiles, hits and releases.\n\n"
         "| column | counts | |\n|---|---|---|\n";
  write_count_lines(kDuploTexts, out);
  out << "\n## Matrix units\n"
         "Passes of matrix instructions; `matrix_used` has the cycles that they took. [Matrix unit](matrix-unit.md) "
         "has "
         "passes of each.\n\n"
         "| column | of |\n|---|---|\n";
  for (const auto& [name, meaning] : isa::kMatrixOperationTexts) out << fmt::format("| `passes_{}` | {} |\n", name, meaning);
}

void write_other_files(std::ostream& out) {
  out << "\n## Other files of kernels\n"
         "`output.kernels = gzip` writes the same lines to `kernels.csv.gz`, which has a tenth of the size or less. `zcat` and "
         "other "
         "readers of gzip also read it during the run.\n\n"
         "`output.kernels = totals` writes `kernel_totals.csv` at the end of the run: a line for each kernel, in order of "
         "first "
         "completion, so that its size does not grow with the number of dispatches. Columns have the names above and are sums "
         "over "
         "the dispatches of the kernel; those that are no counts or times (`index`, `queue`, `grid`, `workgroup`, `start_ps`, "
         "`end_ps`) are left out. With energies `mean_w` is of the kernel's whole time, `peak_w` the greatest, "
         "`energy_delay_js` the "
         "whole energy times the whole time.\n\n"
         "| column | meaning |\n|---|---|\n"
         "| `dispatches`, `failed` | number of dispatches, and of those that failed |\n"
         "| `time_ps` | sum of the times from start to end |\n"
         "| `least_time_ps`, `mean_time_ps`, `most_time_ps` | of a dispatch |\n"
         "| `least_cycles`, `mean_cycles`, `most_cycles` | of a dispatch |\n";
}

}  // namespace

void write_activity_csv_header(std::ostream& out) {
  for_causes({}, [&out](const StallText& text, std::uint64_t) { out << ",cycles_" << text.name; });
  out << ",cycles_no_wavefront";
  for (const auto& [name, instructions] : isa::kUnitTexts) out << ",issued_" << name;
  out << ",load_requests,load_requests_ps";
  for (const std::string_view name : kMemoryLevelNames) out << ',' << name << "_queueing_ps," << name << "_service_ps";
  out << ",mshr_ps,noc_injection_ps";
  for (const std::string_view name : kLoadKindNames) out << fmt::format(",{0}_requests,{0}_from_l2,{0}_from_memory", name);
  out << ",scalar_data_dwords,vmem_wait_address_unit,vmem_wait_counter";
  for (const ResourceText& resource : kResourceTexts) out << ',' << resource.name << "_used," << resource.name << "_peak";
  out << ",dram_reachable";
  for (const MemoryCountText& text : kMemoryCountTexts) out << ',' << text.name;
  for_extension_counts([&out](const ExtensionTexts& machine, const ExtensionCountText& text, std::size_t) {
    out << ',' << machine.name << '_' << text.name;
  });
  for (const isa::MatrixOperationText& text : isa::kMatrixOperationTexts) out << ",passes_" << text.name;
}

void append_activity_csv(const KernelActivity& a, std::string& line) {
  const auto column = [&line](std::uint64_t number) {
    line += ',';
    append_decimal(line, number);
  };
  const WavefrontClass all = a.all();
  for_causes(all, [&column](const StallText&, std::uint64_t cycles) { column(cycles); });
  column(cycles_without_wavefront(a, all.resident));
  for (const std::uint64_t count : a.issued) column(count);
  column(a.requests);
  column(a.request_time.ps);
  for (std::size_t i = 0; i < kMemoryLevels; ++i) {
    column(a.latency.queueing[i].ps);
    column(a.latency.service[i].ps);
  }
  column(a.latency.mshr.ps);
  column(a.latency.injection.ps);
  for (const LoadSources& sources : a.loads) {
    column(sources.requests);
    column(sources.from_l2);
    column(sources.from_memory);
  }
  column(a.scalar_data_dwords);
  column(a.vmem_waits.address_unit);
  column(a.vmem_waits.counter);
  for (std::size_t i = 0; i < kResources; ++i) {
    column(a.used[i]);
    column(a.available[i]);
  }
  column(a.reachable_dram_bytes);
  for (const std::uint64_t count : a.memory) column(count);
  for_extension_counts(
      [&](const ExtensionTexts&, const ExtensionCountText&, std::size_t number) { column(a.extension[number]); });
  for (const std::uint64_t passes : a.matrix_passes) column(passes);
}

void write_kernels_csv_reference(std::ostream& out) {
  out << "# Columns of kernels.csv\n\n"
         "Generated by `lacuna docs`; do not edit. Each line is a dispatch. [Timing](../guide/timing.md) explains the "
         "times.\n\n"
         "| column | meaning |\n|---|---|\n"
         "| `index` | dispatches in order of launch over all queues, from 0 |\n"
         "| `kernel`, `queue` | name, number of the queue |\n"
         "| `grid`, `workgroup` | work-items, `XxYxZ` |\n"
         "| `workgroups`, `wavefronts` | number executed |\n"
         "| `start_ps`, `end_ps`, `cycles` | simulated time, and cycles of the core clock between |\n"
         "| `wavefront_instructions`, `thread_instructions` | instructions; active lanes of vector, vector memory and LDS "
         "instructions, one of any other |\n"
         "| `failed` | 1: a wavefront faulted |\n"
         "| `wall_seconds` | host time between start and end; kernels in flight together share it |\n";
  for (const auto& [name, instructions] : isa::kUnitTexts) out << fmt::format("| `issued_{}` | {} |\n", name, instructions);
  out << "| `untimed_instructions` | instructions that were not timed (`gpu.timing = sampled`): the time that they took, and "
         "all "
         "counts and times but instructions and wavefronts, are estimates |\n"
      << "| `half_width_cycles` | half of the 95 % confidence interval of `cycles`; 0 if all instructions were timed |\n";
  out << "| `bulk_bytes` | copied or filled without being executed |\n"
         "| `unfinished` | 1: the run ended before the kernel; all columns are of the time until then, `workgroups` counts "
         "finished ones "
         "|\n"
         "| `energy_j`, `half_width_j`, `low_j`, `high_j`, `mean_w`, `peak_w`, `energy_delay_js`, `energy_BLOCK_j` | with "
         "energies: see "
         "[energy](../guide/energy.md#what-a-run-leaves) "
         "|\n\n"
         "## Wavefront cycles\n"
         "Cycles of all wavefronts of the kernel, by what the wavefront does; `bounded by` names the longest, and the last "
         "column "
         "what to change next: in the program, or a parameter of the machine.\n\n"
         "| column | the wavefront | a kernel is bounded by | try |\n|---|---|---|---|\n";
  for_causes({}, [&out](const StallText& text, std::uint64_t) {
    out << fmt::format("| `cycles_{}` | {} | {} | {} |\n", text.name, text.meaning, text.bound, text.remedy);
  });
  out << "| `cycles_no_wavefront` | is not there: cycles of free wavefront slots, from the kernel's start to its end | | a "
         "larger "
         "grid, smaller workgroups, fewer registers and less LDS for each |\n\n"
         "## Load requests\n"
         "`load_requests` and `load_requests_ps`: number and time of the line requests of vector and scalar loads. Of the "
         "time, "
         "`LEVEL_queueing_ps` and `LEVEL_service_ps` were spent at a level; `mshr_ps` is the part of the caches' queueing that "
         "is "
         "due to MSHRs, `noc_injection_ps` the part of `noc_queueing_ps` in which replies wait in the injection queue of the "
         "memory's node. Levels, in the order in which a request meets them:";
  for (const std::string_view name : kMemoryLevelNames) out << fmt::format(" `{}`", name);
  out << ".\n\n"
         "`KIND_requests`: how many of the requests are of a kind; `KIND_from_l2` and `KIND_from_memory`: of these, got their "
         "data from the L2 (it had the line, or had requested it) and from DRAM or host memory; the others from a first-level "
         "cache, likewise. `scalar_data_dwords`: registers that loads of that kind fill.\n\n"
         "`vmem_wait_address_unit` and `vmem_wait_counter`: cycles for which vector memory instructions wait for the compute "
         "unit's address unit, and for vmcnt, which is at its limit; summed over instructions.\n\n"
         "| kind | loads |\n|---|---|\n"
         "| `vector` | vector loads |\n"
         "| `scalar_arguments` | scalar loads from the pages of the kernel's arguments and packet |\n"
         "| `scalar_data` | other scalar loads, which are vector loads on machines without a scalar unit |\n\n"
         "## Resources\n"
         "`RESOURCE_used` and `RESOURCE_peak`: the use by the device while the kernel ran, and the maximum available.\n\n"
         "| resource | | of a kernel that it bounds, try |\n|---|---|---|\n";
  for (const ResourceText& resource : kResourceTexts)
    out << fmt::format("| `{}` | {} | {} |\n", resource.name, resource.title, resource.remedy);
  out << "\n`dram_reachable`: bytes that DRAM transfers in that time at most, by its command rate and the part of a burst that "
         "a "
         "request of `l2.sector` uses. The following count the requests of the device while the kernel ran, without copies in "
         "bulk.\n\n"
         "| column | counts |\n|---|---|\n";
  for (const MemoryCountText& text : kMemoryCountTexts) out << fmt::format("| `{}` | {} |\n", text.name, text.meaning);
  write_extension_columns(out);
  write_other_files(out);
}

void write_activity_json(const KernelActivity& a, JsonWriter& json) {
  const auto cycles_of = [&json](const WavefrontClass& c) {
    for_causes(c, [&json](const StallText& text, std::uint64_t cycles) { json.member(text.name, cycles); });
  };
  const WavefrontClass all = a.all();
  json.begin_object();
  json.begin_object("wavefront_cycles");
  cycles_of(all);
  json.member("no_wavefront", cycles_without_wavefront(a, all.resident));
  json.end_object();
  json.begin_object("issued");
  for (std::size_t i = 0; i < isa::kUnits; ++i) json.member(isa::kUnitTexts[i].name, a.issued[i]);
  json.end_object();
  json.begin_object("load_requests");
  json.member("count", a.requests);
  json.member("time_ps", a.request_time.ps);
  json.member("mshr_ps", a.latency.mshr.ps);
  json.member("noc_injection_ps", a.latency.injection.ps);
  for (std::size_t i = 0; i < kLoadKinds; ++i) {
    json.begin_object(kLoadKindNames[i]);
    json.member("requests", a.loads[i].requests);
    json.member("from_l2", a.loads[i].from_l2);
    json.member("from_memory", a.loads[i].from_memory);
    json.end_object();
  }
  json.member("scalar_data_dwords", a.scalar_data_dwords);
  for (std::size_t i = 0; i < kMemoryLevels; ++i) {
    json.begin_object(kMemoryLevelNames[i]);
    json.member("queueing_ps", a.latency.queueing[i].ps);
    json.member("service_ps", a.latency.service[i].ps);
    json.end_object();
  }
  json.end_object();
  json.begin_object("vmem_waits");
  json.member("address_unit", a.vmem_waits.address_unit);
  json.member("counter", a.vmem_waits.counter);
  json.end_object();
  json.begin_object("resources");
  for (std::size_t i = 0; i < kResources; ++i) {
    json.begin_object(kResourceTexts[i].name);
    json.member("used", a.used[i]);
    json.member("peak", a.available[i]);
    if (i == static_cast<std::size_t>(Resource::dram)) json.member("reachable", a.reachable_dram_bytes);
    json.end_object();
  }
  json.end_object();
  json.begin_object("memory");
  for (std::size_t i = 0; i < kMemoryCounts; ++i) json.member(kMemoryCountTexts[i].name, a.memory[i]);
  json.end_object();
  std::size_t count = 0;
  for (const ExtensionTexts& machine : extension_texts()) {
    json.begin_object(machine.name);
    for (const ExtensionCountText& text : machine.counts) json.member(text.name, a.extension[count++]);
    json.end_object();
  }
  json.begin_object("matrix_passes");
  for (std::size_t i = 0; i < isa::kMatrixOperations; ++i) json.member(isa::kMatrixOperationTexts[i].name, a.matrix_passes[i]);
  json.end_object();
  json.member("bounded_by", timed(a) ? bound_of(a) : "");
  // A class contains the wavefronts with the same index in their workgroups.
  json.begin_array("wavefront_classes");
  for (const WavefrontClass& c : a.classes) {
    if (c.wavefronts == 0) continue;
    json.begin_object();
    json.member("wavefronts", c.wavefronts);
    json.member("resident_cycles", c.resident);
    json.begin_object("cycles");
    cycles_of(c);
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void add_activity(const KernelActivity& a, RunHash& hash) {
  const WavefrontClass all = a.all();
  for (std::size_t i = 0; i < kStallCauses; ++i) {
    if (i <= static_cast<std::size_t>(StallCause::sleep) || all.cycles[i] != 0) hash.add(stall_text(i)->name, all.cycles[i]);
  }
  hash.add("resident", all.resident);
  hash.add("load_requests", a.requests);
  hash.add("load_requests_ps", a.request_time.ps);
  for (std::size_t i = 0; i < kResources; ++i) {
    if (i != static_cast<std::size_t>(Resource::matrix) || a.used[i] != 0) hash.add(kResourceTexts[i].name, a.used[i]);
  }
  for_extension_counts([&](const ExtensionTexts&, const ExtensionCountText& text, std::size_t number) {
    if (a.extension[number] != 0) hash.add(text.name, a.extension[number]);
  });
}

namespace {

/// The most used resource, if its use reaches kBoundShare.
std::optional<Resource> bounding_resource(const KernelActivity& a) {
  constexpr std::array kLimits{Resource::compute, Resource::matrix, Resource::l1, Resource::l2, Resource::noc, Resource::dram};
  const Resource busiest = *std::max_element(
      kLimits.begin(), kLimits.end(), [&](Resource x, Resource y) { return reached_use_of(a, x) < reached_use_of(a, y); });
  if (reached_use_of(a, busiest) < kBoundShare) return std::nullopt;
  return busiest;
}

/// The two stall causes with the most wavefront cycles, the longest first.
std::array<std::size_t, 2> longest_causes(const WavefrontClass& all) {
  std::array<std::size_t, kStallCauses> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return all.cycles[x] > all.cycles[y]; });
  return {order[0], order[1]};
}

/// "; then barriers (12 % of the wavefronts' cycles)": the longest cause that bound_of() does not name, if it is significant.
std::string second_bound_of(const KernelActivity& a) {
  constexpr double kLeast = 0.1;
  const WavefrontClass all = a.all();
  const std::size_t cause = longest_causes(all)[bounding_resource(a) ? 0 : 1];
  const double part = share(all.cycles[cause], all.resident);
  if (part < kLeast) return {};
  return fmt::format("; then {} ({} % of the wavefronts' cycles)", stall_text(cause)->bound, percent(part));
}

}  // namespace

std::string bound_of(const KernelActivity& a) {
  if (const std::optional<Resource> resource = bounding_resource(a))
    return std::string(kResourceTexts[static_cast<std::size_t>(*resource)].title);
  return fmt::format("{}, with {} % of the wavefront slots in use", stall_text(longest_causes(a.all())[0])->bound,
                     percent(use_of(a, Resource::slots)));
}

void write_activity_report(const std::vector<NamedActivity>& kernels, std::ostream& out) {
  std::vector<TextRow> rows(2);
  rows[0] = {"", "slots"};
  rows[1] = {"% of cycles", "in use"};
  const std::vector<std::size_t> causes = shown_causes(kernels);
  for (const std::size_t cause : causes) {
    const std::string_view name = stall_text(cause)->name;
    const std::size_t cut = name.find('_');
    rows[0].emplace_back(cut == std::string_view::npos ? "" : name.substr(0, cut));
    rows[1].emplace_back(cut == std::string_view::npos ? name : name.substr(cut + 1));
  }
  for (const NamedActivity& kernel : kernels) {
    if (!timed(*kernel.activity)) continue;
    const WavefrontClass all = kernel.activity->all();
    TextRow row{readable_kernel(kernel.name), percent(use_of(*kernel.activity, Resource::slots))};
    for (const std::size_t cause : causes) {
      const std::uint64_t cycles = all.cycles[cause];
      row.push_back(cycles == 0 ? "-" : percent(share(cycles, all.resident)));
    }
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
    // Shown only if used, since most programs have no matrix instructions.
    const std::string matrix =
        a.used[static_cast<std::size_t>(Resource::matrix)] == 0 ? "" : ", " + achieved(a, Resource::matrix, kernel.time);
    out << fmt::format("{:<{}}  bounded by {}{}\n{:<{}}  {}{}, {}, {}, {}, {}\n", readable_kernel(kernel.name), width,
                       bound_of(a), second_bound_of(a), "", width, achieved(a, Resource::compute, kernel.time), matrix,
                       achieved(a, Resource::l1, kernel.time), achieved(a, Resource::l2, kernel.time),
                       achieved(a, Resource::noc, kernel.time), achieved(a, Resource::dram, kernel.time));
    if (const std::string outcomes = memory_outcomes(a); !outcomes.empty())
      out << fmt::format("{:<{}}  {}\n", "", width, outcomes);
  }
  write_lazy_table(kernels, out);
  write_near_data_table(kernels, out);
  write_duplo_table(kernels, out);
}

}  // namespace lacuna

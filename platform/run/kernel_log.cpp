#include "platform/run/kernel_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <ostream>
#include <utility>

#include "platform/run/decimal.h"
#include "platform/run/energy_report.h"
#include "platform/run/kernel_activity_report.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

/// Millions per second, or "-" if the time is too short to measure.
std::string millions_per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? fixed(static_cast<double>(count) / seconds / 1e6, 2) : "-";
}

void append_dimensions(std::string& text, const std::array<std::uint32_t, 3>& size) {
  append_decimal(text, size[0]);
  for (const std::uint32_t items : {size[1], size[2]}) {
    text += 'x';
    append_decimal(text, items);
  }
}

std::string dimensions(const std::array<std::uint32_t, 3>& size) {
  std::string text;
  append_dimensions(text, size);
  return text;
}

/// Appends a CSV field, quoted as RFC 4180 specifies, because kernel names of the guest may contain any characters.
void append_field(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) line.append(c == '"' ? 2 : 1, c);
  line += '"';
}

void append_numbers(std::string& line, std::initializer_list<std::uint64_t> numbers) {
  for (const std::uint64_t number : numbers) {
    line += ',';
    append_decimal(line, number);
  }
}

void append_csv_line(const KernelRecord& r, std::string& line) {
  append_decimal(line, r.index);
  line += ',';
  append_field(line, r.name);
  append_numbers(line, {r.queue});
  for (const auto& size : {r.grid, r.workgroup}) {
    line += ',';
    append_dimensions(line, size);
  }
  append_numbers(line, {r.workgroups, r.wavefronts, r.start.ps, r.end.ps, r.cycles, r.wavefront_instructions,
                        r.thread_instructions, r.failed ? 1U : 0U});
  line += ',';
  line += fixed(r.wall_seconds, 6);
  append_activity_csv(r.activity, line);
  append_numbers(line, {r.untimed_instructions, r.half_width, r.bulk_bytes, r.unfinished ? 1U : 0U});
  append_energy_csv(r.energy, r.end - r.start, line);
  line += '\n';
}

/// Cycles, with the confidence interval if they are an estimate: "150,032 ± 1.2 %".
std::string cycles_text(std::uint64_t cycles, std::uint64_t half_width) {
  if (half_width == 0) return grouped(cycles);
  return fmt::format("{} ± {} %", grouped(cycles),
                     fixed(100 * static_cast<double>(half_width) / static_cast<double>(cycles), 1));
}

TextRow table_row(const std::string& name, const std::string& time, const std::string& cycles,
                  std::uint64_t wavefront_instructions, std::uint64_t thread_instructions, double wall_seconds) {
  return {name,
          time,
          cycles,
          grouped(wavefront_instructions),
          fixed(wall_seconds, 3) + " s",
          millions_per_second(wavefront_instructions, wall_seconds),
          millions_per_second(thread_instructions, wall_seconds)};
}

}  // namespace

void KernelLog::kernel_started(const Dispatch& dispatch) { running_.push_back({dispatch.index, dispatch.kernel}); }

void KernelLog::kernel_ended(const KernelRecord& record) {
  std::erase_if(running_, [&](const Running& r) { return r.index == record.index; });
  if (records_.size() < kKept) records_.push_back(record);
  ++count_;
  add_kernels({&record, 1}, hash_);
  const auto [entry, is_new] = summary_of_.try_emplace(record.name, summaries_.size());
  if (is_new) summaries_.push_back({.name = record.name});
  summaries_[entry->second].add(record);
  if (csv_ == nullptr) return;
  line_.clear();
  append_csv_line(record, line_);
  csv_->write(line_);
}

void KernelLog::record_to(std::shared_ptr<OutputFile> csv) {
  csv_ = std::move(csv);
  std::ostringstream header;
  write_kernels_csv({}, header, energy_blocks_);
  csv_->write(header.view());
}

void KernelSummary::add(const KernelRecord& record) {
  const Tick duration = record.end - record.start;
  ++dispatches;
  failed += record.failed ? 1 : 0;
  unfinished += record.unfinished ? 1 : 0;
  time += duration;
  shortest = earlier(shortest, duration);
  longest = later(longest, duration);
  cycles += record.cycles;
  least_cycles = std::min(least_cycles, record.cycles);
  most_cycles = std::max(most_cycles, record.cycles);
  workgroups += record.workgroups;
  wavefronts += record.wavefronts;
  wavefront_instructions += record.wavefront_instructions;
  thread_instructions += record.thread_instructions;
  untimed_instructions += record.untimed_instructions;
  half_width += record.half_width;
  bulk_bytes += record.bulk_bytes;
  wall_seconds += record.wall_seconds;
  activity += record.activity;
  energy += record.energy;
}

const std::string& KernelLog::running() const {
  static const std::string kNone;
  return running_.empty() ? kNone : running_.back().name;
}

void write_kernels_csv(const std::vector<KernelRecord>& records, std::ostream& out,
                       const std::vector<std::string>& energy_blocks) {
  out << "index,kernel,queue,grid,workgroup,workgroups,wavefronts,start_ps,end_ps,cycles,wavefront_instructions,"
         "thread_instructions,failed,wall_seconds";
  write_activity_csv_header(out);
  out << ",untimed_instructions,half_width_cycles,bulk_bytes,unfinished";
  write_energy_csv_header(energy_blocks, out);
  out << '\n';
  std::string line;
  for (const KernelRecord& r : records) {
    line.clear();
    append_csv_line(r, line);
    out << line;
  }
}

void write_kernel_totals_csv(const std::vector<KernelSummary>& summaries, std::ostream& out,
                             const std::vector<std::string>& energy_blocks) {
  out << "kernel,dispatches,failed,time_ps,least_time_ps,mean_time_ps,most_time_ps,cycles,least_cycles,mean_cycles,most_cycles,"
         "workgroups,wavefronts,wavefront_instructions,thread_instructions,wall_seconds";
  write_activity_csv_header(out);
  out << ",untimed_instructions,half_width_cycles,bulk_bytes,unfinished";
  write_energy_csv_header(energy_blocks, out);
  out << '\n';
  for (const KernelSummary& s : summaries) {
    const auto mean = [&s](std::uint64_t sum) {
      return ',' + fixed(static_cast<double>(sum) / static_cast<double>(s.dispatches), 1);
    };
    std::string line;
    append_field(line, s.name);
    append_numbers(line, {s.dispatches, s.failed, s.time.ps, s.shortest.ps});
    line += mean(s.time.ps);
    append_numbers(line, {s.longest.ps, s.cycles, s.least_cycles});
    line += mean(s.cycles);
    append_numbers(line, {s.most_cycles, s.workgroups, s.wavefronts, s.wavefront_instructions, s.thread_instructions});
    line += ',' + fixed(s.wall_seconds, 6);
    append_activity_csv(s.activity, line);
    append_numbers(line, {s.untimed_instructions, s.half_width, s.bulk_bytes, s.unfinished});
    append_energy_csv(s.energy, s.time, line);
    out << line << '\n';
  }
}

void write_kernel_table(const std::deque<KernelRecord>& records, std::ostream& out) {
  std::vector<TextRow> rows{{"", "simulated", "core clock", "wavefront", "wall", "million wavefront", "million thread"},
                            {"kernel", "time", "cycles", "instructions", "time", "instructions/s", "instructions/s"}};
  std::uint64_t cycles = 0;
  std::uint64_t half_width = 0;
  std::uint64_t wavefront_instructions = 0;
  std::uint64_t thread_instructions = 0;
  double wall_seconds = 0;
  Tick time{};
  for (const KernelRecord& r : records) {
    rows.push_back(table_row(readable_kernel(r.name) + (r.failed       ? " (failed)"
                                                        : r.unfinished ? " (unfinished)"
                                                                       : ""),
                             readable_time(r.end - r.start), cycles_text(r.cycles, r.half_width), r.wavefront_instructions,
                             r.thread_instructions, r.wall_seconds));
    cycles += r.cycles;
    half_width += r.half_width;
    wavefront_instructions += r.wavefront_instructions;
    thread_instructions += r.thread_instructions;
    wall_seconds += r.wall_seconds;
    time += r.end - r.start;
  }
  rows.push_back(table_row("all kernels", readable_time(time), cycles_text(cycles, half_width), wavefront_instructions,
                           thread_instructions, wall_seconds));
  write_aligned(rows, out);
}

void write_kernel_table(const std::vector<KernelSummary>& summaries, std::ostream& out) {
  std::vector<TextRow> rows{
      {"", "", "simulated", "shortest", "mean", "longest", "core clock", "wavefront", "wall"},
      {"kernel", "dispatches", "time", "dispatch", "dispatch", "dispatch", "cycles", "instructions", "time"}};
  KernelSummary total;
  total.name = "all kernels";
  const auto add_row = [&](const KernelSummary& s) {
    std::string name = readable_kernel(s.name);
    if (s.failed != 0) name += " (" + grouped(s.failed) + " failed)";
    if (s.unfinished != 0) name += " (" + grouped(s.unfinished) + " unfinished)";
    rows.push_back({name, grouped(s.dispatches), readable_time(s.time), readable_time(s.shortest),
                    readable_time({s.time.ps / s.dispatches}), readable_time(s.longest), cycles_text(s.cycles, s.half_width),
                    grouped(s.wavefront_instructions), fixed(s.wall_seconds, 3) + " s"});
  };
  for (const KernelSummary& s : summaries) {
    add_row(s);
    total.dispatches += s.dispatches;
    total.failed += s.failed;
    total.unfinished += s.unfinished;
    total.time += s.time;
    total.shortest = earlier(total.shortest, s.shortest);
    total.longest = later(total.longest, s.longest);
    total.cycles += s.cycles;
    total.half_width += s.half_width;
    total.wavefront_instructions += s.wavefront_instructions;
    total.thread_instructions += s.thread_instructions;
    total.wall_seconds += s.wall_seconds;
  }
  if (total.dispatches != 0) add_row(total);
  write_aligned(rows, out);
}

void add_kernels(std::span<const KernelRecord> records, RunHash& hash) {
  for (const KernelRecord& r : records) {
    hash.add("kernel", r.name);
    hash.add("index", r.index);
    hash.add("queue", r.queue);
    hash.add("grid", dimensions(r.grid));
    hash.add("workgroup", dimensions(r.workgroup));
    hash.add("workgroups", r.workgroups);
    hash.add("wavefronts", r.wavefronts);
    hash.add("start", r.start.ps);
    hash.add("end", r.end.ps);
    hash.add("cycles", r.cycles);
    hash.add("wavefront_instructions", r.wavefront_instructions);
    hash.add("thread_instructions", r.thread_instructions);
    hash.add("failed", r.failed ? 1 : 0);
    if (r.unfinished) hash.add("unfinished", 1);
    if (r.untimed_instructions != 0) {
      hash.add("untimed_instructions", r.untimed_instructions);
      hash.add("half_width", r.half_width);
    }
    add_activity(r.activity, hash);
  }
}

}  // namespace lacuna

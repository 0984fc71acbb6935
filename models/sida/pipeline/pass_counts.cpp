#include "models/sida/pipeline/pass_counts.h"

#include <algorithm>

#include <numeric>
#include <stdexcept>
#include <string>

namespace lacuna::sida {
namespace {

double mean(std::uint64_t sum, std::uint64_t n) { return n == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(n); }

void require_equal(std::uint64_t a, std::uint64_t b, const char* what) {
  if (a != b)
    throw std::logic_error(std::string("sida pass: ") + what + ": " + std::to_string(a) + " and " + std::to_string(b));
}

}  // namespace

PassCounts& PassCounts::operator+=(const PassCounts& other) {
  const auto add = [](auto& sums, const auto& values) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  };
  add(read_bytes, other.read_bytes);
  add(written_bytes, other.written_bytes);
  add(bound, other.bound);
  add(busy, other.busy);
  add(stalled, other.stalled);
  requests += other.requests;
  entries += other.entries;
  os_used += other.os_used;
  is_used += other.is_used;
  fetched += other.fetched;
  converted_to_rows += other.converted_to_rows;
  converted_to_columns += other.converted_to_columns;
  discarded += other.discarded;
  evicted += other.evicted;
  reloaded += other.reloaded;
  repacks += other.repacks;
  repack_moved += other.repack_moved;
  r_given += other.r_given;
  r_used += other.r_used;
  conflicts += other.conflicts;
  conflict_cycles += other.conflict_cycles;
  steps += other.steps;
  cycles += other.cycles;
  sub_tensors += other.sub_tensors;
  waiting_sum += other.waiting_sum;
  rows_sum += other.rows_sum;
  buffer_sum += other.buffer_sum;
  waiting_peak = std::max(waiting_peak, other.waiting_peak);
  rows_peak = std::max(rows_peak, other.rows_peak);
  buffer_peak = std::max(buffer_peak, other.buffer_peak);
  lines.x_fetched += other.lines.x_fetched;
  lines.x_refetched += other.lines.x_refetched;
  lines.sums_spilled += other.lines.sums_spilled;
  lines.sums_read_back += other.lines.sums_read_back;
  lines.w_spilled += other.lines.w_spilled;
  lines.w_read_back += other.lines.w_read_back;
  return *this;
}

std::uint64_t PassCounts::bytes() const {
  return std::accumulate(read_bytes.begin(), read_bytes.end(), std::uint64_t{0}) +
         std::accumulate(written_bytes.begin(), written_bytes.end(), std::uint64_t{0});
}

double PassCounts::waiting_mean() const { return mean(waiting_sum, sub_tensors); }
double PassCounts::rows_mean() const { return mean(rows_sum, sub_tensors); }
double PassCounts::reuse() const { return mean(os_used + is_used, fetched); }
double PassCounts::buffer_mean() const { return mean(buffer_sum, steps); }
double PassCounts::utilisation(std::uint64_t bytes_per_cycle) const { return mean(bytes(), cycles * bytes_per_cycle); }

void check_conservation(const PassCounts& counts, bool has_is, std::uint64_t left) {
  require_equal(counts.fetched, counts.entries + counts.reloaded + counts.discarded,
                "entries fetched and entries + reloads + discarded conversions differ");
  require_equal(counts.reloaded, counts.evicted, "reloads and evictions differ");
  require_equal(counts.os_used, counts.entries, "entries used by OS and entries differ");
  require_equal(counts.is_used, has_is ? counts.entries : 0, "entries used by IS and entries differ");
  require_equal(left, 0, "entries are left in the buffer");
}

}  // namespace lacuna::sida

#include "models/sida/pipeline/pass_counts.h"

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

std::uint64_t PassCounts::bytes() const {
  return std::accumulate(read_bytes.begin(), read_bytes.end(), std::uint64_t{0}) +
         std::accumulate(written_bytes.begin(), written_bytes.end(), std::uint64_t{0});
}

double PassCounts::waiting_mean() const { return mean(waiting_sum, sub_tensors); }
double PassCounts::rows_mean() const { return mean(rows_sum, sub_tensors); }
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

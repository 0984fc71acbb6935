// Sorts records by a point of time that lies anywhere in a short interval, as requests of one window do.
//
// First into buckets of equal length, then each bucket: a comparison sort of a few hundred such records costs several times as
// much, most of it wrongly predicted branches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/common/units.h"

namespace lacuna {

/// `Record` has a member `at` and an order by operator< that begins with it. `space` is left with anything.
template <typename Record>
void sort_by_time(std::vector<Record>& records, std::vector<Record>& space) {
  constexpr std::size_t kBuckets = 256;
  constexpr std::size_t kFewRecords = 32;   // not worth buckets
  constexpr std::size_t kSmallBucket = 16;  // that are left to the insertion sort of the whole
  if (records.size() <= kFewRecords) {
    std::sort(records.begin(), records.end());
    return;
  }
  const auto [least, most] =
      std::minmax_element(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.at < b.at; });
  const std::uint64_t first = least->at.ps;
  const int shift = std::max(0, static_cast<int>(std::bit_width(most->at.ps - first)) - std::countr_zero(kBuckets));
  const auto bucket = [&](const Record& record) { return (record.at.ps - first) >> shift; };

  std::array<std::uint32_t, kBuckets + 1> ends{};
  for (const Record& record : records) ++ends[bucket(record) + 1];
  for (std::size_t i = 1; i <= kBuckets; ++i) ends[i] += ends[i - 1];
  space.resize(records.size());
  // Behind this, ends[i] is where bucket i ends.
  for (const Record& record : records) space[ends[bucket(record)]++] = record;
  records.swap(space);

  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < kBuckets; begin = ends[i++]) {
    if (ends[i] - begin > kSmallBucket) std::sort(records.begin() + begin, records.begin() + ends[i]);
  }
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record record = records[i];
    std::size_t place = i;
    for (; place > 0 && record < records[place - 1]; --place) records[place] = records[place - 1];
    records[place] = record;
  }
}

}  // namespace lacuna

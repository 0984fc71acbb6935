// Sorts records by a time that is distributed over a short interval, such as requests of one window.
//
// Records are distributed to buckets of equal length in time, then each bucket is sorted: a comparison sort of a few hundred
// such records takes several times as long, mainly because of mispredicted branches. Records that are nearly in order, a common
// case, cost little more than a comparison each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/common/time/units.h"

namespace lacuna {

/// Insertion sort, for few records or for records that are nearly in order. Gives up when records have moved by more than
/// `most` positions in total. Returns whether the records are sorted.
template <typename Record>
bool sort_by_insertion(std::span<Record> records, std::size_t most = ~std::size_t{0}) {
  std::size_t moved = 0;
  for (std::size_t i = 1; i < records.size(); ++i) {
    if (records[i - 1].at < records[i].at) [[likely]]
      continue;
    const Record record = records[i];
    std::size_t place = i;
    for (; place > 0 && record < records[place - 1]; --place) records[place] = records[place - 1];
    records[place] = record;
    moved += i - place;
    if (moved > most) return false;
  }
  return true;
}

/// Bucket sort of sort_by_time(), for times from `first` to `last`.
template <std::size_t kBuckets, typename Record>
void sort_by_buckets(std::vector<Record>& records, std::vector<Record>& space, std::uint64_t first, std::uint64_t last) {
  constexpr std::size_t kSmallBucket = 16;  // buckets up to this size are left to the final insertion sort
  const int shift = std::max(0, static_cast<int>(std::bit_width(last - first)) - std::countr_zero(kBuckets));
  const auto bucket = [&](const Record& record) { return (record.at.ps - first) >> shift; };

  std::array<std::uint32_t, kBuckets + 1> ends{};
  for (const Record& record : records) ++ends[bucket(record) + 1];
  std::uint32_t largest = 0;
  for (std::size_t i = 1; i <= kBuckets; ++i) {
    largest = std::max(largest, ends[i]);
    ends[i] += ends[i - 1];
  }
  space.resize(records.size());
  // After this loop, ends[i] is the end of bucket i.
  for (const Record& record : records) space[ends[bucket(record)]++] = record;
  records.swap(space);

  if (largest > kSmallBucket) {
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < kBuckets; begin = ends[i++]) {
      if (ends[i] - begin > kSmallBucket) std::sort(records.begin() + begin, records.begin() + ends[i]);
    }
  }
  sort_by_insertion<Record>(records);
}

/// Sorts records that are in arbitrary order. `Record` has a member `at`, and an operator< that compares `at` first. `space`:
/// scratch memory.
template <typename Record>
void sort_by_time(std::vector<Record>& records, std::vector<Record>& space) {
  constexpr std::size_t kFewRecords = 32;  // up to this number insertion sort is faster
  constexpr std::size_t kManyRecords = 128;
  if (records.size() <= kFewRecords) {
    sort_by_insertion<Record>(records);
    return;
  }
  Tick first = records.front().at;
  Tick last = first;
  for (const Record& record : records) {
    first = earlier(first, record.at);
    last = later(last, record.at);
  }
  if (records.size() <= kManyRecords) {
    sort_by_buckets<64>(records, space, first.ps, last.ps);
  } else {
    sort_by_buckets<256>(records, space, first.ps, last.ps);
  }
}

/// Like sort_by_time(), but faster for records that are nearly in order.
template <typename Record>
void sort_nearly_sorted(std::vector<Record>& records, std::vector<Record>& space) {
  if (!sort_by_insertion<Record>(records, records.size())) sort_by_time(records, space);
}

}  // namespace lacuna

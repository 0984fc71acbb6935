#include "models/lazy/zero_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace lacuna {
namespace {

std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

// Bytes of the masks of all partitions, in whole rounds of interleaving or, with one partition, in whole transactions.
Bytes mask_bytes(const AddressSlice& data, unsigned mask_bits, unsigned transaction) {
  const bool interleaved = data.count() > 1;
  const std::uint64_t of_each =
      interleaved ? round_up(data.size().n, data.interleave().n * data.count()) / data.count() : data.size().n;
  const std::uint64_t masks = (of_each + mask_bits - 1) / mask_bits;
  return {round_up(masks, interleaved ? data.interleave().n : transaction) * data.count()};
}

}  // namespace

ZeroMaskMap::ZeroMaskMap(const AddressSlice& data, std::uint64_t mask_base, unsigned mask_bits, unsigned transaction)
    : data_(data),
      masks_(mask_base, mask_bytes(data, mask_bits, transaction), data.interleave(), data.count(), 0),
      mask_bits_(mask_bits),
      transaction_(transaction) {
  if (!std::has_single_bit(transaction) || (data.count() > 1 && data.interleave().n % transaction != 0)) {
    throw std::invalid_argument(
        fmt::format("interleave of {} bytes is not a multiple of a mask transaction of {}", data.interleave().n, transaction));
  }
}

ZeroMasks::ZeroMasks(std::uint64_t base, Bytes size, unsigned groups)
    : base_(base),
      size_(size.n),
      store_(Bytes{(size.n + 8 * kWord - 1) / (8 * kWord)}),
      bits_(reinterpret_cast<std::uint8_t*>(store_.data())),
      groups_(groups) {}

void ZeroMasks::mark(std::uint64_t word, bool known) {
  std::uint8_t& bits = bits_[word / 8];
  const auto bit = static_cast<std::uint8_t>(1U << word % 8);
  // Writes only if the bit changes: reading a page does not allocate it, but writing does.
  if (((bits & bit) != 0) != known) bits ^= bit;
}

void ZeroMasks::window_ended() {
  for (Group& group : groups_) {
    for (const Write& write : group.stores) resolve(write, false);
    group.stores.clear();
  }
  // Atomic operations are performed when all stores are in memory.
  for (Group& group : groups_) {
    for (const Write& write : group.atomics) resolve(write, true);
    group.atomics.clear();
  }
}

void ZeroMasks::resolve(const Write& write, bool atomic) {
  std::uint64_t word = (write.address - base_) / kWord;
  for (ByteMask left = write.byte_mask; left.any(); left = left >> kWord, ++word) {
    const std::uint64_t bytes = left.low() & 0xf;
    if (atomic ? bytes != 0 : bytes == 0xf) mark(word, !atomic);
  }
}

void ZeroMasks::set(std::uint64_t address, std::uint64_t bytes, bool known) {
  const std::uint64_t begin = std::max(address, base_);
  const std::uint64_t end = std::min(address + bytes, base_ + size_);
  if (begin >= end) return;
  // A partially written word becomes unknown if `known` is false, and keeps its state otherwise.
  std::uint64_t word = (begin - base_ + (known ? kWord - 1 : 0)) / kWord;
  const std::uint64_t last = (end - base_ + (known ? 0 : kWord - 1)) / kWord;
  for (; word < last && word % 8 != 0; ++word) mark(word, known);
  const std::uint8_t whole = known ? 0xff : 0;
  for (; word + 8 <= last; word += 8) {
    if (bits_[word / 8] != whole) bits_[word / 8] = whole;
  }
  for (; word < last; ++word) mark(word, known);
}

}  // namespace lacuna

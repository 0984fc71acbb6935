// Slice of an address range that one of several interleaved banks or channels owns.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>

#include "models/common/time/units.h"
#include "models/common/transport/address_hash.h"

namespace lacuna {

/// Chunk c (of `interleave` bytes) of the range [base, base + size) belongs to slice c mod count, or with a hash to a slice
/// that depends on the round of `count` chunks (models/common/transport/address_hash.h). In both cases a slice has one chunk of
/// each round, and local() packs its chunks into dense addresses. With count 1 the slice is the whole range.
class AddressSlice {
 public:
  /// Throws std::invalid_argument if a hash is combined with a count or an interleave that is not a power of two, or with a
  /// range that is not a whole number of rounds, or if a round is longer than the hash allows. A hash has no effect if `count`
  /// is 1.
  constexpr AddressSlice(std::uint64_t base, Bytes size, Bytes interleave, unsigned count, unsigned index,
                         AddressHash hash = AddressHash::none)
      : base_(base), size_(size.n), interleave_(count > 1 ? interleave.n : size.n), count_(count), index_(index) {
    if (count > 1 && std::has_single_bit(interleave_) && std::has_single_bit(count)) {
      chunk_shift_ = std::countr_zero(interleave_);
      count_shift_ = std::countr_zero(count);
    }
    if (hash == AddressHash::none || count == 1) return;
    hash_ = hash;
    if (chunk_shift_ < 0) throw std::invalid_argument("a hash needs powers of two as count and interleave");
    if ((size.n & ((interleave_ << count_shift_) - 1)) != 0) throw std::invalid_argument("a hash needs whole turns as size");
    if (hash == AddressHash::mi200 && static_cast<unsigned>(chunk_shift_ + count_shift_) > kMi200Bits)
      throw std::invalid_argument("the hash of MI200 needs turns of at most 64 KiB");
  }
  constexpr AddressSlice(std::uint64_t base, Bytes size) : AddressSlice(base, size, size, 1, 0) {}
  /// A slice of all addresses, for a unit that is not interleaved.
  constexpr AddressSlice() : AddressSlice(0, Bytes{~std::uint64_t{0}}) {}

  constexpr std::uint64_t base() const { return base_; }
  constexpr Bytes size() const { return {size_}; }
  constexpr Bytes interleave() const { return {interleave_}; }
  constexpr unsigned count() const { return count_; }
  constexpr unsigned index() const { return index_; }

  /// Number of the slice to which an address of the range belongs.
  constexpr unsigned owner(std::uint64_t address) const {
    const std::uint64_t offset = address - base_;
    if (chunk_shift_ >= 0) {
      const std::uint64_t chunk = offset >> chunk_shift_;
      return static_cast<unsigned>((chunk ^ permutation(chunk >> count_shift_)) & (count_ - 1));
    }
    return count_ == 1 ? 0 : static_cast<unsigned>(offset / interleave_ % count_);
  }
  /// Whether [address, address + length) is within one chunk, which belongs to this slice.
  constexpr bool contains(std::uint64_t address, std::uint64_t length) const {
    const std::uint64_t offset = address - base_;
    if (address < base_ || offset >= size_ || length > size_ - offset) return false;
    if (count_ == 1) return true;
    return owner(address) == index_ && length <= chunk_begin(address) + interleave_ - address;
  }
  /// Whether [address, address + length) is in one chunk and in the range. `address` must be in the range.
  constexpr bool is_one_chunk(std::uint64_t address, std::uint64_t length) const {
    const std::uint64_t first = address - base_;
    const std::uint64_t last = first + (length - 1);
    if (chunk_shift_ >= 0) return first >> chunk_shift_ == last >> chunk_shift_ && last < size_;
    return length <= chunk_last(address) - address + 1;
  }
  constexpr std::uint64_t local(std::uint64_t address) const {
    const std::uint64_t offset = address - base_;
    if (count_ == 1) return offset;
    if (chunk_shift_ >= 0) {
      return (offset >> (chunk_shift_ + count_shift_) << chunk_shift_) | (offset & (interleave_ - 1));
    }
    return offset / (interleave_ * count_) * interleave_ + offset % interleave_;
  }
  /// The address that has local address `local` in slice `index`: the inverse of owner() and local().
  constexpr std::uint64_t address(unsigned index, std::uint64_t local) const {
    if (count_ == 1) return base_ + local;
    if (chunk_shift_ >= 0) {
      const std::uint64_t turn = local >> chunk_shift_;
      const std::uint64_t place = (index ^ permutation(turn)) & (count_ - 1);
      return base_ + (((turn << count_shift_ | place) << chunk_shift_) | (local & (interleave_ - 1)));
    }
    return base_ + (local / interleave_ * count_ + index) * interleave_ + local % interleave_;
  }
  /// First address of the chunk that contains an address.
  constexpr std::uint64_t chunk_begin(std::uint64_t address) const {
    if (count_ == 1) return base_;
    const std::uint64_t offset = address - base_;
    return base_ + (chunk_shift_ >= 0 ? offset & ~(interleave_ - 1) : offset / interleave_ * interleave_);
  }
  /// Last address of the chunk that contains an address, limited to the range.
  constexpr std::uint64_t chunk_last(std::uint64_t address) const {
    const std::uint64_t begin = chunk_begin(address);
    const std::uint64_t left = base_ + size_ - begin;
    return begin + (interleave_ < left ? interleave_ : left) - 1;
  }

 private:
  /// What the hash XORs onto the places of a turn. The bits above those of `count` are undefined.
  constexpr std::uint64_t permutation(std::uint64_t turn) const {
    if (hash_ == AddressHash::fold) return xor_fold(turn, static_cast<unsigned>(count_shift_));
    return hash_ == AddressHash::mi200 ? xor_mi200(turn << (chunk_shift_ + count_shift_)) : 0;
  }

  std::uint64_t base_;
  std::uint64_t size_;
  std::uint64_t interleave_;
  unsigned count_;
  unsigned index_;
  int chunk_shift_ = -1;  // log2 of the interleave; -1: interleave or count is not a power of two, or count is 1
  int count_shift_ = 0;
  AddressHash hash_ = AddressHash::none;
};

}  // namespace lacuna

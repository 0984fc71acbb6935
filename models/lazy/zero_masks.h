// Zero masks of GPU memory (LazyGPU, ISCA '25, section 4.2): their addresses, and the words for which they are valid.
//
// A mask has a bit for each `mask_bits` bits of memory: the bit is set if all of these are zero. Masks are transferred in
// transactions, as data are. A mask transaction of 32 bytes covers 32 x mask_bits consecutive bytes of one memory partition's
// local addresses. With P partitions interleaved every I bytes, these are consecutive bytes of memory if I is at least 32 x
// mask_bits, and otherwise the partition's chunks of consecutive rounds of interleaving.
//
// Masks are stored in the DRAM of their partition, after its data. Their bus addresses are visible only inside the GPU's memory
// system.
//
// The classes here hold no mask data. Whether a word is zero is read from memory; a mask's bit agrees with memory where
// ZeroMasks marks the word as known.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/units.h"
#include "models/common/transport/address_slice.h"
#include "models/common/transport/backing_store.h"
#include "models/common/transport/memory_request.h"
#include "models/common/transport/write_observer.h"
#include "models/compute/window_observer.h"

namespace lacuna {

/// Bus addresses of masks.
class ZeroMaskMap {
 public:
  /// `data`: slice of any partition of the memory. `mask_base`: first bus address of the masks. `transaction`: bytes of a mask
  /// transaction. Throws std::invalid_argument if `transaction` is not a power of two, or if the interleave of several
  /// partitions is not a multiple of it.
  ZeroMaskMap(const AddressSlice& data, std::uint64_t mask_base, unsigned mask_bits, unsigned transaction = 32);

  /// Partition 0's slice of the range of all masks, which is interleaved as the data are, without the address hash.
  const AddressSlice& masks() const { return masks_; }
  /// A partition's slice of the masks.
  AddressSlice masks_of(unsigned partition) const {
    return AddressSlice(masks_.base(), masks_.size(), masks_.interleave(), masks_.count(), partition);
  }
  /// Bytes of a mask transaction.
  unsigned transaction() const { return transaction_; }
  /// Bytes of a partition's data that a mask transaction covers.
  std::uint64_t covered() const { return std::uint64_t{transaction_} * mask_bits_; }

  /// Whether an address belongs to the memory.
  bool covers(std::uint64_t address) const { return address - data_.base() < data_.size().n; }

  struct Place {
    std::uint64_t transaction;  ///< bus address of the mask transaction
    unsigned bit;               ///< bit in the transaction: 0 is bit 0 of byte 0
  };
  /// Location of the mask bit for the byte of memory at a bus address.
  Place find(std::uint64_t address) const {
    const std::uint64_t bit = data_.local(address) * 8 / mask_bits_;
    const std::uint64_t byte = bit / 8 & ~std::uint64_t{transaction_ - 1};
    return {masks_.address(data_.owner(address), byte), static_cast<unsigned>(bit - byte * 8)};
  }

 private:
  AddressSlice data_;
  AddressSlice masks_;
  unsigned mask_bits_;
  unsigned transaction_;
};

/// Words of memory with a valid mask, if only stores of wavefronts update masks (`lazy.masks = stores`). One bit per 32-bit
/// word, in host memory that is allocated only where words are known.
///
/// Within a time window compute units see the state at the window's beginning: their stores and atomic operations are collected
/// for each group of units that a host thread runs, and are applied at the end of the window, group after group. The state
/// therefore does not depend on the number of threads.
class ZeroMasks : public WindowObserver, public WriteObserver {
 public:
  /// Covers bus addresses [base, base + size); initially all words are unknown. `groups`: number of groups of compute units.
  ZeroMasks(std::uint64_t base, Bytes size, unsigned groups);

  /// Whether the word at an address is known.
  bool known(std::uint64_t address) const {
    const std::uint64_t word = (address - base_) / kWord;
    return (bits_[word / 8] >> word % 8 & 1) != 0;
  }
  /// Set of known words among the eight from `address` on, a multiple of 32: bit i is word i.
  std::uint8_t known_of_transaction(std::uint64_t address) const { return bits_[(address - base_) / (8 * kWord)]; }

  /// Records a wavefront's store to the bytes of `byte_mask`: bit i = byte i from `address` on, a multiple of 4. A word that is
  /// written in part keeps its state: the unit that writes a part of it has no information about the rest. Addresses outside of
  /// the memory are ignored.
  void stored(unsigned group, std::uint64_t address, ByteMask byte_mask) {
    if (holds(address)) groups_[group].stores.push_back({address, byte_mask});
  }
  /// Records an atomic operation on the bytes of `byte_mask`, whose words become unknown: the result is known only where the
  /// operation is performed, not in the unit that writes masks.
  void changed(unsigned group, std::uint64_t address, ByteMask byte_mask) {
    if (holds(address)) groups_[group].atomics.push_back({address, byte_mask});
  }
  /// Applies the recorded stores, group after group, then the atomic operations.
  void window_ended() override;

  // The following may be called at any time outside of windows. Ranges may extend beyond the memory.

  /// Call when [address, address + bytes) was written by an agent that does not write masks.
  void mark_unknown(std::uint64_t address, std::uint64_t bytes) { set(address, bytes, false); }
  /// Call when [address, address + bytes) was written by wavefronts.
  void mark_known(std::uint64_t address, std::uint64_t bytes) { set(address, bytes, true); }
  void written(std::uint64_t address, std::uint64_t bytes, bool by_wavefronts) override { set(address, bytes, by_wavefronts); }

 private:
  static constexpr std::uint64_t kWord = 4;
  struct Write {
    std::uint64_t address;
    ByteMask byte_mask;
  };
  struct Group {
    std::vector<Write> stores;
    std::vector<Write> atomics;
  };
  bool holds(std::uint64_t address) const { return address - base_ < size_; }
  void resolve(const Write& write, bool atomic);
  void set(std::uint64_t address, std::uint64_t bytes, bool known);
  void mark(std::uint64_t word, bool known);

  std::uint64_t base_;
  std::uint64_t size_;
  BackingStore store_;
  std::uint8_t* bits_;
  std::vector<Group> groups_;
};

/// A compute unit's path to the zero caches. All pointers are null if there are none.
struct ZeroPath {
  MemoryTarget* l1z = nullptr;       ///< target of requests for whole mask transactions; writes carry byte masks
  const ZeroMaskMap* map = nullptr;  ///< map of GPU memory
  ZeroMasks* masks = nullptr;        ///< null: every mask is known
  unsigned group = 0;                ///< group of the unit in `masks`
};

}  // namespace lacuna

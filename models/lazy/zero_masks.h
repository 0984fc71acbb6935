// Zero masks of GPU memory (LazyGPU, ISCA '25, section 4.2): where they are, and for which words they are known.
//
// A mask has a bit for each `mask_bits` bits of memory, which says whether they are all zero. Masks move in transactions, as
// data do: one of 32 bytes covers 32 x mask_bits bytes of data. So that it does not concern several memory partitions, it
// covers data of one: 32 x mask_bits consecutive bytes as the partition sees them. With P partitions that take turns every I
// bytes, these are consecutive bytes of memory when I is at least as much, and otherwise the partition's chunks of so many
// consecutive turns as make that up.
//
// Masks are kept in the DRAM of their partition, behind its data, and have bus addresses of their own, which nobody outside of
// the GPU's memory system sees.
//
// Nothing here has data. Whether a word is zero is a question to memory; a mask's bit is the answer where ZeroMasks says that
// it is known.
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
  /// `data`: the share of any partition of the memory. `mask_base`: the masks' first bus address. `transaction`: bytes of a
  /// mask transaction. std::invalid_argument when a partition's interleave does not hold whole transactions.
  ZeroMaskMap(const AddressSlice& data, std::uint64_t mask_base, unsigned mask_bits, unsigned transaction = 32);

  /// The range of all masks, as partition 0 sees it: interleaved as the data are, but for the hash.
  const AddressSlice& masks() const { return masks_; }
  /// The share of a partition.
  AddressSlice masks_of(unsigned partition) const {
    return AddressSlice(masks_.base(), masks_.size(), masks_.interleave(), masks_.count(), partition);
  }
  unsigned transaction() const { return transaction_; }
  /// Bytes of data that a transaction covers, of its partition.
  std::uint64_t covered() const { return std::uint64_t{transaction_} * mask_bits_; }

  /// Whether an address is one of the memory.
  bool covers(std::uint64_t address) const { return address - data_.base() < data_.size().n; }

  struct Place {
    std::uint64_t transaction;  ///< bus address of the mask transaction
    unsigned bit;               ///< in it: 0 is bit 0 of byte 0
  };
  /// Of the bit that stands for a byte of memory, given by its bus address.
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

/// Which words of memory have a mask that is right, when stores of wavefronts are all that keeps masks right (`lazy.masks =
/// stores`). One bit for a 32-bit word, in host memory that costs nothing where nothing is known.
///
/// Within a window of time compute units see what was known at its beginning: what their stores make known is collected, for
/// each group of units that a host thread works on, and settled at the window's edge, group after group. So it does not depend
/// on the number of threads.
class ZeroMasks : public WindowObserver, public WriteObserver {
 public:
  /// Of [base, base + size) on the bus, nothing of it known. `groups`: of compute units.
  ZeroMasks(std::uint64_t base, Bytes size, unsigned groups);

  bool known(std::uint64_t address) const {
    const std::uint64_t word = (address - base_) / kWord;
    return (bits_[word / 8] >> word % 8 & 1) != 0;
  }
  /// Of the eight words from `address` on, a multiple of 32: bit i tells of word i.
  std::uint8_t known_of_transaction(std::uint64_t address) const { return bits_[(address - base_) / (8 * kWord)]; }

  /// A wavefront has stored to the bytes of the mask, bit i = byte i from `address` on, a multiple of 4. A word that is stored
  /// to in part stays what it was: who writes half of it does not know whether the rest is zero. Addresses outside of the
  /// memory are ignored.
  void stored(unsigned group, std::uint64_t address, ByteMask byte_mask) {
    if (holds(address)) groups_[group].stores.push_back({address, byte_mask});
  }
  /// An atomic operation has changed them: what has become of them is known where it is performed, not to who writes masks.
  void changed(unsigned group, std::uint64_t address, ByteMask byte_mask) {
    if (holds(address)) groups_[group].atomics.push_back({address, byte_mask});
  }
  /// Stores, group after group, then atomic operations.
  void window_ended() override;

  // At any time outside of a window's work. Ranges may reach beyond the memory.
  /// Somebody who does not write masks has written [address, address + bytes).
  void forget(std::uint64_t address, std::uint64_t bytes) { set(address, bytes, false); }
  /// Wavefronts have.
  void learn(std::uint64_t address, std::uint64_t bytes) { set(address, bytes, true); }
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
  void settle(const Write& write, bool atomic);
  void set(std::uint64_t address, std::uint64_t bytes, bool known);
  void mark(std::uint64_t word, bool known);

  std::uint64_t base_;
  std::uint64_t size_;
  BackingStore store_;
  std::uint8_t* bits_;
  std::vector<Group> groups_;
};

/// What a compute unit has of the zero caches. All null: there are none.
struct ZeroPath {
  MemoryTarget* l1z = nullptr;       ///< takes requests for whole mask transactions; of a write the bytes that are concerned
  const ZeroMaskMap* map = nullptr;  ///< of GPU memory
  ZeroMasks* masks = nullptr;        ///< null: every mask is known
  unsigned group = 0;                ///< for `masks`
};

}  // namespace lacuna

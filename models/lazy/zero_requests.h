// A compute unit's requests to zero caches (models/lazy/zero_masks.h): masks of the lines that an instruction loads or
// stores.
//
// Lines whose masks are in one transaction share a request. Requests depart one per cycle, through a separate port with the
// address translation of the vector port, so they do not wait for the requests of the data.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/common/time/calendar.h"
#include "models/compute/memory/coalescer.h"
#include "models/compute/memory/memory_port.h"
#include "models/compute/memory/memory_tokens.h"
#include "models/compute/memory/physical_addresses.h"
#include "models/lazy/zero_masks.h"

namespace lacuna {

class ZeroRequests : private MemoryClient {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    /// The response to one of the zero reads made with `tag` arrives at `at`. May be called within read().
    virtual void zeros_known(std::uint32_t tag, Tick at) = 0;
  };

  ZeroRequests(Clock clock, const GpuVm& vm, MemoryTokens& tokens, MemoryTarget& memory, std::uint16_t requester,
               unsigned mask_bits)
      : clock_(clock), tokens_(tokens), port_(*this, memory), physical_(vm), requester_(requester), mask_bits_(mask_bits) {}

  MemoryPort& port() { return port_; }
  void attach(const ZeroPath& path) {
    path_ = path;
    port_.attach(*path.l1z);
  }
  const ZeroPath& path() const { return path_; }
  /// Bits of data per bit of a mask.
  unsigned mask_bits() const { return mask_bits_; }

  /// Finds the mask transactions of lines that an instruction loads. Returns their number.
  unsigned find_masks(std::span<const CoalescedLine> lines) {
    collect(lines, Use::load);
    return static_cast<unsigned>(masks_.size());
  }
  /// Finds the mask transactions of lines to which an instruction writes, and records the store or atomic operation in
  /// ZeroPath::masks. Returns the number of transactions.
  unsigned find_masks_to_write(std::span<const CoalescedLine> lines, bool atomic) {
    collect(lines, atomic ? Use::atomic : Use::store);
    return static_cast<unsigned>(masks_.size());
  }
  /// Whether the masks of the lines passed last to find_masks() or find_masks_to_write() are known without ZeroPath::masks: all
  /// lines have masks, and all masks are known.
  bool all_known() const { return all_covered_ && path_.masks == nullptr; }
  /// Whether the mask of the word of memory at a bus address is known.
  bool known(std::uint64_t address) const {
    return address != PhysicalAddresses::kUnmapped && path_.map->covers(address) &&
           (path_.masks == nullptr || path_.masks->known(address));
  }
  /// Reads the masks found last. The first request departs at `at`, or later if the port is busy then. `client` receives a
  /// response for each.
  void read(Tick at, Client& client, std::uint32_t tag);
  /// Writes the masks found last; the token's operation completes after these writes.
  void write(Tick at, MemoryTokens::Token token);

  /// Number of mask transactions read so far.
  const std::uint64_t& reads() const { return reads_; }
  /// Number of mask transactions written so far.
  const std::uint64_t& writes() const { return writes_; }
  void retire(Tick horizon) { leaving_.retire(horizon); }
  void reset();

 private:
  /// A mask transaction of the current lines.
  struct Mask {
    std::uint64_t address;  ///< bus address
    ByteMask byte_mask;
    std::uint64_t line;  ///< GPU virtual address of the first line that the mask covers
  };
  struct Reader {
    Client* client = nullptr;
    std::uint32_t tag = 0;
  };
  static constexpr std::uint32_t kWrite = std::uint32_t{1}
                                          << 31;  // set in the tag of a write to the port; the other bits are a token

  enum class Use : std::uint8_t { load, store, atomic };

  void collect(std::span<const CoalescedLine> lines, Use use);
  /// `tag_of`: returns the tag of the next request.
  template <typename TagOf>
  void send(Tick at, bool write, TagOf&& tag_of);
  void on_response(std::uint32_t tag, const MemoryResponse& response) override;

  Clock clock_;
  MemoryTokens& tokens_;
  MemoryPort port_;
  Calendar leaving_;  ///< departures: one request per cycle
  PhysicalAddresses physical_;
  std::uint16_t requester_;
  unsigned mask_bits_;
  ZeroPath path_;
  std::vector<Mask> masks_;
  bool all_covered_ = true;
  std::vector<Reader> readers_;
  std::vector<std::uint32_t> free_;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace lacuna

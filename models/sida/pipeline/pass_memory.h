// Interface between the pipeline and memory: the memory reports when a read has arrived and when a write is complete.
//
// Times are whole cycles of the accelerator's clock; a memory may use fractions of cycles internally (ideal_memory.h). A memory
// may report arrivals and completions after the call, for instance if it is behind a network; meanwhile the pipeline advances
// the cores that do not wait for them (PassPipeline::resume). With a memory that reports times immediately, requests of a pass
// are made with ascending `earliest`, except at the beginning of a pass, when data wait for offsets. A request is contiguous in
// its array and may have any length; implementations split it as required.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace lacuna::sida {

using Time = std::uint64_t;

enum class MemoryKind : std::uint8_t {
  csc,            ///< matrix in OS order; blocked: lists of blocks
  csr_eager,      ///< matrix in IS order, fetched ahead of OS
  csr_reload,     ///< matrix in IS order: evicted entries that are loaded again
  x,              ///< x, or the vectors from which it is computed
  ewise_vectors,  ///< vectors read by E-wise and finish code
  sums,           ///< partial sums and w: spilled (written) and read back
  outputs,        ///< vectors written by E-wise and finish code
  offsets,        ///< offsets of both orders
  blocks,         ///< values and byte coordinates of blocks
};
inline constexpr std::size_t kMemoryKinds = 9;
inline constexpr std::array<const char*, kMemoryKinds> kMemoryKindNames = {
    "csc", "csr_eager", "csr_reload", "x", "ewise_vectors", "sums", "outputs", "offsets", "blocks"};

/// The array, or the group of vectors that are accessed together, to which a request's offset refers.
enum class Operand : std::uint8_t { os_order, is_order, load, ewise, finish, w, z };

struct MemoryRequest {
  MemoryKind kind;
  Operand operand;
  /// Offset in bytes. Matrix: entry number times bytes of an entry. Vectors: element number times the bytes of one element in
  /// all vectors of the operand. Lists of blocks: block number times bytes of a list entry.
  std::uint64_t offset;
  std::uint64_t bytes;  ///< number of bytes, at least 1
};

/// Arrival time of the last of a set of expected requests. Must not be moved in memory until all requests have arrived.
class Arrival {
 public:
  explicit Arrival(Time at = 0) : at_(at) {}

  bool known() const { return open_ == 0; }
  /// Arrival time of the last request; valid if known().
  Time at() const { return at_; }

  /// Adds expected requests. `whole`: another Arrival that also expects them; the same object in each call.
  void expect(std::uint64_t requests, Arrival& whole) {
    whole_ = &whole;
    open_ += requests;
    whole.open_ += requests;
  }
  void no_earlier_than(Time at) { at_ = std::max(at_, at); }
  void arrived(Time at) {
    no_earlier_than(at);
    --open_;
    if (whole_ != nullptr) whole_->arrived(at);
  }

 private:
  Time at_;
  std::uint64_t open_ = 0;
  Arrival* whole_ = nullptr;
};

class PassMemory {
 public:
  PassMemory() = default;
  PassMemory(const PassMemory&) = delete;
  PassMemory& operator=(const PassMemory&) = delete;
  virtual ~PassMemory() = default;

  /// Starts a read that departs at `earliest` or later. Reports the arrival time of its last byte to `arrival`, during the call
  /// or later; `arrival` must already expect the request.
  virtual void start_read(const MemoryRequest& request, Time earliest, Arrival& arrival) = 0;
  /// Starts a write that departs at `earliest` or later. Reports the time of its completion to `arrival`, during the call or
  /// later; `arrival` must already expect the request.
  virtual void start_write(const MemoryRequest& request, Time earliest, Arrival& arrival) = 0;
  /// Whether requests may be made in any order, because the memory holds them until their departure time.
  virtual bool keeps_requests() const = 0;
};

/// A memory that reports completion times during the call.
class ImmediateMemory : public PassMemory {
 public:
  virtual Time read(const MemoryRequest& request, Time earliest) = 0;
  virtual Time write(const MemoryRequest& request, Time earliest) = 0;

  void start_read(const MemoryRequest& request, Time earliest, Arrival& arrival) final {
    arrival.arrived(read(request, earliest));
  }
  void start_write(const MemoryRequest& request, Time earliest, Arrival& arrival) final {
    arrival.arrived(write(request, earliest));
  }
  bool keeps_requests() const final { return false; }
};

}  // namespace lacuna::sida

// What the pipeline of a pass needs of a memory: when a read has arrived, when a write is complete.
//
// Times are whole cycles of the accelerator's clock; a memory whose bandwidth needs fractions keeps them to itself
// (ideal_memory.h). A memory may tell them later, as one behind a network does: the pipeline then goes on where it can
// (PassPipeline::resume). With one that tells them immediately, requests of one pass are made with `earliest` ascending, but
// for the start of a pass, where data wait for offsets. A request is contiguous in its array and may be of any length: an
// implementation splits it as its ports need.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace lacuna::sida {

using Time = std::uint64_t;

enum class MemoryKind : std::uint8_t {
  csc,            ///< matrix by the lines of OS; blocked: lists of blocks
  csr_eager,      ///< matrix by the lines of IS, ahead of OS
  csr_reload,     ///< matrix by the lines of IS, evicted before
  x,              ///< x, or the vectors from which it is computed
  ewise_vectors,  ///< read by E-wise and finish code
  sums,           ///< partial sums and w: spilled (written) and read back
  outputs,        ///< written by E-wise and finish code
  offsets,        ///< of both orders
  blocks,         ///< values and byte coordinates of blocks
};
inline constexpr std::size_t kMemoryKinds = 9;
inline constexpr std::array<const char*, kMemoryKinds> kMemoryKindNames = {
    "csc", "csr_eager", "csr_reload", "x", "ewise_vectors", "sums", "outputs", "offsets", "blocks"};

/// The array, or the group of vectors that are read or written together, to which a request's offset belongs.
enum class Operand : std::uint8_t { os_order, is_order, load, ewise, finish, w, z };

struct MemoryRequest {
  MemoryKind kind;
  Operand operand;
  /// Of a matrix: entry number times bytes of an entry. Of vectors: element number times the bytes that all vectors of the
  /// operand have for one element. Of lists of blocks: block number times bytes of a list entry.
  std::uint64_t offset;
  std::uint64_t bytes;  ///< at least 1
};

/// When requests have arrived, all of those that have been expected. It stays at its place until they have.
class Arrival {
 public:
  explicit Arrival(Time at = 0) : at_(at) {}

  bool known() const { return open_ == 0; }
  /// When the last one has arrived; only if known().
  Time at() const { return at_; }

  /// `whole`: always the same one, which expects them too.
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

  /// The request leaves at `earliest` or later. `arrival`, which expects it, receives the time when its last byte has arrived:
  /// within the call, or later.
  virtual void start_read(const MemoryRequest& request, Time earliest, Arrival& arrival) = 0;
  /// Likewise the time when the write is complete.
  virtual void start_write(const MemoryRequest& request, Time earliest, Arrival& arrival) = 0;
  /// Whether requests may be made in any order: those that leave later are kept until their time has come.
  virtual bool keeps_requests() const = 0;
};

/// A memory that knows within the call when a request is complete.
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

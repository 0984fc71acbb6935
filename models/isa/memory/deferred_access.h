// Memory instructions that access their data after they have issued: atomic operations, and accesses that must follow them, of
// wavefronts with a store buffer (Wavefront::stores).
//
// When such an instruction executes, it is checked and may fault, but it neither reads nor writes memory. The state that it
// reads from its wavefront is captured, so that the program may continue; perform() later executes the instruction on a
// stand-in wavefront and writes the results to the original wavefront. Until then the program must not access the results: the
// owner of the wavefront keeps the operation outstanding in its wait counters.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// A deferred instruction with copies of the registers that it reads.
class DeferredAccess {
 public:
  /// Copies the state that the instruction reads from `wave`, which has just executed it (MemoryAccess::deferred is set).
  /// `wave` must keep its registers until perform().
  void capture(const Instruction& instruction, Wavefront& wave);

 private:
  friend class DeferredAccessPerformer;
  // Planes of an instruction (one word per lane each): address in up to 2 registers, data in up to 4, TFE's status word.
  static constexpr unsigned kMaxPlanes = 8;
  struct Planes {
    OperandKind file = OperandKind::none;
    std::uint16_t first = 0;
    std::uint16_t count = 0;
  };

  const Instruction* instruction_ = nullptr;
  Wavefront* wave_ = nullptr;
  Wavefront registers_;  ///< registers at the time of capture()
  std::array<Planes, kMaxSources> sources_{};
  unsigned source_count_ = 0;
  std::array<std::uint32_t, std::size_t{kMaxPlanes} * kLanes> planes_;
};

/// Performs accesses on a stand-in wavefront, whose vector registers are reused for each access.
class DeferredAccessPerformer {
 public:
  DeferredAccessPerformer();
  /// Performs the access directly on memory, without a store buffer, with the mappings at the time of capture().
  void perform(DeferredAccess& access);

 private:
  std::uint32_t* plane(OperandKind file, unsigned index);

  static constexpr std::size_t kRegisters = 256;  // number of registers that an operand can name
  std::vector<std::uint32_t> vgprs_;
  std::vector<std::uint32_t> agprs_;
  LaneAddresses addresses_;
};

}  // namespace lacuna::isa

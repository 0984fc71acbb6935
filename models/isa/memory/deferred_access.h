// Memory instructions whose data move later than they issue: atomic operations and what has to come after them, of wavefronts
// with a store buffer (Wavefront::stores).
//
// The instruction has been checked and has faulted if it had to; it has neither read nor written anything. What it reads of its
// wavefront is kept, so that the program may go on; perform() executes it on a stand-in and brings the wavefront its results.
// Until then the program must not look at them: whoever owns the wavefront keeps the operation outstanding in its wait
// counters.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/isa/wavefront.h"

namespace lacuna::isa {

/// An instruction with the registers that it reads.
class DeferredAccess {
 public:
  /// `wave` has just executed the instruction, which set MemoryAccess::deferred; it must keep its registers until perform().
  void capture(const Instruction& instruction, Wavefront& wave);

 private:
  friend class DeferredAccessPerformer;
  // Address in up to 2 registers, data in up to 4, TFE's status word: of each, one for every lane.
  static constexpr unsigned kMaxPlanes = 8;
  struct Planes {
    OperandKind file = OperandKind::none;
    std::uint16_t first = 0;
    std::uint16_t count = 0;
  };

  const Instruction* instruction_ = nullptr;
  Wavefront* wave_ = nullptr;
  Wavefront registers_;  ///< as they were
  std::array<Planes, kMaxSources> sources_{};
  unsigned source_count_ = 0;
  std::array<std::uint32_t, std::size_t{kMaxPlanes} * kLanes> planes_;
};

/// The stand-in's vector registers, which one after the other uses.
class DeferredAccessPerformer {
 public:
  DeferredAccessPerformer();
  /// On memory itself. The mappings are those at the time of capture().
  void perform(DeferredAccess& access);

 private:
  std::uint32_t* plane(OperandKind file, unsigned index);

  static constexpr std::size_t kRegisters = 256;  // that an operand can name
  std::vector<std::uint32_t> vgprs_;
  std::vector<std::uint32_t> agprs_;
  LaneAddresses addresses_;
};

}  // namespace lacuna::isa

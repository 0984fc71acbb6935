// Def-use analysis over the control flow of a kernel: finds the readers of a value that an instruction writes to a vector
// register, and determines whether a scalar value is read at all.
//
// A value is dead when all lanes in which it was written have been overwritten. An instruction does not read a value if all
// lanes in which the instruction is active have been overwritten (exec_cover.h). A value is assumed to be read unless the
// opposite is proved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/isa/analysis/control_flow.h"

namespace lacuna::isa {

class ValueReaders {
 public:
  /// `flow` must be known and outlive this object.
  explicit ValueReaders(const ControlFlow& flow);

  /// Indices of the instructions that may read the value that `writer` has written to `vgpr`.
  struct Readers {
    std::vector<std::uint32_t> in_block;     ///< readers after the writer in the writer's block, ascending
    std::optional<std::uint32_t> elsewhere;  ///< one reader beyond the end of the block, if there is any
  };
  Readers readers(std::uint32_t writer, unsigned vgpr) const;

  /// The last instruction before `reader` in its block that writes `vgpr`; none: the value was written before the block.
  std::optional<std::uint32_t> writer(std::uint32_t reader, unsigned vgpr) const;
  /// The first instruction of (after, before) that accesses `vgpr`, if any. With `writes`, only writes count.
  std::optional<std::uint32_t> access(std::uint32_t after, std::uint32_t before, unsigned vgpr, bool writes) const;

  /// Whether an SGPR may be read after `instruction` before it is written.
  bool sgpr_live_after(std::uint32_t instruction, unsigned sgpr) const;
  /// VGPRs that any instruction accesses, one bit each.
  const std::array<std::uint64_t, 4>& named_vgprs() const { return named_; }

 private:
  static constexpr unsigned kVgprs = 256;
  static constexpr unsigned kSgprs = 128;
  struct Access {
    std::uint32_t instruction = 0;
    bool reads = false;
    bool reads_any_lane = false;  ///< may read inactive lanes
    bool writes = false;          ///< writes the register in at least some lanes
    bool replaces = false;        ///< writes the whole register in all active lanes
  };
  using SgprSet = std::array<std::uint64_t, kSgprs / 64>;
  class Walk;

  void note(std::uint32_t index);
  void find_live_sgprs();
  std::span<const Access> accesses(unsigned vgpr, std::uint32_t begin, std::uint32_t end) const;

  const ControlFlow& flow_;
  std::vector<std::vector<Access>> accesses_;  ///< accesses to each VGPR, in the order of instructions
  std::vector<std::uint32_t> mask_events_;     ///< instructions that write EXEC or an SGPR that may hold a mask
  std::vector<SgprSet> live_out_;              ///< SGPRs that are live at the end of each block
  std::array<std::uint64_t, 4> named_{};
};

}  // namespace lacuna::isa

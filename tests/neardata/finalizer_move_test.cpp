// Tests that moved code has the same effects as the original. Random code, scheduled like compiled code, is executed before and
// after moving, on a machine whose loads arrive as late as waits allow. Other tests check the moves in hand-written code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/analysis/wait_effects.h"
#include "models/neardata/finalizer.h"
#include "tests/isa/scalar/scalar_machine.h"
#include "tests/neardata/assembled_kernel.h"
#include "tests/neardata/random_code.h"

namespace lacuna::test {
namespace {

using isa::kLanes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FinalizerMove : public ::testing::TestWithParam<isa::Target> {
 protected:
};

INSTANTIATE_TEST_SUITE_P(Targets, FinalizerMove, ::testing::Values(isa::Target::gfx803, isa::Target::gfx90a),
                         [](const auto& target) { return std::string(isa::traits(target.param).name); });

std::vector<std::string> listing(const AssembledKernel& code) {
  std::vector<std::string> lines;
  const isa::ControlFlow flow(code.fetch(), code.target(), kEntry);
  for (const isa::PlacedInstruction& placed : flow.instructions())
    lines.push_back(isa::disassemble(placed.instruction, code.target()));
  return lines;
}

// Address arithmetic as hipcc emits it: a move of a base's high half to a register, then a 64-bit sum.
TEST_P(FinalizerMove, AddressArithmeticGoesInFront) {
  AssembledKernel code(GetParam(), {"LOAD v8, v[2:3]", "v_mov_b32 v7, s7", "ADD_co_u32 v4, s6, v0", "ADDC_co_u32 v5, v7, v1",
                                    "s_waitcnt vmcnt(0)", "v_mul_f32 v8, s3, v8", "STORE v[4:5], v8"});
  const FinalizedKernel kernel = code.finalize({.move = true, .vgprs = 12});
  EXPECT_EQ(code.chains(kernel).size(), 1u);
  EXPECT_EQ(kernel.moved, 4u);
  code.apply(kernel.patches);
  EXPECT_EQ(foreign_instructions(kernel.chains[0], code.fetch(), code.target()), 0u);
  const std::vector<std::string> lines = listing(code);
  EXPECT_EQ(lines[0], "v_mov_b32_e32 v7, s7");
  EXPECT_THAT(lines[3], ::testing::HasSubstr("load_dword v8, v[2:3]"));
  EXPECT_EQ(lines[4], "s_waitcnt vmcnt(0)");
  const FinalizedKernel again = code.finalize({.move = true, .vgprs = 12});
  EXPECT_THAT(again.patches, IsEmpty());
  EXPECT_EQ(again.chains, kernel.chains);
}

// The second address is computed in the registers of the first address, and the store's address by means of one of these
// registers.
const std::vector<std::string> kReusedRegisters{"LOAD v8, v[2:3]",        "v_mov_b32 v3, s7",       "ADD_co_u32 v2, s6, v0",
                                                "ADDC_co_u32 v3, v3, v1", "LOAD v9, v[2:3]",        "v_mov_b32 v3, s9",
                                                "ADD_co_u32 v4, s8, v0",  "ADDC_co_u32 v5, v3, v1", "s_waitcnt vmcnt(0)",
                                                "v_mac_f32 v8, s3, v9",   "STORE v[4:5], v8"};

TEST_P(FinalizerMove, ConflictingRegistersAreRenamed) {
  AssembledKernel code(GetParam(), kReusedRegisters);
  const FinalizedKernel kernel = code.finalize({.move = true, .vgprs = 12});
  ASSERT_EQ(kernel.chains.size(), 1u);
  code.apply(kernel.patches);
  EXPECT_EQ(foreign_instructions(kernel.chains[0], code.fetch(), code.target()), 0u);
  EXPECT_EQ(kernel.chains[0].pattern, 9);
}

TEST_P(FinalizerMove, WithoutFreeRegistersNothingMoves) {
  const AssembledKernel code(GetParam(), kReusedRegisters);
  // The code uses v0 to v5, v8 and v9, and the kernel has no unused registers for a renaming.
  const FinalizedKernel kernel = code.finalize({.move = true, .vgprs = 6});
  EXPECT_THAT(kernel.patches, IsEmpty());
  EXPECT_EQ(kernel.moved, 0u);
  EXPECT_EQ(kernel.chains, code.finalize({.move = false}).chains);
}

TEST_P(FinalizerMove, InterleavedChainsGetTheirOwnWaits) {
  AssembledKernel code(GetParam(),
                       {"LOAD v8, v[0:1]", "LOAD v9, v[2:3]", "LOAD v10, v[4:5]", "LOAD v11, v[6:7]", "s_waitcnt vmcnt(2)",
                        "v_mac_f32 v12, v8, v9", "s_waitcnt vmcnt(0)", "v_mac_f32 v12, v10, v11"});
  const FinalizedKernel kernel = code.finalize({.move = true, .interleaved = false});
  EXPECT_EQ(kernel.chains.size(), 2u);
  AssembledKernel together = code;
  together.apply(code.finalize({.move = true, .take_apart = false}).patches);
  EXPECT_THAT(listing(together)[4], ::testing::HasSubstr("s_waitcnt"));
  code.apply(kernel.patches);
  const std::vector<std::string> lines = listing(code);
  EXPECT_EQ(lines[2], "s_waitcnt vmcnt(0)");
  EXPECT_EQ(lines[6], "s_waitcnt vmcnt(0)");
}

// If line 2 moved behind the chain and line 3 in front of it, the wait in the next block would cover the wrong access.
TEST_P(FinalizerMove, OperationsOutstandingAtTheEndStayInOrder) {
  const std::vector<std::string> block{"LOAD v8, v[2:3]",  "v_mov_b32 v2, s4",   "LOAD v9, v[2:3]",
                                       "LOAD v10, v[4:5]", "s_waitcnt vmcnt(2)", "v_cmp_lt_f32 vcc, 0, v8"};
  std::vector<std::string> lines = block;
  for (const char* line : {"s_branch 0", "s_waitcnt vmcnt(1)", "v_mov_b32 v20, v9"}) lines.emplace_back(line);
  EXPECT_THAT(AssembledKernel(GetParam(), lines).finalize({.move = true}).patches, IsEmpty());
  // If the block itself waits for both accesses, the code may move.
  lines = block;
  for (const char* line : {"s_waitcnt vmcnt(0)", "v_mov_b32 v20, v9"}) lines.emplace_back(line);
  EXPECT_EQ(AssembledKernel(GetParam(), lines).finalize({.move = true}).patches.size(), 1u);
}

// An access between the chain's wait and operation must not move in front of the wait.
TEST_P(FinalizerMove, MemoryIsNotAccessedBeforeTheWaitInFrontOfIt) {
  AssembledKernel code(
      GetParam(), {"LOAD v8, v[2:3]", "LOAD v9, v[4:5]", "s_waitcnt vmcnt(0)", "LOAD v10, v[6:7]", "v_add_f32 v8, v8, v9"});
  const FinalizedKernel kernel = code.finalize({.move = true});
  code.apply(kernel.patches);
  const std::vector<std::string> lines = listing(code);
  EXPECT_THAT(lines[2], ::testing::HasSubstr("s_waitcnt vmcnt(0)"));
  EXPECT_THAT(lines[4], ::testing::HasSubstr("load_dword v10"));
}

TEST_P(FinalizerMove, StoresAndWaitStatesStayInOrder) {
  for (const char* between : {"STORE v[6:7], v12", "s_nop 0", "s_barrier"}) {
    const AssembledKernel code(
        GetParam(), {"LOAD v8, v[2:3]", between, "v_mov_b32 v4, s6", "s_waitcnt vmcnt(0)", "v_cmp_lt_f32 vcc, 0, v8"});
    EXPECT_THAT(code.finalize({.move = true, .vgprs = 32}).patches, IsEmpty()) << between;
  }
}

// -- random code

constexpr std::uint64_t kBuffer = 0x7000000000;
constexpr unsigned kVgprs = 28;

// Executes code such that loaded data arrive only when a wait requires them; until then the register holds a different value.
class LateMachine {
 public:
  explicit LateMachine(isa::Target target) {
    machine_.wave.target = target;
    memory_ = machine_.memory.map(kBuffer, kBytes, isa::Access::read_write);
    std::mt19937 random(5);
    for (std::size_t i = 0; i < kBytes; i += 4) isa::test::write<float>(memory_ + i, static_cast<float>(random() % 1000));
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t address = kBuffer + 4 * l;
      machine_.v(0, l) = static_cast<std::uint32_t>(address);
      machine_.v(1, l) = static_cast<std::uint32_t>(address >> 32);
      for (unsigned r = 2; r < kVgprs; ++r) machine_.v(r, l) = static_cast<std::uint32_t>(random());
    }
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t scattered = kBuffer + 0x1000 + l * 37 % kLanes * 0x84;
      machine_.v(20, l) = static_cast<std::uint32_t>(scattered);
      machine_.v(21, l) = static_cast<std::uint32_t>(scattered >> 32);
    }
    // Offsets for the bases, such that the second region overlaps the first.
    auto& sgpr = machine_.wave.sgpr;
    sgpr[4] = 0x100;
    sgpr[6] = 0x143;
    sgpr[5] = sgpr[7] = 0;
    sgpr[3] = 0x3f800000;
    sgpr[10] = 0x40400000;
    sgpr[14] = sgpr[15] = ~0U;
  }

  std::vector<std::byte> run(const std::vector<std::uint32_t>& code, isa::Target target) {
    const isa::ControlFlow flow(fetch_from(code), target, kEntry);
    isa::Wavefront& wave = machine_.wave;
    wave.pc = kEntry;
    for (unsigned steps = 0; steps < 10000; ++steps) {
      const auto found = std::lower_bound(flow.instructions().begin(), flow.instructions().end(), wave.pc,
                                          [](const isa::PlacedInstruction& p, std::uint64_t pc) { return p.address < pc; });
      const isa::Instruction& instruction = found->instruction;
      wave.event = isa::Event::none;
      wave.pc += instruction.size;
      if (instruction.latency == isa::LatencyClass::waitcnt) {
        wait(instruction, target);
        continue;
      }
      if (instruction.unit == isa::Unit::smem) {
        load_scalar(instruction);
        continue;
      }
      instruction.execute(instruction, wave);
      if (wave.event == isa::Event::end_program) return {memory_, memory_ + kBytes};
      EXPECT_EQ(wave.event, isa::Event::none);
      if (instruction.unit == isa::Unit::vmem) issue(instruction);
    }
    ADD_FAILURE() << "does not end";
    return {};
  }

 private:
  static constexpr std::size_t kBytes = 0x8000;

  struct Late {
    int vgpr = -1;
    int sgpr = -1;
    std::array<std::uint32_t, kLanes> data{};
  };
  void issue(const isa::Instruction& instruction) {
    Late late;
    if (instruction.destinations > 0) {
      late.vgpr = instruction.dst[0].index;
      std::copy_n(machine_.wave.v(instruction.dst[0].index), kLanes, late.data.begin());
      std::fill_n(machine_.wave.v(instruction.dst[0].index), kLanes, 0x7fc0dead + static_cast<std::uint32_t>(vm_.size()));
    }
    vm_.push_back(late);
  }
  void load_scalar(const isa::Instruction& instruction) {
    Late late;
    late.sgpr = instruction.dst[0].index;
    late.data[0] = isa::test::read<std::uint32_t>(memory_ + 0x100 + static_cast<unsigned>(instruction.mem.offset));
    machine_.wave.sgpr[instruction.dst[0].index] = 0x7fc0beef;
    scalars_.push_back(late);
  }
  void wait(const isa::Instruction& instruction, isa::Target target) {
    const isa::WaitCounts counts = isa::WaitCounts::of(instruction, target);
    while (counts.vm != isa::WaitCounts::kNone && vm_.size() > counts.vm) {
      if (vm_.front().vgpr >= 0)
        std::copy_n(vm_.front().data.begin(), kLanes, machine_.wave.v(static_cast<unsigned>(vm_.front().vgpr)));
      vm_.pop_front();
    }
    // Scalar loads return in any order: only a wait for all of them ensures that a particular load has arrived.
    if (counts.lgkm != 0) return;
    for (const Late& late : scalars_) machine_.wave.sgpr[static_cast<unsigned>(late.sgpr)] = late.data[0];
    scalars_.clear();
  }

  isa::test::Machine machine_;
  std::byte* memory_ = nullptr;
  std::deque<Late> vm_;
  std::deque<Late> scalars_;
};

TEST_P(FinalizerMove, RandomCodeKeepsItsResults) {
  constexpr unsigned kPrograms = 1300;  // with more than 5,000 chains for each target
  std::vector<std::vector<std::string>> programs;
  for (unsigned seed = 0; seed < kPrograms; ++seed) programs.push_back(RandomCode(seed, GetParam()).lines());
  const auto codes = assembled(programs, GetParam());
  unsigned moved = 0;
  unsigned chains = 0;
  unsigned contiguous_before = 0;
  unsigned contiguous = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    const FinalizerOptions options{.move = true, .vgprs = seed % 3 == 0 ? RandomCode::kUsedVgprs : kVgprs};
    const FinalizedKernel kernel = finalize_kernel(fetch_from(codes[seed]), GetParam(), kEntry, options);
    const FinalizedKernel before = finalize_kernel(fetch_from(codes[seed]), GetParam(), kEntry, {.move = false});
    ASSERT_EQ(kernel.unknown, "");
    std::vector<std::uint32_t> code = codes[seed];
    for (const CodePatch& patch : kernel.patches)
      std::copy(patch.words.begin(), patch.words.end(),
                code.begin() + static_cast<std::ptrdiff_t>((patch.address - kEntry) / 4));
    EXPECT_EQ(LateMachine(GetParam()).run(codes[seed], GetParam()), LateMachine(GetParam()).run(code, GetParam()));
    const FinalizedKernel again = finalize_kernel(fetch_from(code), GetParam(), kEntry, options);
    EXPECT_THAT(again.patches, IsEmpty());
    EXPECT_EQ(again.chains, kernel.chains);
    moved += kernel.patches.empty() ? 0 : 1;
    chains += static_cast<unsigned>(kernel.chains.size());
    EXPECT_GE(kernel.chains.size(), before.chains.size());
    for (const Chain& chain : before.chains)
      contiguous_before += foreign_instructions(chain, fetch_from(codes[seed]), GetParam()) == 0 ? 1 : 0;
    for (const Chain& chain : kernel.chains)
      contiguous += foreign_instructions(chain, fetch_from(code), GetParam()) == 0 ? 1 : 0;
    if (HasFailure()) {
      const std::vector<std::string> lines = listing(AssembledKernel::from_words(GetParam(), code));
      for (std::size_t i = 0; i < lines.size(); ++i)
        std::cout << (i < programs[seed].size() ? programs[seed][i] : "") << "  |  " << lines[i] << '\n';
      break;
    }
  }
  std::cout << moved << " programs moved, " << chains << " chains, " << contiguous_before << " contiguous before, "
            << contiguous << " after\n";
  EXPECT_GT(moved, kPrograms / 4);
  EXPECT_GT(chains, 5000U);
  EXPECT_GT(contiguous, 2 * contiguous_before);
}

}  // namespace
}  // namespace lacuna::test

// Moved code does what it did: random code as compilers schedule it runs before and after, on a machine whose loads arrive as
// late as waits allow; and what moves in code that was written for it.
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

namespace lacuna::test {
namespace {

using isa::kLanes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FinalizerMove : public ::testing::TestWithParam<isa::Target> {
 protected:
  bool gfx8() const { return GetParam() == isa::Target::gfx803; }
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

// As hipcc computes addresses: the high half of a base in a register, then a sum of 64 bits.
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

// The second address is computed in the registers of the first, and the store's in one of them.
const std::vector<std::string> kReusedRegisters{"LOAD v8, v[2:3]",        "v_mov_b32 v3, s7",       "ADD_co_u32 v2, s6, v0",
                                                "ADDC_co_u32 v3, v3, v1", "LOAD v9, v[2:3]",        "v_mov_b32 v3, s9",
                                                "ADD_co_u32 v4, s8, v0",  "ADDC_co_u32 v5, v3, v1", "s_waitcnt vmcnt(0)",
                                                "v_mac_f32 v8, s3, v9",   "STORE v[4:5], v8"};

TEST_P(FinalizerMove, RegistersInTheWayGetOtherNames) {
  AssembledKernel code(GetParam(), kReusedRegisters);
  const FinalizedKernel kernel = code.finalize({.move = true, .vgprs = 12});
  ASSERT_EQ(kernel.chains.size(), 1u);
  code.apply(kernel.patches);
  EXPECT_EQ(foreign_instructions(kernel.chains[0], code.fetch(), code.target()), 0u);
  EXPECT_EQ(kernel.chains[0].pattern, 9);
}

TEST_P(FinalizerMove, WithoutFreeRegistersNothingMoves) {
  const AssembledKernel code(GetParam(), kReusedRegisters);
  // All that it names are v0 to v5, v8 and v9; the kernel has no more than these and none that is dead.
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

// Line 2 would go behind the chain and line 3 in front of it: then the wait of the next block would be for the other one.
TEST_P(FinalizerMove, WhatIsOutstandingAtTheEndStaysInOrder) {
  const std::vector<std::string> block{"LOAD v8, v[2:3]",  "v_mov_b32 v2, s4",   "LOAD v9, v[2:3]",
                                       "LOAD v10, v[4:5]", "s_waitcnt vmcnt(2)", "v_cmp_lt_f32 vcc, 0, v8"};
  std::vector<std::string> lines = block;
  for (const char* line : {"s_branch 0", "s_waitcnt vmcnt(1)", "v_mov_b32 v20, v9"}) lines.emplace_back(line);
  EXPECT_THAT(AssembledKernel(GetParam(), lines).finalize({.move = true}).patches, IsEmpty());
  // Where the block waits for both it may move.
  lines = block;
  for (const char* line : {"s_waitcnt vmcnt(0)", "v_mov_b32 v20, v9"}) lines.emplace_back(line);
  EXPECT_EQ(AssembledKernel(GetParam(), lines).finalize({.move = true}).patches.size(), 1u);
}

// What the chain's wait does not wait for must not get in front of a wait that it stood behind.
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
constexpr unsigned kFirstData = 8;  // v8 to v15
constexpr unsigned kDataRegisters = 8;
constexpr unsigned kVgprs = 28;  // v20 on are free

struct Program {
  std::vector<std::string> lines;
};

// Code as a compiler schedules it: loads early, arithmetic between, waits with counts where data are used.
class Scheduler {
 public:
  Scheduler(std::uint32_t seed, bool gfx8) : random_(seed), gfx8_(gfx8) {}

  Program program() {
    const unsigned blocks = 1 + pick(3);
    for (unsigned b = 0; b < blocks; ++b) {
      const unsigned statements = 6 + pick(20);
      for (unsigned i = 0; i < statements; ++i) statement();
      if (b + 1 < blocks) lines_.emplace_back(pick(2) == 0 ? "s_branch 0" : "s_cbranch_scc0 0");
    }
    lines_.emplace_back("s_waitcnt vmcnt(0) lgkmcnt(0)");
    for (unsigned r = kFirstData; r < kFirstData + kDataRegisters; ++r) {
      lines_.push_back("ADD_co_u32 v16, 0x" + hexadecimal(0x4000 + 0x100 * (r - kFirstData)) + ", v0");
      lines_.emplace_back("ADDC_co_u32 v17, 0, v1");
      lines_.push_back("STORE v[16:17], v" + std::to_string(r));
    }
    return {std::move(lines_)};
  }

 private:
  struct Operation {
    std::vector<std::string> registers;  // that it writes when it is complete
    bool vm = false;
    bool lgkm = false;
  };

  static std::string hexadecimal(unsigned value) {
    std::ostringstream text;
    text << std::hex << value;
    return text.str();
  }
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string vgpr(unsigned number) { return "v" + std::to_string(number); }
  std::string data() { return vgpr(kFirstData + pick(kDataRegisters)); }

  // Waits, with the largest counts, for what the registers are written by.
  void need(const std::vector<std::string>& registers) {
    unsigned vm = ~0U;
    bool lgkm = false;
    for (std::size_t i = 0; i < outstanding_.size(); ++i) {
      const Operation& operation = outstanding_[i];
      const bool touched = std::any_of(registers.begin(), registers.end(), [&](const std::string& r) {
        return std::find(operation.registers.begin(), operation.registers.end(), r) != operation.registers.end();
      });
      if (!touched) continue;
      if (operation.vm) {
        unsigned later = 0;
        for (std::size_t k = i + 1; k < outstanding_.size(); ++k) later += outstanding_[k].vm ? 1 : 0;
        vm = std::min(vm, later);
      } else {
        lgkm = true;
      }
    }
    const unsigned limit = gfx8_ ? 14 : 62;
    if (vm == ~0U && !lgkm) return;
    if (vm != ~0U) vm = std::min(vm, limit);
    lines_.push_back("s_waitcnt" + (vm != ~0U ? " vmcnt(" + std::to_string(vm) + ')' : "") + (lgkm ? " lgkmcnt(0)" : ""));
    unsigned left = 0;
    for (const Operation& operation : outstanding_) left += operation.vm ? 1 : 0;
    std::vector<Operation> kept;
    for (Operation& operation : outstanding_) {
      if (operation.vm && vm != ~0U && left-- > vm) continue;
      if (!operation.vm && lgkm) continue;
      kept.push_back(std::move(operation));
    }
    outstanding_ = std::move(kept);
  }

  void statement() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
        load();
        break;
      case 3:
        load_scalar();
        break;
      case 4:
      case 5:
        store(data());
        break;
      case 6:
        compare();
        break;
      case 7:
        chain();
        break;
      default:
        operate();
    }
  }

  // v[2:3], v[4:5], or v[6:7] with v18 or v19 for the high half of a base.
  std::string address() {
    const unsigned pair = 2 + 2 * pick(3);
    const std::string low = vgpr(pair);
    const std::string high = vgpr(pair + 1);
    need({low, high});
    const unsigned base = 4 + 2 * pick(2);
    const std::string temporary = pick(2) == 0 ? high : vgpr(18 + pick(2));
    lines_.push_back("v_mov_b32 " + temporary + ", s" + std::to_string(base + 1));
    lines_.push_back("ADD_co_u32 " + low + ", s" + std::to_string(base) + ", v0");
    lines_.push_back("ADDC_co_u32 " + high + ", " + temporary + ", v1");
    return "v[" + std::to_string(pair) + ':' + std::to_string(pair + 1) + ']';
  }
  void load() { load_to(data()); }
  void load_to(const std::string& to) {
    const std::string from = address();
    need({to});
    lines_.push_back("LOAD " + to + ", " + from);
    outstanding_.push_back({{to}, true, gfx8_});
  }
  void load_scalar() {
    const std::string to = "s" + std::to_string(12 + pick(2));
    need({to});
    lines_.push_back("s_load_dword " + to + ", s[4:5], 0x" + hexadecimal(4 * pick(8)));
    outstanding_.push_back({{to}, false, true});
  }
  void store(const std::string& what) {
    const std::string to = address();
    need({what});
    lines_.push_back("STORE " + to + ", " + what);
    outstanding_.push_back({{}, true, gfx8_});
  }
  void compare() {
    const std::string a = data();
    const std::string b = data();
    need({a, b});
    lines_.push_back("v_cmp_lt_f32 vcc, " + a + ", " + b);
    lines_.push_back("v_cndmask_b32 " + a + ", " + a + ", " + b + ", vcc");
  }
  void operate() {
    const std::string to = data();
    const std::string a = data();
    const std::string b = pick(4) == 0 ? "s" + std::to_string(12 + pick(2)) : data();
    need({to, a, b});
    static const std::vector<std::string> kNames{"v_add_f32", "v_mul_f32", "v_mac_f32", "v_xor_b32", "ADD_u32"};
    lines_.push_back(kNames[pick(5)] + ' ' + to + ", " + b + ", " + a);
  }
  void chain() {
    const std::string a = data();
    const std::string b = data();
    load_to(a);
    if (pick(2) == 0) operate();
    if (a != b) load_to(b);
    if (pick(2) == 0) load();
    need({a, b});
    lines_.push_back("v_mul_f32 " + a + ", " + a + ", " + b);
    if (pick(2) == 0) store(a);
  }

  std::mt19937 random_;
  bool gfx8_;
  std::vector<std::string> lines_;
  std::vector<Operation> outstanding_;
};

std::vector<std::vector<std::uint32_t>> assembled(const std::vector<Program>& programs, isa::Target target) {
  std::vector<std::string> lines;
  for (const Program& program : programs) {
    for (const std::string& line : program.lines) lines.push_back(translated(line, target));
    lines.emplace_back("s_endpgm");
  }
  const auto words = isa::test::assemble_by_llvm(lines, target);
  std::vector<std::vector<std::uint32_t>> codes;
  std::size_t next = 0;
  for (const Program& program : programs) {
    codes.emplace_back();
    for (std::size_t i = 0; i <= program.lines.size(); ++i, ++next)
      codes.back().insert(codes.back().end(), words[next].begin(), words[next].end());
  }
  return codes;
}

isa::FetchWords fetch_from(const std::vector<std::uint32_t>& code) {
  return [&code](std::uint64_t pc, std::array<std::uint32_t, 3>& words) -> std::size_t {
    const std::uint64_t index = (pc - kEntry) / 4;
    if (pc < kEntry || index >= code.size()) return 0;
    const std::size_t count = std::min<std::size_t>(3, code.size() - index);
    std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(index), count, words.begin());
    return count;
  };
}

// Loaded data arrive when a wait says that they are there, and not before; until then the register holds something else.
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
    // Offsets of the bases, of which the second overlaps the first.
    machine_.wave.sgpr[4] = 0x100;
    machine_.wave.sgpr[5] = 0;
    machine_.wave.sgpr[6] = 0x140;
    machine_.wave.sgpr[7] = 0;
    machine_.wave.sgpr[3] = 0x3f800000;
  }

  /// Scalar loads read from s[4:5] + kBuffer: only here, so that vector addresses remain offsets.
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
    // In any order: none is sure to have arrived before all have.
    if (counts.lgkm != 0) return;
    for (const Late& late : scalars_) machine_.wave.sgpr[static_cast<unsigned>(late.sgpr)] = late.data[0];
    scalars_.clear();
  }

  isa::test::Machine machine_;
  std::byte* memory_ = nullptr;
  std::deque<Late> vm_;
  std::deque<Late> scalars_;
};

TEST_P(FinalizerMove, RandomCodeDoesWhatItDid) {
  constexpr unsigned kPrograms = 1000;
  std::vector<Program> programs;
  for (unsigned seed = 0; seed < kPrograms; ++seed) programs.push_back(Scheduler(seed, gfx8()).program());
  const auto codes = assembled(programs, GetParam());
  unsigned moved = 0;
  unsigned chains = 0;
  unsigned contiguous_before = 0;
  unsigned contiguous = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    const FinalizerOptions options{.move = true, .vgprs = seed % 3 == 0 ? 20U : kVgprs};
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
      AssembledKernel shown(GetParam(), {});
      shown.words() = code;
      const std::vector<std::string> lines = listing(shown);
      for (std::size_t i = 0; i < lines.size(); ++i)
        std::cout << (i < programs[seed].lines.size() ? programs[seed].lines[i] : "") << "  |  " << lines[i] << '\n';
      break;
    }
  }
  std::cout << moved << " programs moved, " << chains << " chains, " << contiguous_before << " contiguous before, "
            << contiguous << " after\n";
  EXPECT_GT(moved, kPrograms / 4);
  EXPECT_GT(contiguous, 2 * contiguous_before);
}

}  // namespace
}  // namespace lacuna::test

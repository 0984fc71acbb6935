// Tests register masks against register_use() for every row, and register_use() against execution.
#include "models/isa/analysis/register_masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/isa/vector/vop_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::array kFiles{OperandKind::vgpr, OperandKind::agpr, OperandKind::sgpr};
unsigned size_of(OperandKind file) { return file == OperandKind::sgpr ? 128 : 256; }

/// Registers by file and number.
using Registers = std::set<std::pair<OperandKind, unsigned>>;

void insert(Registers& registers, RegisterRange range) {
  for (unsigned r = range.first; r < range.first + range.count && r < size_of(range.file); ++r)
    registers.emplace(range.file, r);
}
Registers read_by(const RegisterUse& use) {
  Registers registers;
  for (unsigned i = 0; i < use.read_count; ++i) insert(registers, use.reads[i]);
  return registers;
}
Registers written_by(const RegisterUse& use) {
  Registers registers;
  for (unsigned i = 0; i < use.write_count; ++i) insert(registers, use.writes[i]);
  return registers;
}

/// Fixed bits of the first word, and position of the opcode, of each encoding (GCN3 ISA manual, "Instruction formats").
/// Instructions of VOP1, VOP2 and VOPC also have VOP3 encodings.
struct Encoding {
  Format format;
  std::uint32_t value;
  unsigned opcode_shift;
  unsigned opcodes;
  std::uint32_t free_bits;  ///< bits of the first word that may have any value
};
constexpr std::array kEncodings{
    Encoding{Format::sop1, 0xbe80'0000, 8, 256, 0x007f'00ff},    Encoding{Format::sopc, 0xbf00'0000, 16, 128, 0x0000'ffff},
    Encoding{Format::sopk, 0xb000'0000, 23, 29, 0x007f'ffff},    Encoding{Format::sop2, 0x8000'0000, 23, 96, 0x007f'ffff},
    Encoding{Format::sopp, 0xbf80'0000, 16, 128, 0x0000'ffff},   Encoding{Format::smem, 0xc000'0000, 18, 256, 0x0003'ffff},
    Encoding{Format::vop1, 0x7e00'0000, 9, 256, 0x01fe'01ff},    Encoding{Format::vopc, 0x7c00'0000, 17, 256, 0x0001'ffff},
    Encoding{Format::vop2, 0x0000'0000, 25, 62, 0x01ff'ffff},    Encoding{Format::vop3p, 0xd380'0000, 16, 128, 0x0000'ffff},
    Encoding{Format::vop3a, 0xd000'0000, 16, 1024, 0x0000'ffff}, Encoding{Format::ds, 0xd800'0000, 17, 256, 0x0001'ffff},
    Encoding{Format::flat, 0xdc00'0000, 18, 128, 0x0003'ffff},   Encoding{Format::mubuf, 0xe000'0000, 18, 128, 0x0003'ffff},
    Encoding{Format::mtbuf, 0xe800'0000, 15, 16, 0x03f8'7fff}};

/// Calls `visit` for up to `per_row` legal instructions of every row, decoded from random bits. Most unused fields must be
/// zero, so words with few set bits are tried, too.
template <class Visit>
void for_instructions(Target target, unsigned per_row, Visit visit) {
  std::mt19937 engine(7);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  for (const Encoding& encoding : kEncodings) {
    for (std::uint32_t opcode = 0; opcode < encoding.opcodes; ++opcode) {
      std::map<const InstructionRow*, unsigned> found;  // segments of FLAT share opcodes
      const bool exists = encoding.format == Format::flat || find_row(encoding.format, opcode, target) != nullptr;
      const unsigned enough = encoding.format == Format::flat ? 3 * per_row : per_row;
      unsigned visited = 0;
      for (unsigned trial = 0; exists && trial < 4000 && visited < enough; ++trial) {
        const auto sparse = [&] {
          std::uint32_t word = random();
          for (unsigned i = 0; i < trial % 5; ++i) word &= random();
          return word;
        };
        // Register numbers are often even and low, so that tuples are aligned and within the machine's allocation.
        const std::uint32_t even = trial % 2 == 0 ? ~0x0101'0101U : ~0U;
        const std::array<std::uint32_t, 3> words{
            encoding.value | opcode << encoding.opcode_shift | (sparse() & even & encoding.free_bits),
            sparse() & even & (trial % 4 < 2 ? 0x3f3f'3f3fU : ~0U), random()};
        const DecodeResult decoded = decode(words.data(), words.size(), target);
        if (!decoded.ok || ++found[decoded.instruction.row] > per_row) continue;
        ++visited;
        visit(decoded.instruction);
      }
    }
  }
}

class RegisterMasksTest : public testing::TestWithParam<Target> {};

TEST_P(RegisterMasksTest, HoldWhatTheUseOfEveryRowSays) {
  std::set<const InstructionRow*> seen;
  for_instructions(GetParam(), 6, [&](const Instruction& instruction) {
    seen.insert(instruction.row);
    const RegisterUse use = register_use(instruction);
    const DecodedInstruction decoded(instruction);
    const RegisterMasks& masks = decoded.registers;
    Registers reads;
    Registers writes;
    for (unsigned i = 0; i < masks.reads(); ++i) insert(reads, masks.read(i));
    for (unsigned i = 0; i < masks.writes(); ++i) insert(writes, masks.write(i));
    const bool relative = instruction.row->mnemonic.find("_movrel") != std::string_view::npos;
    if (relative) {
      EXPECT_TRUE(std::ranges::includes(reads, read_by(use))) << instruction.row->mnemonic;
      EXPECT_GE(reads.size() + writes.size(), 128U) << instruction.row->mnemonic;
    } else {
      EXPECT_EQ(reads, read_by(use)) << instruction.row->mnemonic;
      EXPECT_EQ(writes, written_by(use)) << instruction.row->mnemonic;
    }
    EXPECT_EQ(masks.reads_scc(), use.reads_scc);
    EXPECT_EQ(masks.writes_scc(), use.writes_scc);
    // A single pending register is reported by exactly the instructions that use it.
    for (const OperandKind file : kFiles) {
      for (unsigned r = 0; r < size_of(file); r += 1 + r % 3) {
        RegisterSet pending;
        pending.add({file, static_cast<std::uint16_t>(r), 1});
        EXPECT_EQ(masks.reads_any(pending), reads.contains({file, r})) << instruction.row->mnemonic << ' ' << r;
        EXPECT_EQ(masks.writes_any(pending), writes.contains({file, r})) << instruction.row->mnemonic << ' ' << r;
        EXPECT_EQ(masks.uses_any(pending), reads.contains({file, r}) || writes.contains({file, r}));
      }
    }
  });
  for (const Format format : all_formats()) {
    for (const InstructionRow& row : rows(format)) {
      EXPECT_TRUE(row.opcode[GetParam()] == kAbsent || seen.contains(&row)) << row.mnemonic << " was not met";
    }
  }
}

TEST(RegisterSet, IsASet) {
  std::mt19937 random(3);
  RegisterSet set;
  Registers expected;
  for (unsigned step = 0; step < 5000; ++step) {
    const OperandKind file = kFiles[random() % 3];
    const RegisterRange range{file, static_cast<std::uint16_t>(random() % size_of(file)),
                              static_cast<std::uint16_t>(1 + random() % 32)};
    Registers named;
    insert(named, range);
    const bool any = std::any_of(named.begin(), named.end(), [&](const auto& r) { return expected.contains(r); });
    ASSERT_EQ(set.contains_any(range), any) << step;
    if (random() % 3 == 0) {
      set.add(range);
      expected.insert(named.begin(), named.end());
    } else {
      set.remove(range);
      for (const auto& r : named) expected.erase(r);
    }
    ASSERT_EQ(set.empty(), expected.empty()) << step;
  }
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.contains_any({OperandKind::vgpr, 0, 256}));
}

/// All state that an ALU instruction can change.
struct State {
  std::vector<std::uint32_t> vgprs;
  std::array<std::uint32_t, 128> sgprs{};
  bool scc = false;
};

class AluMachine {
 public:
  static constexpr unsigned kSgprs = 102;
  explicit AluMachine(Target target) : machine_(target) {}

  static State random_state(std::mt19937& random) {
    State state;
    state.vgprs.resize(kRegisters * kLanes);
    for (std::uint32_t& word : state.vgprs) word = static_cast<std::uint32_t>(random());
    for (std::uint32_t& word : state.sgprs) word = static_cast<std::uint32_t>(random());
    state.scc = random() % 2 != 0;
    return state;
  }
  State run(const Instruction& instruction, const State& before) {
    std::copy(before.vgprs.begin(), before.vgprs.end(), &machine_.at(0, 0));
    machine_.wave.sgpr = before.sgprs;
    machine_.wave.scc = before.scc;
    machine_.wave.mode = mode_of(0, true);
    machine_.run(instruction);
    State after = before;
    std::copy_n(&machine_.at(0, 0), after.vgprs.size(), after.vgprs.begin());
    after.sgprs = machine_.wave.sgpr;
    after.scc = machine_.wave.scc;
    return after;
  }
  /// Whether the last instruction was illegal: the decoder accepts some encodings that the hardware does not define.
  bool refused() const { return machine_.wave.event == Event::illegal_instruction; }

 private:
  Machine machine_;
};

// An instruction writes only registers that register_use() lists as written, and its results depend only on those listed as
// read.
TEST_P(RegisterMasksTest, NameAllThatExecutingReadsAndWrites) {
  AluMachine machine(GetParam());
  std::mt19937 random(11);
  std::set<std::string> checked;
  std::set<std::string> problems;
  for_instructions(GetParam(), 6, [&](const Instruction& instruction) {
    const std::string mnemonic(instruction.row->mnemonic);
    const bool alu = instruction.unit == Unit::valu || instruction.unit == Unit::salu;
    if (!alu || instruction.format == Format::mai || instruction.row->execute == nullptr) return;
    if (!Allocation(kRegisters, AluMachine::kSgprs).holds(instruction)) return;
    // Excludes instructions that access other state (program counter, hardware registers, modes), and moves whose M0 may exceed
    // the machine's registers.
    for (const char* other : {"pc", "cbranch", "getreg", "setreg", "movrel", "rfe", "trap", "memtime", "set_vskip"}) {
      if (mnemonic.find(other) != std::string::npos) return;
    }
    const auto misaligned = [](const Operand& o) { return o.kind == OperandKind::vgpr && o.words > 1 && o.index % 2 != 0; };
    if (GetParam() == Target::gfx90a &&
        (std::ranges::any_of(instruction.src, misaligned) || std::ranges::any_of(instruction.dst, misaligned)))
      return;
    const RegisterUse use = register_use(instruction);
    const Registers reads = read_by(use);
    const Registers writes = written_by(use);
    const State before = AluMachine::random_state(random);
    State other = AluMachine::random_state(random);
    for (unsigned r = 0; r < 128; ++r) {
      if (reads.contains({OperandKind::sgpr, r})) other.sgprs[r] = before.sgprs[r];
    }
    for (unsigned r = 0; r < kRegisters; ++r) {
      if (!reads.contains({OperandKind::vgpr, r})) continue;
      std::copy_n(&before.vgprs[std::size_t{r} * kLanes], kLanes, &other.vgprs[std::size_t{r} * kLanes]);
    }
    if (use.reads_scc) other.scc = before.scc;
    const State after = machine.run(instruction, before);
    if (machine.refused()) return;
    const State after_other = machine.run(instruction, other);
    for (unsigned r = 0; r < 128; ++r) {
      // A conditional move may leave its destination unchanged.
      const bool kept = after.sgprs[r] == before.sgprs[r] && after_other.sgprs[r] == other.sgprs[r];
      if (kept) continue;
      const bool written = writes.contains({OperandKind::sgpr, r});
      if (!written) problems.insert(mnemonic + " writes an SGPR");
      if (after.sgprs[r] != after_other.sgprs[r]) problems.insert(mnemonic + ": an SGPR depends on something else");
    }
    const std::uint64_t exec = std::uint64_t{before.sgprs[kExecLo]} | std::uint64_t{before.sgprs[kExecLo + 1]} << 32;
    const bool whatever_exec = mnemonic == "v_writelane_b32";
    for (unsigned r = 0; r < kRegisters; ++r) {
      const bool written = writes.contains({OperandKind::vgpr, r});
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const std::size_t at = std::size_t{r} * kLanes + lane;
        const bool active = (exec >> lane & 1) != 0;
        const bool kept = after.vgprs[at] == before.vgprs[at];
        if (!kept && (!written || (!active && !whatever_exec))) problems.insert(mnemonic + " writes a VGPR");
        if (written && active && after.vgprs[at] != after_other.vgprs[at] && !whatever_exec) {
          problems.insert(mnemonic + ": a VGPR depends on something else (" + disassemble(instruction, GetParam()) + ")");
        }
      }
    }
    const bool scc_kept = after.scc == before.scc && after_other.scc == other.scc;
    if (!scc_kept && !use.writes_scc) problems.insert(mnemonic + " writes SCC");
    if (!scc_kept && after.scc != after_other.scc) problems.insert(mnemonic + ": SCC depends on something else");
    checked.insert(mnemonic);
  });
  for (const std::string& problem : problems) ADD_FAILURE() << problem;
  EXPECT_GT(checked.size(), GetParam() == Target::gfx803 ? 480U : 540U);
}

// A compute unit executes instructions whose reach is not Reach::outside ahead of their issue: they must not change EXEC or the
// program counter, raise events other than waits, or access memory.
TEST_P(RegisterMasksTest, WhatReachesNothingOutsideLeavesExecEventsAndMemoryAlone) {
  Machine machine(GetParam());
  LaneAddresses addresses;
  std::vector<std::byte> lds(4096);
  machine.wave.addresses = &addresses;
  machine.wave.lds = lds.data();
  machine.wave.lds_bytes = static_cast<std::uint32_t>(lds.size());
  machine.wave.memory = nullptr;  // an instruction that accesses memory crashes the test
  std::mt19937 random(13);
  std::map<Reach, std::set<std::string_view>> met;
  for_instructions(GetParam(), 6, [&](const Instruction& instruction) {
    const Reach reach = DecodedInstruction(instruction).reach;
    met[reach].insert(instruction.row->mnemonic);
    if (reach == Reach::outside || !Allocation(kRegisters, AluMachine::kSgprs).holds(instruction)) return;
    for (unsigned r = 0; r < kRegisters; ++r) {
      for (unsigned lane = 0; lane < kLanes; ++lane) machine.at(r, lane) = static_cast<std::uint32_t>(random()) % 8192;
    }
    for (std::uint32_t& word : machine.wave.sgpr) word = static_cast<std::uint32_t>(random());
    const std::uint64_t exec = machine.wave.exec();
    machine.wave.pc = 0x1000;
    machine.wave.access.bytes_per_lane = 0;
    machine.run(instruction);
    EXPECT_EQ(machine.wave.exec(), exec) << disassemble(instruction, GetParam());
    const bool waits = machine.wave.event == Event::wait_count || machine.wave.event == Event::wait_states;
    EXPECT_TRUE(machine.wave.event == Event::none || (reach == Reach::nothing && waits))
        << disassemble(instruction, GetParam());
    EXPECT_EQ(machine.wave.pc, 0x1000U) << disassemble(instruction, GetParam());
    if (reach == Reach::lds) {
      EXPECT_NE(machine.wave.access.operation, MemoryAccess::Operation::atomic) << disassemble(instruction, GetParam());
    }
  });
  EXPECT_EQ(met[Reach::nothing], (std::set<std::string_view>{"s_nop", "s_waitcnt"}));
  for (const char* known : {"ds_read_b32", "ds_write2_b64", "ds_bpermute_b32"})
    EXPECT_TRUE(met[Reach::lds].contains(known)) << known;
  const auto is_matrix = [](std::string_view mnemonic) { return mnemonic.starts_with("v_mfma"); };
  EXPECT_EQ(std::ranges::any_of(met[Reach::registers], is_matrix), GetParam() == Target::gfx90a);
  for (const char* known : {"v_mul_f32", "v_cmp_lt_f32", "s_add_u32", "v_readfirstlane_b32"})
    EXPECT_TRUE(met[Reach::registers].contains(known)) << known;
  for (const char* known :
       {"s_barrier", "s_cbranch_scc0", "s_memtime", "s_and_saveexec_b64", "v_cmpx_lt_f32", "flat_load_dword", "ds_add_u32",
        "ds_gws_barrier", "s_load_dword", "s_sleep", "s_endpgm", "s_movrels_b32"})
    EXPECT_TRUE(met[Reach::outside].contains(known)) << known;
}

INSTANTIATE_TEST_SUITE_P(Targets, RegisterMasksTest, testing::Values(Target::gfx803, Target::gfx90a),
                         [](const auto& one) { return std::string(traits(one.param).name); });

}  // namespace
}  // namespace lacuna::isa::test

// Tests the cache of decoded instructions, and the representation of the registers that instructions use.
#include "models/isa/decode/decoded_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <latch>
#include <thread>

#include "models/isa/analysis/register_use.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::uint64_t kCodeBase = 0x7000000000;
constexpr std::uint32_t kNop = 0xbf800000;

TEST(DecodedCode, DecodesOnceAndAcrossPages) {
  TestMemory memory;
  std::byte* at = memory.map(kCodeBase, 8192, Access::read | Access::execute);
  for (unsigned k = 0; k < 2048; ++k) write<std::uint32_t>(at + k * 4, kNop);
  write<std::uint32_t>(at + 4092, 0xbe8000ff);  // s_mov_b32 s0, literal in the next page
  write<std::uint32_t>(at + 4096, 0x12345678);
  DecodedCode code(memory, Target::gfx803);
  const Instruction* first = code.at(kCodeBase);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(code.at(kCodeBase), first);
  const Instruction* last = code.at(kCodeBase + 4092);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->size, 8);
  EXPECT_EQ(last->src[0].value, 0x12345678U);
}

TEST(DecodedCode, ThreadsFindTheSameInstructions) {
  TestMemory memory;
  constexpr unsigned kWords = 20 * 1024;  // more pages than the fast path caches
  std::byte* at = memory.map(kCodeBase, kWords * 4, Access::read | Access::execute);
  for (unsigned k = 0; k < kWords; ++k) write<std::uint32_t>(at + k * 4, kNop + k % 16);
  DecodedCode code(memory, Target::gfx803);
  std::vector<std::vector<const Instruction*>> found(4, std::vector<const Instruction*>(kWords));
  std::vector<std::thread> threads;
  std::latch all_there(4);
  for (unsigned thread = 0; thread < found.size(); ++thread) {
    threads.emplace_back([&, thread] {
      all_there.arrive_and_wait();
      for (unsigned i = 0; i < kWords; ++i) {
        const unsigned k = thread % 2 == 0 ? i : kWords - 1 - i;
        found[thread][k] = code.at(kCodeBase + k * 4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : found) EXPECT_EQ(of_thread, found[0]);
  for (unsigned k = 0; k < kWords; ++k) ASSERT_EQ(found[0][k]->immediate, static_cast<std::int32_t>(k % 16)) << k;
}

TEST(DecodedCode, SaysWhyThereIsNoInstruction) {
  TestMemory memory;
  std::byte* at = memory.map(kCodeBase, 4096, Access::read | Access::execute);
  memory.map(kCodeBase + 8192, 4096, Access::read_write);
  write<std::uint32_t>(at, 0xf4000000);
  write<std::uint32_t>(at + 4092, 0xbe8000ff);
  DecodedCode code(memory, Target::gfx803);
  const auto kind = [&](std::uint64_t pc) {
    EXPECT_EQ(code.at(pc), nullptr);
    return code.explain(pc).kind;
  };
  EXPECT_EQ(kind(kCodeBase), CodeError::Kind::undecodable);
  EXPECT_NE(code.explain(kCodeBase).text.find("f4000000"), std::string::npos);
  EXPECT_EQ(kind(kCodeBase + 4092), CodeError::Kind::undecodable) << "its literal is not mapped";
  EXPECT_EQ(kind(kCodeBase + 4096), CodeError::Kind::not_mapped);
  EXPECT_EQ(kind(kCodeBase + 8192), CodeError::Kind::not_executable);
  EXPECT_EQ(kind(kCodeBase + 2), CodeError::Kind::misaligned);
}

// Following instructions one by one gives the same results as at(), even after revalidate() has dropped changed code.
TEST(DecodedCode, AfterGivesTheSameAsAtAlsoForChangedCode) {
  TestMemory memory;
  std::byte* at = memory.map(kCodeBase, 8192, Access::read | Access::execute);
  for (unsigned k = 0; k < 2048; ++k) write<std::uint32_t>(at + k * 4, kNop);
  DecodedCode code(memory, Target::gfx803);
  const DecodedInstruction* first = code.after(nullptr, kCodeBase);
  EXPECT_EQ(first, code.at(kCodeBase));
  EXPECT_EQ(first->end, kCodeBase + 4);
  for (unsigned turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(code.after(first, kCodeBase + 4), code.at(kCodeBase + 4));
    EXPECT_EQ(code.after(first, kCodeBase + 64), code.at(kCodeBase + 64)) << "a branch";
    EXPECT_EQ(code.after(code.at(kCodeBase + 4092), kCodeBase + 4096), code.at(kCodeBase + 4096)) << "the next page";
  }

  const DecodedInstruction* last_of_page = code.at(kCodeBase + 4092);
  for (const std::uint32_t word : {0xbf800001U, 0xbf800002U}) {
    write<std::uint32_t>(at + 4, word);
    write<std::uint32_t>(at + 4096, word);
    EXPECT_EQ(code.after(first, kCodeBase + 4)->immediate, static_cast<std::int32_t>(word - 1 - kNop)) << "not noticed yet";
    EXPECT_EQ(code.revalidate(), 2U);
    // `first` belongs to a page that has been dropped.
    EXPECT_EQ(code.after(first, kCodeBase + 4), code.at(kCodeBase + 4));
    EXPECT_EQ(code.after(first, kCodeBase + 4)->immediate, static_cast<std::int32_t>(word - kNop));
    EXPECT_EQ(code.after(last_of_page, kCodeBase + 4096)->immediate, static_cast<std::int32_t>(word - kNop));
  }
  memory.unmap(kCodeBase);
  code.revalidate();
  EXPECT_EQ(code.after(first, kCodeBase + 4), nullptr);
}

TEST(DecodedCode, RevalidationDropsChangedPagesOnly) {
  TestMemory memory;
  std::byte* at = memory.map(kCodeBase, 8192, Access::read | Access::execute);
  for (unsigned k = 0; k < 2048; ++k) write<std::uint32_t>(at + k * 4, kNop);
  DecodedCode code(memory, Target::gfx803);
  const Instruction* old = code.at(kCodeBase);
  const Instruction* other = code.at(kCodeBase + 4096);
  EXPECT_EQ(code.revalidate(), 0U);
  write<std::uint32_t>(at, 0xbf810000);
  EXPECT_EQ(code.at(kCodeBase), old) << "a write alone is not noticed";
  EXPECT_EQ(code.revalidate(), 1U);
  EXPECT_EQ(code.at(kCodeBase)->row->mnemonic, "s_endpgm");
  EXPECT_EQ(code.at(kCodeBase + 4096), other);
  EXPECT_EQ(old->row->mnemonic, "s_nop") << "still there for whoever holds it";
  memory.unmap(kCodeBase);
  EXPECT_EQ(code.revalidate(), 2U);
  EXPECT_EQ(code.at(kCodeBase), nullptr);
}

TEST(RegisterUse, FollowsOperandsAndFlags) {
  struct {
    const char* text;
    std::vector<RegisterRange> reads;
    std::vector<RegisterRange> writes;
    bool scc_in, scc_out;
    unsigned vgprs, sgprs;
  } const kCases[] = {
      {"s_addc_u32 s0, s101, 5", {{OperandKind::sgpr, 101, 1}}, {{OperandKind::sgpr, 0, 1}}, true, true, 0, 102},
      {"s_and_saveexec_b64 s[2:3], vcc",
       {{OperandKind::sgpr, kVccLo, 2}, {OperandKind::sgpr, kExecLo, 2}},
       {{OperandKind::sgpr, 2, 2}, {OperandKind::sgpr, kExecLo, 2}},
       false,
       true,
       0,
       4},
      {"flat_load_dwordx4 v[4:7], v[1:2]",
       {{OperandKind::vgpr, 1, 2}, {OperandKind::sgpr, kExecLo, 2}},
       {{OperandKind::vgpr, 4, 4}},
       false,
       false,
       8,
       0},
      {"ds_write_b64 v1, v[8:9]",
       {{OperandKind::vgpr, 1, 1}, {OperandKind::vgpr, 8, 2}, {OperandKind::sgpr, kExecLo, 2}, {OperandKind::sgpr, kM0, 1}},
       {},
       false,
       false,
       10,
       0},
      {"v_addc_u32_e32 v3, vcc, v1, v2, vcc",
       {{OperandKind::vgpr, 1, 1}, {OperandKind::vgpr, 2, 1}, {OperandKind::sgpr, kVccLo, 2}, {OperandKind::sgpr, kExecLo, 2}},
       {{OperandKind::vgpr, 3, 1}, {OperandKind::sgpr, kVccLo, 2}},
       false,
       false,
       4,
       0},
      {"v_mac_f32_e32 v3, v1, v2",
       {{OperandKind::vgpr, 1, 1}, {OperandKind::vgpr, 2, 1}, {OperandKind::vgpr, 3, 1}, {OperandKind::sgpr, kExecLo, 2}},
       {{OperandKind::vgpr, 3, 1}},
       false,
       false,
       4,
       0},
      {"s_load_dwordx2 s[10:11], s[6:7], s9",
       {{OperandKind::sgpr, 6, 2}, {OperandKind::sgpr, 9, 1}},
       {{OperandKind::sgpr, 10, 2}},
       false,
       false,
       0,
       12},
  };
  for (const auto& c : kCases) {
    const auto words = assemble_by_llvm({c.text}, Target::gfx803).at(0);
    const DecodeResult decoded = decode(words.data(), words.size(), Target::gfx803);
    ASSERT_TRUE(decoded.ok) << decoded.error;
    const RegisterUse use = register_use(decoded.instruction);
    for (const RegisterRange& range : c.reads) {
      EXPECT_NE(std::find(use.reads.begin(), use.reads.begin() + use.read_count, range), use.reads.begin() + use.read_count)
          << c.text << " reads " << range.first;
    }
    EXPECT_EQ(std::vector(use.writes.begin(), use.writes.begin() + use.write_count), c.writes) << c.text;
    EXPECT_EQ(use.reads_scc, c.scc_in) << c.text;
    EXPECT_EQ(use.writes_scc, c.scc_out) << c.text;
    EXPECT_EQ(decoded.instruction.max_vgpr, c.vgprs) << c.text;
    EXPECT_EQ(decoded.instruction.max_sgpr, c.sgprs) << c.text;
    EXPECT_TRUE(Allocation(c.vgprs, c.sgprs).holds(decoded.instruction));
    EXPECT_EQ(Allocation(c.vgprs - (c.vgprs > 0), c.sgprs).holds(decoded.instruction), c.vgprs == 0);
    EXPECT_EQ(Allocation(c.vgprs, c.sgprs - (c.sgprs > 0)).holds(decoded.instruction), c.sgprs == 0);
  }
}

// Each kind of register is compared with its own count.
TEST(Allocation, HoldsRegistersWithinTheCountOfTheirKind) {
  constexpr std::array<std::uint16_t, 4> kCounts{0, 1, 102, 512};
  for (const std::uint16_t vgprs : kCounts) {
    for (const std::uint16_t sgprs : kCounts) {
      for (const std::uint16_t agprs : kCounts) {
        const Allocation allocation(vgprs, sgprs, agprs);
        for (const int more : {-512, -1, 0, 1, 512}) {
          const auto beside = [more](unsigned count) {
            return static_cast<std::uint16_t>(std::max(0, static_cast<int>(count) + more));
          };
          Instruction vector;
          vector.profile = static_cast<std::uint16_t>(more);
          vector.max_vgpr = beside(vgprs);
          Instruction accumulation = vector;
          accumulation.max_vgpr = 0;
          accumulation.max_agpr = beside(agprs);
          Instruction scalar = vector;
          scalar.max_vgpr = vgprs;
          scalar.max_sgpr = beside(sgprs);
          EXPECT_EQ(allocation.holds(vector), more <= 0);
          EXPECT_EQ(allocation.holds(accumulation), more <= 0);
          EXPECT_EQ(allocation.holds(scalar), more <= 0);
        }
      }
    }
  }
}

// The use of every row's registers must fit into the representation.
TEST(RegisterUse, TheUseOfEveryInstructionFits) {
  for (const Format format : all_formats()) {
    for (const InstructionRow& row : rows(format)) {
      EXPECT_LE(row.dst.count, kMaxDestinations) << row.mnemonic;
      EXPECT_LE(row.src.count, kMaxSources) << row.mnemonic;
      EXPECT_LE(row.src.count + 5U, RegisterUse::kMaxReads) << row.mnemonic;
      const bool found = find_row(format, static_cast<unsigned>(row.opcode.gfx803), Target::gfx803) == &row;
      EXPECT_TRUE(found || row.opcode.gfx803 == kAbsent) << row.mnemonic;
    }
  }
}

}  // namespace
}  // namespace lacuna::isa::test

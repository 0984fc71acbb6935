// Executes random programs with branches and loops, and tracks loaded values lane by lane: no instruction outside of a chain
// may read any of the chain's values. Checks the static analysis of reuse against execution.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/decode/table.h"
#include "models/neardata/finalizer.h"
#include "tests/isa/scalar/scalar_machine.h"
#include "tests/neardata/assembled_kernel.h"

namespace lacuna::test {
namespace {

using isa::kLanes;

constexpr std::uint64_t kInput = 0x7000000000;
constexpr std::uint64_t kOutput = 0x7100000000;
constexpr unsigned kFirstData = 4;  // v4 to v9: few registers, each of which is written repeatedly
constexpr unsigned kDataRegisters = 6;
constexpr unsigned kFirstCounter = 12;  // v12 and up: remaining iterations of each lane, by loop depth
constexpr unsigned kFirstMask = 10;     // s[10:11] and up: saved EXEC masks, by loop depth
constexpr unsigned kDeepest = 3;
constexpr unsigned kMostSteps = 20000;

struct Line {
  std::string text;
  int label = -1;    ///< target of the branch; -1: not a branch
  int defines = -1;  ///< label at this line; -1: none
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  std::vector<Line> program() {
    statements(3 + pick(4), 0);
    add("s_endpgm");
    return std::move(lines_);
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string data() { return "v" + std::to_string(kFirstData + pick(kDataRegisters)); }
  static std::string mask(unsigned depth) {
    const unsigned first = kFirstMask + 2 * depth;
    return "s[" + std::to_string(first) + ':' + std::to_string(first + 1) + ']';
  }
  void add(std::string text, int label = -1) {
    lines_.push_back({std::move(text), label, pending_});
    pending_ = -1;
  }
  void define(int label) {
    if (pending_ >= 0) add("s_nop 0");
    pending_ = label;
  }

  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }
  void statement(unsigned depth) {
    const unsigned kind = pick(depth < kDeepest ? 12 : 9);
    if (kind < 4) {
      chain();
    } else if (kind < 7) {
      operation();
    } else if (kind == 7) {
      add("flat_store_dword v[2:3], " + data());
    } else if (kind == 8) {
      add("v_readlane_b32 s30, " + data() + ", " + std::to_string(pick(kLanes)));
    } else if (kind < 11) {
      branch(depth);
    } else {
      loop(depth);
    }
  }
  // Appends instructions that may become a chain.
  void chain() {
    const std::string a = data();
    const std::string b = data();
    add("flat_load_dword " + a + ", v[0:1]");
    if (pick(2) == 0) add("flat_load_dword " + b + ", v[0:1]");
    if (pick(4) == 0) operation();
    add("s_waitcnt vmcnt(0)");
    const std::string result = pick(3) == 0 ? a : data();
    switch (pick(5)) {
      case 0:
        add("v_add_f32 " + result + ", " + a + ", " + b);
        break;
      case 1:
        add("v_mac_f32 " + result + ", " + a + ", " + b);
        break;
      case 2:
        add("v_cmp_lt_f32 vcc, " + (pick(2) == 0 ? "s3, " + a : a + ", " + b));
        return;
      case 3:
        add("v_mul_f32 " + result + ", s3, " + a);
        if (pick(2) == 0) add("v_add_f32 " + result + ", " + result + ", " + b);
        break;
      default:
        break;
    }
    if (pick(2) == 0) add("flat_store_dword v[2:3], " + result);
  }
  void operation() {
    switch (pick(4)) {
      case 0:
        add("v_add_f32 " + data() + ", " + data() + ", " + data());
        break;
      case 1:
        add("v_cmp_lt_f32 vcc, " + data() + ", " + data());
        break;
      case 2:
        add("v_mov_b32 " + data() + ", " + data());
        break;
      default:
        add("v_mov_b32 " + data() + ", 0");
    }
  }
  void branch(unsigned depth) {
    const std::string saved = mask(depth);
    add("v_cmp_lt_u32 vcc, " + data() + ", " + data());
    add("s_and_saveexec_b64 " + saved + ", vcc");
    const bool with_else = pick(2) == 0;
    if (with_else) add("s_xor_b64 " + saved + ", exec, " + saved);
    const int end = labels_++;
    if (pick(2) == 0) add("s_cbranch_execz 0", end);
    statements(1 + pick(3), depth + 1);
    define(end);
    if (with_else) {
      if (pick(2) == 0) {
        add("s_or_saveexec_b64 " + saved + ", " + saved);
        add("s_xor_b64 exec, exec, " + saved);
      } else {
        add("s_andn2_saveexec_b64 " + saved + ", " + saved);
      }
      const int behind = labels_++;
      if (pick(2) == 0) add("s_cbranch_execz 0", behind);
      statements(1 + pick(3), depth + 1);
      define(behind);
    }
    add("s_or_b64 exec, exec, " + saved);
  }
  // Appends a loop that lanes leave one after the other. The loop ends, because each lane's counter limits its iterations.
  void loop(unsigned depth) {
    const std::string left = mask(depth);
    const std::string counter = "v" + std::to_string(kFirstCounter + depth);
    add("s_mov_b64 " + left + ", 0");
    add("v_and_b32 " + counter + ", 3, v10");
    const int begin = labels_++;
    define(begin);
    statements(1 + pick(3), depth + 1);
    add("v_add_u32 " + counter + ", vcc, -1, " + counter);
    add("v_cmp_gt_i32 vcc, 1, " + counter);
    add("s_or_b64 " + left + ", vcc, " + left);
    add("s_andn2_b64 exec, exec, " + left);
    add("s_cbranch_execnz 0", begin);
    add("s_or_b64 exec, exec, " + left);
  }

  std::mt19937 random_;
  std::vector<Line> lines_;
  int labels_ = 0;
  int pending_ = -1;
};

// Assembles all programs in one run of the assembler and returns their words.
std::vector<std::vector<std::uint32_t>> words_of(const std::vector<std::vector<Line>>& programs) {
  std::vector<std::string> texts;
  for (const std::vector<Line>& program : programs)
    for (const Line& line : program) texts.push_back(line.text);
  const std::vector<std::vector<std::uint32_t>> words = isa::test::assemble_by_llvm(texts, isa::Target::gfx803);
  std::vector<std::vector<std::uint32_t>> codes;
  std::size_t next = 0;
  for (const std::vector<Line>& program : programs) {
    std::vector<std::uint32_t> code;
    std::map<int, std::size_t> places;
    std::vector<std::pair<std::size_t, int>> branches;
    for (const Line& line : program) {
      if (line.defines >= 0) places[line.defines] = code.size();
      if (line.label >= 0) branches.emplace_back(code.size(), line.label);
      code.insert(code.end(), words[next].begin(), words[next].end());
      ++next;
    }
    for (const auto& [at, label] : branches) {
      const auto distance = static_cast<std::int64_t>(places.at(label)) - static_cast<std::int64_t>(at) - 1;
      code[at] = (code[at] & 0xffff'0000) | static_cast<std::uint16_t>(distance);
    }
    codes.push_back(std::move(code));
  }
  return codes;
}

// Executes a program and follows the values of its chains.
class Follower {
 public:
  Follower(const std::vector<std::uint32_t>& code, const FinalizedKernel& kernel, std::uint32_t seed)
      : flow_(fetch_from(code), isa::Target::gfx803, kEntry) {
    for (std::size_t c = 0; c < kernel.chains.size(); ++c) {
      const Chain& chain = kernel.chains[c];
      for (const ChainInstruction& part : chain.instructions) {
        const bool is_load = part.role == ChainRole::load_a || part.role == ChainRole::load_b;
        const bool is_inner = part.role == ChainRole::operation && (chain.stores || part.tag != ChainTag::last);
        members_[part.address] = {static_cast<int>(c), is_load || is_inner, part.tag};
      }
    }
    std::mt19937 random(seed);
    machine_.memory.map(kInput, 4096, isa::Access::read_write);
    machine_.memory.map(kOutput, 4096, isa::Access::read_write);
    for (unsigned l = 0; l < kLanes; ++l) {
      set_address(0, l, kInput + 4 * l);
      set_address(2, l, kOutput + 4 * l);
      for (unsigned r = kFirstData; r < kFirstData + kDataRegisters; ++r)
        machine_.v(r, l) = static_cast<std::uint32_t>(random());
      machine_.v(10, l) = static_cast<std::uint32_t>(random());
    }
    machine_.wave.pc = kEntry;
    for (auto& lanes : holds_) lanes.fill(-1);
  }

  /// Returns false if the program does not end.
  bool run() {
    for (unsigned step = 0; step < kMostSteps; ++step) {
      const isa::PlacedInstruction& placed = at(machine_.wave.pc);
      const isa::Instruction& instruction = placed.instruction;
      const auto found = members_.find(placed.address);
      const Member member = found == members_.end() ? Member{} : found->second;
      check_order(member, placed);
      check_reads(member, placed);
      const std::uint64_t active = machine_.wave.exec();
      machine_.wave.event = isa::Event::none;
      machine_.wave.pc += instruction.size;
      instruction.execute(instruction, machine_.wave);
      if (machine_.wave.event == isa::Event::end_program) return true;
      EXPECT_TRUE(machine_.wave.event == isa::Event::none || machine_.wave.event == isa::Event::wait_count);
      note_writes(member, placed, active);
    }
    return false;
  }

 private:
  struct Member {
    int chain = -1;
    bool holds = false;  ///< whether only the chain may read the member's result
    ChainTag tag = ChainTag::none;
  };

  const isa::PlacedInstruction& at(std::uint64_t pc) const {
    return *std::lower_bound(flow_.instructions().begin(), flow_.instructions().end(), pc,
                             [](const isa::PlacedInstruction& p, std::uint64_t address) { return p.address < address; });
  }
  void set_address(unsigned vgpr, unsigned lane, std::uint64_t address) {
    machine_.v(vgpr, lane) = static_cast<std::uint32_t>(address);
    machine_.v(vgpr + 1, lane) = static_cast<std::uint32_t>(address >> 32);
  }

  // Checks that EXEC is the same from the first instruction of a chain to the last.
  void check_order(const Member& member, const isa::PlacedInstruction& placed) {
    if (member.tag == ChainTag::first) open_[member.chain] = machine_.wave.exec();
    for (const auto& [chain, mask] : open_) EXPECT_EQ(machine_.wave.exec(), mask) << std::hex << placed.address;
    if (member.tag != ChainTag::none) {
      EXPECT_EQ(open_.count(member.chain), 1u) << std::hex << placed.address;
    }
    if (member.tag == ChainTag::last) open_.erase(member.chain);
  }
  void check_reads(const Member& member, const isa::PlacedInstruction& placed) const {
    const bool any_lane = placed.instruction.row->mnemonic == "v_readlane_b32";
    for (unsigned r = 0; r < placed.use.read_count; ++r) {
      const isa::RegisterRange& range = placed.use.reads[r];
      for (unsigned v = range.first; range.file == isa::OperandKind::vgpr && v < range.first + unsigned{range.count}; ++v)
        for (unsigned l = 0; l < kLanes; ++l) {
          const bool reads = any_lane || (machine_.wave.exec() >> l & 1) != 0;
          EXPECT_TRUE(!reads || holds_[v][l] < 0 || holds_[v][l] == member.chain)
              << std::hex << placed.address << " reads v" << std::dec << v << " of chain " << holds_[v][l];
        }
    }
  }
  void note_writes(const Member& member, const isa::PlacedInstruction& placed, std::uint64_t active) {
    for (unsigned w = 0; w < placed.use.write_count; ++w) {
      const isa::RegisterRange& range = placed.use.writes[w];
      for (unsigned v = range.first; range.file == isa::OperandKind::vgpr && v < range.first + unsigned{range.count}; ++v)
        for (unsigned l = 0; l < kLanes; ++l)
          if ((active >> l & 1) != 0) holds_[v][l] = member.holds ? member.chain : -1;
    }
  }

  isa::ControlFlow flow_;
  isa::test::Machine machine_;
  std::map<std::uint64_t, Member> members_;
  std::map<int, std::uint64_t> open_;  ///< EXEC masks of chains that have begun
  std::array<std::array<int, kLanes>, isa::test::Machine::kVgprs> holds_{};
};

TEST(ChainReuse, NothingElseReadsTheValuesOfAChain) {
  constexpr unsigned kPrograms = 4000;
  std::vector<std::vector<Line>> programs;
  for (unsigned seed = 0; seed < kPrograms; ++seed) programs.push_back(Generator(seed).program());
  const std::vector<std::vector<std::uint32_t>> codes = words_of(programs);
  std::map<unsigned, unsigned> chains;
  std::map<ChainRefusal, unsigned> refusals;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    const FinalizedKernel kernel = finalize_kernel(fetch_from(codes[seed]), isa::Target::gfx803, kEntry, {.move = false});
    ASSERT_EQ(kernel.unknown, "");
    for (const Chain& chain : kernel.chains) ++chains[chain.pattern];
    for (const RefusedLoad& load : kernel.refusals) ++refusals[load.reason];
    if (!kernel.chains.empty()) {
      EXPECT_TRUE(Follower(codes[seed], kernel, seed).run());
    }
    if (HasFailure()) {
      for (const Line& line : programs[seed]) std::cout << line.text << '\n';
      break;
    }
  }
  unsigned found = 0;
  for (const auto& [pattern, count] : chains) {
    std::cout << "pattern " << pattern << ": " << count << '\n';
    found += count;
  }
  for (const auto& [reason, count] : refusals) std::cout << refusal_name(reason) << ": " << count << '\n';
  EXPECT_GT(found, kPrograms / 2);
  EXPECT_EQ(chains.size(), 10u);
}

}  // namespace
}  // namespace lacuna::test

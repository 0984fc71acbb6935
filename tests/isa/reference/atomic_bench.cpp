#include "tests/isa/reference/atomic_bench.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"
#include "tests/isa/reference/reference.h"
#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kRegisters = 32;
constexpr unsigned kAddress = 2;
constexpr std::array<unsigned, 2> kData{4, 8};
constexpr unsigned kResult = 16;
constexpr unsigned kDescriptor = 4;
constexpr unsigned kLaneBytes = 32;
constexpr unsigned kSecondDatum = 16;  ///< ds_*_src2_*: bytes from the first datum to the second
constexpr std::uint64_t kBase = 0x1'2340'0000;
constexpr unsigned kRounds = 48;
constexpr int kFailuresPerRow = 4;

/// Number of failures of the current test.
int failures() { return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

class Block : public MemoryInterface {
 public:
  explicit Block(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  MemoryWindow find(std::uint64_t address) const override {
    if (address - kBase >= bytes_.size()) return {};
    return {kBase, bytes_.size(), bytes_.data(), kBase, Access::read_write};
  }
  std::uint64_t epoch() const override { return 1; }

 private:
  std::vector<std::byte>& bytes_;
};

class AtomicBench {
 public:
  AtomicBench(const InstructionRow& row, Target target, const AtomicReference& entry)
      : row_(row),
        entry_(entry),
        width_(words_of(entry.type) * 4),
        registers_(kRegisters * kLanes),
        generator_(row.opcode[target]) {
    wave_.target = target;
    wave_.vgpr = registers_.data();
    wave_.vgpr_count = kRegisters;
    wave_.sgpr_count = 102;
    wave_.memory = &memory_;
    wave_.addresses = &addresses_;
    if (row.format != Format::ds) return;
    wave_.lds = bytes_.data();
    wave_.lds_bytes = static_cast<std::uint32_t>(bytes_.size());
  }

  void run() {
    const int before = failures();
    for (unsigned round = 0; round < kRounds * reference_rounds() && failures() < before + kFailuresPerRow; ++round) {
      // DS has separate rows for returning the old value.
      const bool returns = row_.format == Format::ds ? row_.dst.count > 0 : round % 2 == 0;
      step(returns);
    }
  }

 private:
  std::array<std::uint32_t, 2> encode(bool returns) const {
    const auto opcode = static_cast<std::uint32_t>(row_.opcode[wave_.target]);
    const std::uint32_t glc = returns ? 1 : 0;
    const std::uint32_t result = returns ? kResult << 24 : 0;
    switch (row_.format) {
      case Format::ds: {
        const std::uint32_t offset = entry_.data == 0 ? kSecondDatum / 4 : 0;
        const std::uint32_t data = (entry_.data > 1 ? kData[1] << 16 : 0U) | (entry_.data > 0 ? kData[0] << 8 : 0U);
        return {0xd8000000U | opcode << 17 | offset, result | data | kAddress};
      }
      case Format::mubuf:  // OFFEN; the result overwrites the data registers
        return {0xe0000000U | opcode << 18 | glc << 14 | 1U << 12,
                unsigned{kInlineZero} << 24 | (kDescriptor / 4) << 16 | kData[0] << 8 | kAddress};
      default: {
        const std::uint32_t segment = row_.format == Format::global ? 2 : 0;
        const std::uint32_t no_scalar = row_.format == Format::global ? 0x7f : 0;
        return {0xdc000000U | opcode << 18 | glc << 16 | segment << 14, result | no_scalar << 16 | kData[0] << 8 | kAddress};
      }
    }
  }

  std::uint32_t& at(unsigned reg, unsigned lane) { return registers_[reg * kLanes + lane]; }
  void put(unsigned reg, unsigned lane, std::uint64_t v) {
    at(reg, lane) = u32(v);
    if (width_ == 8) at(reg + 1, lane) = u32(v >> 32);
  }
  std::uint64_t memory_at(unsigned offset) const {
    std::uint64_t v = 0;
    std::memcpy(&v, bytes_.data() + offset, width_);
    return v;
  }
  void set_memory(std::vector<std::byte>& bytes, unsigned offset, std::uint64_t v) const {
    std::memcpy(bytes.data() + offset, &v, width_);
  }
  std::uint64_t draw() {
    const std::uint64_t v = draw_value(entry_.type, generator_);
    return width_ == 8 ? v : u32(v);
  }

  void step(bool returns) {
    const std::array<std::uint32_t, 2> words = encode(returns);
    const DecodeResult decoded = decode(words.data(), words.size(), wave_.target);
    if (!decoded.ok || decoded.instruction.row->mnemonic != row_.mnemonic) {
      ADD_FAILURE() << row_.mnemonic << ": " << decoded.error;
      return;
    }
    for (std::uint32_t& r : registers_) r = static_cast<std::uint32_t>(generator_());
    for (std::byte& b : bytes_) b = static_cast<std::byte>(generator_());
    wave_.mode.bits = static_cast<std::uint32_t>(generator_()) & 0x3ff;
    wave_.set_exec((generator_() & 1) != 0 ? ~std::uint64_t{0} : generator_() | 1);
    wave_.sgpr[kM0] = ~0U;
    wave_.write64(kDescriptor, kBase);
    wave_.write64(kDescriptor + 2, 0x80000000U);
    wave_.event = Event::none;

    const auto turn = static_cast<unsigned>(generator_() % kLanes);
    const bool memory_in_lds = row_.format == Format::ds;
    std::array<AtomicInputs, kLanes> inputs;
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned offset = (l + turn) % kLanes * kLaneBytes;
      const std::uint64_t address = row_.format == Format::ds || row_.format == Format::mubuf ? offset : kBase + offset;
      at(kAddress, l) = u32(address);
      at(kAddress + 1, l) = u32(address >> 32);
      AtomicInputs& in = inputs.at(l);
      in = {draw(), draw(), draw(), wave_.mode.bits, memory_in_lds};
      // In one of three cases two values are equal, so that comparisons succeed.
      if (generator_() % 3 == 0) (generator_() % 2 == 0 ? in.a : in.b) = in.old;
      set_memory(bytes_, offset, in.old);
      if (entry_.data == 0) set_memory(bytes_, offset + kSecondDatum, in.a);
      // FLAT, GLOBAL and MUBUF take both data from consecutive registers.
      if (entry_.data > 0) put(kData[0], l, in.a);
      if (entry_.data > 1) put(memory_in_lds ? kData[1] : kData[0] + width_ / 4, l, in.b);
    }
    const std::vector<std::uint32_t> registers(registers_);
    const std::vector<std::byte> before(bytes_);
    decoded.instruction.execute(decoded.instruction, wave_);
    EXPECT_EQ(wave_.event, Event::none) << row_.mnemonic;
    const unsigned result = row_.format == Format::mubuf ? kData[0] : kResult;
    for (unsigned l = 0; l < kLanes; ++l) {
      const unsigned offset = (l + turn) % kLanes * kLaneBytes;
      const bool active = (wave_.exec() >> l & 1) != 0;
      const AtomicInputs& in = inputs.at(l);
      const std::uint64_t want = active ? entry_.reference(in) : in.old;
      EXPECT_EQ(memory_at(offset), want) << row_.mnemonic << (active ? "" : " (disabled)") << std::hex << " of 0x" << in.old
                                         << " with 0x" << in.a << ", 0x" << in.b << " mode 0x" << in.mode;
      for (unsigned w = 0; w < width_ / 4; ++w) {
        const std::uint32_t old = registers[(result + w) * kLanes + l];
        EXPECT_EQ(at(result + w, l), active && returns ? u32(in.old >> 32 * w) : old) << row_.mnemonic;
      }
      // No byte outside the datum is written.
      const auto* now = bytes_.data() + offset + width_;
      EXPECT_EQ(std::memcmp(now, before.data() + offset + width_, kLaneBytes - width_), 0) << row_.mnemonic;
    }
  }

  const InstructionRow& row_;
  const AtomicReference& entry_;
  unsigned width_;
  std::vector<std::uint32_t> registers_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kLanes * kLaneBytes);
  Block memory_{bytes_};
  LaneAddresses addresses_;
  Wavefront wave_;
  std::mt19937_64 generator_;
};

/// Checks scalar memory atomics: one datum at an immediate offset, data and result in SGPRs, other registers and memory
/// unchanged.
class ScalarAtomicBench {
 public:
  ScalarAtomicBench(const InstructionRow& row, Target target, const AtomicReference& entry)
      : row_(row), target_(target), entry_(entry), width_(words_of(entry.type) * 4), generator_(row.opcode[target]) {}

  void run() {
    const int before = failures();
    for (unsigned round = 0; round < kRounds * reference_rounds() && failures() < before + kFailuresPerRow; ++round)
      step(round % 2 == 0);
  }

 private:
  static constexpr unsigned kOffset = 64;
  static constexpr unsigned kSgprData = 12;

  void step(bool returns) {
    const auto opcode = static_cast<std::uint32_t>(row_.opcode[target_]);
    const std::uint32_t words[] = {
        0xc0000000U | opcode << 18 | 1U << 17 | (returns ? 1U << 16 : 0U) | kSgprData << 6 | kDescriptor / 2, kOffset};
    const DecodeResult decoded = decode(words, std::size(words), target_);
    if (!decoded.ok || decoded.instruction.row->mnemonic != row_.mnemonic) {
      ADD_FAILURE() << row_.mnemonic << ": " << decoded.error;
      return;
    }
    Wavefront wave;
    wave.target = target_;
    wave.sgpr_count = 102;
    wave.memory = &memory_;
    for (std::uint32_t& s : wave.sgpr) s = static_cast<std::uint32_t>(generator_());
    for (std::byte& b : bytes_) b = static_cast<std::byte>(generator_());
    // Address for s_atomic_*, descriptor for s_buffer_atomic_*.
    wave.write64(kDescriptor, kBase);
    wave.write64(kDescriptor + 2, bytes_.size());
    const auto draw = [&] {
      const std::uint64_t v = draw_value(entry_.type, generator_);
      return width_ == 8 ? v : u32(v);
    };
    AtomicInputs in{draw(), draw(), draw(), 0, false};
    if (generator_() % 3 == 0) (generator_() % 2 == 0 ? in.a : in.b) = in.old;
    std::memcpy(bytes_.data() + kOffset, &in.old, width_);
    for (unsigned w = 0; w < width_ / 4; ++w) {
      wave.sgpr.at(kSgprData + w) = u32(in.a >> 32 * w);
      if (entry_.data > 1) wave.sgpr.at(kSgprData + width_ / 4 + w) = u32(in.b >> 32 * w);
    }
    std::vector<std::byte> wanted_memory(bytes_);
    auto wanted_registers = wave.sgpr;
    const std::uint64_t want = entry_.reference(in);
    std::memcpy(wanted_memory.data() + kOffset, &want, width_);
    for (unsigned w = 0; w < width_ / 4 && returns; ++w) wanted_registers.at(kSgprData + w) = u32(in.old >> 32 * w);
    decoded.instruction.execute(decoded.instruction, wave);
    EXPECT_EQ(wave.event, Event::none) << row_.mnemonic;
    EXPECT_EQ(bytes_, wanted_memory) << row_.mnemonic << std::hex << " of 0x" << in.old << " with 0x" << in.a << ", 0x" << in.b;
    EXPECT_EQ(wave.sgpr, wanted_registers) << row_.mnemonic;
  }

  const InstructionRow& row_;
  Target target_;
  const AtomicReference& entry_;
  unsigned width_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(256);
  Block memory_{bytes_};
  std::mt19937_64 generator_;
};

}  // namespace

unsigned check_atomic_rows(const AtomicReference& entry) {
  unsigned checked = 0;
  for (const Format format : {Format::ds, Format::flat, Format::global, Format::mubuf, Format::smem}) {
    for (const InstructionRow& row : rows(format)) {
      if (row.mnemonic != entry.mnemonic || row.execute == nullptr) continue;
      for (const Target target : {Target::gfx803, Target::gfx90a}) {
        if (row.opcode[target] == kAbsent) continue;
        ++checked;
        if (format == Format::smem) {
          ScalarAtomicBench(row, target, entry).run();
        } else {
          AtomicBench(row, target, entry).run();
        }
      }
    }
  }
  return checked;
}

}  // namespace lacuna::isa::test

// A wavefront with memory for tests: programs are given in assembly and executed one instruction at a time.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/wavefront.h"
#include "tests/isa/llvm_oracle.h"

namespace lacuna::isa::test {

/// Address at which tests map memory.
inline constexpr std::uint64_t kBase = 0x7000000000;

/// Mappings defined by a test; contents start as zero.
class TestMemory : public MemoryInterface {
 public:
  /// Maps [base, base + size) and returns its memory.
  std::byte* map(std::uint64_t base, std::uint64_t size, Access granted, Sharing sharing = Sharing::device,
                 Grain grain = Grain::coarse) {
    blocks_.push_back({base, granted, sharing, grain, std::vector<std::byte>(size)});
    ++epoch_;
    return blocks_.back().bytes.data();
  }
  void unmap(std::uint64_t base) {
    std::erase_if(blocks_, [&](const Block& block) { return block.base == base; });
    ++epoch_;
  }
  MemoryWindow find(std::uint64_t address) const override {
    ++finds;
    for (const Block& block : blocks_) {
      if (address - block.base >= block.bytes.size()) continue;
      return {.base = block.base,
              .size = block.bytes.size(),
              .host = const_cast<std::byte*>(block.bytes.data()),
              .physical = block.base,
              .granted = block.granted,
              .sharing = block.sharing,
              .grain = block.grain};
    }
    return {};
  }
  std::uint64_t epoch() const override { return epoch_; }

  mutable unsigned finds = 0;

 private:
  struct Block {
    std::uint64_t base;
    Access granted;
    Sharing sharing;
    Grain grain;
    std::vector<std::byte> bytes;
  };
  std::vector<Block> blocks_;
  std::uint64_t epoch_ = 1;
};

struct Machine {
  static constexpr unsigned kVgprs = 32;
  static constexpr std::uint64_t kProgram = 0x100000;
  TestMemory memory;
  std::vector<std::uint32_t> vgprs = std::vector<std::uint32_t>(kVgprs * kLanes);
  std::vector<std::byte> lds = std::vector<std::byte>(4096);
  LaneAddresses addresses;
  Wavefront wave;

  Machine() {
    wave.addresses = &addresses;
    wave.vgpr = vgprs.data();
    wave.vgpr_count = kVgprs;
    wave.sgpr_count = 102;
    wave.memory = &memory;
    wave.lds = lds.data();
    wave.lds_bytes = static_cast<std::uint32_t>(lds.size());
    wave.set_exec(~std::uint64_t{0});
    wave.sgpr[kM0] = ~0U;
    wave.pc = kProgram;
  }

  /// Executes instructions in order, ignoring branches; stops at the first event.
  void run(const std::vector<std::string>& lines) {
    for (const auto& words : assemble_by_llvm(lines, wave.target)) {
      step(words);
      if (wave.event != Event::none) return;
    }
  }
  void step(const std::vector<std::uint32_t>& words) {
    const DecodeResult decoded = decode(words.data(), words.size(), wave.target);
    ASSERT_TRUE(decoded.ok) << decoded.error;
    wave.event = Event::none;
    wave.pc += decoded.instruction.size;
    decoded.instruction.execute(decoded.instruction, wave);
  }

  std::uint32_t& v(unsigned index, unsigned lane) { return vgprs[index * kLanes + lane]; }
  template <typename U>
  U lds_at(unsigned offset) const {
    U value;
    std::memcpy(&value, lds.data() + offset, sizeof value);
    return value;
  }
  template <typename U>
  void set_lds(unsigned offset, U value) {
    std::memcpy(lds.data() + offset, &value, sizeof value);
  }
};

template <typename U>
U read(const std::byte* at) {
  U value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <typename U>
void write(std::byte* at, U value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace lacuna::isa::test

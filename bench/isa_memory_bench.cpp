// Throughput of the scalar and memory executors alone, without a compute unit, in wavefront instructions per second.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {
namespace {

constexpr std::uint64_t kBase = 0x7000000000;

class FlatMemory : public MemoryInterface {
 public:
  MemoryWindow find(std::uint64_t address) const override {
    if (address - kBase >= bytes_.size()) return {};
    return {kBase, bytes_.size(), const_cast<std::byte*>(bytes_.data()), kBase, Access::read_write};
  }
  std::uint64_t epoch() const override { return 1; }

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(1 << 20);
};

// The encodings use v[0:1] as an address, v2 as an LDS offset, s[4:7] as a descriptor and s[2:3] as a scalar base.
// Lanes access consecutive addresses; if `scatter` is set, neighbouring lanes are swapped.
void run(benchmark::State& state, std::vector<std::uint32_t> words, std::uint64_t exec, bool scatter = false) {
  FlatMemory memory;
  std::vector<std::uint32_t> vgprs(32 * kLanes);
  std::vector<std::byte> lds(65536);
  Wavefront wave;
  wave.vgpr = vgprs.data();
  wave.vgpr_count = 32;
  wave.memory = &memory;
  LaneAddresses addresses;
  wave.addresses = &addresses;
  wave.lds = lds.data();
  wave.lds_bytes = static_cast<std::uint32_t>(lds.size());
  wave.shared_aperture = 0x2000000000000000;
  wave.private_aperture = 0x2000000100000000;
  wave.set_exec(exec);
  wave.sgpr[kM0] = ~0U;
  wave.write64(2, kBase);
  wave.write64(4, kBase);
  wave.sgpr[5] |= 1U << 31;
  wave.sgpr[6] = 1 << 20;
  wave.sgpr[7] = 1U << 19 | 3U << 21 | 1U << 23;
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::uint64_t offset = (scatter ? l ^ 1 : l) * 4;
    const std::uint64_t address = kBase + offset;
    wave.v(0)[l] = static_cast<std::uint32_t>(address);
    wave.v(1)[l] = static_cast<std::uint32_t>(address >> 32);
    wave.v(2)[l] = static_cast<std::uint32_t>(offset);
  }
  const DecodeResult decoded = decode(words.data(), words.size(), Target::gfx803);
  if (!decoded.ok) return state.SkipWithError(decoded.error.c_str());
  const Instruction instruction = decoded.instruction;
  for (auto _ : state) {
    instruction.execute(instruction, wave);
    benchmark::ClobberMemory();
  }
  if (wave.event != Event::none) state.SkipWithError("the instruction raised an event");
  state.SetItemsProcessed(state.iterations());
  state.SetLabel("wavefront instructions");
}

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kHalf = 0x5555555555555555;

BENCHMARK_CAPTURE(run, s_add_u32, {0x80000302}, kAll);
BENCHMARK_CAPTURE(run, s_load_dwordx4, {0xc00a0201, 0}, kAll);
BENCHMARK_CAPTURE(run, flat_load_dword, {0xdc500000, 0x03000000}, kAll);
BENCHMARK_CAPTURE(run, flat_load_dword_scattered, {0xdc500000, 0x03000000}, kAll, true);
BENCHMARK_CAPTURE(run, flat_load_dword_half_exec, {0xdc500000, 0x03000000}, kHalf);
BENCHMARK_CAPTURE(run, flat_load_dwordx4, {0xdc5c0000, 0x04000000}, kAll);
BENCHMARK_CAPTURE(run, flat_store_dword, {0xdc700000, 0x00000300}, kAll);
BENCHMARK_CAPTURE(run, flat_atomic_add, {0xdd080000, 0x00000300}, kAll);
BENCHMARK_CAPTURE(run, ds_read_b32, {0xd86c0000, 0x03000002}, kAll);
BENCHMARK_CAPTURE(run, ds_read_b32_scattered, {0xd86c0000, 0x03000002}, kAll, true);
BENCHMARK_CAPTURE(run, ds_read_b128, {0xd9fe0000, 0x04000002}, kAll);
BENCHMARK_CAPTURE(run, ds_write_b32, {0xd81a0000, 0x00000302}, kAll);
BENCHMARK_CAPTURE(run, ds_read2_b32, {0xd86e0100, 0x04000002}, kAll);
BENCHMARK_CAPTURE(run, scratch_load_dword, {0xe0500004, 0x80010300}, kAll);

}  // namespace
}  // namespace lacuna::isa

BENCHMARK_MAIN();

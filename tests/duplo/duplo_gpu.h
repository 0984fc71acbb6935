// A small device with Duplo, a workspace, and a kernel that loads its tiles.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "models/duplo/duplo.h"
#include "tests/neardata/near_data_gpu.h"

namespace lacuna::test {

using Lines = std::vector<std::string>;

inline constexpr std::uint64_t kBase = NearDataGpu::kBase;
inline constexpr std::uint64_t kImage = 0x8000;  ///< ELF header and symbols of the code object, offset in VRAM
inline constexpr std::uint64_t kWorkspace = NearDataGpu::kData;
inline constexpr std::uint64_t kResults = NearDataGpu::kData + 0x400000;
inline constexpr unsigned kElementBytes = ParameterBlock::kElementBytes;

/// 256 rows of 144 elements: 16 x 9 tiles.
inline LoweredConvolution convolution() {
  LoweredConvolution c;
  c.height = c.width = 16;
  c.channels = 16;
  c.filter_height = c.filter_width = 3;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 1;
  c.pitch = c.columns();
  return c;
}

inline std::array<std::uint8_t, ParameterBlock::kBytes> block_of(const LoweredConvolution& c, std::uint64_t workspace) {
  std::array<std::uint8_t, ParameterBlock::kBytes> block{};
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&block.at(at), &value, sizeof value); };
  put(0, workspace);
  put(8, std::uint32_t{c.pitch});
  put(12, static_cast<std::uint16_t>(c.images));
  put(14, static_cast<std::uint16_t>(c.height));
  put(16, static_cast<std::uint16_t>(c.width));
  put(18, static_cast<std::uint16_t>(c.channels));
  put(20, static_cast<std::uint8_t>(c.filter_height));
  put(21, static_cast<std::uint8_t>(c.filter_width));
  put(22, static_cast<std::uint8_t>(c.stride_y));
  put(23, static_cast<std::uint8_t>(c.stride_x));
  put(24, static_cast<std::uint8_t>(c.pad_top));
  put(25, static_cast<std::uint8_t>(c.pad_left));
  put(26, static_cast<std::uint8_t>(c.pad_bottom));
  put(27, static_cast<std::uint8_t>(c.pad_right));
  put(29, static_cast<std::uint8_t>(c.order));
  return block;
}

/// Fills the workspace: zeros in the padding, other elements at random by their place in the input.
inline void lower(NearDataGpu& gpu, const LoweredConvolution& c) {
  for (std::uint64_t row = 0; row < c.rows(); ++row) {
    for (unsigned column = 0; column < c.columns(); ++column) {
      const InputElement e = *c.element(row, column);
      const std::uint32_t place = ((e.image * 64 + e.y) * 64 + e.x) * 64 + e.channel;
      gpu.at<std::uint16_t>(kWorkspace + (row * c.pitch + column) * kElementBytes) =
          c.in_padding(e) ? 0 : static_cast<std::uint16_t>(place * 0x9e3779b1U >> 16 | 1);
    }
  }
}

/// Dynamic symbols of the next kernel, `name`.kd, and of its parameter block, as a loader places them.
inline void load_symbols(NearDataGpu& gpu, const std::string& name,
                         const std::array<std::uint8_t, ParameterBlock::kBytes>& block,
                         std::uint64_t bytes = ParameterBlock::kBytes) {
  constexpr std::uint64_t kDynamic = 0x200, kSymbols = 0x300, kHash = 0x400, kStrings = 0x500, kBlock = 0x600;
  std::memset(&gpu.at<std::byte>(kImage), 0, 0x1000);
  auto& header = gpu.at<Elf64_Ehdr>(kImage);
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = 0x100;
  header.e_phnum = 1;
  auto& dynamic = gpu.at<Elf64_Phdr>(kImage + 0x100);
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_vaddr = kDynamic;
  dynamic.p_memsz = 4 * sizeof(Elf64_Dyn);
  auto* const entries = &gpu.at<Elf64_Dyn>(kImage + kDynamic);
  entries[0] = {.d_tag = DT_SYMTAB, .d_un = {.d_ptr = kSymbols}};
  entries[1] = {.d_tag = DT_STRTAB, .d_un = {.d_ptr = kStrings}};
  entries[2] = {.d_tag = DT_HASH, .d_un = {.d_ptr = kHash}};
  auto* const symbols = &gpu.at<Elf64_Sym>(kImage + kSymbols);
  const std::string strings = std::string(1, '\0') + name + ".kd" + '\0' + name + "_duplo";
  std::memcpy(&gpu.at<char>(kImage + kStrings), strings.c_str(), strings.size() + 1);
  symbols[1].st_name = 1;
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbols[1].st_shndx = 1;
  symbols[1].st_value = gpu.next_descriptor() - kImage;
  symbols[1].st_size = 64;
  symbols[2] = symbols[1];
  symbols[2].st_name = static_cast<Elf64_Word>(name.size() + 5);
  symbols[2].st_value = kBlock;
  symbols[2].st_size = bytes;
  gpu.words(kImage + kHash)[1] = 3;
  std::memcpy(&gpu.at<std::uint8_t>(kImage + kBlock), block.data(), block.size());
}

/// Each wavefront loads all tiles of 16 x 16, `in_flight` of them at a time, 12 at most, and folds them into two words a lane.
/// `between`: lines after each batch. `unused`: every third tile is not folded, and of every fifth one the second register.
/// Arguments: workspace, results.
inline AssembledKernel load_tiles(const LoweredConvolution& c, unsigned in_flight = 1, const Lines& between = {},
                                  bool unused = false) {
  const unsigned pitch = c.pitch * kElementBytes;
  Lines lines{"s_load_dwordx4 s[8:11], s[0:1], 0x0",
              "v_and_b32 v1, 63, v0",
              "v_and_b32 v2, 15, v1",
              "v_mul_u32_u24 v2, " + std::to_string(pitch) + ", v2",
              "v_lshrrev_b32 v3, 4, v1",
              "v_lshlrev_b32 v3, 3, v3",
              "v_add_u32_e32 v2, v2, v3",
              "v_mov_b32 v6, 0",
              "v_mov_b32 v7, 0",
              "s_waitcnt lgkmcnt(0)"};
  unsigned open = 0, folded = 0;
  const auto fold = [&] {
    lines.emplace_back("s_waitcnt vmcnt(0)");
    for (unsigned i = 0; i < open; ++i, ++folded) {
      if (unused && folded % 3 == 2) continue;
      for (unsigned half = 0; half < (unused && folded % 5 == 4 ? 1U : 2U); ++half) {
        const std::string sum = "v" + std::to_string(6 + half);
        lines.push_back("v_mul_lo_u32 " + sum + ", 17, " + sum);
        lines.push_back("v_add_u32_e32 " + sum + ", " + sum + ", v" + std::to_string(8 + 2 * i + half));
      }
    }
    open = 0;
    lines.insert(lines.end(), between.begin(), between.end());
  };
  for (unsigned row = 0; row < c.rows(); row += 16) {
    for (unsigned column = 0; column < c.columns(); column += 16) {
      const std::string offset = std::to_string(row * pitch + column * kElementBytes);
      const std::string pair = "v[" + std::to_string(8 + 2 * open) + ':' + std::to_string(9 + 2 * open) + ']';
      for (const std::string& line :
           {"s_add_u32 s12, s8, " + offset, std::string("s_addc_u32 s13, s9, 0"), std::string("v_mov_b32 v5, s13"),
            std::string("v_add_co_u32_e32 v4, vcc, s12, v2"), std::string("v_addc_co_u32_e32 v5, vcc, 0, v5, vcc"),
            "global_load_dwordx2 " + pair + ", v[4:5], off"})
        lines.push_back(line);
      if (++open == in_flight) fold();
    }
  }
  if (open > 0) fold();
  for (const char* const line : {"s_lshl_b32 s2, s2, 11", "v_lshlrev_b32 v1, 3, v0", "v_add_u32_e32 v1, s2, v1",
                                 "v_mov_b32 v5, s11", "v_add_co_u32_e32 v4, vcc, s10, v1",
                                 "v_addc_co_u32_e32 v5, vcc, 0, v5, vcc", "global_store_dwordx2 v[4:5], v[6:7], off"})
    lines.emplace_back(line);
  return {isa::Target::gfx90a, lines};
}

inline DuploParameters& duplo_of(GpuDeviceParameters& p) { return p.extensions.get<DuploParameterSet>().duplo; }

inline GpuDeviceParameters machine(const std::function<void(DuploParameters&)>& change) {
  GpuDeviceParameters p = small_machine();
  p.gpu.target = isa::Target::gfx90a;
  p.extensions = {};
  p.extensions.add(std::make_unique<DuploParameterSet>());
  duplo_of(p).mode = DuploMode::on;
  change(duplo_of(p));
  return p;
}

inline std::uint64_t sum(NearDataGpu& gpu, DuploCount what) {
  std::uint64_t all = 0;
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units())
    all += unit->statistics().counts[static_cast<std::size_t>(what)];
  return all;
}

/// Nothing is in flight, and no entry left.
inline void expect_nothing_left(NearDataGpu& gpu) {
  EXPECT_TRUE(gpu.device.idle());
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units()) {
    EXPECT_TRUE(unit->consistent());
    EXPECT_EQ(unit->entries(now()), 0U);
  }
}

struct Outcome {
  KernelRecord record;
  std::vector<std::uint32_t> results;
  std::array<std::uint64_t, kDuploCounts> counts{};
  std::uint64_t operator[](DuploCount what) const { return counts.at(static_cast<std::size_t>(what)); }
  std::uint64_t misses() const {
    return (*this)[DuploCount::compulsory] + (*this)[DuploCount::released] + (*this)[DuploCount::conflict] +
           (*this)[DuploCount::capacity];
  }
};

/// `described`: by the parameter block; `c` is the convolution whose workspace the kernel loads.
inline Outcome run(NearDataGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups,
                   unsigned size, const LoweredConvolution& described) {
  gpu.start();
  lower(gpu, c);
  load_symbols(gpu, "k", block_of(described, kBase + kWorkspace));
  gpu.mark();
  std::array<std::uint64_t, kDuploCounts> before{};
  const bool on = gpu.device.extension<Duplo>() != nullptr;
  for (std::size_t i = 0; on && i < kDuploCounts; ++i) before[i] = sum(gpu, static_cast<DuploCount>(i));
  Outcome outcome;
  outcome.record = gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, workgroups, size);
  EXPECT_FALSE(outcome.record.failed);
  EXPECT_TRUE(gpu.device.idle());
  outcome.results = gpu.memory(kResults, 0x800 * workgroups);
  if (!on) return outcome;
  for (std::size_t i = 0; i < kDuploCounts; ++i) outcome.counts[i] = sum(gpu, static_cast<DuploCount>(i)) - before[i];
  expect_nothing_left(gpu);
  EXPECT_EQ(outcome[DuploCount::look_ups] + outcome[DuploCount::asked_again],
            outcome[DuploCount::hits] + outcome[DuploCount::held] + outcome.misses());
  return outcome;
}

inline Outcome run(NearDataGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups,
                   unsigned size) {
  return run(gpu, c, kernel, workgroups, size, c);
}

inline constexpr unsigned kTiles = 16 * 9;

/// Resets the device while the kernel runs. Returns whether loads had hit before.
inline bool interrupt_by_reset(NearDataGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel,
                               unsigned nanoseconds) {
  gpu.start();
  lower(gpu, c);
  load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
  const std::uint64_t before = sum(gpu, DuploCount::hits);
  gpu.dispatch(kernel, {kBase + kWorkspace, kBase + kResults}, 12, 256);
  wait_for(Tick{nanoseconds * 1000});
  EXPECT_FALSE(gpu.done());
  const bool with_hits = sum(gpu, DuploCount::hits) > before;
  gpu.reset();
  expect_nothing_left(gpu);
  return with_hits;
}

/// Kernels of which one workgroup faults, more than there are numbers of convolutions, and a kernel after them with the results
/// of `fresh`: of load_tiles(c, 12) with 12 workgroups of 256.
inline void expect_aborts_leave_nothing(NearDataGpu& gpu, const LoweredConvolution& c,
                                        const std::vector<std::uint32_t>& fresh) {
  const AssembledKernel faults = load_tiles(c, 12,
                                            {"s_cmp_eq_u32 s2, 5", "s_cselect_b32 s14, 0, s8", "s_cselect_b32 s15, 0, s9",
                                             "v_mov_b32 v4, s14", "v_mov_b32 v5, s15", "global_load_dword v1, v[4:5], off"});
  gpu.start();
  lower(gpu, c);
  for (unsigned i = 0; i < 6; ++i) {
    gpu.reuse_code();
    load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
    const std::uint64_t before = sum(gpu, DuploCount::hits);
    gpu.dispatch(faults, {kBase + kWorkspace, kBase + kResults}, 12, 256);
    wait_for(Tick{200'000'000});
    EXPECT_FALSE(gpu.done());
    EXPECT_GT(sum(gpu, DuploCount::hits), before);
    gpu.destroy_queue();
    expect_nothing_left(gpu);
    gpu.create_queue();
  }
  gpu.reuse_code();
  load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
  const std::uint64_t before = sum(gpu, DuploCount::look_ups);
  gpu.run(load_tiles(c, 12), {kBase + kWorkspace, kBase + kResults}, 12, 256);
  EXPECT_GT(sum(gpu, DuploCount::look_ups), before);
  EXPECT_TRUE(gpu.memory(kResults, 0x800 * 12) == fresh);
  expect_nothing_left(gpu);
}

/// Tags of tiles of that form, at multiples of its rows and columns.
inline std::size_t different_tiles(const LoweredConvolution& c, const TileForm& form = {}) {
  const TileTags tags(c, DatumIds::exact);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint16_t>> all;
  for (unsigned row = 0; row < c.rows(); row += form.rows) {
    for (unsigned column = 0; column < c.columns(); column += form.columns) {
      const TileTag tag = tags.tag(row, column, form);
      all.insert({tag.first.image, tag.first.element, tag.filter_x, tag.filter_y});
    }
  }
  return all.size();
}

}  // namespace lacuna::test

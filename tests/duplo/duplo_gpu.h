// Devices with Duplo, workspaces in their memory, and kernels with a parameter block.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "models/common/host/worker_threads.h"
#include "models/duplo/duplo.h"
#include "tests/gpu/test_gpu.h"

namespace lacuna::test {

using DuploBlock = std::array<std::uint8_t, ParameterBlock::kBytes>;

inline constexpr std::uint64_t kBase = TestGpu::kBase;
inline constexpr std::uint64_t kImage = 0x8000;  ///< ELF header and symbols of the code object, offset in VRAM
inline constexpr std::uint64_t kWorkspace = TestGpu::kData;
inline constexpr std::uint64_t kResults = TestGpu::kData + 0x400000;
inline constexpr unsigned kElementBytes = LoweredConvolution::kElementBytes;

inline DuploBlock block_of(const LoweredConvolution& c, std::uint64_t workspace) {
  DuploBlock block{};
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

/// Fills the workspace: zeros in the padding; the other elements are pseudo-random values determined by their position in the
/// input.
inline void lower(TestGpu& gpu, const LoweredConvolution& c) {
  for (std::uint64_t row = 0; row < c.rows(); ++row) {
    for (unsigned column = 0; column < c.columns(); ++column) {
      const InputElement e = *c.element(row, column);
      const std::uint32_t place = ((e.image * 64 + e.y) * 64 + e.x) * 64 + e.channel;
      gpu.at<std::uint16_t>(kWorkspace + (row * c.pitch + column) * kElementBytes) =
          c.in_padding(e) ? 0 : static_cast<std::uint16_t>(place * 0x9e3779b1U >> 16 | 1);
    }
  }
}

/// A kernel of the loaded code object, and its parameter block.
struct KernelWithBlock {
  std::string name;
  DuploBlock block;
  std::uint64_t descriptor;                      ///< offset in VRAM
  std::uint64_t bytes = ParameterBlock::kBytes;  ///< size of the block's symbol
  std::uint64_t block_at = 0;  ///< offset of the block from the code object; 0: where load_symbols() writes it
};

/// Writes the dynamic symbols NAME.kd and NAME_duplo of kernels, and their parameter blocks, as a loader places them.
inline void load_symbols(TestGpu& gpu, const std::vector<KernelWithBlock>& kernels) {
  constexpr std::uint64_t kDynamic = 0x200, kSymbols = 0x300, kHash = 0x400, kStrings = 0x500, kBlocks = 0x600;
  ASSERT_LE(kSymbols + (1 + 2 * kernels.size()) * sizeof(Elf64_Sym), kHash);
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
  std::string strings(1, '\0');
  Elf64_Word symbols = 1;
  const auto add = [&](const std::string& name, std::uint64_t value, std::uint64_t bytes) {
    auto& symbol = (&gpu.at<Elf64_Sym>(kImage + kSymbols))[symbols++];
    symbol.st_name = static_cast<Elf64_Word>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    symbol.st_shndx = 1;
    symbol.st_value = value;
    symbol.st_size = bytes;
    strings += name + '\0';
  };
  std::uint64_t next_block = kBlocks;
  for (const KernelWithBlock& kernel : kernels) {
    add(kernel.name + ".kd", kernel.descriptor - kImage, 64);
    add(kernel.name + "_duplo", kernel.block_at == 0 ? next_block : kernel.block_at, kernel.bytes);
    std::memcpy(&gpu.at<std::uint8_t>(kImage + next_block), kernel.block.data(), kernel.block.size());
    next_block += kernel.block.size();
  }
  std::memcpy(&gpu.at<char>(kImage + kStrings), strings.data(), strings.size());
  gpu.words(kImage + kHash)[1] = symbols;
}

/// Writes the symbols of the next kernel.
inline void load_symbols(TestGpu& gpu, const std::string& name, const DuploBlock& block,
                         std::uint64_t bytes = ParameterBlock::kBytes) {
  load_symbols(gpu, {{.name = name, .block = block, .descriptor = gpu.next_descriptor(), .bytes = bytes}});
}

inline DuploParameters& duplo_of(GpuDeviceParameters& p) { return p.extensions.get<DuploParameterSet>().duplo; }

/// A function that changes the default parameters.
using Rule = std::function<void(DuploParameters&)>;

inline GpuDeviceParameters machine(const Rule& rule, DuploEntry entry = DuploEntry::tile) {
  GpuDeviceParameters p = small_gpu();
  p.gpu.target = isa::Target::gfx90a;
  p.extensions.add(std::make_unique<DuploParameterSet>());
  duplo_of(p).mode = DuploMode::on;
  duplo_of(p).entry = entry;
  rule(duplo_of(p));
  return p;
}

namespace rules {
inline void off(DuploParameters& d) { d.mode = DuploMode::off; }
/// Entries are released when the last of their loads retires.
inline void retire(DuploParameters&) {}
/// Allows any number of entries, which are never released.
inline void never(DuploParameters& d) {
  d.entries = 0;
  d.release = HistoryKeep::always;
}
inline void overwrite(DuploParameters& d) {
  d.release = HistoryKeep::until_overwritten;
  if (d.entry == DuploEntry::row) d.entries = 4096;
  d.ways = 4;
  d.l1 = DuploL1::after;
}
inline void simd(DuploParameters& d) {
  d.scope = DuploScope::simd;
  d.release = HistoryKeep::until_overwritten;
  d.hash = HistoryHash::shift;
}
inline void address(DuploParameters& d) {
  never(d);
  d.ids = DatumIds::address;
}
inline void paper(DuploParameters& d) {
  never(d);
  d.ids = DatumIds::paper;
}
/// Allows a single convolution at a time, and so few entries that many tiles map to each entry.
inline void few(DuploParameters& d) {
  d.entries = 8;
  d.hash = HistoryHash::low;
  d.convolutions = 1;
  d.release = HistoryKeep::until_overwritten;
}
}  // namespace rules

/// A device without Duplo, and a device for each rule.
struct RuleBench : sc_core::sc_module {
  explicit RuleBench(sc_core::sc_module_name module_name, DuploEntry entry = DuploEntry::tile)
      : sc_module(module_name),
        bound("bound", machine(rules::never, entry)),
        retire("retire", machine(rules::retire, entry)),
        threads("threads", machine(rules::retire, entry), &workers),
        overwrite("overwrite", machine(rules::overwrite, entry)),
        simd("simd", machine(rules::simd, entry)),
        address("address", machine(rules::address, entry)),
        paper("paper", machine(rules::paper, entry)),
        few("few", machine(rules::few, entry)) {}

  WorkerThreads workers{3};
  TestGpu off{"off", machine(rules::off)};
  TestGpu bound, retire, threads, overwrite, simd, address, paper, few;
  /// Devices with Duplo, except `threads`.
  const std::vector<TestGpu*> all{&bound, &retire, &overwrite, &simd, &address, &paper, &few};
};

inline std::uint64_t sum(TestGpu& gpu, DuploCount what) {
  std::uint64_t all = 0;
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units())
    all += unit->statistics().counts[static_cast<std::size_t>(what)];
  return all;
}

inline std::uint64_t sum(TestGpu& gpu, std::uint64_t DuploStatistics::*what) {
  std::uint64_t all = 0;
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units()) all += unit->statistics().*what;
  return all;
}

/// Checks that no load is in flight and that no entry is left.
inline void expect_nothing_left(TestGpu& gpu) {
  EXPECT_TRUE(gpu.device.idle());
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units()) {
    EXPECT_TRUE(unit->consistent());
    EXPECT_EQ(unit->entries(now()), 0U);
  }
}

/// Makes the device check its register maps at each change from now on.
inline void check_registers(TestGpu& gpu) {
  if (Duplo* const duplo = gpu.device.extension<Duplo>()) duplo->check_registers_at_each_change();
}

struct Outcome {
  KernelRecord record;
  std::vector<std::uint32_t> results;
  std::array<std::uint64_t, kDuploCounts> counts{};
  std::uint64_t invalidated = 0;   ///< entries released by an invalidation
  std::uint64_t kernel_ended = 0;  ///< entries released by the end of their kernel
  std::uint64_t operator[](DuploCount what) const { return counts.at(static_cast<std::size_t>(what)); }
  std::uint64_t misses() const {
    return (*this)[DuploCount::compulsory] + (*this)[DuploCount::released] + (*this)[DuploCount::conflict] +
           (*this)[DuploCount::capacity];
  }
  /// Number of released entries.
  std::uint64_t gone() const {
    std::uint64_t all = invalidated + kernel_ended;
    for (const DuploCount why :
         {DuploCount::retired, DuploCount::replaced, DuploCount::overwritten, DuploCount::ended, DuploCount::stores})
      all += (*this)[why];
    return all;
  }
};

/// A kernel that runs at the same time as another one, with workgroups of one wavefront.
struct KernelBeside {
  AssembledKernel kernel;
  std::vector<std::uint64_t> arguments;
  unsigned workgroups = 1;
  std::optional<DuploBlock> block = std::nullopt;
  unsigned lds_bytes = 0;
};

/// Runs a kernel over the workspace of a convolution. Kernel arguments: addresses of workspace and results. `beside`: kernel
/// that is dispatched just before this one; null: none.
inline Outcome run_with_block(TestGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups,
                              unsigned size, const DuploBlock& block, unsigned lds_bytes = 0,
                              const KernelBeside* beside = nullptr) {
  gpu.start();
  check_registers(gpu);
  lower(gpu, c);
  std::vector<KernelWithBlock> kernels;
  std::uint64_t descriptor = gpu.next_descriptor();
  if (beside != nullptr) {
    if (beside->block) kernels.push_back({.name = "beside", .block = *beside->block, .descriptor = descriptor});
    descriptor += TestGpu::code_address(1) - TestGpu::code_address(0);
  }
  kernels.push_back({.name = "k", .block = block, .descriptor = descriptor});
  load_symbols(gpu, kernels);
  gpu.mark();
  std::array<std::uint64_t, kDuploCounts> before{};
  const bool on = gpu.device.extension<Duplo>() != nullptr;
  for (std::size_t i = 0; on && i < kDuploCounts; ++i) before[i] = sum(gpu, static_cast<DuploCount>(i));
  const std::uint64_t invalidated = on ? sum(gpu, &DuploStatistics::invalidated) : 0;
  const std::uint64_t kernel_ended = on ? sum(gpu, &DuploStatistics::kernel_ended) : 0;
  Outcome outcome;
  if (beside != nullptr) gpu.dispatch(beside->kernel, beside->arguments, beside->workgroups, 64, beside->lds_bytes);
  gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, workgroups, size, lds_bytes);
  for (const KernelRecord& record : gpu.records) {
    if (record.name == "k") outcome.record = record;
    EXPECT_FALSE(record.failed);
  }
  EXPECT_TRUE(gpu.device.idle());
  outcome.results = gpu.memory(kResults, 0x800 * workgroups);
  if (!on) return outcome;
  for (std::size_t i = 0; i < kDuploCounts; ++i) outcome.counts[i] = sum(gpu, static_cast<DuploCount>(i)) - before[i];
  outcome.invalidated = sum(gpu, &DuploStatistics::invalidated) - invalidated;
  outcome.kernel_ended = sum(gpu, &DuploStatistics::kernel_ended) - kernel_ended;
  expect_nothing_left(gpu);
  // Every load that misses gets an entry, unless the lazy core holds a part of the load.
  if (outcome[DuploCount::partly_held] == 0) {
    EXPECT_EQ(outcome.gone(), outcome.misses());
  }
  EXPECT_EQ(outcome[DuploCount::look_ups] + outcome[DuploCount::asked_again],
            outcome[DuploCount::hits] + outcome[DuploCount::held] + outcome.misses());
  return outcome;
}

/// Compares the outcome of run(gpu) on the device of each rule with that on `off`, a device without Duplo.
template <typename Run>
void expect_results_with_all_rules(RuleBench& bench, const Outcome& off, std::uint64_t look_ups, const Run& run) {
  for (TestGpu* const gpu : bench.all) {
    SCOPED_TRACE(gpu->name());
    const Outcome on = run(*gpu);
    EXPECT_TRUE(on.results == off.results);
    EXPECT_EQ(on.record.wavefront_instructions, off.record.wavefront_instructions);
    EXPECT_EQ(on[DuploCount::look_ups], look_ups);
    // The formula printed in the paper leads to hits with wrong data.
    if (gpu != &bench.paper) {
      EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    }
    if (gpu == &bench.address) {
      EXPECT_EQ(on[DuploCount::hits_address], on[DuploCount::hits]);
    }
    if (gpu == &bench.simd) {
      EXPECT_EQ(on[DuploCount::hits_simd], on[DuploCount::hits]);
    }
    EXPECT_GE(on[DuploCount::hits], on[DuploCount::hits_in_flight]);
  }
}

/// The convolution with its one image outermost, and with two images of half the height innermost: the same number of rows.
inline std::array<LoweredConvolution, 2> with_both_orders(const LoweredConvolution& c) {
  LoweredConvolution innermost = c;
  innermost.order = RowOrder::images_innermost;
  innermost.images = 2;
  innermost.height = c.height / 2;
  return {c, innermost};
}

/// Number of different tags of tiles of form `form`, at multiples of its rows and columns.
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
/// Number of different tags of tiles of 16 rows and `columns` columns, at multiples of both.
inline std::size_t different_tiles(const LoweredConvolution& c, unsigned columns) {
  return different_tiles(c, {.rows = 16, .columns = static_cast<std::uint8_t>(columns)});
}

}  // namespace lacuna::test

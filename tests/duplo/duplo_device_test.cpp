// Whole devices with Duplo: the same results as without, each hit on equal data, as many of them as geometry allows, and errors
// of parameter blocks.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "models/common/config/guest_mistake.h"
#include "models/common/host/worker_threads.h"
#include "models/duplo/duplo.h"
#include "tests/neardata/near_data_gpu.h"

namespace lacuna::test {
namespace {

using Lines = std::vector<std::string>;

constexpr std::uint64_t kBase = NearDataGpu::kBase;
constexpr std::uint64_t kImage = 0x8000;  ///< ELF header and symbols of the code object, offset in VRAM
constexpr std::uint64_t kWorkspace = NearDataGpu::kData;
constexpr std::uint64_t kResults = NearDataGpu::kData + 0x400000;
constexpr unsigned kElementBytes = ParameterBlock::kElementBytes;

/// 256 rows of 144 elements: 16 x 9 tiles.
LoweredConvolution convolution() {
  LoweredConvolution c;
  c.height = c.width = 16;
  c.channels = 16;
  c.filter_height = c.filter_width = 3;
  c.pad_top = c.pad_left = c.pad_bottom = c.pad_right = 1;
  c.pitch = c.columns();
  return c;
}

std::array<std::uint8_t, ParameterBlock::kBytes> block_of(const LoweredConvolution& c, std::uint64_t workspace) {
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
void lower(NearDataGpu& gpu, const LoweredConvolution& c) {
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
void load_symbols(NearDataGpu& gpu, const std::string& name, const std::array<std::uint8_t, ParameterBlock::kBytes>& block,
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
/// `between`: lines after each batch. Arguments: workspace, results.
AssembledKernel load_tiles(const LoweredConvolution& c, unsigned in_flight = 1, const Lines& between = {}) {
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
  unsigned open = 0;
  const auto fold = [&] {
    lines.emplace_back("s_waitcnt vmcnt(0)");
    for (unsigned i = 0; i < open; ++i) {
      for (unsigned half = 0; half < 2; ++half) {
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

DuploParameters& duplo_of(GpuDeviceParameters& p) { return p.extensions.get<DuploParameterSet>().duplo; }

GpuDeviceParameters machine(void (*change)(DuploParameters&)) {
  GpuDeviceParameters p = small_machine();
  p.gpu.target = isa::Target::gfx90a;
  p.extensions = {};
  p.extensions.add(std::make_unique<DuploParameterSet>());
  duplo_of(p).mode = DuploMode::on;
  change(duplo_of(p));
  return p;
}

struct DuploBench : sc_core::sc_module {
  explicit DuploBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  WorkerThreads workers{3};
  NearDataGpu off{"off", machine([](DuploParameters& d) { d.mode = DuploMode::off; })};
  NearDataGpu bound{"bound", machine([](DuploParameters& d) {
                      d.entries = 0;
                      d.release = HistoryKeep::always;
                    })};
  NearDataGpu retire{"retire", machine([](DuploParameters&) {})};
  NearDataGpu threads{"threads", machine([](DuploParameters&) {}), &workers};
  NearDataGpu overwrite{"overwrite", machine([](DuploParameters& d) {
                          d.release = HistoryKeep::until_overwritten;
                          d.ways = 4;
                          d.l1 = DuploL1::after;
                        })};
  NearDataGpu simd{"simd", machine([](DuploParameters& d) {
                     d.scope = DuploScope::simd;
                     d.release = HistoryKeep::until_overwritten;
                     d.hash = HistoryHash::shift;
                   })};
  NearDataGpu address{"address", machine([](DuploParameters& d) {
                        d.ids = DatumIds::address;
                        d.entries = 0;
                        d.release = HistoryKeep::always;
                      })};
  NearDataGpu paper{"paper", machine([](DuploParameters& d) {
                      d.ids = DatumIds::paper;
                      d.entries = 0;
                      d.release = HistoryKeep::always;
                    })};
  NearDataGpu few{"few", machine([](DuploParameters& d) {
                    d.entries = 8;
                    d.hash = HistoryHash::low;
                    d.convolutions = 1;
                    d.release = HistoryKeep::until_overwritten;
                  })};
};

LACUNA_TEST_BENCH(DuploBench)

class DuploDevice : public testing::Test {
 protected:
  DuploBench& b_ = bench<DuploBench>();
};

std::uint64_t sum(NearDataGpu& gpu, DuploCount what) {
  std::uint64_t all = 0;
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units())
    all += unit->statistics().counts[static_cast<std::size_t>(what)];
  return all;
}

struct Outcome {
  KernelRecord record;
  std::vector<std::uint32_t> results;
  std::array<std::uint64_t, kDuploCounts> counts{};
  std::uint64_t operator[](DuploCount what) const { return counts.at(static_cast<std::size_t>(what)); }
};

/// `described`: by the parameter block; `c` is the convolution whose workspace the kernel loads.
Outcome run(NearDataGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups, unsigned size,
            const LoweredConvolution& described) {
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
  for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units()) {
    EXPECT_TRUE(unit->consistent());
    EXPECT_EQ(unit->entries(now()), 0U);
  }
  EXPECT_EQ(outcome[DuploCount::look_ups], outcome[DuploCount::hits] + outcome[DuploCount::compulsory] +
                                               outcome[DuploCount::released] + outcome[DuploCount::conflict] +
                                               outcome[DuploCount::capacity]);
  return outcome;
}

Outcome run(NearDataGpu& gpu, const LoweredConvolution& c, const AssembledKernel& kernel, unsigned workgroups, unsigned size) {
  return run(gpu, c, kernel, workgroups, size, c);
}

constexpr unsigned kTiles = 16 * 9;

std::size_t different_tiles(const LoweredConvolution& c) {
  const TileTags tags(c, DatumIds::exact);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint16_t>> all;
  for (unsigned row = 0; row < c.rows(); row += 16) {
    for (unsigned column = 0; column < c.columns(); column += 16) {
      const TileTag tag = tags.tag(row, column, {});
      all.insert({tag.first.image, tag.first.element, tag.filter_x, tag.filter_y});
    }
  }
  return all.size();
}

// With any number of entries that never go, everything but the first load of a tile hits.
TEST_F(DuploDevice, HitsAreLookUpsLessDifferentTiles) {
  const LoweredConvolution c = convolution();
  for (const unsigned in_flight : {1U, 4U, 12U}) {
    const Outcome off = run(b_.off, c, load_tiles(c, in_flight), 1, 64);
    const Outcome on = run(b_.bound, c, load_tiles(c, in_flight), 1, 64);
    EXPECT_TRUE(on.results == off.results);
    EXPECT_EQ(on[DuploCount::look_ups], kTiles);
    EXPECT_EQ(on[DuploCount::hits], kTiles - different_tiles(c));
    EXPECT_EQ(on[DuploCount::compulsory], different_tiles(c));
    EXPECT_EQ(on[DuploCount::hits_address], 0U);
    EXPECT_EQ(on[DuploCount::hits_simd], on[DuploCount::hits]);
    EXPECT_EQ(on[DuploCount::hits_wavefront], on[DuploCount::hits]);
    EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
    EXPECT_EQ(on[DuploCount::form] + on[DuploCount::exec] + on[DuploCount::control] + on[DuploCount::registers], 0U);
    EXPECT_LT(on.record.cycles, off.record.cycles);
    EXPECT_EQ(off.record.activity.requests - on.record.activity.requests, on[DuploCount::lines]);
  }
}

// Energy: a renamed load writes no register. A bound keeps no registers, and renames none.
TEST_F(DuploDevice, RenamedLoadsSpareRegisterWrites) {
  const LoweredConvolution c = convolution();
  const auto unwritten = [](NearDataGpu& gpu) {
    std::uint64_t sum = 0;
    for (const DetectionUnit* const unit : gpu.device.extension<Duplo>()->detection_units())
      sum += unit->statistics().unwritten;
    return sum;
  };
  constexpr unsigned kRegisters = 2;  // of a lane
  const std::uint64_t before = unwritten(b_.overwrite);
  const Outcome on = run(b_.overwrite, c, load_tiles(c, 12), 1, 64);
  EXPECT_GT(on[DuploCount::hits_simd], 0U);
  EXPECT_EQ(unwritten(b_.overwrite) - before, on[DuploCount::hits_simd] * kRegisters * 64);
  EXPECT_GT(run(b_.bound, c, load_tiles(c, 12), 1, 64)[DuploCount::hits_simd], 0U);
  EXPECT_EQ(unwritten(b_.bound), 0U);
}

TEST_F(DuploDevice, ResultsAreTheSameInAllConfigurations) {
  LoweredConvolution c = convolution();
  for (const RowOrder order : {RowOrder::images_outermost, RowOrder::images_innermost}) {
    c.order = order;
    c.images = order == RowOrder::images_outermost ? 1 : 2;
    c.height = order == RowOrder::images_outermost ? 16 : 8;
    for (const unsigned size : {64U, 256U}) {
      for (const unsigned in_flight : {1U, 12U}) {
        const AssembledKernel kernel = load_tiles(c, in_flight);
        const Outcome off = run(b_.off, c, kernel, 12, size);
        for (NearDataGpu* const gpu : {&b_.bound, &b_.retire, &b_.overwrite, &b_.simd, &b_.address, &b_.paper, &b_.few}) {
          SCOPED_TRACE(gpu->name());
          const Outcome on = run(*gpu, c, kernel, 12, size);
          EXPECT_TRUE(on.results == off.results);
          EXPECT_EQ(on.record.wavefront_instructions, off.record.wavefront_instructions);
          EXPECT_EQ(on[DuploCount::look_ups], std::uint64_t{kTiles} * 12 * (size / 64));
          if (gpu != &b_.paper) {
            EXPECT_EQ(on[DuploCount::hits_wrong], 0U);
          }
          if (gpu == &b_.address) {
            EXPECT_EQ(on[DuploCount::hits_address], on[DuploCount::hits]);
          }
          if (gpu == &b_.simd) {
            EXPECT_EQ(on[DuploCount::hits_simd], on[DuploCount::hits]);
          }
          EXPECT_GE(on[DuploCount::hits], on[DuploCount::hits_in_flight]);
        }
      }
    }
  }
}

// Results are those of the loads, and the run ends with an error.
TEST_F(DuploDevice, BlocksOfOtherConvolutionsFailTheCheck) {
  const LoweredConvolution c = convolution();
  LoweredConvolution other = c;
  other.filter_height = 9;
  other.filter_width = 1;
  other.pad_top = other.pad_bottom = 4;
  other.pad_left = other.pad_right = 0;
  ASSERT_EQ(other.columns(), c.columns());
  ASSERT_EQ(other.rows(), c.rows());
  const AssembledKernel kernel = load_tiles(c);
  const Outcome off = run(b_.off, c, kernel, 1, 256, other);
  clear_guest_mistakes();
  const Outcome right = run(b_.bound, c, kernel, 1, 256);
  EXPECT_FALSE(any_failed_check());
  const Outcome wrong = run(b_.bound, c, kernel, 1, 256, other);
  EXPECT_EQ(right.results, off.results);
  EXPECT_EQ(wrong.results, off.results);
  EXPECT_GT(wrong[DuploCount::hits_wrong], 0U);
  EXPECT_TRUE(any_failed_check());
  // The printed formula errs by itself.
  clear_guest_mistakes();
  run(b_.paper, c, kernel, 1, 256, other);
  EXPECT_FALSE(any_failed_check());
}

// Wavefronts of a workgroup are on different SIMDs and load the same tiles at the same time.
TEST_F(DuploDevice, LoadsInFlightServeOtherWavefronts) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 4);
  const Outcome core = run(b_.retire, c, kernel, 1, 256);
  EXPECT_GT(core[DuploCount::hits_in_flight], kTiles);
  EXPECT_GT(core[DuploCount::hits_address], kTiles);
  EXPECT_LT(core[DuploCount::hits_simd], core[DuploCount::hits]);
  EXPECT_EQ(run(b_.threads, c, kernel, 12, 256).record.cycles, run(b_.retire, c, kernel, 12, 256).record.cycles);
}

// Retired entries are not found: one load at a time has nothing in flight.
TEST_F(DuploDevice, RetiredLoadsAreGone) {
  const LoweredConvolution c = convolution();
  const Outcome retire = run(b_.retire, c, load_tiles(c, 1), 1, 64);
  EXPECT_EQ(retire[DuploCount::hits], 0U);
  EXPECT_EQ(retire[DuploCount::released], kTiles - different_tiles(c));
  // The one register pair is overwritten by the next load.
  EXPECT_EQ(run(b_.overwrite, c, load_tiles(c, 1), 1, 64)[DuploCount::hits], 0U);
}

TEST_F(DuploDevice, StoresIntoTheWorkspaceDropEntries) {
  const LoweredConvolution c = convolution();
  // A lane stores what is there: nothing changes.
  const AssembledKernel kernel = load_tiles(c, 12,
                                            {"v_mov_b32 v5, s9", "v_mov_b32 v4, s8", "global_load_dword v1, v[4:5], off",
                                             "s_waitcnt vmcnt(0)", "global_store_dword v[4:5], v1, off"});
  const Outcome off = run(b_.off, c, kernel, 1, 64);
  const Outcome on = run(b_.overwrite, c, kernel, 1, 64);
  EXPECT_TRUE(on.results == off.results);
  EXPECT_GT(on[DuploCount::stores], 0U);
  EXPECT_GT(on[DuploCount::form], 0U);
  EXPECT_LT(on[DuploCount::hits], run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits]);
}

// What other units have stored may be visible behind it.
TEST_F(DuploDevice, InvalidationsDropEntries) {
  const LoweredConvolution c = convolution();
  const auto invalidated = [&] {
    std::uint64_t all = 0;
    for (const DetectionUnit* const unit : b_.overwrite.device.extension<Duplo>()->detection_units())
      all += unit->statistics().invalidated;
    return all;
  };
  const std::uint64_t without = run(b_.overwrite, c, load_tiles(c, 12), 1, 64)[DuploCount::hits];
  const std::uint64_t before = invalidated();
  const Outcome with = run(b_.overwrite, c, load_tiles(c, 12, {"buffer_wbinvl1_vol"}), 1, 64);
  EXPECT_GT(invalidated(), before);
  EXPECT_LT(with[DuploCount::hits], without);
  EXPECT_TRUE(with.results == run(b_.off, c, load_tiles(c, 12), 1, 64).results);
}

// The second of two kernels has the number of the first one.
TEST_F(DuploDevice, KernelsAreCountedApart) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 12);
  NearDataGpu& gpu = b_.overwrite;
  const Outcome first = run(gpu, c, kernel, 1, 64);
  const std::uint64_t before = sum(gpu, DuploCount::compulsory);
  load_symbols(gpu, "k", block_of(c, kBase + kWorkspace));
  gpu.run(kernel, {kBase + kWorkspace, kBase + kResults}, 1, 64);
  EXPECT_EQ(sum(gpu, DuploCount::compulsory) - before, first[DuploCount::compulsory]);
}

// A kernel without a block, and one that is served with others at the same time.
TEST_F(DuploDevice, KernelsWithoutABlockTakeTheSameCycles) {
  const LoweredConvolution c = convolution();
  const AssembledKernel kernel = load_tiles(c, 4);
  std::vector<std::uint64_t> cycles;
  for (NearDataGpu* const gpu : {&b_.off, &b_.retire}) {
    gpu->start();
    lower(*gpu, c);
    gpu->mark();
    cycles.push_back(gpu->run(kernel, {kBase + kWorkspace, kBase + kResults}, 4, 256).cycles);
  }
  EXPECT_EQ(cycles[0], cycles[1]);
}

// -- blocks

TEST(ParameterBlock, ReadsWhatProgramsWrite) {
  LoweredConvolution c = convolution();
  c.images = 3;
  c.width = 20;
  c.stride_x = 2;
  c.pad_right = 5;
  c.pitch = 160;
  c.order = RowOrder::images_innermost;
  const auto bytes = block_of(c, 0x7000);
  const auto read = ParameterBlock::read(reinterpret_cast<const std::byte*>(bytes.data()));
  const auto* const block = std::get_if<ParameterBlock>(&read);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->workspace, 0x7000U);
  EXPECT_EQ(block->convolution.images, 3U);
  EXPECT_EQ(block->convolution.width, 20U);
  EXPECT_EQ(block->convolution.stride_x, 2U);
  EXPECT_EQ(block->convolution.pad_right, 5U);
  EXPECT_EQ(block->convolution.pitch, 160U);
  EXPECT_EQ(block->convolution.order, RowOrder::images_innermost);
}

TEST(ParameterBlock, SaysWhatIsWrong) {
  const auto problem = [](std::size_t at, std::uint8_t value) {
    auto bytes = block_of(convolution(), 0x7000);
    bytes.at(at) = value;
    const auto read = ParameterBlock::read(reinterpret_cast<const std::byte*>(bytes.data()));
    const auto* const text = std::get_if<std::string>(&read);
    return text == nullptr ? std::string() : *text;
  };
  EXPECT_EQ(problem(0, 4), "workspace is at an address that is 4 bytes behind a multiple of 16; it is a multiple of 16");
  EXPECT_EQ(problem(8, 1), "pitch is 1; a row of the workspace has 144 elements");
  EXPECT_EQ(problem(20, 30), "filter height is 30; the padded input has 18 rows");
  EXPECT_EQ(problem(22, 0), "vertical stride is 0; it is at least 1");
  EXPECT_EQ(problem(28, 2), "form is 2; it is 0: the workspace is in memory");
  EXPECT_EQ(problem(29, 2), "row order is 2; it is 0 (images outermost) or 1 (images innermost)");
  EXPECT_EQ(problem(31, 1), "bytes 30 and 31 is 256; they are 0");
}

TEST_F(DuploDevice, WrongBlocksRefuseTheDispatch) {
  const LoweredConvolution c = convolution();
  NearDataGpu& gpu = b_.retire;
  auto unmapped = block_of(c, 0x70000000);
  auto zero = block_of(c, kBase + kWorkspace);
  zero[22] = 0;
  const auto right = block_of(c, kBase + kWorkspace);
  struct Case {
    const std::array<std::uint8_t, ParameterBlock::kBytes>& block;
    std::uint64_t bytes;
    const char* says;
  };
  for (const Case& one : {Case{unmapped, 32, "the workspace of 73728 bytes is not mapped"},
                          Case{zero, 32, "k_duplo: vertical stride is 0; it is at least 1"},
                          Case{right, 24, "k_duplo has 24 bytes; a parameter block of Duplo has 32"}}) {
    gpu.start();
    load_symbols(gpu, "k", one.block, one.bytes);
    Dispatch dispatch;
    dispatch.kernel = "k";
    dispatch.packet.kernel_object = kBase + gpu.next_descriptor();
    const std::string why = gpu.device.extension<Duplo>()->dispatch_check()->refusal(dispatch).value_or("");
    EXPECT_NE(why.find(one.says), std::string::npos) << why;
    gpu.dispatch(load_tiles(c), {kBase + kWorkspace, kBase + kResults});
    wait_for(Tick{100'000'000});
    EXPECT_FALSE(gpu.done());
    gpu.destroy_queue();
  }
}

}  // namespace
}  // namespace lacuna::test

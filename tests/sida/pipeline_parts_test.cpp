// Tests parts of the pipeline: cycle formulas, memory, derived parameters, lines of the buffer.
#include <gtest/gtest.h>

#include "models/sida/pipeline/core_cycles.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "models/sida/pipeline/line_cache.h"
#include "tests/sida/pipeline_pass.h"

namespace lacuna::sida {
namespace {

TEST(CoreCycles, FollowFromEntriesPesAndProducts) {
  PassShape shape;
  EXPECT_EQ(os_cycles(0, shape, 1024), 0U);
  EXPECT_EQ(os_cycles(1, shape, 1024), 1U);
  EXPECT_EQ(os_cycles(1024, shape, 1024), 1U);
  EXPECT_EQ(os_cycles(1025, shape, 1024), 2U);
  shape.products_per_entry = 16;
  EXPECT_EQ(os_cycles(1025, shape, 1024), 17U);
  shape.products_per_pe = 4;
  EXPECT_EQ(os_cycles(1025, shape, 1024), 5U);
  EXPECT_EQ(tree_stages(1024), 10U);
  EXPECT_EQ(tree_stages(1000), 10U);
  EXPECT_EQ(tree_stages(1), 0U);
  const ElementCode code{.read_bytes = 0, .written_bytes = 0, .instructions = 400, .reductions = 0};
  EXPECT_EQ(ewise_cycles(1024, code, 1024), 400U + 400);
  EXPECT_EQ(ewise_cycles(1025, code, 1024), 401U + 400);
  EXPECT_EQ(ewise_cycles(0, code, 1024), 0U);
}

TEST(ScatterGroups, ProductsForTheSameSumConflict) {
  PassShape shape;
  shape.z_length = 10;
  // Groups of four: (0 1 2 3) (3 0 1 3) (3 5).
  const std::vector<Index> first{0, 1, 2, 3}, second{3}, third{0, 1, 3}, fourth{3, 5};
  for (const auto& [scatter, charged] : {std::pair{Scatter::serial, 1U}, {Scatter::tree, 1U}}) {
    ScatterGroups groups(shape, 4, scatter);
    for (const auto* row : {&first, &second, &third, &fourth}) groups.add(*row);
    EXPECT_EQ(groups.end(), 3U + charged);
    EXPECT_EQ(groups.conflicts(), 1U);
    EXPECT_EQ(groups.conflict_cycles(), charged);
    EXPECT_EQ(groups.end(), 0U);
  }
  // Four products for one sum cost three additional cycles (serial) or two stages (tree).
  const std::vector<Index> one{7};
  for (const auto& [scatter, charged] : {std::pair{Scatter::serial, 3U}, {Scatter::tree, 2U}}) {
    ScatterGroups groups(shape, 4, scatter);
    for (int i = 0; i < 4; ++i) groups.add(one);
    EXPECT_EQ(groups.end(), 1U + charged);
    EXPECT_EQ(groups.conflicts(), 3U);
  }
}

TEST(ScatterGroups, CountsTheSameAfterManyGroups) {
  // Groups are so large that few bits of a mark are left for the group number, which wraps around in this test.
  PassShape shape;
  shape.z_length = 3;
  ScatterGroups groups(shape, (1U << 23) - 1, Scatter::serial);
  const std::vector<Index> row{0, 2};
  for (int i = 0; i < 3000; ++i) {
    groups.add(row);
    ASSERT_EQ(groups.end(), 1U);
  }
  groups.add(row);
  groups.add(row);
  EXPECT_EQ(groups.end(), 2U);
}

TEST(ScatterGroups, AgreesWithCountingOneByOne) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    PassShape shape;
    shape.z_length = 1 + random.below(40);
    shape.products_per_entry = 1 + random.below(6);
    const unsigned pes = 1 + random.below(20);
    ScatterGroups groups(shape, pes, Scatter::serial);
    const unsigned per_group = std::max(1U, pes / shape.products_per_entry);
    const unsigned cycles_per_group = (shape.products_per_entry + pes - 1) / pes;
    std::vector<Index> sums;
    for (Index n = random.below(200); n > 0; --n) sums.push_back(random.below(static_cast<Index>(shape.z_length)));
    Time expected = 0;
    for (std::size_t begin = 0; begin < sums.size(); begin += per_group) {
      std::size_t most = 0;
      const auto end = sums.begin() + static_cast<std::ptrdiff_t>(std::min(sums.size(), begin + per_group));
      for (Index sum = 0; sum < shape.z_length; ++sum)
        most =
            std::max(most, static_cast<std::size_t>(std::count(sums.begin() + static_cast<std::ptrdiff_t>(begin), end, sum)));
      expected += most * cycles_per_group;
    }
    groups.add(sums);
    ASSERT_EQ(groups.end(), expected);
  }
}

TEST(IdealMemory, ReadsTakeBandwidthAndALatency) {
  IdealMemory memory(512, 150);
  const auto request = [](std::uint64_t bytes) { return MemoryRequest{MemoryKind::csc, Operand::os_order, 0, bytes}; };
  EXPECT_EQ(memory.read(request(512), 0), 151U);
  EXPECT_EQ(memory.read(request(1), 0), 152U);
  EXPECT_EQ(memory.read(request(511), 0), 152U);  // shares a cycle with the previous request
  EXPECT_EQ(memory.read(request(512), 10), 161U);
  EXPECT_EQ(memory.write(request(1024), 10), 13U);
  EXPECT_EQ(memory.bytes(), 512U + 1 + 511 + 512 + 1024);
  EXPECT_EQ(memory.bytes(MemoryKind::csc), memory.bytes());
  EXPECT_EQ(memory.out_of_order(), 0U);
  memory.read(request(1), 5);
  EXPECT_EQ(memory.out_of_order(), 1U);
  EXPECT_THROW(IdealMemory(0), PassError);
}

TEST(LineCache, AUsedLineStaysForAnotherRound) {
  LineCache cache(8, 30);
  std::vector<Index> left;
  const auto use = [&](Index line) {
    return cache.use(line, 10, [&left](Index oldest) {
      left.push_back(oldest);
      return std::uint64_t{10};
    });
  };
  for (const Index line : {0U, 1U, 2U}) EXPECT_FALSE(use(line));
  // All lines are marked as used: the hand passes each of them once and evicts line 0, whose slot line 3 takes.
  EXPECT_FALSE(use(3));
  EXPECT_EQ(left, (std::vector<Index>{0}));
  EXPECT_TRUE(use(1));
  EXPECT_FALSE(use(4));
  EXPECT_EQ(left, (std::vector<Index>{0, 2}));
  EXPECT_TRUE(cache.holds(1));
  EXPECT_EQ(cache.bytes(), 30U);
  cache.drop(1, 10);
  EXPECT_FALSE(cache.holds(1));
  EXPECT_EQ(cache.bytes(), 20U);
  EXPECT_FALSE(use(5));
  EXPECT_EQ(left.size(), 2U);
}

TEST(LineCache, StaysConsistentAtRandom) {
  Random random(31);
  LineCache cache(50, 170);
  std::vector<std::uint64_t> held(50);
  std::uint64_t bytes = 0, hits = 0;
  for (int i = 0; i < 20000; ++i) {
    const Index line = random.below(50);
    const std::uint64_t size = 10 + line % 3 * 10;
    if (random.below(5) == 0) {
      if (held[line] != 0) cache.drop(line, size);
      bytes -= held[line];
      held[line] = 0;
    } else {
      const bool hit = cache.use(line, size, [&](Index oldest) {
        EXPECT_NE(held[oldest], 0U);
        bytes -= held[oldest];
        return std::exchange(held[oldest], 0);
      });
      EXPECT_EQ(hit, held[line] != 0);
      hits += hit ? 1 : 0;
      bytes += hit ? 0 : size;
      held[line] = size;
    }
    ASSERT_EQ(cache.bytes(), bytes);
    ASSERT_LE(bytes, 170U);
    for (Index l = 0; l < 50; ++l) ASSERT_EQ(cache.holds(l), held[l] != 0);
  }
  EXPECT_GT(hits, 1000U);
}

TEST(PipelineParameters, SubTensorHasTwiceLatencyTimesBandwidth) {
  TestPass pass(generated("random:rows=100000,entries=1200000"));
  PipelineParameters p;
  // 12 entries of 12 bytes per column: 153,600 bytes require 1,067 columns, rounded up to a power of two.
  EXPECT_EQ(sub_tensor_of(pass.shape, p), 2048U);
  p.memory_latency = 70;
  EXPECT_EQ(sub_tensor_of(pass.shape, p), 512U);
  p.memory_latency = 0;
  EXPECT_EQ(sub_tensor_of(pass.shape, p), 64U);
  pass.shape.block_side = 48;
  EXPECT_EQ(sub_tensor_of(pass.shape, p), 192U);
  p.sub_tensor = 7;
  EXPECT_THROW(validate(p, pass.shape), PassError);
}

TEST(PipelineParameters, TheSmallestBufferRunsAndLessIsRefused) {
  Random random(21);
  for (int i = 0; i < 300; ++i) {
    TestPass pass(odd_matrix(random));
    const Index n = pass.columns.columns;
    for (const std::uint64_t columns : {std::uint64_t{1}, std::uint64_t{n} + 5}) {
      PipelineParameters p;
      p.sub_tensor = columns;
      EXPECT_EQ(smallest_buffer(pass.shape, p), 3U * 128 + 12);
      p.buffer_bytes = 3 * 128 + 12;
      IdealMemory memory;
      PassPipeline pipeline(pass.shape, p, memory);
      const PassCounts& counts = pipeline.run();
      ASSERT_EQ(counts.is_used, pass.columns.entries());
      ASSERT_LE(counts.buffer_peak, p.buffer_bytes);
      p.buffer_bytes -= 1;
      try {
        PassPipeline refused(pass.shape, p, memory);
        FAIL() << "a buffer of 395 bytes is too small";
      } catch (const PassError& error) {
        EXPECT_NE(std::string(error.what()).find("at least 396"), std::string::npos) << error.what();
      }
    }
  }
}

TEST(PipelineParameters, RejectsIncompatibleParameters) {
  TestPass pass(generated("random:rows=100,entries=500"));
  IdealMemory memory;
  const auto refused = [&memory](const PassShape& shape, const PipelineParameters& p, const char* name) {
    try {
      PassPipeline pipeline(shape, p, memory);
    } catch (const PassError& error) {
      return std::string(error.what()).find(name) != std::string::npos;
    }
    return false;
  };
  PipelineParameters p;
  EXPECT_FALSE(refused(pass.shape, p, ""));
  PassShape shape = pass.shape;
  shape.x_length = 99;
  EXPECT_TRUE(refused(shape, p, "length of x"));
  shape = pass.shape;
  shape.z_length = 101;
  EXPECT_TRUE(refused(shape, p, "lengths of z and y"));
  shape = pass.shape;
  shape.has_os = false;
  EXPECT_TRUE(refused(shape, p, "by columns"));
  shape = pass.shape;
  shape.os.coordinates = shape.os.coordinates.first(3);
  EXPECT_TRUE(refused(shape, p, "OS order"));
  shape = pass.shape;
  shape.entry_bytes = 0;
  EXPECT_TRUE(refused(shape, p, "byte"));
  std::vector<std::uint64_t> falling = pass.columns.offsets;
  std::swap(falling[10], falling[60]);
  shape = pass.shape;
  shape.os.offsets = falling;
  EXPECT_TRUE(refused(shape, p, "fall"));
  p.is_pes = 0;
  EXPECT_TRUE(refused(pass.shape, p, "PE"));
  p = {};
  p.bytes_per_cycle = 0;
  EXPECT_TRUE(refused(pass.shape, p, "bandwidth"));
  p = {};
  p.repack_threshold = -1;
  EXPECT_TRUE(refused(pass.shape, p, "repack_threshold"));
}

TEST(VectorLines, LiveFromTheFirstToTheLastUse) {
  // Lines have 16 elements and T = 16, so line i holds sub-tensor i. Entries: (0, 0), (0, 40), (40, 20).
  Coordinates c;
  c.rows = c.columns = 48;
  c.add(0, 0);
  c.add(0, 40);
  c.add(40, 20);
  TestPass pass(by_columns(std::move(c)));
  const LineLives x = x_lives(pass.shape, 16, 128), w = w_lives(pass.shape, 16, 128), z = z_lives(pass.shape, 16, 128);
  EXPECT_EQ(x.first, (std::vector<std::uint32_t>{0, StepLists::kNever, 1}));
  EXPECT_EQ(x.last, (std::vector<std::uint32_t>{2, 0, 1}));
  // w of row 0 is live from E-wise in step 1 to its use with column 40 in step 2, w of row 40 from step 3 to its row's use in
  // step 4.
  EXPECT_EQ(w.first, (std::vector<std::uint32_t>{1, StepLists::kNever, 3}));
  EXPECT_EQ(w.last, (std::vector<std::uint32_t>{2, 0, 4}));
  // Sum 0 is used with row 0 in step 2, sum 20 with row 40 in step 4, sum 40 with row 0 in step 2. Any other sum c is finished
  // in step c / 16 + 2.
  EXPECT_EQ(z.first, (std::vector<std::uint32_t>{2, 3, 2}));
  EXPECT_EQ(z.last, (std::vector<std::uint32_t>{2, 4, 4}));
  // T = 4: column 40 is in sub-tensor 10, as is row 40.
  EXPECT_EQ(w_lives(pass.shape, 4, 128).last, (std::vector<std::uint32_t>{10, 0, 12}));
  EXPECT_EQ(x_lives(pass.shape, 4, 128).last, (std::vector<std::uint32_t>{10, 0, 5}));
}

TEST(VectorLines, EarlySumsOccupyTheirLineUntilFinished) {
  Coordinates c;
  c.rows = c.columns = 48;
  c.add(0, 40);
  TestPass pass(by_columns(std::move(c)));
  VectorLines lines(pass.shape, 4, 14, 128, 100000);
  // The line of sums 32 to 47 is live from step 10 on, in which sum 40 is used and sums 32 to 35 are finished.
  const std::uint64_t before = lines.held(3).z;
  EXPECT_FALSE(lines.use_early(40, 3, false));
  EXPECT_EQ(lines.early_bytes(), 0U);
  EXPECT_TRUE(lines.use_early(40, 3, true));
  EXPECT_TRUE(lines.use_early(41, 3, false));
  EXPECT_EQ(lines.early_bytes(), 128U);
  EXPECT_EQ(lines.held(3).z, before + 128);
  for (std::uint64_t step = 3; step < 10; ++step) lines.end_step(step);
  EXPECT_EQ(lines.early_bytes(), 0U);
  EXPECT_TRUE(lines.use_early(40, 10, false));
}

TEST(RequestIssuer, HeldRequestsAreMadeInOrderOfDeparture) {
  IdealMemory memory(1, 10);
  PassCounts counts;
  RequestIssuer issuer(memory, counts);
  const MemoryRequest request{MemoryKind::x, Operand::load, 0, 100};
  std::vector<MemoryRequest> reads{request}, writes{request}, later{request};
  Arrival first, last, now;
  issuer.hold_writes(writes, 20);
  issuer.hold_reads(reads, 5, first);
  issuer.hold_reads(later, 1000, last);
  EXPECT_EQ(memory.requests(), 0U);
  EXPECT_FALSE(first.known());
  // Order of service: the held read (cycles 5 to 105), the held write (to 205), then this read.
  issuer.read(request, 30, now);
  EXPECT_EQ(now.at(), 305U + 10);
  EXPECT_EQ(first.at(), 105U + 10);
  EXPECT_EQ(memory.out_of_order(), 0U);
  EXPECT_FALSE(last.known());
  EXPECT_FALSE(issuer.all().known());
  issuer.release(1000);
  EXPECT_EQ(last.at(), 1100U + 10);
  EXPECT_TRUE(issuer.all().known());
  EXPECT_EQ(issuer.all().at(), 1100U + 10);
  EXPECT_EQ(counts.read(MemoryKind::x), 300U);
  EXPECT_EQ(counts.written(MemoryKind::x), 100U);
  EXPECT_EQ(counts.requests, 4U);
}

}  // namespace
}  // namespace lacuna::sida

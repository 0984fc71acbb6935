// Tests the traffic estimator, the CSR loader, and the benefit of eagerly loading rows.
#include <gtest/gtest.h>

#include "models/sida/pipeline/ideal_memory.h"
#include "tests/sida/pipeline_pass.h"

namespace lacuna::sida {
namespace {

PassCounts run_pass(const TestPass& pass, const PipelineParameters& p, std::vector<StepTrace>* trace = nullptr) {
  IdealMemory memory(p.bytes_per_cycle, p.memory_latency);
  PassPipeline pipeline(pass.shape, p, memory);
  pipeline.run();
  if (trace != nullptr) *trace = pipeline.trace();
  return pipeline.counts();
}

/// A matrix for which `per_column` entries are drawn in each column, and `heavy` times that number in each column of every
/// eighth sub-tensor of `width` columns.
SparseMatrix uneven(Index n, Index width, Index per_column, Index heavy) {
  Random random(5);
  Coordinates c;
  c.rows = c.columns = n;
  for (Index column = 0; column < n; ++column) {
    const Index entries = per_column * (column / width % 8 == 7 ? heavy : 1);
    for (Index e = 0; e < entries; ++e) c.add(random.below(n), column);
  }
  return by_columns(std::move(c));
}

TEST(TrafficEstimate, EagerEntriesFillTheBandwidthThatACoreLeaves) {
  const TrafficEstimate memory = estimate_traffic(51200, 99, 100, 512, 12);
  EXPECT_EQ(memory.load, 100U);
  EXPECT_EQ(memory.x, 100U);
  EXPECT_EQ(memory.r, 0U);
  const TrafficEstimate os = estimate_traffic(51201, 104, 100, 512, 12);
  EXPECT_EQ(os.load, 101U);
  EXPECT_EQ(os.x, 104U);
  EXPECT_EQ(os.r, 3U * 512 / 12);
  EXPECT_EQ(estimate_traffic(51200, 99, 160, 512, 8).r, 60U * 64);
}

TEST(PipelineEager, FetchesNothingWhenMemoryBound) {
  for (const char* kind : {"random:rows=50000,entries=600000", "power:rows=50000,entries=600000", "mesh3d:rows=50000"}) {
    TestPass pass(generated(kind));
    pass.make_pagerank();
    PipelineParameters p;
    p.trace = true;
    std::vector<StepTrace> trace;
    const PassCounts counts = run_pass(pass, p, &trace);
    ASSERT_GT(trace.size(), 10U);
    // The last four steps are excluded: all sub-tensors have been loaded, so nothing is left to fetch.
    for (std::size_t s = 0; s + 4 < trace.size(); ++s) EXPECT_EQ(trace[s].r_given, 0U) << kind << " step " << s;
    EXPECT_EQ(counts.r_used, 0U);
  }
}

TEST(PipelineEager, FewPesLeaveBandwidthForRows) {
  TestPass pass(generated("random:rows=20000,entries=240000"));
  pass.make_pagerank();
  PipelineParameters p;
  p.os_pes = p.ewise_pes = p.is_pes = 16;
  const PassCounts counts = run_pass(pass, p);
  EXPECT_GT(counts.r_given, 0U);
  EXPECT_GT(counts.r_used, counts.entries / 100);
  EXPECT_GT(counts.converted_to_columns, 0U);
}

TEST(PipelineEager, GainsWithLongCodeAndUnevenColumns) {
  constexpr Index kWidth = 1024;
  TestPass pass(uneven(96 * kWidth, kWidth, 16, 10));
  pass.shape.ewise = {.read_bytes = 8, .written_bytes = 0, .instructions = 400, .reductions = 0};
  PipelineParameters p;
  p.sub_tensor = kWidth;
  const PassCounts with = run_pass(pass, p);
  p.eager = Eager::off;
  const PassCounts without = run_pass(pass, p);
  const double gain = static_cast<double>(without.cycles) / static_cast<double>(with.cycles);
  EXPECT_GE(gain, 1.1);
  // An independent model uses 0.74 and 0.85 of the bandwidth.
  EXPECT_NEAR(without.utilisation(512), 0.74, 0.03);
  EXPECT_NEAR(with.utilisation(512), 0.85, 0.03);
  EXPECT_EQ(without.r_used, 0U);
}

TEST(PipelineEager, IsNeverSlowerWithoutOpportunities) {
  for (const char* kind : {"random:rows=30000,entries=360000", "power:rows=30000,entries=360000", "road:rows=30000"}) {
    TestPass pass(generated(kind));
    pass.make_pagerank();
    for (const unsigned instructions : {8U, 100U, 400U}) {
      pass.shape.ewise.instructions = instructions;
      PipelineParameters p;
      const Time with = run_pass(pass, p).cycles;
      p.eager = Eager::off;
      EXPECT_LE(static_cast<double>(with), 1.01 * static_cast<double>(run_pass(pass, p).cycles)) << kind << " " << instructions;
    }
  }
}

// Six columns. Row 0 is full: it has the first entry of each column, which must be fetched before the column's entries in other
// rows.
struct CsrLoaderTest : testing::Test {
  static SparseMatrix matrix() {
    Coordinates c;
    c.rows = c.columns = 6;
    for (Index column = 0; column < 6; ++column) c.add(0, column);
    for (const Index column : {0U, 2U, 4U, 5U}) c.add(1, column);
    c.add(2, 0);
    c.add(2, 5);
    c.add(4, 3);
    return by_columns(std::move(c));
  }
  TestPass pass{matrix()};
  VectorLines lines{pass.shape, 1, 8, 128, std::nullopt};
};

TEST_F(CsrLoaderTest, FetchesTheMeanOfTheRowsAbove) {
  CsrLoader loader(pass.shape, 1, Balance::mean);
  // Columns below 2 have been requested, so T = 2, 1, 1 for rows 0 to 2. The limit of a row is the mean of T over the rows up
  // to it: row 0: 2 / 1 = 2; row 1: (4 + 1) / 2 = 2; row 2: (4 + 3 + 1) / 3 = 2, but only one entry is left.
  EXPECT_EQ(loader.fetch({.step = 2, .entries = 100, .known_rows = 3, .frontier = 2, .room_bytes = 10000}, lines), 5U);
  ASSERT_EQ(loader.segments().size(), 3U);
  EXPECT_EQ(loader.segments()[0].end - loader.segments()[0].begin, 2U);  // columns 2, 3
  EXPECT_EQ(loader.segments()[1].end - loader.segments()[1].begin, 2U);  // columns 2, 4
  EXPECT_EQ(loader.segments()[2].end - loader.segments()[2].begin, 1U);  // column 5
  // (1, 4) and (2, 5) are discarded, since the first entries of columns 4 and 5, in row 0, have not been fetched.
  EXPECT_EQ(loader.converted(), 3U);
  EXPECT_EQ(loader.discarded(), 2U);
  EXPECT_EQ(loader.held(2), 2U);
  EXPECT_EQ(loader.held(3), 1U);
  EXPECT_EQ(loader.held(4), 0U);
  EXPECT_EQ(loader.used_early(5), 1U);
}

TEST_F(CsrLoaderTest, PrintedAddsACountToACoordinate) {
  CsrLoader loader(pass.shape, 1, Balance::printed);
  // Columns c to c + sum(T) / r: row 0: columns 2 to 4 (by 2 / 1 = 2); row 1: 2 to 8 (by (5 + 1) / 1 = 6); row 2: 5 to 10 (by
  // (5 + 4 + 1) / 2 = 5).
  EXPECT_EQ(loader.fetch({.step = 2, .entries = 100, .known_rows = 3, .frontier = 2, .room_bytes = 10000}, lines), 3U + 3 + 1);
}

TEST_F(CsrLoaderTest, StopsAtTheEntryLimitOrWhenTheBufferIsFull) {
  CsrLoader few(pass.shape, 1, Balance::mean);
  EXPECT_EQ(few.fetch({.step = 2, .entries = 3, .known_rows = 3, .frontier = 2, .room_bytes = 10000}, lines), 3U);
  CsrLoader narrow(pass.shape, 1, Balance::mean);
  VectorLines all_live(pass.shape, 6, 3, 128, std::nullopt);
  EXPECT_EQ(narrow.fetch({.step = 2, .entries = 100, .known_rows = 3, .frontier = 2, .room_bytes = 24}, all_live), 2U);
  CsrLoader none(pass.shape, 1, Balance::mean);
  EXPECT_EQ(none.fetch({.step = 2, .entries = 100, .known_rows = 3, .frontier = 6, .room_bytes = 10000}, lines), 0U);
  EXPECT_EQ(none.fetch({.step = 2, .entries = 100, .known_rows = 0, .frontier = 2, .room_bytes = 10000}, lines), 0U);
}

TEST_F(CsrLoaderTest, ResumesWhereItStopped) {
  CsrLoader loader(pass.shape, 1, Balance::mean);
  std::uint64_t fetched = 0;
  for (int i = 0; i < 20; ++i)
    fetched += loader.fetch({.step = 2, .entries = 2, .known_rows = 5, .frontier = 2, .room_bytes = 10000}, lines);
  // All entries beyond column 1 of rows 0 to 4, each once.
  EXPECT_EQ(fetched, 4U + 3 + 1 + 1);
  EXPECT_EQ(loader.converted() + loader.discarded(), fetched);
}

}  // namespace
}  // namespace lacuna::sida

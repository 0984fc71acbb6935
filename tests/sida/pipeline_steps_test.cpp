// Compares the work and time of each core in each step with tables computed manually.
#include <gtest/gtest.h>

#include "models/sida/pipeline/ideal_memory.h"
#include "tests/sida/pipeline_pass.h"

namespace lacuna::sida {
namespace {

SparseMatrix dense(Index n) {
  Coordinates c;
  c.rows = c.columns = n;
  for (Index row = 0; row < n; ++row) {
    for (Index column = 0; column < n; ++column) c.add(row, column);
  }
  return by_columns(std::move(c));
}

/// A memory in which every request takes the same time.
class FixedMemory : public ImmediateMemory {
 public:
  explicit FixedMemory(Time latency) : latency_(latency) {}
  Time read(const MemoryRequest& request, Time earliest) override {
    reads.push_back({request, earliest});
    return earliest + latency_;
  }
  Time write(const MemoryRequest& request, Time earliest) override {
    writes.push_back({request, earliest});
    return earliest;
  }
  struct Made {
    MemoryRequest request;
    Time at;
  };
  std::vector<Made> reads, writes;

 private:
  Time latency_;
};

TEST(PipelineSteps, EntriesPerStepAreThoseOfFigure410) {
  TestPass pass(dense(5));
  PipelineParameters p;
  p.sub_tensor = 1;
  p.trace = true;
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, p, memory);
  EXPECT_EQ(pipeline.steps(), 7U);
  pipeline.run();
  struct Row {
    std::int64_t os, ewise, is;
    std::uint64_t os_entries, is_entries, waiting;
  };
  // IS uses row r two steps after OS has used column r, so the entries of row r in columns 0 to r + 1 wait in the buffer until
  // then. IS uses the entries of column s in rows 0 to s - 2 in the step that loads them.
  constexpr Row kExpected[] = {{0, -1, -1, 5, 0, 5},    {1, 0, -1, 5, 0, 10}, {2, 1, 0, 5, 2 + 1, 12}, {3, 2, 1, 5, 3 + 2, 12},
                               {4, 3, 2, 5, 4 + 3, 10}, {-1, 4, 3, 0, 5, 5},  {-1, -1, 4, 0, 5, 0}};
  for (std::size_t s = 0; s < 7; ++s) {
    const StepTrace& t = pipeline.trace()[s];
    const Row& e = kExpected[s];
    EXPECT_EQ(t.sub_tensor, (std::array<std::int64_t, 3>{e.os, e.ewise, e.is})) << s;
    EXPECT_EQ(t.os_entries, e.os_entries) << s;
    EXPECT_EQ(t.is_entries, e.is_entries) << s;
    EXPECT_EQ(t.waiting, e.waiting) << s;
  }
}

TEST(PipelineSteps, AnOsOnlyPassDrainsInOneStep) {
  TestPass pass(dense(5));
  pass.make_os_only();
  PipelineParameters p;
  p.sub_tensor = 2;
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, p, memory);
  EXPECT_EQ(pipeline.steps(), 4U);
  EXPECT_EQ(pipeline.run().is_used, 0U);
}

TEST(PipelineSteps, APairKeepsTwoSubTensorsOfLines) {
  TestPass pass(dense(6));
  pass.make_pair();
  PipelineParameters p;
  p.sub_tensor = 1;
  p.trace = true;
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, p, memory);
  const PassCounts& counts = pipeline.run();
  EXPECT_EQ(counts.converted_to_rows, 0U);
  EXPECT_EQ(counts.waiting_peak, 12U);
  const std::uint64_t is[] = {0, 0, 6, 6, 6, 6, 6, 6};
  for (std::size_t s = 0; s < 8; ++s) EXPECT_EQ(pipeline.trace()[s].is_entries, is[s]);
}

TEST(PipelineSteps, TimesOfTheFirstSteps) {
  // Two columns of one entry each, latency 100, four PEs: trees of two stages.
  Coordinates c;
  c.rows = c.columns = 2;
  c.add(0, 0);
  c.add(1, 1);
  TestPass pass(by_columns(std::move(c)));
  pass.shape.ewise = {.read_bytes = 8, .written_bytes = 8, .instructions = 3, .reductions = 0};
  PipelineParameters p;
  p.sub_tensor = 1;
  p.os_pes = p.ewise_pes = p.is_pes = 4;
  p.trace = true;
  FixedMemory memory(100);
  PassPipeline pipeline(pass.shape, p, memory);
  const PassCounts& counts = pipeline.run();
  const auto& t = pipeline.trace();
  ASSERT_EQ(t.size(), 4U);
  // Offsets arrive at 100, the column at 200, x at 300; OS takes 1 cycle and 2 stages.
  EXPECT_EQ(t[0].begin, 0U);
  EXPECT_EQ(t[0].end, 303U);
  // The only line of x has arrived at 303, and the vectors of sub-tensor 0 at 100; E-wise takes 1 + 3 cycles. OS ends earlier,
  // at 303 + 1 + 2.
  EXPECT_EQ(t[1].end, 303U + 4);
  // E-wise waits for the vectors that were requested at 303. IS uses row 0: 1 cycle, 2 stages.
  EXPECT_EQ(t[2].end, 403U + 4);
  // IS uses row 1.
  EXPECT_EQ(t[3].end, 407U + 3);
  // The last sums have no finish code and are written immediately.
  EXPECT_EQ(counts.cycles, 410U);
  ASSERT_EQ(memory.writes.size(), 3U);
  EXPECT_EQ(memory.writes[0].at, 307U);  // output of E-wise for sub-tensor 0
  EXPECT_EQ(memory.writes[1].at, 407U);  // output of E-wise for sub-tensor 1
  EXPECT_EQ(memory.writes[2].request.operand, Operand::finish);
  EXPECT_EQ(memory.writes[2].request.bytes, 16U);
  EXPECT_EQ(memory.writes[2].at, 410U);
  EXPECT_EQ(counts.stalled[static_cast<std::size_t>(Core::ewise)], 96U);
}

TEST(PipelineSteps, InputStationaryCoreUsesOldRowsAndCurrentColumns) {
  TestPass pass(dense(8));
  PipelineParameters p;
  p.sub_tensor = 2;
  p.os_pes = 64;  // 16 entries: 1 cycle and 6 stages
  p.is_pes = 1;
  p.bytes_per_cycle = 1000000;
  p.trace = true;
  FixedMemory memory(0);
  PassPipeline pipeline(pass.shape, p, memory);
  const PassCounts& counts = pipeline.run();
  // In step s, IS uses the rows of sub-tensor s - 2 in columns below 2 s, and the columns of s in rows below 2 s - 2.
  const Time expected[] = {7, 7, 8 + 4, 12 + 8, 16, 16};
  for (std::size_t s = 0; s < 6; ++s) {
    EXPECT_EQ(pipeline.trace()[s].end - pipeline.trace()[s].begin, expected[s]) << s;
    EXPECT_EQ(pipeline.trace()[s].bound, s < 2 ? Bound::os : Bound::is) << s;
  }
  EXPECT_EQ(counts.busy[static_cast<std::size_t>(Core::is)], 64U);
  EXPECT_EQ(counts.busy[static_cast<std::size_t>(Core::os)], 4U * 7);
}

/// A memory in which only one kind of reads takes time.
class SlowKind : public ImmediateMemory {
 public:
  explicit SlowKind(MemoryKind slow) : slow_(slow) {}
  Time read(const MemoryRequest& request, Time earliest) override { return earliest + (request.kind == slow_ ? 100000 : 0); }
  Time write(const MemoryRequest& /*request*/, Time earliest) override { return earliest; }

 private:
  MemoryKind slow_;
};

TEST(PipelineSteps, EachCoreWaitsForWhatItNeeds) {
  TestPass pass(generated("random:rows=400,entries=4000"));
  pass.shape.ewise = {.read_bytes = 8, .written_bytes = 0, .instructions = 1000, .reductions = 0};
  pass.shape.finish = {.read_bytes = 8, .written_bytes = 8, .instructions = 1, .reductions = 0};
  PipelineParameters p;
  p.sub_tensor = 50;
  p.trace = true;
  const auto stalled = [&](MemoryKind kind, Core core) {
    SlowKind memory(kind);
    PassPipeline pipeline(pass.shape, p, memory);
    pipeline.run();
    return pipeline.counts().stalled[static_cast<std::size_t>(core)];
  };
  constexpr Time kSlow = 100000;
  EXPECT_GE(stalled(MemoryKind::csc, Core::os), kSlow);
  EXPECT_GE(stalled(MemoryKind::offsets, Core::os), kSlow);
  EXPECT_GE(stalled(MemoryKind::x, Core::os), kSlow);
  EXPECT_EQ(stalled(MemoryKind::x, Core::ewise), 0U);
  // Vectors of two sub-tensors are in flight simultaneously, so stalls overlap.
  EXPECT_GE(stalled(MemoryKind::ewise_vectors, Core::ewise), 4 * (kSlow - 2000));
  EXPECT_LE(stalled(MemoryKind::ewise_vectors, Core::ewise), 5 * kSlow);
  EXPECT_EQ(stalled(MemoryKind::csr_reload, Core::is), 0U);
  p.prefetch = Prefetch::step;  // otherwise all columns would be requested before a row is known
  EXPECT_GE(stalled(MemoryKind::csr_eager, Core::is), kSlow - 2000);
  EXPECT_EQ(stalled(MemoryKind::csr_eager, Core::os), 0U);
  p.prefetch = Prefetch::stream;
  p.csc_bytes = 1200;  // a sub-tensor consists of several pieces, the last of which IS needs
  EXPECT_GE(stalled(MemoryKind::csc, Core::is), kSlow);
  p.buffer_bytes = 9000;
  EXPECT_GE(stalled(MemoryKind::csr_reload, Core::is), kSlow);
  EXPECT_EQ(stalled(MemoryKind::csr_reload, Core::os), 0U);
  p.buffer_bytes = 2000;
  EXPECT_GE(stalled(MemoryKind::sums, Core::is), kSlow);
}

TEST(PipelineSteps, LoadCodeAddsTime) {
  TestPass pass(dense(64));
  PipelineParameters p;
  p.sub_tensor = 64;
  p.ewise_pes = 8;
  FixedMemory memory(0);
  const auto cycles = [&](unsigned instructions) {
    pass.shape.load = {.read_bytes = 8, .written_bytes = 0, .instructions = instructions, .reductions = 0};
    PassPipeline pipeline(pass.shape, p, memory);
    return pipeline.run().cycles;
  };
  // Load code takes longer than OS: 64 / 8 elements and its latency, in step 0.
  EXPECT_EQ(cycles(1000) - cycles(900), 100U * (64 / 8 + 1));
  // OS waits for offsets, columns and x, and for the latency of 900 instructions of load code; then OS takes 4 cycles and 10
  // stages.
  p.ewise_pes = 1024;
  p.trace = true;
  FixedMemory slow(100);
  PassPipeline pipeline(pass.shape, p, slow);
  pipeline.run();
  EXPECT_EQ(pipeline.trace()[0].end, 300U + 900 + 4 + 10);
}

TEST(PipelineSteps, PreloadComesBeforeTheFirstColumnIsUsed) {
  TestPass pass(generated("random:rows=10000,entries=50000"));
  pass.make_pagerank();
  pass.shape.preload = true;
  PipelineParameters p;
  p.trace = true;
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, p, memory);
  pipeline.run();
  EXPECT_GE(pipeline.trace()[0].begin, 10000U * 24 / 512);
  EXPECT_EQ(memory.bytes(MemoryKind::x), 10000U * 24);
}

TEST(PipelineSteps, StepByStepEqualsASingleRun) {
  TestPass pass(generated("power:rows=5000,entries=60000"));
  PipelineParameters p;
  IdealMemory first, second;
  PassPipeline stepped(pass.shape, p, first), run(pass.shape, p, second, 1000);
  Time before = 0;
  std::uint64_t steps = 1;
  while (stepped.step()) {
    EXPECT_GE(stepped.now(), before);
    before = stepped.now();
    EXPECT_EQ(stepped.next_step(), steps++);
  }
  EXPECT_FALSE(stepped.step());
  EXPECT_EQ(steps, stepped.steps());
  run.run();
  EXPECT_EQ(run.counts().cycles, stepped.counts().cycles);
  EXPECT_EQ(run.now(), stepped.now() + 1000);
  EXPECT_EQ(first.bytes(), second.bytes());
}

TEST(PipelineSteps, RequestsAreMadeInTheOrderOfTime) {
  for (const char* kind : {"random:rows=20000,entries=240000", "power:rows=20000,entries=240000,shuffled=1"}) {
    for (const Prefetch prefetch : {Prefetch::stream, Prefetch::step}) {
      TestPass pass(generated(kind));
      pass.make_pagerank();
      PipelineParameters p;
      p.prefetch = prefetch;
      p.sub_tensor = 256;
      p.buffer_bytes = 1 << 20;
      IdealMemory memory;
      PassPipeline pipeline(pass.shape, p, memory);
      pipeline.run();
      EXPECT_EQ(memory.out_of_order(), 0U) << kind;
    }
  }
}

TEST(PipelineSteps, ABigMatrixUsesNearlyAllBandwidth) {
  TestPass pass(generated("random:rows=100000,entries=1200000"));
  pass.make_pagerank();
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, {}, memory);
  const PassCounts& counts = pipeline.run();
  EXPECT_GE(memory.utilisation(counts.cycles), 0.95);
  EXPECT_EQ(counts.bound[static_cast<std::size_t>(Bound::os)], 0U);
}

TEST(PipelineSteps, APrefetchOfOneStepLeavesBandwidth) {
  // Expected share of the bandwidth with a latency of 150 cycles: 11 to 46 % at T = 128, 51 to 87 % at T = 1,024.
  TestPass pass(generated("random:rows=50000,entries=600000"));
  pass.make_pagerank();
  const auto utilisation = [&pass](std::uint64_t columns) {
    PipelineParameters p;
    p.prefetch = Prefetch::step;
    p.sub_tensor = columns;
    IdealMemory memory;
    PassPipeline pipeline(pass.shape, p, memory);
    return pipeline.run().utilisation(512);
  };
  EXPECT_GE(utilisation(128), 0.11);
  EXPECT_LE(utilisation(128), 0.46);
  EXPECT_GE(utilisation(1024), 0.51);
  EXPECT_LE(utilisation(1024), 0.87);
}

TEST(PipelineSteps, BlocksReplaceColumns) {
  TestPass pass(generated("mesh2d:rows=4000"));
  pass.shape.block_side = 16;
  pass.shape.entry_bytes = 10;
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, {}, memory);
  const PassCounts& counts = pipeline.run();
  EXPECT_EQ(counts.read(MemoryKind::blocks), pass.columns.entries() * 10);
  EXPECT_EQ(counts.read(MemoryKind::csc) % 8, 0U);
  EXPECT_LT(counts.read(MemoryKind::csc), pass.columns.entries() * 8);
  EXPECT_GE(counts.read(MemoryKind::csc), pass.columns.entries() / 256 * 8);
}

}  // namespace
}  // namespace lacuna::sida

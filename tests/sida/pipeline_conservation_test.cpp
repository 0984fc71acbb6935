// Tests that the pipeline fetches and uses every entry the required number of times, in every mode and with the smallest
// buffers.
#include <gtest/gtest.h>

#include "models/sida/matrix/eviction.h"
#include "models/sida/matrix/occupancy.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "tests/sida/pipeline_pass.h"

namespace lacuna::sida {
namespace {

PipelineParameters odd_parameters(Random& random) {
  PipelineParameters p;
  const unsigned pes = 1U << random.below(8);
  p.os_pes = p.ewise_pes = p.is_pes = pes;
  p.sub_tensor = 1 + random.below(random.below(3) == 0 ? 80 : 6);
  p.bytes_per_cycle = 1 + random.below(200);
  p.memory_latency = random.below(200);
  p.csr_reserve = random.below(2) == 0 ? CsrReserve::element : CsrReserve::row;
  p.prefetch = random.below(2) == 0 ? Prefetch::stream : Prefetch::step;
  p.balance = random.below(2) == 0 ? Balance::mean : Balance::printed;
  p.scatter = random.below(2) == 0 ? Scatter::serial : Scatter::tree;
  p.eager = random.below(4) == 0 ? Eager::off : Eager::automatic;
  p.repack_threshold = random.below(3) * 0.25;
  p.csc_bytes = random.below(2) == 0 ? 0 : 1 + random.below(2000);
  p.line_bytes = 32U << random.below(3);
  p.trace = true;
  return p;
}

void odd_shape(Random& random, TestPass& pass) {
  PassShape& s = pass.shape;
  s.entry_bytes = 4 + random.below(9);
  s.x_bytes = 1 + random.below(40);
  s.w_bytes = 1 + random.below(40);
  s.z_bytes = s.finish.written_bytes = 1 + random.below(40);
  s.products_per_entry = 1 + random.below(3) * 7;
  s.products_per_pe = 1 + random.below(2) * 3;
  s.load = {8 * random.below(3), 0, random.below(4), random.below(2)};
  s.ewise = {8 * random.below(3), 8 * random.below(2), random.below(random.below(2) == 0 ? 4 : 300), random.below(2)};
  s.finish.read_bytes = 8 * random.below(2);
  s.finish.instructions = random.below(3);
  s.preload = random.below(4) == 0;
  if (random.below(8) == 0) s.block_side = 1 + random.below(4);
}

/// Checks further conditions; the pipeline has already called check_conservation().
void expect_conserved(const TestPass& pass, const PipelineParameters& p, const PassPipeline& pipeline,
                      const IdealMemory& memory) {
  const PassShape& s = pass.shape;
  const PassCounts& c = pipeline.counts();
  EXPECT_EQ(memory.bytes(), c.bytes());
  EXPECT_EQ(memory.requests(), c.requests);
  EXPECT_LE(c.buffer_peak, p.buffer_bytes);
  std::uint64_t os = 0, is = 0, bytes = 0, r = 0;
  Time before = 0;
  for (const StepTrace& t : pipeline.trace()) {
    EXPECT_LE(t.buffer.all(), p.buffer_bytes);
    EXPECT_EQ(t.begin, t.step == 0 ? t.begin : before);
    EXPECT_GE(t.end, t.begin + t.estimate);
    EXPECT_LE(t.r_used, t.r_given);
    before = t.end;
    os += t.os_entries;
    is += t.is_entries;
    r += t.r_used;
    for (const std::uint64_t kind : t.bytes) bytes += kind;
  }
  EXPECT_LE(bytes, c.bytes());  // the trace excludes requests before the first and after the last step
  EXPECT_EQ(os, s.entries());
  EXPECT_EQ(is, s.has_is ? s.entries() : 0);
  EXPECT_EQ(pipeline.trace().size(), pipeline.steps());
  EXPECT_EQ(r, c.r_used);
  EXPECT_EQ(c.read(MemoryKind::csr_reload), c.reloaded * s.entry_bytes);
  EXPECT_EQ(c.read(MemoryKind::csr_eager), c.r_used * s.entry_bytes);
  const std::uint64_t by_column = s.entries() + c.discarded - c.r_used;
  EXPECT_EQ(c.read(s.block_side != 0 ? MemoryKind::blocks : MemoryKind::csc), by_column * s.entry_bytes);
  EXPECT_EQ(c.r_used, c.converted_to_columns + c.discarded);
  EXPECT_EQ(c.written(MemoryKind::outputs),
            s.y_length * s.ewise.written_bytes + (s.has_is ? s.z_length * s.finish.written_bytes : 0));
  EXPECT_EQ(c.read(MemoryKind::ewise_vectors),
            s.y_length * s.ewise.read_bytes + (s.has_is ? s.z_length * s.finish.read_bytes : 0));
  if (s.has_os && s.y_length != 0) {
    const unsigned orders = s.has_is && !s.same_lines ? 2 : 1;
    EXPECT_EQ(c.read(MemoryKind::offsets), orders * (s.y_length + 1) * s.offset_bytes);
  }
  EXPECT_EQ(c.lines.sums_spilled, c.lines.sums_read_back);
  // Each line of w is spilled at most once, and again at most once for each sub-tensor, which may add to a spilled line.
  const LineGeometry w(s.y_length, s.w_bytes, p.line_bytes);
  EXPECT_LE(c.lines.w_spilled, w.lines() + c.sub_tensors);
  EXPECT_GE(memory.utilisation(c.cycles), 0);
  EXPECT_LE(memory.utilisation(c.cycles), 1);
}

TEST(PipelineConservation, RandomModesAndShapesConserveEntriesAndBytes) {
  Random random(11);
  std::uint64_t with_reloads = 0, with_eager = 0, with_discards = 0, with_spills = 0, with_repacks = 0, with_refetches = 0;
  for (int i = 0; i < 20000; ++i) {
    SCOPED_TRACE(i);
    TestPass pass(odd_matrix(random));
    odd_shape(random, pass);
    const Index kind = random.below(6);
    if (kind == 0) pass.make_os_only();
    if (kind == 1) pass.make_pair();
    PipelineParameters p = odd_parameters(random);
    if (pass.shape.block_side != 0) p.sub_tensor *= pass.shape.block_side;
    const std::uint64_t least = smallest_buffer(pass.shape, p);
    p.buffer_bytes = random.below(3) == 0 ? least : random.below(3) == 0 ? least + random.below(2000) : std::uint64_t{64} << 20;
    IdealMemory memory(p.bytes_per_cycle, p.memory_latency);
    PassPipeline pipeline(pass.shape, p, memory);
    ASSERT_NO_THROW(pipeline.run());
    expect_conserved(pass, p, pipeline, memory);
    if (testing::Test::HasFailure()) return;
    const PassCounts& c = pipeline.counts();
    with_reloads += c.reloaded != 0 ? 1 : 0;
    with_eager += c.converted_to_columns != 0 ? 1 : 0;
    with_discards += c.discarded != 0 ? 1 : 0;
    with_spills += c.lines.sums_spilled != 0 && c.lines.w_spilled != 0 ? 1 : 0;
    with_refetches += c.lines.x_refetched != 0 ? 1 : 0;
    with_repacks += c.repacks != 0 ? 1 : 0;
  }
  // Each mechanism has occurred in a sufficient number of cases.
  EXPECT_GT(with_reloads, 500U);
  EXPECT_GT(with_eager, 300U);
  EXPECT_GT(with_discards, 100U);
  EXPECT_GT(with_spills, 300U);
  EXPECT_GT(with_refetches, 300U);
  EXPECT_GT(with_repacks, 500U);
}

TEST(PipelineConservation, ElementWisePassMovesItsVectorsOnly) {
  PassShape shape;
  shape.has_os = shape.has_is = false;
  shape.y_length = 10000;
  shape.ewise = {.read_bytes = 24, .written_bytes = 16, .instructions = 5, .reductions = 2};
  IdealMemory memory;
  PassPipeline pipeline(shape, {}, memory);
  const PassCounts& counts = pipeline.run();
  EXPECT_EQ(counts.bytes(), 10000U * 40);
  EXPECT_EQ(counts.read(MemoryKind::ewise_vectors), 10000U * 24);
  EXPECT_GE(counts.cycles, 10000U * 40 / 512);
}

TEST(PipelineConservation, IdealBytesOfPageRankAreThoseOfTheSpec) {
  // 12 bytes per entry, two arrays of n + 1 offsets, and seven vectors.
  TestPass pass(generated("random:rows=20000,entries=240000"));
  pass.make_pagerank();
  pass.shape.preload = true;
  IdealMemory memory;
  PassPipeline pipeline(pass.shape, {}, memory);
  EXPECT_EQ(pipeline.run().bytes(), pass.columns.entries() * 12 + 2 * 20001 * 4 + 7 * 20000 * 8);
}

TEST(PipelineOccupancy, WaitingEntriesEqualTheMatrixOccupancy) {
  Random random(12);
  for (int i = 0; i < 10000; ++i) {
    TestPass pass(odd_matrix(random));
    PipelineParameters p;
    p.trace = true;
    p.eager = Eager::off;
    p.sub_tensor = 1 + random.below(20);
    p.csr_reserve = random.below(2) == 0 ? CsrReserve::element : CsrReserve::row;
    IdealMemory memory;
    PassPipeline pipeline(pass.shape, p, memory);
    const PassCounts& counts = pipeline.run();
    const Occupancy expected = occupancy(pass.columns, static_cast<Index>(p.sub_tensor));
    for (std::size_t s = 0; s < expected.steps.size(); ++s) ASSERT_EQ(pipeline.trace()[s].waiting, expected.steps[s]) << i;
    ASSERT_EQ(counts.waiting_peak, expected.peak());
    ASSERT_DOUBLE_EQ(counts.waiting_mean(), expected.mean());
    ASSERT_EQ(counts.evicted, 0U);
  }
}

TEST(PipelineEviction, ReloadsEqualTheEvictionModelForAFixedSpace) {
  Random random(13);
  unsigned with_reloads = 0;
  for (int i = 0; i < 6000; ++i) {
    TestPass pass(odd_matrix(random));
    PipelineParameters p;
    p.trace = true;
    p.eager = Eager::off;
    p.repack_threshold = 0;
    p.sub_tensor = 1 + random.below(20);
    p.csr_reserve = random.below(2) == 0 ? CsrReserve::element : CsrReserve::row;
    p.fixed_csr_entries = random.below(60);
    IdealMemory memory;
    PassPipeline pipeline(pass.shape, p, memory);
    const PassCounts& counts = pipeline.run();
    const Reloads expected = reloads(pass.columns, static_cast<Index>(p.sub_tensor), *p.fixed_csr_entries,
                                     p.csr_reserve == CsrReserve::row ? RowSpace::whole : RowSpace::elements);
    ASSERT_EQ(counts.reloaded, expected.reloaded) << i;
    ASSERT_EQ(pipeline.trace().size(), expected.steps.size());
    for (std::size_t s = 0; s < expected.steps.size(); ++s) ASSERT_EQ(pipeline.trace()[s].reloaded, expected.steps[s]) << i;
    ASSERT_LE(counts.rows_peak, *p.fixed_csr_entries);
    with_reloads += counts.reloaded != 0 ? 1 : 0;
  }
  EXPECT_GT(with_reloads, 1500U);
}

TEST(PipelineEviction, RepackingTakesCyclesOfIs) {
  TestPass pass(generated("random:rows=20000,entries=240000"));
  struct Run {
    std::uint64_t repacks, moved;
    Time is, cycles;
  };
  const auto run = [&pass](double threshold) {
    PipelineParameters p;
    p.sub_tensor = 256;
    p.is_pes = 256;
    p.repack_threshold = threshold;
    p.fixed_csr_entries = 200000;
    IdealMemory memory;
    PassPipeline pipeline(pass.shape, p, memory);
    const PassCounts& c = pipeline.run();
    EXPECT_EQ(c.evicted, 0U);
    return Run{c.repacks, c.repack_moved, c.busy[static_cast<std::size_t>(Core::is)], c.cycles};
  };
  // Thresholds: never repack, repack after 6,000 used entries, and repack in every step that uses entries.
  const Run never = run(1), some = run(0.03), all = run(0);
  EXPECT_EQ(never.repacks, 0U);
  EXPECT_GT(some.repacks, 10U);
  EXPECT_GT(all.repacks, 70U);
  EXPECT_GT(all.moved, some.moved);
  for (const Run& r : {some, all}) {
    EXPECT_GE(r.is, never.is + r.moved / 256);
    EXPECT_LE(r.is, never.is + r.moved / 256 + r.repacks);
  }
  // Immediate repacking delays the step.
  EXPECT_GT(all.cycles, some.cycles + some.cycles / 10);
}

TEST(PipelineEviction, LessSpaceReloadsMore) {
  TestPass pass(generated("power:rows=20000,entries=256000,shuffled=1"));
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint64_t room : {0U, 4000U, 16000U, 32000U, 48000U, 256000U}) {
    PipelineParameters p;
    p.sub_tensor = 128;
    p.fixed_csr_entries = room;
    IdealMemory memory;
    PassPipeline pipeline(pass.shape, p, memory);
    const std::uint64_t reloaded = pipeline.run().reloaded;
    EXPECT_LT(reloaded, before);
    before = reloaded;
  }
  EXPECT_EQ(before, 0U);
}

}  // namespace
}  // namespace lacuna::sida

// Compares the accelerator's energy events (operations, bytes) with manual counts.
#include <gtest/gtest.h>

#include <utility>

#include "models/sida/machine/energy_counts.h"
#include "models/sida/machine/pass_shapes.h"
#include "models/sida/machine/roofline.h"
#include "models/sida/matrix/generators.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "models/sida/pipeline/pass_pipeline.h"
#include "platform/sida/application_job.h"

namespace lacuna::sida::test {
namespace {

std::uint64_t read_of(const EnergyCounts& counts, BufferKind kind) {
  return counts.buffer_read[static_cast<std::size_t>(kind)];
}
std::uint64_t written_of(const EnergyCounts& counts, BufferKind kind) {
  return counts.buffer_written[static_cast<std::size_t>(kind)];
}

SparseMatrix small_matrix() { return generated("power:rows=2000,entries=24000"); }

/// Calls `use` for the repeated pass of PageRank, which has two products.
void with_repeated_pass(const SparseMatrix& matrix, const auto& use) {
  ApplicationJob job(*lacuna_sida_application_named("pr"), matrix, {.limit = 6});
  bool used = false;
  job.run([&](const Program& program, const PassOutcome& outcome) {
    const Pass& pass = program.passes[outcome.pass];
    if (used || pass.description.next != outcome.pass || !outcome.has_is) return;
    used = true;
    use(program, pass, outcome);
  });
  EXPECT_TRUE(used);
}

TEST(SidaEnergy, OracleOfPageRankByHand) {
  const SparseMatrix matrix = small_matrix();
  const std::uint64_t n = matrix.rows, e = matrix.entries();
  with_repeated_pass(matrix, [&](const Program& program, const Pass& pass, const PassOutcome& outcome) {
    const EnergyCounts counts = oracle_work(program, pass, outcome).energy;
    EXPECT_EQ(written_of(counts, BufferKind::columns), 12 * e);
    EXPECT_EQ(read_of(counts, BufferKind::columns), 12 * e);
    EXPECT_EQ(read_of(counts, BufferKind::rows), 12 * e);
    EXPECT_EQ(written_of(counts, BufferKind::rows), 0u);
    EXPECT_EQ(written_of(counts, BufferKind::x), 8 * n);
    EXPECT_EQ(read_of(counts, BufferKind::x), 8 * e);
    EXPECT_EQ(written_of(counts, BufferKind::sums), 8 * e);
    EXPECT_EQ(read_of(counts, BufferKind::sums), 8 * (e + n));
    // Seven vectors from and to memory, plus y and w.
    EXPECT_EQ(read_of(counts, BufferKind::vectors), 9 * 8 * n);
    EXPECT_EQ(written_of(counts, BufferKind::vectors), 9 * 8 * n);
    EXPECT_EQ(counts.memory_read, 12 * e + 8 * n + 5 * 8 * n);
    EXPECT_EQ(counts.memory_written, 2 * 8 * n);
    EXPECT_EQ(counts.operations.f64_fma, 2 * e);
    EXPECT_EQ(counts.operations.int32, 0u);
  });
}

TEST(SidaEnergy, RooflineOfPageRankByHand) {
  const SparseMatrix matrix = small_matrix();
  const std::uint64_t n = matrix.rows, e = matrix.entries();
  ApplicationJob job(*lacuna_sida_application_named("pr"), matrix, {.limit = 6});
  EnergyCounts counts;
  for (const Work& work : operators_of(job.graph(), job.stored())) {
    EXPECT_EQ(work.bytes, work.energy.memory_read + work.energy.memory_written) << work.name;
    counts += work.energy;
  }
  EXPECT_EQ(read_of(counts, BufferKind::columns), 12 * e);
  EXPECT_EQ(read_of(counts, BufferKind::x), 8 * e);
  EXPECT_EQ(written_of(counts, BufferKind::x), 8 * n);
  // 12 vectors: 13 vectors move, of which x is counted separately.
  EXPECT_EQ(read_of(counts, BufferKind::vectors), 12 * 8 * n);
  EXPECT_EQ(counts.operations.f64_fma, e);
  // Operations of the dangling term: comparison, choice, sum; then scaling; addition; residual: subtraction, magnitude, sum.
  EXPECT_EQ(counts.operations.f64, 8 * n);
}

/// If everything fits, the pipeline has the events of the oracle model and those of the entries kept for their row.
TEST(SidaEnergy, PipelineHasTheOraclesEventsAndConversions) {
  const SparseMatrix matrix = small_matrix(), rows = transposed(matrix);
  const MatrixOrders orders{{matrix.offsets, matrix.indices}, {rows.offsets, rows.indices}};
  with_repeated_pass(matrix, [&](const Program& program, const Pass& pass, const PassOutcome& outcome) {
    const PassShape shape = shape_of(program, pass, outcome, orders);
    IdealMemory memory;
    const PipelineParameters parameters;
    PassPipeline timing(shape, parameters, memory);
    const PassCounts& passed = timing.run();
    EnergyCounts counts = energy_counts(shape, passed, parameters.line_bytes);
    const EnergyCounts oracle = oracle_work(program, pass, outcome).energy;
    EXPECT_EQ(counts.buffer_read, oracle.buffer_read);
    ASSERT_GT(passed.converted_to_rows, 0u);
    EXPECT_EQ(written_of(counts, BufferKind::rows), 12 * passed.converted_to_rows);
    counts.buffer_written[static_cast<std::size_t>(BufferKind::rows)] = 0;
    EXPECT_EQ(counts.buffer_written, oracle.buffer_written);
    const PeOperations operations = operations_of(program, pass, outcome);
    EXPECT_EQ(operations.f64_fma, oracle.operations.f64_fma);
    EXPECT_EQ(operations.f64, oracle.operations.f64);
  });
}

TEST(SidaEnergy, ReloadsAndSpillsAreInBufferAndMemory) {
  const SparseMatrix matrix = small_matrix(), rows = transposed(matrix);
  const MatrixOrders orders{{matrix.offsets, matrix.indices}, {rows.offsets, rows.indices}};
  with_repeated_pass(matrix, [&](const Program& program, const Pass& pass, const PassOutcome& outcome) {
    const PassShape shape = shape_of(program, pass, outcome, orders);
    const auto counted = [&](std::uint64_t buffer) {
      PipelineParameters parameters;
      parameters.buffer_bytes = buffer;
      IdealMemory memory;
      PassPipeline timing(shape, parameters, memory);
      const PassCounts passed = timing.run();
      return std::pair(passed, energy_counts(shape, passed, parameters.line_bytes));
    };
    const auto [all_fits, large] = counted(64u << 20);
    const auto [small_counts, small] = counted(32u << 10);
    ASSERT_GT(small_counts.reloaded, 0u);
    ASSERT_GT(small_counts.lines.sums_spilled, 0u);
    EXPECT_EQ(small.memory_read + small.memory_written, small_counts.bytes());
    EXPECT_EQ(written_of(small, BufferKind::rows),
              12 * (small_counts.converted_to_rows + small_counts.reloaded + small_counts.repack_moved));
    EXPECT_EQ(written_of(small, BufferKind::columns), 12 * matrix.entries());
    EXPECT_EQ(written_of(small, BufferKind::sums) - written_of(large, BufferKind::sums),
              128 * small_counts.lines.sums_read_back);
  });
}

TEST(SidaEnergy, OperationsByElement) {
  PeOperations operations;
  operations.add(LACUNA_SIDA_OPERATION_MULTIPLY, LACUNA_SIDA_I64, 10);
  EXPECT_EQ(operations.mul32, 40u);
  operations.add(LACUNA_SIDA_OPERATION_ADD, LACUNA_SIDA_I64, 10);
  EXPECT_EQ(operations.int32, 20u);
  operations.add(LACUNA_SIDA_OPERATION_DIVIDE, LACUNA_SIDA_F64, 3);
  EXPECT_EQ(operations.transcendental_f64, 3u);
  operations.add(LACUNA_SIDA_OPERATION_LOAD, LACUNA_SIDA_F64, 3);
  EXPECT_EQ(operations.f64, 0u);
  operations.add_products(LACUNA_SIDA_MIN_ADD, LACUNA_SIDA_F64, 5);
  EXPECT_EQ(operations.f64, 10u);
  operations.add_products(LACUNA_SIDA_PLUS_NORM, LACUNA_SIDA_F64, 5);
  EXPECT_EQ(operations.f64, 15u);
  EXPECT_EQ(operations.f64_fma, 5u);
  PeOperations bytes;
  bytes.add_products(LACUNA_SIDA_MUL_ADD, LACUNA_SIDA_I8, 40);
  EXPECT_EQ(bytes.mul32, 10u);
  EXPECT_EQ(bytes.int32, 10u);
}

}  // namespace
}  // namespace lacuna::sida::test

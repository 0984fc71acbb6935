// Tests the programs of Table 4.2 of the thesis: results compared with the reference's, iterations, and the products that share
// a pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "models/sida/machine/pass_shapes.h"
#include "models/sida/machine/roofline.h"
#include "models/sida/matrix/generators.h"
#include "models/sida/pipeline/ideal_memory.h"
#include "models/sida/pipeline/pass_pipeline.h"
#include "models/sida/reference/graph_reference.h"
#include "platform/sida/application_job.h"

namespace lacuna::sida::test {
namespace {

/// A generated matrix A, or A + A^T for applications that need a symmetric matrix, with small positive values.
SparseMatrix matrix_for(const std::string& application, const std::string& kind) {
  SparseMatrix matrix = generated(kind);
  if (application == "cg" || application == "kcore" || application == "label") {
    const SparseMatrix other = transposed(matrix);
    Coordinates both;
    both.rows = matrix.rows;
    both.columns = matrix.columns;
    for (const SparseMatrix* m : {&std::as_const(matrix), &other}) {
      for (Index c = 0; c < m->columns; ++c) {
        for (const Index r : m->column(c)) both.add(r, c, 1 + (r + c) % 5);
      }
    }
    return by_columns(std::move(both));
  }
  matrix.values.resize(matrix.entries());
  for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = 1 + static_cast<double>(i % 7);
  return matrix;
}

class SidaApplications : public testing::TestWithParam<const char*> {};

TEST_P(SidaApplications, ComputeTheSameInEveryMode) {
  const std::string name = GetParam();
  const lacuna_sida_application& application = *lacuna_sida_application_named(name.c_str());
  for (const char* kind : {"power:rows=300,entries=2400", "communities:rows=400,entries=3000", "road:rows=400"}) {
    const SparseMatrix matrix = matrix_for(name, kind);
    // Limits 1 to 3 end the loop at the first or at the second product of a pass; 0 selects the application's limit.
    for (const std::uint64_t limit : {0, 1, 2, 3}) {
      ApplicationJob job(application, matrix, {.limit = limit}),
          one_product(application, matrix, {.fusion = LACUNA_SIDA_FUSION_PRODUCER_CONSUMER, .limit = limit}),
          unfused(application, matrix, {.fusion = LACUNA_SIDA_FUSION_NONE, .limit = limit}),
          blocked(application, matrix, {.blocked = true, .block_side = 16, .limit = limit});
      const auto [iterations, expected] = job.reference();
      for (ApplicationJob* each : {&job, &one_product, &unfused, &blocked}) {
        each->run();
        EXPECT_EQ(each->iterations(), iterations) << kind << ", limit " << limit;
        EXPECT_EQ(each->result(), expected) << kind << ", limit " << limit;
      }
    }
  }
}

// The matrices have enough entries for each product to be divided among threads.
TEST_P(SidaApplications, ComputeTheSameOnSeveralThreads) {
  const std::string name = GetParam();
  const SparseMatrix matrix =
      matrix_for(name, name == "cg" || name == "gmres" || name == "bgs" ? "mesh2d:rows=6400" : "power:rows=6000,entries=90000");
  WorkerThreads two(2), three(3);
  for (const bool blocked : {false, true}) {
    ApplicationJob job(*lacuna_sida_application_named(name.c_str()), matrix, {.blocked = blocked, .limit = 3});
    job.run();
    const std::vector<std::byte> expected = job.result();
    for (WorkerThreads* const threads : {&two, &three}) {
      job.run({}, threads);
      EXPECT_TRUE(job.result() == expected) << threads->threads() << " threads" << (blocked ? ", blocked" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SidaApplications,
                         testing::Values("pr", "kcore", "bfs", "sssp", "kpp", "knn", "label", "gcn", "gmres", "cg", "bgs"),
                         [](const auto& test) { return std::string(test.param); });

struct Fusion {
  const char* name;
  unsigned fused, products, iterations_per_period;
};

TEST(SidaFusion, IsFoundForEightProgramsAndNotForThree) {
  constexpr Fusion kExpected[]{{"pr", 2, 2, 2},    {"kcore", 2, 2, 2}, {"bfs", 2, 2, 2},   {"sssp", 2, 2, 2},
                               {"kpp", 2, 2, 1},   {"knn", 2, 2, 2},   {"label", 2, 2, 2}, {"gcn", 2, 2, 2},
                               {"gmres", 0, 5, 1}, {"cg", 0, 1, 1},    {"bgs", 0, 2, 1}};
  for (const Fusion& expected : kExpected) {
    const SparseMatrix matrix = matrix_for(expected.name, "power:rows=100,entries=700");
    const ApplicationJob job(*lacuna_sida_application_named(expected.name), matrix, {});
    EXPECT_EQ(lacuna_sida_fused_products(&job.plan()), expected.fused) << expected.name;
    EXPECT_EQ(lacuna_sida_products(&job.plan()), expected.products) << expected.name;
    EXPECT_EQ(lacuna_sida_iterations_per_period(&job.plan()), expected.iterations_per_period) << expected.name;
    const std::string explanation = lacuna_sida_explain(&job.plan());
    EXPECT_EQ(explanation.find("the reduction by ADD") != std::string::npos, expected.fused == 0) << explanation;
  }
}

/// Without fusion, each pass has one operation, reads its operands from memory, and stores its result unless it is a reduction.
TEST(SidaFusion, UnfusedPassesHaveOneOperation) {
  for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) {
    const SparseMatrix matrix = matrix_for(a->name, "power:rows=100,entries=700");
    ApplicationJob job(*a, matrix, {.fusion = LACUNA_SIDA_FUSION_NONE, .limit = 3});
    EXPECT_EQ(lacuna_sida_fused_products(&job.plan()), 0u) << a->name;
    job.run([&](const Program& program, const PassOutcome& outcome) {
      const Pass& pass = program.passes[outcome.pass];
      const Code &load = pass.of(Phase::load), &ewise = pass.of(Phase::ewise);
      EXPECT_FALSE(pass.has_is()) << a->name;
      EXPECT_EQ(load.instructions.size(), load.loads.size()) << a->name << ": load computes";
      unsigned operations = pass.has_os() ? 1 : 0;
      for (const lacuna_sida_instruction& i : ewise.instructions) {
        const bool moves = i.operation == LACUNA_SIDA_OPERATION_LOAD || i.operation == LACUNA_SIDA_OPERATION_STORE ||
                           i.operation == LACUNA_SIDA_OPERATION_INDEX;
        operations += moves ? 0 : 1;
      }
      EXPECT_LE(operations, 1u) << a->name;
      // Passes that have only scalar code execute no operations on elements.
      if (operations != 0) {
        EXPECT_EQ(ewise.stores.size() + ewise.reductions.size(), 1u) << a->name;
      }
    });
  }
}

/// PageRank's repeated pass moves seven vectors for two iterations: three to load x, two for E-wise code, two results. Separate
/// operators move 13 vectors for one iteration.
TEST(SidaFusion, PageRankMovesSevenVectorsAPair) {
  const SparseMatrix matrix = matrix_for("pr", "power:rows=100,entries=700");
  ApplicationJob job(*lacuna_sida_application_named("pr"), matrix, {.limit = 6});
  const Pass* repeated = nullptr;
  Work oracle;
  Program last;
  job.run([&](const Program& program, const PassOutcome& outcome) {
    if (program.passes[outcome.pass].description.next != outcome.pass) return;
    last = program;
    repeated = &last.passes[outcome.pass];
    oracle = oracle_work(program, program.passes[outcome.pass], outcome);
  });
  ASSERT_NE(repeated, nullptr);
  EXPECT_EQ(repeated->of(Phase::load).loads.size(), 3u);
  EXPECT_EQ(repeated->of(Phase::ewise).loads.size(), 2u);
  EXPECT_EQ(repeated->of(Phase::ewise).stores.size(), 1u);
  EXPECT_EQ(repeated->of(Phase::finish).loads.size(), 0u);
  EXPECT_EQ(repeated->of(Phase::finish).stores.size(), 1u);
  const std::uint64_t n = matrix.rows, entries = matrix.entries();
  EXPECT_EQ(oracle.bytes, 12 * entries + n * (8 + 7 * 8));
  std::uint64_t bytes = 0;
  for (const Work& work : operators_of(job.graph(), job.stored())) bytes += work.bytes;
  EXPECT_EQ(bytes, 12 * entries + n * (4 + 13 * 8));
}

struct Ratios {
  double least = 10, most = 0, mean = 0;  ///< `mean`: geometric mean
};

/// Speedups of the oracle model over the roofline model for PageRank at the sizes of Table 4.1, from the bytes of its passes
/// and operators. Bytes are proportional to rows and entries, so one small matrix gives the factors.
Ratios oracle_over_roofline(bool expanded) {
  struct Size {
    const char* name;
    std::uint64_t rows, entries;
    bool symmetric;
  };
  constexpr Size kTable41[]{
      {"ca", 18772, 198110, true},     {"gy", 17361, 178896, true},      {"g2", 150102, 438388, true},
      {"co", 434102, 16036720, true},  {"bu", 513351, 10360701, true},   {"wi", 3566907, 45030389, false},
      {"ad", 6815744, 13624320, true}, {"ro", 23947347, 28854312, true}, {"eu", 50912018, 54054660, true}};
  const SparseMatrix matrix = matrix_for("pr", "power:rows=100,entries=700");
  ApplicationJob job(*lacuna_sida_application_named("pr"), matrix, {.limit = 6});
  std::uint64_t oracle = 0, roofline = 0;
  job.run([&](const Program& program, const PassOutcome& outcome) {
    const Pass& pass = program.passes[outcome.pass];
    if (pass.description.next == outcome.pass) oracle = oracle_work(program, pass, outcome).bytes;
  });
  for (const Work& work : operators_of(job.graph(), job.stored())) roofline += 2 * work.bytes;
  const double n = matrix.rows, entries = static_cast<double>(matrix.entries());
  const double oracle_row = (static_cast<double>(oracle) - 12 * entries) / n,
               roofline_row = (static_cast<double>(roofline) - 24 * entries) / n;
  Ratios ratios;
  double product = 1;
  for (const Size& size : kTable41) {
    // Diagonal entries have no mirror image, but files do not state their number: all entries are counted twice.
    const double all = static_cast<double>(size.entries) * (expanded && size.symmetric ? 2 : 1);
    const auto rows = static_cast<double>(size.rows);
    const double ratio = (24 * all + roofline_row * rows) / (12 * all + oracle_row * rows);
    ratios.least = std::min(ratios.least, ratio);
    ratios.most = std::max(ratios.most, ratio);
    product *= ratio;
  }
  ratios.mean = std::pow(product, 1.0 / std::size(kTable41));
  return ratios;
}

TEST(SidaFusion, OracleOverRooflineOfPageRankAtPublishedSizes) {
  const Ratios as_stored = oracle_over_roofline(false), expanded = oracle_over_roofline(true);
  EXPECT_NEAR(as_stored.least, 2.17, 0.01);
  EXPECT_NEAR(as_stored.most, 3.15, 0.01);
  EXPECT_NEAR(as_stored.mean, 2.64, 0.01);
  EXPECT_NEAR(expanded.least, 2.09, 0.01);
  EXPECT_NEAR(expanded.most, 2.98, 0.01);
  EXPECT_NEAR(expanded.mean, 2.49, 0.01);
}

/// If everything fits into the buffer, the pipeline moves the same number of bytes as the oracle model.
TEST(SidaFusion, PipelineMovesTheOraclesBytes) {
  for (const char* name : {"pr", "bfs", "sssp", "kpp", "knn", "label"}) {
    const SparseMatrix matrix = matrix_for(name, "power:rows=2000,entries=24000"), rows = transposed(matrix);
    const MatrixOrders orders{{matrix.offsets, matrix.indices}, {rows.offsets, rows.indices}};
    ApplicationJob job(*lacuna_sida_application_named(name), matrix, {.limit = 4});
    job.run([&](const Program& program, const PassOutcome& outcome) {
      const Pass& pass = program.passes[outcome.pass];
      if (!outcome.has_is) return;
      IdealMemory memory;
      PassPipeline timing(shape_of(program, pass, outcome, orders), {}, memory);
      const PassCounts& counts = timing.run();
      const std::uint64_t ideal = oracle_work(program, pass, outcome).bytes;
      // Each order stores one more offset than it has lines, which the oracle does not count.
      EXPECT_NEAR(static_cast<double>(counts.bytes()), static_cast<double>(ideal), 16.0) << name;
    });
  }
}

// y = min(y, x A) where `open`, and an AND of flags elsewhere, compared with values by hand.
TEST(SidaLibrary, MasksAndAccumulators) {
  const SparseMatrix matrix{.rows = 3, .columns = 3, .offsets = {0, 1, 3, 4}, .indices = {1, 0, 2, 1}, .values = {2, 5, 1, 3}};
  for (const bool complement : {false, true}) {
    lacuna_sida_graph* const graph = lacuna_sida_create();
    const int a = lacuna_sida_input_matrix(graph, "a", 3, 3, LACUNA_SIDA_I32, true),
              y = lacuna_sida_state(graph, "y", LACUNA_SIDA_I32, 3, 1),
              flags = lacuna_sida_state(graph, "flags", LACUNA_SIDA_BOOL, 3, 1),
              open = lacuna_sida_input(graph, "open", LACUNA_SIDA_BOOL, 3, 1),
              product = lacuna_sida_product(graph, LACUNA_SIDA_MUL_ADD, y, a, false, LACUNA_SIDA_NO_VALUE),
              least = lacuna_sida_accumulate(graph, LACUNA_SIDA_MONOID_MIN, y, product);
    lacuna_sida_next(graph, y, lacuna_sida_mask(graph, least, open, complement, y));
    const int both = lacuna_sida_accumulate(graph, LACUNA_SIDA_MONOID_AND, flags, open);
    lacuna_sida_next(graph, flags, lacuna_sida_mask(graph, both, open, complement, flags));
    for (const int state : {y, flags}) lacuna_sida_keep(graph, state);
    lacuna_sida_limit(graph, 1, LACUNA_SIDA_NO_VALUE);
    ASSERT_EQ(lacuna_sida_problem(graph), nullptr);
    const auto of = [](int element, std::vector<std::int64_t> values) {
      return Values{.element = element, .integers = std::move(values)};
    };
    const ReferenceResult result = run_reference(*graph,
                                                 {{y, of(LACUNA_SIDA_I32, {7, 3, -4})},
                                                  {flags, of(LACUNA_SIDA_BOOL, {1, 1, 0})},
                                                  {open, of(LACUNA_SIDA_BOOL, {1, 0, 1})}},
                                                 {matrix});
    // y A is 6, 31 and 9.
    EXPECT_EQ(result.states.at(y).integers,
              (complement ? std::vector<std::int64_t>{7, 3, -4} : std::vector<std::int64_t>{6, 3, -4}));
    EXPECT_EQ(result.states.at(flags).integers,
              (complement ? std::vector<std::int64_t>{1, 0, 0} : std::vector<std::int64_t>{1, 1, 0}));
    lacuna_sida_plan* const plan = lacuna_sida_compile(graph, LACUNA_SIDA_FUSION_AUTO);
    EXPECT_NE(plan, nullptr) << lacuna_sida_problem(graph);
    lacuna_sida_plan_destroy(plan);
    lacuna_sida_destroy(graph);
  }
  const auto problem = [](auto make) {
    lacuna_sida_graph* const graph = lacuna_sida_create();
    const int v = lacuna_sida_input(graph, "v", LACUNA_SIDA_F64, 3, 1),
              b = lacuna_sida_input(graph, "b", LACUNA_SIDA_BOOL, 3, 1);
    EXPECT_EQ(make(graph, v, b), LACUNA_SIDA_NO_VALUE);
    const std::string text = lacuna_sida_problem(graph) != nullptr ? lacuna_sida_problem(graph) : "";
    lacuna_sida_destroy(graph);
    return text;
  };
  EXPECT_EQ(problem([](auto* graph, int v, int) { return lacuna_sida_mask(graph, v, v, false, v); }),
            "a mask is a vector of BOOL, not of F64");
  EXPECT_EQ(problem([](auto* graph, int v, int b) { return lacuna_sida_mask(graph, v, b, false, b); }),
            "SELECT of operands that are not vectors or scalars of the same element type");
  EXPECT_EQ(problem([](auto* graph, int, int b) { return lacuna_sida_accumulate(graph, LACUNA_SIDA_MONOID_ADD, b, b); }),
            "monoid 0 is not defined for BOOL");
  EXPECT_EQ(problem([](auto* graph, int v, int) { return lacuna_sida_accumulate(graph, 17, v, v); }),
            "monoid 17 is not defined for F64");
}

/// Compares with a direct implementation for 8-bit integers, independent of the reference of the tests above.
TEST(SidaApplication, GraphConvolutionNetworkMatchesAReference) {
  const lacuna_sida_application& gcn = *lacuna_sida_application_named("gcn");
  const SparseMatrix matrix = matrix_for("gcn", "power:rows=200,entries=1500");
  lacuna_sida_setup setup = setup_of(matrix);
  setup.features = 8;
  constexpr std::size_t kFeatures = 8;
  std::vector<std::int8_t> h(200 * kFeatures), weights(2 * kFeatures * kFeatures);
  gcn.fill(&setup, "features", h.data());
  gcn.fill(&setup, "weights", weights.data());
  for (std::size_t layer = 0; layer < 2; ++layer) {
    std::vector<std::int8_t> next(h.size());
    for (Index c = 0; c < matrix.columns; ++c) {
      std::int32_t gathered[kFeatures]{};
      for (const Index r : matrix.column(c)) {
        for (std::size_t f = 0; f < kFeatures; ++f) gathered[f] += h[r * kFeatures + f];
      }
      for (std::size_t j = 0; j < kFeatures; ++j) {
        std::int32_t sum = 0;
        for (std::size_t f = 0; f < kFeatures; ++f) {
          const std::int32_t clamped = std::min(127, std::max(-128, gathered[f] >> 4));
          sum += clamped * weights[(layer * kFeatures + f) * kFeatures + j];
        }
        next[c * kFeatures + j] = static_cast<std::int8_t>(std::min(127, std::max(0, sum >> 4)));
      }
    }
    h = next;
  }
  ApplicationJob job(gcn, matrix, {.features = 8});
  job.run();
  EXPECT_EQ(std::memcmp(job.result().data(), h.data(), h.size()), 0);
}

}  // namespace
}  // namespace lacuna::sida::test

// Compares the programs of lacuna/sida_applications.h with the same algorithms in SuiteSparse:GraphBLAS.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "platform/sida/application_job.h"
#include "tests/sida/graphblas.h"
#include "tests/sida/random_matrix.h"

namespace lacuna::sida::test {
namespace {

template <class T>
struct Outcome {
  std::vector<T> result;
  std::uint64_t iterations = 0;
};

Outcome<std::int32_t> breadth_first(const SparseMatrix& matrix, Index source, std::uint64_t limit) {
  const Owned<GrB_Matrix> a = matrix_of<bool>(matrix);
  const Owned<GrB_Vector> frontier = empty_vector<bool>(matrix.rows), depth = empty_vector<std::int32_t>(matrix.rows);
  check(GrB_Vector_setElement_BOOL(frontier.get(), true, source));
  check(GrB_Vector_setElement_INT32(depth.get(), 0, source));
  std::uint64_t iterations = 0;
  while (iterations < limit) {
    check(GrB_vxm(frontier.get(), depth.get(), nullptr, GrB_LOR_LAND_SEMIRING_BOOL, frontier.get(), a.get(), GrB_DESC_RSC));
    ++iterations;
    check(GrB_Vector_assign_INT32(depth.get(), frontier.get(), nullptr, static_cast<std::int32_t>(iterations), GrB_ALL,
                                  matrix.rows, GrB_DESC_S));
    if (entries_of(frontier) == 0) break;
  }
  return {elements_of<std::int32_t>(depth, -1), iterations};
}

Outcome<double> shortest_paths(const SparseMatrix& matrix, Index source, std::uint64_t limit) {
  const Owned<GrB_Matrix> a = matrix_of<double>(matrix);
  Owned<GrB_Vector> distance = empty_vector<double>(matrix.rows);
  check(GrB_Vector_setElement_FP64(distance.get(), 0, source));
  std::uint64_t iterations = 0;
  for (bool changed = true; changed && iterations < limit;) {
    Owned<GrB_Vector> next = copy(distance);
    check(GrB_vxm(next.get(), nullptr, GrB_MIN_FP64, GrB_MIN_PLUS_SEMIRING_FP64, distance.get(), a.get(), nullptr));
    ++iterations;
    const Owned<GrB_Vector> less = empty_vector<bool>(matrix.rows);
    check(GrB_Vector_eWiseMult_BinaryOp(less.get(), nullptr, nullptr, GrB_LT_FP64, next.get(), distance.get(), nullptr));
    bool any_less = false;
    check(GrB_Vector_reduce_BOOL(&any_less, nullptr, GrB_LOR_MONOID_BOOL, less.get(), nullptr));
    changed = any_less || entries_of(next) != entries_of(distance);
    distance = std::move(next);
  }
  return {elements_of(distance, std::numeric_limits<double>::infinity()), iterations};
}

Outcome<double> page_rank(const SparseMatrix& matrix, double tolerance, std::uint64_t limit) {
  constexpr double kDamping = 0.85;
  const auto n = static_cast<double>(matrix.rows);
  const Owned<GrB_Matrix> a = matrix_of<double>(matrix);
  // Share of the rank that moves along each edge of a vertex; absent for vertices without edges.
  const Owned<GrB_Vector> degree = empty_vector<double>(matrix.rows), share = empty_vector<double>(matrix.rows);
  check(GrB_Matrix_reduce_Monoid(degree.get(), nullptr, nullptr, GrB_PLUS_MONOID_FP64, a.get(), nullptr));
  check(GrB_Vector_apply_BinaryOp1st_FP64(share.get(), nullptr, nullptr, GrB_DIV_FP64, kDamping, degree.get(), nullptr));
  Owned<GrB_Vector> rank = full_vector(matrix.rows, 1 / n);
  std::uint64_t iterations = 0;
  for (double residual = 1; iterations < limit && residual > tolerance;) {
    const Owned<GrB_Vector> scaled = empty_vector<double>(matrix.rows), lost = empty_vector<double>(matrix.rows),
                            change = empty_vector<double>(matrix.rows);
    check(GrB_Vector_eWiseMult_BinaryOp(scaled.get(), nullptr, nullptr, GrB_TIMES_FP64, rank.get(), share.get(), nullptr));
    check(GrB_Vector_assign(lost.get(), degree.get(), nullptr, rank.get(), GrB_ALL, matrix.rows, GrB_DESC_SC));
    double dangling = 0;
    check(GrB_Vector_reduce_FP64(&dangling, nullptr, GrB_PLUS_MONOID_FP64, lost.get(), nullptr));
    Owned<GrB_Vector> next = full_vector(matrix.rows, (1 - kDamping + kDamping * dangling) / n);
    check(GrB_vxm(next.get(), nullptr, GrB_PLUS_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, scaled.get(), a.get(), nullptr));
    check(GrB_Vector_eWiseMult_BinaryOp(change.get(), nullptr, nullptr, GrB_MINUS_FP64, next.get(), rank.get(), nullptr));
    check(GrB_Vector_apply(change.get(), nullptr, nullptr, GrB_ABS_FP64, change.get(), nullptr));
    check(GrB_Vector_reduce_FP64(&residual, nullptr, GrB_PLUS_MONOID_FP64, change.get(), nullptr));
    ++iterations;
    rank = std::move(next);
  }
  return {elements_of(rank, 0.0), iterations};
}

Outcome<std::uint8_t> hops(const SparseMatrix& matrix, Index source, std::uint64_t limit) {
  const Owned<GrB_Matrix> a = matrix_of<bool>(matrix);
  const Owned<GrB_Vector> reached = empty_vector<bool>(matrix.rows);
  check(GrB_Vector_setElement_BOOL(reached.get(), true, source));
  for (std::uint64_t i = 0; i < limit; ++i)
    check(GrB_vxm(reached.get(), nullptr, nullptr, GrB_LOR_LAND_SEMIRING_BOOL, reached.get(), a.get(), nullptr));
  const std::vector<bool> elements = elements_of(reached, false);
  return {{elements.begin(), elements.end()}, limit};
}

/// `known` and `given` are the inputs of the same names of the accelerator's program.
Outcome<double> propagate_labels(const SparseMatrix& matrix, const std::vector<double>& known, const std::vector<double>& given,
                                 std::uint64_t limit) {
  const Index n = matrix.rows;
  const Owned<GrB_Matrix> a = matrix_of<double>(matrix);
  const Owned<GrB_Vector> degree = empty_vector<double>(n), share = empty_vector<double>(n);
  check(GrB_Matrix_reduce_Monoid(degree.get(), nullptr, nullptr, GrB_PLUS_MONOID_FP64, a.get(), GrB_DESC_T0));
  check(GrB_Vector_apply(share.get(), nullptr, nullptr, GrB_MINV_FP64, degree.get(), nullptr));
  const Owned<GrB_Vector> is_known = vector_of<bool>(n, [&](std::size_t i) { return known[i] != 0; }),
                          fixed = vector_of<double>(n, [&](std::size_t i) { return given[i]; });
  Owned<GrB_Vector> label = copy(fixed);
  std::uint64_t iterations = 0;
  for (bool same = false; !same && iterations < limit;) {
    const Owned<GrB_Vector> mean = empty_vector<double>(n), equal = empty_vector<bool>(n);
    check(GrB_vxm(mean.get(), nullptr, nullptr, GrB_PLUS_TIMES_SEMIRING_FP64, label.get(), a.get(), nullptr));
    check(GrB_Vector_eWiseMult_BinaryOp(mean.get(), nullptr, nullptr, GrB_TIMES_FP64, mean.get(), share.get(), nullptr));
    Owned<GrB_Vector> next = full_vector(n, 0.0);
    // The sign of the mean: 1 if it is positive, -1 if it is negative.
    check(GrB_Vector_apply_BinaryOp2nd_FP64(next.get(), nullptr, GrB_PLUS_FP64, GrB_GT_FP64, mean.get(), 0.0, nullptr));
    check(GrB_Vector_apply_BinaryOp2nd_FP64(next.get(), nullptr, GrB_MINUS_FP64, GrB_LT_FP64, mean.get(), 0.0, nullptr));
    check(GrB_Vector_assign(next.get(), is_known.get(), nullptr, fixed.get(), GrB_ALL, n, nullptr));
    check(GrB_Vector_eWiseMult_BinaryOp(equal.get(), nullptr, nullptr, GrB_EQ_FP64, next.get(), label.get(), nullptr));
    check(GrB_Vector_reduce_BOOL(&same, nullptr, GrB_LAND_MONOID_BOOL, equal.get(), nullptr));
    ++iterations;
    label = std::move(next);
  }
  return {elements_of(label, 0.0), iterations};
}

/// Runs a program on a random matrix and compares its result with that of GraphBLAS.
class Comparison {
 public:
  Comparison(const char* name, Draw& draw)
      : application_(*lacuna_sida_application_named(name)),
        matrix_(random_matrix(draw, draw.one_in(6) ? 120 : 30, true, [&] { return static_cast<double>(draw.below(40)) / 7; })) {
    setup_ = setup_of(matrix_);
    setup_.source = static_cast<std::uint32_t>(draw.below(matrix_.rows));
    // Some limits end the loop at the first product of a pass, others at the second.
    if (draw.one_in(2)) setup_.limit = 1 + draw.below(5);
    if (draw.one_in(3)) setup_.tolerance = 1e-3;
    ApplicationJob job(application_, matrix_,
                       {.blocked = draw.one_in(3),
                        .block_side = 16,
                        .limit = setup_.limit,
                        .source = setup_.source,
                        .tolerance = setup_.tolerance});
    job.run();
    iterations_ = job.iterations();
    result_ = job.result();
    if (!application_.uses_values) matrix_.values.clear();
  }

  const SparseMatrix& matrix() const { return matrix_; }
  const lacuna_sida_setup& setup() const { return setup_; }
  std::uint64_t iterations() const { return iterations_; }
  std::uint64_t limit() const { return setup_.limit != 0 ? setup_.limit : application_.limit; }

  std::vector<double> contents(const char* name) const {
    std::vector<double> contents(matrix_.rows);
    application_.fill(&setup_, name, contents.data());
    return contents;
  }

  template <class T>
  std::vector<T> result() const {
    std::vector<T> values(result_.size() / sizeof(T));
    std::memcpy(values.data(), result_.data(), result_.size());
    return values;
  }

  template <class T>
  void expect(const Outcome<T>& expected) const {
    EXPECT_EQ(iterations_, expected.iterations);
    EXPECT_EQ(result<T>(), expected.result);
  }

 private:
  const lacuna_sida_application& application_;
  SparseMatrix matrix_;
  lacuna_sida_setup setup_{};
  std::uint64_t iterations_ = 0;
  std::vector<std::byte> result_;
};

void compare_breadth_first(Draw& draw) {
  const Comparison c("bfs", draw);
  c.expect(breadth_first(c.matrix(), c.setup().source, c.limit()));
}

void compare_shortest_paths(Draw& draw) {
  const Comparison c("sssp", draw);
  c.expect(shortest_paths(c.matrix(), c.setup().source, c.limit()));
}

/// The tolerance is relative, as all terms are positive: in each iteration both implementations round once for each term of the
/// sums over neighbours and over vertices without edges, and a few times more.
void compare_page_rank(Draw& draw) {
  const Comparison c("pr", draw);
  const Outcome<double> expected = page_rank(c.matrix(), c.setup().tolerance != 0 ? c.setup().tolerance : 1e-7, c.limit());
  ASSERT_EQ(c.iterations(), expected.iterations);
  const std::vector<double> got = c.result<double>();
  const double roundings = static_cast<double>(expected.iterations * (2 * std::uint64_t{c.matrix().rows} + 8));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected.result[i], roundings * std::numeric_limits<double>::epsilon() * expected.result[i]);
}

void compare_hops(Draw& draw) {
  const Comparison c("knn", draw);
  c.expect(hops(c.matrix(), c.setup().source, c.limit()));
}

void compare_labels(Draw& draw) {
  const Comparison c("label", draw);
  c.expect(propagate_labels(c.matrix(), c.contents("known"), c.contents("given"), c.limit()));
}

// LACUNA_SIDA_ORACLE_PROGRAMS sets the number of matrices per program.
void compare_all(void (*compare)(Draw& draw)) {
  constexpr std::uint64_t kCases = 200;
  const char* const more = std::getenv("LACUNA_SIDA_ORACLE_PROGRAMS");
  const std::uint64_t cases = more ? std::strtoull(more, nullptr, 10) : kCases;
  start_graphblas();
  for (std::uint64_t seed = 0; seed < cases && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    compare(draw);
  }
}

TEST(SidaGraphBlasApplications, BreadthFirst) { compare_all(compare_breadth_first); }
TEST(SidaGraphBlasApplications, ShortestPaths) { compare_all(compare_shortest_paths); }
TEST(SidaGraphBlasApplications, PageRank) { compare_all(compare_page_rank); }
TEST(SidaGraphBlasApplications, Hops) { compare_all(compare_hops); }
TEST(SidaGraphBlasApplications, Labels) { compare_all(compare_labels); }

}  // namespace
}  // namespace lacuna::sida::test

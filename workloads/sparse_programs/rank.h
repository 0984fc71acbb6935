// PageRank and label propagation: y = x A by columns, and the subsequent operations in the same kernel.
#pragma once

#include <utility>

#include "include/lacuna/sida_applications.h"
#include "workloads/sparse_programs/product.h"
#include "workloads/sparse_programs/run.h"

namespace workload {

/// One iteration of PageRank. The product's vector is ranks times shares; the kernel writes this vector for the next iteration,
/// the ranks, the sum of the ranks of vertices without outgoing edges, and the change of the ranks.
struct RankStep {
  using Sum = double;
  static constexpr unsigned totals = 2;  // ranks of vertices without outgoing edges, and the change of ranks
  const double *values, *scaled, *ranks, *shares, *given;
  double *next_scaled, *next;

  __device__ double term(unsigned entry, unsigned column) const { return values[entry] * scaled[column]; }
  __device__ void row(unsigned row, double sum, double* totals) const {
    const double rank = sum + *given, share = shares[row];
    next[row] = rank;
    next_scaled[row] = rank * share;
    if (share == 0) totals[0] += rank;
    totals[1] += fabs(rank - ranks[row]);
  }
};

struct RankStart {
  static constexpr unsigned totals = 1;
  const double *ranks, *shares;
  double* scaled;

  __device__ void element(unsigned i, double* totals) const {
    scaled[i] = ranks[i] * shares[i];
    if (shares[i] == 0) totals[0] += ranks[i];
  }
};

/// Computes the share of each rank that is due to vertices without outgoing edges and to damping, and passes the change of the
/// ranks to the host.
struct RankTotals {
  double per_vertex;  // 1 / vertices
  double *given, *change;
  bool has_change;

  __device__ void operator()(const double* sums) const {
    *given = (LACUNA_SIDA_RANK_DAMPING * sums[0] + (1 - LACUNA_SIDA_RANK_DAMPING)) * per_vertex;
    if (has_change) *change = sums[1];
  }
};

inline ProgramRun run_pr(Program& program, const Application& application, const RunOptions& options) {
  const unsigned vertices = application.rows();
  const Product product(application.by_columns(), options.form);
  const std::vector<double> start = application.contents<double>("pr", vertices);
  const DeviceArray<double> ranks("the ranks", start), next("the next ranks", vertices);
  const DeviceArray<double> scaled("the scaled ranks", vertices), next_scaled("the next scaled ranks", vertices);
  const DeviceArray<double> shares("the shares", application.contents<double>("row_sum", vertices)), given("given", 1);
  Partials partials(std::max(product.groups(), Partials::most_groups));
  const HostScalars<double> change(1);
  ProgramRun run;
  program.measure([&] { ranks.upload(start); },
                  [&] {
                    const double* const values = product.values();
                    double *from = ranks.data(), *to = next.data(), *from_scaled = scaled.data(),
                           *to_scaled = next_scaled.data();
                    partials.each(RankStart{from, shares.data(), from_scaled}, vertices);
                    partials.add_up<1>(RankTotals{1.0 / vertices, given.data(), change.data(), false});
                    run.iterations = 0;
                    do {
                      product.run(RankStep{values, from_scaled, from, shares.data(), given.data(), to_scaled, to}, partials);
                      partials.add_up<2>(RankTotals{1.0 / vertices, given.data(), change.data(), true});
                      std::swap(from, to);
                      std::swap(from_scaled, to_scaled);
                    } while (++run.iterations < application.limit() && change[0] > LACUNA_SIDA_RANK_TOLERANCE);
                  });
  const std::vector<double> result = (run.iterations % 2 == 0 ? ranks : next).download();
  const auto longest = static_cast<double>(product.longest());
  run.check = [&program, result, longest, vertices](const ApplicationResult& expected) {
    // No value is negative, so that relative errors only add: each iteration has a sum over a column, a sum over all vertices,
    // and six more operations, on the GPU and on the host.
    const double error = error_f64(2.0 * (longest + vertices + 6.0) * static_cast<double>(expected.iterations));
    const std::vector<double> right = expected.elements<double>();
    program.check_near("the rank", result, right, [&](size_t i) { return error * right[i]; });
  };
  program.report("form", product.form());
  return run;
}

/// One iteration of label propagation. Labels are -1, 0 and 1, so that their sums are exact.
struct LabelStep {
  using Sum = double;
  static constexpr unsigned totals = 1;  // number of changed labels
  const double *values, *labels, *shares, *known, *given;
  double* next;

  __device__ double term(unsigned entry, unsigned column) const { return values[entry] * labels[column]; }
  __device__ void row(unsigned row, double sum, double* totals) const {
    const double mean = sum * shares[row], sign = mean > 0 ? 1 : mean < 0 ? -1 : 0;
    const double label = known[row] != 0 ? given[row] : sign;
    next[row] = label;
    if (label != labels[row]) totals[0] += 1;
  }
};

struct StoreTotal {
  double* total;
  __device__ void operator()(const double* sums) const { *total = sums[0]; }
};

inline ProgramRun run_label(Program& program, const Application& application, const RunOptions& options) {
  const unsigned vertices = application.rows();
  const Product product(application.by_columns(), options.form);
  const std::vector<double> start = application.contents<double>("label", vertices);
  const DeviceArray<double> labels("the labels", start), next("the next labels", vertices);
  const DeviceArray<double> shares("the shares", application.contents<double>("share", vertices));
  const DeviceArray<double> known("the given labels", application.contents<double>("known", vertices));
  const DeviceArray<double> given("the given labels", application.contents<double>("given", vertices));
  Partials partials(std::max(product.groups(), Partials::most_groups));
  const HostScalars<double> changes(1);
  ProgramRun run;
  program.measure([&] { labels.upload(start); },
                  [&] {
                    double *from = labels.data(), *to = next.data();
                    run.iterations = 0;
                    do {
                      product.run(LabelStep{product.values(), from, shares.data(), known.data(), given.data(), to}, partials);
                      partials.add_up<1>(StoreTotal{changes.data()});
                      std::swap(from, to);
                    } while (++run.iterations < application.limit() && changes[0] != 0);
                  });
  const std::vector<double> result = (run.iterations % 2 == 0 ? labels : next).download();
  run.check = [&program, result](const ApplicationResult& expected) {
    program.check_equal("the label", result, expected.elements<double>());
  };
  program.report("form", product.form());
  return run;
}

}  // namespace workload

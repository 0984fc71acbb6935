// Minimum reliability paths, which minimise the product of the edges' reliabilities. The graph must not have cycles, which
// would reduce the product indefinitely. Reliabilities are 1 or a half, whose products are exact in half precision down to
// 2^-24.
#include "workloads/common/closure.h"

int main(int argc, char** argv) {
  workload::Program program("minrp", "Minimum reliability paths in a graph without cycles",
                            "SIMD2 (ISCA '22), applications: MINRP");
  return closure::run<simd2::minmul>(program, argc, argv, workload::Paths::least_product, {"dag"}, 4,
                                     [](float number) { return number <= 2 ? 1.0f : 0.5f; });
}

// Maximum reliability paths: the product of the edges' reliabilities is greatest. An edge is certain, or good for a half or a
// quarter: powers of two, whose products half precision has exactly, down to 2^-24.
#include "workloads/common/closure.h"

int main(int argc, char** argv) {
  workload::Program program("maxrp", "Maximum reliability paths",
                            "SIMD2 (ISCA '22), applications: MAXRP");
  return closure::run<simd2::maxmul>(program, argc, argv, workload::Paths::most_product, {"random", "grid", "scale-free"}, 8,
                                   [](float number) { return number <= 6 ? 1.0f : number == 7 ? 0.5f : 0.25f; });
}

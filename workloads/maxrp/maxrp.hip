// Maximum reliability paths, which maximise the product of the edges' reliabilities. Reliabilities are 1, a half or a quarter:
// powers of two, whose products are exact in half precision down to 2^-24.
#include "workloads/common/closure.h"

int main(int argc, char** argv) {
  workload::Program program("maxrp", "Maximum reliability paths", "SIMD2 (ISCA '22), applications: MAXRP");
  return closure::run<simd2::maxmul>(program, argc, argv, workload::Paths::most_product, {"random", "grid", "scale-free"}, 8,
                                     [](float number) { return number <= 6   ? 1.0f
                                                               : number == 7 ? 0.5f
                                                                             : 0.25f; });
}

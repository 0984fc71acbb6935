// All-pairs shortest paths. Weights are 1 to 16; a path's length must be exact in half precision (up to 2048).
#include "workloads/common/closure.h"

int main(int argc, char** argv) {
  workload::Program program("apsp", "All-pairs shortest paths",
                            "SIMD2 (ISCA '22), applications: APSP");
  return closure::run<simd2::minplus>(program, argc, argv, workload::Paths::shortest, {"random", "grid", "scale-free"}, 16,
                                   [](float number) { return number; });
}

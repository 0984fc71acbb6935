// All-pairs critical (longest) paths in a graph without cycles. Weights are 1 to 16.
#include "workloads/common/closure.h"

int main(int argc, char** argv) {
  workload::Program program("aplp", "All-pairs critical paths: the longest in a graph without cycles",
                            "SIMD2 (ISCA '22), applications: APLP");
  return closure::run<simd2::maxplus>(program, argc, argv, workload::Paths::longest, {"dag"}, 16,
                                   [](float number) { return number; });
}

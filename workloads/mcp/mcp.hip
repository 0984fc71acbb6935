// Maximum capacity paths between all vertices, which maximise the minimum capacity of the edges. Capacities are 1 to 1000.
#include "workloads/common/closure.h"

int main(int argc, char** argv) {
  workload::Program program("mcp", "Maximum capacity paths: the widest between all vertices",
                            "SIMD2 (ISCA '22), applications: MCP");
  return closure::run<simd2::maxmin>(program, argc, argv, workload::Paths::widest, {"random", "grid", "scale-free"}, 1000,
                                     [](float number) { return number; });
}

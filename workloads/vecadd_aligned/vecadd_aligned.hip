// VECADD-ALIGNED: the sum of two vectors whose elements are in the same memory partitions as the sum's.
#include "workloads/common/vecadd.h"

int main(int argc, char** argv) {
  return run_vecadd(argc, argv, "vecadd_aligned", "Sum of two vectors within each memory partition", 0);
}

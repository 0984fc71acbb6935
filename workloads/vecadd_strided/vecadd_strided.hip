// VECADD-STRIDED: the sum of two vectors; the elements of both and of the sum are in different memory partitions.
#include "workloads/common/vecadd.h"

int main(int argc, char** argv) {
  return run_vecadd(argc, argv, "vecadd_strided", "Sum of two vectors across memory partitions", 1);
}

// COPY-ALIGNED: copies an array to another one whose elements are in the same memory partitions.
#include "workloads/common/copy.h"

int main(int argc, char** argv) {
  return run_copy(argc, argv, "copy_aligned", "Copy of a vector within each memory partition", 0);
}

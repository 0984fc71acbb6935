// COPY-STRIDED: one array into another, whose elements are in other memory partitions.
#include "workloads/common/copy.h"

int main(int argc, char** argv) {
  return run_copy(argc, argv, "copy_strided", "Copy of a vector to other memory partitions", 1);
}

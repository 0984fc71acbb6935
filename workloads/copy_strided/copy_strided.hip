// COPY-STRIDED: copies an array to another one whose elements are in different memory partitions.
#include "workloads/common/copy.h"

int main(int argc, char** argv) {
  return run_copy(argc, argv, "copy_strided", "Copy of a vector to other memory partitions", 1);
}

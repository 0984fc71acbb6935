// Arrays with a known placement in memory partitions, for micro-benchmarks of near-data computing, which depend on whether the
// operands of an operation are in the same partition.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/common/program.h"

namespace workload {

/// Interleaving of addresses over the partitions: `chunk` bytes to each in turn. The defaults are those of the paper's GPU (A.
/// Pattnaik et al., Opportunistic computing in GPU architectures, 2019, table 2). Requires that partitions are not hashed
/// (`gpu.partition_hash = none`).
struct Interleave {
  int partitions = 0, chunk = 0;
  void options(Program& program) {
    program.size(partitions, "partitions", "memory partitions of the GPU", 8, 1, 1024);
    program.size(chunk, "chunk", "bytes in each partition before the next", 128, 4, 1 << 20);
  }
};

/// Arrays of `length` elements. Element i of each array is `shift` partitions after element i of the previous array; with
/// `shift` 0, the two elements are in the same partition.
template <typename T>
class PlacedArrays {
 public:
  PlacedArrays(const Interleave& interleave, std::size_t count, std::size_t length, unsigned shift)
      : length_(length),
        round_(static_cast<std::size_t>(interleave.partitions) * interleave.chunk),
        step_((length * sizeof(T) + round_ - 1) / round_ * round_ + static_cast<std::size_t>(shift) * interleave.chunk),
        memory_("the arrays", count * step_ + round_) {
    if (interleave.chunk % sizeof(T) != 0) throw UsageError("--chunk has to be a multiple of an element's size");
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    first_ = memory_.data() + (round_ - address % round_) % round_;
  }
  T* operator[](std::size_t array) const { return reinterpret_cast<T*>(first_ + array * step_); }
  void upload(std::size_t array, const std::vector<T>& values) const {
    require(hipMemcpy((*this)[array], values.data(), length_ * sizeof(T), hipMemcpyHostToDevice), "copying to the GPU");
  }
  std::vector<T> download(std::size_t array) const {
    std::vector<T> values(length_);
    require(hipMemcpy(values.data(), (*this)[array], length_ * sizeof(T), hipMemcpyDeviceToHost), "copying to the host");
    return values;
  }

 private:
  std::size_t length_, round_, step_;
  DeviceArray<char> memory_;
  char* first_;
};

}  // namespace workload

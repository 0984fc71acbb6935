// For the kernels of --form suite, which load and store as the programs of their suites do on a GPU without scalar loads.
//
// The suites are compiled to PTX, where each array element that the source names is a load of its own, by vector memory. For
// AMD GPUs the compiler makes scalar loads of addresses that are the same in all lanes, one wide load of neighbouring elements,
// and one load of what is named twice. A scalar load, a wide one, or one with two readers is no operand of an offload chain
// (models/neardata/finalizer.h). What the compiler does not know of an address, it cannot use.
#pragma once

#include <hip/hip_runtime.h>

namespace workload {

/// `value`, 4 or 8 bytes, in vector registers. The compiler takes it for any value, different in each lane: elements of an
/// array with this index are loaded by vector loads of their own. Costs no instruction but the move to a vector register.
template <typename T>
__device__ __forceinline__ T unknown(T value) {
  asm volatile("" : "+v"(value));
  return value;
}

/// The same, but not before `arrived` is there: loads with this index do not share their wait with that of `arrived`, which
/// therefore can be something that no chain has loaded.
template <typename T, typename Arrived>
__device__ __forceinline__ T unknown_after(Arrived& arrived, T value) {
  asm volatile("" : "+v"(value), "+v"(arrived));
  return value;
}

}  // namespace workload

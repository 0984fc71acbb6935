// Helpers for the kernels of --form suite, which load and store like their suites' programs on a GPU without scalar loads.
//
// The suites are compiled to PTX, where each array element named in the source is a separate vector load. For AMD GPUs the
// compiler uses scalar loads for addresses that are the same in all lanes, one wide load for adjacent elements, and one load
// for elements named twice. A scalar load, a wide load, or a load with two readers cannot be an operand of an offload
// chain (models/neardata/finalizer.h). These helpers hide the properties of addresses that the compiler would use.
#pragma once

#include <hip/hip_runtime.h>

namespace workload {

/// Returns `value`, 4 or 8 bytes, in vector registers. The compiler has to treat it as unknown and different in each lane, so
/// that elements of an array with this index are loaded by separate vector loads. The only cost is the move to a vector
/// register.
template <typename T>
__device__ __forceinline__ T unknown(T value) {
  asm volatile("" : "+v"(value));
  return value;
}

/// Like unknown(), but returns only after `arrived` has been loaded: loads with the returned index do not share a wait with the
/// load of `arrived`, which therefore need not belong to a chain.
template <typename T, typename Arrived>
__device__ __forceinline__ T unknown_after(Arrived& arrived, T value) {
  asm volatile("" : "+v"(value), "+v"(arrived));
  return value;
}

}  // namespace workload

// GPU memory of `lacuna sida run --machine device`: arrays one after the other, or at the addresses of another run's job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/gpu/gpu_device.h"
#include "models/sida/device/job_record.h"
#include "models/sida/device/vm_memory.h"

namespace lacuna {

class DeviceMemory {
 public:
  /// Maps all of GPU memory.
  explicit DeviceMemory(GpuDevice& gpu);
  /// Maps the pages of the arrays in `file` (job_arrays.csv); put() uses them in their order. Throws ConfigurationError if they
  /// are not in GPU memory or cannot be mapped.
  DeviceMemory(GpuDevice& gpu, const std::string& file);

  /// Allocates at a multiple of `alignment`, beside the arrays of the file. Throws ConfigurationError if there is no room.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = 256);
  /// Places an array and returns its address. Throws ConfigurationError if there is no room, or if the next array of the file
  /// has another size.
  std::uint64_t put(std::span<const std::byte> bytes);
  /// Throws ConfigurationError if put() has not used all arrays of the file.
  void check_all_used() const;

  void read(std::uint64_t address, std::span<std::byte> bytes) const { memory_.read(address, bytes); }
  /// An object within one mapping.
  template <class T>
  T& at(std::uint64_t address) {
    return *reinterpret_cast<T*>(vm_.pointer(address, sizeof(T), isa::Access::read_write));
  }
  std::uint64_t taken() const { return next_; }

 private:
  void map_arrays();
  void map_rest();
  std::uint64_t next_place(std::uint64_t bytes);
  [[noreturn]] void refuse(const std::string& why) const;

  GpuVm& vm_;
  BackingStore& vram_;
  sida::VmMemory memory_;
  std::string file_;                  ///< empty: arrays are placed one after the other
  std::vector<SidaJobArray> places_;  ///< of the file
  std::size_t used_ = 0;              ///< number of places that put() has used
  // Memory of allocate(): bytes [next_, end_) of GPU memory. Byte 0 of GPU memory would have the virtual address base_.
  std::uint64_t base_, next_ = 0, end_;
};

}  // namespace lacuna

// Arrays in GPU memory, and readable HIP errors.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace workload {

/// Throws workload::Error with HIP's error text unless `status` is hipSuccess. `what`: the operation.
void require(hipError_t status, const std::string& what);
/// Allocates GPU memory for `count` elements of `element_size` bytes. Throws an Error that states the available memory if the
/// array does not fit. `name`: the array's name in messages.
void* allocate(const std::string& name, std::size_t count, std::size_t element_size);
/// Frees memory returned by allocate(); `count` and `element_size` must be those of the allocation.
void release(void* memory, std::size_t count, std::size_t element_size);
/// Maximum number of bytes allocated at the same time.
std::size_t peak_memory();

/// `count` elements of T in GPU memory, freed by the destructor.
template <typename T>
class DeviceArray {
 public:
  /// Contents are undefined.
  DeviceArray(const std::string& name, std::size_t count)
      : name_(name), count_(count), data_(static_cast<T*>(allocate(name, count, sizeof(T)))) {}
  DeviceArray(const std::string& name, const std::vector<T>& values) : DeviceArray(name, values.size()) { upload(values); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { release(data_, count_, sizeof(T)); }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  void upload(const std::vector<T>& values) const {
    require(hipMemcpy(data_, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
            "copying " + name_ + " to the GPU");
  }
  void clear() const { require(hipMemset(data_, 0, count_ * sizeof(T)), "clearing " + name_); }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    require(hipMemcpy(values.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost), "copying " + name_ + " to the host");
    return values;
  }

 private:
  std::string name_;
  std::size_t count_;
  T* data_;
};

/// Number of workgroups of `size` work-items that cover `count` work-items.
inline unsigned groups(std::size_t count, std::size_t size) { return static_cast<unsigned>((count + size - 1) / size); }

}  // namespace workload

// Arrays of neural networks, and their expected contents.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "workloads/common/device_array.h"

namespace workload {

/// An array in GPU memory with a cached host copy: get() downloads the array only if the copy is outdated. put() keeps its
/// values as the host copy if results are checked.
template <typename T>
class Tensor {
 public:
  Tensor(const std::string& name, std::size_t count, bool checked) : device_(name, count), checked_(checked) {}
  std::size_t size() const { return device_.size(); }
  /// Data for kernels that only read the array; for kernels that write it, use target().
  const T* data() const { return device_.data(); }
  T* target() {
    known_ = false;
    return device_.data();
  }
  void put(const std::vector<T>& values) {
    if (checked_) host_ = values;
    known_ = checked_;
    if (std::all_of(values.begin(), values.end(), [](T value) { return value == T{}; })) {
      device_.clear();
    } else {
      device_.upload(values);
    }
  }
  const std::vector<T>& get() const {
    if (!known_) host_ = device_.download();
    known_ = true;
    return host_;
  }

 private:
  DeviceArray<T> device_;
  bool checked_;
  mutable std::vector<T> host_;
  mutable bool known_ = false;
};

/// Expected values, and a bound of the error of single precision for each.
///
/// The error of a sum of n products is bounded by 8 sqrt(n) u times the sum of the products' magnitudes, u = 2^-24: rounding
/// errors are practically independent, so that their sum stays within the bound with a probability of 1 - 2 exp(-32) (Higham,
/// Mary: A new approach to probabilistic rounding error analysis, 2019, theorem 2.4). The worst-case bound n u would accept a
/// sum that lacks one of its terms. Elementwise expressions are bounded by 16 u times the sum of the magnitudes of their terms.
struct Expected {
  explicit Expected(std::size_t count) : values(count), magnitudes(count) {}
  double bound(std::size_t i) const { return factor * magnitudes[i]; }
  std::vector<double> values, magnitudes;
  double factor = 16 * 0x1p-24;
};

inline double sum_factor(double terms) { return 8 * std::sqrt(terms) * 0x1p-24 + 0x1p-23; }

}  // namespace workload

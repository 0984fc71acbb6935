#pragma once
// Common parts of the HIP programs of this folder: checks that report file, line, actual and expected value and continue after
// a failure, arrays in device memory, and reproducible data. A program ends with `return check::result();`, which returns 0, or
// 1 if a check failed.
#include <hip/hip_runtime.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

// Performs a HIP call on which the rest of the program depends: any status but hipSuccess ends the program.
#define HIP_CHECK(call) check::require_success((call), #call, __FILE__, __LINE__)
// Compares the status of a HIP call with the expected status.
#define EXPECT_STATUS(call, expected) check::status((call), (expected), #call, __FILE__, __LINE__)
#define EXPECT_EQ(got, expected) check::equal((got), (expected), #got, __FILE__, __LINE__)
#define EXPECT_NEAR(got, expected, tolerance) check::near((got), (expected), (tolerance), #got, __FILE__, __LINE__)
#define EXPECT_BETWEEN(got, low, high) check::between((got), (low), (high), #got, __FILE__, __LINE__)
#define EXPECT_TRUE(condition) check::equal(static_cast<bool>(condition), true, #condition, __FILE__, __LINE__)
// Compares every element of a vector with `expected(index)`; reports the number of differences and the first few of them.
#define EXPECT_EACH(vector, ...) check::each((vector), (__VA_ARGS__), #vector, __FILE__, __LINE__)

namespace check {

inline std::atomic<int>& checks() {
  static std::atomic<int> count{0};
  return count;
}

inline std::atomic<int>& failures() {
  static std::atomic<int> count{0};
  return count;
}

template <typename T>
std::string text(const T& value) {
  char buffer[64];
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    return text(static_cast<long long>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    std::snprintf(buffer, sizeof buffer, "%.17g", static_cast<double>(value));
  } else if constexpr (std::is_signed_v<T>) {
    std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(value));
  } else if constexpr (std::is_integral_v<T>) {
    const auto number = static_cast<unsigned long long>(value);
    std::snprintf(buffer, sizeof buffer, "%llu (0x%llx)", number, number);
  } else if constexpr (std::is_pointer_v<T>) {
    std::snprintf(buffer, sizeof buffer, "%p", reinterpret_cast<const void*>(value));
  } else {
    return value;
  }
  return buffer;
}

inline std::string text(const char* value) { return value; }

inline void fail(const char* file, int line, const std::string& what, const std::string& got, const std::string& expected) {
  const int number = ++failures();
  if (number <= 20) {
    std::fprintf(stderr, "%s:%d: %s: got %s, expected %s\n", file, line, what.c_str(), got.c_str(), expected.c_str());
  } else if (number == 21) {
    std::fprintf(stderr, "further failures are not shown\n");
  }
}

template <typename Got, typename Expected>
bool equal(const Got& got, const Expected& expected, const char* what, const char* file, int line) {
  ++checks();
  bool same;
  if constexpr (std::is_integral_v<Got> && std::is_integral_v<Expected>) {
    same = got == static_cast<Got>(expected) && static_cast<Expected>(got) == expected;
  } else {
    same = got == expected;
  }
  if (!same) fail(file, line, what, text(got), text(expected));
  return same;
}

inline void near(double got, double expected, double tolerance, const char* what, const char* file, int line) {
  ++checks();
  if (!(std::fabs(got - expected) <= tolerance)) fail(file, line, what, text(got), text(expected) + " +- " + text(tolerance));
}

template <typename Got, typename Low, typename High>
void between(Got got, Low low, High high, const char* what, const char* file, int line) {
  ++checks();
  if (!(got >= static_cast<Got>(low) && got <= static_cast<Got>(high))) {
    fail(file, line, what, text(got), text(static_cast<Got>(low)) + " to " + text(static_cast<Got>(high)));
  }
}

template <typename T, typename Expected>
void each(const std::vector<T>& got, Expected expected, const char* what, const char* file, int line) {
  ++checks();
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const T wanted = static_cast<T>(expected(i));
    if (got[i] == wanted) continue;
    if (++wrong <= 3) fail(file, line, std::string(what) + "[" + std::to_string(i) + "]", text(got[i]), text(wanted));
  }
  if (wrong > 3) std::fprintf(stderr, "%s:%d: %s: %zu of %zu elements are wrong\n", file, line, what, wrong, got.size());
}

inline void status(hipError_t got, hipError_t expected, const char* what, const char* file, int line) {
  ++checks();
  if (got != expected) fail(file, line, what, hipGetErrorName(got), hipGetErrorName(expected));
}

inline void require_success(hipError_t got, const char* what, const char* file, int line) {
  ++checks();
  if (got == hipSuccess) return;
  fail(file, line, what, std::string(hipGetErrorName(got)) + " (" + hipGetErrorString(got) + ")", "hipSuccess");
  std::exit(1);
}

inline int result() {
  if (failures() != 0) {
    std::fprintf(stderr, "%d checks failed\n", failures().load());
    return 1;
  }
  std::printf("%d checks passed\n", checks().load());
  return 0;
}

// A pseudo-random number computed from an index; host and device obtain the same number.
__host__ __device__ inline uint32_t scramble(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  x = (x ^ (x >> 16)) * 0x45d9f3bu;
  return x ^ (x >> 16);
}

template <typename T>
std::vector<T> scrambled(size_t count, uint32_t seed = 1) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(scramble(static_cast<uint32_t>(i) + seed * 0x9e3779b9u));
  return values;
}

// Device memory for `count` elements of T, freed by the destructor.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { HIP_CHECK(hipMalloc(&data_, count * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { upload(values); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { (void)hipFree(data_); }

  T* data() const { return data_; }
  size_t size() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  void upload(const std::vector<T>& values) {
    HIP_CHECK(hipMemcpy(data_, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  }
  void clear() { HIP_CHECK(hipMemset(data_, 0, bytes())); }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    HIP_CHECK(hipMemcpy(values.data(), data_, bytes(), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

}  // namespace check

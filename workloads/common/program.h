// The common framework of workloads: options with presets, seeded input, timing, checks, and the closing line. A workload is
//
//   int main(int argc, char** argv) {
//     workload::Program program("relu", "Rectified linear unit of a vector", "LazyGPU (ISCA '25), Table 3");
//     int length = 0;
//     program.size(length, "length", "elements", {1000, 4096, 1 << 20});
//     program.takes_sparsity("the vector");
//     return program.run(argc, argv, [&] {
//       const std::vector<float> x = program.sparsified(program.random().uniform_values(length, -1, 1));
//       const workload::DeviceArray<float> device_x("x", x), device_y("y", x.size());
//       program.measure([&] { relu<<<...>>>(...); });
//       if (program.checks()) program.check_equal("y", device_y.download(), reference(x));
//     });
//   }
//
// Every workload has the options --preset, --seed, --repeat, --check, --help and --describe in addition to its own. Exit
// codes: 0; 1 for a failed check, a GPU error or input that does not fit into memory; 2 for a wrong command line.
//
// The last line of the output is `result: key=value ...`: workload, preset, gpu, every option, `time_us` (simulated time of
// each repetition, by events, separated by commas), values added by the workload, check (passed, failed or skipped) and, if
// numbers were compared within bounds, `worst`: the largest error relative to its bound.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "workloads/common/device_array.h"
#include "workloads/common/error.h"
#include "workloads/common/random.h"

namespace workload {

/// Values of an option in the presets.
template <typename T>
struct Presets {
  Presets(T every) : small(every), standard(every), paper(every) {}
  Presets(T for_tests, T default_value, T as_in_paper) : small(for_tests), standard(default_value), paper(as_in_paper) {}
  T small;     ///< --preset small: used by the tests, under 2 s in loose timing
  T standard;  ///< --preset default
  T paper;     ///< --preset paper: large enough to fill the paper's GPU
};

class Program {
 public:
  /// `name` is the program's name; `summary` is half a line; `source` names the paper that uses the program, and the origin of
  /// algorithm and sizes.
  Program(std::string name, std::string summary, std::string source);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The following functions add an option, whose variable run() sets before it calls the body. `what` is a short description
  // for --help.
  void size(int& variable, const std::string& option, const std::string& what, const Presets<int>& values, int least = 1,
            int most = std::numeric_limits<int>::max());
  void real(double& variable, const std::string& option, const std::string& what, const Presets<double>& values, double least,
            double most);
  void choice(std::string& variable, const std::string& option, const std::string& what,
              const std::vector<std::string>& choices, const Presets<std::string>& values);
  void text(std::string& variable, const std::string& option, const std::string& what, const Presets<std::string>& values);
  void flag(bool& variable, const std::string& option, const std::string& what);
  /// Adds --sparsity: the share of `what` that `sparsified` sets to zero.
  void takes_sparsity(const std::string& what);

  /// Parses the command line, runs the body, prints the closing line. Returns the exit code.
  int run(int argc, char** argv, const std::function<void()>& body);

  // The body calls the following functions.
  bool checks() const { return checks_; }
  double sparsity() const { return sparsity_; }
  /// The random number generator, seeded by --seed; its sequence does not depend on --sparsity.
  Random& random() { return *random_; }
  /// Returns the values, of which exactly round(sparsity * count), randomly chosen, are set to zero.
  template <typename T>
  std::vector<T> sparsified(std::vector<T> values) {
    for (const std::size_t index : chosen_for_zero(values.size())) values[index] = T{};
    return values;
  }
  /// For each of --repeat repetitions, calls `prepare`, which restores overwritten data and is not timed, and then `launch`,
  /// which is timed.
  void measure(const std::function<void()>& prepare, const std::function<void()>& launch);
  void measure(const std::function<void()>& launch);
  /// Adds `key=value` to the closing line.
  void report(const std::string& key, const std::string& value);
  void report(const std::string& key, double value);

  /// Checks that every element equals the expected element.
  template <typename T>
  void check_equal(const std::string& what, const std::vector<T>& got, const std::vector<T>& expected) {
    compare_sizes(what, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!(got[i] == expected[i])) different(what, i, static_cast<double>(got[i]), static_cast<double>(expected[i]), 0);
    }
  }
  /// Checks |got - expected| <= bound(i) for every element i; a NaN fails.
  template <typename T, typename Bound>
  void check_near(const std::string& what, const std::vector<T>& got, const std::vector<double>& expected, Bound bound) {
    compare_sizes(what, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double limit = bound(i), error = std::fabs(static_cast<double>(got[i]) - expected[i]);
      if (error <= limit) {
        if (error > worst_ * limit) worst_ = error / limit;
      } else {
        different(what, i, static_cast<double>(got[i]), expected[i], limit);
      }
    }
    bounded_ = true;
  }
  /// Checks that `condition` is true.
  void check_true(const std::string& what, bool condition);

 private:
  struct Option;

  Option& add(const std::string& name, const std::string& what);
  void parse(int argc, char** argv);
  void print_help() const;
  void print_description() const;
  void print_result() const;
  std::vector<std::size_t> chosen_for_zero(std::size_t count);
  void compare_sizes(const std::string& what, std::size_t got, std::size_t expected);
  void different(const std::string& what, std::size_t index, double got, double expected, double bound);

  std::string name_, summary_, source_;
  std::vector<std::unique_ptr<Option>> options_;
  std::string preset_;
  int seed_ = 1, repeat_ = 1;
  bool checks_ = false, bounded_ = false;
  double sparsity_ = 0, worst_ = 0;
  std::unique_ptr<Random> random_, random_zeros_;
  std::string gpu_, times_, reported_;
  std::size_t compared_ = 0, wrong_ = 0;
  bool parsed_ = false, measured_ = false;
};

/// The largest relative error of a sum of `terms` rounded products in single precision, in any order and with or without fused
/// multiply-adds: n u / (1 - n u), u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Multiplied
/// by the sum of the products' magnitudes, it bounds the error of the sum.
inline double sum_error(double terms) { return terms * 0x1p-24 / (1 - terms * 0x1p-24); }

}  // namespace workload

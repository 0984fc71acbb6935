#include "math_check.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "files.h"
#include "real.h"
#include "samples.h"
#include "subprocess.h"
#include "ulp.h"

namespace lacuna::math {
namespace {

using programs::bytes_of;
using programs::Variant;
using programs::write_file;

constexpr std::chrono::seconds kRunLimit{900};  ///< a run that takes longer is considered hung, even on a busy host
/// Bits of precision for the exact product of two doubles plus a third double; also sufficient for all other functions that
/// must be correctly rounded.
constexpr mpfr_prec_t kExactPrecision = 4400;
constexpr mpfr_prec_t kPrecision = 192;

/// Test case: a function with one type, and its operands.
template <typename T>
struct Case {
  static constexpr const char* kType = std::is_same_v<T, float> ? "float" : "double";
  const MathFunction* function;
  Samples<T> samples;

  [[nodiscard]] std::string name() const { return std::string(function->name) + "_" + kType; }
  [[nodiscard]] double bound() const { return std::is_same_v<T, float> ? function->float_bound : function->double_bound; }

  [[nodiscard]] std::string kernel() const {
    const std::string type = kType;
    return "kernel void " + name() + "(global const " + type + " *as, global const " + type + " *bs, global const " + type +
           " *cs, global const int *ns, global " + type + " *out) {\n  size_t i = get_global_id(0);\n  " + type +
           " a = as[i], b = bs[i], c = cs[i];\n  int n = ns[i];\n  out[i] = " + function->expression + ";\n}\n";
  }

  /// Writes the operands to files. Returns the function's part of the launch file.
  [[nodiscard]] std::string launch(const std::filesystem::path& folder) const {
    write_file(folder / (name() + ".a"), bytes_of(samples.a));
    write_file(folder / (name() + ".b"), bytes_of(samples.b));
    write_file(folder / (name() + ".c"), bytes_of(samples.c));
    write_file(folder / (name() + ".n"), bytes_of(samples.n));
    std::string text = "[dispatch " + name() + "]\ngrid = " + std::to_string(samples.a.size()) + "\nblock = 64\n";
    for (const char* operand : {".a", ".b", ".c", ".n"}) text += "arg = in:" + name() + operand + "\n";
    return text + "arg = out:" + std::to_string(samples.a.size() * sizeof(T)) + ":" + name() + ".out\n\n";
  }
};

template <typename T>
bool denormal(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}

template <typename T>
std::string hex(T x) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%a", static_cast<double>(x));
  return text.data();
}

template <typename T>
class Meter {
 public:
  Meter(const Case<T>& test, bool flushes)
      : case_(test),
        flushes_(flushes && std::is_same_v<T, float>),
        a_(kBits),
        b_(kBits),
        c_(kBits),
        exact_(test.bound() == kCorrectlyRounded ? kExactPrecision : kPrecision) {}

  Finding measure(const std::vector<T>& got) {
    Finding finding{case_.function, std::is_same_v<T, double>, case_.bound(), 0, "", static_cast<unsigned>(got.size()), 0};
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = error_of(i, got[i]);
      // For functions that must be correctly rounded, the bound is 0, and so is the error of the correctly rounded result.
      if (error > case_.bound()) ++finding.beyond;
      if (error > finding.worst) {
        finding.worst = error;
        finding.worst_at = describe(i, got[i]);
      }
    }
    return finding;
  }

 private:
  static constexpr mpfr_prec_t kBits = 64;

  double error_of(std::size_t i, T got) {
    const Samples<T>& s = case_.samples;
    const double error = error_with(s.a[i], s.b[i], s.c[i], s.n[i], got);
    if (got == 0 && mpfr_zero_p(exact_.get()) && case_.function->any_zero) return 0;
    if (error <= case_.bound() || !flushes_) return error;
    // OpenCL C 3.0, 7.5.3: if denormals are not supported, denormal results and operands may be replaced by zero.
    if (got == 0 && may_be_denormal()) return 0;
    if (!denormal(s.a[i]) && !denormal(s.b[i]) && !denormal(s.c[i])) return error;
    const double with_zeros = error_with(flushed(s.a[i]), flushed(s.b[i]), flushed(s.c[i]), s.n[i], got);
    return got == 0 && may_be_denormal() ? 0 : std::min(error, with_zeros);
  }

  /// Whether the exact value, or a value within the error bound, may be smaller in magnitude than all normal numbers.
  bool may_be_denormal() {
    if (mpfr_zero_p(exact_.get()) || !mpfr_number_p(exact_.get())) return false;
    const double smallest = static_cast<double>(std::numeric_limits<T>::min());
    return std::fabs(mpfr_get_d(exact_.get(), MPFR_RNDZ)) <=
           smallest * (1 + case_.bound() * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }

  static T flushed(T x) { return denormal(x) ? std::copysign(T(0), x) : x; }

  double error_with(T a, T b, T c, std::int32_t n, T got) {
    mpfr_set_d(a_.get(), static_cast<double>(a), MPFR_RNDN);
    mpfr_set_d(b_.get(), static_cast<double>(b), MPFR_RNDN);
    mpfr_set_d(c_.get(), static_cast<double>(c), MPFR_RNDN);
    case_.function->reference(exact_.get(), {a_.get(), b_.get(), c_.get(), n});
    return case_.bound() == kCorrectlyRounded ? rounding_error(got, exact_.get()) : ulp_error(got, exact_.get());
  }

  std::string describe(std::size_t i, T got) {
    const Samples<T>& s = case_.samples;
    const bool integer = std::strstr(case_.function->expression, ", n)") != nullptr;
    std::string text = hex(s.a[i]);
    if (case_.function->operands > 1) text += ", " + hex(s.b[i]);
    if (case_.function->operands > 2) text += ", " + hex(s.c[i]);
    if (integer) text += ", " + std::to_string(s.n[i]);
    error_with(s.a[i], s.b[i], s.c[i], s.n[i], got);
    return text + " gives " + hex(got) + ", exact " + hex(mpfr_get_d(exact_.get(), MPFR_RNDN));
  }

  const Case<T>& case_;
  bool flushes_;
  Real a_, b_, c_, exact_;
};

template <typename T>
std::vector<Case<T>> cases(unsigned samples, std::uint64_t seed, const std::string& only) {
  std::vector<Case<T>> result;
  for (const MathFunction& function : math_functions()) {
    Case<T> test{&function, {}};
    if (test.bound() == kNotThere || (!only.empty() && only != function.name)) continue;
    test.samples = samples_of<T>(function, samples, seed++);
    result.push_back(std::move(test));
  }
  return result;
}

template <typename T>
void measure_all(const std::vector<Case<T>>& cases, const std::filesystem::path& folder, bool flushes,
                 std::vector<Finding>& findings) {
  for (const Case<T>& test : cases) {
    const std::vector<std::uint8_t> bytes = programs::read_file(folder / (test.name() + ".out"));
    std::vector<T> got(test.samples.a.size());
    if (bytes.size() != got.size() * sizeof(T)) throw programs::RunError(test.name() + ": no result");
    std::memcpy(got.data(), bytes.data(), bytes.size());
    findings.push_back(Meter<T>(test, flushes).measure(got));
  }
}

}  // namespace

std::vector<Finding> measure(const Variant& variant, const programs::Simulator& simulator, unsigned samples, std::uint64_t seed,
                             const std::string& only) {
  const programs::TemporaryFolder folder;
  const std::vector<Case<float>> floats = cases<float>(samples, seed, only);
  const std::vector<Case<double>> doubles = cases<double>(samples, seed + 1000, only);
  std::string source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  std::string launch = "[code]\nfile = math.co\n\n";
  for (const auto& test : floats) {
    source += test.kernel();
    launch += test.launch(folder.path());
  }
  for (const auto& test : doubles) {
    source += test.kernel();
    launch += test.launch(folder.path());
  }
  write_file(folder.path() / "math.cl", source);
  write_file(folder.path() / "math.launch", launch);
  programs::compile_for_gpu(folder.path() / "math.cl", variant, folder.path() / "math.co", {});
  std::vector<std::string> command{simulator.executable.string(), "launch", "math.launch"};
  command.insert(command.end(), simulator.options.begin(), simulator.options.end());
  const programs::Outcome outcome = programs::run_command(command, folder.path(), kRunLimit);
  if (outcome.exit_code != 0)
    throw programs::RunError("exit code " + std::to_string(outcome.exit_code) + "\n" + outcome.output);
  std::vector<Finding> findings;
  // Denormals of single precision are optional in OpenCL. Clang disables them for gfx803. On gfx90a, code of the library
  // uses v_rcp_f32, v_sqrt_f32, v_rsq_f32 and v_log_f32, which treat denormals as zero.
  const bool flushes = true;
  measure_all(floats, folder.path(), flushes, findings);
  measure_all(doubles, folder.path(), flushes, findings);
  return findings;
}

}  // namespace lacuna::math

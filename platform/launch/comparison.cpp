#include "platform/launch/comparison.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

constexpr std::size_t kShownDifferences = 8;

bool within_ulp(ElementType type, const std::byte* value, const std::byte* reference, std::uint64_t ulp) {
  if (!is_floating(type)) {
    const WideInteger distance = load_element(type, value).integer - load_element(type, reference).integer;
    return (distance < 0 ? -distance : distance) <= ulp;
  }
  const WideInteger distance = WideInteger{float_position(type, value)} - float_position(type, reference);
  return (distance < 0 ? -distance : distance) <= ulp;
}

class ComparisonFile final : public GuestFile {
 public:
  ComparisonFile(const std::filesystem::path& reference, const Tolerance& tolerance, std::optional<ElementType> type,
                 ComparisonResult& result)
      : stream_(reference, std::ios::binary), tolerance_(tolerance), result_(result) {
    result_.typed = type.has_value();
    result_.type = type.value_or(ElementType::u8);
    size_ = element_size(result_.type);
    if (!stream_) result_.error = reference.string() + " cannot be read";
  }

  std::int64_t write(std::span<const std::byte> bytes) override {
    reference_.resize(bytes.size());
    stream_.read(reinterpret_cast<char*>(reference_.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) {
      if (result_.error.empty()) result_.error = "the reference ended early";
      return errno = EIO, -1;
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      value_element_[filled_] = bytes[at];
      reference_element_[filled_] = reference_[at];
      if (++filled_ == size_) compare();
    }
    return static_cast<std::int64_t>(bytes.size());
  }
  std::int64_t read(std::span<std::byte>) override { return errno = EBADF, -1; }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return 0; }

 private:
  void compare() {
    filled_ = 0;
    const std::uint64_t index = result_.elements++;
    if (std::memcmp(value_element_.data(), reference_element_.data(), size_) == 0) return;
    const double value = load_element(result_.type, value_element_.data()).as_double();
    const double reference = load_element(result_.type, reference_element_.data()).as_double();
    if (!tolerance_.exact() && close(value, reference)) return;
    ++result_.differing;
    const double distance = std::fabs(value - reference);
    if (distance > result_.largest_absolute) result_.largest_absolute = distance;
    if (reference != 0 && distance / std::fabs(reference) > result_.largest_relative)
      result_.largest_relative = distance / std::fabs(reference);
    if (result_.first.size() < kShownDifferences)
      result_.first.push_back(
          {index, element_text(result_.type, value_element_.data()), element_text(result_.type, reference_element_.data())});
  }

  bool close(double value, double reference) const {
    if (std::isnan(value) || std::isnan(reference)) return std::isnan(value) && std::isnan(reference);
    // An infinity is equal only to itself.
    if (value == reference) return true;
    const double distance = std::fabs(value - reference);
    if (std::isfinite(distance)) {
      if (tolerance_.absolute && distance <= *tolerance_.absolute) return true;
      if (tolerance_.relative && distance <= *tolerance_.relative * std::fabs(reference)) return true;
    }
    return tolerance_.ulp && within_ulp(result_.type, value_element_.data(), reference_element_.data(), *tolerance_.ulp);
  }

  std::ifstream stream_;
  Tolerance tolerance_;
  ComparisonResult& result_;
  std::size_t size_ = 1;
  std::size_t filled_ = 0;
  std::array<std::byte, 8> value_element_{};
  std::array<std::byte, 8> reference_element_{};
  std::vector<std::byte> reference_;
};

}  // namespace

Tolerance parse_tolerance(std::string_view text, const ExpressionScope& scope) {
  Tolerance tolerance;
  if (trimmed(text).empty()) return tolerance;
  for (const std::string& part : split_outside(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string key(trimmed(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos && key == "exact") continue;
    if (equals == std::string::npos || (key != "abs" && key != "rel" && key != "ulp"))
      throw LaunchError("tolerance \"" + part + "\" is not abs=X, rel=X, ulp=N or exact" +
                        did_you_mean(nearest_name({"abs", "rel", "ulp", "exact"}, key)));
    const std::string value = part.substr(equals + 1);
    if (key == "ulp") {
      tolerance.ulp = static_cast<std::uint64_t>(evaluate_integer(value, scope, 0, std::numeric_limits<std::int64_t>::max()));
      continue;
    }
    const double limit = evaluate(value, scope).as_double();
    if (!(limit >= 0)) throw LaunchError("tolerance " + part + " is negative");
    (key == "abs" ? tolerance.absolute : tolerance.relative) = limit;
  }
  return tolerance;
}

void check_comparison(const std::filesystem::path& reference, std::uint64_t bytes, const Tolerance& tolerance,
                      std::optional<ElementType> type) {
  std::error_code status;
  if (reference.empty()) throw LaunchError("a comparison names no file");
  if (!std::filesystem::is_regular_file(reference, status)) throw LaunchError(reference.string() + ": no such file");
  const std::uint64_t size = std::filesystem::file_size(reference, status);
  if (size != bytes)
    throw LaunchError(reference.string() + ": has " + std::to_string(size) + " bytes, the buffer " + std::to_string(bytes));
  if (!tolerance.exact() && !type) throw LaunchError("a tolerance needs the buffer's element type (type=…)");
  if (type && bytes % element_size(*type) != 0)
    throw LaunchError(std::to_string(bytes) + " bytes are not whole elements of " + std::string(element_type_name(*type)));
}

std::unique_ptr<GuestFile> open_comparison(const std::filesystem::path& reference, const Tolerance& tolerance,
                                           std::optional<ElementType> type, ComparisonResult& result) {
  return std::make_unique<ComparisonFile>(reference, tolerance, type, result);
}

std::string ComparisonResult::text() const {
  std::ostringstream out;
  const std::string unit = typed ? std::string(element_type_name(type)) + " elements" : "bytes";
  if (!error.empty()) {
    out << "comparison: " << buffer << " with " << reference << ": " << error << '\n';
  } else if (differing == 0) {
    out << "comparison: " << buffer << " equals " << reference << " (" << elements << ' ' << unit << ")\n";
  } else {
    out << "comparison: " << buffer << " differs from " << reference << " in " << differing << " of " << elements << ' ' << unit
        << ", by at most " << largest_absolute;
    if (largest_relative > 0) out << " (relative " << largest_relative << ')';
    out << '\n';
    for (const Difference& d : first) out << "  [" << d.index << "] " << d.value << ", reference " << d.reference << '\n';
    if (differing > first.size()) out << "  …\n";
  }
  return out.str();
}

}  // namespace lacuna

// Parameters of the simulator. Type, unit, default, description, valid range and source of each are declared next to the member
// that holds it.
//
// A module's parameter struct lists its members once in describe(); command line, configuration files, --list-params,
// docs/reference/parameters.md and the effective configuration are all derived from that list:
//
//   struct CacheParameters {
//     Bytes size = 16_KiB;
//     unsigned ways = 4;
//     void describe(ParameterSection& s) {
//       s.add("size", size, "Capacity", {.range = {1024, 1 << 30}, .power_of_two = true, .source = "LazyGPU Table 2"});
//       s.add("ways", ways, "Associativity", {.range = {1, 64}});
//     }
//   };
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/common/config/choice.h"
#include "models/common/time/units.h"

namespace lacuna {

/// Inclusive range of legal values in the parameter's base unit (bytes, hertz, cycles, picoseconds, plain number).
struct ParameterRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};

struct ParameterTraits {
  ParameterRange range{};
  bool power_of_two = false;
  std::string_view unit = {};    ///< unit of plain numbers ("lanes", "wavefronts"); strong types imply their units
  std::string_view source = {};  ///< source of the default: paper and table, manual and section
};

/// A member of an enumeration that can be configured by name.
struct EnumValue {
  std::string_view name;
  int value;
  std::string_view meaning = {};  ///< a phrase that is appended to the parameter's description
};

/// A parameter, bound to the member that holds its value.
class Parameter {
 public:
  virtual ~Parameter() = default;
  /// Parses text ("64KiB", "1.2GHz", "14ns", "true", a name) into the member. Returns the reason if the text is invalid.
  virtual std::optional<std::string> parse(std::string_view text) = 0;
  /// The member's value as text from which parse() restores it exactly.
  virtual std::string text() const = 0;
  virtual std::string type_name() const = 0;
  virtual std::string unit() const = 0;
  /// Human-readable legal values ("1..64", "functional | loose | reference").
  virtual std::string legal() const = 0;

  std::string name;  ///< "section.name"
  std::string description;
  std::string source;
  std::string default_text;  ///< text() at registration
};

class ParameterSection {
 public:
  explicit ParameterSection(std::string name) : name_(std::move(name)) {}
  ParameterSection(const ParameterSection&) = delete;
  ParameterSection& operator=(const ParameterSection&) = delete;

  void add(std::string_view name, bool& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, unsigned& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, std::uint64_t& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, double& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, std::string& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, Bytes& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, Frequency& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, Cycles& member, std::string_view description, ParameterTraits traits = {});
  void add(std::string_view name, Tick& member, std::string_view description, ParameterTraits traits = {});
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(std::string_view name, Enum& member, std::string_view description, std::vector<EnumValue> values,
           ParameterTraits traits = {}) {
    add_enum(
        name, std::move(values), [&member] { return static_cast<int>(member); },
        [&member](int v) { member = static_cast<Enum>(v); }, description, traits);
  }

  /// Adds a parameter that selects a row of `rows` by name. The descriptions of the rows are appended to the parameter's
  /// description.
  template <class Row>
  void add(std::string_view name, Choice<Row>& member, std::string_view description, std::span<const Row* const> rows,
           ParameterTraits traits = {}) {
    std::vector<EnumValue> values;
    for (const Row* row : rows) values.push_back({row->name, static_cast<int>(values.size()), row->description});
    add_enum(
        name, std::move(values),
        [&member, rows] {
          const auto row = std::find(rows.begin(), rows.end(), member.operator->());
          return static_cast<int>(row - rows.begin());
        },
        [&member, rows](int v) { member = *rows[static_cast<std::size_t>(v)]; }, description, traits);
  }

  /// Registers the former name `old` of a parameter of this section, for error messages.
  void renamed(std::string_view old, std::string_view name);

  const std::string& name() const { return name_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }
  struct Renamed {
    std::string old;  ///< "section.name"
    std::string name;
  };
  const std::vector<Renamed>& renamed() const { return renamed_; }

 private:
  void add_enum(std::string_view name, std::vector<EnumValue> values, std::function<int()> get, std::function<void(int)> set,
                std::string_view description, ParameterTraits traits);
  std::string name_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<Renamed> renamed_;
};

/// All sections of a configuration. The described structs must outlive the ParameterSet.
class ParameterSet {
 public:
  template <class Struct>
  void describe(std::string section, Struct& parameters) {
    sections_.push_back(std::make_unique<ParameterSection>(std::move(section)));
    parameters.describe(*sections_.back());
  }
  /// The parameter with the name "section.name", or nullptr.
  Parameter* find(std::string_view name) const;
  /// Suggestion for an error message: the current name if `name` is a former name of a parameter, otherwise the nearest known
  /// name by edit distance; a name that differs only in its section counts as near. Empty if no name is near.
  std::string nearest(std::string_view name) const;
  const std::vector<std::unique_ptr<ParameterSection>>& sections() const { return sections_; }

 private:
  std::vector<std::unique_ptr<ParameterSection>> sections_;
};

}  // namespace lacuna

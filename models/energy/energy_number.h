// List of a configuration's energies and powers: each with its name, its unit, and how it follows voltage, clock and data.
#pragma once

#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lacuna {

/// Quantities to which an energy or a power is proportional, in addition to the number of events or the time.
enum class EnergyKind : std::uint8_t {
  dynamic,   ///< energy in the core: square of its voltage
  clock,     ///< power of clock trees: clock and square of the voltage
  leakage,   ///< power of leakage in the core: voltage
  constant,  ///< energy or power of parts with a separate supply, such as DRAM, PHYs and the board
};

/// Data whose switching an energy depends on.
enum class DataKind : std::uint8_t { none, alu, arrays, links, dram };
inline constexpr unsigned kDataKinds = 5;

struct EnergyNumber {
  std::string name;
  double* value;
  EnergyKind kind;
  DataKind data;
  std::string description;
  std::string_view unit;  ///< "pJ" or "W"
};

/// Returns the names in a parameter's value, which are separated by blanks.
inline std::vector<std::string> names_in(const std::string& list) {
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

class EnergyNumbers {
 public:
  /// Adds the energy of an event in the core.
  void energy(std::string name, double& value, std::string description, DataKind data = DataKind::none) {
    list_.push_back({std::move(name), &value, EnergyKind::dynamic, data, std::move(description), "pJ"});
  }
  /// Adds the energy of an event in a part with a separate supply.
  void outside(std::string name, double& value, std::string description, DataKind data = DataKind::none) {
    list_.push_back({std::move(name), &value, EnergyKind::constant, data, std::move(description), "pJ"});
  }
  void power(std::string name, double& value, EnergyKind kind, std::string description) {
    list_.push_back({std::move(name), &value, kind, DataKind::none, std::move(description), "W"});
  }
  const std::vector<EnergyNumber>& list() const { return list_; }

 private:
  std::vector<EnergyNumber> list_;
};

}  // namespace lacuna

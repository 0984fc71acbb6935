// Energy of a run, in files and as text: by kernel in kernels.csv and statistics.json, over time in power.csv.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/energy/energy_ledger.h"
#include "models/energy/power_trace.h"
#include "platform/run/output_file.h"

namespace lacuna {

/// Writes the names of the energy columns of kernels.csv, each with a comma before it: energy with half-width and bounds, mean
/// and peak power, energy-delay product, and the energy of each block. Writes nothing if there are no blocks.
void write_energy_csv_header(const std::vector<std::string>& blocks, std::ostream& out);
void append_energy_csv(const KernelEnergy& energy, Tick time, std::string& line);
/// Returns the values of append_energy_csv() as a JSON object. `time`: duration of the kernel, or total duration of the kernels
/// that `energy` sums up.
nlohmann::ordered_json energy_json(const KernelEnergy& energy, const std::vector<std::string>& blocks, Tick time);

/// Energy of a device in the whole run: blocks, kernels and idle time separately, each event with its count and its energy.
nlohmann::ordered_json device_energy_json(const EnergyMeter& meter, const EnergyLedger& ledger);

/// Writes the header of power.csv, which has a line per sample with the power of the device, its low and high end, and the
/// power of each block.
void write_power_csv_header(const std::vector<std::string>& blocks, std::ostream& out);
void write_power_csv(const std::string& device, const PowerSample& sample, std::ostream& out);

struct NamedEnergy {
  std::string name;
  std::uint64_t dispatches;
  Tick time;  ///< total duration of all dispatches
  const KernelEnergy* energy;
};
/// Writes a line per kernel, summed over its dispatches: their number, energy, mean power with its bounds, peak power,
/// energy-delay product, and the blocks with the largest energy.
void write_energy_table(const std::vector<NamedEnergy>& kernels, const std::vector<std::string>& blocks, std::ostream& out);

}  // namespace lacuna

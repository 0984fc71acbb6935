// Energy of the accelerator's events in joules, computed from EnergyParameters: an operation of a PE costs as much as that of a
// vector ALU lane; a byte of memory costs DRAM and interface energy, with one row activation per kDramRowBytes, since banks are
// not modelled here.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/sida/machine/energy_counts.h"

namespace lacuna::sida {

inline constexpr std::uint64_t kDramRowBytes = 1024;  ///< row size of HBM2 (configs/energy/sida.cfg, [O])

/// Parts of the accelerator's energy.
enum class EnergyPart : std::uint8_t { compute, memory, buffer };
inline constexpr std::size_t kEnergyParts = 3;
inline constexpr std::array<const char*, kEnergyParts> kEnergyPartNames = {"compute", "memory", "buffer"};

/// Adds the events of `counts` to the meter, in one block per part. `counts` must outlive `meter`.
void describe_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy);

/// Add only the events of PEs, or only those of the buffer, to the block `block`, for an accelerator in a device.
void describe_compute_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy,
                             const std::string& block);
void describe_buffer_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy,
                            const std::string& block);

/// Energy by part, in joules.
std::array<double, kEnergyParts> joules(const EnergyCounts& counts, const EnergyParameters& energy);
/// Energy of the buffer by kind, in joules.
std::array<double, kBufferKinds> buffer_joules(const EnergyCounts& counts, const EnergyParameters& energy);

}  // namespace lacuna::sida

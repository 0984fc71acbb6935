// Joules of the accelerator's events, by EnergyParameters: a PE's operation takes what a lane of a vector ALU takes, a byte of
// memory what DRAM and its interface take, with a row opened for each kDramRowBytes: no machine here has banks.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "models/energy/energy_meter.h"
#include "models/energy/energy_parameters.h"
#include "models/sida/machine/energy_counts.h"

namespace lacuna::sida {

inline constexpr std::uint64_t kDramRowBytes = 1024;  ///< of HBM2 (configs/energy/sida.cfg, [O])

/// The blocks of the accelerator's energy.
enum class EnergyPart : std::uint8_t { compute, memory, buffer };
inline constexpr std::size_t kEnergyParts = 3;
inline constexpr std::array<const char*, kEnergyParts> kEnergyPartNames = {"compute", "memory", "buffer"};

/// Events of these counts, in blocks with the names of parts. The counts must outlive the meter.
void describe_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy);

/// Events of the PEs and of the buffer alone, in a block of that name: those of an accelerator in a device.
void describe_compute_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy,
                             const std::string& block);
void describe_buffer_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy,
                            const std::string& block);

/// Joules by part.
std::array<double, kEnergyParts> joules(const EnergyCounts& counts, const EnergyParameters& energy);
/// Joules of the buffer by kind.
std::array<double, kBufferKinds> buffer_joules(const EnergyCounts& counts, const EnergyParameters& energy);

}  // namespace lacuna::sida

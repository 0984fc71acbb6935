#include "models/sida/machine/energy.h"

#include <string>
#include <vector>

namespace lacuna::sida {
namespace {

constexpr double kJoulesPerPicojoule = 1e-12;

}  // namespace

void describe_compute_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy,
                             const std::string& block) {
  const PeOperations& o = counts.operations;
  const ComputeEnergy& c = energy.compute;
  meter.add(block, "int32", o.int32, c.valu_int32);
  meter.add(block, "mul32", o.mul32, c.valu_mul32);
  meter.add(block, "f32", o.f32, c.valu_f32);
  meter.add(block, "f32_fma", o.f32_fma, c.valu_f32_fma);
  meter.add(block, "f64", o.f64, c.valu_f64);
  meter.add(block, "f64_fma", o.f64_fma, c.valu_f64_fma);
  meter.add(block, "transcendental", o.transcendental, c.valu_transcendental);
  meter.add(block, "transcendental_f64", o.transcendental_f64, c.valu_transcendental_f64);
}

void describe_buffer_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy,
                            const std::string& block) {
  for (std::size_t k = 0; k < kBufferKinds; ++k) {
    const std::string kind = kBufferKindNames[k];
    meter.add(block, kind + "_read", counts.buffer_read[k], energy.sida.buffer_read);
    meter.add(block, kind + "_write", counts.buffer_written[k], energy.sida.buffer_write);
  }
}

void describe_energy(const EnergyCounts& counts, EnergyMeter& meter, const EnergyParameters& energy) {
  describe_compute_energy(counts, meter, energy, "compute");
  const double row = energy.dram.activate / kDramRowBytes;
  meter.add("memory", "read", counts.memory_read, energy.dram.read + energy.dram.io + row);
  meter.add("memory", "write", counts.memory_written, energy.dram.write + energy.dram.io + row);
  describe_buffer_energy(counts, meter, energy, "buffer");
}

std::array<double, kEnergyParts> joules(const EnergyCounts& counts, const EnergyParameters& energy) {
  EnergyMeter meter;
  describe_energy(counts, meter, energy);
  const EnergyMeter::Counts events = meter.counts();
  const std::vector<double> by_block = meter.joules(std::vector<double>(events.begin(), events.end()), 0);
  std::array<double, kEnergyParts> parts{};
  for (std::size_t p = 0; p < kEnergyParts; ++p) parts[p] = by_block[p];
  return parts;
}

std::array<double, kBufferKinds> buffer_joules(const EnergyCounts& counts, const EnergyParameters& energy) {
  std::array<double, kBufferKinds> kinds{};
  for (std::size_t k = 0; k < kBufferKinds; ++k) {
    kinds[k] = kJoulesPerPicojoule * (static_cast<double>(counts.buffer_read[k]) * energy.sida.buffer_read +
                                      static_cast<double>(counts.buffer_written[k]) * energy.sida.buffer_write);
  }
  return kinds;
}

}  // namespace lacuna::sida

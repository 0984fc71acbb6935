// Energy of events and power of blocks. They depend on technology and design, and are given by a configuration
// (configs/energy).
//
// All defaults of energies and powers are 0, because they cannot be derived from timing parameters. Energies are in picojoules,
// powers in watts. Energies per lane apply to active lanes: a lane masked off by EXEC consumes no dynamic energy.
//
// Configured energies apply to a reference: a voltage, a clock, sizes of arrays, and random data. at_operating_point() scales
// them to the configured voltage and data; the functions of() scale them to the size and the clock of a block (ArrayLaw).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/energy/array_law.h"
#include "models/energy/energy_number.h"
#include "models/energy/matrix_cost.h"

namespace lacuna {

/// Power and energy of matrix units with extensions, as factors. The energy of a pass scales with power times cycle time.
struct MatrixEnergy {
  // Power of the unit, relative to a unit without extensions:
  double power_m3xu_pipelined = matrix_cost::kM3xuPipelined.power;
  double power_m3xu = matrix_cost::kM3xu.power;
  double power_fp32_native = matrix_cost::kFp32Native.power;
  double power_simd2 = matrix_cost::kSimd2Power;
  // Energy of a pass, relative to mfma_narrow_pass in the same unit:
  double tf32 = 1;
  double fp32 = 1;
  double fp32c = 1;
  double fp64 = 1;
  double mma = 1;
  double minplus = 1;
  double maxplus = 1;
  double minmul = 1;
  double maxmul = 1;
  double minmax = 1;
  double maxmin = 1;
  double orand = 1;
  double addnorm = 1;

  bool operator==(const MatrixEnergy&) const = default;
};

enum class EnergyModel : std::uint8_t { off, on };

/// Source of the switching of data.
enum class ToggleSource : std::uint8_t { configured, measured };

/// Ends of the interval of an uncertain number.
enum class EnergyBound : std::uint8_t { low, high };

/// Energies of a compute unit.
struct ComputeEnergy {
  double valu_int32 = 0;
  double valu_f16 = 0;
  double valu_packed = 0;
  double valu_f32 = 0;
  double valu_f32_fma = 0;
  double valu_f64 = 0;
  double valu_f64_fma = 0;
  double valu_mul32 = 0;
  double valu_transcendental = 0;
  double valu_transcendental_f64 = 0;
  double valu_lane = 0;
  double valu_static = 0;
  double mfma_f64_pass = 0;
  double mfma_f32_pass = 0;
  double mfma_narrow_pass = 0;
  MatrixEnergy matrix;
  double salu = 0;
  double vgpr_read = 0;
  double vgpr_write = 0;
  double vgpr_static = 0;
  Bytes vgpr_reference{0};
  double sgpr_read = 0;
  double sgpr_write = 0;
  double decode = 0;
  double schedule = 0;
  double vmem_request = 0;
  double lds_word = 0;
  double lds_conflict = 0;
  double lds_static = 0;
  Bytes lds_reference{0};
  double simd_cycle = 0;
  double matrix_cycle = 0;
  double cu_static = 0;
  double cu_clock = 0;
  ArrayLaw law{};

  void list(EnergyNumbers& numbers);
  /// Energies of a unit at this clock, with register files (of a SIMD) and an LDS of these sizes.
  ComputeEnergy of(Bytes vgprs, Bytes lds, Frequency clock) const;
  bool operator==(const ComputeEnergy&) const = default;
};

/// Energies of a cache: tags by access, data by byte.
struct CacheEnergy {
  double tag = 0;
  double read = 0;
  double write = 0;
  double atomic = 0;
  double leakage = 0;
  double clock = 0;
  Bytes reference{0};
  ArrayLaw law{};

  void list(EnergyNumbers& numbers, const std::string& cache);
  /// Energies of a cache or bank of this size whose clock has the frequency `at`.
  CacheEnergy of(Bytes size, Frequency at) const;
  bool operator==(const CacheEnergy&) const = default;
};

struct TlbEnergy {
  double lookup = 0;
  double leakage = 0;
  double clock = 0;
  unsigned reference = 0;  ///< entries
  ArrayLaw law{};

  void list(EnergyNumbers& numbers, const std::string& tlb);
  /// Energies of a TLB with this number of entries whose clock has the frequency `at`.
  TlbEnergy of(unsigned entries, Frequency at) const;
  bool operator==(const TlbEnergy&) const = default;
};

struct NocEnergy {
  double router = 0;
  double link = 0;
  double leakage = 0;
  double clock = 0;
  ArrayLaw law{};

  /// Energies of a network whose clock has the frequency `at`.
  NocEnergy of(Frequency at) const;
  bool operator==(const NocEnergy&) const = default;
};

struct DramEnergy {
  double activate = 0;
  double read = 0;
  double write = 0;
  double io = 0;
  double refresh = 0;
  double background = 0;
  double controller_request = 0;
  double controller_static = 0;

  bool operator==(const DramEnergy&) const = default;
};

/// Energies of the sparse dataflow accelerator's buffer. Its PEs have the energies of vector ALU lanes, its memory those of
/// DRAM.
struct SidaEnergy {
  double buffer_read = 0;
  double buffer_write = 0;

  bool operator==(const SidaEnergy&) const = default;
};

struct HostLinkEnergy {
  double byte = 0;
  double link_static = 0;

  bool operator==(const HostLinkEnergy&) const = default;
};

/// Switching of data: the changed bits, and the share of the energy that they cause.
struct DataEnergy {
  double toggles = 1;  ///< changed bits, relative to random data, in which half of the bits change
  double share = 0;    ///< part of the energy with random data that changing bits cause

  double factor() const { return 1 - share + share * toggles; }
  bool operator==(const DataEnergy&) const = default;
};

struct EnergyParameters {
  EnergyModel model = EnergyModel::off;
  Tick interval{10'000'000};
  bool table = false;
  std::string fits;
  double voltage = 1;
  double reference_voltage = 1;
  Frequency reference_clock{1'000'000'000};
  double sram_exponent = 0;
  std::string measured;
  std::string published;
  double spread_measured = 1.15;
  double spread_published = 1.4;
  double spread_estimated = 2;
  ToggleSource toggles = ToggleSource::configured;
  DataEnergy alu;
  DataEnergy arrays;
  DataEnergy links;
  DataEnergy dram_data;
  ComputeEnergy compute;
  CacheEnergy l1v;
  CacheEnergy l1s;
  CacheEnergy l1i;
  CacheEnergy l2;
  CacheEnergy l1z;
  CacheEnergy l2z;
  TlbEnergy l1_tlb;
  TlbEnergy l2_tlb;
  double page_walk = 0;
  NocEnergy noc;
  DramEnergy dram;
  SidaEnergy sida;
  HostLinkEnergy host_link;
  double cp_dispatch = 0;
  double cp_workgroup = 0;
  double cp_static = 0;
  double cp_clock = 0;
  double board_static = 0;

  void describe(ParameterSection& section);
  bool operator==(const EnergyParameters&) const = default;
  bool on() const { return model == EnergyModel::on; }
  /// Checks relations between parameters. Returns one line per problem.
  std::vector<std::string> check() const;
  /// All energies and powers, bound to this object's members.
  EnergyNumbers numbers();
  /// The energies at the configured voltage and data (for random data if `toggles` is measured), with the laws that of()
  /// applies.
  EnergyParameters at_operating_point() const;
  /// The energies with each number at this end of its interval: divided or multiplied by the spread of its class.
  EnergyParameters bound(EnergyBound end) const;

 private:
  void describe_operating_point(ParameterSection& section);
  void describe_uncertainty(ParameterSection& section);
  void describe_references(ParameterSection& section);
  void describe_matrix(ParameterSection& section);
  void list_memory(EnergyNumbers& numbers);
};

}  // namespace lacuna

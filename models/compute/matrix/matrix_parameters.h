// Parameters of the matrix units: their extensions of MFMA, and their design for wide formats. cu.mfma_pass_cycles is the
// duration of a pass.
#pragma once

#include "models/common/config/parameters.h"
#include "models/common/time/units.h"
#include "models/isa/matrix/matrix_extensions.h"

namespace lacuna {

/// Matrix instructions for whose results the hardware has an interlock (models/compute/matrix/matrix_results.h).
enum class MatrixInterlock : std::uint8_t {
  extended,  ///< instructions whose duration is unknown to compilers: codes of extensions, and all instructions of a unit with
             ///< a longer cycle
  all,       ///< all matrix instructions
};

/// Ports of the vector registers that a matrix unit uses.
enum class MatrixPorts : std::uint8_t {
  own,     ///< separate ports
  shared,  ///< ports of the vector ALU: three registers read and one written in the time of a vector instruction
};

struct MatrixParameters {
  isa::MatrixExtensions extensions = isa::MatrixExtensions::none;
  isa::MatrixDesign design = isa::MatrixDesign::m3xu_pipelined;
  isa::Fp64Multipliers fp64_multipliers = isa::Fp64Multipliers::bits_14;
  isa::NativeOperands native_operands = isa::NativeOperands::half;

  MatrixInterlock interlock = MatrixInterlock::extended;
  unsigned result_passes = 4;
  MatrixPorts register_ports = MatrixPorts::own;

  isa::MatrixCodes codes() const { return {extensions, design, fp64_multipliers, native_operands}; }
  /// Duration of a pass relative to a unit without extensions, in per cent: 121 for M3XU's unpipelined design, which assigns
  /// data in the same cycle (Table 2.4 of the thesis cited in models/isa/matrix/matrix_extensions.h).
  unsigned pass_percent() const {
    const bool longer = isa::has(extensions, isa::MatrixExtensions::m3xu) && design == isa::MatrixDesign::m3xu;
    return longer ? 121 : 100;
  }

  /// Cycles that an instruction spends in a pipeline stage before its unit: one, for the assignment of data, with M3XU's codes
  /// in the pipelined design; otherwise none (sections 2.6.1 (C) and 2.4.1 of the thesis cited in
  /// models/isa/matrix/matrix_extensions.h). `code`: null for plain formats.
  Cycles stage_cycles(const isa::MatrixCode* code) const {
    const bool staged = code != nullptr && code->extension == isa::MatrixExtensions::m3xu;
    return Cycles{staged && design == isa::MatrixDesign::m3xu_pipelined ? 1U : 0U};
  }

  void describe(ParameterSection& s);
};

}  // namespace lacuna

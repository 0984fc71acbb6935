// Parameters of the matrix units: which extensions of MFMA they have and how they multiply wide formats. How long a pass takes
// is cu.mfma_pass_cycles.
#pragma once

#include "models/common/config/parameters.h"
#include "models/isa/matrix/matrix_extensions.h"

namespace lacuna {

/// Of which matrix instructions the hardware knows when their results are there (models/compute/matrix/matrix_results.h).
enum class MatrixInterlock : std::uint8_t {
  extended,  ///< of those whose time compilers do not know: codes of extensions, and all of a unit with a longer cycle
  all,
};

/// Through which ports of the vector registers a matrix unit reads and writes.
enum class MatrixPorts : std::uint8_t {
  own,
  shared,  ///< with the vector ALU: three registers read and one written in the time of a vector instruction
};

struct MatrixParameters {
  isa::MatrixExtensions extensions = isa::MatrixExtensions::none;
  isa::MatrixDesign design = isa::MatrixDesign::m3xu_pipelined;

  MatrixInterlock interlock = MatrixInterlock::extended;
  unsigned result_passes = 4;
  MatrixPorts register_ports = MatrixPorts::own;

  isa::MatrixCodes codes() const { return {extensions, design}; }
  /// Time of a pass relative to that of a unit without extensions, in per cent: 121 where data are assigned in the same cycle
  /// (thesis, Table 2.4). Extended units alone take it.
  unsigned pass_percent() const {
    const bool longer = isa::has(extensions, isa::MatrixExtensions::m3xu) && design == isa::MatrixDesign::m3xu;
    return longer ? 121 : 100;
  }

  void describe(ParameterSection& s);
};

}  // namespace lacuna

// Parameters of the matrix units: which extensions of MFMA they have and how they multiply wide formats. How long a pass takes
// is cu.mfma_pass_cycles.
#pragma once

#include "models/common/parameters.h"
#include "models/isa/matrix_extensions.h"

namespace lacuna {

struct MatrixParameters {
  isa::MatrixExtensions extensions = isa::MatrixExtensions::none;
  isa::MatrixDesign design = isa::MatrixDesign::m3xu_pipelined;

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

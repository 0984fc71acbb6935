// Environment that the compute units of a GPU share.
#pragma once

#include <memory_resource>
#include <span>

#include "models/common/host/huge_page_resource.h"
#include "models/common/time/units.h"
#include "models/compute/compute_unit_listener.h"
#include "models/compute/compute_unit_parameters.h"
#include "models/compute/load_stage.h"
#include "models/compute/matrix/matrix_parameters.h"
#include "models/compute/memory/lds_banks.h"
#include "models/compute/memory/vector_workspace.h"
#include "models/isa/decode/decoded_code.h"
#include "models/isa/wavefront.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

/// All referenced objects outlive the units.
struct ComputeUnitContext {
  TimingMode mode;
  isa::Target target;
  Clock clock;
  Clock timestamp;
  GpuVm& vm;
  isa::DecodedCode& code;
  LdsBanks& lds_banks;                          ///< shared by the units of a group
  VectorWorkspace* vector_workspace = nullptr;  ///< shared by the units of a group; null: each unit has its own
  ComputeUnitListener& listener;
  MatrixParameters matrix{};
  std::span<const LoadStageFactory> stages{};  ///< load stages in the order of the chain; not used without timing
  isa::FineGrainedFloatAtomics fine_grained_float_atomics = isa::FineGrainedFloatAtomics::apply;
  /// Allocates registers, LDS and wavefronts; returns zeroed memory, as HugePageResource does.
  std::pmr::memory_resource& memory = huge_page_resource();

  bool timed() const { return mode != TimingMode::functional; }
};

}  // namespace lacuna

// The arrays of a program in memory: their addresses, so that another run can place its arrays at the same ones.
#pragma once

#include <vector>

#include "models/sida/device/job_record.h"
#include "models/sida/program/program.h"
#include "models/tlb/gpuvm.h"

namespace lacuna::sida {

/// The arrays that are not empty: those of the matrices, in the order in which lay_out() (models/sida/matrix/layout.h) places
/// them, then the vectors and the program. Parts of an array follow each other. Memory that is not mapped is left out.
std::vector<SidaJobArray> job_arrays(const Program& program, const GpuVm& vm);

}  // namespace lacuna::sida

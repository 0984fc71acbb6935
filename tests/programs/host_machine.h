// Work items on the host: each item is a fiber that runs to the next barrier. Groups run one after the other.
#pragma once

#include "program.h"

namespace lacuna::programs {

using HostKernel = void (*)(void** arguments);

/// Calls the kernel for every work item. Throws std::runtime_error if some but not all items of a work-group reach a barrier,
/// or if a matrix tile is not computed by all 64 items of a wavefront.
void run_work_items(HostKernel kernel, void** arguments, const Launch& launch);

}  // namespace lacuna::programs

// The mesh of a device, for pictures.
#pragma once

#include <optional>

#include "models/gpu/gpu_device.h"
#include "platform/picture/mesh_map.h"

namespace lacuna {

/// Returns the device's mesh; nullopt if its network is not a mesh.
std::optional<MeshMap> mesh_map(const GpuDevice& device);

/// Returns the flits that links and ejection ports of a device's mesh have carried so far; cycles and injection ports of the
/// result are not set.
MeshUse carried(const GpuDevice& device, const MeshMap& map);

}  // namespace lacuna

// Description of the machine for the runtime: node 0 is the host, nodes 1 to n are the virtual GPUs.
#pragma once

#include <hsakmttypes.h>
#include <cstdint>
#include <vector>

#include "platform/platform_parameters.h"

namespace lacuna::rocm {

/// First addresses of the 4 GiB windows of flat addresses for LDS (shared) and scratch (private). No pointer of a process
/// points into these windows.
struct Apertures {
  std::uint64_t shared;
  std::uint64_t private_base;
};
/// The apertures that Linux uses (amdkfd, kfd_flat_memory.c).
Apertures apertures(isa::Target target);

class Topology {
 public:
  explicit Topology(const PlatformParameters& parameters);

  const std::vector<isa::Target>& targets() const { return targets_; }
  HSAuint32 nodes() const { return static_cast<HSAuint32>(targets_.size() + 1); }
  bool has(HSAuint32 node) const { return node < nodes(); }

  // `node` must exist.
  HsaNodeProperties properties(HSAuint32 node) const;
  std::vector<HsaMemoryProperties> memory(HSAuint32 node) const;
  std::vector<HsaCacheProperties> caches(HSAuint32 node) const;
  std::vector<HsaIoLinkProperties> links(HSAuint32 node) const;

 private:
  HsaNodeProperties gpu_properties(HSAuint32 node) const;
  HsaIoLinkProperties link(HSAuint32 from, HSAuint32 to) const;

  const PlatformParameters& parameters_;
  const std::vector<isa::Target> targets_;
};

/// Fills in the tiling tables of image memory, which are Fiji's for all targets, and the target's address configuration.
/// Returns false if `config` has no room for the tables.
bool tile_configuration(isa::Target target, HsaGpuTileConfig& config);

}  // namespace lacuna::rocm

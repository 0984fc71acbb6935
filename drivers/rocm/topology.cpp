#include "drivers/rocm/topology.h"

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "platform/gfx_override.h"

namespace lacuna::rocm {
namespace {

constexpr HSAuint16 kVendor = 0x1002;
/// Number of SIMDs per CU as reported to the runtime, regardless of cu.simds: the runtime divides by this constant in places.
constexpr HSAuint32 kSimdsPerCu = 4;
/// From this version of the gfx8 microcode on, the runtime flushes instruction caches by packets, as it does on hardware.
constexpr unsigned kMicrocode = 700;
constexpr unsigned kSdmaMicrocode = 400;
/// Difference between the PCI locations of two GPUs: the bus number is in bits 15:8.
constexpr HSAuint32 kBusStep = 0x100;
constexpr HSAuint32 kFirstRenderNode = 128;
/// Weights that Linux assigns to a PCI Express link between a GPU and the host, and to the two links between GPUs (amdkfd,
/// kfd_crat.h and kfd_topology.c).
constexpr HSAuint32 kLinkWeight = 20;
constexpr HSAuint32 kPeerWeight = 2 * kLinkWeight;
/// Number of global wave sync barriers on gfx9; see PacketProcessor.
constexpr HSAuint8 kGwsBarriers = 64;

struct Chip {
  unsigned major;
  unsigned minor;
  unsigned stepping;
  HSAuint16 device;
  std::string_view name;
};
/// Identifies the GPU as the product whose code objects it runs: Fiji (R9 Nano) or Aldebaran (MI210).
Chip chip(isa::Target target) {
  if (target == isa::Target::gfx803) return {8, 0, 3, 0x7300, "Lacuna virtual GPU gfx803"};
  return {9, 0, 10, 0x740f, "Lacuna virtual GPU gfx90a"};
}

void set_name(HSAuint16 (&field)[HSA_PUBLIC_NAME_SIZE], std::string_view name) {
  std::copy_n(name.begin(), std::min<std::size_t>(name.size(), std::size(field) - 1), std::begin(field));
}

HSAuint32 host_cores() { return static_cast<HSAuint32>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }
std::uint64_t host_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Apertures apertures(isa::Target target) {
  if (target == isa::Target::gfx803) return {0x2000000000000000, 0x2000000100000000};
  return {0x1000000000000, 0x2000000000000};
}

Topology::Topology(const PlatformParameters& parameters)
    : parameters_(parameters), targets_(parameters.rocm.targets(parameters.gpu.gpu.target)) {
  // ROCm's thunk reports this version for every GPU; here it is only accepted if it is the GPUs' own version.
  const std::string problem = gfx_override_problem(std::getenv(kGfxOverride), targets_, parameters.rocm.target_parameter());
  if (!problem.empty()) throw std::invalid_argument(problem);
}

HsaNodeProperties Topology::properties(HSAuint32 node) const {
  if (node != 0) return gpu_properties(node);
  HsaNodeProperties host{};
  host.NumCPUCores = host_cores();
  host.NumMemoryBanks = 1;
  host.NumCaches = 1;
  host.NumIOLinks = nodes() - 1;
  host.DrmRenderMinor = -1;
  set_name(host.MarketingName, "Host of the virtual GPUs");
  return host;
}

HsaNodeProperties Topology::gpu_properties(HSAuint32 node) const {
  const isa::Target target = targets_[node - 1];
  const Chip made_of = chip(target);
  const bool gfx9 = target != isa::Target::gfx803;
  const GpuDeviceParameters& gpu = parameters_.gpu;
  const HSAuint32 units = gpu.gpu.shader_arrays * gpu.gpu.cus_per_shader_array;
  HsaNodeProperties p{};
  p.NumFComputeCores = units * kSimdsPerCu;
  p.NumMemoryBanks = static_cast<HSAuint32>(memory(node).size());
  p.NumCaches = static_cast<HSAuint32>(caches(node).size());
  p.NumIOLinks = static_cast<HSAuint32>(links(node).size());
  p.Capability.ui32.QueueSizePowerOfTwo = 1;
  p.Capability.ui32.DoorbellType = gfx9 ? 2 : 1;
  p.Capability.ui32.AQLQueueDoubleMap = gfx9 ? 0 : 1;
  p.Capability.ui32.SRAM_EDCSupport = gfx9 ? 1 : 0;
  p.MaxWavesPerSIMD = gpu.cu.wavefronts_per_simd;
  p.LDSSizeInKB = static_cast<HSAuint32>(gpu.cu.lds.n / 1024);
  p.WaveFrontSize = isa::kLanes;
  p.NumShaderBanks = gpu.gpu.shader_arrays;
  p.NumArrays = 1;
  p.NumCUPerArray = gpu.gpu.cus_per_shader_array;
  p.NumSIMDPerCU = kSimdsPerCu;
  p.MaxSlotsScratchCU = 32;
  p.EngineId.ui32.uCode = kMicrocode;
  p.EngineId.ui32.Major = made_of.major & 0x3f;
  p.EngineId.ui32.Minor = made_of.minor & 0xff;
  p.EngineId.ui32.Stepping = made_of.stepping & 0xff;
  p.VendorId = kVendor;
  p.DeviceId = made_of.device;
  p.LocationId = kBusStep * node;
  p.LocalMemSize = gpu.vram.size.n;
  const auto megahertz = static_cast<HSAuint32>(gpu.gpu.core_clock.hz / 1'000'000);
  p.MaxEngineClockMhzFCompute = p.MaxEngineClockMhzCCompute = megahertz;
  p.DrmRenderMinor = static_cast<HSAint32>(kFirstRenderNode + node - 1);
  set_name(p.MarketingName, made_of.name);
  p.uCodeEngineVersions.uCodeSDMA = kSdmaMicrocode;
  p.NumSdmaEngines = parameters_.rocm.sdma ? gpu.sdma.engines : 0;
  p.NumSdmaQueuesPerEngine = 8;
  p.NumCpQueues = static_cast<HSAuint8>(std::min(gpu.cp.queue_slots, 255U));
  p.NumGws = gfx9 ? kGwsBarriers : 0;
  p.UniqueID = 0x4155434c00000000 + node;
  p.VGPRSizePerCU = gpu.cu.simds * gpu.cu.vgprs_per_simd * isa::kLanes * 4;
  p.SGPRSizePerCU = gpu.cu.simds * gpu.cu.sgprs_per_simd * 4;
  return p;
}

std::vector<HsaMemoryProperties> Topology::memory(HSAuint32 node) const {
  if (node == 0) {
    HsaMemoryProperties bank{};
    bank.HeapType = HSA_HEAPTYPE_SYSTEM;
    bank.SizeInBytes = host_memory();
    return {bank};
  }
  const GpuDeviceParameters& gpu = parameters_.gpu;
  const Apertures windows = apertures(targets_[node - 1]);
  HsaMemoryProperties vram{};
  vram.HeapType = HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE;
  vram.SizeInBytes = gpu.vram.size.n;
  vram.Width = gpu.gpu.memory_partitions * gpu.dram.pseudo_channels * gpu.dram.bytes_per_cycle * 8;
  vram.MemoryClockMax = static_cast<HSAuint32>(gpu.dram.clock.hz / 1'000'000);
  HsaMemoryProperties lds{};
  lds.HeapType = HSA_HEAPTYPE_GPU_LDS;
  lds.SizeInBytes = gpu.cu.lds.n;
  lds.VirtualBaseAddress = windows.shared;
  HsaMemoryProperties scratch{};
  scratch.HeapType = HSA_HEAPTYPE_GPU_SCRATCH;
  scratch.SizeInBytes = std::uint64_t{4} << 30;
  scratch.VirtualBaseAddress = windows.private_base;
  return {vram, lds, scratch};
}

std::vector<HsaCacheProperties> Topology::caches(HSAuint32 node) const {
  HsaCacheProperties cache{};
  cache.CacheType.ui32.Data = 1;
  cache.CacheLinesPerTag = 1;
  if (node == 0) {
    cache.CacheType.ui32.CPU = 1;
    cache.CacheLevel = 1;
    cache.CacheSize = 32;
    cache.CacheLineSize = 64;
    cache.CacheAssociativity = 8;
    return {cache};
  }
  cache.CacheType.ui32.HSACU = 1;
  const auto describe = [&](const CacheParameters& p, unsigned level, unsigned count) {
    cache.CacheLevel = level;
    cache.CacheSize = static_cast<HSAuint32>(p.size.n * count / 1024);
    cache.CacheLineSize = static_cast<HSAuint32>(p.line.n);
    cache.CacheAssociativity = p.ways;
    return cache;
  };
  return {describe(parameters_.gpu.l1v, 1, 1), describe(parameters_.gpu.l2, 2, parameters_.gpu.gpu.memory_partitions)};
}

HsaIoLinkProperties Topology::link(HSAuint32 from, HSAuint32 to) const {
  HsaIoLinkProperties link{};
  link.IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
  link.VersionMajor = 3;
  link.NodeFrom = from;
  link.NodeTo = to;
  link.Weight = from == 0 || to == 0 ? kLinkWeight : kPeerWeight;
  const HostLinkParameters& p = parameters_.host_link;
  link.MaximumBandwidth = static_cast<HSAuint32>(p.lanes * (p.transfer_rate.hz / 8'000'000) * 128 / 130);
  return link;
}

std::vector<HsaIoLinkProperties> Topology::links(HSAuint32 node) const {
  std::vector<HsaIoLinkProperties> links;
  for (HSAuint32 other = 0; other < nodes(); ++other)
    if (other != node) links.push_back(link(node, other));
  return links;
}

}  // namespace lacuna::rocm

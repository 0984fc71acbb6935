// Parameters of the GPU: size and shape, and the parameters of its models.
#pragma once

#include <string>
#include <vector>

#include "models/cache/cache.h"
#include "models/command/packet_processor.h"
#include "models/common/config/parameters.h"
#include "models/common/transport/address_hash.h"
#include "models/common/transport/mmio_peripheral.h"
#include "models/compute/matrix/matrix_parameters.h"
#include "models/dram/dram_parameters.h"
#include "models/energy/energy_parameters.h"
#include "models/gpu/device_extension.h"
#include "models/noc/fabric.h"
#include "models/sampling/sampling_parameters.h"
#include "models/sdma/copy_context.h"
#include "models/sdma/sdma_engine.h"
#include "models/tlb/tlb.h"

namespace lacuna {

/// Timing of address translation. The page table determines the results in either case.
enum class Translation : std::uint8_t { free, tlb };

/// Size and shape of the GPU.
struct GpuParameters {
  isa::Target target = isa::Target::gfx803;
  unsigned shader_arrays = 16;
  unsigned cus_per_shader_array = 4;
  Frequency core_clock{1'000'000'000};
  Frequency timestamp_clock{1'000'000'000};
  TimingMode timing = TimingMode::loose;
  Cycles window{0};
  unsigned cus_per_l1v = 4;
  unsigned memory_partitions = 16;
  Bytes partition_interleave{128};
  AddressHash partition_hash = AddressHash::none;
  Cycles start_phase{0};
  Translation translation = Translation::tlb;
  CopyMode copies = CopyMode::bulk;
  isa::FineGrainedFloatAtomics fine_grained_float_atomics = isa::FineGrainedFloatAtomics::apply;
  Tick request_interval{};

  void describe(ParameterSection& s);
};

struct VramParameters {
  Bytes size{std::uint64_t{4} << 30};

  void describe(ParameterSection& s);
};

struct GpuDeviceParameters {
  GpuParameters gpu;
  SamplingParameters sampling;
  MmioParameters mmio{.clock = Frequency{1'000'000'000}, .read_latency = Cycles{100}, .write_latency = Cycles{100}};
  PacketProcessorParameters cp;
  DispatcherParameters dispatcher;
  ComputeUnitParameters cu;
  CacheParameters l1v;
  CacheParameters l1s;
  CacheParameters l1i;
  CacheParameters l2;
  MatrixParameters mfma;
  TlbParameters l1_tlb;
  TlbParameters l2_tlb;
  PageWalkerParameters page_walker;
  SdmaParameters sdma;
  FabricParameters noc;
  DramParameters dram;
  VramParameters vram;
  EnergyParameters energy;
  ExtensionSet extensions;  ///< parameters of research machines; initially none

  GpuDeviceParameters();
  /// Adds the sections gpu, sampling, gpu_mmio, cp, dispatcher, cu, l1v, l1s, l1i, l1_tlb, l2_tlb, page_walker, sdma, noc, l2,
  /// mfma, those of the extensions, dram, vram, energy.
  void describe(ParameterSet& set);
  /// Checks relations between parameters. Returns one line per problem, which names the parameter (section.name).
  std::vector<std::string> check() const;
  /// Warnings about parameters that are legal, but hardly intended, such as a DRAM whose data buses cannot be used in full. One
  /// line each, with the parameter to change.
  std::vector<std::string> warnings() const;
  /// Length of the compute units' windows: gpu.window or, if that is 0, the longest window that cannot affect results. That is
  /// the lookahead of a stepped network. For other networks, it is the minimum time from the lookup of a request in a
  /// first-level cache, or from the issue of a store, until the response can affect a wavefront, but at most kMaxLag.
  Cycles window() const;
  /// Minimum time of a packet in the fabric: one flit on an idle network between two neighbouring nodes.
  Tick min_packet_time() const;
  /// A partition's slice of GPU memory.
  AddressSlice vram_slice(unsigned partition) const;
  /// Minimum time from a request's arrival at a last-level cache to its response.
  Tick min_response_time_of(const CacheParameters& cache) const;
  /// Nodes of the fabric that the enabled extensions use.
  ExtensionNodes extension_nodes() const;
  /// Parameters of the fabric: `noc`, with the nodes that extensions need.
  FabricParameters fabric() const;
  /// Nodes of sources, the L1 vector caches first, and of destinations, L2 banks first. Throws std::invalid_argument if the
  /// placement is invalid.
  FabricPlacement placement() const;
};

}  // namespace lacuna

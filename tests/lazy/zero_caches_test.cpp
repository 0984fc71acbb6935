// Tests zero caches in a GPU: in every network, a request for masks passes from the L1Z of a shader array to the L2Z and the
// DRAM channel of the partition that has the data. In a crossbar it takes the same time as a request for data of the same size.
#include <gtest/gtest.h>

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "include/lacuna/abi/memory_map.h"
#include "models/gpu/gpu_device.h"
#include "models/lazy/lazy_gpu.h"
#include "tests/gpu/response_recorder.h"
#include "tests/harness/harness.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

using namespace literals;

/// A device whose compute units request no masks.
struct Gpu : sc_core::sc_module {
  Gpu(sc_core::sc_module_name module_name, const GpuDeviceParameters& parameters)
      : sc_module(module_name), device("device", parameters) {
    host.socket.bind(device.mmio());
    device.host().bind(nothing);
    device.interrupt().bind(interrupt);
    nothing.register_b_transport(this, &Gpu::refuse);
    device.describe_statistics(statistics);
  }
  void refuse(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  std::uint64_t count(const std::string& group, const std::string& name) {
    for (const Statistic& s : statistics.group(group).statistics()) {
      if (s.name == name) return s.count();
    }
    ADD_FAILURE() << group << " has no " << name;
    return 0;
  }
  bool has(const std::string& group) const {
    return std::any_of(statistics.groups().begin(), statistics.groups().end(),
                       [&](const auto& child) { return child->name() == group; });
  }

  GpuDevice device;
  TestInitiator host{"host"};
  tlm_utils::simple_target_socket<Gpu> nothing{"nothing"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  StatisticsGroup statistics{"device"};
};

LazyGpuParameters& lazy_of(GpuDeviceParameters& p) { return p.extensions.get<LazyGpuParameters>(); }

GpuDeviceParameters with_lazy_gpu() {
  GpuDeviceParameters p;
  p.extensions.add(std::make_unique<LazyGpuParameters>());
  return p;
}

struct Machine {
  std::string name;
  GpuDeviceParameters parameters;
};

std::vector<Machine> machines() {
  GpuDeviceParameters crossbar = with_lazy_gpu();
  crossbar.gpu.shader_arrays = 3;
  crossbar.gpu.memory_partitions = 4;
  crossbar.gpu.partition_hash = AddressHash::fold;
  crossbar.vram.size = Bytes{64 << 20};
  lazy_of(crossbar).lazy.mode = LazyMode::lazy_zero;
  lazy_of(crossbar).lazy.masks = MaskWriters::stores;
  crossbar.dram.tREFI = Cycles{0};
  crossbar.dram.page_policy = DramPagePolicy::closed;
  GpuDeviceParameters shared = crossbar;
  lazy_of(shared).lazy.ports = ZeroPorts::shared;
  GpuDeviceParameters mesh = crossbar;
  mesh.gpu.cus_per_l1v = 1;
  mesh.gpu.partition_hash = AddressHash::none;
  mesh.gpu.memory_partitions = 6;
  mesh.vram.size = Bytes{std::uint64_t{6} << 22};
  mesh.noc.topology = FabricTopology::mesh;
  GpuDeviceParameters butterfly = crossbar;
  butterfly.noc.topology = FabricTopology::butterfly;
  lazy_of(butterfly).lazy.mask_bits = 128;
  GpuDeviceParameters single = crossbar;
  single.gpu.memory_partitions = 1;
  single.gpu.partition_hash = AddressHash::none;
  LazyGpuParameters& wide = lazy_of(single);
  wide.l1z.line = wide.l1z.sector = wide.l2z.line = wide.l2z.sector = 64_B;
  return {{"crossbar", crossbar}, {"shared", shared}, {"mesh", mesh}, {"butterfly", butterfly}, {"single", single}};
}

ZeroPath zero_path(GpuDevice& device, unsigned array) { return device.extension<LazyGpu>()->zero_path(array); }

struct ZeroBench : sc_core::sc_module {
  explicit ZeroBench(sc_core::sc_module_name module_name) : sc_module(module_name) {
    for (const Machine& machine : machines()) gpus.push_back(std::make_unique<Gpu>(machine.name.c_str(), machine.parameters));
    GpuDeviceParameters eager = machines().front().parameters;
    lazy_of(eager).lazy.mode = LazyMode::lazy;
    without = std::make_unique<Gpu>("without", eager);
  }
  std::vector<std::unique_ptr<Gpu>> gpus;
  std::unique_ptr<Gpu> without;
};

LACUNA_TEST_BENCH(ZeroBench)

class ZeroCachesTest : public testing::Test {
 protected:
  ZeroBench& b_ = bench<ZeroBench>();
  ResponseRecorder answers_;

  /// Sends a request for masks. Returns the time from the request to its response.
  Tick ask(Gpu& gpu, unsigned array, std::uint64_t address, bool write = false) {
    const ZeroPath path = zero_path(gpu.device, array);
    const MemoryRequest access{.address = address,
                               .byte_mask = write ? ByteMask(0xff) : ByteMask::all(),
                               .bytes = static_cast<std::uint16_t>(path.map->transaction()),
                               .kind = RequestKind::vector,
                               .write = write};
    MemoryResponse answer;
    const Tick at = now() + 1_us;
    answers_.completed.clear();
    if (path.l1z->request(access, at, answers_, 0, answer)) answers_.completed[0] = answer.done;
    gpu.device.barrier()->resolve(at + 10_us);
    EXPECT_EQ(answers_.completed.size(), 1U);
    wait_for(20_us);
    return answers_.completed[0] - at;
  }
};

TEST_F(ZeroCachesTest, RequestsReachThePartitionOfTheirData) {
  std::mt19937_64 random(1);
  for (const auto& gpu : b_.gpus) {
    const GpuDeviceParameters& p = gpu->device.parameters();
    for (unsigned i = 0; i < 40; ++i) {
      const std::uint64_t data = LACUNA_VRAM_BASE + random() % p.vram.size.n;
      const std::string partition = std::to_string(p.vram_slice(0).owner(data));
      const unsigned array = i % p.gpu.shader_arrays;
      const std::string l1z = "l1z" + std::to_string(array);
      const auto counts = [&] {
        return std::vector{gpu->count(l1z, "read_misses"), gpu->count("l2z" + partition, "read_misses"),
                           gpu->count("dram" + partition, "reads"), gpu->count("l2_" + partition, "reads")};
      };
      // Empties the L1Zs of all shader arrays, so that the request misses there.
      for (unsigned a = 0; a < p.gpu.shader_arrays; ++a) {
        dynamic_cast<FirstLevelCache*>(zero_path(gpu->device, a).l1z)->reset();
      }
      const std::vector<std::uint64_t> before = counts();
      const std::uint64_t fills = before[1];
      ask(*gpu, array, zero_path(gpu->device, array).map->find(data).transaction);
      const std::vector<std::uint64_t> after = counts();
      EXPECT_EQ(after[0], before[0] + 1) << gpu->name();
      EXPECT_LE(after[1] - fills, 1U);
      EXPECT_EQ(after[2] - before[2], after[1] - fills) << gpu->name() << ": masks that miss L2Z are read from its DRAM";
      EXPECT_EQ(after[3], before[3]) << "L2 has no part in it";
    }
    EXPECT_GT(gpu->count("l2z0", "read_misses"), 0U) << gpu->name();
  }
}

// The sums of models/cache/cache.h, without the compute unit's share and with a reply of one flit: 40 cycles for L1Z, 91 for
// L2Z and 125 for DRAM.
TEST_F(ZeroCachesTest, LatencyTable) {
  Gpu& gpu = *b_.gpus.front();
  const std::uint64_t masks = zero_path(gpu.device, 0).map->masks().base();
  const std::uint64_t address = masks + (1 << 16);
  EXPECT_EQ(ask(gpu, 0, address), 125_ns) << "DRAM, no row open";
  EXPECT_EQ(ask(gpu, 1, address), 91_ns) << "L2Z";
  EXPECT_EQ(ask(gpu, 0, address), 40_ns) << "L1Z";
  EXPECT_EQ(ask(gpu, 1, address), 40_ns);
  EXPECT_EQ(ask(gpu, 0, address, true), 38_ns) << "write-around: look-up 8, a flit there 11, L2Z 8, a flit back 11";
  EXPECT_EQ(ask(gpu, 0, address), 40_ns) << "a write leaves the line where it is";
}

TEST_F(ZeroCachesTest, ZeroCachesShareTheNodesOfL1vAndL2) {
  const GpuDeviceParameters shared = b_.gpus[1]->device.parameters();
  const FabricGuests guests = shared.extension_nodes().guests;
  const unsigned sources = 3 * shared.gpu.shader_arrays + 1 + shared.sdma.engines;
  const FabricPlacement placed = place(shared.noc, sources, shared.gpu.memory_partitions + 1, guests);
  ASSERT_EQ(placed.sources.size(), sources + shared.gpu.shader_arrays);
  ASSERT_EQ(placed.destinations.size(), 2 * shared.gpu.memory_partitions + 1);
  EXPECT_EQ(placed.nodes, sources + shared.gpu.memory_partitions + 1);
  EXPECT_EQ(placed.sources[sources + 2], placed.sources[2]);
  EXPECT_EQ(placed.destinations[shared.gpu.memory_partitions + 1], placed.destinations[0]);
  EXPECT_TRUE(b_.gpus[0]->device.parameters().extension_nodes().guests.sources.empty());
  // In a mesh with an L1 vector cache for each of four compute units of an array, the zero cache is at the node of the first of
  // these caches.
  EXPECT_EQ(b_.gpus[2]->device.parameters().extension_nodes().guests.sources, (std::vector<unsigned>{0, 4, 8}));
}

TEST_F(ZeroCachesTest, StoresMakeWordsKnownAtTheEndOfTheWindow) {
  Gpu& gpu = *b_.gpus.front();
  const ZeroPath path = zero_path(gpu.device, 1);
  ASSERT_NE(path.masks, nullptr);
  EXPECT_EQ(path.group, 1U);
  path.masks->stored(path.group, LACUNA_VRAM_BASE + 256, ByteMask(0xff));
  EXPECT_EQ(path.masks->known_of_transaction(LACUNA_VRAM_BASE + 256), 0U);
  gpu.device.barrier()->resolve(now());
  EXPECT_EQ(path.masks->known_of_transaction(LACUNA_VRAM_BASE + 256), 0b11U);
}

TEST_F(ZeroCachesTest, ModesWithoutZeroDetectionHaveNoZeroCaches) {
  EXPECT_EQ(zero_path(b_.without->device, 0).l1z, nullptr);
  EXPECT_EQ(zero_path(b_.without->device, 0).map, nullptr);
  EXPECT_FALSE(b_.without->has("l1z0"));
  EXPECT_FALSE(b_.without->has("l2z0"));
  EXPECT_TRUE(b_.gpus.front()->has("l2z0"));
}

TEST(ZeroCacheParameters, AreChecked) {
  const auto problem = [](auto change) {
    GpuDeviceParameters p = with_lazy_gpu();
    lazy_of(p).lazy.mode = LazyMode::eager_zero;
    change(p);
    const std::vector<std::string> problems = p.check();
    return problems.empty() ? std::string() : problems.front();
  };
  EXPECT_EQ(problem([](GpuDeviceParameters&) {}), "");
  EXPECT_EQ(problem([](GpuDeviceParameters& p) { lazy_of(p).l2z.line = 256_B; }),
            "l2z.line = 256 is larger than gpu.partition_interleave = 128");
  EXPECT_NE(problem([](GpuDeviceParameters& p) { lazy_of(p).l1z.write_policy = WritePolicy::write_back; }), "");
  EXPECT_NE(problem([](GpuDeviceParameters& p) { lazy_of(p).l2z.write_policy = WritePolicy::write_around; }), "");
  EXPECT_EQ(problem([](GpuDeviceParameters& p) {
              lazy_of(p).lazy.mode = LazyMode::eager;
              lazy_of(p).l2z.line = 256_B;
            }),
            "");
}

// A window ends before the earliest response of an L2Z.
TEST(ZeroCacheParameters, AWindowIsNoLongerThanARoundTripToAnL2Z) {
  GpuDeviceParameters p = with_lazy_gpu();
  const Cycles without = p.window();
  lazy_of(p).l2z.hit_latency = Cycles{3};
  lazy_of(p).l2z.write_latency = Cycles{1000};
  EXPECT_EQ(p.window(), without);
  lazy_of(p).lazy.mode = LazyMode::lazy_zero;
  EXPECT_EQ(p.window(), Cycles{8 + 11 + 3 + 11});
}

}  // namespace
}  // namespace lacuna::test

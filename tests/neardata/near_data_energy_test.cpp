// Tests the energy of near-data hardware: leakage of queues, tables and ALUs, and the events of a chain.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/energy/energy_meter.h"
#include "tests/neardata/near_data_patterns.h"

namespace lacuna::test {
namespace {

GpuDeviceParameters with_dedicated_alus() {
  GpuDeviceParameters p = with_mode(small_mesh(), NearDataMode::omni);
  ndc_of(p).core_alu = CoreAlu::dedicated;
  ndc_of(p).core_alu_lanes = 8;
  return p;
}

struct EnergyBench : sc_core::sc_module {
  explicit EnergyBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  NearDataGpu none{"none", with_mode(small_mesh(), NearDataMode::none)};
  NearDataGpu llc{"llc", with_mode(small_mesh(), NearDataMode::llc)};
  NearDataGpu omni{"omni", with_mode(small_mesh(), NearDataMode::omni)};
  NearDataGpu dedicated{"dedicated", with_dedicated_alus()};
  NearDataGpu butterfly{"butterfly", with_mode(small_butterfly(RouterModel::booked), NearDataMode::omni)};
};

LACUNA_TEST_BENCH(EnergyBench)

double leakage(NearDataGpu& gpu, const EnergyParameters& energy) {
  EnergyMeter meter;
  gpu.near_data()->describe_energy(meter, energy);
  EXPECT_EQ(meter.static_watts(), meter.static_watts(StaticPower::leakage));
  double watts = 0;
  for (const double block : meter.static_watts()) watts += block;
  return watts;
}

EnergyParameters energies() {
  EnergyParameters energy;
  energy.compute.vgpr_read = 1;
  energy.compute.vgpr_write = 2;
  return energy;
}

TEST(NearDataEnergy, QueuesAndTablesLeakLikeRegisters) {
  EnergyBench& b = bench<EnergyBench>();
  const GpuDeviceParameters& p = b.omni.device.parameters();
  EnergyParameters energy;
  // A bit of the register files leaks 1 W.
  energy.compute.vgpr_static = p.cu.vgprs_per_simd * 64.0 * 32;
  const double cores = p.gpu.shader_arrays * p.gpu.cus_per_shader_array, caches = p.gpu.memory_partitions;
  const double switches = 4;  // the last stage of 16 terminals with a radix of 4
  const double at_core = 48 * 55 + 30 * 8 + caches * caches * 8, queue = 96 * 200;
  EXPECT_DOUBLE_EQ(leakage(b.llc, energy), cores * at_core + caches * queue);
  EXPECT_DOUBLE_EQ(leakage(b.omni, energy), cores * at_core + (caches + cores) * queue);
  EXPECT_DOUBLE_EQ(leakage(b.butterfly, energy), cores * at_core + (caches + switches) * queue);
}

TEST(NearDataEnergy, AlusLeakByLaneAndBuffersOfSwitchesLikeLds) {
  EnergyBench& b = bench<EnergyBench>();
  const GpuDeviceParameters& p = b.omni.device.parameters();
  const double cores = p.gpu.shader_arrays * p.gpu.cus_per_shader_array, caches = p.gpu.memory_partitions;
  const double switches = 4;
  EnergyParameters alus;
  alus.compute.valu_static = 1;
  EXPECT_DOUBLE_EQ(leakage(b.llc, alus), caches * 32);
  EXPECT_DOUBLE_EQ(leakage(b.omni, alus), caches * 32) << "the cores' ALUs are shared";
  EXPECT_DOUBLE_EQ(leakage(b.dedicated, alus), caches * 32 + cores * 8);
  EXPECT_DOUBLE_EQ(leakage(b.butterfly, alus), (caches + switches) * 32);
  EnergyParameters lds;
  lds.compute.lds_static = static_cast<double>(p.cu.lds.n);  // a byte leaks 1 W
  EXPECT_DOUBLE_EQ(leakage(b.omni, lds), 0) << "the cores' LDS is shared";
  EXPECT_DOUBLE_EQ(leakage(b.butterfly, lds), switches * 96 * 2 * p.cu.transaction_bytes);
}

TEST(NearDataEnergy, APacketIsBuiltWhenItIsSent) {
  NearDataGpu& gpu = bench<EnergyBench>().omni;
  EnergyMeter meter;
  gpu.near_data()->describe_energy(meter, energies());
  const Outcome outcome = run_patterns(gpu, true, 4);
  const EnergyMeter::Counts counts = meter.counts();
  const auto event = [&](const std::string& name) {
    const auto found = std::find_if(meter.events().begin(), meter.events().end(), [&](const EnergyMeter::Event& e) {
      return e.name == name && meter.blocks()[e.block] == "ndc";
    });
    return static_cast<std::size_t>(found - meter.events().begin());
  };
  ASSERT_LT(event("packet"), counts.size());
  EXPECT_EQ(counts[event("packet")], total(outcome.growth, ".ndc.packets"));
  EXPECT_DOUBLE_EQ(meter.events()[event("packet")].picojoules, 7.5 * 3);
  ASSERT_LT(event("packet_flit"), counts.size());
  EXPECT_EQ(counts[event("packet_flit")], total(outcome.growth, ".ndc.mask_flits"));
  EXPECT_DOUBLE_EQ(meter.events()[event("packet_flit")].picojoules, gpu.device.parameters().noc.width / 4.0 * 3);
}

TEST(NearDataEnergy, AMachineWithoutItHasNoSuchHardware) { EXPECT_EQ(bench<EnergyBench>().none.near_data(), nullptr); }

}  // namespace
}  // namespace lacuna::test

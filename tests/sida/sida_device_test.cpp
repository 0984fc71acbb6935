// Jobs of the accelerator through user-mode queues of a device: results, time, errors, reset.
#include <memory>

#include "tests/sida/sida_gpu.h"

namespace lacuna::test {
namespace {

GpuDeviceParameters untimed() {
  GpuDeviceParameters p = sida_gpu();
  p.gpu.timing = TimingMode::functional;
  return p;
}

struct SidaBench : sc_core::sc_module {
  explicit SidaBench(sc_core::sc_module_name module_name) : sc_module(module_name) {}
  TestGpu fabric{"fabric", sida_gpu(SidaPath::fabric)}, l2{"l2", sida_gpu(SidaPath::l2)}, functional{"functional", untimed()};
};

LACUNA_TEST_BENCH(SidaBench)

class SidaDevice : public testing::Test {
 protected:
  SidaBench& b_ = bench<SidaBench>();
};

TEST_F(SidaDevice, EveryApplicationComputesItsReference) {
  const sida::SparseMatrix graph = sida::generated("power:rows=600,entries=5000"), mesh = sida::generated("mesh2d:rows=400");
  for (TestGpu* const gpu : {&b_.fabric, &b_.l2, &b_.functional}) {
    for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != nullptr; ++a) {
      gpu->start();
      const bool solver = std::string(a->name) == "cg";
      DeviceApplication application(*gpu, a->name, solver ? mesh : graph, {.limit = 3});
      application.submit();
      gpu->finish();
      application.expect_right(a->name);
      EXPECT_EQ(gpu->reg(LACUNA_GPU_SIDA_STATE), LACUNA_SIDA_IDLE);
      EXPECT_EQ(gpu->reg(LACUNA_GPU_SIDA_JOBS), 1U);
    }
  }
}

}  // namespace
}  // namespace lacuna::test

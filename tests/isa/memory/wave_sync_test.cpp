// Tests the requests that ds_gws_* instructions report: operation, resource and value.
#include "models/isa/memory/wave_sync.h"

#include <gtest/gtest.h>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

TEST(WaveSync, OperationResourceAndValue) {
  const struct {
    const char* text;
    WaveSync operation;
    bool has_value;
  } table[] = {
      {"ds_gws_init v2 offset:7 gds", WaveSync::init, true},
      {"ds_gws_barrier v2 offset:7 gds", WaveSync::barrier, true},
      {"ds_gws_sema_br v2 offset:7 gds", WaveSync::semaphore_add, true},
      {"ds_gws_sema_v offset:7 gds", WaveSync::semaphore_v, false},
      {"ds_gws_sema_p offset:7 gds", WaveSync::semaphore_p, false},
      {"ds_gws_sema_release_all offset:7 gds", WaveSync::semaphore_release_all, false},
  };
  for (const Target target : {Target::gfx803, Target::gfx90a}) {
    for (const auto& row : table) {
      Machine m;
      m.wave.target = target;
      m.wave.set_exec(0xf0);
      m.wave.sgpr[kM0] = 60U << 16 | 0xffff;
      for (unsigned l = 0; l < kLanes; ++l) m.v(2, l) = 100 + l;
      m.run({row.text});
      ASSERT_EQ(m.wave.event, Event::wave_sync) << row.text;
      const WaveSyncRequest request = wave_sync_request(m.wave);
      EXPECT_EQ(request.operation, row.operation) << row.text;
      EXPECT_EQ(request.resource, 3U) << row.text << ": (60 + 7) mod 64";
      EXPECT_EQ(request.value, row.has_value ? 104U : 0U) << row.text;
    }
  }
}

TEST(WaveSync, NoRequestWithoutActiveLanes) {
  Machine m;
  m.wave.set_exec(0);
  m.run({"ds_gws_barrier v1 gds"});
  EXPECT_EQ(m.wave.event, Event::none);
}

TEST(WaveSync, OtherGdsInstructionsAreIllegal) {
  Machine m;
  m.run({"ds_add_u32 v1, v2 gds"});
  EXPECT_EQ(m.wave.event, Event::illegal_instruction);
}

}  // namespace
}  // namespace lacuna::isa::test

// Tests division steps and f64 argument reduction against MPFR.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/isa/vector/host_fp.h"
#include "models/isa/wavefront.h"
#include "tests/isa/reference/vector_bench.h"
#include "tests/isa/reference/vector_encoding.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Divisions) { check_references(division_references()); }

// The sum, once rounded and scaled down, lies half way between two denormals, so a second rounding would go to the wrong side.
// Tested with denormal inputs kept and flushed.
TEST(Reference, ScaledBackSumsAreRoundedOnce) {
  const auto all = rows(Format::vop3a);
  const auto row = std::find_if(all.begin(), all.end(), [](const InstructionRow& r) { return r.mnemonic == "v_div_fmas_f32"; });
  Form form;
  form.encoding = Encoding::e64;
  for (unsigned i = 0; i < 3; ++i) form.source.at(i) = 256 + kSourceVgpr[i];
  const auto words = encode(*row, Target::gfx803, form);
  const DecodeResult decoded = decode(words.data(), words.size(), Target::gfx803);
  ASSERT_TRUE(decoded.ok) << decoded.error;
  for (const std::uint32_t denormals : {0x20U, 0x30U}) {
    std::vector<std::uint32_t> registers(32 * kLanes);
    Wavefront wave;
    wave.vgpr = registers.data();
    wave.vgpr_count = 32;
    wave.mode.bits = denormals;
    wave.set_exec(1);
    wave.set_vcc(1);
    registers[kSourceVgpr[0] * kLanes] = 0x18bf8b48;
    registers[kSourceVgpr[1] * kLanes] = 0x47000001;
    registers[kSourceVgpr[2] * kLanes] = 0x08f8ef67;
    decoded.instruction.execute(decoded.instruction, wave);
    restore_host_fp();
    EXPECT_EQ(registers[kDestinationVgpr * kLanes], 0x5fc5a5U) << denormals;
  }
}

}  // namespace
}  // namespace lacuna::isa::test

// Tests reports of faults and warnings: their texts, their codes, and their effect on the wavefront.
#include "models/compute/reports/fault_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "include/lacuna/abi/gpu_registers.h"
#include "tests/compute/unit_parts.h"

namespace lacuna::test {
namespace {

using testing::HasSubstr;

class FaultReportsTest : public testing::Test {
 protected:
  const WavefrontFault& last() {
    p_.deliver();
    return p_.listener.faults.back();
  }
  WavefrontFault at(std::uint64_t address) {
    slot_.wave.fault = {.wanted = isa::Access::write, .lane = 3, .address = address, .bytes = 4};
    p_.faults.memory_fault(slot_, *slot_.next, 0x10008, Cycles{20});
    return last();
  }

  UnitParts p_;
  std::unique_ptr<Dispatch> dispatch_ = p_.dispatch({0xdc700000, 0x00000200, 0xbf810000});  // flat_store_dword v[0:1], v2
  WavefrontSlot& slot_ = *p_.start(*dispatch_).slots[0];
};

TEST_F(FaultReportsTest, AFaultHoldsTheWavefrontPermanently) {
  p_.faults.fault(slot_, 77, 0x1234, 0x10008, "text", Cycles{20}, ", remark");
  EXPECT_TRUE(slot_.held_by(StallReason::fault));
  EXPECT_EQ(slot_.ready(), kNeverCycles);
  EXPECT_EQ(p_.reports.at(0), p_.tick(20));
  const WavefrontFault& f = last();
  EXPECT_EQ(f.code, 77U);
  EXPECT_EQ(f.address, 0x1234U);
  EXPECT_EQ(f.pc, 0x10008U);
  EXPECT_EQ(f.what, "text");
  EXPECT_EQ(f.where, " (flat_store_dword v[0:1], v2), workgroup (0, 0, 0), wavefront 0, compute unit 9 SIMD 0, remark");
  EXPECT_TRUE(dispatch_->failed);
}

TEST_F(FaultReportsTest, AddressesNextToAnApertureAreNamed) {
  p_.faults.set_apertures(std::uint64_t{1} << 40, std::uint64_t{2} << 40);
  const struct {
    std::uint64_t address;
    const char* text;
  } table[] = {
      {(std::uint64_t{1} << 40) + 8, "inside the aperture of LDS"},
      {(std::uint64_t{1} << 40) - 8, "8 bytes before the aperture of LDS"},
      {(std::uint64_t{2} << 40) + (std::uint64_t{1} << 32) + 8, "8 bytes past the end of the aperture of private memory"},
      {UnitParts::kData + UnitParts::kBytes + 4, "mapping [0x40000, 0x41000)"},
  };
  for (const auto& row : table) EXPECT_THAT(at(row.address).what, HasSubstr(row.text));
}

TEST_F(FaultReportsTest, ReasonsHaveTheirCodes) {
  using Reason = isa::MemoryFault::Reason;
  const struct {
    Reason reason;
    std::uint32_t code;
    const char* text;
  } table[] = {{Reason::not_mapped, LACUNA_FAULT_NOT_MAPPED, "address not mapped"},
               {Reason::not_permitted, LACUNA_FAULT_NOT_PERMITTED, "not permitted"},
               {Reason::misaligned, LACUNA_FAULT_MISALIGNED, "misaligned"},
               {Reason::lds_out_of_range, LACUNA_FAULT_LDS_RANGE, "LDS"},
               {Reason::private_out_of_range, LACUNA_FAULT_PRIVATE_RANGE, "8 bytes before its beginning"}};
  for (const auto& row : table) {
    slot_.wave.fault = {.reason = row.reason, .address = ~std::uint64_t{0} - 7, .bytes = 4};
    p_.faults.memory_fault(slot_, *slot_.next, 0, Cycles{20});
    EXPECT_EQ(last().code, row.code) << row.text;
    EXPECT_THAT(last().what, HasSubstr(row.text));
  }
}

TEST_F(FaultReportsTest, AWarningIsReportedOnceForEachInstructionAndCountedAlways) {
  slot_.wave.fault = {.lane = 2, .address = UnitParts::kData, .bytes = 4};
  slot_.wave.event_value = 3;
  for (const std::uint64_t pc : {0x10000, 0x10000, 0x10008}) p_.faults.warn_of_fine_grained_atomic(slot_, pc, Cycles{20});
  p_.deliver();
  EXPECT_FALSE(slot_.held());
  EXPECT_EQ(p_.faults.fine_grained_float_atomics(), 9U);
  ASSERT_EQ(p_.listener.warnings.size(), 2U);
  EXPECT_THAT(p_.listener.warnings[0].what, HasSubstr("lane 2 (3 of the wavefront's lanes)"));
  EXPECT_EQ(p_.listener.warnings[1].pc, 0x10008U);
}

}  // namespace
}  // namespace lacuna::test

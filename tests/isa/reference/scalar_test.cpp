// Scalar instructions against plain wide arithmetic.
#include <gtest/gtest.h>

#include "tests/isa/reference/scalar_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Scalars) {
  for (const ScalarReference& entry : scalar_references())
    EXPECT_GT(check_scalar_rows(entry), 0U) << entry.mnemonic << " names no row";
}

}  // namespace
}  // namespace lacuna::isa::test

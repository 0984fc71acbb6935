// Tests that reciprocals, roots, exponential, logarithm, sine and cosine are within their error bounds, against MPFR.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Transcendentals) { check_references(transcendental_references()); }

}  // namespace
}  // namespace lacuna::isa::test

// Reciprocals, roots, exponential, logarithm, sine and cosine against MPFR, within their bounds.
#include <gtest/gtest.h>

#include "tests/isa/reference/vector_bench.h"

namespace lacuna::isa::test {
namespace {

TEST(Reference, Transcendentals) { check_references(transcendental_references()); }

}  // namespace
}  // namespace lacuna::isa::test

// Compares the accelerator's products with those of SuiteSparse:GraphBLAS for every semiring, every element type and both
// directions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <valarray>

#include "models/sida/function/host_memory.h"
#include "models/sida/function/products.h"
#include "models/sida/matrix/layout.h"
#include "tests/sida/graphblas.h"
#include "tests/sida/random_matrix.h"

namespace lacuna::sida::test {
namespace {

__extension__ using Wide = __int128;

/// Built-in semirings of GraphBLAS for a type, or null, and operators from which the missing semirings are made.
template <class T>
struct BuiltIn;
#define LACUNA_GRAPHBLAS_SEMIRINGS(T, NAME)                     \
  template <>                                                   \
  struct BuiltIn<T> {                                           \
    static GrB_Semiring semiring(unsigned semiring) {           \
      switch (semiring) {                                       \
        case LACUNA_SIDA_MUL_ADD:                               \
          return GrB_PLUS_TIMES_SEMIRING_##NAME;                \
        case LACUNA_SIDA_MIN_ADD:                               \
          return GrB_MIN_PLUS_SEMIRING_##NAME;                  \
        case LACUNA_SIDA_MAX_ADD:                               \
          return GrB_MAX_PLUS_SEMIRING_##NAME;                  \
        case LACUNA_SIDA_MIN_MUL:                               \
          return GrB_MIN_TIMES_SEMIRING_##NAME;                 \
        case LACUNA_SIDA_MAX_MUL:                               \
          return GrB_MAX_TIMES_SEMIRING_##NAME;                 \
        case LACUNA_SIDA_MIN_MAX:                               \
          return GrB_MIN_MAX_SEMIRING_##NAME;                   \
        case LACUNA_SIDA_MAX_MIN:                               \
          return GrB_MAX_MIN_SEMIRING_##NAME;                   \
        default:                                                \
          return nullptr;                                       \
      }                                                         \
    }                                                           \
    static GrB_Monoid plus() { return GrB_PLUS_MONOID_##NAME; } \
    static GrB_Monoid min() { return GrB_MIN_MONOID_##NAME; }   \
    static GrB_Monoid max() { return GrB_MAX_MONOID_##NAME; }   \
    static GrB_BinaryOp either() { return GxB_LOR_##NAME; }     \
    static GrB_BinaryOp both() { return GxB_LAND_##NAME; }      \
    static constexpr auto new_monoid = GrB_Monoid_new_##NAME;   \
  };
LACUNA_GRAPHBLAS_SEMIRINGS(double, FP64)
LACUNA_GRAPHBLAS_SEMIRINGS(float, FP32)
LACUNA_GRAPHBLAS_SEMIRINGS(std::int64_t, INT64)
LACUNA_GRAPHBLAS_SEMIRINGS(std::int32_t, INT32)
#undef LACUNA_GRAPHBLAS_SEMIRINGS

// Products that GraphBLAS does not provide, as functions of an element of x and an element of A.

template <class T>
void assign_right_if_left(void* out, const void* x, const void* a) {
  *static_cast<T*>(out) = *static_cast<const T*>(x) != 0 ? *static_cast<const T*>(a) : T{0};
}
/// Variant for the product A x, where GraphBLAS passes the element of A first.
template <class T>
void assign_left_if_right(void* out, const void* a, const void* x) {
  assign_right_if_left<T>(out, x, a);
}
template <class T>
void squared_distance(void* out, const void* x, const void* a) {
  // Integers wrap around, which is defined for unsigned types only.
  using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const Wrapping difference =
      static_cast<Wrapping>(*static_cast<const T*>(x)) - static_cast<Wrapping>(*static_cast<const T*>(a));
  *static_cast<T*>(out) = static_cast<T>(difference * difference);
}
template <class T>
void saturated_sum(void* out, const void* x, const void* a) {
  const Wide sum = static_cast<Wide>(*static_cast<const T*>(x)) + *static_cast<const T*>(a);
  constexpr Wide kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  *static_cast<T*>(out) = static_cast<T>(std::clamp(sum, kLeast, kMost));
}

/// A semiring with its owned parts; built-in parts are not owned.
struct Ring {
  Owned<GrB_BinaryOp> product;
  Owned<GrB_Monoid> sum;
  Owned<GrB_Semiring> made;
  GrB_Semiring semiring = nullptr;
};

template <class T>
void make_product_of(Ring& ring, GxB_binary_function function) {
  GrB_BinaryOp product = nullptr;
  check(GrB_BinaryOp_new(&product, function, GraphBlas<T>::type(), GraphBlas<T>::type(), GraphBlas<T>::type()));
  ring.product.reset(product);
}

void make_semiring(Ring& ring, GrB_Monoid sum, GrB_BinaryOp product) {
  check(GrB_Semiring_new(&ring.semiring, sum, product));
  ring.made.reset(ring.semiring);
}

/// Kind of values in a case.
enum class Values { whole, any, extreme };

/// The GraphBLAS semiring for a semiring of the accelerator. `matrix_first`: for A x instead of x A.
template <class T>
Ring ring_of(unsigned semiring, Values values, bool matrix_first) {
  Ring ring;
  if constexpr (std::is_same_v<T, bool>) {
    ring.semiring = GrB_LOR_LAND_SEMIRING_BOOL;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    ring.semiring = GrB_PLUS_TIMES_SEMIRING_INT32;
  } else {
    using Own = BuiltIn<T>;
    const bool adds = semiring == LACUNA_SIDA_MIN_ADD || semiring == LACUNA_SIDA_MAX_ADD;
    ring.semiring = Own::semiring(semiring);
    if (semiring == LACUNA_SIDA_AND_OR) {
      GrB_Monoid sum = nullptr;
      check(Own::new_monoid(&sum, Own::either(), T{0}));
      ring.sum.reset(sum);
      make_semiring(ring, sum, Own::both());
    } else if (semiring == LACUNA_SIDA_ARIL_ADD) {
      make_product_of<T>(ring, matrix_first ? assign_left_if_right<T> : assign_right_if_left<T>);
      make_semiring(ring, Own::plus(), ring.product.get());
    } else if (semiring == LACUNA_SIDA_PLUS_NORM) {
      make_product_of<T>(ring, squared_distance<T>);
      make_semiring(ring, Own::plus(), ring.product.get());
    } else if constexpr (std::is_integral_v<T>) {
      // The accelerator saturates these sums; the built-in sums of GraphBLAS wrap around.
      if (adds && values == Values::extreme) {
        make_product_of<T>(ring, saturated_sum<T>);
        make_semiring(ring, semiring == LACUNA_SIDA_MIN_ADD ? Own::min() : Own::max(), ring.product.get());
      }
    }
  }
  return ring;
}

/// A value that both T and the double of a matrix represent exactly.
template <class T>
T value_of(Draw& draw, Values values) {
  if constexpr (std::is_same_v<T, bool>) {
    return draw.one_in(2);
  } else if constexpr (std::is_floating_point_v<T>) {
    const T value = static_cast<T>(static_cast<std::int64_t>(draw.below(9)) - 4);
    if (values == Values::whole || draw.one_in(8)) return value;
    const T any = static_cast<T>((static_cast<double>(draw.below(4001)) - 2000) / 257);
    return draw.one_in(3) ? std::ldexp(any, static_cast<int>(draw.below(41)) - 20) : any;
  } else {
    constexpr T kLarge = std::numeric_limits<T>::max() / 2 + 1;
    constexpr T kExtreme[]{std::numeric_limits<T>::min(), -kLarge, kLarge, 1, -1, 0};
    if (values == Values::extreme && draw.one_in(2)) return kExtreme[draw.below(std::size(kExtreme))];
    return static_cast<T>(static_cast<std::int64_t>(draw.below(9)) - 4);
  }
}

template <class T>
constexpr unsigned kElement = std::is_same_v<T, double>         ? LACUNA_SIDA_F64
                              : std::is_same_v<T, float>        ? LACUNA_SIDA_F32
                              : std::is_same_v<T, std::int64_t> ? LACUNA_SIDA_I64
                              : std::is_same_v<T, std::int32_t> ? LACUNA_SIDA_I32
                              : std::is_same_v<T, bool>         ? LACUNA_SIDA_BOOL
                                                                : LACUNA_SIDA_I8;
template <class T>
using SumType = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, T>;

/// A test case: x, A and the operation. `x` has `width` features per element.
template <class T>
struct Case {
  unsigned semiring = 0;
  bool transposed = false, matrix_first = false, blocked = false;
  Values values = Values::whole;
  std::uint32_t width = 1;
  SparseMatrix matrix;
  std::valarray<T> x;                 ///< not a std::vector, since std::vector<bool> has no addressable elements
  std::vector<std::uint8_t> present;  ///< empty: all elements are present

  std::size_t inputs() const { return transposed ? matrix.columns : matrix.rows; }
  std::size_t outputs() const { return transposed ? matrix.rows : matrix.columns; }
  bool is_present(std::size_t i) const { return present.empty() || present[i] != 0; }
  T entry(std::uint64_t e) const { return static_cast<T>(matrix.is_pattern() ? 1.0 : matrix.values[e]); }

  std::string text() const {
    return "semiring " + std::to_string(semiring) + ", element " + std::to_string(kElement<T>) + ", " +
           std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) + (transposed ? ", transposed" : "") +
           (matrix_first ? ", by mxv" : "") + (blocked ? ", blocked" : "") + (present.empty() ? "" : ", with absent elements") +
           ", width " + std::to_string(width);
  }
};

template <class T>
Case<T> random_case(Draw& draw) {
  Case<T> c;
  c.semiring = std::is_same_v<T, bool>          ? static_cast<unsigned>(LACUNA_SIDA_AND_OR)
               : std::is_same_v<T, std::int8_t> ? static_cast<unsigned>(LACUNA_SIDA_MUL_ADD)
                                                : static_cast<unsigned>(draw.below(LACUNA_SIDA_SEMIRING_COUNT));
  c.transposed = draw.one_in(2);
  c.matrix_first = draw.one_in(2);
  c.blocked = draw.one_in(3);
  c.width = draw.one_in(5) ? static_cast<std::uint32_t>(2 + draw.below(3)) : 1;
  c.values = draw.one_in(2) ? Values::whole : std::is_integral_v<T> ? Values::extreme : Values::any;
  c.matrix =
      random_matrix(draw, draw.one_in(8) ? 200 : 24, false, [&] { return static_cast<double>(value_of<T>(draw, c.values)); });
  if (draw.one_in(4)) c.matrix.values.clear();
  c.x.resize(c.inputs() * c.width);
  for (T& value : c.x) value = value_of<T>(draw, c.values);
  // Set some elements to the identity of the sum, such as unreached elements in min-add.
  if (std::is_floating_point_v<T> && (c.semiring == LACUNA_SIDA_MIN_ADD || c.semiring == LACUNA_SIDA_MAX_ADD)) {
    const T unreached = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : T{};
    for (T& value : c.x) {
      if (draw.one_in(4)) value = c.semiring == LACUNA_SIDA_MIN_ADD ? unreached : static_cast<T>(-unreached);
    }
  }
  if (draw.one_in(2)) {
    c.present.resize(c.inputs());
    const std::uint64_t absent = 1 + draw.below(5);
    for (std::uint8_t& present : c.present) present = draw.one_in(absent) ? 0 : 1;
  }
  return c;
}

template <class T>
std::vector<SumType<T>> accelerator_sums(const Case<T>& c, Draw& draw) {
  HostMemory memory;
  Program program;
  program.matrices.push_back(lay_out(c.matrix,
                                     {.element = kElement<T>,
                                      .values = !c.matrix.is_pattern(),
                                      .blocked = c.blocked,
                                      .block_side = static_cast<Index>(1 + draw.below(12))},
                                     [&](std::span<const std::byte> array) { return memory.put(array, false); }));
  HostVector x;
  x.values.resize(c.x.size() * sizeof(T));
  for (std::size_t i = 0; i < c.x.size(); ++i) std::memcpy(x.values.data() + i * sizeof(T), &c.x[i], sizeof(T));
  x.present = c.present;
  const auto product = make_product(memory, program, {0, c.transposed, c.semiring, kElement<T>, c.width}, x);
  const std::size_t line_bytes = c.width * sizeof(SumType<T>);
  std::vector<std::byte> bytes(c.outputs() * line_bytes);
  for (std::size_t first = 0; first < c.outputs();) {
    const std::size_t count = 1 + draw.below(c.outputs() - first);
    product->sums(first, count, bytes.data() + first * line_bytes);
    first += count;
  }
  std::vector<SumType<T>> sums(c.outputs() * c.width);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    SumType<T> sum{};
    std::memcpy(&sum, bytes.data() + i * sizeof sum, sizeof sum);
    sums[i] = sum;
  }
  return sums;
}

/// Expected result for an element that is absent in the result of GraphBLAS.
template <class T>
SumType<T> identity_of(GrB_Semiring semiring) {
  SumType<T> identity{};
  GrB_Monoid sum = nullptr;
  check(GxB_Semiring_add(&sum, semiring));
  check(GxB_Monoid_identity(&identity, sum));
  return identity;
}

template <class T>
std::vector<SumType<T>> graphblas_sums(const Case<T>& c) {
  const Owned<GrB_Matrix> a = matrix_of<T>(c.matrix);
  const Ring ring = ring_of<T>(c.semiring, c.values, c.matrix_first);
  std::vector<SumType<T>> sums(c.outputs() * c.width);
  for (std::uint32_t f = 0; f < c.width; ++f) {
    std::vector<GrB_Index> numbers;
    const auto values = std::make_unique<T[]>(c.inputs());
    for (std::size_t i = 0; i < c.inputs(); ++i) {
      if (!c.is_present(i)) continue;
      values[numbers.size()] = c.x[i * c.width + f];
      numbers.push_back(i);
    }
    const Owned<GrB_Vector> x = empty_vector<T>(c.inputs()), y = empty_vector<SumType<T>>(c.outputs());
    if (!numbers.empty()) check(GraphBlas<T>::vector_build(x.get(), numbers.data(), values.get(), numbers.size(), nullptr));
    // x A = A^T x, x A^T = A x.
    if (c.matrix_first)
      check(GrB_mxv(y.get(), nullptr, nullptr, ring.semiring, a.get(), x.get(), c.transposed ? nullptr : GrB_DESC_T0));
    else
      check(GrB_vxm(y.get(), nullptr, nullptr, ring.semiring, x.get(), a.get(), c.transposed ? GrB_DESC_T1 : nullptr));
    const std::vector<SumType<T>> feature = elements_of<SumType<T>>(y, identity_of<T>(ring.semiring));
    for (std::size_t i = 0; i < feature.size(); ++i) sums[i * c.width + f] = feature[i];
  }
  return sums;
}

/// Tolerance of each sum, since GraphBLAS adds in a different order: 0 if the arithmetic is exact; otherwise, for each term of
/// the longest sum and for two further operations, one rounding error of the sum of magnitudes.
template <class T>
std::vector<double> tolerances(const Case<T>& c) {
  std::vector<double> magnitudes(c.outputs() * c.width);
  const bool adds =
      c.semiring == LACUNA_SIDA_MUL_ADD || c.semiring == LACUNA_SIDA_ARIL_ADD || c.semiring == LACUNA_SIDA_PLUS_NORM;
  if (!std::is_floating_point_v<T> || c.values == Values::whole || !adds) return magnitudes;
  std::vector<std::uint64_t> terms(c.outputs());
  for (Index column = 0; column < c.matrix.columns; ++column) {
    for (std::uint64_t e = c.matrix.offsets[column]; e < c.matrix.offsets[column + 1]; ++e) {
      const std::size_t from = c.transposed ? column : c.matrix.indices[e], to = c.transposed ? c.matrix.indices[e] : column;
      if (!c.is_present(from)) continue;
      ++terms[to];
      for (std::uint32_t f = 0; f < c.width; ++f) {
        const double x = static_cast<double>(c.x[from * c.width + f]), a = static_cast<double>(c.entry(e));
        magnitudes[to * c.width + f] += c.semiring == LACUNA_SIDA_MUL_ADD    ? std::abs(x * a)
                                        : c.semiring == LACUNA_SIDA_ARIL_ADD ? (x != 0 ? std::abs(a) : 0)
                                                                             : (x - a) * (x - a);
      }
    }
  }
  const std::uint64_t longest = *std::max_element(terms.begin(), terms.end());
  const double rounding = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (double& magnitude : magnitudes) magnitude *= static_cast<double>(longest + 2) * rounding;
  return magnitudes;
}

struct Counts {
  std::uint64_t cases = 0, sums = 0, exact = 0, absent = 0;
};

/// Runs a random case. Returns a description of the first difference, or an empty text.
template <class T>
std::string compare(Draw& draw, Counts& counts) {
  const Case<T> c = random_case<T>(draw);
  const std::vector<SumType<T>> got = accelerator_sums(c, draw), expected = graphblas_sums(c);
  const std::vector<double> tolerance = tolerances(c);
  ++counts.cases;
  counts.absent += c.present.empty() ? 0 : 1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ++counts.sums;
    counts.exact += tolerance[i] == 0 ? 1 : 0;
    if (got[i] == expected[i]) continue;
    if (tolerance[i] != 0 && std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])) <= tolerance[i]) continue;
    return c.text() + ": sum " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " + std::to_string(expected[i]);
  }
  return "";
}

std::string compare_any(Draw& draw, Counts& counts) {
  switch (draw.below(6)) {
    case 0:
      return compare<double>(draw, counts);
    case 1:
      return compare<float>(draw, counts);
    case 2:
      return compare<std::int64_t>(draw, counts);
    case 3:
      return compare<std::int32_t>(draw, counts);
    case 4:
      return compare<bool>(draw, counts);
    default:
      return compare<std::int8_t>(draw, counts);
  }
}

// LACUNA_SIDA_PRODUCTS sets the number of cases.
TEST(SidaGraphBlas, ProductsAreTheSame) {
  constexpr std::uint64_t kCases = 6'000;
  const char* const more = std::getenv("LACUNA_SIDA_PRODUCTS");
  const std::uint64_t cases = more ? std::strtoull(more, nullptr, 10) : kCases;
  start_graphblas();
  Counts counts;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Draw draw(seed);
    ASSERT_EQ(compare_any(draw, counts), "") << "seed " << seed;
  }
  EXPECT_GT(counts.exact, counts.sums / 2);
  EXPECT_GT(counts.absent, counts.cases / 4);
  EXPECT_LT(counts.exact, counts.sums);
}

}  // namespace
}  // namespace lacuna::sida::test

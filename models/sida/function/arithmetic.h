// Semantics of elements, monoids and semirings (lacuna/abi/sida.h), shared by products, element-wise and scalar code.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "include/lacuna/abi/sida.h"

namespace lacuna::sida {

/// An element of type BOOL: 0 or 1.
struct Bool {
  std::uint8_t value;
  friend bool operator==(Bool a, Bool b) { return a.value == b.value; }
  friend bool operator<(Bool a, Bool b) { return a.value < b.value; }
};

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;

template <class T>
bool is_true(T a) {
  if constexpr (std::is_same_v<T, Bool>) {
    return a.value != 0;
  } else {
    return a != T{};
  }
}
template <class T>
T truth(bool a) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {static_cast<std::uint8_t>(a)};
  } else {
    return static_cast<T>(a);
  }
}

/// Calls f with a value of the C++ type of `element`, a valid element number.
template <class F>
decltype(auto) with_type(unsigned element, F&& f) {
  switch (element) {
    case LACUNA_SIDA_F64:
      return f(double{});
    case LACUNA_SIDA_F32:
      return f(float{});
    case LACUNA_SIDA_I64:
      return f(std::int64_t{});
    case LACUNA_SIDA_I32:
      return f(std::int32_t{});
    case LACUNA_SIDA_I8:
      return f(std::int8_t{});
    default:
      return f(Bool{});
  }
}

/// Applies f to integers as unsigned values, so that results wrap around; signed overflow would be undefined.
template <class T, class F>
T wrapping(T a, T b, F f) {
  using Unsigned = std::uint64_t;
  return static_cast<T>(f(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
}
template <class T>
T plus(T a, T b) {
  if constexpr (kIsInteger<T>)
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  else
    return a + b;
}
template <class T>
T minus(T a, T b) {
  if constexpr (kIsInteger<T>)
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  else
    return a - b;
}
template <class T>
T times(T a, T b) {
  if constexpr (kIsInteger<T>)
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  else
    return a * b;
}
template <class T>
T saturated_plus(T a, T b) {
  if constexpr (kIsInteger<T>) {
    T sum;
    if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return sum;
  } else {
    return a + b;
  }
}
template <class T>
T quotient(T a, T b) {
  if constexpr (kIsInteger<T>) {
    if (b == 0) return 0;
    return b == -1 ? minus(T{0}, a) : static_cast<T>(a / b);
  } else {
    return a / b;
  }
}
template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T greater(T a, T b) {
  return a < b ? b : a;
}

/// A monoid: the operation `combine` and its identity.
template <unsigned kMonoid, class T>
struct Monoid {
  static T identity() {
    if constexpr (kMonoid == LACUNA_SIDA_MONOID_MIN) {
      if constexpr (std::is_same_v<T, Bool>)
        return {1};
      else if constexpr (kIsInteger<T>)
        return std::numeric_limits<T>::max();
      else
        return std::numeric_limits<T>::infinity();
    } else if constexpr (kMonoid == LACUNA_SIDA_MONOID_MAX) {
      if constexpr (std::is_same_v<T, Bool>)
        return {0};
      else if constexpr (kIsInteger<T>)
        return std::numeric_limits<T>::min();
      else
        return -std::numeric_limits<T>::infinity();
    } else {
      return truth<T>(kMonoid == LACUNA_SIDA_MONOID_AND);
    }
  }
  static T combine(T a, T b) {
    if constexpr (kMonoid == LACUNA_SIDA_MONOID_MIN)
      return smaller(a, b);
    else if constexpr (kMonoid == LACUNA_SIDA_MONOID_MAX)
      return greater(a, b);
    else if constexpr (kMonoid == LACUNA_SIDA_MONOID_OR)
      return truth<T>(is_true(a) || is_true(b));
    else if constexpr (kMonoid == LACUNA_SIDA_MONOID_AND)
      return truth<T>(is_true(a) && is_true(b));
    else if constexpr (std::is_same_v<T, Bool>)
      return truth<T>(is_true(a) || is_true(b));  // unreachable: the program check rejects ADD over BOOL
    else
      return plus(a, b);
  }
};

/// Calls f with the monoid over T whose number is `monoid`.
template <class T, class F>
decltype(auto) with_monoid(unsigned monoid, F&& f) {
  switch (monoid) {
    case LACUNA_SIDA_MONOID_MIN:
      return f(Monoid<LACUNA_SIDA_MONOID_MIN, T>{});
    case LACUNA_SIDA_MONOID_MAX:
      return f(Monoid<LACUNA_SIDA_MONOID_MAX, T>{});
    case LACUNA_SIDA_MONOID_OR:
      return f(Monoid<LACUNA_SIDA_MONOID_OR, T>{});
    case LACUNA_SIDA_MONOID_AND:
      return f(Monoid<LACUNA_SIDA_MONOID_AND, T>{});
    default:
      return f(Monoid<LACUNA_SIDA_MONOID_ADD, T>{});
  }
}

/// A semiring over elements T with sums of type Sum: `term` combines an element of a vector with one of a matrix, and the
/// monoid `Add` sums the terms.
template <unsigned kSemiring, class T, class Sum>
struct Semiring {
#define LACUNA_SIDA_SUM(name, value, sum, product, text) kSemiring == (value) ? static_cast<unsigned>(LACUNA_SIDA_MONOID_##sum):
  using Add = Monoid<(LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_SUM) 0u), Sum>;
#undef LACUNA_SIDA_SUM
  static Sum term(T a, T b) {
    if constexpr (std::is_same_v<T, Bool>) {
      return {static_cast<std::uint8_t>(a.value & b.value)};  // only AND_OR is defined for BOOL
    } else {
      const Sum x = static_cast<Sum>(a), y = static_cast<Sum>(b);
      if constexpr (kSemiring == LACUNA_SIDA_AND_OR)
        return truth<Sum>(is_true(x) && is_true(y));
      else if constexpr (kSemiring == LACUNA_SIDA_MIN_ADD || kSemiring == LACUNA_SIDA_MAX_ADD)
        return saturated_plus(x, y);
      else if constexpr (kSemiring == LACUNA_SIDA_ARIL_ADD)
        return is_true(x) ? y : Sum{};
      else if constexpr (kSemiring == LACUNA_SIDA_PLUS_NORM)
        return times(minus(x, y), minus(x, y));
      else if constexpr (kSemiring == LACUNA_SIDA_MIN_MAX)
        return greater(x, y);
      else if constexpr (kSemiring == LACUNA_SIDA_MAX_MIN)
        return smaller(x, y);
      else
        return times(x, y);
    }
  }
};

/// Calls f with the semiring over T whose number is `semiring`, a valid number.
template <class T, class Sum, class F>
decltype(auto) with_semiring(unsigned semiring, F&& f) {
  if constexpr (std::is_same_v<T, Bool>) {
    return f(Semiring<LACUNA_SIDA_AND_OR, T, Sum>{});
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return f(Semiring<LACUNA_SIDA_MUL_ADD, T, Sum>{});
  } else {
#define LACUNA_SIDA_CASE(name, value, sum, product, text) \
  case value:                                             \
    return f(Semiring<value, T, Sum>{});
    switch (semiring) { LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_CASE) }
#undef LACUNA_SIDA_CASE
    return f(Semiring<LACUNA_SIDA_MUL_ADD, T, Sum>{});
  }
}

/// Type of the sums of products of T.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, T>;

/// Conversion as defined for CONVERT.
template <class To, class From>
To converted(From a) {
  if constexpr (std::is_same_v<To, Bool>) {
    return truth<To>(is_true(a));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return static_cast<To>(a.value);
  } else if constexpr (std::is_floating_point_v<From> && kIsInteger<To>) {
    if (std::isnan(a)) return 0;
    // The magnitude of the least integer is 0 or a power of two, so every floating-point type represents it exactly; the
    // greatest may be rounded up to a value outside the range.
    constexpr auto kLeast = static_cast<From>(std::numeric_limits<To>::min());
    if (a < kLeast) return std::numeric_limits<To>::min();
    if (a >= -kLeast) return std::numeric_limits<To>::max();
    return static_cast<To>(a);
  } else if constexpr (std::is_same_v<To, std::int8_t> && kIsInteger<From>) {
    return static_cast<To>(a < INT8_MIN ? INT8_MIN : a > INT8_MAX ? INT8_MAX : a);
  } else {
    return static_cast<To>(a);
  }
}

}  // namespace lacuna::sida

// SuiteSparse:GraphBLAS for tests: objects with destructors, and errors as exceptions.
#pragma once

#include <algorithm>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"

// GraphBLAS.h is a C header. The headers that it includes are included above, outside of extern "C".
extern "C" {
#include <GraphBLAS.h>
}

namespace lacuna::sida::test {

inline void check(GrB_Info info) {
  if (info != GrB_SUCCESS && info != GrB_NO_VALUE) throw std::runtime_error("GraphBLAS: error " + std::to_string(info));
}

/// Initialises GraphBLAS once per process, with one thread.
inline void start_graphblas() {
  struct Session {
    Session() {
      check(GrB_init(GrB_NONBLOCKING));
      check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1));
    }
    ~Session() { GrB_finalize(); }
  };
  static const Session session;
}

struct GraphBlasFree {
  void operator()(GrB_Vector object) const { GrB_Vector_free(&object); }
  void operator()(GrB_Matrix object) const { GrB_Matrix_free(&object); }
  void operator()(GrB_BinaryOp object) const { GrB_BinaryOp_free(&object); }
  void operator()(GrB_Monoid object) const { GrB_Monoid_free(&object); }
  void operator()(GrB_Semiring object) const { GrB_Semiring_free(&object); }
};
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, GraphBlasFree>;

/// GraphBLAS functions for an element type.
template <class T>
struct GraphBlas;
#define LACUNA_GRAPHBLAS_TYPE(T, NAME)                                       \
  template <>                                                                \
  struct GraphBlas<T> {                                                      \
    static GrB_Type type() { return GrB_##NAME; }                            \
    static constexpr auto vector_build = GrB_Vector_build_##NAME;            \
    static constexpr auto vector_element = GrB_Vector_extractElement_##NAME; \
    static constexpr auto vector_fill = GrB_Vector_assign_##NAME;            \
    static constexpr auto matrix_build = GrB_Matrix_build_##NAME;            \
  };
LACUNA_GRAPHBLAS_TYPE(double, FP64)
LACUNA_GRAPHBLAS_TYPE(float, FP32)
LACUNA_GRAPHBLAS_TYPE(std::int64_t, INT64)
LACUNA_GRAPHBLAS_TYPE(std::int32_t, INT32)
LACUNA_GRAPHBLAS_TYPE(std::int8_t, INT8)
LACUNA_GRAPHBLAS_TYPE(bool, BOOL)
#undef LACUNA_GRAPHBLAS_TYPE

/// A vector without elements.
template <class T>
Owned<GrB_Vector> empty_vector(GrB_Index length) {
  GrB_Vector vector = nullptr;
  check(GrB_Vector_new(&vector, GraphBlas<T>::type(), length));
  return Owned<GrB_Vector>(vector);
}

/// A vector whose elements are all `value`.
template <class T>
Owned<GrB_Vector> full_vector(GrB_Index length, T value) {
  Owned<GrB_Vector> vector = empty_vector<T>(length);
  check(GraphBlas<T>::vector_fill(vector.get(), nullptr, nullptr, value, GrB_ALL, length, nullptr));
  return vector;
}

/// A vector whose elements are a function of their index.
template <class T, class F>
Owned<GrB_Vector> vector_of(GrB_Index length, F&& element) {
  std::vector<GrB_Index> numbers(length);
  std::iota(numbers.begin(), numbers.end(), GrB_Index{0});
  const auto values = std::make_unique<T[]>(length);
  for (GrB_Index i = 0; i < length; ++i) values[i] = element(i);
  Owned<GrB_Vector> vector = empty_vector<T>(length);
  check(GraphBlas<T>::vector_build(vector.get(), numbers.data(), values.get(), length, nullptr));
  return vector;
}

inline Owned<GrB_Vector> copy(const Owned<GrB_Vector>& vector) {
  GrB_Vector copied = nullptr;
  check(GrB_Vector_dup(&copied, vector.get()));
  return Owned<GrB_Vector>(copied);
}

inline GrB_Index entries_of(const Owned<GrB_Vector>& vector) {
  GrB_Index entries = 0;
  check(GrB_Vector_nvals(&entries, vector.get()));
  return entries;
}

/// All elements of a vector, with `absent` for those that the vector does not have.
template <class T>
std::vector<T> elements_of(const Owned<GrB_Vector>& vector, T absent) {
  GrB_Index length = 0;
  check(GrB_Vector_size(&length, vector.get()));
  std::vector<T> elements(length);
  for (GrB_Index i = 0; i < length; ++i) {
    T value{};
    const GrB_Info info = GraphBlas<T>::vector_element(&value, vector.get(), i);
    check(info);
    elements[i] = info == GrB_NO_VALUE ? absent : value;
  }
  return elements;
}

/// Converts a matrix to GraphBLAS; all values are 1 if it has no values.
template <class T>
Owned<GrB_Matrix> matrix_of(const SparseMatrix& from) {
  std::vector<GrB_Index> rows(from.indices.begin(), from.indices.end()), columns;
  for (Index c = 0; c < from.columns; ++c) columns.resize(from.offsets[c + 1], c);
  const auto values = std::make_unique<T[]>(from.entries() + 1);
  for (std::uint64_t e = 0; e < from.entries(); ++e) values[e] = static_cast<T>(from.is_pattern() ? 1.0 : from.values[e]);
  GrB_Matrix matrix = nullptr;
  check(GrB_Matrix_new(&matrix, GraphBlas<T>::type(), from.rows, from.columns));
  Owned<GrB_Matrix> owned(matrix);
  if (from.entries() != 0)
    check(GraphBlas<T>::matrix_build(matrix, rows.data(), columns.data(), values.get(), from.entries(), nullptr));
  return owned;
}

}  // namespace lacuna::sida::test

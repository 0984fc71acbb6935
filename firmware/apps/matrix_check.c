#include "matrix_check.h"

#include <string.h>

#include "app.h"

#define CHECKED_ROWS 4u

/* Computes out = matrix * vector modulo 2^64. Returns false if an element of the matrix is not an integer. */
static bool multiply_vector(const float* matrix, const uint64_t* vector, uint64_t* out, size_t n) {
  bool integers = true;
  for (size_t row = 0; row < n; ++row) {
    uint64_t sum = 0;
    for (size_t column = 0; column < n; ++column) {
      const float element = matrix[row * n + column];
      const int64_t integer = (int64_t)element;
      integers &= (float)integer == element;
      sum += (uint64_t)integer * vector[column];
    }
    out[row] = sum;
  }
  return integers;
}

static bool row_is_correct(const float* a, const float* b, const float* c, size_t n, size_t row) {
  static float sums[MATRIX_MAX_SIZE];
  memset(sums, 0, n * sizeof *sums);
  for (size_t k = 0; k < n; ++k) {
    for (size_t column = 0; column < n; ++column) sums[column] += a[row * n + k] * b[k * n + column];
  }
  bool equal = true;
  for (size_t column = 0; column < n; ++column) equal &= sums[column] == c[row * n + column];
  return equal;
}

bool matrix_product_is_correct(const float* a, const float* b, const float* c, size_t n) {
  static uint64_t x[MATRIX_MAX_SIZE], bx[MATRIX_MAX_SIZE], abx[MATRIX_MAX_SIZE], cx[MATRIX_MAX_SIZE];
  if (n > MATRIX_MAX_SIZE) return false;
  uint64_t seed = n;
  for (size_t i = 0; i < n; ++i) x[i] = app_random(&seed);
  if (!multiply_vector(b, x, bx, n) || !multiply_vector(a, bx, abx, n) || !multiply_vector(c, x, cx, n)) return false;
  if (memcmp(abx, cx, n * sizeof *cx) != 0) return false;
  for (size_t i = 0; i < CHECKED_ROWS; ++i) {
    if (!row_is_correct(a, b, c, n, app_random(&seed) % n)) return false;
  }
  return true;
}

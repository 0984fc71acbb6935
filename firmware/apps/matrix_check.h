/* Is c = a * b, for row-major matrices of integers held as floats? Exact, in O(n^2).
 *
 * Freivalds' method (R. Freivalds, "Probabilistic machines can use less running time", IFIP Congress 1977) over integers modulo
 * 2^64 with a fixed pseudo-random vector: c * x == a * (b * x). A c with a wrong element d off, |d| < 2^24, passes with a
 * probability below 2^-40. On top of that CHECKED_ROWS rows are computed in full. All sums must stay below 2^24 in magnitude,
 * so that float arithmetic is exact in every order: |elements| * n < 2^24. */
#ifndef FIRMWARE_APPS_MATRIX_CHECK_H
#define FIRMWARE_APPS_MATRIX_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#define MATRIX_MAX_SIZE 4096u

bool matrix_product_is_correct(const float* a, const float* b, const float* c, size_t n);

#endif

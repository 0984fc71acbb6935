/* Checks c = a * b exactly, in O(n^2), for row-major matrices of integers held as floats.
 *
 * Freivalds' method (R. Freivalds, "Probabilistic machines can use less running time", IFIP Congress 1977) over integers modulo
 * 2^64 with a fixed pseudo-random vector: c * x == a * (b * x). A c in which an element is wrong by d, |d| < 2^24, passes with
 * a probability below 2^-40. In addition, CHECKED_ROWS rows are computed in full. All sums must stay below 2^24 in magnitude,
 * so that float arithmetic is exact in every order: |elements| * n < 2^24. */
#ifndef FIRMWARE_APPS_MATRIX_CHECK_H
#define FIRMWARE_APPS_MATRIX_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#define MATRIX_MAX_SIZE 4096u

bool matrix_product_is_correct(const float* a, const float* b, const float* c, size_t n);

#endif

/* Helpers derived from the lists of lacuna/abi/sida.h: sizes, names, valid combinations of elements, and the positions of a
 * program's tables. C and C++. */
#ifndef LACUNA_SIDA_FORMAT_H
#define LACUNA_SIDA_FORMAT_H

#include "sida.h"

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

#define LACUNA_SIDA_NAME(name, value, ...) \
  case value:                              \
    return #name;

static inline const char* lacuna_sida_element_name(unsigned element) {
  switch (element) {
    LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_NAME)
    default:
      return "unknown element";
  }
}
static inline const char* lacuna_sida_semiring_name(unsigned semiring) {
  switch (semiring) {
    LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_NAME)
    default:
      return "unknown semiring";
  }
}
static inline const char* lacuna_sida_monoid_name(unsigned monoid) {
  switch (monoid) {
    LACUNA_SIDA_MONOIDS(LACUNA_SIDA_NAME)
    default:
      return "unknown monoid";
  }
}
static inline const char* lacuna_sida_operation_name(unsigned operation) {
  switch (operation) {
    LACUNA_SIDA_OPERATIONS(LACUNA_SIDA_NAME)
    default:
      return "unknown operation";
  }
}
#undef LACUNA_SIDA_NAME

/* Size of an element in bytes; 0 for an unknown element type. */
static inline unsigned lacuna_sida_element_bytes(unsigned element) {
  switch (element) {
#define LACUNA_SIDA_CASE(name, value, bytes, text) \
  case value:                                      \
    return bytes;
    LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_CASE)
#undef LACUNA_SIDA_CASE
    default:
      return 0;
  }
}

/* Number of operands (a, b, c) of an operation that are registers or scalars; 0 for an unknown operation. */
static inline unsigned lacuna_sida_operands(unsigned operation) {
  switch (operation) {
#define LACUNA_SIDA_CASE(name, value, operands, text) \
  case value:                                         \
    return operands;
    LACUNA_SIDA_OPERATIONS(LACUNA_SIDA_CASE)
#undef LACUNA_SIDA_CASE
    default:
      return 0;
  }
}

/* Element type of the sums of products: I32 for I8, otherwise the same type. */
static inline unsigned lacuna_sida_sum_element(unsigned element) {
  return element == LACUNA_SIDA_I8 ? (unsigned)LACUNA_SIDA_I32 : element;
}

/* Whether products of these elements are defined. */
static inline bool lacuna_sida_semiring_takes(unsigned semiring, unsigned element) {
  if (element == LACUNA_SIDA_BOOL) return semiring == LACUNA_SIDA_AND_OR;
  if (element == LACUNA_SIDA_I8) return semiring == LACUNA_SIDA_MUL_ADD;
  return element < LACUNA_SIDA_ELEMENT_COUNT && semiring < LACUNA_SIDA_SEMIRING_COUNT;
}

/* Whether a monoid combines these elements. */
static inline bool lacuna_sida_monoid_takes(unsigned monoid, unsigned element) {
  return monoid < LACUNA_SIDA_MONOID_COUNT && (monoid != LACUNA_SIDA_MONOID_ADD || element != LACUNA_SIDA_BOOL);
}

/* Tables of a program: byte offsets from its start. */
struct lacuna_sida_tables {
  uint64_t matrices, vectors, scalars, instructions, passes, swaps, end;
};

#define LACUNA_SIDA_TABLE_ALIGNMENT 16u

static inline uint64_t lacuna_sida_table_end(uint64_t begin, uint64_t count, uint64_t bytes) {
  const uint64_t alignment = LACUNA_SIDA_TABLE_ALIGNMENT;
  return (begin + count * bytes + alignment - 1) / alignment * alignment;
}

/* Computes the offsets from the header's counts. */
static inline struct lacuna_sida_tables lacuna_sida_tables_of(const struct lacuna_sida_program* header) {
  struct lacuna_sida_tables t;
  t.matrices = sizeof *header;
  t.vectors = lacuna_sida_table_end(t.matrices, header->matrices, sizeof(struct lacuna_sida_matrix));
  t.scalars = lacuna_sida_table_end(t.vectors, header->vectors, sizeof(struct lacuna_sida_vector));
  t.instructions = lacuna_sida_table_end(t.scalars, header->scalars, sizeof(uint64_t));
  t.passes = lacuna_sida_table_end(t.instructions, header->instructions, sizeof(struct lacuna_sida_instruction));
  t.swaps = lacuna_sida_table_end(t.passes, header->passes, sizeof(struct lacuna_sida_pass));
  t.end = lacuna_sida_table_end(t.swaps, header->swaps, sizeof(struct lacuna_sida_swap));
  return t;
}

#ifdef __cplusplus
}
#endif

#endif

/* Programs of the sparse dataflow accelerator: the one description of their format that the model, the library and
 * docs/sida-reference.md share. C and C++.
 *
 * A program lies in GPU memory, little-endian: a lacuna_sida_program, followed by its tables in the order of the header's
 * counts. Addresses are GPU virtual addresses. The library libraries/sida writes programs; nothing else has to know this page.
 *
 * A program is a list of passes. A pass reads a matrix once, for one product or two:
 *
 *   load      element-wise code over the elements of x; yields x(r), and may reduce to scalars
 *   OS        y(c) = sum over r of x(r) * A(r, c), column by column
 *   ewise     element-wise code over the elements of y; yields w(c), stores vectors, reduces to scalars
 *   IS        z(c) = sum over r of w(r) * A(r, c), row by row, two sub-tensors behind OS
 *   finish    element-wise code over the elements of z, each when its sum is complete
 *
 * "+" and "*" are those of a semiring; sums start with the identity of "+" and are formed in ascending order of r. Scalar code
 * runs behind load, ewise and finish. A pass without OS is element-wise: its ewise code runs over `elements` elements.
 *
 * Order within a pass, as far as a program can rely on it: load reads what was in memory when the pass began; element i of
 * finish runs after element i of ewise; scalars that ewise or finish reduce are known behind the pass, those of load before OS
 * begins. Nothing that a pass reads elsewhere may be stored by it. */
#ifndef LACUNA_SIDA_ABI_H
#define LACUNA_SIDA_ABI_H

#ifdef __cplusplus
#include <cstdint>
extern "C" {
#else
#include <stdint.h>
#endif

#define LACUNA_SIDA_MAGIC 0x41444953u /* "SIDA" read as little-endian text */
#define LACUNA_SIDA_VERSION 1u
#define LACUNA_SIDA_NONE 0xffffu /* no register, scalar, vector or pass */

/* Most of each in one program. */
#define LACUNA_SIDA_MAX_MATRICES 8u
#define LACUNA_SIDA_MAX_VECTORS 256u
#define LACUNA_SIDA_MAX_SCALARS 1024u
#define LACUNA_SIDA_MAX_PASSES 256u
#define LACUNA_SIDA_MAX_INSTRUCTIONS 65536u
#define LACUNA_SIDA_MAX_REGISTERS 64u /* of one element-wise code */
#define LACUNA_SIDA_MAX_WIDTH 1024u   /* features of an element of a vector */

/* Elements. X(NAME, value, bytes, description) */
#define LACUNA_SIDA_ELEMENTS(X)                                      \
  X(F64, 0, 8, "IEEE binary64")                                      \
  X(F32, 1, 4, "IEEE binary32")                                      \
  X(I64, 2, 8, "integer of 64 bits, two's complement, wraps around") \
  X(I32, 3, 4, "integer of 32 bits, two's complement, wraps around") \
  X(BOOL, 4, 1, "0 or 1; any other byte counts as 1")                \
  X(I8, 5, 1, "integer of 8 bits; products and their sums have 32 bits, four products a PE")

/* Semirings. X(NAME, value, sum, product, description); `a` is the element of the vector, `b` that of the matrix. Where the
 * matrix has no values, b is 1. */
#define LACUNA_SIDA_SEMIRINGS(X)                                                                        \
  X(MUL_ADD, 0, ADD, "a * b", "linear algebra")                                                         \
  X(AND_OR, 1, OR, "a and b", "reachability")                                                           \
  X(MIN_ADD, 2, MIN, "a + b, of integers saturated", "shortest paths")                                  \
  X(ARIL_ADD, 3, ADD, "b if a, else 0", "selection of rows: \"assign right if left\" of ALP/GraphBLAS") \
  X(PLUS_NORM, 4, ADD, "(a - b) * (a - b)", "squared distance over the entries that there are")         \
  X(MAX_ADD, 5, MAX, "a + b, of integers saturated", "critical paths")                                  \
  X(MIN_MUL, 6, MIN, "a * b", "least reliable paths")                                                   \
  X(MAX_MUL, 7, MAX, "a * b", "most reliable paths")                                                    \
  X(MIN_MAX, 8, MIN, "max(a, b)", "minimum spanning trees")                                             \
  X(MAX_MIN, 9, MAX, "min(a, b)", "widest paths")

/* Commutative monoids, of sums and of reductions. X(NAME, value, description, identity in words) */
#define LACUNA_SIDA_MONOIDS(X)                                              \
  X(ADD, 0, "a + b", "0")                                                   \
  X(MIN, 1, "the smaller of a and b", "+infinity, or the greatest integer") \
  X(MAX, 2, "the greater of a and b", "-infinity, or the least integer")    \
  X(OR, 3, "a or b", "0")                                                   \
  X(AND, 4, "a and b", "1")

/* Instructions of element-wise and of scalar code. X(NAME, value, operands, description). An operand is a register of the code
 * or, with LACUNA_SIDA_SCALAR set, a scalar; in scalar code all are scalars. `type` is that of the operands; comparisons yield
 * 1 or 0 of it. Elements of type BOOL are not for arithmetic: ADD to DIVIDE, NEGATE, ABSOLUTE and SQUARE_ROOT. */
#define LACUNA_SIDA_OPERATIONS(X)                                                                                      \
  X(COPY, 0, 1, "a")                                                                                                   \
  X(ADD, 1, 2, "a + b")                                                                                                \
  X(SUBTRACT, 2, 2, "a - b")                                                                                           \
  X(MULTIPLY, 3, 2, "a * b")                                                                                           \
  X(DIVIDE, 4, 2, "a / b; of integers towards 0, and 0 where b is 0")                                                  \
  X(MINIMUM, 5, 2, "b if b < a, else a")                                                                               \
  X(MAXIMUM, 6, 2, "b if a < b, else a")                                                                               \
  X(AND, 7, 2, "1 if neither a nor b is 0")                                                                            \
  X(OR, 8, 2, "1 if a or b is not 0")                                                                                  \
  X(NOT, 9, 1, "1 if a is 0")                                                                                          \
  X(NEGATE, 10, 1, "-a")                                                                                               \
  X(ABSOLUTE, 11, 1, "a if a is not negative, else -a")                                                                \
  X(SQUARE_ROOT, 12, 1, "square root of a; F64 and F32 only")                                                          \
  X(LESS, 13, 2, "1 if a < b")                                                                                         \
  X(LESS_OR_EQUAL, 14, 2, "1 if a <= b")                                                                               \
  X(EQUAL, 15, 2, "1 if a == b")                                                                                       \
  X(SELECT, 16, 3, "a if c is not 0, else b")                                                                          \
  X(SHIFT_RIGHT, 17, 2, "a shifted right by b bits, its sign kept, b modulo the width; integers only")                 \
  X(CONVERT, 18, 1,                                                                                                    \
    "a, of the type in c, as one of `type`: floats to integers towards 0, saturated, 0 for NaN; "                      \
    "integers to I8 saturated; to BOOL whether it is not 0")                                                           \
  X(INDEX, 19, 0, "number of the element; not for scalar code")                                                        \
  X(LOAD, 20, 0, "the element of vector a; not for scalar code")                                                       \
  X(STORE, 21, 0, "into vector d the value of register a; not for scalar code")                                        \
  X(REDUCE, 22, 0,                                                                                                     \
    "into scalar d the combination of all elements of register a by monoid b, in ascending order; "                    \
    "not for scalar code")                                                                                             \
  X(SCAN, 23, 0, "the combination of the elements of register a up to this one by monoid b; element-wise passes only") \
  X(DENSE, 24, 0,                                                                                                      \
    "the element's features times the dense array in vector b, one row of it for each feature, next "                  \
    "array for each iteration; types I8 (sums of 32 bits), F32 and F64")

#define LACUNA_SIDA_SCALAR 0x8000u /* of an operand: a scalar's number, not a register's */

/* Why a job failed; the queue that it came from is in error. X(NAME, value, description) */
#define LACUNA_SIDA_ERRORS(X)                                                                                \
  X(NONE, 0, "no error")                                                                                     \
  X(ADDRESS, 1, "memory that is not mapped, or not for this access")                                         \
  X(MAGIC, 2, "not a program, or one of another version")                                                    \
  X(SIZE, 3, "counts that are beyond the limits or do not fit the program's size")                           \
  X(ELEMENT, 4, "an unknown element, or one that does not go with a semiring or an instruction")             \
  X(SEMIRING, 5, "an unknown semiring or monoid")                                                            \
  X(INSTRUCTION, 6, "an unknown instruction, or one that is illegal in its place")                           \
  X(OPERAND, 7, "a register that has no value, or a register, scalar, vector or matrix that does not exist") \
  X(OFFSETS, 8, "offsets of a matrix that fall, or that do not end at its entries")                          \
  X(COORDINATE, 9, "a coordinate outside of the matrix")                                                     \
  X(SHAPE, 10, "a pass whose matrix and vectors do not fit together")                                        \
  X(ALIAS, 11, "a vector that is stored while the pass still reads it")                                      \
  X(LOOP, 12, "a loop that does not end: no limit, or passes that never count an iteration")                 \
  X(OVERLAP, 13, "arrays that overlap and of which one is stored")

/* Layouts of a matrix. */
#define LACUNA_SIDA_DUAL 0u    /* by columns and by rows, each with its values */
#define LACUNA_SIDA_BLOCKED 1u /* values once, in blocks; lists of blocks by columns and by rows */

/* One of the two orders of a matrix. Blocked: of its blocks. */
struct lacuna_sida_order {
  uint64_t offsets;     /* lines + 1 of them, each of `offset_bytes`; a line is a column, or a row */
  uint64_t coordinates; /* row of each entry, or column; ascending in each line; uint32_t */
  uint64_t values;      /* of each entry, 0: none; blocked: number of each block, uint32_t */
};

/* 128 bytes. */
struct lacuna_sida_matrix {
  uint32_t rows, columns;
  uint64_t entries;
  uint8_t layout;       /* LACUNA_SIDA_DUAL or _BLOCKED */
  uint8_t element;      /* of the values; irrelevant without values */
  uint8_t offset_bytes; /* 4 or 8 */
  uint8_t has_values;   /* 0: a pattern, every entry is 1 */
  uint32_t block_side;  /* blocked: rows and columns of a block, 1 to 256; else 0 */
  struct lacuna_sida_order by_columns, by_rows;
  /* Blocked alone, of all blocks in the order of their numbers: */
  uint64_t block_offsets; /* blocks + 1 of them, uint64_t: number of each block's first entry */
  uint64_t block_rows;    /* row of each entry within its block, uint8_t; entries of a block are sorted by column, then row */
  uint64_t block_columns; /* likewise */
  uint64_t block_values;  /* of each entry */
  uint64_t blocks;        /* how many */
  uint8_t reserved[16];
};

/* 32 bytes. */
struct lacuna_sida_vector {
  uint64_t address;
  uint64_t length; /* elements */
  uint32_t width;  /* features of an element, which lie together; 1 to LACUNA_SIDA_MAX_WIDTH */
  uint8_t element;
  uint8_t reserved[3];
  uint64_t reserved2;
};

/* 16 bytes. */
struct lacuna_sida_instruction {
  uint8_t operation;
  uint8_t type; /* an element */
  uint16_t d;   /* register, or scalar without LACUNA_SIDA_SCALAR, or vector */
  uint16_t a, b, c;
  uint16_t reserved[3];
};

struct lacuna_sida_code {
  uint32_t first, count; /* instructions */
};

#define LACUNA_SIDA_PASS_OS 1u            /* has a first product */
#define LACUNA_SIDA_PASS_IS 2u            /* has a second product; needs OS */
#define LACUNA_SIDA_PASS_OS_TRANSPOSED 4u /* the first product is one with the transpose */
#define LACUNA_SIDA_PASS_IS_TRANSPOSED 8u
#define LACUNA_SIDA_PASS_EWISE_COUNTS 16u  /* an iteration is complete behind ewise */
#define LACUNA_SIDA_PASS_FINISH_COUNTS 32u /* an iteration is complete behind finish */

/* 160 bytes. */
struct lacuna_sida_pass {
  uint32_t flags; /* LACUNA_SIDA_PASS_* */
  uint16_t matrix;
  uint8_t element; /* of the products; I8 has sums of I32 */
  uint8_t os_semiring, is_semiring;
  uint8_t reserved[3];
  uint32_t width;                                                /* features of x, y, w and z */
  uint64_t elements;                                             /* of an element-wise pass, at most 2^32 - 1; else 0 */
  struct lacuna_sida_code load, ewise, finish;                   /* element-wise */
  struct lacuna_sida_code after_load, after_ewise, after_finish; /* scalar */
  uint16_t x, x_present; /* registers of load; x_present, if there is one: only elements where it is not 0 have terms */
  uint16_t y;            /* register of ewise that has the first product's sum */
  uint16_t w, w_present; /* registers of ewise, as x and x_present */
  uint16_t z;            /* register of finish that has the second product's sum */
  /* Scalars that are looked at behind load, ewise and finish; 0 (in its `condition_element`): the loop ends. Behind load the
   * rest of the pass is dropped; behind ewise IS and finish are dropped, which then have changed nothing. */
  uint16_t load_condition, ewise_condition, finish_condition;
  uint8_t condition_element; /* of all three */
  uint8_t reserved2;
  /* Where it goes on. A pass that ends the loop goes on with one of the exits, if there is one: an element-wise pass, which has
   * no successor. */
  uint16_t next, load_exit, ewise_exit, finish_exit;
  /* Pairs of vectors whose addresses are exchanged behind the pass, unless part of it was dropped. */
  uint32_t first_swap, swaps;
  uint32_t reserved3[13];
};

struct lacuna_sida_swap {
  uint16_t a, b;
};

/* 128 bytes. Behind it, each table aligned to 16 bytes: matrices, vectors, scalars (uint64_t each, in the low bytes; narrower
 * ones are zero above), instructions, passes, swaps. When a job ends, scalars, vectors (whose addresses swaps have exchanged)
 * and the fields under "result" are written back. */
struct lacuna_sida_program {
  uint32_t magic, version;
  uint64_t bytes; /* of all, this header included */
  uint32_t matrices, vectors, scalars, instructions, passes, swaps;
  uint64_t limit; /* iterations, at least 1; the loop ends with it */
  /* Result */
  uint64_t iterations; /* that were completed */
  uint32_t error;      /* LACUNA_SIDA_ERROR_* */
  uint32_t exit;       /* LACUNA_SIDA_EXIT_* */
  uint32_t last_pass;  /* the one at whose end the loop ended; of an error, the one that it is about */
  uint32_t reserved[15];
};

#define LACUNA_SIDA_EXIT_NONE 0u   /* not run, or failed */
#define LACUNA_SIDA_EXIT_LOAD 1u   /* behind load */
#define LACUNA_SIDA_EXIT_EWISE 2u  /* behind ewise, the first of two products or the only one */
#define LACUNA_SIDA_EXIT_FINISH 3u /* behind finish, the second of two products */

#define LACUNA_SIDA_ENUMERATE_ELEMENT(name, value, bytes, text) LACUNA_SIDA_##name = value,
#define LACUNA_SIDA_ENUMERATE_SEMIRING(name, value, sum, product, text) LACUNA_SIDA_##name = value,
#define LACUNA_SIDA_ENUMERATE_MONOID(name, value, text, identity) LACUNA_SIDA_MONOID_##name = value,
#define LACUNA_SIDA_ENUMERATE_OPERATION(name, value, operands, text) LACUNA_SIDA_OPERATION_##name = value,
#define LACUNA_SIDA_ENUMERATE_ERROR(name, value, text) LACUNA_SIDA_ERROR_##name = value,
enum lacuna_sida_element { LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_ENUMERATE_ELEMENT) LACUNA_SIDA_ELEMENT_COUNT };
enum lacuna_sida_semiring { LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_ENUMERATE_SEMIRING) LACUNA_SIDA_SEMIRING_COUNT };
enum lacuna_sida_monoid { LACUNA_SIDA_MONOIDS(LACUNA_SIDA_ENUMERATE_MONOID) LACUNA_SIDA_MONOID_COUNT };
enum lacuna_sida_operation { LACUNA_SIDA_OPERATIONS(LACUNA_SIDA_ENUMERATE_OPERATION) LACUNA_SIDA_OPERATION_COUNT };
enum lacuna_sida_error { LACUNA_SIDA_ERRORS(LACUNA_SIDA_ENUMERATE_ERROR) LACUNA_SIDA_ERROR_COUNT };

#ifdef __cplusplus
static_assert(sizeof(lacuna_sida_matrix) == 128 && sizeof(lacuna_sida_vector) == 32 && sizeof(lacuna_sida_instruction) == 16 &&
              sizeof(lacuna_sida_pass) == 160 && sizeof(lacuna_sida_program) == 128);
}
#else
_Static_assert(sizeof(struct lacuna_sida_matrix) == 128, "matrix");
_Static_assert(sizeof(struct lacuna_sida_vector) == 32, "vector");
_Static_assert(sizeof(struct lacuna_sida_instruction) == 16, "instruction");
_Static_assert(sizeof(struct lacuna_sida_pass) == 160, "pass");
_Static_assert(sizeof(struct lacuna_sida_program) == 128, "program");
#endif

#endif

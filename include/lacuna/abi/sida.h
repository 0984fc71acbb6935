/* Programs of the sparse dataflow accelerator: the format description shared by the model, the library and
 * docs/reference/sida.md. C and C++.
 *
 * A program lies in GPU memory, little-endian: a lacuna_sida_program, followed by its tables, each aligned to 16 bytes, in the
 * order of the header's counts: matrices, vectors, scalars (8 bytes each: the value in the low bytes, zero in the others),
 * instructions, passes, swaps. Addresses are GPU virtual addresses. When a job ends, scalars, vectors (whose addresses swaps
 * have exchanged) and the header's fields marked "result" are written back. libraries/sida writes programs in this format; its
 * users need not know it.
 *
 * A program is a list of passes. A pass reads a matrix once and computes one or two products:
 *
 *   load      element-wise code over the elements of x; yields x(r), and may reduce to scalars
 *   OS        y(c) = sum over r of x(r) * A(r, c), column by column
 *   ewise     element-wise code over the elements of y; yields w(c), stores vectors, reduces to scalars
 *   IS        z(c) = sum over r of w(r) * A(r, c), row by row, two sub-tensors after OS
 *   finish    element-wise code over the elements of z, each when its sum is complete
 *
 * "+" and "*" are those of a semiring; sums start with the identity of "+" and are formed in ascending order of r. Scalar code
 * runs after load, ewise and finish. A pass without OS is element-wise: its ewise code runs over `elements` elements.
 *
 * Guaranteed order within a pass: load reads memory as it was when the pass began; element i of finish runs after element i of
 * ewise; scalars reduced by load are available before OS begins, those reduced by ewise or finish after the pass. A pass may
 * store only to data that it does not read in any other place. */
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

/* A job is a vendor-specific AQL packet of this format, with the fields of LACUNA_SIDA_PACKET_FIELDS. */
#define LACUNA_SIDA_PACKET_FORMAT 128u

#define LACUNA_SIDA_MAX_MATRICES 8u
#define LACUNA_SIDA_MAX_VECTORS 256u
#define LACUNA_SIDA_MAX_SCALARS 1024u
#define LACUNA_SIDA_MAX_PASSES 256u
#define LACUNA_SIDA_MAX_INSTRUCTIONS 65536u
#define LACUNA_SIDA_MAX_REGISTERS 64u
#define LACUNA_SIDA_MAX_WIDTH 1024u

/* X(NAME, description) */
#define LACUNA_SIDA_LIMITS(X)                            \
  X(MAX_MATRICES, "matrices of a program")               \
  X(MAX_VECTORS, "vectors of a program")                 \
  X(MAX_SCALARS, "scalars of a program")                 \
  X(MAX_PASSES, "passes of a program")                   \
  X(MAX_INSTRUCTIONS, "instructions of a program")       \
  X(MAX_REGISTERS, "registers of one element-wise code") \
  X(MAX_WIDTH, "features of an element of a vector")

/* Element types. X(NAME, value, bytes, description) */
#define LACUNA_SIDA_ELEMENTS(X)                                      \
  X(F64, 0, 8, "IEEE binary64")                                      \
  X(F32, 1, 4, "IEEE binary32")                                      \
  X(I64, 2, 8, "integer of 64 bits, two's complement, wraps around") \
  X(I32, 3, 4, "integer of 32 bits, two's complement, wraps around") \
  X(BOOL, 4, 1, "0 or 1; any other byte counts as 1")                \
  X(I8, 5, 1, "integer of 8 bits; products and their sums have 32 bits, four products a PE")

/* Semirings. X(NAME, value, sum, product, description); `a` is the element of the vector, `b` that of the matrix; b is 1 if the
 * matrix is a pattern without values. */
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

/* Commutative monoids, for the sums of semirings and for reductions. X(NAME, value, description, identity in words) */
#define LACUNA_SIDA_MONOIDS(X)                                              \
  X(ADD, 0, "a + b", "0")                                                   \
  X(MIN, 1, "the smaller of a and b", "+infinity, or the greatest integer") \
  X(MAX, 2, "the greater of a and b", "-infinity, or the least integer")    \
  X(OR, 3, "a or b", "0")                                                   \
  X(AND, 4, "a and b", "1")

/* Instructions of element-wise and of scalar code. X(NAME, value, operands, description). An operand is a register of the code
 * or, with LACUNA_SIDA_SCALAR set, a scalar; in scalar code all are scalars. `type` is the operands' element type; comparisons
 * yield 1 or 0 of that type. BOOL is not allowed with arithmetic: ADD to DIVIDE, NEGATE, ABSOLUTE and SQUARE_ROOT. */
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

#define LACUNA_SIDA_SCALAR 0x8000u /* flag of an operand that is the number of a scalar, not of a register */

/* Reasons for which a job fails; its queue enters the error state. X(NAME, value, description) */
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
  X(SHAPE, 10, "the matrix and the vectors of a pass are incompatible")                                      \
  X(ALIAS, 11, "a vector that is stored while the pass still reads it")                                      \
  X(LOOP, 12, "a loop that does not end: no limit, or passes that never count an iteration")                 \
  X(OVERLAP, 13, "arrays that overlap and of which one is stored")                                           \
  X(ORDERS, 14, "the two orders of a matrix have not the same entries")                                      \
  X(BUFFER, 15, "a pass that does not fit into the accelerator's buffer")

#define LACUNA_SIDA_DUAL 0u
#define LACUNA_SIDA_BLOCKED 1u

/* Layouts of a matrix. X(NAME, description) */
#define LACUNA_SIDA_LAYOUTS(X)                            \
  X(DUAL, "by columns and by rows, each with its values") \
  X(BLOCKED, "values once, in blocks; lists of blocks by columns and by rows")

#define LACUNA_SIDA_PASS_OS 1u
#define LACUNA_SIDA_PASS_IS 2u
#define LACUNA_SIDA_PASS_OS_TRANSPOSED 4u
#define LACUNA_SIDA_PASS_IS_TRANSPOSED 8u
#define LACUNA_SIDA_PASS_EWISE_COUNTS 16u
#define LACUNA_SIDA_PASS_FINISH_COUNTS 32u

/* Flags of a pass. X(NAME, description) */
#define LACUNA_SIDA_PASS_FLAGS(X)                                       \
  X(PASS_OS, "has a first product")                                     \
  X(PASS_IS, "has a second product; needs OS")                          \
  X(PASS_OS_TRANSPOSED, "the first product is one with the transpose")  \
  X(PASS_IS_TRANSPOSED, "the second product is one with the transpose") \
  X(PASS_EWISE_COUNTS, "an iteration is complete after ewise")          \
  X(PASS_FINISH_COUNTS, "an iteration is complete after finish")

#define LACUNA_SIDA_EXIT_NONE 0u
#define LACUNA_SIDA_EXIT_LOAD 1u
#define LACUNA_SIDA_EXIT_EWISE 2u
#define LACUNA_SIDA_EXIT_FINISH 3u

/* Position in a pass at which the loop ended. X(NAME, description) */
#define LACUNA_SIDA_EXITS(X)                                               \
  X(EXIT_NONE, "not run, or failed")                                       \
  X(EXIT_LOAD, "after load")                                               \
  X(EXIT_EWISE, "after ewise: the first of two products, or the only one") \
  X(EXIT_FINISH, "after finish: the second of two products")

/* Fields of the structures below, in their order in memory. X(type, name, [count] of an array, description) */

#define LACUNA_SIDA_PROGRAM_FIELDS(X)                                                                       \
  X(uint32_t, magic, , "`LACUNA_SIDA_MAGIC`")                                                               \
  X(uint32_t, version, , "`LACUNA_SIDA_VERSION`")                                                           \
  X(uint64_t, bytes, , "size of the program with this header and all tables")                               \
  X(uint32_t, matrices, , "number of matrices")                                                             \
  X(uint32_t, vectors, , "number of vectors")                                                               \
  X(uint32_t, scalars, , "number of scalars")                                                               \
  X(uint32_t, instructions, , "number of instructions of all codes")                                        \
  X(uint32_t, passes, , "number of passes, at least 1; the job begins with the first")                      \
  X(uint32_t, swaps, , "number of swaps of all passes")                                                     \
  X(uint64_t, limit, , "iterations after which the loop ends, at least 1")                                  \
  X(uint64_t, iterations, , "result: iterations that were completed")                                       \
  X(uint32_t, error, , "result: `LACUNA_SIDA_ERROR_*`")                                                     \
  X(uint32_t, exit, , "result: `LACUNA_SIDA_EXIT_*`")                                                       \
  X(uint32_t, last_pass, , "result: the pass in which the loop ended; of an error, the pass that is wrong") \
  X(uint32_t, reserved, [15], "reserved")

#define LACUNA_SIDA_ORDER_FIELDS(X)                                                                                           \
  X(uint64_t, offsets, , "address of the offsets, one more than lines, each of `offset_bytes`; a line is a column, or a row") \
  X(uint64_t, coordinates, , "address of the row of each entry, or of its column, ascending in each line, 4 bytes each")      \
  X(uint64_t, values, , "address of the value of each entry, 0: none; blocked: of the number of each block, 4 bytes each")

#define LACUNA_SIDA_MATRIX_FIELDS(X)                                                                                         \
  X(uint32_t, rows, , "number of rows")                                                                                      \
  X(uint32_t, columns, , "number of columns")                                                                                \
  X(uint64_t, entries, , "number of entries")                                                                                \
  X(uint8_t, layout, , "`LACUNA_SIDA_DUAL` or `LACUNA_SIDA_BLOCKED`")                                                        \
  X(uint8_t, element, , "element of the values; irrelevant without values")                                                  \
  X(uint8_t, offset_bytes, , "size of an offset, 4 or 8")                                                                    \
  X(uint8_t, has_values, , "1; 0 for a pattern, whose entries are all 1")                                                    \
  X(uint32_t, block_side, , "blocked: rows and columns of a block, 1 to 256; else 0")                                        \
  X(struct lacuna_sida_order, by_columns, , "entries by columns; blocked: blocks by columns of blocks")                      \
  X(struct lacuna_sida_order, by_rows, , "entries by rows; blocked: blocks by rows of blocks")                               \
  X(uint64_t, block_offsets, ,                                                                                               \
    "blocked: address of the number of each block's first entry, one more than blocks, 8 bytes each")                        \
  X(uint64_t, block_rows, ,                                                                                                  \
    "blocked: address of the row of each entry in its block, 1 byte each; entries of a block ascend by column, then by row") \
  X(uint64_t, block_columns, , "blocked: address of the column of each entry in its block, 1 byte each")                     \
  X(uint64_t, block_values, , "blocked: address of the value of each entry")                                                 \
  X(uint64_t, blocks, , "blocked: number of blocks; else 0")                                                                 \
  X(uint8_t, reserved, [16], "reserved")

#define LACUNA_SIDA_VECTOR_FIELDS(X)                                                               \
  X(uint64_t, address, , "address of the first element")                                           \
  X(uint64_t, length, , "number of elements")                                                      \
  X(uint32_t, width, , "features of an element, which are adjacent; 1 to `LACUNA_SIDA_MAX_WIDTH`") \
  X(uint8_t, element, , "element of each feature")                                                 \
  X(uint8_t, reserved, [3], "reserved")                                                            \
  X(uint64_t, reserved2, , "reserved")

#define LACUNA_SIDA_INSTRUCTION_FIELDS(X)                                                            \
  X(uint8_t, operation, , "`LACUNA_SIDA_OPERATION_*`")                                               \
  X(uint8_t, type, , "element of the operands")                                                      \
  X(uint16_t, d, , "destination: a register, or a scalar without `LACUNA_SIDA_SCALAR`, or a vector") \
  X(uint16_t, a, , "operand")                                                                        \
  X(uint16_t, b, , "operand")                                                                        \
  X(uint16_t, c, , "operand")                                                                        \
  X(uint16_t, reserved, [3], "reserved")

#define LACUNA_SIDA_CODE_FIELDS(X)                        \
  X(uint32_t, first, , "number of the first instruction") \
  X(uint32_t, count, , "number of instructions")

#define LACUNA_SIDA_PASS_FIELDS(X)                                                                                           \
  X(uint32_t, flags, , "`LACUNA_SIDA_PASS_*`")                                                                               \
  X(uint16_t, matrix, , "matrix of the products")                                                                            \
  X(uint8_t, element, , "element of the products; I8 has sums of I32")                                                       \
  X(uint8_t, os_semiring, , "semiring of the first product")                                                                 \
  X(uint8_t, is_semiring, , "semiring of the second product")                                                                \
  X(uint8_t, reserved, [3], "reserved")                                                                                      \
  X(uint32_t, width, , "features of x, y, w and z")                                                                          \
  X(uint64_t, elements, , "number of elements of an element-wise pass, at most 2^32 - 1; else 0")                            \
  X(struct lacuna_sida_code, load, , "element-wise code over x")                                                             \
  X(struct lacuna_sida_code, ewise, , "element-wise code over y")                                                            \
  X(struct lacuna_sida_code, finish, , "element-wise code over z")                                                           \
  X(struct lacuna_sida_code, after_load, , "scalar code after load")                                                         \
  X(struct lacuna_sida_code, after_ewise, , "scalar code after ewise")                                                       \
  X(struct lacuna_sida_code, after_finish, , "scalar code after finish")                                                     \
  X(uint16_t, x, , "register of load with x")                                                                                \
  X(uint16_t, x_present, , "register of load: only elements where it is not 0 have terms; or none")                          \
  X(uint16_t, y, , "register of ewise with the sum of the first product")                                                    \
  X(uint16_t, w, , "register of ewise with w")                                                                               \
  X(uint16_t, w_present, , "register of ewise: only elements where it is not 0 have terms; or none")                         \
  X(uint16_t, z, , "register of finish with the sum of the second product")                                                  \
  X(uint16_t, load_condition, , "scalar: the loop ends after load if it is 0, and the rest of the pass is dropped; or none") \
  X(uint16_t, ewise_condition, ,                                                                                             \
    "scalar: the loop ends after ewise if it is 0; IS and finish are dropped and have changed nothing; or none")             \
  X(uint16_t, finish_condition, , "scalar: the loop ends after finish if it is 0; or none")                                  \
  X(uint8_t, condition_element, , "element of the three conditions")                                                         \
  X(uint8_t, reserved2, , "reserved")                                                                                        \
  X(uint16_t, next, , "pass that follows; or none, and the job ends")                                                        \
  X(uint16_t, load_exit, , "pass that follows if the loop ends after load, element-wise and without successor; or none")     \
  X(uint16_t, ewise_exit, , "likewise after ewise")                                                                          \
  X(uint16_t, finish_exit, , "likewise after finish")                                                                        \
  X(uint32_t, first_swap, , "number of the first of the pass' swaps, which are made after it unless part of it was dropped") \
  X(uint32_t, swaps, , "number of the pass' swaps")                                                                          \
  X(uint32_t, reserved3, [13], "reserved")

#define LACUNA_SIDA_SWAP_FIELDS(X) \
  X(uint16_t, a, , "a vector")     \
  X(uint16_t, b, , "the vector whose address is exchanged with that of `a`")

#define LACUNA_SIDA_PACKET_FIELDS(X)                                                                         \
  X(uint16_t, header, , "AQL header: type 0 (vendor-specific), barrier bit and fence scopes as of a kernel") \
  X(uint8_t, format, , "`LACUNA_SIDA_PACKET_FORMAT`")                                                        \
  X(uint8_t, reserved, [5], "reserved")                                                                      \
  X(uint64_t, program, , "GPU virtual address of the program, aligned to 16 bytes")                          \
  X(uint64_t, reserved2, [5], "reserved")                                                                    \
  X(uint64_t, completion_signal, , "handle of a signal that is decremented when the job has ended; or 0")

#define LACUNA_SIDA_FIELD(type, name, array, text) type name array;
struct lacuna_sida_packet {
  LACUNA_SIDA_PACKET_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_program {
  LACUNA_SIDA_PROGRAM_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_order {
  LACUNA_SIDA_ORDER_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_matrix {
  LACUNA_SIDA_MATRIX_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_vector {
  LACUNA_SIDA_VECTOR_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_instruction {
  LACUNA_SIDA_INSTRUCTION_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_code {
  LACUNA_SIDA_CODE_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_pass {
  LACUNA_SIDA_PASS_FIELDS(LACUNA_SIDA_FIELD)
};
struct lacuna_sida_swap {
  LACUNA_SIDA_SWAP_FIELDS(LACUNA_SIDA_FIELD)
};
#undef LACUNA_SIDA_FIELD

/* Structures. X(name, NAME in the list of fields LACUNA_SIDA_NAME_FIELDS, bytes, description) */
#define LACUNA_SIDA_STRUCTURES(X)                                                     \
  X(packet, PACKET, 64, "the packet of a job in a user-mode queue")                   \
  X(program, PROGRAM, 128, "the program's header")                                    \
  X(matrix, MATRIX, 128, "a sparse matrix")                                           \
  X(order, ORDER, 24, "one of the two orders of a matrix; blocked: of its blocks")    \
  X(vector, VECTOR, 32, "a dense vector")                                             \
  X(instruction, INSTRUCTION, 16, "an instruction of element-wise or scalar code")    \
  X(pass, PASS, 160, "a pass; where a field may be none, that is `LACUNA_SIDA_NONE`") \
  X(code, CODE, 8, "a part of the program's instructions")                            \
  X(swap, SWAP, 4, "two vectors whose addresses are exchanged")

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
#define LACUNA_SIDA_SIZE(name, list, bytes, text) static_assert(sizeof(lacuna_sida_##name) == (bytes));
LACUNA_SIDA_STRUCTURES(LACUNA_SIDA_SIZE)
}
#else
#define LACUNA_SIDA_SIZE(name, list, bytes, text) _Static_assert(sizeof(struct lacuna_sida_##name) == (bytes), #name);
LACUNA_SIDA_STRUCTURES(LACUNA_SIDA_SIZE)
#endif
#undef LACUNA_SIDA_SIZE

#endif

/* Programs for the sparse dataflow accelerator, from a dataflow graph of one iteration of a loop. C11 and C++.
 *
 *   lacuna_sida_graph* graph = lacuna_sida_create();
 *   const lacuna_sida_value a = lacuna_sida_input_matrix(graph, "a", n, n, LACUNA_SIDA_F64, true);
 *   const lacuna_sida_value x = lacuna_sida_state(graph, "x", LACUNA_SIDA_F64, n, 1);
 *   lacuna_sida_next(graph, x, lacuna_sida_product(graph, LACUNA_SIDA_MUL_ADD, x, a, false, LACUNA_SIDA_NO_VALUE));
 *   lacuna_sida_limit(graph, 10, LACUNA_SIDA_NO_VALUE);
 *   lacuna_sida_plan* plan = lacuna_sida_compile(graph, LACUNA_SIDA_FUSION_AUTO);
 *   ... memory for each of its vectors, lacuna_sida_write, a job, lacuna_sida_result
 *
 * The compiler finds which products can share one reading of their matrix (lacuna_sida_explain says so, and what prevents it
 * for the others), places element-wise operations into the passes, and says which vectors need memory.
 *
 * Functions that build a graph return LACUNA_SIDA_NO_VALUE for operands that do not go together and for operands that are
 * themselves none; lacuna_sida_problem has the first reason. No function writes to memory of the accelerator. */
#ifndef LACUNA_SIDA_H
#define LACUNA_SIDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sida.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lacuna_sida_graph lacuna_sida_graph;
typedef struct lacuna_sida_plan lacuna_sida_plan;
typedef int lacuna_sida_value; /* a vector, a scalar or a matrix of a graph */
#define LACUNA_SIDA_NO_VALUE (-1)

/* Null without memory. */
lacuna_sida_graph* lacuna_sida_create(void);
void lacuna_sida_destroy(lacuna_sida_graph* graph);
/* Why the graph cannot be compiled; null: no problem so far. */
const char* lacuna_sida_problem(const lacuna_sida_graph* graph);

/* ---------------------------------------------------------------------------------------- inputs, the same in all iterations
 */

lacuna_sida_value lacuna_sida_input_matrix(lacuna_sida_graph* graph, const char* name, uint32_t rows, uint32_t columns,
                                           int element, bool has_values);
/* `width`: features of an element. */
lacuna_sida_value lacuna_sida_input(lacuna_sida_graph* graph, const char* name, int element, uint64_t length, uint32_t width);
lacuna_sida_value lacuna_sida_f64(lacuna_sida_graph* graph, double value);
lacuna_sida_value lacuna_sida_f32(lacuna_sida_graph* graph, float value);
/* I64, I32, I8 and BOOL. */
lacuna_sida_value lacuna_sida_integer(lacuna_sida_graph* graph, int element, int64_t value);

/* ------------------------------------------------------------------------------------- states, which iterations pass on */

/* Has the contents of its memory in the first iteration, and later what lacuna_sida_next says. */
lacuna_sida_value lacuna_sida_state(lacuna_sida_graph* graph, const char* name, int element, uint64_t length, uint32_t width);
/* Has the value of the scalar `initial` in the first iteration. */
lacuna_sida_value lacuna_sida_scalar_state(lacuna_sida_graph* graph, const char* name, lacuna_sida_value initial);
/* The value of a state in the next iteration, and after the loop. Of the same kind and element. */
void lacuna_sida_next(lacuna_sida_graph* graph, lacuna_sida_value state, lacuna_sida_value value);
/* The state's value after the loop is a result of the program. */
void lacuna_sida_keep(lacuna_sida_graph* graph, lacuna_sida_value state);
/* At most `limit` iterations, at least 1; fewer if the scalar `condition`, unless it is no value, is 0 after one of them. */
void lacuna_sida_limit(lacuna_sida_graph* graph, uint64_t limit, lacuna_sida_value condition);

/* ------------------------------------------------------------------------------------------------------------ operations */

/* x times the matrix, or its transpose. `present`, unless it is no value, is a vector of BOOL: only elements of x where it is 1
 * have terms. The sum of I8 is I32. */
lacuna_sida_value lacuna_sida_product(lacuna_sida_graph* graph, int semiring, lacuna_sida_value x, lacuna_sida_value matrix,
                                      bool transposed, lacuna_sida_value present);
/* An operation of LACUNA_SIDA_OPERATIONS from COPY to SHIFT_RIGHT, element by element; scalars go with vectors. Unused operands
 * are no values. */
lacuna_sida_value lacuna_sida_apply(lacuna_sida_graph* graph, int operation, lacuna_sida_value a, lacuna_sida_value b,
                                    lacuna_sida_value c);
lacuna_sida_value lacuna_sida_convert(lacuna_sida_graph* graph, int element, lacuna_sida_value a);
/* 0, 1, 2, ... `element`: I64 or I32. */
lacuna_sida_value lacuna_sida_index(lacuna_sida_graph* graph, int element, uint64_t length);
/* A scalar from all elements of a vector. */
lacuna_sida_value lacuna_sida_reduce(lacuna_sida_graph* graph, int monoid, lacuna_sida_value a);
/* A vector of the combinations up to each element. Nothing can be fused across it. */
lacuna_sida_value lacuna_sida_scan(lacuna_sida_graph* graph, int monoid, lacuna_sida_value a);
/* Each element's features times a dense array: `array` is a vector with a row for each feature, and as many such arrays as
 * there are different ones, one for each iteration in turn. */
lacuna_sida_value lacuna_sida_dense(lacuna_sida_graph* graph, lacuna_sida_value a, lacuna_sida_value array);

/* ------------------------------------------------------------------------------------------------------------ compilation */

typedef enum lacuna_sida_fusion {
  LACUNA_SIDA_FUSION_AUTO,              /* two products in one pass where it is allowed */
  LACUNA_SIDA_FUSION_PRODUCER_CONSUMER, /* a pass has one product, with its element-wise operations */
  LACUNA_SIDA_FUSION_NONE,              /* a pass has one product or one element-wise operation, from memory to memory */
} lacuna_sida_fusion;

/* Null: lacuna_sida_problem says why. The graph must remain. */
lacuna_sida_plan* lacuna_sida_compile(lacuna_sida_graph* graph, lacuna_sida_fusion fusion);
void lacuna_sida_plan_destroy(lacuna_sida_plan* plan);

/* One line for each product of an iteration: with what it is fused, or what prevents it. */
const char* lacuna_sida_explain(const lacuna_sida_plan* plan);
/* How many products of the repeated part share a pass with another one, and how many there are in it. */
unsigned lacuna_sida_fused_products(const lacuna_sida_plan* plan);
unsigned lacuna_sida_products(const lacuna_sida_plan* plan);
/* Iterations that the repeated part has: 2 if products are fused across iterations. */
unsigned lacuna_sida_iterations_per_period(const lacuna_sida_plan* plan);

typedef struct lacuna_sida_storage {
  const char* name;        /* of an input or a state; of others the operation that makes it */
  lacuna_sida_value value; /* of an input or a state that is to be filled before the job; else LACUNA_SIDA_NO_VALUE */
  uint64_t length;
  uint32_t width;
  int element;
  uint64_t bytes;
} lacuna_sida_storage;

/* Vectors that need memory, each aligned to 16 bytes. */
unsigned lacuna_sida_vectors(const lacuna_sida_plan* plan);
lacuna_sida_storage lacuna_sida_storage_of(const lacuna_sida_plan* plan, unsigned vector);

/* Size of the program, which is aligned to 16 bytes. */
uint64_t lacuna_sida_program_bytes(const lacuna_sida_plan* plan);
/* Writes the program. `matrices`: descriptions of the graph's, in the order in which they were made; `addresses`: GPU addresses
 * of the plan's vectors. */
void lacuna_sida_write(const lacuna_sida_plan* plan, const struct lacuna_sida_matrix* matrices, const uint64_t* addresses,
                       void* program);

/* After a job, from the program as the accelerator has written it back. GPU address of a kept vector; 0 for others. */
uint64_t lacuna_sida_result(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state);
/* Bits of a kept scalar. */
uint64_t lacuna_sida_scalar_result(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state);

#ifdef __cplusplus
}
#endif

#endif

/* Compiles programs for the sparse dataflow accelerator from a dataflow graph of one iteration of a loop. C11 and C++.
 *
 *   lacuna_sida_graph* graph = lacuna_sida_create();
 *   const lacuna_sida_value a = lacuna_sida_input_matrix(graph, "a", n, n, LACUNA_SIDA_F64, true);
 *   const lacuna_sida_value x = lacuna_sida_state(graph, "x", LACUNA_SIDA_F64, n, 1);
 *   lacuna_sida_next(graph, x, lacuna_sida_product(graph, LACUNA_SIDA_MUL_ADD, x, a, false, LACUNA_SIDA_NO_VALUE));
 *   lacuna_sida_limit(graph, 10, LACUNA_SIDA_NO_VALUE);
 *   lacuna_sida_plan* plan = lacuna_sida_compile(graph, LACUNA_SIDA_FUSION_AUTO);
 *   ... memory for each of its vectors, lacuna_sida_write, a job, lacuna_sida_result
 *
 * The compiler finds the products that can share one pass over their matrix (lacuna_sida_explain lists them, and what prevents
 * sharing for the others), places element-wise operations into the passes, and lists the vectors that need memory.
 *
 * Functions that return a lacuna_sida_value return LACUNA_SIDA_NO_VALUE if operands are incompatible or are themselves
 * LACUNA_SIDA_NO_VALUE; lacuna_sida_problem returns the first reason. No function writes to memory of the accelerator. */
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

/* Returns null if memory allocation fails. */
lacuna_sida_graph* lacuna_sida_create(void);
void lacuna_sida_destroy(lacuna_sida_graph* graph);
/* The reason why the graph cannot be compiled; null: no problem so far. */
const char* lacuna_sida_problem(const lacuna_sida_graph* graph);

/* ---------------------------------------------------------------------------------------- inputs, the same in all iterations
 */

lacuna_sida_value lacuna_sida_input_matrix(lacuna_sida_graph* graph, const char* name, uint32_t rows, uint32_t columns,
                                           int element, bool has_values);
/* `width`: number of features of an element. */
lacuna_sida_value lacuna_sida_input(lacuna_sida_graph* graph, const char* name, int element, uint64_t length, uint32_t width);
lacuna_sida_value lacuna_sida_f64(lacuna_sida_graph* graph, double value);
lacuna_sida_value lacuna_sida_f32(lacuna_sida_graph* graph, float value);
/* A constant of element type I64, I32, I8 or BOOL. */
lacuna_sida_value lacuna_sida_integer(lacuna_sida_graph* graph, int element, int64_t value);

/* ---------------------------------------------------------------------- states, carried to the next iteration */

/* A vector that has the contents of its memory in the first iteration, and then the value set by lacuna_sida_next. */
lacuna_sida_value lacuna_sida_state(lacuna_sida_graph* graph, const char* name, int element, uint64_t length, uint32_t width);
/* A scalar that has the value of `initial` in the first iteration, and then the value set by lacuna_sida_next. */
lacuna_sida_value lacuna_sida_scalar_state(lacuna_sida_graph* graph, const char* name, lacuna_sida_value initial);
/* Sets the value of a state in the next iteration and after the loop. `value` must have the state's kind and element type. */
void lacuna_sida_next(lacuna_sida_graph* graph, lacuna_sida_value state, lacuna_sida_value value);
/* Makes the state's value after the loop a result of the program. */
void lacuna_sida_keep(lacuna_sida_graph* graph, lacuna_sida_value state);
/* Limits the loop to `limit` iterations, at least 1. If `condition` is a value, the loop also ends after an iteration in which
 * that scalar is 0. */
void lacuna_sida_limit(lacuna_sida_graph* graph, uint64_t limit, lacuna_sida_value condition);

/* ------------------------------------------------------------------------------------------------------------ operations */

/* Product of x and the matrix, or its transpose. If `present` is a value, it is a BOOL vector, and only elements of x where it
 * is 1 contribute terms. Sums of I8 products are I32. */
lacuna_sida_value lacuna_sida_product(lacuna_sida_graph* graph, int semiring, lacuna_sida_value x, lacuna_sida_value matrix,
                                      bool transposed, lacuna_sida_value present);
/* An operation of LACUNA_SIDA_OPERATIONS from COPY to SHIFT_RIGHT, element by element; scalars can be combined with vectors.
 * Pass LACUNA_SIDA_NO_VALUE for unused operands. */
lacuna_sida_value lacuna_sida_apply(lacuna_sida_graph* graph, int operation, lacuna_sida_value a, lacuna_sida_value b,
                                    lacuna_sida_value c);
lacuna_sida_value lacuna_sida_convert(lacuna_sida_graph* graph, int element, lacuna_sida_value a);
/* A mask: `value` where `mask`, a BOOL vector, is 1 (0 if `complement`), and `otherwise` elsewhere. */
lacuna_sida_value lacuna_sida_mask(lacuna_sida_graph* graph, lacuna_sida_value value, lacuna_sida_value mask, bool complement,
                                   lacuna_sida_value otherwise);
/* An accumulator: `before` and `value` combined by a monoid, element by element. */
lacuna_sida_value lacuna_sida_accumulate(lacuna_sida_graph* graph, int monoid, lacuna_sida_value before,
                                         lacuna_sida_value value);
/* The vector 0, 1, 2, ... `element`: I64 or I32. */
lacuna_sida_value lacuna_sida_index(lacuna_sida_graph* graph, int element, uint64_t length);
/* Reduces all elements of a vector to a scalar. */
lacuna_sida_value lacuna_sida_reduce(lacuna_sida_graph* graph, int monoid, lacuna_sida_value a);
/* Inclusive prefix combination of a vector. Nothing can be fused across a scan. */
lacuna_sida_value lacuna_sida_scan(lacuna_sida_graph* graph, int monoid, lacuna_sida_value a);
/* Multiplies each element's features by a dense array. `array` is a vector of one or more such arrays, each with a row per
 * feature; iterations use them in turn. */
lacuna_sida_value lacuna_sida_dense(lacuna_sida_graph* graph, lacuna_sida_value a, lacuna_sida_value array);

/* ------------------------------------------------------------------------------------------------------------ compilation */

typedef enum lacuna_sida_fusion {
  LACUNA_SIDA_FUSION_AUTO,              /* two products in one pass where possible */
  LACUNA_SIDA_FUSION_PRODUCER_CONSUMER, /* a pass has one product, with its element-wise operations */
  LACUNA_SIDA_FUSION_NONE,              /* a pass has one product or one element-wise operation, from memory to memory */
} lacuna_sida_fusion;

/* Returns null if the graph has a problem (lacuna_sida_problem). The graph must outlive the plan. */
lacuna_sida_plan* lacuna_sida_compile(lacuna_sida_graph* graph, lacuna_sida_fusion fusion);
void lacuna_sida_plan_destroy(lacuna_sida_plan* plan);

/* One line for each product of an iteration: the product that it is fused with, or what prevents fusion. */
const char* lacuna_sida_explain(const lacuna_sida_plan* plan);
/* Number of products of the repeated part that share a pass with another product; lacuna_sida_products counts all products. */
unsigned lacuna_sida_fused_products(const lacuna_sida_plan* plan);
unsigned lacuna_sida_products(const lacuna_sida_plan* plan);
/* Number of iterations in the repeated part: 2 if products are fused across iterations. */
unsigned lacuna_sida_iterations_per_period(const lacuna_sida_plan* plan);

typedef struct lacuna_sida_storage {
  const char* name;        /* name of the input or state; otherwise the operation that computes the vector */
  lacuna_sida_value value; /* the input or state, if it must be filled before the job; otherwise LACUNA_SIDA_NO_VALUE */
  uint64_t length;
  uint32_t width;
  int element;
  uint64_t bytes;
} lacuna_sida_storage;

/* Number of vectors that need memory, each aligned to 16 bytes. */
unsigned lacuna_sida_vectors(const lacuna_sida_plan* plan);
lacuna_sida_storage lacuna_sida_storage_of(const lacuna_sida_plan* plan, unsigned vector);

/* Size of the program in bytes. The program must be aligned to 16 bytes. */
uint64_t lacuna_sida_program_bytes(const lacuna_sida_plan* plan);
/* Writes the program. `matrices`: descriptions of the graph's matrices, in order of creation; `addresses`: GPU addresses of the
 * plan's vectors. */
void lacuna_sida_write(const lacuna_sida_plan* plan, const struct lacuna_sida_matrix* matrices, const uint64_t* addresses,
                       void* program);

/* GPU address of a kept vector after a job, from the program as the accelerator wrote it back; 0 for other states. */
uint64_t lacuna_sida_result(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state);
/* Raw bits of a kept scalar after a job. */
uint64_t lacuna_sida_scalar_result(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state);

#ifdef __cplusplus
}
#endif

#endif

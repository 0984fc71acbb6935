/* The dataflow graph of one iteration, shared by the files of the library. */
#ifndef LACUNA_LIBRARIES_SIDA_GRAPH_H
#define LACUNA_LIBRARIES_SIDA_GRAPH_H

#include "include/lacuna/abi/sida_format.h"
#include "include/lacuna/sida.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SIDA_MOST_NODES = 512, SIDA_PROBLEM_BYTES = 200 };

typedef enum sida_kind {
  SIDA_MATRIX,
  SIDA_INPUT,    /* vector */
  SIDA_CONSTANT, /* scalar */
  SIDA_STATE,    /* vector or scalar */
  SIDA_PRODUCT,
  SIDA_APPLY, /* vector or scalar */
  SIDA_CONVERT,
  SIDA_INDEX,
  SIDA_REDUCE, /* scalar */
  SIDA_SCAN,
  SIDA_DENSE,
} sida_kind;

typedef struct sida_node {
  sida_kind kind;
  const char* name; /* name of an input or state */
  int element;
  bool scalar;
  uint64_t length; /* length of a vector */
  uint32_t width;
  int operation;          /* APPLY: operation. PRODUCT: semiring. REDUCE, SCAN: monoid. CONVERT, DENSE: element of operand a */
  int operands[3];        /* nodes, or LACUNA_SIDA_NO_VALUE. PRODUCT: x, present. CONVERT, REDUCE, SCAN: a. DENSE: a, array */
  int matrix;             /* PRODUCT: node of the matrix */
  bool transposed;        /* PRODUCT: multiplies by the transpose */
  int next;               /* STATE: node of its next value; the initial value of a scalar state is operands[0] */
  bool kept;              /* STATE: its value after the loop is a result */
  uint64_t bits;          /* CONSTANT: its value */
  uint32_t rows, columns; /* MATRIX: dimensions */
  int number;             /* MATRIX: number in order of creation */
  bool has_values;        /* MATRIX: has values; otherwise all entries are 1 */
} sida_node;

struct lacuna_sida_graph {
  sida_node nodes[SIDA_MOST_NODES];
  int count, matrices;
  uint64_t limit;
  int condition;
  char problem[SIDA_PROBLEM_BYTES];
};

void sida_set_problem(lacuna_sida_graph* graph, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Size of a vector in bytes. */
static inline uint64_t sida_vector_bytes(const sida_node* node) {
  return node->length * node->width * lacuna_sida_element_bytes((unsigned)node->element);
}
/* Writes the node's name for messages, e.g. "the reduction by ADD of pr". `text` has room for SIDA_PROBLEM_BYTES bytes. */
const char* sida_describe(const lacuna_sida_graph* graph, int node, char* text);

#ifdef __cplusplus
}
#endif

#endif

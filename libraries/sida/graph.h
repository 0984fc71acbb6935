/* The graph of one iteration, shared by the files of the library. */
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
  const char* name; /* of inputs and states */
  int element;
  bool scalar;
  uint64_t length; /* of a vector */
  uint32_t width;
  int operation;          /* of APPLY; semiring of PRODUCT, monoid of REDUCE and SCAN */
  int operands[3];        /* nodes, or LACUNA_SIDA_NO_VALUE. PRODUCT: x, present. CONVERT, REDUCE, SCAN: a. DENSE: a, array */
  int matrix;             /* of PRODUCT: the node */
  bool transposed;        /* of PRODUCT */
  int next;               /* of STATE: the node of its next value; of SCALAR_STATE besides operands[0], its first value */
  bool kept;              /* of STATE */
  uint64_t bits;          /* of CONSTANT */
  uint32_t rows, columns; /* of MATRIX */
  int number;             /* of MATRIX: in the order in which they were made */
  bool has_values;        /* of MATRIX */
} sida_node;

struct lacuna_sida_graph {
  sida_node nodes[SIDA_MOST_NODES];
  int count, matrices;
  uint64_t limit;
  int condition;
  char problem[SIDA_PROBLEM_BYTES];
};

void sida_set_problem(lacuna_sida_graph* graph, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes of a vector. */
static inline uint64_t sida_vector_bytes(const sida_node* node) {
  return node->length * node->width * lacuna_sida_element_bytes((unsigned)node->element);
}
/* What a node is called in messages, e.g. "sum by ADD of pr". `text` has SIDA_PROBLEM_BYTES. */
const char* sida_describe(const lacuna_sida_graph* graph, int node, char* text);

#ifdef __cplusplus
}
#endif

#endif

/* The programs of Table 4.2 of the thesis, as graphs for lacuna/sida.h. C11 and C++. Meanings follow ALP/GraphBLAS. */
#ifndef LACUNA_SIDA_APPLICATIONS_H
#define LACUNA_SIDA_APPLICATIONS_H

#include "sida.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix and what a program is to do with it. By columns: rows ascend in each column; an edge of a graph goes from the row to
 * the column. */
typedef struct lacuna_sida_setup {
  uint32_t rows, columns;
  const uint64_t* column_offsets; /* columns + 1 */
  const uint32_t* row_indices;    /* of each entry */
  const double* values;           /* of each entry; null: all are 1 */
  uint64_t limit;                 /* iterations; 0: the program's own */
  uint32_t source;                /* bfs, sssp, knn: vertex; kpp: first centre */
  uint32_t features;              /* gcn; 0: 16 */
  double tolerance;               /* pr, cg, bgs: ends below it; 0: the program's own */
} lacuna_sida_setup;

typedef struct lacuna_sida_application {
  const char* name;
  const char* text;    /* what it computes, one line */
  const char* options; /* of the setup that it uses besides the matrix */
  int element;         /* of the matrix */
  bool uses_values;    /* of the matrix as it is; false: ones */
  bool needs_square;
  uint64_t limit; /* of iterations, where the setup has none */
  /* The graph; null without memory. Its problem says what does not go together. */
  lacuna_sida_graph* (*build)(const lacuna_sida_setup* setup);
  /* Contents of the input, or the first value of the state, of that name. */
  void (*fill)(const lacuna_sida_setup* setup, const char* name, void* contents);
  const char* result; /* name of the state that is its result */
} lacuna_sida_application;

/* All of them, in the order of the table, followed by one without a name. */
const lacuna_sida_application* lacuna_sida_applications(void);
/* Null: there is none of that name. */
const lacuna_sida_application* lacuna_sida_application_named(const char* name);

/* Of pr: damping, and the change of all ranks up to which it iterates where the setup has no tolerance. */
#define LACUNA_SIDA_RANK_DAMPING 0.85
#define LACUNA_SIDA_RANK_TOLERANCE 1e-7

/* Features of a vertex of gcn. */
uint32_t lacuna_sida_features(const lacuna_sida_setup* setup);
/* What cg, bgs and gmres add to the diagonal, so that A + shift is diagonally dominant by at least 1. */
double lacuna_sida_solver_shift(const lacuna_sida_setup* setup);
/* Square of the residual's norm up to which they iterate. */
double lacuna_sida_solver_limit(const lacuna_sida_setup* setup);

#ifdef __cplusplus
}
#endif

#endif

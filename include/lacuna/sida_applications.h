/* The programs of Table 4.2 of the thesis "Democratizing tensor processors", as graphs for lacuna/sida.h. C11 and
 * C++. The algorithms follow ALP/GraphBLAS. */
#ifndef LACUNA_SIDA_APPLICATIONS_H
#define LACUNA_SIDA_APPLICATIONS_H

#include "sida.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix and the settings of a program. The matrix is stored by columns, with rows ascending in each column; an edge of a
 * graph goes from the row to the column. */
typedef struct lacuna_sida_setup {
  uint32_t rows, columns;
  const uint64_t* column_offsets; /* columns + 1 */
  const uint32_t* row_indices;    /* row of each entry */
  const double* values;           /* value of each entry; null: all are 1 */
  uint64_t limit;                 /* iterations; 0: the program's default */
  uint32_t source;                /* bfs, sssp, knn: vertex; kpp: first centre */
  uint32_t features;              /* gcn; 0: 16 */
  double tolerance;               /* pr, cg, bgs: tolerance at which the loop ends; 0: the program's default */
} lacuna_sida_setup;

typedef struct lacuna_sida_application {
  const char* name;
  const char* text;    /* one-line description */
  const char* options; /* settings that the application uses in addition to the matrix */
  int element;         /* element type of the matrix */
  bool uses_values;    /* true: uses the matrix' values; false: all values are 1 */
  bool needs_square;
  uint64_t limit; /* default number of iterations */
  /* Builds the graph; null if memory allocation fails. lacuna_sida_problem reports an invalid setup. */
  lacuna_sida_graph* (*build)(const lacuna_sida_setup* setup);
  /* Writes the contents of the input of that name, or the initial value of the state of that name. */
  void (*fill)(const lacuna_sida_setup* setup, const char* name, void* contents);
  const char* result; /* name of the state that holds the result */
} lacuna_sida_application;

/* All applications, in the order of the table; the last entry has no name. */
const lacuna_sida_application* lacuna_sida_applications(void);
/* Returns null if there is no application of that name. */
const lacuna_sida_application* lacuna_sida_application_named(const char* name);

/* pr: the damping factor, and the default tolerance on the total change of all ranks. */
#define LACUNA_SIDA_RANK_DAMPING 0.85
#define LACUNA_SIDA_RANK_TOLERANCE 1e-7

/* Number of features of a vertex in gcn. */
uint32_t lacuna_sida_features(const lacuna_sida_setup* setup);
/* Value that cg, bgs and gmres add to the diagonal, so that A + shift is diagonally dominant by at least 1. */
double lacuna_sida_solver_shift(const lacuna_sida_setup* setup);
/* Squared norm of the residual at which cg, bgs and gmres end. */
double lacuna_sida_solver_limit(const lacuna_sida_setup* setup);

#ifdef __cplusplus
}
#endif

#endif

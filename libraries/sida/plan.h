/* A compiled graph: passes by period, shared by the files of the library.
 *
 * The loop is cut into periods of one or two iterations. Period 0 begins with the states' initial values, other periods with
 * the values left by the previous one; the last periods are repeated. An instance is a node in an iteration of a period: 0 is
 * the first iteration of the period, -1 the last one of the period before. Instances of the previous period that have not been
 * computed when the period begins are pending and are computed in it. */
#ifndef LACUNA_LIBRARIES_SIDA_PLAN_H
#define LACUNA_LIBRARIES_SIDA_PLAN_H

#include "graph.h"

enum {
  SIDA_OLDEST = -6,              /* iteration of the oldest instance */
  SIDA_WINDOW = 2 - SIDA_OLDEST, /* number of iterations of instances */
  SIDA_MOST_PASSES = 128,        /* maximum number of passes of a period */
  SIDA_MOST_PERIODS = 4,
  SIDA_EXPLAIN_BYTES = 8192,
};

typedef enum sida_status {
  SIDA_ABSENT,  /* before the loop, or older than SIDA_OLDEST */
  SIDA_PENDING, /* not computed yet */
  SIDA_FIRST,   /* the initial value of a state */
  SIDA_CARRIED, /* computed in the previous period */
  SIDA_DONE,    /* computed in this period */
} sida_status;

/* Part of a pass that executes element-wise code: load, ewise or finish. SIDA_BEFORE: operands are available before the pass,
 * so the value is computed wherever it is used. */
typedef enum sida_slot { SIDA_BEFORE, SIDA_EWISE, SIDA_FINISH } sida_slot;
/* Part of a pass after which a scalar is known. */
typedef enum sida_phase { SIDA_AFTER_LOAD, SIDA_AFTER_EWISE, SIDA_AFTER_FINISH } sida_phase;

typedef struct sida_instance {
  sida_status status;
  int pass;   /* DONE: pass that computes it */
  int place;  /* DONE: slot of a vector, phase of a scalar */
  bool store; /* a vector is stored to memory */
} sida_instance;

typedef struct sida_reference {
  int node, iteration;
} sida_reference;

typedef struct sida_pass {
  bool os, is;
  sida_reference first, second; /* products of the pass */
  uint64_t length;              /* length of an element-wise pass */
  bool counts_ewise, counts_finish;
  sida_reference load_condition, ewise_condition, finish_condition; /* node LACUNA_SIDA_NO_VALUE: no condition */
} sida_pass;

typedef struct sida_period {
  sida_instance instances[SIDA_MOST_NODES][SIDA_WINDOW];
  sida_pass passes[SIDA_MOST_PASSES];
  int pass_count;
} sida_period;

typedef struct sida_exit {
  int pass; /* pass of the program */
  uint32_t kind;
  int state; /* node */
  int place; /* number of the vector or scalar */
} sida_exit;

struct lacuna_sida_plan {
  const lacuna_sida_graph* graph;
  bool live[SIDA_MOST_NODES];
  int iterations; /* iterations of a period: 1, or 2 whose products share a pass */
  sida_period* periods;
  int period_count, loops_to; /* loops_to: period that follows the last one */
  /* Lengths of vectors that need an additional element-wise pass at the end of each period, which stores them for the next one.
   */
  uint64_t extra[4];
  int extra_count;
  uint64_t missing; /* a length that `extra` lacks, found during code generation; 0: none */
  unsigned products, fused;
  char explain[SIDA_EXPLAIN_BYTES];

  /* The program. */
  lacuna_sida_storage vectors[LACUNA_SIDA_MAX_VECTORS];
  unsigned vector_count;
  uint64_t scalars[LACUNA_SIDA_MAX_SCALARS];
  unsigned scalar_count;
  struct lacuna_sida_instruction* instructions;
  unsigned instruction_count, instruction_room;
  struct lacuna_sida_pass passes[LACUNA_SIDA_MAX_PASSES];
  unsigned pass_count;
  struct lacuna_sida_swap swaps[LACUNA_SIDA_MAX_VECTORS];
  unsigned swap_count;
  sida_exit exits[LACUNA_SIDA_MAX_PASSES * 4];
  unsigned exit_count;
};

static inline sida_instance* sida_at(sida_period* period, int node, int iteration) {
  return &period->instances[node][iteration - SIDA_OLDEST];
}

/* The instance that a node denotes in an iteration; a state denotes the value that it has in this iteration. */
sida_reference sida_resolve(const lacuna_sida_graph* graph, sida_period* period, int node, int iteration);
/* Whether the node has the same value in all iterations: an input, a constant, or a state that never changes. */
bool sida_is_invariant(const lacuna_sida_graph* graph, int node);

/* Computes periods and explanation; `across`: two iterations per period, whose products share a pass. Returns false with the
 * graph's problem set. */
bool sida_schedule(lacuna_sida_plan* plan, lacuna_sida_graph* graph, lacuna_sida_fusion fusion, bool across);
/* Generates the program from the periods. Returns false with the graph's problem set. */
bool sida_generate(lacuna_sida_plan* plan, lacuna_sida_graph* graph);

#endif

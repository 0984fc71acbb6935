/* Generation of the code of passes: vectors, scalars, instructions and registers. Shared by code.c and generate.c.
 *
 * Code is generated repeatedly, without output, until no further value is found that must be stored. A value must be stored if
 * a later part of its pass, a later pass or the next period reads it. A last generation emits the program. */
#ifndef LACUNA_LIBRARIES_SIDA_CODE_H
#define LACUNA_LIBRARIES_SIDA_CODE_H

#include "plan.h"

enum { SIDA_NO_PLACE = -1, SIDA_MOST_CODE = 2048, SIDA_MOST_READS = 4096, SIDA_NOTHING_KNOWN = -1 };

/* Points of a pass at which code runs, in order. */
typedef enum sida_moment { SIDA_AT_LOAD, SIDA_AT_EWISE, SIDA_AT_EWISE_EXIT, SIDA_AT_FINISH } sida_moment;

/* An instruction before register allocation: registers are numbered in the order of their definitions. */
typedef struct sida_new_instruction {
  int operation, type, d, operands[3];
  bool d_is_register, is_register[3];
} sida_new_instruction;

/* A read of a value that the previous period has computed. */
typedef struct sida_carried_read {
  int period, node, iteration, pass;
  sida_moment when;
} sida_carried_read;

typedef struct sida_generator {
  lacuna_sida_plan* plan;
  lacuna_sida_graph* graph;
  bool emits, changed, failed;

  /* State of the code that is being generated. */
  int period, pass;
  sida_moment when;
  bool closing;
  int known; /* closing code: phase of pass 0 whose scalars are known */
  sida_new_instruction code[SIDA_MOST_CODE];
  int count, registers;
  int memo[SIDA_MOST_NODES][SIDA_WINDOW], invariant_memo[SIDA_MOST_NODES]; /* register + 1 */
  int input;                                        /* register of the product's sum; SIDA_NO_PLACE: unused */
  sida_new_instruction scalar_code[SIDA_MOST_CODE]; /* scalar code that follows the element-wise code */
  int scalar_count;
  bool scalar_made[SIDA_MOST_NODES][SIDA_WINDOW];

  /* Vectors and scalars + 1 by node and by the period's iteration that computes them; 0: not allocated. */
  int first[SIDA_MOST_NODES], place[SIDA_MOST_NODES][SIDA_WINDOW], second_place[SIDA_MOST_NODES][SIDA_WINDOW];
  bool separate[SIDA_MOST_PERIODS][SIDA_MOST_NODES][SIDA_WINDOW];
  int output[SIDA_MOST_NODES]; /* vector + 1 of a kept state that exits compute */
  int scalar_first[SIDA_MOST_NODES], scalar_place[SIDA_MOST_NODES][SIDA_WINDOW], scalar_carried[SIDA_MOST_NODES][SIDA_WINDOW];
  bool carries_scalar[SIDA_MOST_NODES][SIDA_WINDOW];
  sida_carried_read reads[SIDA_MOST_READS];
  int read_count;
} sida_generator;

static inline int sida_index(int iteration) { return iteration - SIDA_OLDEST; }
static inline sida_period* sida_period_of(sida_generator* g) { return g->plan->periods + g->period; }
static inline int sida_successor(const lacuna_sida_plan* plan, int period) {
  return period + 1 < plan->period_count ? period + 1 : plan->loops_to;
}

/* Ends compilation with this text as the graph's problem. */
void sida_fail(sida_generator* g, const char* why);
/* Allocates a vector shaped like the one of a node; returns its number in the program plus 1. `value`: the input or state to be
 * filled before the job, or LACUNA_SIDA_NO_VALUE. */
int sida_new_vector(sida_generator* g, const char* name, lacuna_sida_value value, const sida_node* like);
/* Vector that holds an input, or the initial value of a state. */
int sida_first_vector(sida_generator* g, int node);
/* Vector of a node in an iteration of a period, allocated at the first call; `second`: the second of two vectors that a swap
 * exchanges. */
int sida_vector_place(sida_generator* g, int node, int iteration, bool second);
/* Vector in which this period stores a value. */
int sida_written_place(sida_generator* g, int node, int iteration);
/* Makes every possible predecessor of this period store a value that the period reads. */
void sida_store_in_predecessors(sida_generator* g, sida_reference r);
/* Register that holds the value: computed, loaded, or the product's sum. */
int sida_vector_operand(sida_generator* g, sida_reference r);
/* Slot of a computed scalar. Closing code computes the scalar if it is missing. */
int sida_scalar_operand(sida_generator* g, sida_reference r);
void sida_emit_reduction(sida_generator* g, sida_reference r);
void sida_emit_store(sida_generator* g, int vector, int element, int value);
/* Emits scalar operations and, after the last ones of a period, the scalars passed to the next period. */
void sida_scalar_phase(sida_generator* g, sida_phase phase, bool last);
/* Whether the value, if it is stored, is in memory before the current code runs. */
bool sida_is_stored_before(const sida_generator* g, const sida_instance* i);
/* Begins the code of a part of a pass. `closing`: code of an exit, which computes pending values; `known`: phase of pass 0
 * whose scalars the exit can use. */
void sida_begin_code(sida_generator* g, int period, int pass, sida_moment when, bool closing, int known);
/* Ends the code and assigns accelerator registers, each from its definition to its last use. `kept`: registers used after the
 * code; the function replaces them by the assigned registers. */
struct lacuna_sida_code sida_end_code(sida_generator* g, int* kept, int kept_count);
/* Ends the scalar code that follows the element-wise code. */
struct lacuna_sida_code sida_end_scalar_code(sida_generator* g);

#endif

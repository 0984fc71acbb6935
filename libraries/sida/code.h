/* Code of passes as it is made: vectors, scalars, instructions and registers. Shared by code.c and generate.c.
 *
 * All code is made several times: first to find out which values must be stored because a later part of a pass, a later pass or
 * the next period reads them, until nothing is added; then to emit it. */
#ifndef LACUNA_LIBRARIES_SIDA_CODE_H
#define LACUNA_LIBRARIES_SIDA_CODE_H

#include "plan.h"

enum { SIDA_NO_PLACE = -1, SIDA_MOST_CODE = 2048, SIDA_MOST_READS = 4096, SIDA_NOTHING_KNOWN = -1 };

/* Order of what happens in a pass. */
typedef enum sida_moment { SIDA_AT_LOAD, SIDA_AT_EWISE, SIDA_AT_EWISE_EXIT, SIDA_AT_FINISH } sida_moment;

/* An instruction whose registers are numbered in the order in which they are set. */
typedef struct sida_new_instruction {
  int operation, type, d, operands[3];
  bool d_is_register, is_register[3];
} sida_new_instruction;

/* A read of what the period before has left. */
typedef struct sida_carried_read {
  int period, node, iteration, pass;
  sida_moment when;
} sida_carried_read;

typedef struct sida_generator {
  lacuna_sida_plan* plan;
  lacuna_sida_graph* graph;
  bool emits, changed, failed;

  /* Code that is being made. */
  int period, pass;
  sida_moment when;
  bool closing;
  int known; /* closing code: phase of pass 0 whose scalars are known */
  sida_new_instruction code[SIDA_MOST_CODE];
  int count, registers;
  int memo[SIDA_MOST_NODES][SIDA_WINDOW], invariant_memo[SIDA_MOST_NODES]; /* register + 1 */
  int input;                                        /* register of the product; SIDA_NO_PLACE: it is not used */
  sida_new_instruction scalar_code[SIDA_MOST_CODE]; /* after it */
  int scalar_count;
  bool scalar_made[SIDA_MOST_NODES][SIDA_WINDOW];

  /* Vectors and scalars + 1, by the iteration of the period that makes them; 0: none yet. */
  int first[SIDA_MOST_NODES], place[SIDA_MOST_NODES][SIDA_WINDOW], second_place[SIDA_MOST_NODES][SIDA_WINDOW];
  bool separate[SIDA_MOST_PERIODS][SIDA_MOST_NODES][SIDA_WINDOW];
  int output[SIDA_MOST_NODES]; /* of a kept state that an exit computes */
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

/* Ends the compilation; the graph has its reason then. */
void sida_fail(sida_generator* g, const char* why);
/* Memory for a vector like that of a node; its number in the program, plus 1. `value`: filled before the job, or none. */
int sida_new_vector(sida_generator* g, const char* name, lacuna_sida_value value, const sida_node* like);
/* Vector of an input, or of a state's first value. */
int sida_first_vector(sida_generator* g, int node);
/* Vector of a node in an iteration of a period, made when it is first asked for; `second`: of its two, which a swap exchanges.
 */
int sida_vector_place(sida_generator* g, int node, int iteration, bool second);
/* Where this period stores a value. */
int sida_written_place(sida_generator* g, int node, int iteration);
/* What the period before has left is stored by all periods that can be the one before. */
void sida_store_in_predecessors(sida_generator* g, sida_reference r);
/* Register with the value: computed, loaded, or the product's. */
int sida_vector_operand(sida_generator* g, sida_reference r);
/* Slot of a scalar that is known. Closing code computes the others. */
int sida_scalar_operand(sida_generator* g, sida_reference r);
void sida_emit_reduction(sida_generator* g, sida_reference r);
void sida_emit_store(sida_generator* g, int vector, int element, int value);
/* Scalar operations and, after the last ones of a period, what the next period gets. */
void sida_scalar_phase(sida_generator* g, sida_phase phase, bool last);
/* Whether the value, if it is stored, is in memory when the current code runs. */
bool sida_is_stored_before(const sida_generator* g, const sida_instance* i);
/* Begins the code of a part of a pass. `closing`: of an exit, which computes what is still pending; `known`: phase of pass 0
 * whose scalars it has. */
void sida_begin_code(sida_generator* g, int period, int pass, sida_moment when, bool closing, int known);
/* Assigns registers of the accelerator: each from where it is set to its last use. `kept`: used after the code; replaced by
 * what they have become. */
struct lacuna_sida_code sida_end_code(sida_generator* g, int* kept, int kept_count);
/* The scalar code after it. */
struct lacuna_sida_code sida_end_scalar_code(sida_generator* g);

#endif

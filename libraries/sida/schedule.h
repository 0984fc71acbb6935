/* Scheduling of one pass, shared by schedule.c and schedule_pass.c. */
#ifndef LACUNA_LIBRARIES_SIDA_SCHEDULE_H
#define LACUNA_LIBRARIES_SIDA_SCHEDULE_H

#include "plan.h"

typedef struct sida_scheduler {
  lacuna_sida_plan* plan;
  const lacuna_sida_graph* graph;
  sida_period* period;
  int pass; /* that is being filled */
} sida_scheduler;

/* A pass that does nothing. */
extern const sida_pass sida_no_pass;

sida_status sida_status_of(sida_scheduler* s, sida_reference r);
/* Calls f for the instances that are pending, in the order of the program, until it returns true. */
typedef bool (*sida_visitor)(sida_scheduler* s, sida_reference r, void* data);
bool sida_visit_pending(sida_scheduler* s, sida_visitor f, void* data);
/* Takes all pending element-wise operations whose operands are there into that slot of the current pass; `length`: of its
 * vectors, irrelevant before the pass. */
void sida_add_all_element_wise(sida_scheduler* s, sida_slot slot, uint64_t length);
/* The first pending product; node LACUNA_SIDA_NO_VALUE: none. */
sida_reference sida_next_product(sida_scheduler* s);
/* The loop's condition after an iteration; node LACUNA_SIDA_NO_VALUE: there is none. */
sida_reference sida_condition_of(sida_scheduler* s, int iteration);
/* Adds a line to the explanation. */
void sida_append(lacuna_sida_plan* plan, const char* text);
/* Adds the current pass, if there is something that it can do. */
bool sida_make_pass(sida_scheduler* s, lacuna_sida_fusion fusion);
/* Likewise with one operation alone, whose operands and result are in memory. */
bool sida_make_single_pass(sida_scheduler* s);

#endif

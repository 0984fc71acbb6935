/* Scheduling of one pass, shared by schedule.c and schedule_pass.c. */
#ifndef LACUNA_LIBRARIES_SIDA_SCHEDULE_H
#define LACUNA_LIBRARIES_SIDA_SCHEDULE_H

#include "plan.h"

typedef struct sida_scheduler {
  lacuna_sida_plan* plan;
  const lacuna_sida_graph* graph;
  sida_period* period;
  int pass; /* the pass that is being filled */
} sida_scheduler;

/* An empty pass. */
extern const sida_pass sida_no_pass;

sida_status sida_status_of(sida_scheduler* s, sida_reference r);
typedef bool (*sida_visitor)(sida_scheduler* s, sida_reference r, void* data);
/* Calls f for the pending instances in program order, until f returns true. */
bool sida_visit_pending(sida_scheduler* s, sida_visitor f, void* data);
/* Adds all pending element-wise operations with available operands to a slot of the current pass; `length`: length of the
 * slot's vectors, irrelevant before the pass. */
void sida_add_all_element_wise(sida_scheduler* s, sida_slot slot, uint64_t length);
/* The first pending product; its node is LACUNA_SIDA_NO_VALUE if there is none. */
sida_reference sida_next_product(sida_scheduler* s);
/* The loop's condition after an iteration; its node is LACUNA_SIDA_NO_VALUE if there is none. */
sida_reference sida_condition_of(sida_scheduler* s, int iteration);
/* Adds a line to the explanation. */
void sida_append(lacuna_sida_plan* plan, const char* text);
/* Fills and adds a pass. Returns false if no pending instance can be computed, or if the period has SIDA_MOST_PASSES passes. */
bool sida_make_pass(sida_scheduler* s, lacuna_sida_fusion fusion);
/* Adds a pass with a single operation, whose operands and result are in memory. Returns false as sida_make_pass() does. */
bool sida_make_single_pass(sida_scheduler* s);

#endif

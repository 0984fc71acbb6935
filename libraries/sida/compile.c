#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum { MOST_LENGTHS = sizeof((lacuna_sida_plan*)0)->extra / sizeof(uint64_t) };

/* Collects the distinct lengths of state vectors; returns their number. */
static int state_lengths(const lacuna_sida_graph* graph, uint64_t* lengths) {
  int count = 0;
  for (int node = 0; node < graph->count; ++node) {
    const sida_node* n = graph->nodes + node;
    if (n->kind != SIDA_STATE || n->scalar) continue;
    int i = 0;
    while (i < count && lengths[i] != n->length) ++i;
    if (i == count && count < MOST_LENGTHS) lengths[count++] = n->length;
  }
  return count;
}

/* Tries two iterations per period, then one; keeps the explanation of the first attempt, if it has one. */
lacuna_sida_plan* lacuna_sida_compile(lacuna_sida_graph* graph, lacuna_sida_fusion fusion) {
  char explanation[SIDA_EXPLAIN_BYTES] = "";
  uint64_t extra[MOST_LENGTHS] = {0};
  int extra_count = 0;
  for (int across = 1; across >= 0 && graph->problem[0] == 0;) {
    lacuna_sida_plan* plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
      sida_set_problem(graph, "out of memory");
      return NULL;
    }
    memcpy(plan->extra, extra, sizeof extra);
    plan->extra_count = extra_count;
    if (sida_schedule(plan, graph, fusion, across == 1) && sida_generate(plan, graph)) {
      if (explanation[0] != 0) memcpy(plan->explain, explanation, sizeof explanation);
      return plan;
    }
    const uint64_t missing = plan->missing;
    if (across == 1) memcpy(explanation, plan->explain, sizeof explanation);
    lacuna_sida_plan_destroy(plan);
    if (across == 1) {
      across = 0;
      graph->problem[0] = 0;
    } else if (missing == 0 && extra_count == 0) {
      /* Retry with additional passes that store all vectors of an iteration at its end. */
      extra_count = state_lengths(graph, extra);
      if (extra_count > 0) graph->problem[0] = 0;
    } else if (missing != 0 && extra_count < MOST_LENGTHS) {
      extra[extra_count++] = missing;
      graph->problem[0] = 0;
    }
  }
  return NULL;
}

void lacuna_sida_plan_destroy(lacuna_sida_plan* plan) {
  if (plan == NULL) return;
  free(plan->periods);
  free(plan->instructions);
  free(plan);
}

const char* lacuna_sida_explain(const lacuna_sida_plan* plan) { return plan->explain; }
unsigned lacuna_sida_fused_products(const lacuna_sida_plan* plan) { return plan->fused; }
unsigned lacuna_sida_products(const lacuna_sida_plan* plan) { return plan->products; }
unsigned lacuna_sida_iterations_per_period(const lacuna_sida_plan* plan) { return (unsigned)plan->iterations; }
unsigned lacuna_sida_vectors(const lacuna_sida_plan* plan) { return plan->vector_count; }
lacuna_sida_storage lacuna_sida_storage_of(const lacuna_sida_plan* plan, unsigned vector) { return plan->vectors[vector]; }

/* The program's header, without its size. */
static struct lacuna_sida_program header_of(const lacuna_sida_plan* plan) {
  return (struct lacuna_sida_program){.magic = LACUNA_SIDA_MAGIC,
                                      .version = LACUNA_SIDA_VERSION,
                                      .matrices = (uint32_t)plan->graph->matrices,
                                      .vectors = plan->vector_count,
                                      .scalars = plan->scalar_count,
                                      .instructions = plan->instruction_count,
                                      .passes = plan->pass_count,
                                      .swaps = plan->swap_count,
                                      .limit = plan->graph->limit};
}

static struct lacuna_sida_tables tables_of(const lacuna_sida_plan* plan) {
  const struct lacuna_sida_program header = header_of(plan);
  return lacuna_sida_tables_of(&header);
}

uint64_t lacuna_sida_program_bytes(const lacuna_sida_plan* plan) { return tables_of(plan).end; }

void lacuna_sida_write(const lacuna_sida_plan* plan, const struct lacuna_sida_matrix* matrices, const uint64_t* addresses,
                       void* program) {
  struct lacuna_sida_program header = header_of(plan);
  const struct lacuna_sida_tables t = lacuna_sida_tables_of(&header);
  header.bytes = t.end;
  unsigned char* out = program;
  memset(out, 0, t.end);
  memcpy(out, &header, sizeof header);
  memcpy(out + t.matrices, matrices, (size_t)plan->graph->matrices * sizeof *matrices);
  for (unsigned v = 0; v < plan->vector_count; ++v) {
    const lacuna_sida_storage* s = plan->vectors + v;
    const struct lacuna_sida_vector vector = {
        .address = addresses[v], .length = s->length, .width = s->width, .element = (uint8_t)s->element};
    memcpy(out + t.vectors + v * sizeof vector, &vector, sizeof vector);
  }
  memcpy(out + t.scalars, plan->scalars, plan->scalar_count * sizeof *plan->scalars);
  memcpy(out + t.instructions, plan->instructions, plan->instruction_count * sizeof *plan->instructions);
  memcpy(out + t.passes, plan->passes, plan->pass_count * sizeof *plan->passes);
  memcpy(out + t.swaps, plan->swaps, plan->swap_count * sizeof *plan->swaps);
}

/* Vector or scalar that holds a state at the end of the loop, as recorded in the program; negative: the state is not kept. */
static int result_of(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state) {
  struct lacuna_sida_program header;
  memcpy(&header, program, sizeof header);
  for (unsigned e = 0; e < plan->exit_count; ++e) {
    const sida_exit* exit = plan->exits + e;
    if (exit->state == state && exit->pass == (int)header.last_pass && exit->kind == header.exit) return exit->place;
  }
  return -1;
}

uint64_t lacuna_sida_result(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state) {
  const int place = result_of(plan, program, state);
  if (place < 0 || plan->graph->nodes[state].scalar) return 0;
  struct lacuna_sida_vector vector;
  memcpy(&vector, (const unsigned char*)program + tables_of(plan).vectors + (size_t)place * sizeof vector, sizeof vector);
  return vector.address;
}

uint64_t lacuna_sida_scalar_result(const lacuna_sida_plan* plan, const void* program, lacuna_sida_value state) {
  const int place = result_of(plan, program, state);
  if (place < 0 || !plan->graph->nodes[state].scalar) return 0;
  uint64_t bits;
  memcpy(&bits, (const unsigned char*)program + tables_of(plan).scalars + (size_t)place * sizeof bits, sizeof bits);
  return bits;
}

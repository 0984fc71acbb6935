/* Generates the element-wise and scalar code of passes. */
#include <stdlib.h>
#include <string.h>

#include "code.h"

void sida_fail(sida_generator* g, const char* why) {
  g->failed = true;
  sida_set_problem(g->graph, "%s", why);
}

/* ------------------------------------------------------------------------------------------- vectors and scalars */

int sida_new_vector(sida_generator* g, const char* name, lacuna_sida_value value, const sida_node* like) {
  lacuna_sida_plan* plan = g->plan;
  if (plan->vector_count == LACUNA_SIDA_MAX_VECTORS) {
    sida_fail(g, "more vectors than the accelerator has");
    return 0;
  }
  lacuna_sida_storage* s = plan->vectors + plan->vector_count++;
  s->name = name;
  s->value = value;
  s->length = like->length;
  s->width = like->width;
  s->element = like->element;
  s->bytes = sida_vector_bytes(like);
  return (int)plan->vector_count;
}

static const char* made_by(const sida_node* n) {
  switch (n->kind) {
    case SIDA_PRODUCT:
      return "product";
    case SIDA_CONVERT:
      return "CONVERT";
    case SIDA_INDEX:
      return "INDEX";
    case SIDA_SCAN:
      return "SCAN";
    case SIDA_DENSE:
      return "DENSE";
    default:
      return lacuna_sida_operation_name(n->operation);
  }
}

int sida_first_vector(sida_generator* g, int node) {
  const sida_node* n = g->graph->nodes + node;
  if (g->first[node] == 0) g->first[node] = sida_new_vector(g, n->name, node, n);
  return g->first[node] - 1;
}

int sida_vector_place(sida_generator* g, int node, int iteration, bool second) {
  int* place = second ? &g->second_place[node][sida_index(iteration)] : &g->place[node][sida_index(iteration)];
  const sida_node* n = g->graph->nodes + node;
  if (*place == 0) *place = sida_new_vector(g, made_by(n), LACUNA_SIDA_NO_VALUE, n);
  return *place - 1;
}

int sida_written_place(sida_generator* g, int node, int iteration) {
  return sida_vector_place(g, node, iteration, g->separate[g->period][node][sida_index(iteration)]);
}

static int new_scalar(sida_generator* g, uint64_t bits) {
  lacuna_sida_plan* plan = g->plan;
  if (plan->scalar_count == LACUNA_SIDA_MAX_SCALARS) {
    sida_fail(g, "more scalars than the accelerator has");
    return 1;
  }
  plan->scalars[plan->scalar_count++] = bits;
  return (int)plan->scalar_count;
}

static int scalar_slot(sida_generator* g, int* slot) {
  if (*slot == 0) *slot = new_scalar(g, 0);
  return *slot - 1;
}

static int first_scalar(sida_generator* g, int node) {
  const sida_node* n = g->graph->nodes + node;
  if (n->kind == SIDA_STATE) return first_scalar(g, n->operands[0]);
  if (g->scalar_first[node] == 0) g->scalar_first[node] = new_scalar(g, n->bits);
  return g->scalar_first[node] - 1;
}

void sida_store_in_predecessors(sida_generator* g, sida_reference r) {
  lacuna_sida_plan* plan = g->plan;
  for (int q = 0; q < plan->period_count; ++q) {
    if (sida_successor(plan, q) != g->period) continue;
    sida_instance* i = sida_at(plan->periods + q, r.node, r.iteration + plan->iterations);
    if (i->status != SIDA_DONE) {
      sida_fail(g, "a value used two periods later");
    } else if (!i->store) {
      i->store = g->changed = true;
    }
  }
}

/* --------------------------------------------------------------------------------------------- element-wise code */

static int emit(sida_generator* g, sida_new_instruction i, bool has_register) {
  if (g->count == SIDA_MOST_CODE) {
    sida_fail(g, "an element-wise code of more than 2,048 instructions");
    return 0;
  }
  if (has_register) {
    i.d = g->registers++;
    i.d_is_register = true;
  }
  g->code[g->count++] = i;
  return i.d;
}

static int emit_load(sida_generator* g, int vector, int element) {
  return emit(g, (sida_new_instruction){.operation = LACUNA_SIDA_OPERATION_LOAD, .type = element, .operands = {vector, 0, 0}},
              true);
}

static sida_reference resolve(sida_generator* g, int node, int iteration) {
  return sida_resolve(g->graph, sida_period_of(g), node, iteration);
}

/* Emits the operation of a node, after the code of its operands; returns the register of the result. */
static int compute(sida_generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  sida_new_instruction i = {.type = n->element};
  switch (n->kind) {
    case SIDA_APPLY:
      i.operation = n->operation;
      break;
    case SIDA_CONVERT:
      i.operation = LACUNA_SIDA_OPERATION_CONVERT;
      i.operands[2] = n->operation;
      break;
    case SIDA_INDEX:
      i.operation = LACUNA_SIDA_OPERATION_INDEX;
      break;
    case SIDA_SCAN:
      i.operation = LACUNA_SIDA_OPERATION_SCAN;
      i.operands[1] = n->operation;
      break;
    case SIDA_DENSE:
      i.operation = LACUNA_SIDA_OPERATION_DENSE;
      i.type = n->operation;
      i.operands[1] = sida_first_vector(g, n->operands[1]);
      break;
    default:
      sida_fail(g, "a value that is not computed in the pass that needs it");
      return 0;
  }
  for (int o = 0; o < 3; ++o) {
    if (n->operands[o] == LACUNA_SIDA_NO_VALUE || (n->kind == SIDA_DENSE && o == 1)) continue;
    const sida_reference operand = resolve(g, n->operands[o], r.iteration);
    i.is_register[o] = !g->graph->nodes[operand.node].scalar;
    i.operands[o] =
        i.is_register[o] ? sida_vector_operand(g, operand) : (int)(LACUNA_SIDA_SCALAR | sida_scalar_operand(g, operand));
  }
  return emit(g, i, true);
}

/* Whether the value is computed by the current part of the current pass. */
static bool is_here(const sida_generator* g, const sida_instance* i) {
  if (i->pass != g->pass || g->closing) return false;
  return i->place == SIDA_FINISH ? g->when == SIDA_AT_FINISH : g->when == SIDA_AT_EWISE;
}

bool sida_is_stored_before(const sida_generator* g, const sida_instance* i) {
  const sida_moment stored = i->place == SIDA_FINISH ? SIDA_AT_FINISH : SIDA_AT_EWISE;
  return i->pass < g->pass || (i->pass == g->pass && stored < g->when);
}

static int read_stored(sida_generator* g, sida_reference r, sida_instance* i) {
  if (!sida_is_stored_before(g, i)) {
    sida_fail(g, "a value that is needed before it is stored");
    return 0;
  }
  if (!i->store) i->store = g->changed = true;
  return emit_load(g, sida_written_place(g, r.node, r.iteration), g->graph->nodes[r.node].element);
}

static int read_carried(sida_generator* g, sida_reference r) {
  sida_store_in_predecessors(g, r);
  const int made_in = r.iteration + g->plan->iterations;
  /* An exit after load ends the loop before the rest of its period overwrites values, so its reads are not recorded. */
  if (!(g->closing && g->when == SIDA_AT_LOAD) && !g->emits && g->read_count < SIDA_MOST_READS) {
    g->reads[g->read_count++] = (sida_carried_read){g->period, r.node, made_in, g->pass, g->when};
  }
  return emit_load(g, sida_vector_place(g, r.node, made_in, false), g->graph->nodes[r.node].element);
}

int sida_vector_operand(sida_generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  if (sida_is_invariant(g->graph, r.node) || (n->kind == SIDA_STATE && r.iteration >= SIDA_OLDEST)) {
    int* memo = &g->invariant_memo[r.node];
    if (*memo == 0) *memo = 1 + emit_load(g, sida_first_vector(g, r.node), n->element);
    return *memo - 1;
  }
  if (r.iteration < SIDA_OLDEST) {
    sida_fail(g, "a value of an iteration that is too old");
    return 0;
  }
  int* memo = &g->memo[r.node][sida_index(r.iteration)];
  if (*memo != 0) return *memo - 1;
  sida_instance* i = sida_at(sida_period_of(g), r.node, r.iteration);
  const bool costly = n->kind == SIDA_PRODUCT || n->kind == SIDA_SCAN || n->kind == SIDA_DENSE;
  int result = 0;
  if (i->status == SIDA_CARRIED) {
    result = read_carried(g, r);
  } else if (i->status == SIDA_DONE && n->kind == SIDA_PRODUCT && is_here(g, i)) {
    if (g->input == SIDA_NO_PLACE) g->input = g->registers++;
    result = g->input;
  } else if (i->status == SIDA_DONE && !is_here(g, i) && (i->place != SIDA_BEFORE || costly || i->store) &&
             (sida_is_stored_before(g, i) || i->place != SIDA_BEFORE)) {
    result = read_stored(g, r, i);
  } else if (i->status == SIDA_DONE || (i->status == SIDA_PENDING && g->closing)) {
    result = compute(g, r);
  } else {
    sida_fail(g, "a value that is not known in the pass that needs it");
  }
  *memo = result + 1;
  return result;
}

void sida_emit_reduction(sida_generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  const int operand = sida_vector_operand(g, resolve(g, n->operands[0], r.iteration));
  emit(g,
       (sida_new_instruction){.operation = LACUNA_SIDA_OPERATION_REDUCE,
                              .type = n->element,
                              .d = scalar_slot(g, &g->scalar_place[r.node][sida_index(r.iteration)]),
                              .operands = {operand, n->operation, 0},
                              .is_register = {true, false, false}},
       false);
}

void sida_emit_store(sida_generator* g, int vector, int element, int value) {
  emit(g,
       (sida_new_instruction){.operation = LACUNA_SIDA_OPERATION_STORE,
                              .type = element,
                              .d = vector,
                              .operands = {value, 0, 0},
                              .is_register = {true, false, false}},
       false);
}

/* --------------------------------------------------------------------------------------------------- scalar code */

static void emit_scalar(sida_generator* g, sida_new_instruction i) {
  if (g->scalar_count == SIDA_MOST_CODE) {
    sida_fail(g, "a scalar code of more than 2,048 instructions");
    return;
  }
  g->scalar_code[g->scalar_count++] = i;
}

static void emit_scalar_operation(sida_generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  sida_new_instruction i = {.operation = n->kind == SIDA_CONVERT ? LACUNA_SIDA_OPERATION_CONVERT : n->operation,
                            .type = n->element};
  if (n->kind == SIDA_CONVERT) i.operands[2] = n->operation;
  for (int o = 0; o < 3; ++o) {
    if (n->operands[o] == LACUNA_SIDA_NO_VALUE) continue;
    i.operands[o] = (int)(LACUNA_SIDA_SCALAR | sida_scalar_operand(g, resolve(g, n->operands[o], r.iteration)));
  }
  i.d = scalar_slot(g, &g->scalar_place[r.node][sida_index(r.iteration)]);
  emit_scalar(g, i);
}

int sida_scalar_operand(sida_generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  if (sida_is_invariant(g->graph, r.node) || n->kind == SIDA_STATE) return first_scalar(g, r.node);
  sida_instance* i = sida_at(sida_period_of(g), r.node, r.iteration);
  if (i->status == SIDA_CARRIED) {
    const int made_in = r.iteration + g->plan->iterations;
    bool* carries = &g->carries_scalar[r.node][sida_index(made_in)];
    if (!*carries) *carries = g->changed = true;
    return scalar_slot(g, &g->scalar_carried[r.node][sida_index(made_in)]);
  }
  const bool pending =
      i->status == SIDA_PENDING || (i->status == SIDA_DONE && g->closing && (i->pass > 0 || i->place > g->known));
  if (pending && g->closing) {
    bool* made = &g->scalar_made[r.node][sida_index(r.iteration)];
    if (!*made) {
      *made = true;
      if (n->kind == SIDA_REDUCE) {
        sida_emit_reduction(g, r);
      } else {
        emit_scalar_operation(g, r);
      }
    }
  } else if (i->status != SIDA_DONE) {
    sida_fail(g, "a scalar that is not known in the code that needs it");
  }
  return scalar_slot(g, &g->scalar_place[r.node][sida_index(r.iteration)]);
}

void sida_scalar_phase(sida_generator* g, sida_phase phase, bool last) {
  lacuna_sida_plan* plan = g->plan;
  for (int iteration = SIDA_OLDEST; iteration < plan->iterations; ++iteration) {
    for (int node = 0; node < g->graph->count; ++node) {
      const sida_node* n = g->graph->nodes + node;
      const sida_instance* i = sida_at(sida_period_of(g), node, iteration);
      if (!n->scalar || n->kind == SIDA_REDUCE || i->status != SIDA_DONE || i->pass != g->pass || i->place != (int)phase)
        continue;
      emit_scalar_operation(g, (sida_reference){node, iteration});
    }
  }
  if (!last) return;
  for (int iteration = SIDA_OLDEST; iteration < plan->iterations; ++iteration) {
    for (int node = 0; node < g->graph->count; ++node) {
      if (!g->carries_scalar[node][sida_index(iteration)]) continue;
      const sida_instance* i = sida_at(sida_period_of(g), node, iteration);
      if (i->status != SIDA_DONE) continue; /* still pending: the next period computes it and reads no carried value */
      emit_scalar(g, (sida_new_instruction){
                         .operation = LACUNA_SIDA_OPERATION_COPY,
                         .type = g->graph->nodes[node].element,
                         .d = scalar_slot(g, &g->scalar_carried[node][sida_index(iteration)]),
                         .operands = {(int)(LACUNA_SIDA_SCALAR | scalar_slot(g, &g->scalar_place[node][sida_index(iteration)])),
                                      0, 0}});
    }
  }
}

/* --------------------------------------------------------------------------------------------------------- image */

void sida_begin_code(sida_generator* g, int period, int pass, sida_moment when, bool closing, int known) {
  g->period = period;
  g->pass = pass;
  g->when = when;
  g->closing = closing;
  g->known = known;
  g->count = g->registers = g->scalar_count = 0;
  g->input = SIDA_NO_PLACE;
  memset(g->memo, 0, sizeof g->memo);
  memset(g->invariant_memo, 0, sizeof g->invariant_memo);
  memset(g->scalar_made, 0, sizeof g->scalar_made);
}

static bool append_instruction(sida_generator* g, struct lacuna_sida_instruction i) {
  lacuna_sida_plan* plan = g->plan;
  if (plan->instruction_count == plan->instruction_room) {
    const unsigned room = plan->instruction_room == 0 ? 256 : 2 * plan->instruction_room;
    void* larger = room > LACUNA_SIDA_MAX_INSTRUCTIONS ? NULL : realloc(plan->instructions, room * sizeof *plan->instructions);
    if (larger == NULL) {
      sida_fail(g, "more instructions than the accelerator has, or than there is memory for");
      return false;
    }
    plan->instructions = larger;
    plan->instruction_room = room;
  }
  plan->instructions[plan->instruction_count++] = i;
  return true;
}

struct lacuna_sida_code sida_end_code(sida_generator* g, int* kept, int kept_count) {
  struct lacuna_sida_code part = {g->plan->instruction_count, (uint32_t)g->count};
  if (!g->emits || g->failed) return (struct lacuna_sida_code){0, 0};
  int* last = malloc((size_t)(g->registers + 1) * 2 * sizeof *last);
  if (last == NULL) {
    sida_fail(g, "out of memory");
    return part;
  }
  int* assigned = last + g->registers + 1;
  for (int r = 0; r < g->registers; ++r) last[r] = assigned[r] = SIDA_NO_PLACE;
  for (int c = 0; c < g->count; ++c) {
    for (int o = 0; o < 3; ++o) {
      if (g->code[c].is_register[o]) last[g->code[c].operands[o]] = c;
    }
  }
  for (int k = 0; k < kept_count; ++k) {
    if (kept[k] != SIDA_NO_PLACE) last[kept[k]] = g->count;
  }
  bool used[LACUNA_SIDA_MAX_REGISTERS] = {false};
  if (g->input != SIDA_NO_PLACE) {
    assigned[g->input] = 0;
    used[0] = true;
  }
  for (int c = 0; c < g->count; ++c) {
    const sida_new_instruction* i = g->code + c;
    struct lacuna_sida_instruction out = {.operation = (uint8_t)i->operation, .type = (uint8_t)i->type};
    uint16_t operands[3];
    for (int o = 0; o < 3; ++o) {
      operands[o] = (uint16_t)(i->is_register[o] ? assigned[i->operands[o]] : i->operands[o]);
      if (i->is_register[o] && last[i->operands[o]] == c) used[assigned[i->operands[o]]] = false;
    }
    out.a = operands[0], out.b = operands[1], out.c = operands[2];
    out.d = (uint16_t)i->d;
    if (i->d_is_register) {
      unsigned r = 0;
      while (r < LACUNA_SIDA_MAX_REGISTERS && used[r]) ++r;
      if (r == LACUNA_SIDA_MAX_REGISTERS) {
        sida_fail(g, "an element-wise code that needs more than 64 registers");
        break;
      }
      assigned[i->d] = (int)r;
      used[r] = last[i->d] > c;
      out.d = (uint16_t)r;
    }
    if (!append_instruction(g, out)) break;
  }
  for (int k = 0; k < kept_count; ++k) {
    if (kept[k] != SIDA_NO_PLACE) kept[k] = assigned[kept[k]];
  }
  free(last);
  return part;
}

struct lacuna_sida_code sida_end_scalar_code(sida_generator* g) {
  struct lacuna_sida_code part = {g->plan->instruction_count, (uint32_t)g->scalar_count};
  if (!g->emits || g->failed) return (struct lacuna_sida_code){0, 0};
  for (int c = 0; c < g->scalar_count; ++c) {
    const sida_new_instruction* i = g->scalar_code + c;
    append_instruction(g, (struct lacuna_sida_instruction){.operation = (uint8_t)i->operation,
                                                           .type = (uint8_t)i->type,
                                                           .d = (uint16_t)i->d,
                                                           .a = (uint16_t)i->operands[0],
                                                           .b = (uint16_t)i->operands[1],
                                                           .c = (uint16_t)i->operands[2]});
  }
  g->scalar_count = 0;
  return part;
}

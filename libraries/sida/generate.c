/* Code, vectors, scalars and passes of a scheduled graph.
 *
 * All code is made several times: first to find out which values must be stored because a later part of a pass, a later pass or
 * the next period reads them, until nothing is added; then to emit it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

enum { NO_PLACE = -1, MOST_CODE = 2048, MOST_READS = 4096, NOTHING_KNOWN = -1 };

/* Order of what happens in a pass. */
typedef enum moment { AT_LOAD, AT_EWISE, AT_EWISE_EXIT, AT_FINISH } moment;

/* An instruction whose registers are numbered as they come. */
typedef struct instruction {
  int operation, type, d, operands[3];
  bool d_is_register, is_register[3];
} instruction;

/* A read of what the period before has left. */
typedef struct carried_read {
  int period, node, iteration, pass;
  moment when;
} carried_read;

typedef struct generator {
  lacuna_sida_plan* plan;
  lacuna_sida_graph* graph;
  bool emits, changed, failed;

  /* Code that is being made. */
  int period, pass;
  moment when;
  bool closing;
  int known; /* closing code: phase of pass 0 whose scalars are known */
  instruction code[MOST_CODE];
  int count, registers;
  int memo[SIDA_MOST_NODES][SIDA_WINDOW], invariant_memo[SIDA_MOST_NODES]; /* register + 1 */
  int input;                          /* register of the product; NO_PLACE: it is not used */
  instruction scalar_code[MOST_CODE]; /* behind it */
  int scalar_count;
  bool scalar_made[SIDA_MOST_NODES][SIDA_WINDOW];

  /* Vectors and scalars + 1, by the iteration of the period that makes them; 0: none yet. */
  int first[SIDA_MOST_NODES], place[SIDA_MOST_NODES][SIDA_WINDOW], second_place[SIDA_MOST_NODES][SIDA_WINDOW];
  bool separate[SIDA_MOST_PERIODS][SIDA_MOST_NODES][SIDA_WINDOW];
  int output[SIDA_MOST_NODES]; /* of a kept state that an exit computes */
  int scalar_first[SIDA_MOST_NODES], scalar_place[SIDA_MOST_NODES][SIDA_WINDOW], scalar_carried[SIDA_MOST_NODES][SIDA_WINDOW];
  bool carries_scalar[SIDA_MOST_NODES][SIDA_WINDOW];
  carried_read reads[MOST_READS];
  int read_count;
} generator;

static int at(int iteration) { return iteration - SIDA_OLDEST; }
static sida_period* period_of(generator* g) { return g->plan->periods + g->period; }
static int successor(const lacuna_sida_plan* plan, int period) {
  return period + 1 < plan->period_count ? period + 1 : plan->loops_to;
}
static void fail(generator* g, const char* why) {
  g->failed = true;
  sida_set_problem(g->graph, "%s", why);
}

/* ------------------------------------------------------------------------------------------------------- vectors and scalars
 */

static int new_vector(generator* g, const char* name, lacuna_sida_value value, const sida_node* like) {
  lacuna_sida_plan* plan = g->plan;
  if (plan->vector_count == LACUNA_SIDA_MAX_VECTORS) {
    fail(g, "more vectors than the accelerator has");
    return 0;
  }
  lacuna_sida_storage* s = plan->vectors + plan->vector_count++;
  s->name = name;
  s->value = value;
  s->length = like->length;
  s->width = like->width;
  s->element = like->element;
  s->bytes = like->length * like->width * sida_element_bytes(like->element);
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
      return sida_operation_name(n->operation);
  }
}

static int first_vector(generator* g, int node) {
  const sida_node* n = g->graph->nodes + node;
  if (g->first[node] == 0) g->first[node] = new_vector(g, n->name, node, n);
  return g->first[node] - 1;
}

static int vector_place(generator* g, int node, int iteration, bool second) {
  int* place = second ? &g->second_place[node][at(iteration)] : &g->place[node][at(iteration)];
  const sida_node* n = g->graph->nodes + node;
  if (*place == 0) *place = new_vector(g, made_by(n), LACUNA_SIDA_NO_VALUE, n);
  return *place - 1;
}

/* Where this period stores a value. */
static int written_place(generator* g, int node, int iteration) {
  return vector_place(g, node, iteration, g->separate[g->period][node][at(iteration)]);
}

static int new_scalar(generator* g, uint64_t bits) {
  lacuna_sida_plan* plan = g->plan;
  if (plan->scalar_count == LACUNA_SIDA_MAX_SCALARS) {
    fail(g, "more scalars than the accelerator has");
    return 1;
  }
  plan->scalars[plan->scalar_count++] = bits;
  return (int)plan->scalar_count;
}

static int scalar_slot(generator* g, int* slot) {
  if (*slot == 0) *slot = new_scalar(g, 0);
  return *slot - 1;
}

static int first_scalar(generator* g, int node) {
  const sida_node* n = g->graph->nodes + node;
  if (n->kind == SIDA_STATE) return first_scalar(g, n->operands[0]);
  if (g->scalar_first[node] == 0) g->scalar_first[node] = new_scalar(g, n->bits);
  return g->scalar_first[node] - 1;
}

/* What the period before has left is stored by all periods that can be the one before. */
static void store_in_predecessors(generator* g, sida_reference r) {
  lacuna_sida_plan* plan = g->plan;
  for (int q = 0; q < plan->period_count; ++q) {
    if (successor(plan, q) != g->period) continue;
    sida_instance* i = sida_at(plan->periods + q, r.node, r.iteration + plan->at_once);
    if (i->status != SIDA_DONE) {
      fail(g, "a value that is used two periods later");
    } else if (!i->store) {
      i->store = g->changed = true;
    }
  }
}

/* ------------------------------------------------------------------------------------------------------------ element-wise
 * code */

static int emit(generator* g, instruction i, bool has_register) {
  if (g->count == MOST_CODE) {
    fail(g, "an element-wise code of more than 2,048 instructions");
    return 0;
  }
  if (has_register) {
    i.d = g->registers++;
    i.d_is_register = true;
  }
  g->code[g->count++] = i;
  return i.d;
}

static int emit_load(generator* g, int vector, int element) {
  return emit(g, (instruction){.operation = LACUNA_SIDA_OPERATION_LOAD, .type = element, .operands = {vector, 0, 0}}, true);
}

static int scalar_operand(generator* g, sida_reference r);
static int vector_operand(generator* g, sida_reference r);

static sida_reference resolve(generator* g, int node, int iteration) {
  return sida_resolve(g->graph, period_of(g), node, iteration);
}

/* The operation of a node from its operands. */
static int compute(generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  instruction i = {.type = n->element};
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
      i.operands[1] = first_vector(g, n->operands[1]);
      break;
    default:
      fail(g, "a value that is not computed where it is needed");
      return 0;
  }
  for (int o = 0; o < 3; ++o) {
    if (n->operands[o] == LACUNA_SIDA_NO_VALUE || (n->kind == SIDA_DENSE && o == 1)) continue;
    const sida_reference operand = resolve(g, n->operands[o], r.iteration);
    i.is_register[o] = !g->graph->nodes[operand.node].scalar;
    i.operands[o] = i.is_register[o] ? vector_operand(g, operand) : (int)(LACUNA_SIDA_SCALAR | scalar_operand(g, operand));
  }
  return emit(g, i, true);
}

/* Whether the value is computed by this part of this pass. */
static bool is_here(const generator* g, const sida_instance* i) {
  if (i->pass != g->pass || g->closing) return false;
  return i->place == SIDA_FINISH ? g->when == AT_FINISH : g->when == AT_EWISE;
}

static bool is_stored_before(const generator* g, const sida_instance* i) {
  const moment stored = i->place == SIDA_FINISH ? AT_FINISH : AT_EWISE;
  return i->pass < g->pass || (i->pass == g->pass && stored < g->when);
}

static int read_stored(generator* g, sida_reference r, sida_instance* i) {
  if (!is_stored_before(g, i)) {
    fail(g, "a value that is needed before it is stored");
    return 0;
  }
  if (!i->store) i->store = g->changed = true;
  return emit_load(g, written_place(g, r.node, r.iteration), g->graph->nodes[r.node].element);
}

static int read_carried(generator* g, sida_reference r) {
  store_in_predecessors(g, r);
  const int made_in = r.iteration + g->plan->at_once;
  /* Exits whose period stores nothing any more cannot be disturbed. */
  if (!(g->closing && g->when == AT_LOAD) && !g->emits && g->read_count < MOST_READS) {
    g->reads[g->read_count++] = (carried_read){g->period, r.node, made_in, g->pass, g->when};
  }
  return emit_load(g, vector_place(g, r.node, made_in, false), g->graph->nodes[r.node].element);
}

static int vector_operand(generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  if (sida_is_invariant(g->graph, r.node) || (n->kind == SIDA_STATE && r.iteration >= SIDA_OLDEST)) {
    int* memo = &g->invariant_memo[r.node];
    if (*memo == 0) *memo = 1 + emit_load(g, first_vector(g, r.node), n->element);
    return *memo - 1;
  }
  if (r.iteration < SIDA_OLDEST) {
    fail(g, "a value of an iteration long past");
    return 0;
  }
  int* memo = &g->memo[r.node][at(r.iteration)];
  if (*memo != 0) return *memo - 1;
  sida_instance* i = sida_at(period_of(g), r.node, r.iteration);
  const bool costly = n->kind == SIDA_PRODUCT || n->kind == SIDA_SCAN || n->kind == SIDA_DENSE;
  int result = 0;
  if (i->status == SIDA_CARRIED) {
    result = read_carried(g, r);
  } else if (i->status == SIDA_DONE && n->kind == SIDA_PRODUCT && is_here(g, i)) {
    if (g->input == NO_PLACE) g->input = g->registers++;
    result = g->input;
  } else if (i->status == SIDA_DONE && !is_here(g, i) && (i->place != SIDA_BEFORE || costly || i->store) &&
             (is_stored_before(g, i) || i->place != SIDA_BEFORE)) {
    result = read_stored(g, r, i);
  } else if (i->status == SIDA_DONE || (i->status == SIDA_PENDING && g->closing)) {
    result = compute(g, r);
  } else {
    fail(g, "a value that is not known where it is needed");
  }
  *memo = result + 1;
  return result;
}

static void emit_reduction(generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  const int operand = vector_operand(g, resolve(g, n->operands[0], r.iteration));
  emit(g,
       (instruction){.operation = LACUNA_SIDA_OPERATION_REDUCE,
                     .type = n->element,
                     .d = scalar_slot(g, &g->scalar_place[r.node][at(r.iteration)]),
                     .operands = {operand, n->operation, 0},
                     .is_register = {true, false, false}},
       false);
}

static void emit_store(generator* g, int vector, int element, int value) {
  emit(g,
       (instruction){.operation = LACUNA_SIDA_OPERATION_STORE,
                     .type = element,
                     .d = vector,
                     .operands = {value, 0, 0},
                     .is_register = {true, false, false}},
       false);
}

/* ------------------------------------------------------------------------------------------------------------------ scalar
 * code */

static void emit_scalar(generator* g, instruction i) {
  if (g->scalar_count == MOST_CODE) {
    fail(g, "a scalar code of more than 2,048 instructions");
    return;
  }
  g->scalar_code[g->scalar_count++] = i;
}

static void emit_scalar_operation(generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  instruction i = {.operation = n->kind == SIDA_CONVERT ? LACUNA_SIDA_OPERATION_CONVERT : n->operation, .type = n->element};
  if (n->kind == SIDA_CONVERT) i.operands[2] = n->operation;
  for (int o = 0; o < 3; ++o) {
    if (n->operands[o] == LACUNA_SIDA_NO_VALUE) continue;
    i.operands[o] = (int)(LACUNA_SIDA_SCALAR | scalar_operand(g, resolve(g, n->operands[o], r.iteration)));
  }
  i.d = scalar_slot(g, &g->scalar_place[r.node][at(r.iteration)]);
  emit_scalar(g, i);
}

/* Slot of a scalar that is known. Closing code computes the others. */
static int scalar_operand(generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  if (sida_is_invariant(g->graph, r.node) || n->kind == SIDA_STATE) return first_scalar(g, r.node);
  sida_instance* i = sida_at(period_of(g), r.node, r.iteration);
  if (i->status == SIDA_CARRIED) {
    const int made_in = r.iteration + g->plan->at_once;
    bool* carries = &g->carries_scalar[r.node][at(made_in)];
    if (!*carries) *carries = g->changed = true;
    return scalar_slot(g, &g->scalar_carried[r.node][at(made_in)]);
  }
  const bool pending =
      i->status == SIDA_PENDING || (i->status == SIDA_DONE && g->closing && (i->pass > 0 || i->place > g->known));
  if (pending && g->closing) {
    bool* made = &g->scalar_made[r.node][at(r.iteration)];
    if (!*made) {
      *made = true;
      if (n->kind == SIDA_REDUCE) {
        emit_reduction(g, r);
      } else {
        emit_scalar_operation(g, r);
      }
    }
  } else if (i->status != SIDA_DONE) {
    fail(g, "a scalar that is not known where it is needed");
  }
  return scalar_slot(g, &g->scalar_place[r.node][at(r.iteration)]);
}

/* Scalar operations and, behind the last ones of a period, what the next period gets. */
static void scalar_phase(generator* g, sida_phase phase, bool last) {
  lacuna_sida_plan* plan = g->plan;
  for (int iteration = SIDA_OLDEST; iteration < plan->at_once; ++iteration) {
    for (int node = 0; node < g->graph->count; ++node) {
      const sida_node* n = g->graph->nodes + node;
      const sida_instance* i = sida_at(period_of(g), node, iteration);
      if (!n->scalar || n->kind == SIDA_REDUCE || i->status != SIDA_DONE || i->pass != g->pass || i->place != (int)phase)
        continue;
      emit_scalar_operation(g, (sida_reference){node, iteration});
    }
  }
  if (!last) return;
  for (int iteration = SIDA_OLDEST; iteration < plan->at_once; ++iteration) {
    for (int node = 0; node < g->graph->count; ++node) {
      if (!g->carries_scalar[node][at(iteration)]) continue;
      const sida_instance* i = sida_at(period_of(g), node, iteration);
      if (i->status != SIDA_DONE) continue; /* pending here, and so in the next period */
      emit_scalar(
          g,
          (instruction){.operation = LACUNA_SIDA_OPERATION_COPY,
                        .type = g->graph->nodes[node].element,
                        .d = scalar_slot(g, &g->scalar_carried[node][at(iteration)]),
                        .operands = {(int)(LACUNA_SIDA_SCALAR | scalar_slot(g, &g->scalar_place[node][at(iteration)])), 0, 0}});
    }
  }
}

/* ------------------------------------------------------------------------------------------------------------------------
 * image */

static void begin_code(generator* g, int period, int pass, moment when, bool closing, int known) {
  g->period = period;
  g->pass = pass;
  g->when = when;
  g->closing = closing;
  g->known = known;
  g->count = g->registers = g->scalar_count = 0;
  g->input = NO_PLACE;
  memset(g->memo, 0, sizeof g->memo);
  memset(g->invariant_memo, 0, sizeof g->invariant_memo);
  memset(g->scalar_made, 0, sizeof g->scalar_made);
}

static bool append_instruction(generator* g, struct lacuna_sida_instruction i) {
  lacuna_sida_plan* plan = g->plan;
  if (plan->instruction_count == plan->instruction_room) {
    const unsigned room = plan->instruction_room == 0 ? 256 : 2 * plan->instruction_room;
    void* larger = room > LACUNA_SIDA_MAX_INSTRUCTIONS ? NULL : realloc(plan->instructions, room * sizeof *plan->instructions);
    if (larger == NULL) {
      fail(g, "more instructions than the accelerator has, or than there is memory for");
      return false;
    }
    plan->instructions = larger;
    plan->instruction_room = room;
  }
  plan->instructions[plan->instruction_count++] = i;
  return true;
}

/* Assigns registers of the accelerator: each from where it is set to its last use. `kept`: used behind the code; replaced by
 * what they have become. */
static struct lacuna_sida_code end_code(generator* g, int* kept, int kept_count) {
  struct lacuna_sida_code part = {g->plan->instruction_count, (uint32_t)g->count};
  if (!g->emits || g->failed) return (struct lacuna_sida_code){0, 0};
  int* last = malloc((size_t)(g->registers + 1) * 2 * sizeof *last);
  if (last == NULL) {
    fail(g, "out of memory");
    return part;
  }
  int* assigned = last + g->registers + 1;
  for (int r = 0; r < g->registers; ++r) last[r] = assigned[r] = NO_PLACE;
  for (int c = 0; c < g->count; ++c) {
    for (int o = 0; o < 3; ++o) {
      if (g->code[c].is_register[o]) last[g->code[c].operands[o]] = c;
    }
  }
  for (int k = 0; k < kept_count; ++k) {
    if (kept[k] != NO_PLACE) last[kept[k]] = g->count;
  }
  bool used[LACUNA_SIDA_MAX_REGISTERS] = {false};
  if (g->input != NO_PLACE) {
    assigned[g->input] = 0;
    used[0] = true;
  }
  for (int c = 0; c < g->count; ++c) {
    const instruction* i = g->code + c;
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
        fail(g, "an element-wise code that needs more than 64 registers");
        break;
      }
      assigned[i->d] = (int)r;
      used[r] = last[i->d] > c;
      out.d = (uint16_t)r;
    }
    if (!append_instruction(g, out)) break;
  }
  for (int k = 0; k < kept_count; ++k) {
    if (kept[k] != NO_PLACE) kept[k] = assigned[kept[k]];
  }
  free(last);
  return part;
}

static struct lacuna_sida_code end_scalar_code(generator* g) {
  struct lacuna_sida_code part = {g->plan->instruction_count, (uint32_t)g->scalar_count};
  if (!g->emits || g->failed) return (struct lacuna_sida_code){0, 0};
  for (int c = 0; c < g->scalar_count; ++c) {
    const instruction* i = g->scalar_code + c;
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

static struct lacuna_sida_pass empty_pass(void) {
  struct lacuna_sida_pass pass;
  memset(&pass, 0, sizeof pass);
  pass.x = pass.x_present = pass.w = pass.w_present = LACUNA_SIDA_NONE;
  pass.load_condition = pass.ewise_condition = pass.finish_condition = LACUNA_SIDA_NONE;
  pass.next = pass.load_exit = pass.ewise_exit = pass.finish_exit = LACUNA_SIDA_NONE;
  return pass;
}

static int add_pass(generator* g, struct lacuna_sida_pass pass) {
  lacuna_sida_plan* plan = g->plan;
  if (!g->emits) return LACUNA_SIDA_NONE;
  if (plan->pass_count == LACUNA_SIDA_MAX_PASSES) {
    fail(g, "more passes than the accelerator has");
    return LACUNA_SIDA_NONE;
  }
  plan->passes[plan->pass_count] = pass;
  return (int)plan->pass_count++;
}

/* -------------------------------------------------------------------------------------------------------------------- exits */

static void note_exit(generator* g, int pass, uint32_t kind, int state, int place) {
  lacuna_sida_plan* plan = g->plan;
  if (!g->emits || plan->exit_count == sizeof plan->exits / sizeof *plan->exits) return;
  plan->exits[plan->exit_count++] = (sida_exit){pass, kind, state, place};
}

/* Where a kept vector is when the loop ends there, without any code; NO_PLACE: code has to compute it. */
static int result_place(generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  if (sida_is_invariant(g->graph, r.node) || n->kind == SIDA_STATE) return first_vector(g, r.node);
  sida_instance* i = sida_at(period_of(g), r.node, r.iteration);
  if (i->status == SIDA_CARRIED) {
    store_in_predecessors(g, r);
    return vector_place(g, r.node, r.iteration + g->plan->at_once, false);
  }
  if (i->status == SIDA_DONE && is_stored_before(g, i) && (i->store || i->place != SIDA_BEFORE)) {
    if (!i->store) i->store = g->changed = true;
    return written_place(g, r.node, r.iteration);
  }
  return NO_PLACE;
}

/* Code of an exit: kept states behind iteration `iteration` of the period. Returns its pass, or none if nothing is to be
 * computed. */
static int make_exit(generator* g, int period, moment when, int known, int iteration, int from_pass, uint32_t kind) {
  begin_code(g, period, 0, when, true, known);
  uint64_t length = 0;
  bool has_length = false;
  for (int state = 0; state < g->graph->count; ++state) {
    const sida_node* n = g->graph->nodes + state;
    if (n->kind != SIDA_STATE || !n->kept) continue;
    const sida_reference r = resolve(g, state, iteration + 1);
    if (n->scalar) {
      note_exit(g, from_pass, kind, state, scalar_operand(g, r));
      continue;
    }
    int place = result_place(g, r);
    if (place == NO_PLACE) {
      if (has_length && n->length != length) {
        g->plan->missing = n->length;
        fail(g, "kept states of different lengths that are computed behind the loop");
        return LACUNA_SIDA_NONE;
      }
      has_length = true;
      length = n->length;
      const int value = vector_operand(g, r);
      if (g->output[state] == 0) g->output[state] = new_vector(g, n->name, LACUNA_SIDA_NO_VALUE, n);
      place = g->output[state] - 1;
      emit_store(g, place, n->element, value);
    }
    note_exit(g, from_pass, kind, state, place);
  }
  if (g->count == 0 && g->scalar_count == 0) return LACUNA_SIDA_NONE;
  if (!has_length) {
    /* Reductions alone: their operand's length. */
    for (int c = 0; c < g->count && !has_length; ++c) {
      if (g->code[c].operation != LACUNA_SIDA_OPERATION_LOAD) continue;
      length = g->plan->vectors[g->code[c].operands[0]].length;
      has_length = true;
    }
  }
  /* Reductions that closing code needs for vectors are not known to it. */
  bool reduced[LACUNA_SIDA_MAX_SCALARS] = {false};
  for (int c = 0; c < g->count; ++c) {
    const instruction* i = g->code + c;
    for (int o = 0; o < 3; ++o) {
      if (!i->is_register[o] && (i->operands[o] & (int)LACUNA_SIDA_SCALAR) && i->operation <= LACUNA_SIDA_OPERATION_CONVERT &&
          !(i->operation == LACUNA_SIDA_OPERATION_CONVERT && o == 2)) {
        const int slot = i->operands[o] & ~(int)LACUNA_SIDA_SCALAR;
        for (int s = 0; s < g->scalar_count; ++s) reduced[slot] |= g->scalar_code[s].d == slot;
        for (int s = 0; s < g->count; ++s) {
          reduced[slot] |= g->code[s].operation == LACUNA_SIDA_OPERATION_REDUCE && g->code[s].d == slot;
        }
        if (reduced[slot]) fail(g, "a kept state that needs a reduction of its own iteration behind the loop");
      }
    }
  }
  struct lacuna_sida_pass pass = empty_pass();
  pass.elements = length;
  pass.ewise = end_code(g, NULL, 0);
  pass.after_ewise = end_scalar_code(g);
  return add_pass(g, pass);
}

/* ------------------------------------------------------------------------------------------------------------------ passes */

/* Calls f for the vectors that this part of the pass stores. */
static void for_stores(generator* g, sida_phase phase, void (*f)(generator* g, sida_reference r, uint64_t length),
                       uint64_t length) {
  for (int iteration = SIDA_OLDEST; iteration < g->plan->at_once; ++iteration) {
    for (int node = 0; node < g->graph->count && !g->failed; ++node) {
      const sida_instance* i = sida_at(period_of(g), node, iteration);
      if (i->status != SIDA_DONE || i->pass != g->pass || !i->store || g->graph->nodes[node].scalar) continue;
      if (phase != (i->place == SIDA_FINISH ? SIDA_AFTER_FINISH : SIDA_AFTER_EWISE)) continue;
      f(g, (sida_reference){node, iteration}, length);
    }
  }
}

static void compute_stored(generator* g, sida_reference r, uint64_t length) {
  const sida_node* n = g->graph->nodes + r.node;
  if (n->length == length) {
    vector_operand(g, r);
    return;
  }
  g->plan->missing = n->length;
  fail(g, "a value that a later pass needs and whose length is not that of the pass");
}

static void store_computed(generator* g, sida_reference r, uint64_t length) {
  (void)length;
  emit_store(g, written_place(g, r.node, r.iteration), g->graph->nodes[r.node].element, vector_operand(g, r));
}

/* Reductions and stores of a part of a pass. Stores come last: what they replace may still be read by the same code. */
static void reductions_and_stores(generator* g, sida_phase phase, uint64_t length) {
  for (int iteration = SIDA_OLDEST; iteration < g->plan->at_once; ++iteration) {
    for (int node = 0; node < g->graph->count; ++node) {
      const sida_instance* i = sida_at(period_of(g), node, iteration);
      const bool here = i->status == SIDA_DONE && i->pass == g->pass && i->place == (int)phase;
      if (here && g->graph->nodes[node].kind == SIDA_REDUCE) emit_reduction(g, (sida_reference){node, iteration});
    }
  }
  if (phase == SIDA_AFTER_LOAD) return;
  for_stores(g, phase, compute_stored, length);
  for_stores(g, phase, store_computed, length);
}

static int product_operand(generator* g, sida_reference product, int number) {
  const int node = g->graph->nodes[product.node].operands[number];
  return node == LACUNA_SIDA_NO_VALUE ? NO_PLACE : vector_operand(g, resolve(g, node, product.iteration));
}

static uint16_t register_of(int number) { return number == NO_PLACE ? LACUNA_SIDA_NONE : (uint16_t)number; }

static uint16_t condition_slot(generator* g, sida_reference condition) {
  if (condition.node == LACUNA_SIDA_NO_VALUE) return LACUNA_SIDA_NONE;
  return (uint16_t)scalar_operand(g, condition);
}

static void make_pass(generator* g, int period, int number, int* first_pass) {
  lacuna_sida_plan* plan = g->plan;
  const sida_pass* p = plan->periods[period].passes + number;
  const bool last = number + 1 == plan->periods[period].pass_count;
  struct lacuna_sida_pass out = empty_pass();
  const sida_node* first = p->os ? g->graph->nodes + p->first.node : NULL;
  uint64_t length = p->length;
  if (p->os) {
    length = first->length;
    out.flags = LACUNA_SIDA_PASS_OS | (first->transposed ? LACUNA_SIDA_PASS_OS_TRANSPOSED : 0);
    out.matrix = (uint16_t)g->graph->nodes[first->matrix].number;
    out.element = (uint8_t)g->graph->nodes[first->operands[0]].element;
    out.os_semiring = (uint8_t)first->operation;
    out.width = first->width;
    begin_code(g, period, number, AT_LOAD, false, NOTHING_KNOWN);
    int kept[2] = {product_operand(g, p->first, 0), product_operand(g, p->first, 1)};
    reductions_and_stores(g, SIDA_AFTER_LOAD, 0);
    out.load = end_code(g, kept, 2);
    out.x = register_of(kept[0]);
    out.x_present = register_of(kept[1]);
    scalar_phase(g, SIDA_AFTER_LOAD, false);
    out.load_condition = condition_slot(g, p->load_condition);
    out.after_load = end_scalar_code(g);
  } else {
    out.elements = length;
  }
  begin_code(g, period, number, AT_EWISE, false, NOTHING_KNOWN);
  int kept[2] = {NO_PLACE, NO_PLACE};
  if (p->is) {
    kept[0] = product_operand(g, p->second, 0);
    kept[1] = product_operand(g, p->second, 1);
  }
  reductions_and_stores(g, SIDA_AFTER_EWISE, length);
  out.ewise = end_code(g, kept, 2);
  out.y = 0;
  out.w = register_of(kept[0]);
  out.w_present = register_of(kept[1]);
  scalar_phase(g, SIDA_AFTER_EWISE, last && !p->is);
  out.ewise_condition = condition_slot(g, p->ewise_condition);
  out.after_ewise = end_scalar_code(g);
  if (p->is) {
    const sida_node* second = g->graph->nodes + p->second.node;
    out.flags |= LACUNA_SIDA_PASS_IS | (second->transposed ? LACUNA_SIDA_PASS_IS_TRANSPOSED : 0);
    out.is_semiring = (uint8_t)second->operation;
    begin_code(g, period, number, AT_FINISH, false, NOTHING_KNOWN);
    reductions_and_stores(g, SIDA_AFTER_FINISH, second->length);
    out.finish = end_code(g, NULL, 0);
    out.z = 0;
    scalar_phase(g, SIDA_AFTER_FINISH, last);
    out.finish_condition = condition_slot(g, p->finish_condition);
    out.after_finish = end_scalar_code(g);
  }
  if (g->graph->condition != LACUNA_SIDA_NO_VALUE)
    out.condition_element = (uint8_t)g->graph->nodes[g->graph->condition].element;
  if (p->counts_ewise) out.flags |= LACUNA_SIDA_PASS_EWISE_COUNTS;
  if (p->counts_finish) out.flags |= LACUNA_SIDA_PASS_FINISH_COUNTS;
  if (last && g->emits) {
    out.first_swap = plan->swap_count;
    for (int node = 0; node < g->graph->count; ++node) {
      for (int i = 0; i < SIDA_WINDOW; ++i) {
        if (!g->separate[period][node][i]) continue;
        if (plan->swap_count == LACUNA_SIDA_MAX_VECTORS) {
          fail(g, "more swaps than the accelerator has");
          return;
        }
        plan->swaps[plan->swap_count++] = (struct lacuna_sida_swap){(uint16_t)vector_place(g, node, i + SIDA_OLDEST, false),
                                                                    (uint16_t)vector_place(g, node, i + SIDA_OLDEST, true)};
      }
    }
    out.swaps = plan->swap_count - out.first_swap;
  }
  const int made = add_pass(g, out);
  if (number == 0) *first_pass = made;
  if (g->emits && !g->failed && number > 0) plan->passes[made - 1].next = (uint16_t)made;
}

/* The exits of a period, whose passes begin with `first_pass` of the program. */
static void make_exits(generator* g, int period, int first_pass) {
  lacuna_sida_plan* plan = g->plan;
  const sida_period* p = plan->periods + period;
  const sida_pass* last = p->passes + p->pass_count - 1;
  const int last_pass = g->emits ? first_pass + p->pass_count - 1 : 0;
  const int load_pass = g->emits ? first_pass : 0;
  int load = LACUNA_SIDA_NONE, ewise = LACUNA_SIDA_NONE, finish = LACUNA_SIDA_NONE;
  if (p->passes[0].load_condition.node != LACUNA_SIDA_NO_VALUE) {
    load = make_exit(g, period, AT_LOAD, SIDA_AFTER_LOAD, -1, load_pass, LACUNA_SIDA_EXIT_LOAD);
  }
  const int next = successor(plan, period);
  if (last->is) {
    if (last->counts_ewise) ewise = make_exit(g, period, AT_EWISE_EXIT, SIDA_AFTER_EWISE, 0, last_pass, LACUNA_SIDA_EXIT_EWISE);
    finish = make_exit(g, next, AT_LOAD, NOTHING_KNOWN, -1, last_pass, LACUNA_SIDA_EXIT_FINISH);
  } else {
    ewise = make_exit(g, next, AT_LOAD, NOTHING_KNOWN, -1, last_pass, LACUNA_SIDA_EXIT_EWISE);
  }
  if (!g->emits || g->failed) return;
  plan->passes[load_pass].load_exit = (uint16_t)load;
  plan->passes[last_pass].ewise_exit = (uint16_t)ewise;
  plan->passes[last_pass].finish_exit = (uint16_t)finish;
}

static void make_all(generator* g) {
  lacuna_sida_plan* plan = g->plan;
  int first_passes[SIDA_MOST_PERIODS] = {0};
  for (int period = 0; period < plan->period_count && !g->failed; ++period) {
    for (int pass = 0; pass < plan->periods[period].pass_count && !g->failed; ++pass) {
      make_pass(g, period, pass, first_passes + period);
    }
  }
  for (int period = 0; period < plan->period_count && !g->failed; ++period) {
    if (g->emits) {
      const int last = first_passes[period] + plan->periods[period].pass_count - 1;
      plan->passes[last].next = (uint16_t)first_passes[successor(plan, period)];
    }
    make_exits(g, period, first_passes[period]);
  }
}

/* A value takes the place of what the period before has left only if this is not read any more, but at the same element. */
static void separate_places(generator* g) {
  for (int i = 0; i < g->read_count; ++i) {
    const carried_read* read = g->reads + i;
    const sida_instance* written = sida_at(g->plan->periods + read->period, read->node, read->iteration);
    if (written->status != SIDA_DONE || !written->store) continue;
    const moment when = written->place == SIDA_FINISH ? AT_FINISH : AT_EWISE;
    const bool in_time =
        read->pass < written->pass || (read->pass == written->pass && read->when != AT_LOAD && read->when <= when);
    if (!in_time) g->separate[read->period][read->node][at(read->iteration)] = true;
  }
}

bool sida_generate(lacuna_sida_plan* plan, lacuna_sida_graph* graph) {
  generator* g = calloc(1, sizeof *g);
  if (g == NULL) {
    sida_set_problem(graph, "out of memory");
    return false;
  }
  g->plan = plan;
  g->graph = graph;
  do {
    g->changed = false;
    g->read_count = 0;
    make_all(g);
  } while (g->changed && !g->failed);
  if (g->read_count == MOST_READS) fail(g, "too many reads of values of the iteration before");
  separate_places(g);
  /* Vectors and scalars are numbered anew: what was not needed in the end has none. */
  plan->vector_count = plan->scalar_count = 0;
  memset(g->first, 0, sizeof g->first);
  memset(g->place, 0, sizeof g->place);
  memset(g->second_place, 0, sizeof g->second_place);
  memset(g->output, 0, sizeof g->output);
  memset(g->scalar_first, 0, sizeof g->scalar_first);
  memset(g->scalar_place, 0, sizeof g->scalar_place);
  memset(g->scalar_carried, 0, sizeof g->scalar_carried);
  g->emits = true;
  if (!g->failed) make_all(g);
  const bool done = !g->failed;
  free(g);
  return done;
}

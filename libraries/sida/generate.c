/* Generates the passes, exits and stored vectors of a scheduled graph. */
#include <stdlib.h>
#include <string.h>

#include "code.h"

static struct lacuna_sida_pass empty_pass(void) {
  struct lacuna_sida_pass pass;
  memset(&pass, 0, sizeof pass);
  pass.x = pass.x_present = pass.w = pass.w_present = LACUNA_SIDA_NONE;
  pass.load_condition = pass.ewise_condition = pass.finish_condition = LACUNA_SIDA_NONE;
  pass.next = pass.load_exit = pass.ewise_exit = pass.finish_exit = LACUNA_SIDA_NONE;
  return pass;
}

static int add_pass(sida_generator* g, struct lacuna_sida_pass pass) {
  lacuna_sida_plan* plan = g->plan;
  if (!g->emits) return LACUNA_SIDA_NONE;
  if (plan->pass_count == LACUNA_SIDA_MAX_PASSES) {
    sida_fail(g, "more passes than the accelerator has");
    return LACUNA_SIDA_NONE;
  }
  plan->passes[plan->pass_count] = pass;
  return (int)plan->pass_count++;
}

/* --------------------------------------------------------------------------------------------------------- exits */

static void note_exit(sida_generator* g, int pass, uint32_t kind, int state, int place) {
  lacuna_sida_plan* plan = g->plan;
  if (!g->emits) return;
  if (plan->exit_count == sizeof plan->exits / sizeof *plan->exits) {
    sida_fail(g, "more kept states and passes that end the loop than there is room for");
    return;
  }
  plan->exits[plan->exit_count++] = (sida_exit){pass, kind, state, place};
}

/* Vector that holds a kept state if the loop ends at this point; SIDA_NO_PLACE: the exit needs code to compute the state. */
static int result_place(sida_generator* g, sida_reference r) {
  const sida_node* n = g->graph->nodes + r.node;
  if (sida_is_invariant(g->graph, r.node) || n->kind == SIDA_STATE) return sida_first_vector(g, r.node);
  sida_instance* i = sida_at(sida_period_of(g), r.node, r.iteration);
  if (i->status == SIDA_CARRIED) {
    sida_store_in_predecessors(g, r);
    return sida_vector_place(g, r.node, r.iteration + g->plan->iterations, false);
  }
  if (i->status == SIDA_DONE && sida_is_stored_before(g, i) && (i->store || i->place != SIDA_BEFORE)) {
    if (!i->store) i->store = g->changed = true;
    return sida_written_place(g, r.node, r.iteration);
  }
  return SIDA_NO_PLACE;
}

/* Emits the code of an exit, which computes kept states after iteration `iteration` of the period. Returns its pass, or none if
 * there is nothing to compute. */
static int make_exit(sida_generator* g, int period, sida_moment when, int known, int iteration, int from_pass, uint32_t kind) {
  sida_begin_code(g, period, 0, when, true, known);
  uint64_t length = 0;
  bool has_length = false;
  for (int state = 0; state < g->graph->count; ++state) {
    const sida_node* n = g->graph->nodes + state;
    if (n->kind != SIDA_STATE || !n->kept) continue;
    const sida_reference r = sida_resolve(g->graph, sida_period_of(g), state, iteration + 1);
    if (n->scalar) {
      note_exit(g, from_pass, kind, state, sida_scalar_operand(g, r));
      continue;
    }
    int place = result_place(g, r);
    if (place == SIDA_NO_PLACE) {
      if (has_length && n->length != length) {
        g->plan->missing = n->length;
        sida_fail(g, "kept states of different lengths that are computed after the loop");
        return LACUNA_SIDA_NONE;
      }
      has_length = true;
      length = n->length;
      const int value = sida_vector_operand(g, r);
      if (g->output[state] == 0) g->output[state] = sida_new_vector(g, n->name, LACUNA_SIDA_NO_VALUE, n);
      place = g->output[state] - 1;
      sida_emit_store(g, place, n->element, value);
    }
    note_exit(g, from_pass, kind, state, place);
  }
  if (g->count == 0 && g->scalar_count == 0) return LACUNA_SIDA_NONE;
  if (!has_length) {
    /* If the exit has only reductions, its length is that of their operand. */
    for (int c = 0; c < g->count && !has_length; ++c) {
      if (g->code[c].operation != LACUNA_SIDA_OPERATION_LOAD) continue;
      length = g->plan->vectors[g->code[c].operands[0]].length;
      has_length = true;
    }
  }
  /* Closing code cannot use its own reductions as operands of vectors. */
  bool reduced[LACUNA_SIDA_MAX_SCALARS] = {false};
  for (int c = 0; c < g->count; ++c) {
    const sida_new_instruction* i = g->code + c;
    for (int o = 0; o < 3; ++o) {
      if (!i->is_register[o] && (i->operands[o] & (int)LACUNA_SIDA_SCALAR) && i->operation <= LACUNA_SIDA_OPERATION_CONVERT &&
          !(i->operation == LACUNA_SIDA_OPERATION_CONVERT && o == 2)) {
        const int slot = i->operands[o] & ~(int)LACUNA_SIDA_SCALAR;
        for (int s = 0; s < g->scalar_count; ++s) reduced[slot] |= g->scalar_code[s].d == slot;
        for (int s = 0; s < g->count; ++s) {
          reduced[slot] |= g->code[s].operation == LACUNA_SIDA_OPERATION_REDUCE && g->code[s].d == slot;
        }
        if (reduced[slot]) sida_fail(g, "a kept state that requires a reduction of the last iteration after the loop");
      }
    }
  }
  struct lacuna_sida_pass pass = empty_pass();
  pass.elements = length;
  pass.ewise = sida_end_code(g, NULL, 0);
  pass.after_ewise = sida_end_scalar_code(g);
  return add_pass(g, pass);
}

/* -------------------------------------------------------------------------------------------------------- passes */

/* Calls f for the vectors that this part of the pass stores. */
static void for_stores(sida_generator* g, sida_phase phase, void (*f)(sida_generator* g, sida_reference r, uint64_t length),
                       uint64_t length) {
  for (int iteration = SIDA_OLDEST; iteration < g->plan->iterations; ++iteration) {
    for (int node = 0; node < g->graph->count && !g->failed; ++node) {
      const sida_instance* i = sida_at(sida_period_of(g), node, iteration);
      if (i->status != SIDA_DONE || i->pass != g->pass || !i->store || g->graph->nodes[node].scalar) continue;
      if (phase != (i->place == SIDA_FINISH ? SIDA_AFTER_FINISH : SIDA_AFTER_EWISE)) continue;
      f(g, (sida_reference){node, iteration}, length);
    }
  }
}

static void compute_stored(sida_generator* g, sida_reference r, uint64_t length) {
  const sida_node* n = g->graph->nodes + r.node;
  if (n->length == length) {
    sida_vector_operand(g, r);
    return;
  }
  g->plan->missing = n->length;
  sida_fail(g, "a value required by a later pass, whose length differs from that of the pass");
}

static void store_computed(sida_generator* g, sida_reference r, uint64_t length) {
  (void)length;
  sida_emit_store(g, sida_written_place(g, r.node, r.iteration), g->graph->nodes[r.node].element, sida_vector_operand(g, r));
}

/* Emits reductions and stores of a part of a pass. Stores are last, since the same code may still read the vectors that the
 * stores overwrite. */
static void reductions_and_stores(sida_generator* g, sida_phase phase, uint64_t length) {
  for (int iteration = SIDA_OLDEST; iteration < g->plan->iterations; ++iteration) {
    for (int node = 0; node < g->graph->count; ++node) {
      const sida_instance* i = sida_at(sida_period_of(g), node, iteration);
      const bool here = i->status == SIDA_DONE && i->pass == g->pass && i->place == (int)phase;
      if (here && g->graph->nodes[node].kind == SIDA_REDUCE) sida_emit_reduction(g, (sida_reference){node, iteration});
    }
  }
  if (phase == SIDA_AFTER_LOAD) return;
  for_stores(g, phase, compute_stored, length);
  for_stores(g, phase, store_computed, length);
}

static int product_operand(sida_generator* g, sida_reference product, int number) {
  const int node = g->graph->nodes[product.node].operands[number];
  return node == LACUNA_SIDA_NO_VALUE
             ? SIDA_NO_PLACE
             : sida_vector_operand(g, sida_resolve(g->graph, sida_period_of(g), node, product.iteration));
}

static uint16_t register_of(int number) { return number == SIDA_NO_PLACE ? LACUNA_SIDA_NONE : (uint16_t)number; }

static uint16_t condition_slot(sida_generator* g, sida_reference condition) {
  if (condition.node == LACUNA_SIDA_NO_VALUE) return LACUNA_SIDA_NONE;
  return (uint16_t)sida_scalar_operand(g, condition);
}

static void make_pass(sida_generator* g, int period, int number, int* first_pass) {
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
    sida_begin_code(g, period, number, SIDA_AT_LOAD, false, SIDA_NOTHING_KNOWN);
    int kept[2] = {product_operand(g, p->first, 0), product_operand(g, p->first, 1)};
    reductions_and_stores(g, SIDA_AFTER_LOAD, 0);
    out.load = sida_end_code(g, kept, 2);
    out.x = register_of(kept[0]);
    out.x_present = register_of(kept[1]);
    sida_scalar_phase(g, SIDA_AFTER_LOAD, false);
    out.load_condition = condition_slot(g, p->load_condition);
    out.after_load = sida_end_scalar_code(g);
  } else {
    out.elements = length;
  }
  sida_begin_code(g, period, number, SIDA_AT_EWISE, false, SIDA_NOTHING_KNOWN);
  int kept[2] = {SIDA_NO_PLACE, SIDA_NO_PLACE};
  if (p->is) {
    kept[0] = product_operand(g, p->second, 0);
    kept[1] = product_operand(g, p->second, 1);
  }
  reductions_and_stores(g, SIDA_AFTER_EWISE, length);
  out.ewise = sida_end_code(g, kept, 2);
  out.y = 0;
  out.w = register_of(kept[0]);
  out.w_present = register_of(kept[1]);
  sida_scalar_phase(g, SIDA_AFTER_EWISE, last && !p->is);
  out.ewise_condition = condition_slot(g, p->ewise_condition);
  out.after_ewise = sida_end_scalar_code(g);
  if (p->is) {
    const sida_node* second = g->graph->nodes + p->second.node;
    out.flags |= LACUNA_SIDA_PASS_IS | (second->transposed ? LACUNA_SIDA_PASS_IS_TRANSPOSED : 0);
    out.is_semiring = (uint8_t)second->operation;
    sida_begin_code(g, period, number, SIDA_AT_FINISH, false, SIDA_NOTHING_KNOWN);
    reductions_and_stores(g, SIDA_AFTER_FINISH, second->length);
    out.finish = sida_end_code(g, NULL, 0);
    out.z = 0;
    sida_scalar_phase(g, SIDA_AFTER_FINISH, last);
    out.finish_condition = condition_slot(g, p->finish_condition);
    out.after_finish = sida_end_scalar_code(g);
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
          sida_fail(g, "more swaps than the accelerator has");
          return;
        }
        plan->swaps[plan->swap_count++] =
            (struct lacuna_sida_swap){(uint16_t)sida_vector_place(g, node, i + SIDA_OLDEST, false),
                                      (uint16_t)sida_vector_place(g, node, i + SIDA_OLDEST, true)};
      }
    }
    out.swaps = plan->swap_count - out.first_swap;
  }
  const int made = add_pass(g, out);
  if (number == 0) *first_pass = made;
  if (g->emits && !g->failed && number > 0) plan->passes[made - 1].next = (uint16_t)made;
}

/* Emits the exits of a period whose passes begin with the program's pass `first_pass`. */
static void make_exits(sida_generator* g, int period, int first_pass) {
  lacuna_sida_plan* plan = g->plan;
  const sida_period* p = plan->periods + period;
  const sida_pass* last = p->passes + p->pass_count - 1;
  const int last_pass = g->emits ? first_pass + p->pass_count - 1 : 0;
  const int load_pass = g->emits ? first_pass : 0;
  int load = LACUNA_SIDA_NONE, ewise = LACUNA_SIDA_NONE, finish = LACUNA_SIDA_NONE;
  if (p->passes[0].load_condition.node != LACUNA_SIDA_NO_VALUE) {
    load = make_exit(g, period, SIDA_AT_LOAD, SIDA_AFTER_LOAD, -1, load_pass, LACUNA_SIDA_EXIT_LOAD);
  }
  const int next = sida_successor(plan, period);
  if (last->is) {
    if (last->counts_ewise)
      ewise = make_exit(g, period, SIDA_AT_EWISE_EXIT, SIDA_AFTER_EWISE, 0, last_pass, LACUNA_SIDA_EXIT_EWISE);
    finish = make_exit(g, next, SIDA_AT_LOAD, SIDA_NOTHING_KNOWN, -1, last_pass, LACUNA_SIDA_EXIT_FINISH);
  } else {
    ewise = make_exit(g, next, SIDA_AT_LOAD, SIDA_NOTHING_KNOWN, -1, last_pass, LACUNA_SIDA_EXIT_EWISE);
  }
  if (!g->emits || g->failed) return;
  plan->passes[load_pass].load_exit = (uint16_t)load;
  plan->passes[last_pass].ewise_exit = (uint16_t)ewise;
  plan->passes[last_pass].finish_exit = (uint16_t)finish;
}

static void make_all(sida_generator* g) {
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
      plan->passes[last].next = (uint16_t)first_passes[sida_successor(plan, period)];
    }
    make_exits(g, period, first_passes[period]);
  }
}

/* Separates vectors: a value may overwrite one of the previous period only if the old value is not read afterwards, except at
 * the same element. */
static void separate_places(sida_generator* g) {
  for (int i = 0; i < g->read_count; ++i) {
    const sida_carried_read* read = g->reads + i;
    const sida_instance* written = sida_at(g->plan->periods + read->period, read->node, read->iteration);
    if (written->status != SIDA_DONE || !written->store) continue;
    const sida_moment when = written->place == SIDA_FINISH ? SIDA_AT_FINISH : SIDA_AT_EWISE;
    const bool in_time =
        read->pass < written->pass || (read->pass == written->pass && read->when != SIDA_AT_LOAD && read->when <= when);
    if (!in_time) g->separate[read->period][read->node][sida_index(read->iteration)] = true;
  }
}

bool sida_generate(lacuna_sida_plan* plan, lacuna_sida_graph* graph) {
  sida_generator* g = calloc(1, sizeof *g);
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
  if (g->read_count == SIDA_MOST_READS) sida_fail(g, "too many reads of values of the iteration before");
  separate_places(g);
  /* Renumbers vectors and scalars, and drops unused ones. */
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

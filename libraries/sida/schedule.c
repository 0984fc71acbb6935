/* Which pass and which part of it computes each value of an iteration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

bool sida_is_invariant(const lacuna_sida_graph* graph, int node) {
  const sida_node* n = graph->nodes + node;
  return n->kind == SIDA_INPUT || n->kind == SIDA_CONSTANT || n->kind == SIDA_MATRIX ||
         (n->kind == SIDA_STATE && (n->next == LACUNA_SIDA_NO_VALUE || n->next == node));
}

sida_reference sida_resolve(const lacuna_sida_graph* graph, sida_period* period, int node, int iteration) {
  while (graph->nodes[node].kind == SIDA_STATE && !sida_is_invariant(graph, node) && iteration >= SIDA_OLDEST &&
         sida_at(period, node, iteration)->status != SIDA_FIRST) {
    node = graph->nodes[node].next;
    --iteration;
  }
  return (sida_reference){node, iteration};
}

/* ------------------------------------------------------------------------------------------------------------ what is known */

typedef struct scheduler {
  lacuna_sida_plan* plan;
  const lacuna_sida_graph* graph;
  sida_period* period;
  int pass; /* that is being filled */
  bool two; /* iterations in a period */
} scheduler;

static sida_status status_of(scheduler* s, sida_reference r) {
  if (sida_is_invariant(s->graph, r.node)) return SIDA_FIRST;
  if (r.iteration < SIDA_OLDEST) return SIDA_ABSENT;
  return sida_at(s->period, r.node, r.iteration)->status;
}

/* Whether a vector can be read in that slot of the current pass. */
static bool vector_ready(scheduler* s, sida_reference r, sida_slot slot) {
  const sida_status status = status_of(s, r);
  if (status != SIDA_DONE) return status == SIDA_FIRST || status == SIDA_CARRIED;
  const sida_instance* i = sida_at(s->period, r.node, r.iteration);
  return i->pass < s->pass || (i->pass == s->pass && i->place <= (int)slot);
}

/* Whether a scalar is known in that slot of the current pass: what load reduces is known in ewise, all others behind the pass.
 */
static bool scalar_ready(scheduler* s, sida_reference r, sida_slot slot) {
  const sida_status status = status_of(s, r);
  if (status != SIDA_DONE) return status == SIDA_FIRST || status == SIDA_CARRIED;
  const sida_instance* i = sida_at(s->period, r.node, r.iteration);
  return i->pass < s->pass || (i->pass == s->pass && i->place == SIDA_AFTER_LOAD && slot != SIDA_BEFORE);
}

static sida_reference operand(scheduler* s, sida_reference of, int number) {
  const int node = s->graph->nodes[of.node].operands[number];
  if (node == LACUNA_SIDA_NO_VALUE) return (sida_reference){LACUNA_SIDA_NO_VALUE, 0};
  return sida_resolve(s->graph, s->period, node, of.iteration);
}

static bool is_element_wise(const sida_node* n) {
  return !n->scalar && (n->kind == SIDA_APPLY || n->kind == SIDA_CONVERT || n->kind == SIDA_INDEX || n->kind == SIDA_DENSE);
}

static void set_done(scheduler* s, sida_reference r, int place) {
  sida_instance* i = sida_at(s->period, r.node, r.iteration);
  i->status = SIDA_DONE;
  i->pass = s->pass;
  i->place = place;
}

/* Calls f for the instances that are pending, in the order of the program, until it returns true. */
typedef bool (*visitor)(scheduler* s, sida_reference r, void* data);
static bool visit_pending(scheduler* s, visitor f, void* data) {
  for (int iteration = SIDA_OLDEST; iteration < s->plan->at_once; ++iteration) {
    for (int node = 0; node < s->graph->count; ++node) {
      if (!s->plan->live[node] || sida_at(s->period, node, iteration)->status != SIDA_PENDING) continue;
      if (f(s, (sida_reference){node, iteration}, data)) return true;
    }
  }
  return false;
}

/* --------------------------------------------------------------------------------------------------------- what load reduces
 */

static uint64_t load_length(scheduler* s) {
  const sida_pass* pass = s->period->passes + s->pass;
  return s->graph->nodes[s->graph->nodes[pass->first.node].operands[0]].length;
}

/* Whether load can reduce to it, so that ewise has it. */
static bool can_load(scheduler* s, sida_reference r) {
  if (scalar_ready(s, r, SIDA_EWISE)) return true;
  if (status_of(s, r) != SIDA_PENDING) return false;
  const sida_node* n = s->graph->nodes + r.node;
  if (n->kind == SIDA_REDUCE) {
    return s->graph->nodes[n->operands[0]].length == load_length(s) && vector_ready(s, operand(s, r, 0), SIDA_BEFORE);
  }
  for (int i = 0; i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && !can_load(s, o)) return false;
  }
  return true;
}

static void load_scalar(scheduler* s, sida_reference r) {
  if (status_of(s, r) != SIDA_PENDING) return;
  if (s->graph->nodes[r.node].kind != SIDA_REDUCE) {
    for (int i = 0; i < 3; ++i) {
      const sida_reference o = operand(s, r, i);
      if (o.node != LACUNA_SIDA_NO_VALUE) load_scalar(s, o);
    }
  }
  set_done(s, r, SIDA_AFTER_LOAD);
}

/* ---------------------------------------------------------------------------------------------------- element-wise operations
 */

typedef struct closure {
  sida_slot slot;
  uint64_t length; /* of vectors in the slot; irrelevant before the pass */
} closure;

/* A dense product takes the array of its iteration, which the accelerator counts as iterations end. */
static bool is_in_its_iteration(scheduler* s, sida_reference r, sida_slot slot) {
  if (s->graph->nodes[r.node].kind != SIDA_DENSE) return true;
  return s->two ? r.iteration == (slot == SIDA_FINISH ? 1 : 0) : r.iteration == 0;
}

static bool add_element_wise(scheduler* s, sida_reference r, void* data) {
  const closure* c = data;
  const sida_node* n = s->graph->nodes + r.node;
  if (!is_element_wise(n) || (c->slot != SIDA_BEFORE && n->length != c->length) || !is_in_its_iteration(s, r, c->slot))
    return false;
  bool loads = false;
  for (int i = 0; i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node == LACUNA_SIDA_NO_VALUE) continue;
    if (!s->graph->nodes[o.node].scalar) {
      if (!vector_ready(s, o, c->slot)) return false;
    } else if (!scalar_ready(s, o, c->slot)) {
      if (c->slot != SIDA_EWISE || !s->period->passes[s->pass].os || !can_load(s, o)) return false;
      loads = true;
    }
  }
  for (int i = 0; loads && i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && s->graph->nodes[o.node].scalar) load_scalar(s, o);
  }
  set_done(s, r, (int)c->slot);
  return false;
}

static void add_all_element_wise(scheduler* s, sida_slot slot, uint64_t length) {
  closure c = {slot, length};
  visit_pending(s, add_element_wise, &c);
}

/* Reductions of vectors that ewise or finish has, and scalar operations whose operands are known then. */
static bool add_scalar(scheduler* s, sida_reference r, void* data) {
  const closure* lengths = data; /* of ewise and of finish */
  const sida_node* n = s->graph->nodes + r.node;
  if (!n->scalar) return false;
  const sida_pass* pass = s->period->passes + s->pass;
  int phase = pass->os ? SIDA_AFTER_LOAD : SIDA_AFTER_EWISE;
  if (n->kind == SIDA_REDUCE) {
    const sida_reference o = operand(s, r, 0);
    const uint64_t length = s->graph->nodes[n->operands[0]].length;
    if (length == lengths[0].length && vector_ready(s, o, SIDA_EWISE)) {
      phase = SIDA_AFTER_EWISE;
    } else if (pass->is && length == lengths[1].length && vector_ready(s, o, SIDA_FINISH)) {
      phase = SIDA_AFTER_FINISH;
    } else {
      return false;
    }
  } else {
    for (int i = 0; i < 3; ++i) {
      const sida_reference o = operand(s, r, i);
      if (o.node == LACUNA_SIDA_NO_VALUE) continue;
      if (scalar_ready(s, o, SIDA_BEFORE)) continue;
      if (status_of(s, o) != SIDA_DONE) return false;
      const int place = sida_at(s->period, o.node, o.iteration)->place;
      if (place > phase) phase = place;
    }
  }
  set_done(s, r, phase);
  return false;
}

/* Scalar operations whose operands are known before the pass, which ewise and finish then have. */
static bool add_known_scalar(scheduler* s, sida_reference r, void* data) {
  (void)data;
  const sida_node* n = s->graph->nodes + r.node;
  if (!n->scalar || n->kind == SIDA_REDUCE) return false;
  for (int i = 0; i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && !scalar_ready(s, o, SIDA_EWISE)) return false;
  }
  set_done(s, r, SIDA_AFTER_LOAD);
  return false;
}

/* ------------------------------------------------------------------------------------------------------------------- fusion */

static void append(lacuna_sida_plan* plan, const char* text) {
  const size_t used = strlen(plan->explain);
  snprintf(plan->explain + used, sizeof plan->explain - used, "%s", text);
}

/* Why a vector is not there in ewise: the first operation it depends on that is not element-wise with known operands. */
static sida_reference blocking(scheduler* s, sida_reference r) {
  for (;;) {
    const sida_node* n = s->graph->nodes + r.node;
    if (n->scalar || n->kind == SIDA_PRODUCT || n->kind == SIDA_SCAN) {
      if (n->kind != SIDA_APPLY && n->kind != SIDA_CONVERT) return r;
    }
    sida_reference next = {LACUNA_SIDA_NO_VALUE, 0};
    for (int i = 0; i < 3; ++i) {
      const sida_reference o = operand(s, r, i);
      if (o.node == LACUNA_SIDA_NO_VALUE) continue;
      const bool ready = s->graph->nodes[o.node].scalar ? scalar_ready(s, o, SIDA_EWISE) : vector_ready(s, o, SIDA_EWISE);
      if (!ready) next = o;
    }
    if (next.node == LACUNA_SIDA_NO_VALUE) return r;
    r = next;
  }
}

/* Whether `second` can be the second product of the current pass. `reason` has twice SIDA_PROBLEM_BYTES. */
static bool can_fuse(scheduler* s, sida_reference second, lacuna_sida_fusion fusion, char* reason) {
  const lacuna_sida_graph* graph = s->graph;
  const sida_pass* pass = s->period->passes + s->pass;
  const sida_node *a = graph->nodes + pass->first.node, *b = graph->nodes + second.node;
  char name[SIDA_PROBLEM_BYTES];
  if (fusion != LACUNA_SIDA_FUSION_AUTO) {
    snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "fusion of products is switched off");
    return false;
  }
  if (a->matrix != b->matrix) {
    snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "the next product is with another matrix, %.60s", graph->nodes[b->matrix].name);
    return false;
  }
  const sida_node* m = graph->nodes + a->matrix;
  if (a->transposed == b->transposed && m->rows != m->columns) {
    snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "%.60s is not square", m->name);
    return false;
  }
  if (a->width != b->width || graph->nodes[a->operands[0]].element != graph->nodes[b->operands[0]].element) {
    snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "the next product has other elements or features");
    return false;
  }
  for (int i = 0; i < 2; ++i) {
    const sida_reference o = operand(s, second, i);
    if (o.node == LACUNA_SIDA_NO_VALUE) continue;
    if (graph->nodes[o.node].length != a->length) {
      snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "the next product's vector is not indexed like this one's result");
      return false;
    }
    if (vector_ready(s, o, SIDA_EWISE)) continue;
    const sida_reference r = blocking(s, o);
    snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "the next product's vector needs %.140s, which is known only behind the pass",
             sida_describe(graph, r.node, name));
    return false;
  }
  return true;
}

static bool first_product(scheduler* s, sida_reference r, void* data) {
  if (s->graph->nodes[r.node].kind != SIDA_PRODUCT) return false;
  *(sida_reference*)data = r;
  return true;
}

static sida_reference next_product(scheduler* s) {
  sida_reference r = {LACUNA_SIDA_NO_VALUE, 0};
  visit_pending(s, first_product, &r);
  return r;
}

static bool product_ready(scheduler* s, sida_reference product) {
  for (int i = 0; i < 2; ++i) {
    const sida_reference o = operand(s, product, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && !vector_ready(s, o, SIDA_BEFORE)) return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------------- passes */

static const sida_pass kNoPass = {.first = {LACUNA_SIDA_NO_VALUE, 0},
                                  .second = {LACUNA_SIDA_NO_VALUE, 0},
                                  .load_condition = {LACUNA_SIDA_NO_VALUE, 0},
                                  .ewise_condition = {LACUNA_SIDA_NO_VALUE, 0},
                                  .finish_condition = {LACUNA_SIDA_NO_VALUE, 0}};

/* What an element-wise pass can be made for: a reduction or a scan whose operand is there. */
static bool needs_pass(scheduler* s, sida_reference r, void* data) {
  const sida_node* n = s->graph->nodes + r.node;
  if ((n->kind != SIDA_REDUCE && n->kind != SIDA_SCAN) || !vector_ready(s, operand(s, r, 0), SIDA_BEFORE)) return false;
  *(uint64_t*)data = s->graph->nodes[n->operands[0]].length;
  return true;
}

/* Likewise a scalar operation whose operands are known: a pass without elements. */
static bool needs_scalar_pass(scheduler* s, sida_reference r, void* data) {
  (void)data;
  const sida_node* n = s->graph->nodes + r.node;
  if (!n->scalar || n->kind == SIDA_REDUCE) return false;
  for (int i = 0; i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && !scalar_ready(s, o, SIDA_BEFORE)) return false;
  }
  return true;
}

static bool add_scan(scheduler* s, sida_reference r, void* data) {
  const sida_node* n = s->graph->nodes + r.node;
  if (n->kind == SIDA_SCAN && n->length == *(uint64_t*)data && vector_ready(s, operand(s, r, 0), SIDA_BEFORE)) {
    set_done(s, r, SIDA_EWISE);
  }
  return false;
}

/* Condition behind an iteration, if it is known in this period. */
static sida_reference condition_of(scheduler* s, int iteration) {
  if (s->graph->condition == LACUNA_SIDA_NO_VALUE) return (sida_reference){LACUNA_SIDA_NO_VALUE, 0};
  return sida_resolve(s->graph, s->period, s->graph->condition, iteration);
}

static void note_product(scheduler* s, sida_reference product, const char* text) {
  char name[SIDA_PROBLEM_BYTES], line[5 * SIDA_PROBLEM_BYTES];
  if (s->plan->at_once == 2) {
    snprintf(line, sizeof line, "%s of iteration %s: %s\n", sida_describe(s->graph, product.node, name),
             product.iteration == 0 ? "2 i" : "2 i + 1", text);
  } else {
    snprintf(line, sizeof line, "%s: %s\n", sida_describe(s->graph, product.node, name), text);
  }
  append(s->plan, line);
}

/* Adds the current pass, if there is something that it can do. */
static bool make_pass(scheduler* s, lacuna_sida_fusion fusion) {
  if (s->pass == SIDA_MOST_PASSES) return false;
  sida_pass* pass = s->period->passes + s->pass;
  *pass = kNoPass;
  add_all_element_wise(s, SIDA_BEFORE, 0);
  const sida_reference product = next_product(s);
  if (product.node == LACUNA_SIDA_NO_VALUE || !product_ready(s, product)) {
    if (!visit_pending(s, needs_pass, &pass->length) && !visit_pending(s, needs_scalar_pass, NULL)) return false;
    visit_pending(s, add_scan, &pass->length);
    add_all_element_wise(s, SIDA_EWISE, pass->length);
    closure lengths[2] = {{SIDA_EWISE, pass->length}, {SIDA_FINISH, 0}};
    visit_pending(s, add_scalar, lengths);
    ++s->pass;
    return true;
  }
  const sida_node* first = s->graph->nodes + product.node;
  pass->os = true;
  pass->first = product;
  set_done(s, product, SIDA_EWISE);
  visit_pending(s, add_known_scalar, NULL);
  /* What load reduces for the loop's condition, which is looked at before the pass goes on. */
  for (int iteration = SIDA_OLDEST; iteration < 0; ++iteration) {
    const sida_reference condition = condition_of(s, iteration);
    if (condition.node != LACUNA_SIDA_NO_VALUE && status_of(s, condition) == SIDA_PENDING && can_load(s, condition)) {
      load_scalar(s, condition);
    }
  }
  add_all_element_wise(s, SIDA_EWISE, first->length);
  const sida_reference second = next_product(s);
  char reason[2 * SIDA_PROBLEM_BYTES] = "";
  closure lengths[2] = {{SIDA_EWISE, first->length}, {SIDA_FINISH, 0}};
  if (second.node == LACUNA_SIDA_NO_VALUE) {
    note_product(s, product, "alone in its pass, the last product of an iteration");
  } else if (can_fuse(s, second, fusion, reason)) {
    pass->is = true;
    pass->second = second;
    set_done(s, second, SIDA_FINISH);
    lengths[1].length = s->graph->nodes[second.node].length;
    add_all_element_wise(s, SIDA_FINISH, lengths[1].length);
    note_product(s, product, "first product of a pass");
    note_product(s, second, "fused with the product before it: one reading of the matrix for both");
  } else {
    char text[3 * SIDA_PROBLEM_BYTES];
    snprintf(text, sizeof text, "alone in its pass: %s", reason);
    note_product(s, product, text);
  }
  visit_pending(s, add_scalar, lengths);
  ++s->pass;
  return true;
}

/* ------------------------------------------------------------------------------------------------------------------ periods */

static void begin_period(lacuna_sida_plan* plan, sida_period* period, sida_period* before) {
  const lacuna_sida_graph* graph = plan->graph;
  memset(period, 0, sizeof *period);
  for (int node = 0; node < graph->count; ++node) {
    for (int iteration = SIDA_OLDEST; iteration < plan->at_once; ++iteration) {
      sida_instance* i = sida_at(period, node, iteration);
      const bool state = graph->nodes[node].kind == SIDA_STATE;
      if (iteration >= 0) {
        if (!state) i->status = sida_is_invariant(graph, node) ? SIDA_FIRST : SIDA_PENDING;
        if (state && iteration == 0 && before == NULL) i->status = SIDA_FIRST;
      } else if (before != NULL && iteration + plan->at_once >= SIDA_OLDEST) {
        const sida_instance* old = sida_at(before, node, iteration + plan->at_once);
        i->status = old->status == SIDA_DONE ? SIDA_CARRIED : old->status == SIDA_CARRIED ? SIDA_ABSENT : old->status;
      }
    }
  }
}

/* What a period takes from before it: instances that pending ones read. */
static void note_used(const lacuna_sida_plan* plan, sida_period* period, int node, int iteration, bool* seen,
                      sida_status* used) {
  const sida_reference r = sida_resolve(plan->graph, period, node, iteration);
  if (r.iteration < SIDA_OLDEST || sida_is_invariant(plan->graph, r.node)) return;
  const int place = r.node * SIDA_WINDOW + r.iteration - SIDA_OLDEST;
  if (seen[place]) return;
  seen[place] = true;
  used[place] = sida_at(period, r.node, r.iteration)->status;
  if (used[place] != SIDA_PENDING) return;
  for (int i = 0; i < 3; ++i) {
    const int operand = plan->graph->nodes[r.node].operands[i];
    if (operand != LACUNA_SIDA_NO_VALUE) note_used(plan, period, operand, r.iteration, seen, used);
  }
}

static void note_all_used(const lacuna_sida_plan* plan, sida_period* period, sida_status* used) {
  bool seen[SIDA_MOST_NODES * SIDA_WINDOW] = {false};
  for (int i = 0; i < SIDA_MOST_NODES * SIDA_WINDOW; ++i) used[i] = SIDA_ABSENT;
  for (int iteration = SIDA_OLDEST; iteration < plan->at_once; ++iteration) {
    for (int node = 0; node < plan->graph->count; ++node) {
      if (plan->live[node] && sida_at(period, node, iteration)->status == SIDA_PENDING) {
        note_used(plan, period, node, iteration, seen, used);
      }
    }
  }
}

/* Reductions and scans of complete iterations: what is left when there are none is element-wise, and computed in the next
 * period. */
static bool incomplete(scheduler* s, sida_reference r, void* data) {
  (void)data;
  const sida_node* n = s->graph->nodes + r.node;
  return n->scalar || n->kind == SIDA_SCAN || n->kind == SIDA_DENSE;
}

static uint64_t ewise_length(scheduler* s, int pass) {
  const sida_pass* p = s->period->passes + pass;
  return p->os ? s->graph->nodes[p->first.node].length : p->length;
}

/* Element-wise passes for vectors whose length no other pass has in which they could be stored. */
static void add_extra_passes(scheduler* s) {
  for (int e = 0; e < s->plan->extra_count && s->pass < SIDA_MOST_PASSES; ++e) {
    const uint64_t length = s->plan->extra[e];
    sida_pass* pass = s->period->passes + s->pass;
    *pass = kNoPass;
    pass->length = length;
    add_all_element_wise(s, SIDA_BEFORE, 0);
    for (int node = 0; node < s->graph->count; ++node) {
      for (int iteration = SIDA_OLDEST; iteration < s->plan->at_once; ++iteration) {
        sida_instance* i = sida_at(s->period, node, iteration);
        const sida_node* n = s->graph->nodes + node;
        if (n->scalar || n->length != length || i->status != SIDA_DONE || i->place != SIDA_BEFORE) continue;
        if (ewise_length(s, i->pass) != length) i->pass = s->pass;
      }
    }
    ++s->pass;
  }
}

/* Phase in which a scalar of this period is known; -1: it is not, or was before. */
static int known_in(scheduler* s, sida_reference r, int pass) {
  if (r.node == LACUNA_SIDA_NO_VALUE || status_of(s, r) != SIDA_DONE) return -1;
  const sida_instance* i = sida_at(s->period, r.node, r.iteration);
  return i->pass == pass ? i->place : -1;
}

/* Where iterations are counted and the loop's condition is looked at. false: the loop cannot be ended in time. */
static bool place_conditions(scheduler* s) {
  sida_period* period = s->period;
  sida_pass* last = period->passes + period->pass_count - 1;
  if (s->two) {
    /* The one pass, whose two products are of two iterations. */
    const sida_reference before = condition_of(s, -1), first = condition_of(s, 0), second = condition_of(s, 1);
    last->counts_ewise = last->counts_finish = true;
    if (first.node == LACUNA_SIDA_NO_VALUE) return true;
    if (status_of(s, before) == SIDA_PENDING) return false;
    const int phase_before = known_in(s, before, 0), phase = known_in(s, first, 0);
    if (phase_before == SIDA_AFTER_LOAD) last->load_condition = before;
    if (phase_before > SIDA_AFTER_LOAD) return false;
    if (phase != SIDA_AFTER_LOAD && phase != SIDA_AFTER_EWISE) return false;
    last->ewise_condition = first;
    if (known_in(s, second, 0) >= 0) last->finish_condition = second;
    return true;
  }
  if (last->is) {
    last->counts_finish = true;
  } else {
    last->counts_ewise = true;
  }
  const sida_reference condition = condition_of(s, 0);
  if (condition.node == LACUNA_SIDA_NO_VALUE) return true;
  if (status_of(s, condition) == SIDA_PENDING) return false;
  if (last->is) {
    last->finish_condition = condition;
  } else {
    last->ewise_condition = condition;
  }
  return true;
}

typedef sida_status beginning[SIDA_MOST_NODES * SIDA_WINDOW];

static bool add_periods(lacuna_sida_plan* plan, lacuna_sida_graph* graph, lacuna_sida_fusion fusion, beginning* used) {
  plan->period_count = 0;
  plan->explain[0] = 0;
  for (;;) {
    if (plan->period_count == SIDA_MOST_PERIODS) return false;
    sida_period* period = plan->periods + plan->period_count;
    begin_period(plan, period, plan->period_count == 0 ? NULL : period - 1);
    note_all_used(plan, period, used[plan->period_count]);
    for (int p = 1; p < plan->period_count; ++p) {
      if (memcmp(used[p], used[plan->period_count], sizeof used[p]) == 0) {
        plan->loops_to = p;
        return true;
      }
    }
    scheduler s = {.plan = plan, .graph = graph, .period = period, .pass = 0, .two = plan->at_once == 2};
    plan->explain[0] = 0;
    if (s.two) {
      if (!make_pass(&s, fusion) || !period->passes[0].is) return false;
    } else {
      /* A period without products or reductions has one element-wise pass nevertheless. */
      bool complete = false;
      while (!complete) {
        const bool made = make_pass(&s, fusion);
        complete = next_product(&s).node == LACUNA_SIDA_NO_VALUE && !visit_pending(&s, incomplete, NULL);
        if (!made && !complete) return false;
        if (!made) break;
      }
      add_extra_passes(&s);
    }
    if (s.pass == 0) return false;
    period->pass_count = s.pass;
    if (!place_conditions(&s)) {
      append(plan, "the loop's condition is known only behind further element-wise operations\n");
      return false;
    }
    ++plan->period_count;
  }
}

static bool schedule_periods(lacuna_sida_plan* plan, lacuna_sida_graph* graph, lacuna_sida_fusion fusion) {
  beginning* used = malloc(SIDA_MOST_PERIODS * sizeof *used);
  const bool done = used != NULL && add_periods(plan, graph, fusion, used);
  free(used);
  return done;
}

/* What the results depend on. */
static void mark_live(lacuna_sida_plan* plan, int node) {
  if (node == LACUNA_SIDA_NO_VALUE || plan->live[node]) return;
  plan->live[node] = true;
  const sida_node* n = plan->graph->nodes + node;
  for (int i = 0; i < 3; ++i) mark_live(plan, n->operands[i]);
  mark_live(plan, n->matrix);
  mark_live(plan, n->next);
}

bool sida_schedule(lacuna_sida_plan* plan, lacuna_sida_graph* graph, lacuna_sida_fusion fusion, bool across) {
  plan->graph = graph;
  plan->periods = calloc(SIDA_MOST_PERIODS, sizeof *plan->periods);
  if (plan->periods == NULL) {
    sida_set_problem(graph, "out of memory");
    return false;
  }
  mark_live(plan, graph->condition);
  int products = 0;
  for (int node = 0; node < graph->count; ++node) {
    if (graph->nodes[node].kind == SIDA_STATE && graph->nodes[node].kept) mark_live(plan, node);
  }
  for (int node = 0; node < graph->count; ++node) products += plan->live[node] && graph->nodes[node].kind == SIDA_PRODUCT;
  if (products == 0) {
    sida_set_problem(graph, "no kept state depends on a product");
    return false;
  }
  bool done = false;
  if (across) {
    plan->at_once = 2;
    done = products == 1 && fusion == LACUNA_SIDA_FUSION_AUTO && schedule_periods(plan, graph, fusion);
  } else {
    plan->at_once = 1;
    done = schedule_periods(plan, graph, fusion);
  }
  if (!done) {
    sida_set_problem(graph, "an iteration that cannot be cut into passes");
    return false;
  }
  const sida_period* repeated = plan->periods + plan->loops_to;
  plan->products = plan->fused = 0;
  for (int p = 0; p < repeated->pass_count; ++p) {
    plan->products += repeated->passes[p].os + repeated->passes[p].is;
    if (repeated->passes[p].is) plan->fused += 2;
  }
  return true;
}

/* Selects the values that one pass computes, and the part of the pass that computes each. */
#include <stdio.h>
#include <string.h>

#include "schedule.h"

/* -------------------------------------------------------------------------------------------------- known values */

sida_status sida_status_of(sida_scheduler* s, sida_reference r) {
  if (sida_is_invariant(s->graph, r.node)) return SIDA_FIRST;
  if (r.iteration < SIDA_OLDEST) return SIDA_ABSENT;
  return sida_at(s->period, r.node, r.iteration)->status;
}

/* Whether a vector can be read in a slot of the current pass. */
static bool vector_ready(sida_scheduler* s, sida_reference r, sida_slot slot) {
  const sida_status status = sida_status_of(s, r);
  if (status != SIDA_DONE) return status == SIDA_FIRST || status == SIDA_CARRIED;
  const sida_instance* i = sida_at(s->period, r.node, r.iteration);
  return i->pass < s->pass || (i->pass == s->pass && i->place <= (int)slot);
}

/* Whether a scalar is known in a slot of the current pass: scalars reduced by load are known in ewise, all others after the
 * pass. */
static bool scalar_ready(sida_scheduler* s, sida_reference r, sida_slot slot) {
  const sida_status status = sida_status_of(s, r);
  if (status != SIDA_DONE) return status == SIDA_FIRST || status == SIDA_CARRIED;
  const sida_instance* i = sida_at(s->period, r.node, r.iteration);
  return i->pass < s->pass || (i->pass == s->pass && i->place == SIDA_AFTER_LOAD && slot != SIDA_BEFORE);
}

static sida_reference operand(sida_scheduler* s, sida_reference of, int number) {
  const int node = s->graph->nodes[of.node].operands[number];
  if (node == LACUNA_SIDA_NO_VALUE) return (sida_reference){LACUNA_SIDA_NO_VALUE, 0};
  return sida_resolve(s->graph, s->period, node, of.iteration);
}

/* Whether the value is a scalar operation, not a reduction, whose operands are known in the slot. */
static bool is_scalar_operation_ready(sida_scheduler* s, sida_reference r, sida_slot slot) {
  const sida_node* n = s->graph->nodes + r.node;
  if (!n->scalar || n->kind == SIDA_REDUCE) return false;
  for (int i = 0; i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && !scalar_ready(s, o, slot)) return false;
  }
  return true;
}

static bool is_element_wise(const sida_node* n) {
  return !n->scalar && (n->kind == SIDA_APPLY || n->kind == SIDA_CONVERT || n->kind == SIDA_INDEX || n->kind == SIDA_DENSE);
}

static void set_done(sida_scheduler* s, sida_reference r, int place) {
  sida_instance* i = sida_at(s->period, r.node, r.iteration);
  i->status = SIDA_DONE;
  i->pass = s->pass;
  i->place = place;
}

bool sida_visit_pending(sida_scheduler* s, sida_visitor f, void* data) {
  for (int iteration = SIDA_OLDEST; iteration < s->plan->iterations; ++iteration) {
    for (int node = 0; node < s->graph->count; ++node) {
      if (!s->plan->live[node] || sida_at(s->period, node, iteration)->status != SIDA_PENDING) continue;
      if (f(s, (sida_reference){node, iteration}, data)) return true;
    }
  }
  return false;
}

/* -------------------------------------------------------------------------------------------- reductions in load */

static uint64_t load_length(sida_scheduler* s) {
  const sida_pass* pass = s->period->passes + s->pass;
  return s->graph->nodes[s->graph->nodes[pass->first.node].operands[0]].length;
}

/* Whether load can compute the reduction, so that ewise can use the result. */
static bool can_load(sida_scheduler* s, sida_reference r) {
  if (scalar_ready(s, r, SIDA_EWISE)) return true;
  if (sida_status_of(s, r) != SIDA_PENDING) return false;
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

static void load_scalar(sida_scheduler* s, sida_reference r) {
  if (sida_status_of(s, r) != SIDA_PENDING) return;
  if (s->graph->nodes[r.node].kind != SIDA_REDUCE) {
    for (int i = 0; i < 3; ++i) {
      const sida_reference o = operand(s, r, i);
      if (o.node != LACUNA_SIDA_NO_VALUE) load_scalar(s, o);
    }
  }
  set_done(s, r, SIDA_AFTER_LOAD);
}

/* --------------------------------------------------------------------------------------- element-wise operations */

typedef struct closure {
  sida_slot slot;
  uint64_t length; /* length of the slot's vectors; irrelevant before the pass */
} closure;

/* Whether a slot runs in the iteration of a dense product, which uses the array of the iteration counted by the accelerator. */
static bool is_in_its_iteration(sida_scheduler* s, sida_reference r, sida_slot slot) {
  if (s->graph->nodes[r.node].kind != SIDA_DENSE) return true;
  return s->plan->iterations == 2 ? r.iteration == (slot == SIDA_FINISH ? 1 : 0) : r.iteration == 0;
}

static bool add_element_wise(sida_scheduler* s, sida_reference r, void* data) {
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

void sida_add_all_element_wise(sida_scheduler* s, sida_slot slot, uint64_t length) {
  closure c = {slot, length};
  sida_visit_pending(s, add_element_wise, &c);
}

/* Adds reductions of vectors that are available in ewise or finish, and scalar operations whose operands are known afterwards.
 * In a slot without a length, adds no reductions. */
static bool add_scalar(sida_scheduler* s, sida_reference r, void* data) {
  const closure* lengths = data; /* slots ewise and finish, in this order; null: no reductions */
  const sida_node* n = s->graph->nodes + r.node;
  if (!n->scalar) return false;
  const sida_pass* pass = s->period->passes + s->pass;
  int phase = pass->os ? SIDA_AFTER_LOAD : SIDA_AFTER_EWISE;
  if (n->kind == SIDA_REDUCE) {
    const sida_reference o = operand(s, r, 0);
    const uint64_t length = s->graph->nodes[n->operands[0]].length;
    if (lengths == NULL) return false;
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
      if (sida_status_of(s, o) != SIDA_DONE) return false;
      const int place = sida_at(s->period, o.node, o.iteration)->place;
      if (place > phase) phase = place;
    }
  }
  set_done(s, r, phase);
  return false;
}

/* Adds scalar operations whose operands are known before the pass, so that ewise and finish can use them. */
static bool add_known_scalar(sida_scheduler* s, sida_reference r, void* data) {
  (void)data;
  if (is_scalar_operation_ready(s, r, SIDA_EWISE)) set_done(s, r, SIDA_AFTER_LOAD);
  return false;
}

/* -------------------------------------------------------------------------------------------------------- fusion */

void sida_append(lacuna_sida_plan* plan, const char* text) {
  const size_t used = strlen(plan->explain);
  snprintf(plan->explain + used, sizeof plan->explain - used, "%s", text);
}

/* The operation that prevents a vector from being available in ewise: the first operation that the vector depends on and that
 * is not element-wise with known operands. */
static sida_reference blocking(sida_scheduler* s, sida_reference r) {
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

/* Whether `second` can be the second product of the current pass; otherwise writes the reason. `reason` has room for 2 *
 * SIDA_PROBLEM_BYTES bytes. */
static bool can_fuse(sida_scheduler* s, sida_reference second, lacuna_sida_fusion fusion, char* reason) {
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
    snprintf(reason, 2 * SIDA_PROBLEM_BYTES, "the next product's vector needs %.140s, which is known only after the pass",
             sida_describe(graph, r.node, name));
    return false;
  }
  return true;
}

static bool first_product(sida_scheduler* s, sida_reference r, void* data) {
  if (s->graph->nodes[r.node].kind != SIDA_PRODUCT) return false;
  *(sida_reference*)data = r;
  return true;
}

sida_reference sida_next_product(sida_scheduler* s) {
  sida_reference r = {LACUNA_SIDA_NO_VALUE, 0};
  sida_visit_pending(s, first_product, &r);
  return r;
}

static bool product_ready(sida_scheduler* s, sida_reference product) {
  for (int i = 0; i < 2; ++i) {
    const sida_reference o = operand(s, product, i);
    if (o.node != LACUNA_SIDA_NO_VALUE && !vector_ready(s, o, SIDA_BEFORE)) return false;
  }
  return true;
}

/* -------------------------------------------------------------------------------------------------------- passes */

const sida_pass sida_no_pass = {.first = {LACUNA_SIDA_NO_VALUE, 0},
                                .second = {LACUNA_SIDA_NO_VALUE, 0},
                                .load_condition = {LACUNA_SIDA_NO_VALUE, 0},
                                .ewise_condition = {LACUNA_SIDA_NO_VALUE, 0},
                                .finish_condition = {LACUNA_SIDA_NO_VALUE, 0}};

/* Whether the value is a reduction or scan whose operand is available. Writes the length of the element-wise pass that it needs
 * to `data`. */
static bool needs_pass(sida_scheduler* s, sida_reference r, void* data) {
  const sida_node* n = s->graph->nodes + r.node;
  if ((n->kind != SIDA_REDUCE && n->kind != SIDA_SCAN) || !vector_ready(s, operand(s, r, 0), SIDA_BEFORE)) return false;
  *(uint64_t*)data = s->graph->nodes[n->operands[0]].length;
  return true;
}

/* Whether the value is a scalar operation whose operands are known; it needs a pass without elements. */
static bool needs_scalar_pass(sida_scheduler* s, sida_reference r, void* data) {
  (void)data;
  return is_scalar_operation_ready(s, r, SIDA_BEFORE);
}

static bool add_scan(sida_scheduler* s, sida_reference r, void* data) {
  const sida_node* n = s->graph->nodes + r.node;
  if (n->kind == SIDA_SCAN && n->length == *(uint64_t*)data && vector_ready(s, operand(s, r, 0), SIDA_BEFORE)) {
    set_done(s, r, SIDA_EWISE);
  }
  return false;
}

sida_reference sida_condition_of(sida_scheduler* s, int iteration) {
  if (s->graph->condition == LACUNA_SIDA_NO_VALUE) return (sida_reference){LACUNA_SIDA_NO_VALUE, 0};
  return sida_resolve(s->graph, s->period, s->graph->condition, iteration);
}

static void note_product(sida_scheduler* s, sida_reference product, const char* text) {
  char name[SIDA_PROBLEM_BYTES], line[5 * SIDA_PROBLEM_BYTES];
  if (s->plan->iterations == 2) {
    snprintf(line, sizeof line, "%s of iteration %s: %s\n", sida_describe(s->graph, product.node, name),
             product.iteration == 0 ? "2 i" : "2 i + 1", text);
  } else {
    snprintf(line, sizeof line, "%s: %s\n", sida_describe(s->graph, product.node, name), text);
  }
  sida_append(s->plan, line);
}

bool sida_make_pass(sida_scheduler* s, lacuna_sida_fusion fusion) {
  if (s->pass == SIDA_MOST_PASSES) return false;
  sida_pass* pass = s->period->passes + s->pass;
  *pass = sida_no_pass;
  sida_add_all_element_wise(s, SIDA_BEFORE, 0);
  const sida_reference product = sida_next_product(s);
  if (product.node == LACUNA_SIDA_NO_VALUE || !product_ready(s, product)) {
    if (!sida_visit_pending(s, needs_pass, &pass->length) && !sida_visit_pending(s, needs_scalar_pass, NULL)) return false;
    sida_visit_pending(s, add_scan, &pass->length);
    sida_add_all_element_wise(s, SIDA_EWISE, pass->length);
    closure lengths[2] = {{SIDA_EWISE, pass->length}, {SIDA_FINISH, 0}};
    sida_visit_pending(s, add_scalar, lengths);
    ++s->pass;
    return true;
  }
  const sida_node* first = s->graph->nodes + product.node;
  pass->os = true;
  pass->first = product;
  set_done(s, product, SIDA_EWISE);
  sida_visit_pending(s, add_known_scalar, NULL);
  /* Load computes the reductions of the loop's condition, which is tested before the pass continues. */
  for (int iteration = SIDA_OLDEST; iteration < 0; ++iteration) {
    const sida_reference condition = sida_condition_of(s, iteration);
    if (condition.node != LACUNA_SIDA_NO_VALUE && sida_status_of(s, condition) == SIDA_PENDING && can_load(s, condition)) {
      load_scalar(s, condition);
    }
  }
  sida_add_all_element_wise(s, SIDA_EWISE, first->length);
  const sida_reference second = sida_next_product(s);
  char reason[2 * SIDA_PROBLEM_BYTES] = "";
  closure lengths[2] = {{SIDA_EWISE, first->length}, {SIDA_FINISH, 0}};
  if (second.node == LACUNA_SIDA_NO_VALUE) {
    note_product(s, product, "alone in its pass, the last product of an iteration");
  } else if (can_fuse(s, second, fusion, reason)) {
    pass->is = true;
    pass->second = second;
    set_done(s, second, SIDA_FINISH);
    lengths[1].length = s->graph->nodes[second.node].length;
    sida_add_all_element_wise(s, SIDA_FINISH, lengths[1].length);
    note_product(s, product, "first product of a pass");
    note_product(s, second, "fused with the product before it: one reading of the matrix for both");
  } else {
    char text[3 * SIDA_PROBLEM_BYTES];
    snprintf(text, sizeof text, "alone in its pass: %s", reason);
    note_product(s, product, text);
  }
  sida_visit_pending(s, add_scalar, lengths);
  ++s->pass;
  return true;
}

/* ------------------------------------------------------------------------------------- passes of one operation each */

/* Marks an index as computed: it is recomputed at each use and never stored, so it needs no pass. */
static bool add_index(sida_scheduler* s, sida_reference r, void* data) {
  (void)data;
  if (s->graph->nodes[r.node].kind == SIDA_INDEX) set_done(s, r, SIDA_BEFORE);
  return false;
}

/* Whether the value is a product, element-wise operation, scan or reduction whose operands are in memory. If so, writes it to
 * `data`. */
static bool single_operation(sida_scheduler* s, sida_reference r, void* data) {
  const sida_node* n = s->graph->nodes + r.node;
  if (n->scalar && n->kind != SIDA_REDUCE) return false;
  for (int i = 0; i < 3; ++i) {
    const sida_reference o = operand(s, r, i);
    if (o.node == LACUNA_SIDA_NO_VALUE) continue;
    const bool ready = s->graph->nodes[o.node].scalar ? scalar_ready(s, o, SIDA_BEFORE) : vector_ready(s, o, SIDA_BEFORE);
    if (!ready) return false;
  }
  *(sida_reference*)data = r;
  return true;
}

bool sida_make_single_pass(sida_scheduler* s) {
  if (s->pass == SIDA_MOST_PASSES) return false;
  sida_pass* pass = s->period->passes + s->pass;
  *pass = sida_no_pass;
  sida_visit_pending(s, add_index, NULL);
  sida_reference r = {LACUNA_SIDA_NO_VALUE, 0};
  if (sida_visit_pending(s, single_operation, &r)) {
    const sida_node* n = s->graph->nodes + r.node;
    if (n->kind == SIDA_PRODUCT) {
      pass->os = true;
      pass->first = r;
      note_product(s, r, "alone in its pass: fusion is switched off");
    } else {
      pass->length = n->kind == SIDA_REDUCE ? s->graph->nodes[n->operands[0]].length : n->length;
    }
    set_done(s, r, n->kind == SIDA_REDUCE ? (int)SIDA_AFTER_EWISE : (int)SIDA_EWISE);
  } else if (!sida_visit_pending(s, needs_scalar_pass, NULL)) {
    return false;
  }
  sida_visit_pending(s, add_scalar, NULL);
  ++s->pass;
  return true;
}

/* Assigns the values of an iteration to passes, pass by pass, for each period of the loop. */
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

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

static void begin_period(lacuna_sida_plan* plan, sida_period* period, sida_period* before) {
  const lacuna_sida_graph* graph = plan->graph;
  memset(period, 0, sizeof *period);
  for (int node = 0; node < graph->count; ++node) {
    for (int iteration = SIDA_OLDEST; iteration < plan->iterations; ++iteration) {
      sida_instance* i = sida_at(period, node, iteration);
      const bool state = graph->nodes[node].kind == SIDA_STATE;
      if (iteration >= 0) {
        if (!state) i->status = sida_is_invariant(graph, node) ? SIDA_FIRST : SIDA_PENDING;
        if (state && iteration == 0 && before == NULL) i->status = SIDA_FIRST;
      } else if (before != NULL && iteration + plan->iterations >= SIDA_OLDEST) {
        const sida_instance* old = sida_at(before, node, iteration + plan->iterations);
        i->status = old->status == SIDA_DONE ? SIDA_CARRIED : old->status == SIDA_CARRIED ? SIDA_ABSENT : old->status;
      }
    }
  }
}

/* Records the values of earlier periods that a period's pending instances read. */
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
  for (int iteration = SIDA_OLDEST; iteration < plan->iterations; ++iteration) {
    for (int node = 0; node < plan->graph->count; ++node) {
      if (plan->live[node] && sida_at(period, node, iteration)->status == SIDA_PENDING) {
        note_used(plan, period, node, iteration, seen, used);
      }
    }
  }
}

/* Whether a pending value is a scalar, a scan or a dense product. An iteration without such pending values is complete: its
 * other pending values are element-wise, and the next period computes them. */
static bool incomplete(sida_scheduler* s, sida_reference r, void* data) {
  (void)data;
  const sida_node* n = s->graph->nodes + r.node;
  return n->scalar || n->kind == SIDA_SCAN || n->kind == SIDA_DENSE;
}

static bool pending(sida_scheduler* s, sida_reference r, void* data) {
  (void)s, (void)r, (void)data;
  return true;
}

/* Adds the passes of a period in which no products of different iterations are fused. */
static bool add_passes(sida_scheduler* s, lacuna_sida_fusion fusion) {
  if (fusion == LACUNA_SIDA_FUSION_NONE) {
    while (sida_visit_pending(s, pending, NULL)) {
      if (!sida_make_single_pass(s)) return false;
    }
    return true;
  }
  /* A period without products and reductions still has one element-wise pass. */
  bool complete = false;
  while (!complete) {
    const bool made = sida_make_pass(s, fusion);
    complete = sida_next_product(s).node == LACUNA_SIDA_NO_VALUE && !sida_visit_pending(s, incomplete, NULL);
    if (!made) return complete;
  }
  return true;
}

static uint64_t ewise_length(sida_scheduler* s, int pass) {
  const sida_pass* p = s->period->passes + pass;
  return p->os ? s->graph->nodes[p->first.node].length : p->length;
}

/* Adds element-wise passes for vectors that must be stored and whose length differs from that of every other pass. */
static void add_extra_passes(sida_scheduler* s) {
  for (int e = 0; e < s->plan->extra_count && s->pass < SIDA_MOST_PASSES; ++e) {
    const uint64_t length = s->plan->extra[e];
    sida_pass* pass = s->period->passes + s->pass;
    *pass = sida_no_pass;
    pass->length = length;
    sida_add_all_element_wise(s, SIDA_BEFORE, 0);
    for (int node = 0; node < s->graph->count; ++node) {
      for (int iteration = SIDA_OLDEST; iteration < s->plan->iterations; ++iteration) {
        sida_instance* i = sida_at(s->period, node, iteration);
        const sida_node* n = s->graph->nodes + node;
        if (n->scalar || n->length != length || i->status != SIDA_DONE || i->place != SIDA_BEFORE) continue;
        if (ewise_length(s, i->pass) != length) i->pass = s->pass;
      }
    }
    ++s->pass;
  }
}

/* Phase of pass `pass` in which a scalar becomes known; -1: the pass does not compute the scalar. */
static int known_in(sida_scheduler* s, sida_reference r, int pass) {
  if (r.node == LACUNA_SIDA_NO_VALUE || sida_status_of(s, r) != SIDA_DONE) return -1;
  const sida_instance* i = sida_at(s->period, r.node, r.iteration);
  return i->pass == pass ? i->place : -1;
}

/* Chooses where iterations are counted and the loop's condition is tested. Returns false if the loop cannot be ended in time.
 */
static bool place_conditions(sida_scheduler* s) {
  sida_period* period = s->period;
  sida_pass* last = period->passes + period->pass_count - 1;
  if (s->plan->iterations == 2) {
    /* The period has one pass, whose two products belong to two iterations. */
    const sida_reference before = sida_condition_of(s, -1), first = sida_condition_of(s, 0), second = sida_condition_of(s, 1);
    last->counts_ewise = last->counts_finish = true;
    if (first.node == LACUNA_SIDA_NO_VALUE) return true;
    if (sida_status_of(s, before) == SIDA_PENDING) return false;
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
  const sida_reference condition = sida_condition_of(s, 0);
  if (condition.node == LACUNA_SIDA_NO_VALUE) return true;
  if (sida_status_of(s, condition) == SIDA_PENDING) return false;
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
    sida_scheduler s = {.plan = plan, .graph = graph, .period = period, .pass = 0};
    plan->explain[0] = 0;
    if (plan->iterations == 2) {
      if (!sida_make_pass(&s, fusion) || !period->passes[0].is) return false;
    } else {
      if (!add_passes(&s, fusion)) return false;
      add_extra_passes(&s);
    }
    if (s.pass == 0) return false;
    period->pass_count = s.pass;
    if (!place_conditions(&s)) {
      sida_append(plan, "the loop's condition is known only after further element-wise operations\n");
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

/* Marks the nodes on which the results depend. */
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
    plan->iterations = 2;
    done = products == 1 && fusion == LACUNA_SIDA_FUSION_AUTO && schedule_periods(plan, graph, fusion);
  } else {
    plan->iterations = 1;
    done = schedule_periods(plan, graph, fusion);
  }
  if (!done) {
    sida_set_problem(graph, "the iteration cannot be divided into passes");
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

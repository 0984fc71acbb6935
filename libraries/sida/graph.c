#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lacuna_sida_graph* lacuna_sida_create(void) {
  lacuna_sida_graph* graph = calloc(1, sizeof *graph);
  if (graph != NULL) {
    graph->condition = LACUNA_SIDA_NO_VALUE;
    graph->limit = 1;
  }
  return graph;
}

void lacuna_sida_destroy(lacuna_sida_graph* graph) { free(graph); }

const char* lacuna_sida_problem(const lacuna_sida_graph* graph) { return graph->problem[0] == 0 ? NULL : graph->problem; }

void sida_set_problem(lacuna_sida_graph* graph, const char* format, ...) {
  if (graph->problem[0] != 0) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(graph->problem, sizeof graph->problem, format, arguments);
  va_end(arguments);
}

const char* sida_describe(const lacuna_sida_graph* graph, int node, char* text) {
  const sida_node* n = graph->nodes + node;
  char inner[SIDA_PROBLEM_BYTES] = "";
  switch (n->kind) {
    case SIDA_PRODUCT:
      snprintf(text, SIDA_PROBLEM_BYTES, "the product with %s%s", n->transposed ? "the transpose of " : "",
               graph->nodes[n->matrix].name);
      break;
    case SIDA_REDUCE:
      snprintf(text, SIDA_PROBLEM_BYTES, "the reduction by %s of %.120s", lacuna_sida_monoid_name(n->operation),
               sida_describe(graph, n->operands[0], inner));
      break;
    case SIDA_SCAN:
      snprintf(text, SIDA_PROBLEM_BYTES, "a scan");
      break;
    case SIDA_APPLY:
      snprintf(text, SIDA_PROBLEM_BYTES, "the result of %s", lacuna_sida_operation_name(n->operation));
      break;
    case SIDA_CONVERT:
      snprintf(text, SIDA_PROBLEM_BYTES, "a conversion to %s", lacuna_sida_element_name(n->element));
      break;
    case SIDA_DENSE:
      snprintf(text, SIDA_PROBLEM_BYTES, "a dense product");
      break;
    case SIDA_CONSTANT:
      snprintf(text, SIDA_PROBLEM_BYTES, "a constant");
      break;
    case SIDA_INDEX:
      snprintf(text, SIDA_PROBLEM_BYTES, "the index");
      break;
    default:
      snprintf(text, SIDA_PROBLEM_BYTES, "%s", n->name);
  }
  return text;
}

/* Returns a new, cleared node; null if there is no room or the graph already has a problem. */
static sida_node* add(lacuna_sida_graph* graph, sida_kind kind, int element) {
  if (graph->problem[0] != 0) return NULL;
  if (graph->count == SIDA_MOST_NODES) {
    sida_set_problem(graph, "more than %d values in one iteration", SIDA_MOST_NODES);
    return NULL;
  }
  if (lacuna_sida_element_bytes(element) == 0) {
    sida_set_problem(graph, "element %d does not exist", element);
    return NULL;
  }
  sida_node* node = graph->nodes + graph->count;
  memset(node, 0, sizeof *node);
  node->kind = kind;
  node->element = element;
  node->width = 1;
  for (int i = 0; i < 3; ++i) node->operands[i] = LACUNA_SIDA_NO_VALUE;
  node->matrix = node->next = LACUNA_SIDA_NO_VALUE;
  return node;
}

/* Adds the node returned by add() to the graph. */
static lacuna_sida_value commit(lacuna_sida_graph* graph) { return graph->count++; }

static const sida_node* get(lacuna_sida_graph* graph, lacuna_sida_value value, const char* what) {
  if (value < 0 || value >= graph->count) {
    sida_set_problem(graph, "%s is not a value", what);
    return NULL;
  }
  return graph->nodes + value;
}

static const sida_node* get_vector(lacuna_sida_graph* graph, lacuna_sida_value value, const char* what) {
  const sida_node* node = get(graph, value, what);
  if (node != NULL && (node->scalar || node->kind == SIDA_MATRIX)) {
    sida_set_problem(graph, "%s is not a vector", what);
    return NULL;
  }
  return node;
}

lacuna_sida_value lacuna_sida_input_matrix(lacuna_sida_graph* graph, const char* name, uint32_t rows, uint32_t columns,
                                           int element, bool has_values) {
  if (graph->matrices == LACUNA_SIDA_MAX_MATRICES) {
    sida_set_problem(graph, "more than %u matrices", LACUNA_SIDA_MAX_MATRICES);
    return LACUNA_SIDA_NO_VALUE;
  }
  sida_node* node = add(graph, SIDA_MATRIX, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->name = name;
  node->rows = rows;
  node->columns = columns;
  node->has_values = has_values;
  node->number = graph->matrices++;
  return commit(graph);
}

static lacuna_sida_value stored_vector(lacuna_sida_graph* graph, sida_kind kind, const char* name, int element, uint64_t length,
                                       uint32_t width) {
  if (width == 0 || width > LACUNA_SIDA_MAX_WIDTH) {
    sida_set_problem(graph, "%s: %u features; 1 to %u are possible", name, width, LACUNA_SIDA_MAX_WIDTH);
    return LACUNA_SIDA_NO_VALUE;
  }
  sida_node* node = add(graph, kind, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->name = name;
  node->length = length;
  node->width = width;
  return commit(graph);
}

lacuna_sida_value lacuna_sida_input(lacuna_sida_graph* graph, const char* name, int element, uint64_t length, uint32_t width) {
  return stored_vector(graph, SIDA_INPUT, name, element, length, width);
}

lacuna_sida_value lacuna_sida_state(lacuna_sida_graph* graph, const char* name, int element, uint64_t length, uint32_t width) {
  return stored_vector(graph, SIDA_STATE, name, element, length, width);
}

static lacuna_sida_value constant(lacuna_sida_graph* graph, int element, const void* value, size_t bytes) {
  sida_node* node = add(graph, SIDA_CONSTANT, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->scalar = true;
  memcpy(&node->bits, value, bytes);
  return commit(graph);
}

lacuna_sida_value lacuna_sida_f64(lacuna_sida_graph* graph, double value) {
  return constant(graph, LACUNA_SIDA_F64, &value, sizeof value);
}

lacuna_sida_value lacuna_sida_f32(lacuna_sida_graph* graph, float value) {
  return constant(graph, LACUNA_SIDA_F32, &value, sizeof value);
}

lacuna_sida_value lacuna_sida_integer(lacuna_sida_graph* graph, int element, int64_t value) {
  if (element == LACUNA_SIDA_F64 || element == LACUNA_SIDA_F32) {
    sida_set_problem(graph, "an integer constant of a floating-point element type");
    return LACUNA_SIDA_NO_VALUE;
  }
  return constant(graph, element, &value, lacuna_sida_element_bytes(element));
}

lacuna_sida_value lacuna_sida_scalar_state(lacuna_sida_graph* graph, const char* name, lacuna_sida_value initial) {
  const sida_node* first = get(graph, initial, name);
  if (first != NULL && first->kind != SIDA_CONSTANT) sida_set_problem(graph, "%s: its initial value is not a constant", name);
  sida_node* node = first == NULL ? NULL : add(graph, SIDA_STATE, first->element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->name = name;
  node->scalar = true;
  node->operands[0] = initial;
  return commit(graph);
}

void lacuna_sida_next(lacuna_sida_graph* graph, lacuna_sida_value state, lacuna_sida_value value) {
  const sida_node *s = get(graph, state, "a state"), *v = get(graph, value, "the next value of a state");
  if (s == NULL || v == NULL) return;
  if (s->kind != SIDA_STATE) {
    sida_set_problem(graph, "only states have a next value");
  } else if (v->kind == SIDA_MATRIX || v->scalar != s->scalar || v->element != s->element || v->length != s->length ||
             v->width != s->width) {
    sida_set_problem(graph, "%s: its next value has a different kind, element type, length or width", s->name);
  } else if (v->kind == SIDA_STATE && value != state) {
    /* The next value is the value of another state before this iteration. */
    graph->nodes[state].next =
        lacuna_sida_apply(graph, LACUNA_SIDA_OPERATION_COPY, value, LACUNA_SIDA_NO_VALUE, LACUNA_SIDA_NO_VALUE);
  } else {
    graph->nodes[state].next = value;
  }
}

void lacuna_sida_keep(lacuna_sida_graph* graph, lacuna_sida_value state) {
  const sida_node* s = get(graph, state, "a state to be kept");
  if (s == NULL) return;
  if (s->kind != SIDA_STATE) sida_set_problem(graph, "only states can be kept");
  graph->nodes[state].kept = true;
}

void lacuna_sida_limit(lacuna_sida_graph* graph, uint64_t limit, lacuna_sida_value condition) {
  if (limit == 0) sida_set_problem(graph, "the limit of iterations is 0");
  if (condition != LACUNA_SIDA_NO_VALUE) {
    const sida_node* c = get(graph, condition, "the condition");
    if (c == NULL) return;
    if (!c->scalar) sida_set_problem(graph, "the condition is not a scalar");
  }
  graph->limit = limit;
  graph->condition = condition;
}

lacuna_sida_value lacuna_sida_product(lacuna_sida_graph* graph, int semiring, lacuna_sida_value x, lacuna_sida_value matrix,
                                      bool transposed, lacuna_sida_value present) {
  const sida_node *v = get_vector(graph, x, "the vector of a product"), *m = get(graph, matrix, "the matrix of a product");
  if (v == NULL || m == NULL) return LACUNA_SIDA_NO_VALUE;
  if (m->kind != SIDA_MATRIX) {
    sida_set_problem(graph, "a product with a value that is not a matrix");
    return LACUNA_SIDA_NO_VALUE;
  }
  if (v->length != (transposed ? m->columns : m->rows)) {
    sida_set_problem(graph, "a vector of %llu elements times %s%s of %u rows and %u columns", (unsigned long long)v->length,
                     transposed ? "the transpose of " : "", m->name, m->rows, m->columns);
    return LACUNA_SIDA_NO_VALUE;
  }
  if (m->has_values && m->element != v->element) {
    sida_set_problem(graph, "a vector of %s times %s of %s", lacuna_sida_element_name(v->element), m->name,
                     lacuna_sida_element_name(m->element));
    return LACUNA_SIDA_NO_VALUE;
  }
  if (!lacuna_sida_semiring_takes((unsigned)semiring, (unsigned)v->element)) {
    sida_set_problem(graph, "semiring %d is not defined for %s", semiring, lacuna_sida_element_name(v->element));
  }
  if (present != LACUNA_SIDA_NO_VALUE) {
    const sida_node* p = get_vector(graph, present, "the vector of present elements");
    if (p != NULL && (p->element != LACUNA_SIDA_BOOL || p->width != 1 || p->length != v->length)) {
      sida_set_problem(graph, "the vector of present elements is not a BOOL vector of x's length");
    }
  }
  const uint32_t width = v->width;
  const int element = (int)lacuna_sida_sum_element(v->element);
  sida_node* node = add(graph, SIDA_PRODUCT, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->operation = semiring;
  node->operands[0] = x;
  node->operands[1] = present;
  node->matrix = matrix;
  node->transposed = transposed;
  node->length = transposed ? m->rows : m->columns;
  node->width = width;
  return commit(graph);
}

lacuna_sida_value lacuna_sida_apply(lacuna_sida_graph* graph, int operation, lacuna_sida_value a, lacuna_sida_value b,
                                    lacuna_sida_value c) {
  if (operation < 0 || operation > LACUNA_SIDA_OPERATION_SHIFT_RIGHT) {
    sida_set_problem(graph, "operation %d is not element-wise", operation);
    return LACUNA_SIDA_NO_VALUE;
  }
  const lacuna_sida_value values[3] = {a, b, c};
  int element = -1;
  bool scalar = true;
  uint64_t length = 0;
  uint32_t width = 1;
  for (int i = 0; i < (int)lacuna_sida_operands(operation); ++i) {
    const sida_node* v = get(graph, values[i], lacuna_sida_operation_name(operation));
    if (v == NULL) return LACUNA_SIDA_NO_VALUE;
    if (v->kind == SIDA_MATRIX || (element >= 0 && v->element != element)) {
      sida_set_problem(graph, "%s of operands that are not vectors or scalars of the same element type",
                       lacuna_sida_operation_name(operation));
      return LACUNA_SIDA_NO_VALUE;
    }
    element = v->element;
    if (v->scalar) continue;
    if (!scalar && (v->length != length || (v->width != width && v->width != 1 && width != 1))) {
      sida_set_problem(graph, "%s of vectors of different shapes", lacuna_sida_operation_name(operation));
      return LACUNA_SIDA_NO_VALUE;
    }
    scalar = false;
    length = v->length;
    if (v->width > width) width = v->width;
  }
  sida_node* node = add(graph, SIDA_APPLY, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->operation = operation;
  for (int i = 0; i < (int)lacuna_sida_operands(operation); ++i) node->operands[i] = values[i];
  node->scalar = scalar;
  node->length = length;
  node->width = width;
  return commit(graph);
}

lacuna_sida_value lacuna_sida_convert(lacuna_sida_graph* graph, int element, lacuna_sida_value a) {
  const sida_node* v = get(graph, a, "the operand of a conversion");
  if (v == NULL) return LACUNA_SIDA_NO_VALUE;
  const sida_node from = *v;
  if (from.kind == SIDA_MATRIX) sida_set_problem(graph, "a matrix is not converted");
  sida_node* node = add(graph, SIDA_CONVERT, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->operands[0] = a;
  node->operation = from.element;
  node->scalar = from.scalar;
  node->length = from.length;
  node->width = from.width;
  return commit(graph);
}

lacuna_sida_value lacuna_sida_mask(lacuna_sida_graph* graph, lacuna_sida_value value, lacuna_sida_value mask, bool complement,
                                   lacuna_sida_value otherwise) {
  const sida_node *v = get(graph, value, "a masked value"), *m = get_vector(graph, mask, "a mask");
  if (v == NULL || m == NULL) return LACUNA_SIDA_NO_VALUE;
  if (m->element != LACUNA_SIDA_BOOL) {
    sida_set_problem(graph, "a mask is a vector of BOOL, not of %s", lacuna_sida_element_name(m->element));
    return LACUNA_SIDA_NO_VALUE;
  }
  const lacuna_sida_value condition = v->element == LACUNA_SIDA_BOOL ? mask : lacuna_sida_convert(graph, v->element, mask);
  if (complement) return lacuna_sida_apply(graph, LACUNA_SIDA_OPERATION_SELECT, otherwise, value, condition);
  return lacuna_sida_apply(graph, LACUNA_SIDA_OPERATION_SELECT, value, otherwise, condition);
}

lacuna_sida_value lacuna_sida_accumulate(lacuna_sida_graph* graph, int monoid, lacuna_sida_value before,
                                         lacuna_sida_value value) {
  static const int operations[LACUNA_SIDA_MONOID_COUNT] = {[LACUNA_SIDA_MONOID_ADD] = LACUNA_SIDA_OPERATION_ADD,
                                                           [LACUNA_SIDA_MONOID_MIN] = LACUNA_SIDA_OPERATION_MINIMUM,
                                                           [LACUNA_SIDA_MONOID_MAX] = LACUNA_SIDA_OPERATION_MAXIMUM,
                                                           [LACUNA_SIDA_MONOID_OR] = LACUNA_SIDA_OPERATION_OR,
                                                           [LACUNA_SIDA_MONOID_AND] = LACUNA_SIDA_OPERATION_AND};
  const sida_node* v = get(graph, value, "an accumulated value");
  if (v == NULL) return LACUNA_SIDA_NO_VALUE;
  if (!lacuna_sida_monoid_takes((unsigned)monoid, (unsigned)v->element)) {
    sida_set_problem(graph, "monoid %d is not defined for %s", monoid, lacuna_sida_element_name(v->element));
    return LACUNA_SIDA_NO_VALUE;
  }
  return lacuna_sida_apply(graph, operations[monoid], before, value, LACUNA_SIDA_NO_VALUE);
}

lacuna_sida_value lacuna_sida_index(lacuna_sida_graph* graph, int element, uint64_t length) {
  if (element != LACUNA_SIDA_I64 && element != LACUNA_SIDA_I32) sida_set_problem(graph, "an index is I64 or I32");
  sida_node* node = add(graph, SIDA_INDEX, element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->length = length;
  return commit(graph);
}

static lacuna_sida_value combination(lacuna_sida_graph* graph, sida_kind kind, int monoid, lacuna_sida_value a,
                                     const char* what) {
  const sida_node* v = get_vector(graph, a, what);
  if (v == NULL) return LACUNA_SIDA_NO_VALUE;
  const sida_node from = *v;
  if (!lacuna_sida_monoid_takes((unsigned)monoid, (unsigned)from.element)) {
    sida_set_problem(graph, "monoid %d is not defined for %s", monoid, lacuna_sida_element_name(from.element));
  }
  if (kind == SIDA_SCAN && from.width != 1) sida_set_problem(graph, "a scan of a vector with features");
  sida_node* node = add(graph, kind, from.element);
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->operation = monoid;
  node->operands[0] = a;
  node->scalar = kind == SIDA_REDUCE;
  node->length = kind == SIDA_REDUCE ? 0 : from.length;
  return commit(graph);
}

lacuna_sida_value lacuna_sida_reduce(lacuna_sida_graph* graph, int monoid, lacuna_sida_value a) {
  return combination(graph, SIDA_REDUCE, monoid, a, "the operand of a reduction");
}

lacuna_sida_value lacuna_sida_scan(lacuna_sida_graph* graph, int monoid, lacuna_sida_value a) {
  return combination(graph, SIDA_SCAN, monoid, a, "the operand of a scan");
}

lacuna_sida_value lacuna_sida_dense(lacuna_sida_graph* graph, lacuna_sida_value a, lacuna_sida_value array) {
  const sida_node *v = get_vector(graph, a, "the operand of a dense product"), *w = get_vector(graph, array, "a dense array");
  if (v == NULL || w == NULL) return LACUNA_SIDA_NO_VALUE;
  const sida_node from = *v, by = *w;
  if (by.kind != SIDA_INPUT || by.element != from.element || by.length == 0 || by.length % from.width != 0 ||
      (from.element != LACUNA_SIDA_I8 && from.element != LACUNA_SIDA_F32 && from.element != LACUNA_SIDA_F64)) {
    sida_set_problem(graph, "a dense array is an input of the vector's element, F64, F32 or I8, with a multiple of %u rows",
                     from.width);
  }
  sida_node* node = add(graph, SIDA_DENSE, (int)lacuna_sida_sum_element(from.element));
  if (node == NULL) return LACUNA_SIDA_NO_VALUE;
  node->operands[0] = a;
  node->operands[1] = array;
  node->operation = from.element;
  node->length = from.length;
  node->width = by.width;
  return commit(graph);
}

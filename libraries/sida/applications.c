#include "include/lacuna/sida_applications.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"

typedef lacuna_sida_graph graph;
typedef lacuna_sida_value value;
typedef lacuna_sida_setup setup;

enum { NO = LACUNA_SIDA_NO_VALUE, F64 = LACUNA_SIDA_F64, I32 = LACUNA_SIDA_I32, BOOL = LACUNA_SIDA_BOOL, I8 = LACUNA_SIDA_I8 };

/* ------------------------------------------------------------------------------------------------------------- abbreviations
 */

#define BINARY(name, operation) \
  static value name(graph* g, value a, value b) { return lacuna_sida_apply(g, LACUNA_SIDA_OPERATION_##operation, a, b, NO); }
BINARY(add, ADD)
BINARY(subtract, SUBTRACT)
BINARY(multiply, MULTIPLY)
BINARY(divide, DIVIDE)
BINARY(minimum, MINIMUM)
BINARY(maximum, MAXIMUM)
BINARY(both, AND)
BINARY(either, OR)
BINARY(less, LESS)
BINARY(at_most, LESS_OR_EQUAL)
BINARY(equal, EQUAL)
BINARY(shift_right, SHIFT_RIGHT)
static value negation(graph* g, value a) { return lacuna_sida_apply(g, LACUNA_SIDA_OPERATION_NOT, a, NO, NO); }
static value absolute(graph* g, value a) { return lacuna_sida_apply(g, LACUNA_SIDA_OPERATION_ABSOLUTE, a, NO, NO); }
static value root(graph* g, value a) { return lacuna_sida_apply(g, LACUNA_SIDA_OPERATION_SQUARE_ROOT, a, NO, NO); }
static value choose(graph* g, value condition, value then, value otherwise) {
  return lacuna_sida_apply(g, LACUNA_SIDA_OPERATION_SELECT, then, otherwise, condition);
}
static value sum(graph* g, value a) { return lacuna_sida_reduce(g, LACUNA_SIDA_MONOID_ADD, a); }
static value any(graph* g, value a) { return lacuna_sida_reduce(g, LACUNA_SIDA_MONOID_OR, a); }
static value dot(graph* g, value a, value b) { return sum(g, multiply(g, a, b)); }
static value number(graph* g, double a) { return lacuna_sida_f64(g, a); }
/* Returns a b + c d. Operands are created in separate statements: C does not define the evaluation order of a call's arguments,
 * so the generated program could otherwise depend on the compiler. */
static value sum_of_two(graph* g, value a, value b, value c, value d) {
  const value first = multiply(g, a, b);
  return add(g, first, multiply(g, c, d));
}
static value vxm(graph* g, int semiring, value x, value a) { return lacuna_sida_product(g, semiring, x, a, false, NO); }
/* Returns a / b, or 0 where b is 0, which occurs in an iteration without remaining work. */
static value quotient(graph* g, value a, value b) {
  const value zero = number(g, 0);
  const value is_zero = equal(g, b, zero);
  return choose(g, is_zero, zero, divide(g, a, b));
}

static value matrix(graph* g, const setup* s, int element, bool has_values) {
  return lacuna_sida_input_matrix(g, "a", s->rows, s->columns, element, has_values);
}
static value vector(graph* g, const char* name, int element, uint64_t length) {
  return lacuna_sida_input(g, name, element, length, 1);
}
static value state(graph* g, const char* name, int element, uint64_t length) {
  const value s = lacuna_sida_state(g, name, element, length, 1);
  lacuna_sida_keep(g, s);
  return s;
}
static void limit(graph* g, const setup* s, const char* name, value condition) {
  lacuna_sida_limit(g, s->limit != 0 ? s->limit : lacuna_sida_application_named(name)->limit, condition);
}

/* ------------------------------------------------------------------------------------------------------------- contents */

static void fill_f64(double* out, uint64_t count, double with) {
  for (uint64_t i = 0; i < count; ++i) out[i] = with;
}

/* Writes the number of entries of each row to `out`. */
static void count_rows(const setup* s, double* out) {
  fill_f64(out, s->rows, 0);
  for (uint64_t e = 0; e < s->column_offsets[s->columns]; ++e) out[s->row_indices[e]] += 1;
}

static double entry(const setup* s, uint64_t e) { return s->values != NULL ? s->values[e] : 1; }

/* Returns a number larger than the sum of magnitudes in any row or column: adding it to the diagonal makes the matrix
 * diagonally dominant. Returns 0 if memory is exhausted. */
double lacuna_sida_solver_shift(const setup* s) {
  double* rows = calloc(s->rows + 1u, sizeof *rows);
  double most = 0;
  if (rows == NULL) return 0;
  for (uint32_t c = 0; c < s->columns; ++c) {
    double column = 0;
    for (uint64_t e = s->column_offsets[c]; e < s->column_offsets[c + 1]; ++e) {
      const double magnitude = entry(s, e) < 0 ? -entry(s, e) : entry(s, e);
      column += magnitude;
      rows[s->row_indices[e]] += magnitude;
    }
    if (column > most) most = column;
  }
  for (uint32_t r = 0; r < s->rows; ++r) {
    if (rows[r] > most) most = rows[r];
  }
  free(rows);
  return most + 1;
}

static bool is(const char* a, const char* b) { return strcmp(a, b) == 0; }

/* ------------------------------------------------------------------------------------------------------------------ PageRank
 */

static graph* build_pr(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, F64, true), row_sum = vector(g, "row_sum", F64, n), pr = state(g, "pr", F64, n),
              zero = number(g, 0);
  /* Vertices without entries in their row distribute their rank to all vertices. */
  const value dangling = sum(g, choose(g, equal(g, row_sum, zero), pr, zero));
  const value damping = number(g, LACUNA_SIDA_RANK_DAMPING), rest = number(g, 1 - LACUNA_SIDA_RANK_DAMPING),
              vertices = number(g, (double)n);
  const value given = divide(g, add(g, multiply(g, damping, dangling), rest), vertices);
  const value next = add(g, vxm(g, LACUNA_SIDA_MUL_ADD, multiply(g, pr, row_sum), a), given);
  const value residual = sum(g, absolute(g, subtract(g, next, pr)));
  lacuna_sida_next(g, pr, next);
  limit(g, s, "pr", less(g, number(g, s->tolerance != 0 ? s->tolerance : LACUNA_SIDA_RANK_TOLERANCE), residual));
  return g;
}

static void fill_pr(const setup* s, const char* name, void* contents) {
  double* out = contents;
  if (is(name, "pr")) {
    fill_f64(out, s->rows, 1.0 / s->rows);
    return;
  }
  count_rows(s, out);
  for (uint32_t r = 0; r < s->rows; ++r) out[r] = out[r] == 0 ? 0 : LACUNA_SIDA_RANK_DAMPING / out[r];
}

/* -------------------------------------------------------------------------------------------------------------------- k-core
 */

static graph* build_kcore(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, I32, true), one = lacuna_sida_integer(g, I32, 1), zero = lacuna_sida_integer(g, I32, 0);
  const value degree = state(g, "degree", I32, n), left = state(g, "left", I32, n), core = state(g, "core", I32, n);
  const value peeled = state(g, "peeled", I32, n), k = lacuna_sida_scalar_state(g, "k", zero);
  const value any_peeled = lacuna_sida_scalar_state(g, "any_peeled", one);
  const value next_k = choose(g, any_peeled, k, add(g, k, one));
  const value next_degree = subtract(g, degree, vxm(g, LACUNA_SIDA_MUL_ADD, peeled, a));
  const value peel = both(g, left, at_most(g, next_degree, next_k)), next_left = both(g, left, negation(g, peel));
  lacuna_sida_next(g, degree, next_degree);
  lacuna_sida_next(g, peeled, peel);
  lacuna_sida_next(g, left, next_left);
  lacuna_sida_next(g, core, choose(g, peel, next_k, core));
  lacuna_sida_next(g, k, next_k);
  lacuna_sida_next(g, any_peeled, any(g, peel));
  limit(g, s, "kcore", any(g, next_left));
  return g;
}

static void fill_kcore(const setup* s, const char* name, void* contents) {
  int32_t* out = contents;
  for (uint32_t c = 0; c < s->columns; ++c) {
    const uint64_t degree = s->column_offsets[c + 1] - s->column_offsets[c];
    out[c] = is(name, "degree") ? (int32_t)degree : is(name, "left") ? 1 : 0;
  }
}

/* -------------------------------------------------------------------------------------------------- breadth-first search, hops
 */

static graph* build_bfs(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, BOOL, true), frontier = state(g, "frontier", BOOL, n), visited = state(g, "visited", BOOL, n);
  const value depth = state(g, "depth", I32, n), one = lacuna_sida_integer(g, I32, 1),
              level = lacuna_sida_scalar_state(g, "level", one);
  const value neighbours = vxm(g, LACUNA_SIDA_AND_OR, frontier, a), reached = both(g, neighbours, negation(g, visited));
  lacuna_sida_next(g, frontier, reached);
  lacuna_sida_next(g, visited, either(g, visited, reached));
  lacuna_sida_next(g, depth, lacuna_sida_mask(g, level, reached, false, depth));
  lacuna_sida_next(g, level, add(g, level, one));
  limit(g, s, "bfs", any(g, reached));
  return g;
}

static void fill_bfs(const setup* s, const char* name, void* contents) {
  if (is(name, "depth")) {
    int32_t* out = contents;
    for (uint32_t i = 0; i < s->rows; ++i) out[i] = i == s->source ? 0 : -1;
  } else {
    uint8_t* out = contents;
    for (uint32_t i = 0; i < s->rows; ++i) out[i] = i == s->source;
  }
}

static graph* build_knn(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const value a = matrix(g, s, BOOL, true), neighbours = state(g, "neighbours", BOOL, s->rows);
  lacuna_sida_next(g, neighbours, vxm(g, LACUNA_SIDA_AND_OR, neighbours, a));
  limit(g, s, "knn", NO);
  return g;
}

/* ------------------------------------------------------------------------------------------------------------ shortest paths
 */

static graph* build_sssp(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const value a = matrix(g, s, F64, true), distance = state(g, "distance", F64, s->rows);
  const value next = lacuna_sida_accumulate(g, LACUNA_SIDA_MONOID_MIN, distance, vxm(g, LACUNA_SIDA_MIN_ADD, distance, a));
  lacuna_sida_next(g, distance, next);
  limit(g, s, "sssp", any(g, less(g, next, distance)));
  return g;
}

static void fill_sssp(const setup* s, const char* name, void* contents) {
  (void)name;
  fill_f64(contents, s->rows, 1.0 / 0.0);
  ((double*)contents)[s->source] = 0;
}

/* ------------------------------------------------------------------------------------------------------------ k-means++ start
 */

static graph* build_kpp(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  enum { I64 = LACUNA_SIDA_I64 };
  const value a = matrix(g, s, F64, true), nearest = state(g, "nearest", F64, n), index = lacuna_sida_index(g, I64, n);
  const value centre = lacuna_sida_scalar_state(g, "centre", lacuna_sida_integer(g, I64, s->source));
  const value seed = lacuna_sida_scalar_state(g, "seed", lacuna_sida_integer(g, I64, 88172645463325252));
  lacuna_sida_keep(g, centre);
  /* The row of the centre, and the distances of all rows to the centre. */
  const value chosen = lacuna_sida_convert(g, F64, equal(g, index, centre));
  const value point = vxm(g, LACUNA_SIDA_ARIL_ADD, chosen, a);
  const value next = minimum(g, nearest, lacuna_sida_product(g, LACUNA_SIDA_PLUS_NORM, point, a, true, NO));
  /* Chooses the next centre: a row, with a probability proportional to its distance. */
  const value factor = lacuna_sida_integer(g, I64, 6364136223846793005),
              step = lacuna_sida_integer(g, I64, 1442695040888963407);
  const value next_seed = add(g, multiply(g, seed, factor), step);
  const value bits = shift_right(g, next_seed, lacuna_sida_integer(g, I64, 11));
  const value unit = number(g, 1.0 / 4503599627370496.0);
  const value share = multiply(g, absolute(g, lacuna_sida_convert(g, F64, bits)), unit);
  const value up_to = lacuna_sida_scan(g, LACUNA_SIDA_MONOID_ADD, next);
  const value is_behind = less(g, multiply(g, share, sum(g, next)), up_to);
  const value last = lacuna_sida_integer(g, I64, (int64_t)n - 1);
  const value candidates = choose(g, lacuna_sida_convert(g, I64, is_behind), index, last);
  lacuna_sida_next(g, nearest, next);
  lacuna_sida_next(g, seed, next_seed);
  lacuna_sida_next(g, centre, lacuna_sida_reduce(g, LACUNA_SIDA_MONOID_MIN, candidates));
  limit(g, s, "kpp", NO);
  return g;
}

static void fill_kpp(const setup* s, const char* name, void* contents) {
  (void)name;
  fill_f64(contents, s->rows, 1.0 / 0.0);
}

/* --------------------------------------------------------------------------------------------------------- label propagation
 */

static graph* build_label(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, F64, true), share = vector(g, "share", F64, n), known = vector(g, "known", F64, n);
  const value given = vector(g, "given", F64, n), label = state(g, "label", F64, n);
  /* The new label is the sign of the mean of the neighbours' labels; given labels are kept. 0: no label. */
  const value mean = multiply(g, vxm(g, LACUNA_SIDA_MUL_ADD, label, a), share), zero = number(g, 0);
  const value above = less(g, zero, mean), sign = subtract(g, above, less(g, mean, zero));
  const value next = choose(g, known, given, sign);
  lacuna_sida_next(g, label, next);
  limit(g, s, "label", any(g, negation(g, equal(g, next, label))));
  return g;
}

/* One vertex of 16 has a given label, chosen by a multiplicative hash of its number. */
static void fill_label(const setup* s, const char* name, void* contents) {
  double* out = contents;
  for (uint32_t c = 0; c < s->columns; ++c) {
    const uint32_t hash = (c + 1) * 2654435761u;
    const bool known = hash >> 28 == 0, one = (hash >> 27 & 1) != 0;
    const uint64_t degree = s->column_offsets[c + 1] - s->column_offsets[c];
    if (is(name, "share"))
      out[c] = degree == 0 ? 0 : 1.0 / (double)degree;
    else
      out[c] = !known ? 0 : is(name, "known") || one ? 1 : -1;
  }
}

/* --------------------------------------------------------------------------------------------------- graph convolution network
 */

enum { GCN_LAYERS = 2, GCN_SHIFT = 4 };
uint32_t lacuna_sida_features(const setup* s) { return s->features != 0 ? s->features : 16; }

static graph* build_gcn(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint32_t d = lacuna_sida_features(s);
  const value a = matrix(g, s, I8, true), h = lacuna_sida_state(g, "features", I8, s->rows, d);
  lacuna_sida_keep(g, h);
  const value weights = lacuna_sida_input(g, "weights", I8, (uint64_t)GCN_LAYERS * d, d);
  const value shift = lacuna_sida_integer(g, I32, GCN_SHIFT), zero = lacuna_sida_integer(g, I32, 0);
  const value gathered = lacuna_sida_convert(g, I8, shift_right(g, vxm(g, LACUNA_SIDA_MUL_ADD, h, a), shift));
  const value mixed = shift_right(g, lacuna_sida_dense(g, gathered, weights), shift);
  lacuna_sida_next(g, h, lacuna_sida_convert(g, I8, maximum(g, mixed, zero)));
  limit(g, s, "gcn", NO);
  return g;
}

static void fill_gcn(const setup* s, const char* name, void* contents) {
  int8_t* out = contents;
  const uint64_t d = lacuna_sida_features(s), count = is(name, "weights") ? GCN_LAYERS * d * d : s->rows * d;
  for (uint64_t i = 0; i < count; ++i) out[i] = (int8_t)((uint32_t)(i * 2654435761u) >> 28);
  if (is(name, "weights")) {
    for (uint64_t i = 0; i < count; ++i) out[i] = (int8_t)(out[i] - 8);
  }
}

/* -------------------------------------------------------------------------------------------------------------------- solvers
 */

/* Returns (A + shift I) x; the shift makes A diagonally dominant. A times a column vector is a row vector times the transpose
 * of A. */
static value times(graph* g, value a, value shift, value x) {
  const value product = lacuna_sida_product(g, LACUNA_SIDA_MUL_ADD, x, a, true, NO);
  return add(g, product, multiply(g, shift, x));
}

static void fill_solver(const setup* s, const char* name, void* contents) {
  double* out = contents;
  /* x starts at 0, so the residual is the right-hand side. */
  for (uint32_t i = 0; i < s->rows; ++i) out[i] = is(name, "x") || is(name, "p0") || is(name, "v0") ? 0 : 1 + (double)(i % 7);
}

double lacuna_sida_solver_limit(const setup* s) {
  /* Limit of the residual's squared norm: the squared tolerance times the squared norm of the right-hand side. */
  double norm = 0;
  for (uint32_t i = 0; i < s->rows; ++i) norm += (1 + (double)(i % 7)) * (1 + (double)(i % 7));
  const double relative = s->tolerance != 0 ? s->tolerance : 1e-8;
  return relative * relative * norm;
}

static graph* build_cg(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, F64, true), shift = number(g, lacuna_sida_solver_shift(s));
  const value x = state(g, "x", F64, n), r = lacuna_sida_state(g, "r", F64, n, 1), p = lacuna_sida_state(g, "p", F64, n, 1);
  const value rr = dot(g, r, r), ap = times(g, a, shift, p);
  const value alpha = quotient(g, rr, dot(g, p, ap));
  const value next_r = subtract(g, r, multiply(g, alpha, ap)), next_rr = dot(g, next_r, next_r);
  lacuna_sida_next(g, x, add(g, x, multiply(g, alpha, p)));
  lacuna_sida_next(g, r, next_r);
  lacuna_sida_next(g, p, add(g, next_r, multiply(g, quotient(g, next_rr, rr), p)));
  limit(g, s, "cg", less(g, number(g, lacuna_sida_solver_limit(s)), next_rr));
  return g;
}

static graph* build_bgs(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, F64, true), shift = number(g, lacuna_sida_solver_shift(s)), one = number(g, 1),
              first = vector(g, "first", F64, n);
  const value x = state(g, "x", F64, n), r = lacuna_sida_state(g, "r", F64, n, 1), p = lacuna_sida_state(g, "p0", F64, n, 1);
  const value v = lacuna_sida_state(g, "v0", F64, n, 1), rho = lacuna_sida_scalar_state(g, "rho", one);
  const value alpha = lacuna_sida_scalar_state(g, "alpha", one), omega = lacuna_sida_scalar_state(g, "omega", one);
  const value next_rho = dot(g, first, r);
  const value growth = quotient(g, next_rho, rho), beta = multiply(g, growth, quotient(g, alpha, omega));
  const value next_p = add(g, r, multiply(g, beta, subtract(g, p, multiply(g, omega, v))));
  const value next_v = times(g, a, shift, next_p), next_alpha = quotient(g, next_rho, dot(g, first, next_v));
  const value half = subtract(g, r, multiply(g, next_alpha, next_v)), t = times(g, a, shift, half);
  const value along = dot(g, t, half), next_omega = quotient(g, along, dot(g, t, t)),
              next_r = subtract(g, half, multiply(g, next_omega, t));
  lacuna_sida_next(g, x, add(g, x, sum_of_two(g, next_alpha, next_p, next_omega, half)));
  lacuna_sida_next(g, r, next_r);
  lacuna_sida_next(g, p, next_p);
  lacuna_sida_next(g, v, next_v);
  lacuna_sida_next(g, rho, next_rho);
  lacuna_sida_next(g, alpha, next_alpha);
  lacuna_sida_next(g, omega, next_omega);
  const value rr = dot(g, next_r, next_r);
  limit(g, s, "bgs", less(g, number(g, lacuna_sida_solver_limit(s)), rr));
  return g;
}

enum { GMRES_RESTART = 4 };

/* GMRES restarted after four steps, which form one iteration: Gram-Schmidt, then rotations of the Hessenberg matrix. */
static graph* build_gmres(const setup* s) {
  graph* g = lacuna_sida_create();
  if (g == NULL) return NULL;
  const uint64_t n = s->rows;
  const value a = matrix(g, s, F64, true), shift = number(g, lacuna_sida_solver_shift(s)), right = vector(g, "right", F64, n),
              x = state(g, "x", F64, n);
  const value residual = subtract(g, right, times(g, a, shift, x)), norm = root(g, dot(g, residual, residual));
  value basis[GMRES_RESTART + 1], h[GMRES_RESTART + 1][GMRES_RESTART], cosine[GMRES_RESTART], sine[GMRES_RESTART];
  value side[GMRES_RESTART + 1], y[GMRES_RESTART];
  basis[0] = multiply(g, residual, quotient(g, number(g, 1), norm));
  side[0] = norm;
  for (int j = 0; j < GMRES_RESTART; ++j) {
    value w = times(g, a, shift, basis[j]);
    for (int i = 0; i <= j; ++i) h[i][j] = dot(g, w, basis[i]);
    for (int i = 0; i <= j; ++i) w = subtract(g, w, multiply(g, h[i][j], basis[i]));
    h[j + 1][j] = root(g, dot(g, w, w));
    basis[j + 1] = multiply(g, w, quotient(g, number(g, 1), h[j + 1][j]));
    for (int i = 0; i < j; ++i) {
      const value upper = sum_of_two(g, cosine[i], h[i][j], sine[i], h[i + 1][j]), lower = multiply(g, cosine[i], h[i + 1][j]);
      h[i + 1][j] = subtract(g, lower, multiply(g, sine[i], h[i][j]));
      h[i][j] = upper;
    }
    const value length = root(g, sum_of_two(g, h[j][j], h[j][j], h[j + 1][j], h[j + 1][j]));
    cosine[j] = quotient(g, h[j][j], length);
    sine[j] = quotient(g, h[j + 1][j], length);
    h[j][j] = length;
    const value turned = multiply(g, sine[j], side[j]);
    side[j + 1] = subtract(g, number(g, 0), turned);
    side[j] = multiply(g, cosine[j], side[j]);
  }
  value next = x;
  for (int j = GMRES_RESTART - 1; j >= 0; --j) {
    value rest = side[j];
    for (int i = j + 1; i < GMRES_RESTART; ++i) rest = subtract(g, rest, multiply(g, h[j][i], y[i]));
    y[j] = quotient(g, rest, h[j][j]);
  }
  for (int j = 0; j < GMRES_RESTART; ++j) next = add(g, next, multiply(g, y[j], basis[j]));
  lacuna_sida_next(g, x, next);
  const value rr = multiply(g, side[GMRES_RESTART], side[GMRES_RESTART]);
  limit(g, s, "gmres", less(g, number(g, lacuna_sida_solver_limit(s)), rr));
  return g;
}

/* --------------------------------------------------------------------------------------------------------------------- table
 */

static const lacuna_sida_application kApplications[] = {
    {"pr", "PageRank, damping 0.85, rank of vertices without edges spread over all", "limit, tolerance", F64, false, true, 100,
     build_pr, fill_pr, "pr"},
    {"kcore", "core number of each vertex, by peeling vertices of at most k neighbours", "limit", I32, false, true, 100000,
     build_kcore, fill_kcore, "core"},
    {"bfs", "depth of each vertex from the source by breadth-first search, -1: not reached", "limit, source", BOOL, false, true,
     100000, build_bfs, fill_bfs, "depth"},
    {"sssp", "distance of each vertex from the source (Bellman-Ford)", "limit, source", F64, true, true, 100000, build_sssp,
     fill_sssp, "distance"},
    {"kpp", "start of k-means++: centres among the rows; distances over the entries that there are", "limit, source", F64, true,
     false, 8, build_kpp, fill_kpp, "nearest"},
    {"knn", "vertices within exactly k hops of the source", "limit, source", BOOL, false, true, 4, build_knn, fill_bfs,
     "neighbours"},
    {"label", "label propagation: two labels, one vertex of 16 has a given one", "limit", F64, false, true, 100, build_label,
     fill_label, "label"},
    {"gcn", "graph convolution network: integers of 8 bits, two layers, dense product and ReLU", "limit, features", I8, false,
     true, 2, build_gcn, fill_gcn, "features"},
    {"gmres", "solution of (A + shift) x = b by GMRES with a restart after 4 steps", "limit, tolerance", F64, true, true, 100,
     build_gmres, fill_solver, "x"},
    {"cg", "solution of (A + shift) x = b by conjugate gradients, A symmetric", "limit, tolerance", F64, true, true, 1000,
     build_cg, fill_solver, "x"},
    {"bgs", "solution of (A + shift) x = b by the stabilised biconjugate gradient method", "limit, tolerance", F64, true, true,
     1000, build_bgs, fill_solver, "x"},
    {NULL, NULL, NULL, 0, false, false, 0, NULL, NULL, NULL},
};

const lacuna_sida_application* lacuna_sida_applications(void) { return kApplications; }

const lacuna_sida_application* lacuna_sida_application_named(const char* name) {
  for (const lacuna_sida_application* a = kApplications; a->name != NULL; ++a) {
    if (is(a->name, name)) return a;
  }
  return NULL;
}

/* Compiles the programs of the sparse dataflow accelerator and prints a checksum of each. The build machine compiles and runs
 * the same source: both must generate the same programs, byte for byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/lacuna/sida_applications.h"

enum { VERTICES = 64, NEIGHBOURS = 4, MOST_VECTORS = LACUNA_SIDA_MAX_VECTORS };

static uint64_t offsets[VERTICES + 1];
static uint32_t rows[VERTICES * NEIGHBOURS];
static double values[VERTICES * NEIGHBOURS];
static uint64_t addresses[MOST_VECTORS];

/* Generates a symmetric matrix: a ring in which each vertex is also connected to the vertices two steps away. */
static void make_matrix(void) {
  static const int steps[NEIGHBOURS] = {-2, -1, 1, 2};
  for (int c = 0; c < VERTICES; ++c) {
    offsets[c] = (uint64_t)c * NEIGHBOURS;
    uint32_t* column = rows + c * NEIGHBOURS;
    for (int i = 0; i < NEIGHBOURS; ++i) {
      const uint32_t row = (uint32_t)((c + steps[i] + VERTICES) % VERTICES);
      int place = i;
      while (place > 0 && column[place - 1] > row) column[place] = column[place - 1], --place;
      column[place] = row;
    }
    for (int i = 0; i < NEIGHBOURS; ++i) values[c * NEIGHBOURS + i] = 0.5;
  }
  offsets[VERTICES] = VERTICES * NEIGHBOURS;
}

/* FNV-1a. */
static uint64_t checksum(const unsigned char* bytes, uint64_t count) {
  uint64_t hash = 14695981039346656037u;
  for (uint64_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

int main(void) {
  make_matrix();
  const lacuna_sida_setup setup = {
      .rows = VERTICES, .columns = VERTICES, .column_offsets = offsets, .row_indices = rows, .values = values};
  for (unsigned v = 0; v < MOST_VECTORS; ++v) addresses[v] = 4096u * (v + 1);
  for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name != NULL; ++a) {
    lacuna_sida_graph* graph = a->build(&setup);
    lacuna_sida_plan* plan = graph == NULL ? NULL : lacuna_sida_compile(graph, LACUNA_SIDA_FUSION_AUTO);
    if (plan == NULL) {
      printf("%s: %s\n", a->name, graph == NULL ? "no memory" : lacuna_sida_problem(graph));
      return 1;
    }
    const struct lacuna_sida_matrix matrix = {.rows = VERTICES, .columns = VERTICES, .entries = VERTICES * NEIGHBOURS};
    const uint64_t bytes = lacuna_sida_program_bytes(plan);
    unsigned char* program = malloc(bytes);
    if (program == NULL) return 1;
    lacuna_sida_write(plan, &matrix, addresses, program);
    printf("%s: %llu bytes, %016llx, %u of %u products fused\n", a->name, (unsigned long long)bytes,
           (unsigned long long)checksum(program, bytes), lacuna_sida_fused_products(plan), lacuna_sida_products(plan));
    free(program);
    lacuna_sida_plan_destroy(plan);
    lacuna_sida_destroy(graph);
  }
  return 0;
}

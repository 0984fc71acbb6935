/* The graph of the PageRank examples on the sparse dataflow accelerator: firmware/apps/sida_pagerank.c and
 * tests/rocm/programs/sida_job.cpp. Valid C and C++. Edges to vertices of low numbers are frequent, and no edge occurs
 * twice. */
#ifndef FIRMWARE_APPS_PAGERANK_GRAPH_H
#define FIRMWARE_APPS_PAGERANK_GRAPH_H

#include <stdint.h>

#include "random_numbers.h"

enum { PAGERANK_VERTICES = 512, PAGERANK_MOST_EDGES = 4096, PAGERANK_ITERATIONS = 8 };

/* An edge goes from the row to the column. */
typedef struct pagerank_graph {
  uint32_t edges;
  uint64_t column_offsets[PAGERANK_VERTICES + 1], row_offsets[PAGERANK_VERTICES + 1];
  uint32_t rows[PAGERANK_MOST_EDGES];    /* column by column, ascending in each */
  uint32_t columns[PAGERANK_MOST_EDGES]; /* row by row, ascending in each */
  uint8_t is_edge[PAGERANK_VERTICES][PAGERANK_VERTICES];
} pagerank_graph;

/* Generates the graph. `graph` must be zero-initialised. */
static inline void make_pagerank_graph(pagerank_graph* graph) {
  uint64_t random = 2026;
  for (int i = 0; i < PAGERANK_MOST_EDGES; ++i) {
    const uint64_t bits = app_random(&random);
    const uint32_t from = (uint32_t)(bits % PAGERANK_VERTICES), place = (uint32_t)(bits >> 32) % PAGERANK_VERTICES;
    graph->is_edge[from][place * place / PAGERANK_VERTICES] = 1;
  }
  uint32_t by_columns = 0, by_rows = 0;
  for (uint32_t i = 0; i < PAGERANK_VERTICES; ++i) {
    graph->column_offsets[i] = by_columns;
    graph->row_offsets[i] = by_rows;
    for (uint32_t j = 0; j < PAGERANK_VERTICES; ++j) {
      if (graph->is_edge[j][i]) graph->rows[by_columns++] = j;
      if (graph->is_edge[i][j]) graph->columns[by_rows++] = j;
    }
  }
  graph->column_offsets[PAGERANK_VERTICES] = graph->row_offsets[PAGERANK_VERTICES] = graph->edges = by_columns;
}

/* Computes the ranks after some iterations, edge by edge. `scale`: damping / number of edges of each row, 0 for rows without
 * edges; `next`: buffer for ranks. */
static inline void pagerank_by_hand(const pagerank_graph* graph, unsigned iterations, const double* scale, double* next,
                                    double* ranks) {
  for (unsigned i = 0; i < iterations; ++i) {
    double dangling = 0;
    for (int v = 0; v < PAGERANK_VERTICES; ++v) dangling += scale[v] == 0 ? ranks[v] : 0;
    for (int c = 0; c < PAGERANK_VERTICES; ++c) {
      next[c] = (0.85 * dangling + 0.15) / (double)PAGERANK_VERTICES;
      for (uint64_t e = graph->column_offsets[c]; e < graph->column_offsets[c + 1]; ++e)
        next[c] += ranks[graph->rows[e]] * scale[graph->rows[e]];
    }
    for (int c = 0; c < PAGERANK_VERTICES; ++c) ranks[c] = next[c];
  }
}

#endif

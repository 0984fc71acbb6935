/* PageRank on the sparse dataflow accelerator: one packet for the whole loop, completion by interrupt. The ranks are compared
 * with those that the hart computes. */
#include <math.h>
#include <string.h>

#include "app.h"
#include "include/lacuna/sida_applications.h"
#include "pagerank_graph.h"

enum { VERTICES = PAGERANK_VERTICES, MOST_VECTORS = LACUNA_SIDA_MAX_VECTORS };

static pagerank_graph graph_of_links;

/* Copies an array into GPU memory; returns its address. */
static uint64_t put(lacuna_device* device, const void* array, uint64_t bytes) {
  const lacuna_memory memory = app_allocate(device, bytes);
  CHECK(lacuna_copy_to_device(device, memory.gpu_address, array, bytes));
  return memory.gpu_address;
}

/* Copies offsets into GPU memory as 4-byte words, which the accelerator requires for fewer than 2^32 entries. */
static uint64_t put_offsets(lacuna_device* device, const uint64_t* offsets) {
  static uint32_t narrow[VERTICES + 1];
  for (int i = 0; i <= VERTICES; ++i) narrow[i] = (uint32_t)offsets[i];
  return put(device, narrow, sizeof narrow);
}

int main(void) {
  lacuna_device* device = app_open_device();
  lacuna_accelerator_state state;
  lacuna_accelerator_get_state(device, &state);
  if (state.pes == 0) {
    printf("the device has no sparse dataflow accelerator: set sida.present\n");
    return 2;
  }
  printf("accelerator: %u processing elements a core, %u KiB buffer\n", (unsigned)state.pes,
         (unsigned)(state.buffer_bytes / 1024));
  make_pagerank_graph(&graph_of_links);
  const uint32_t edges = graph_of_links.edges;
  const lacuna_sida_setup setup = {.rows = VERTICES,
                                   .columns = VERTICES,
                                   .column_offsets = graph_of_links.column_offsets,
                                   .row_indices = graph_of_links.rows,
                                   .limit = PAGERANK_ITERATIONS};
  const lacuna_sida_application* pr = lacuna_sida_application_named("pr");
  lacuna_sida_graph* graph = pr->build(&setup);
  EXPECT(graph != NULL);
  lacuna_sida_plan* plan = lacuna_sida_compile(graph, LACUNA_SIDA_FUSION_AUTO);
  EXPECT(plan != NULL);
  printf("%u of %u products share a reading of the matrix\n", lacuna_sida_fused_products(plan), lacuna_sida_products(plan));

  static double ones[PAGERANK_MOST_EDGES], contents[VERTICES];
  for (int i = 0; i < PAGERANK_MOST_EDGES; ++i) ones[i] = 1;
  const struct lacuna_sida_matrix matrix = {
      .rows = VERTICES,
      .columns = VERTICES,
      .entries = edges,
      .layout = LACUNA_SIDA_DUAL,
      .element = LACUNA_SIDA_F64,
      .offset_bytes = 4,
      .has_values = 1,
      .by_columns = {put_offsets(device, graph_of_links.column_offsets), put(device, graph_of_links.rows, edges * 4ull),
                     put(device, ones, edges * 8ull)},
      .by_rows = {put_offsets(device, graph_of_links.row_offsets), put(device, graph_of_links.columns, edges * 4ull),
                  put(device, ones, edges * 8ull)}};
  static uint64_t addresses[MOST_VECTORS];
  lacuna_sida_value ranks = LACUNA_SIDA_NO_VALUE;
  for (unsigned v = 0; v < lacuna_sida_vectors(plan); ++v) {
    const lacuna_sida_storage storage = lacuna_sida_storage_of(plan, v);
    EXPECT(storage.bytes <= sizeof contents);
    memset(contents, 0, sizeof contents);
    if (storage.value != LACUNA_SIDA_NO_VALUE) pr->fill(&setup, storage.name, contents);
    if (storage.value != LACUNA_SIDA_NO_VALUE && strcmp(storage.name, pr->result) == 0) ranks = storage.value;
    addresses[v] = put(device, contents, storage.bytes);
  }
  const uint64_t bytes = lacuna_sida_program_bytes(plan);
  void* program = malloc(bytes);
  EXPECT(program != NULL);
  lacuna_sida_write(plan, &matrix, addresses, program);
  const uint64_t address = put(device, program, bytes);

  lacuna_queue* queue = NULL;
  CHECK(lacuna_queue_create(device, NULL, &queue));
  lacuna_signal* done = app_signal(device, 1);
  CHECK(lacuna_dispatch_sida(queue, address, done, NULL));
  CHECK(lacuna_signal_wait_zero(done));
  const uint64_t nanoseconds = lacuna_signal_duration(done);

  CHECK(lacuna_copy_from_device(device, program, address, bytes));
  struct lacuna_sida_program header;
  memcpy(&header, program, sizeof header);
  CHECK(lacuna_copy_from_device(device, contents, lacuna_sida_result(plan, program, ranks), sizeof contents));
  static double expected[VERTICES], scale[VERTICES], next[VERTICES];
  pr->fill(&setup, "pr", expected);
  pr->fill(&setup, "row_sum", scale);
  pagerank_by_hand(&graph_of_links, PAGERANK_ITERATIONS, scale, next, expected);
  double sum = 0, largest = 0;
  for (int v = 0; v < VERTICES; ++v) {
    sum += contents[v];
    largest = fmax(largest, fabs(contents[v] - expected[v]));
  }
  printf("%u edges, %u iterations in %u ns\n", (unsigned)edges, (unsigned)header.iterations, (unsigned)nanoseconds);
  EXPECT(header.iterations == PAGERANK_ITERATIONS && header.error == LACUNA_SIDA_ERROR_NONE);
  EXPECT(fabs(sum - 1) < 1e-12 && largest < 1e-15);
  printf("ranks: correct\n");

  /* An invalid program stops only its own queue. */
  lacuna_queue* other = NULL;
  CHECK(lacuna_queue_create(device, NULL, &other));
  lacuna_signal* never = app_signal(device, 1);
  CHECK(lacuna_dispatch_sida(other, addresses[0], never, NULL));
  EXPECT_ERROR(lacuna_signal_wait_zero(never), LACUNA_ERROR_QUEUE_FAILED);
  lacuna_accelerator_get_state(device, &state);
  EXPECT(!state.busy && state.error == LACUNA_SIDA_ERROR_MAGIC && state.error_address == addresses[0] && state.jobs == 2);
  lacuna_signal_store(done, 1);
  CHECK(lacuna_dispatch_sida(queue, address, done, NULL));
  CHECK(lacuna_signal_wait_zero(done));
  printf("a program that is none: %s\n", "its queue has failed, the next job has run");
  lacuna_device_close(device);
  return 0;
}

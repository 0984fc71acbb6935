// Submits a job of the sparse dataflow accelerator to a queue of the HSA runtime, between two kernels: PageRank on the graph of
// firmware/apps/pagerank_graph.h. The first kernel computes the coordinates of the matrix, and the last one overwrites them: if
// packets were executed in any other order, the test would fail. Arguments: code object of firmware/kernels/test_kernels.cl; a
// file for the graph; `alone`: no kernels, also of the runtime, so the job finds caches and TLBs empty.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "firmware/apps/pagerank_graph.h"
#include "include/lacuna/sida_applications.h"
#include "tests/rocm/programs/sida_packets.h"

using namespace sida_test;

namespace {

std::uint64_t put_offsets(const std::uint64_t* offsets) {
  const std::vector<std::uint32_t> narrow(offsets, offsets + PAGERANK_VERTICES + 1);
  return put(narrow.data(), narrow.size() * sizeof narrow[0]);
}

void write_matrix_market(const pagerank_graph& graph, const char* path) {
  std::FILE* const file = std::fopen(path, "w");
  EXPECT(file != nullptr);
  std::fprintf(file, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %u\n", PAGERANK_VERTICES, PAGERANK_VERTICES,
               graph.edges);
  for (int c = 0; c < PAGERANK_VERTICES; ++c) {
    for (std::uint64_t e = graph.column_offsets[c]; e < graph.column_offsets[c + 1]; ++e)
      std::fprintf(file, "%u %d\n", graph.rows[e] + 1, c + 1);
  }
  EXPECT(std::fclose(file) == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const bool alone = argc == 4 && std::string(argv[3]) == "alone";
  EXPECT(argc == 3 || alone);
  host_writes = alone;
  const auto graph = std::make_unique<pagerank_graph>();
  make_pagerank_graph(graph.get());
  write_matrix_market(*graph, argv[2]);
  REQUIRE(hsa_init());
  REQUIRE(hsa_iterate_agents(take_agent, nullptr));

  const hsa_executable_t executable = loaded(argv[1]);

  lacuna_sida_setup setup{};
  setup.rows = setup.columns = PAGERANK_VERTICES;
  setup.column_offsets = graph->column_offsets;
  setup.row_indices = graph->rows;
  setup.limit = PAGERANK_ITERATIONS;
  const lacuna_sida_application* const pr = lacuna_sida_application_named("pr");
  lacuna_sida_graph* const dataflow = pr->build(&setup);
  lacuna_sida_plan* const plan = lacuna_sida_compile(dataflow, LACUNA_SIDA_FUSION_AUTO);
  EXPECT(plan != nullptr);

  const std::uint32_t shift = alone ? 0 : 7;  // amount that the first kernel subtracts
  std::vector<std::uint32_t> shifted(graph->rows, graph->rows + graph->edges);
  for (std::uint32_t& row : shifted) row += shift;
  const std::vector<double> ones(graph->edges, 1);
  const std::size_t words = graph->edges * sizeof(std::uint32_t), values = graph->edges * sizeof(double);
  lacuna_sida_matrix matrix{};
  matrix.rows = matrix.columns = PAGERANK_VERTICES;
  matrix.entries = graph->edges;
  matrix.layout = LACUNA_SIDA_DUAL;
  matrix.element = LACUNA_SIDA_F64;
  matrix.offset_bytes = sizeof(std::uint32_t);
  matrix.has_values = 1;
  matrix.by_columns = {put_offsets(graph->column_offsets), put(shifted.data(), words), put(ones.data(), values)};
  matrix.by_rows = {put_offsets(graph->row_offsets), put(graph->columns, words), put(ones.data(), values)};
  std::vector<std::uint64_t> addresses;
  lacuna_sida_value ranks = LACUNA_SIDA_NO_VALUE;
  for (unsigned v = 0; v < lacuna_sida_vectors(plan); ++v) {
    const lacuna_sida_storage storage = lacuna_sida_storage_of(plan, v);
    std::vector<char> contents(storage.bytes);
    if (storage.value != LACUNA_SIDA_NO_VALUE) {
      pr->fill(&setup, storage.name, contents.data());
      if (std::string(storage.name) == pr->result) ranks = storage.value;
    }
    addresses.push_back(put(contents.data(), contents.size()));
  }
  std::vector<char> program(lacuna_sida_program_bytes(plan));
  lacuna_sida_write(plan, &matrix, addresses.data(), program.data());
  const std::uint64_t at = put(program.data(), program.size());

  hsa_queue_t* queue = nullptr;
  hsa_signal_t done;
  REQUIRE(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
  REQUIRE(hsa_signal_create(1, 0, nullptr, &done));
  if (!alone)
    submit(queue, affine(executable, matrix.by_columns.coordinates, graph->edges, -shift), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  lacuna_sida_packet job{};
  job.format = LACUNA_SIDA_PACKET_FORMAT;
  job.program = at;
  if (alone) job.completion_signal = done.handle;
  submit(queue, job, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  const std::uint32_t spoils = alone ? 0 : 1U << 20;  // amount that the last kernel adds
  if (!alone) {
    hsa_kernel_dispatch_packet_t last = affine(executable, matrix.by_columns.coordinates, graph->edges, spoils);
    last.completion_signal = done;
    submit(queue, last, HSA_PACKET_TYPE_KERNEL_DISPATCH);
  }
  EXPECT(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0);

  REQUIRE(hsa_memory_copy(program.data(), reinterpret_cast<const void*>(at), program.size()));
  lacuna_sida_program header;
  std::memcpy(&header, program.data(), sizeof header);
  EXPECT(header.iterations == PAGERANK_ITERATIONS && header.error == LACUNA_SIDA_ERROR_NONE);
  std::vector<double> got(PAGERANK_VERTICES), expected(PAGERANK_VERTICES), scale(PAGERANK_VERTICES), next(PAGERANK_VERTICES);
  REQUIRE(hsa_memory_copy(got.data(), reinterpret_cast<const void*>(lacuna_sida_result(plan, program.data(), ranks)),
                          got.size() * sizeof got[0]));
  pr->fill(&setup, "pr", expected.data());
  pr->fill(&setup, "row_sum", scale.data());
  pagerank_by_hand(graph.get(), PAGERANK_ITERATIONS, scale.data(), next.data(), expected.data());
  for (int v = 0; v < PAGERANK_VERTICES; ++v) EXPECT(std::fabs(got[v] - expected[v]) < 1e-15);
  std::vector<std::uint32_t> spoiled(graph->edges);
  REQUIRE(hsa_memory_copy(spoiled.data(), reinterpret_cast<const void*>(matrix.by_columns.coordinates), words));
  for (std::uint32_t e = 0; e < graph->edges; ++e) EXPECT(spoiled[e] == graph->rows[e] + spoils);
  REQUIRE(hsa_queue_destroy(queue));
  REQUIRE(hsa_shut_down());
  std::printf("ranks: correct\n");
  return 0;
}

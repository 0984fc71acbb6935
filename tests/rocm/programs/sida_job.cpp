// Submits a job of the sparse dataflow accelerator to a queue of the HSA runtime, between two kernels: PageRank on the graph of
// firmware/apps/pagerank_graph.h. The first kernel computes the coordinates of the matrix, and the last one overwrites them: if
// packets were executed in any other order, the test would fail. Arguments: code object of firmware/kernels/test_kernels.cl; a
// file for the graph.
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "firmware/apps/pagerank_graph.h"
#include "include/lacuna/sida_applications.h"

namespace {

void require(bool condition, const char* what, int line) {
  if (condition) return;
  std::fprintf(stderr, "sida_job.cpp:%d: %s\n", line, what);
  std::exit(1);
}
#define EXPECT(condition) require((condition), #condition, __LINE__)
#define REQUIRE(call) require((call) == HSA_STATUS_SUCCESS, #call, __LINE__)

hsa_agent_t gpu;
hsa_amd_memory_pool_t device_pool, argument_pool;

hsa_status_t take_agent(hsa_agent_t agent, void*) {
  hsa_device_type_t type;
  REQUIRE(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  const auto take_pool = [](hsa_amd_memory_pool_t pool, void* of_gpu) {
    hsa_amd_segment_t segment;
    REQUIRE(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    std::uint32_t flags = 0;
    REQUIRE(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (of_gpu != nullptr) {
      device_pool = pool;
    } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0) {
      argument_pool = pool;
    }
    return HSA_STATUS_SUCCESS;
  };
  const bool is_gpu = type == HSA_DEVICE_TYPE_GPU;
  if (is_gpu) gpu = agent;
  return hsa_amd_agent_iterate_memory_pools(agent, take_pool, is_gpu ? &gpu : nullptr);
}

void* allocate(hsa_amd_memory_pool_t pool, std::size_t bytes) {
  void* memory = nullptr;
  REQUIRE(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
  REQUIRE(hsa_amd_agents_allow_access(1, &gpu, nullptr, memory));
  return memory;
}

std::uint64_t put(const void* array, std::size_t bytes) {
  void* const memory = allocate(device_pool, bytes);
  REQUIRE(hsa_memory_copy(memory, array, bytes));
  return reinterpret_cast<std::uint64_t>(memory);
}

std::uint64_t put_offsets(const std::uint64_t* offsets) {
  const std::vector<std::uint32_t> narrow(offsets, offsets + PAGERANK_VERTICES + 1);
  return put(narrow.data(), narrow.size() * sizeof narrow[0]);
}

/// Writes the packet, its header last, and rings the doorbell. Each packet waits for the previous one.
template <typename Packet>
void submit(hsa_queue_t* queue, const Packet& packet, hsa_packet_type_t type) {
  static_assert(sizeof packet == 64);
  const std::uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
  auto* const slot = static_cast<char*>(queue->base_address) + index % queue->size * sizeof packet;
  std::memcpy(slot + 4, reinterpret_cast<const char*>(&packet) + 4, sizeof packet - 4);
  std::uint32_t first;
  std::memcpy(&first, &packet, sizeof first);
  const auto header = static_cast<std::uint16_t>(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), (first & 0xffff0000u) | header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

struct AffineArguments {
  std::uint64_t data;
  std::uint32_t factor, addend;
  std::uint64_t hidden[8];
};

/// A dispatch of kernel affine, data[i] = data[i] * factor + addend, on `count` words.
hsa_kernel_dispatch_packet_t affine(hsa_executable_t executable, std::uint64_t data, std::uint32_t count,
                                    std::uint32_t addend) {
  hsa_executable_symbol_t symbol;
  REQUIRE(hsa_executable_get_symbol_by_name(executable, "affine.kd", &gpu, &symbol));
  hsa_kernel_dispatch_packet_t packet{};
  REQUIRE(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object));
  packet.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  packet.workgroup_size_x = 64;
  packet.workgroup_size_y = packet.workgroup_size_z = packet.grid_size_y = packet.grid_size_z = 1;
  packet.grid_size_x = count;
  auto* const arguments = static_cast<AffineArguments*>(allocate(argument_pool, sizeof(AffineArguments)));
  *arguments = {data, 1, addend, {}};
  packet.kernarg_address = arguments;
  return packet;
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
  EXPECT(argc == 3);
  const auto graph = std::make_unique<pagerank_graph>();
  make_pagerank_graph(graph.get());
  write_matrix_market(*graph, argv[2]);
  REQUIRE(hsa_init());
  REQUIRE(hsa_iterate_agents(take_agent, nullptr));

  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  const int file = open(argv[1], O_RDONLY | O_CLOEXEC);
  EXPECT(file >= 0);
  REQUIRE(hsa_code_object_reader_create_from_file(file, &reader));
  REQUIRE(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  REQUIRE(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  REQUIRE(hsa_executable_freeze(executable, nullptr));

  lacuna_sida_setup setup{};
  setup.rows = setup.columns = PAGERANK_VERTICES;
  setup.column_offsets = graph->column_offsets;
  setup.row_indices = graph->rows;
  setup.limit = PAGERANK_ITERATIONS;
  const lacuna_sida_application* const pr = lacuna_sida_application_named("pr");
  lacuna_sida_graph* const dataflow = pr->build(&setup);
  lacuna_sida_plan* const plan = lacuna_sida_compile(dataflow, LACUNA_SIDA_FUSION_AUTO);
  EXPECT(plan != nullptr);

  constexpr std::uint32_t kShift = 7;  // amount that the first kernel subtracts
  std::vector<std::uint32_t> shifted(graph->rows, graph->rows + graph->edges);
  for (std::uint32_t& row : shifted) row += kShift;
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
  submit(queue, affine(executable, matrix.by_columns.coordinates, graph->edges, -kShift), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  lacuna_sida_packet job{};
  job.format = LACUNA_SIDA_PACKET_FORMAT;
  job.program = at;
  submit(queue, job, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  hsa_kernel_dispatch_packet_t last = affine(executable, matrix.by_columns.coordinates, graph->edges, 1U << 20);
  last.completion_signal = done;
  submit(queue, last, HSA_PACKET_TYPE_KERNEL_DISPATCH);
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
  for (std::uint32_t e = 0; e < graph->edges; ++e) EXPECT(spoiled[e] == graph->rows[e] + (1U << 20));
  REQUIRE(hsa_queue_destroy(queue));
  REQUIRE(hsa_shut_down());
  std::printf("ranks: correct\n");
  return 0;
}

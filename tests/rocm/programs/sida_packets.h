// Memory, queues and packets of the HSA runtime, for programs that submit jobs of the sparse dataflow accelerator beside
// kernels.
#pragma once

#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sida_test {

inline void require(bool condition, const char* what, const char* file, int line) {
  if (condition) return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
  std::exit(1);
}
#define EXPECT(condition) require((condition), #condition, __FILE__, __LINE__)
#define REQUIRE(call) require((call) == HSA_STATUS_SUCCESS, #call, __FILE__, __LINE__)

inline hsa_agent_t gpu;
inline hsa_amd_memory_pool_t device_pool, argument_pool;

inline hsa_status_t take_agent(hsa_agent_t agent, void*) {
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

inline void* allocate(hsa_amd_memory_pool_t pool, std::size_t bytes) {
  void* memory = nullptr;
  REQUIRE(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
  REQUIRE(hsa_amd_agents_allow_access(1, &gpu, nullptr, memory));
  return memory;
}

/// Whether the host writes to GPU memory itself, through its aperture; otherwise the runtime copies, with kernels of its own.
inline bool host_writes = false;

inline std::uint64_t put(const void* array, std::size_t bytes) {
  void* const memory = allocate(device_pool, bytes);
  if (host_writes) {
    std::memcpy(memory, array, bytes);
  } else {
    REQUIRE(hsa_memory_copy(memory, array, bytes));
  }
  return reinterpret_cast<std::uint64_t>(memory);
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

/// Loads a code object.
inline hsa_executable_t loaded(const char* name) {
  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  EXPECT(file >= 0);
  REQUIRE(hsa_code_object_reader_create_from_file(file, &reader));
  REQUIRE(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  REQUIRE(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  REQUIRE(hsa_executable_freeze(executable, nullptr));
  return executable;
}

struct AffineArguments {
  std::uint64_t data;
  std::uint32_t factor, addend;
  std::uint64_t hidden[8];
};

/// A dispatch of kernel affine, data[i] = data[i] * factor + addend, on `count` words.
inline hsa_kernel_dispatch_packet_t affine(hsa_executable_t executable, std::uint64_t data, std::uint32_t count,
                                           std::uint32_t addend) {
  hsa_executable_symbol_t symbol;
  REQUIRE(hsa_executable_get_symbol_by_name(executable, "affine.kd", &gpu, &symbol));
  hsa_kernel_dispatch_packet_t packet{};
  REQUIRE(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object));
  packet.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  packet.workgroup_size_x = 64;
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_y = packet.grid_size_z = 1;
  packet.grid_size_x = count;
  auto* const arguments = static_cast<AffineArguments*>(allocate(argument_pool, sizeof(AffineArguments)));
  *arguments = {data, 1, addend, {}};
  packet.kernarg_address = arguments;
  return packet;
}

}  // namespace sida_test

// Tests the HSA runtime itself, without HIP: agents, pools, separate queues, barrier packets, profiling time stamps, copies
// with signals, error callbacks, shut-down and a second start. Arguments: code object of firmware/kernels/test_kernels.cl; then
// the operation to test.
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int failures = 0;

void expect(bool condition, const char* what, int line, std::uint64_t got, std::uint64_t wanted) {
  if (condition) return;
  ++failures;
  std::fprintf(stderr, "hsa_runtime.cpp:%d: %s: got 0x%llx, expected 0x%llx\n", line, what,
               static_cast<unsigned long long>(got), static_cast<unsigned long long>(wanted));
}

void require(hsa_status_t status, const char* what, int line) {
  if (status == HSA_STATUS_SUCCESS) return;
  const char* text = "unknown";
  hsa_status_string(status, &text);
  std::fprintf(stderr, "hsa_runtime.cpp:%d: %s: %s\n", line, what, text);
  std::exit(1);
}

#define EXPECT_EQ(got, wanted) \
  expect((got) == (wanted), #got, __LINE__, static_cast<std::uint64_t>(got), static_cast<std::uint64_t>(wanted))
#define EXPECT_TRUE(condition) expect((condition), #condition, __LINE__, 0, 1)
#define REQUIRE(call) require((call), #call, __LINE__)

struct Machine {
  hsa_agent_t cpu{}, gpu{};
  hsa_amd_memory_pool_t kernel_arguments{}, host{}, device{};
};

hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void* data) {
  auto* machine = static_cast<Machine*>(data);
  hsa_amd_segment_t segment;
  REQUIRE(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  std::uint32_t flags = 0;
  REQUIRE(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0) machine->kernel_arguments = pool;
  if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0) machine->host = pool;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t find_device_pool(hsa_amd_memory_pool_t pool, void* data) {
  hsa_amd_segment_t segment;
  REQUIRE(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment == HSA_AMD_SEGMENT_GLOBAL) static_cast<Machine*>(data)->device = pool;
  return HSA_STATUS_SUCCESS;
}

Machine find_machine() {
  Machine machine;
  REQUIRE(hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        auto* found = static_cast<Machine*>(data);
        hsa_device_type_t type;
        REQUIRE(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
        (type == HSA_DEVICE_TYPE_GPU ? found->gpu : found->cpu) = agent;
        return HSA_STATUS_SUCCESS;
      },
      &machine));
  REQUIRE(hsa_amd_agent_iterate_memory_pools(machine.cpu, find_pool, &machine));
  REQUIRE(hsa_amd_agent_iterate_memory_pools(machine.gpu, find_device_pool, &machine));
  EXPECT_TRUE(machine.device.handle != 0 && machine.kernel_arguments.handle != 0 && machine.host.handle != 0);
  return machine;
}

class Kernels {
 public:
  Kernels(const Machine& machine, const char* path) : machine_(machine) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      std::fprintf(stderr, "cannot open %s\n", path);
      std::exit(2);
    }
    REQUIRE(hsa_code_object_reader_create_from_file(file, &reader_));
    REQUIRE(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable_));
    REQUIRE(hsa_executable_load_agent_code_object(executable_, machine.gpu, reader_, nullptr, nullptr));
    REQUIRE(hsa_executable_freeze(executable_, nullptr));
    close(file);
  }
  ~Kernels() {
    REQUIRE(hsa_executable_destroy(executable_));
    REQUIRE(hsa_code_object_reader_destroy(reader_));
  }

  // The body of a dispatch packet for kernel `name` with 64 work-items per workgroup. submit() writes the header.
  hsa_kernel_dispatch_packet_t packet(const char* name, std::uint32_t items, void* arguments, hsa_signal_t done) const {
    hsa_executable_symbol_t symbol;
    REQUIRE(hsa_executable_get_symbol_by_name(executable_, (std::string(name) + ".kd").c_str(), &machine_.gpu, &symbol));
    hsa_kernel_dispatch_packet_t packet{};
    REQUIRE(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &packet.kernel_object));
    REQUIRE(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
                                           &packet.group_segment_size));
    REQUIRE(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                           &packet.private_segment_size));
    packet.setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    packet.workgroup_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = 1;
    packet.grid_size_x = items;
    packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernarg_address = arguments;
    packet.completion_signal = done;
    return packet;
  }

 private:
  const Machine& machine_;
  hsa_code_object_reader_t reader_{};
  hsa_executable_t executable_{};
};

template <typename T>
T* allocate(hsa_amd_memory_pool_t pool, std::size_t count, hsa_agent_t user) {
  void* memory = nullptr;
  REQUIRE(hsa_amd_memory_pool_allocate(pool, count * sizeof(T), 0, &memory));
  REQUIRE(hsa_amd_agents_allow_access(1, &user, nullptr, memory));
  return static_cast<T*>(memory);
}

// Writes the packet, its header last, and rings the doorbell.
template <typename Packet>
void submit(hsa_queue_t* queue, Packet packet, hsa_packet_type_t type, bool barrier = false) {
  const std::uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
  }
  auto* slot = static_cast<char*>(queue->base_address) + index % queue->size * 64;
  std::memcpy(slot + 4, reinterpret_cast<const char*>(&packet) + 4, 60);
  std::uint32_t first;
  std::memcpy(&first, &packet, 4);
  const auto header =
      static_cast<std::uint16_t>(type << HSA_PACKET_HEADER_TYPE | (barrier ? 1 : 0) << HSA_PACKET_HEADER_BARRIER |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), (first & 0xffff0000u) | header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

hsa_signal_t make_signal(hsa_signal_value_t value) {
  hsa_signal_t signal;
  REQUIRE(hsa_signal_create(value, 0, nullptr, &signal));
  return signal;
}

void wait_for_zero(hsa_signal_t signal, hsa_wait_state_t how = HSA_WAIT_STATE_BLOCKED) {
  const hsa_signal_value_t value = hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000'000ull, how);
  EXPECT_EQ(value, 0);
}

struct AffineArguments {
  std::uint32_t* data;
  std::uint32_t factor, addend;
  std::uint64_t hidden[8];
};

void dispatches_and_barriers(const Machine& machine, const Kernels& kernels) {
  hsa_queue_t *first, *second;
  REQUIRE(hsa_queue_create(machine.gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &first));
  REQUIRE(hsa_queue_create(machine.gpu, 256, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &second));
  REQUIRE(hsa_amd_profiling_set_profiler_enabled(first, 1));
  auto* data = allocate<std::uint32_t>(machine.host, 256, machine.gpu);
  auto* arguments = allocate<AffineArguments>(machine.kernel_arguments, 3, machine.gpu);
  for (int i = 0; i < 3; ++i) arguments[i] = {data, 2u + i, 5u * i + 1, {}};
  const auto reset = [&] {
    for (std::uint32_t i = 0; i < 256; ++i) data[i] = i;
  };
  const auto expect_data = [&](int line, auto expected) {
    for (std::uint32_t i = 0; i < 256; ++i) expect(data[i] == expected(i), "data", line, data[i], expected(i));
  };

  // More packets than the queue has slots.
  reset();
  const hsa_signal_t done = make_signal(150);
  for (int i = 0; i < 150; ++i)
    submit(first, kernels.packet("affine", 256, &arguments[0], done), HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
  wait_for_zero(done);
  expect_data(__LINE__, [](std::uint32_t x) {
    for (int i = 0; i < 150; ++i) x = x * 2 + 1;
    return x;
  });

  // Order between queues: kernel 1 on the first queue, then 2 on the second (barrier-AND), then 3 on the first (barrier-OR of a
  // signal that never becomes zero and of the second queue's signal).
  reset();
  const hsa_signal_t one = make_signal(1), two = make_signal(1), three = make_signal(1), never = make_signal(1),
                     released = make_signal(1);
  hsa_barrier_and_packet_t both{};
  both.dep_signal[0] = one;
  both.dep_signal[3] = released;
  submit(second, both, HSA_PACKET_TYPE_BARRIER_AND);
  submit(second, kernels.packet("affine", 256, &arguments[1], two), HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
  submit(first, kernels.packet("affine", 256, &arguments[0], one), HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
  hsa_barrier_or_packet_t either{};
  either.dep_signal[1] = never;
  either.dep_signal[2] = two;
  submit(first, either, HSA_PACKET_TYPE_BARRIER_OR, true);
  submit(first, kernels.packet("affine", 256, &arguments[2], three), HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
  wait_for_zero(one);
  EXPECT_EQ(hsa_signal_wait_scacquire(two, HSA_SIGNAL_CONDITION_LT, 1, 20'000'000, HSA_WAIT_STATE_BLOCKED), 1);
  hsa_signal_store_screlease(released, 0);
  wait_for_zero(three, HSA_WAIT_STATE_ACTIVE);
  expect_data(__LINE__, [](std::uint32_t x) { return ((x * 2 + 1) * 3 + 6) * 4 + 11; });

  // Time stamps of two kernels in order on one queue.
  std::uint64_t frequency = 0;
  REQUIRE(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
  EXPECT_TRUE(frequency > 0);
  hsa_amd_profiling_dispatch_time_t before{}, after{};
  REQUIRE(hsa_amd_profiling_get_dispatch_time(machine.gpu, one, &before));
  REQUIRE(hsa_amd_profiling_get_dispatch_time(machine.gpu, three, &after));
  EXPECT_TRUE(before.start < before.end);
  EXPECT_TRUE(before.end <= after.start);
  EXPECT_TRUE(after.start < after.end);
  EXPECT_TRUE(after.end - after.start < frequency / 1000);  // 256 work-items take less than a millisecond

  for (const hsa_signal_t signal : {done, one, two, three, never, released}) REQUIRE(hsa_signal_destroy(signal));
  REQUIRE(hsa_queue_destroy(first));
  REQUIRE(hsa_queue_destroy(second));
  REQUIRE(hsa_amd_memory_pool_free(data));
  REQUIRE(hsa_amd_memory_pool_free(arguments));
}

void copies(const Machine& machine) {
  constexpr std::size_t kSize = 300'000;
  auto* host = allocate<std::uint8_t>(machine.host, kSize, machine.gpu);
  auto* back = allocate<std::uint8_t>(machine.host, kSize, machine.gpu);
  auto* device = allocate<std::uint8_t>(machine.device, kSize, machine.gpu);
  for (std::size_t i = 0; i < kSize; ++i) host[i] = static_cast<std::uint8_t>(i * 7 + i / 251), back[i] = 0;
  const hsa_signal_t up = make_signal(1), filled = make_signal(1), down = make_signal(1);
  REQUIRE(hsa_amd_memory_async_copy(device, machine.gpu, host, machine.cpu, kSize, 0, nullptr, up));
  // The second copy waits for the first.
  REQUIRE(hsa_amd_memory_async_copy(back, machine.cpu, device, machine.gpu, kSize, 1, &up, down));
  wait_for_zero(down);
  EXPECT_EQ(std::memcmp(host, back, kSize), 0);
  REQUIRE(hsa_amd_memory_fill(device, 0x01020304, kSize / 4));
  std::vector<std::uint32_t> words(kSize / 4);
  REQUIRE(hsa_memory_copy(words.data(), device, kSize));
  std::size_t wrong = 0;
  for (const std::uint32_t word : words) wrong += word != 0x01020304;
  EXPECT_EQ(wrong, 0);

  void* locked = nullptr;
  std::vector<std::uint8_t> own(10'000, 9);
  hsa_agent_t gpu = machine.gpu;
  REQUIRE(hsa_amd_memory_lock(own.data(), own.size(), &gpu, 1, &locked));
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  REQUIRE(hsa_amd_pointer_info(own.data(), &info, nullptr, nullptr, nullptr));
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
  EXPECT_TRUE(info.agentBaseAddress == locked);
  hsa_signal_store_relaxed(up, 1);
  REQUIRE(hsa_amd_memory_async_copy(device, machine.gpu, locked, machine.cpu, own.size(), 0, nullptr, up));
  wait_for_zero(up);
  REQUIRE(hsa_amd_memory_unlock(own.data()));
  REQUIRE(hsa_memory_copy(back, device, own.size()));
  EXPECT_EQ(std::memcmp(back, own.data(), own.size()), 0);
  for (const hsa_signal_t signal : {up, filled, down}) REQUIRE(hsa_signal_destroy(signal));
  for (std::uint8_t* memory : {host, back, device}) REQUIRE(hsa_amd_memory_pool_free(memory));
}

// Creates and destroys many queues, some of which have executed a kernel.
void queues(const Machine& machine, const Kernels& kernels) {
  auto* data = allocate<std::uint32_t>(machine.host, 64, machine.gpu);
  auto* arguments = allocate<AffineArguments>(machine.kernel_arguments, 1, machine.gpu);
  *arguments = {data, 1, 1, {}};
  for (int i = 0; i < 64; ++i) data[i] = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<hsa_queue_t*> made(20);
    const hsa_signal_t done = make_signal(20);
    for (hsa_queue_t*& queue : made)
      REQUIRE(hsa_queue_create(machine.gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
    // The kernels run one after the other, since the addition is not atomic.
    for (int i = 0; i < 20; ++i) {
      submit(made[i], kernels.packet("affine", 64, arguments, done), HSA_PACKET_TYPE_KERNEL_DISPATCH);
      while (hsa_signal_load_scacquire(done) != 19 - i) {
      }
    }
    for (hsa_queue_t* queue : made) REQUIRE(hsa_queue_destroy(queue));
    REQUIRE(hsa_signal_destroy(done));
  }
  for (int i = 0; i < 64; ++i) EXPECT_EQ(data[i], 60);
  // Destroying a queue waits for a thread of the runtime while both sleep on the same event: the event must wake both threads.
  for (int i = 0; i < 500; ++i) {
    hsa_queue_t *first, *second;
    REQUIRE(hsa_queue_create(machine.gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &first));
    REQUIRE(hsa_queue_create(machine.gpu, 256, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &second));
    REQUIRE(hsa_queue_destroy(first));
    REQUIRE(hsa_queue_destroy(second));
  }
  REQUIRE(hsa_amd_memory_pool_free(data));
  REQUIRE(hsa_amd_memory_pool_free(arguments));
}

std::atomic<int> queue_error{0};

// Stops a queue by an error: its callback is called, and another queue continues to work.
void queue_errors(const Machine& machine, const Kernels& kernels, const char* kernel, int expected) {
  queue_error = 0;
  hsa_queue_t *bad, *good;
  REQUIRE(hsa_queue_create(
      machine.gpu, 64, HSA_QUEUE_TYPE_MULTI,
      [](hsa_status_t status, hsa_queue_t*, void*) { queue_error = static_cast<int>(status); }, nullptr, UINT32_MAX, UINT32_MAX,
      &bad));
  REQUIRE(hsa_queue_create(machine.gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &good));
  auto* data = allocate<std::uint32_t>(machine.host, 64, machine.gpu);
  auto* arguments = allocate<AffineArguments>(machine.kernel_arguments, 1, machine.gpu);
  std::memset(data, 0, 256);
  *arguments = {data, 1, 3, {}};
  const hsa_signal_t never = make_signal(1), done = make_signal(1);
  if (kernel != nullptr) {
    submit(bad, kernels.packet(kernel, 64, arguments, never), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  } else {
    hsa_barrier_and_packet_t unknown{};
    submit(bad, unknown, static_cast<hsa_packet_type_t>(77));
  }
  while (queue_error == 0) usleep(1000);
  EXPECT_EQ(queue_error.load(), expected);
  EXPECT_EQ(hsa_signal_load_scacquire(never), 1);
  submit(good, kernels.packet("affine", 64, arguments, done), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  wait_for_zero(done);
  EXPECT_EQ(data[63], 3u);
  REQUIRE(hsa_queue_destroy(bad));
  REQUIRE(hsa_queue_destroy(good));
  REQUIRE(hsa_signal_destroy(never));
  REQUIRE(hsa_signal_destroy(done));
}

double start() {
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(hsa_init());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s test_kernels.co use|errors|start\n", argv[0]);
    return 2;
  }
  const std::string what = argv[2];
  std::printf("hsa_init: %.1f ms\n", start());
  if (what == "use") {
    for (int round = 0; round < 2; ++round) {
      {
        const Machine machine = find_machine();
        const Kernels kernels(machine, argv[1]);
        dispatches_and_barriers(machine, kernels);
        copies(machine);
        queues(machine, kernels);
      }
      // The runtime may be shut down and started again.
      REQUIRE(hsa_shut_down());
      if (round == 0) std::printf("hsa_init again: %.1f ms\n", start());
    }
  } else if (what == "errors") {
    {
      const Machine machine = find_machine();
      const Kernels kernels(machine, argv[1]);
      queue_errors(machine, kernels, "illegal", HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
      queue_errors(machine, kernels, "trap", HSA_STATUS_ERROR_EXCEPTION);
      queue_errors(machine, kernels, nullptr, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
    }
    REQUIRE(hsa_shut_down());
  } else if (what != "start") {
    std::fprintf(stderr, "unknown: %s\n", what.c_str());
    return 2;
  }
  if (failures == 0) std::printf("passed\n");
  return failures == 0 ? 0 : 1;
}

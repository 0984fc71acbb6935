#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "firmware/driver/hsa.h"
#include "firmware/include/lacuna.h"
#include "tests/firmware/fake_hal.h"

namespace lacuna {
namespace {

using ::lacuna::testing::FakeGpu;

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

bool last_error_has(const std::string& words) { return std::string(lacuna_last_error()).find(words) != std::string::npos; }

class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(lacuna_device_open(FakeGpu::kMmio, 2, &device_), LACUNA_OK) << lacuna_last_error(); }
  void TearDown() override {
    lacuna_device_close(device_);
    EXPECT_TRUE(gpu_.mappings.empty());
    EXPECT_EQ(gpu_.handler, nullptr);
  }
  lacuna_queue* make_queue(const lacuna_queue_options& options) {
    lacuna_queue* queue = nullptr;
    EXPECT_EQ(lacuna_queue_create(device_, &options, &queue), LACUNA_OK) << lacuna_last_error();
    return queue;
  }
  lacuna_signal* make_signal(std::int64_t value) {
    lacuna_signal* signal = nullptr;
    EXPECT_EQ(lacuna_signal_create(device_, value, &signal), LACUNA_OK) << lacuna_last_error();
    return signal;
  }
  lacuna_kernel load_kernel(const char* path, const char* name) {
    const std::vector<char> image = read_file(path);
    lacuna_code_object* code_object = nullptr;
    lacuna_kernel kernel{};
    EXPECT_EQ(lacuna_code_object_load(device_, image.data(), image.size(), &code_object), LACUNA_OK) << lacuna_last_error();
    EXPECT_EQ(lacuna_kernel_find(code_object, name, &kernel), LACUNA_OK) << lacuna_last_error();
    return kernel;
  }
  hsa_queue& queue_memory(lacuna_queue* queue) {
    return *reinterpret_cast<hsa_queue*>(gpu_.memory(lacuna_queue_address(queue), sizeof(hsa_queue)));
  }
  template <typename Packet>
  Packet packet(lacuna_queue* queue, std::uint64_t index) {
    const hsa_queue& memory = queue_memory(queue);
    Packet copy;
    std::memcpy(&copy, gpu_.memory(memory.base_address + index % memory.size * 64, 64), sizeof copy);
    return copy;
  }

  FakeGpu gpu_;
  lacuna_device* device_ = nullptr;
};

TEST_F(DriverTest, Properties) {
  const lacuna_properties* p = lacuna_device_properties(device_);
  EXPECT_STREQ(p->target_name, "gfx803");
  EXPECT_EQ(p->compute_units, 2u);
  EXPECT_EQ(p->memory_bytes, FakeGpu::kVramBytes);
}

TEST_F(DriverTest, ProbeRefusesOtherDevices) {
  lacuna_device* other = nullptr;
  gpu_.registers[LACUNA_GPU_MAGIC] = 0xffffffff;
  EXPECT_EQ(lacuna_device_open(FakeGpu::kMmio, 2, &other), LACUNA_ERROR_NO_DEVICE);
  EXPECT_TRUE(last_error_has("0xffffffff")) << lacuna_last_error();
  gpu_.registers[LACUNA_GPU_MAGIC] = LACUNA_GPU_MAGIC_VALUE;
  gpu_.registers[LACUNA_GPU_VERSION] = 0x00070001;
  EXPECT_EQ(lacuna_device_open(FakeGpu::kMmio, 2, &other), LACUNA_ERROR_VERSION);
  EXPECT_TRUE(last_error_has("7.1")) << lacuna_last_error();
  EXPECT_EQ(other, nullptr);
}

TEST_F(DriverTest, MemoryIsMappedWithAGuardPageAfterIt) {
  lacuna_memory a{};
  lacuna_memory b{};
  ASSERT_EQ(lacuna_allocate(device_, 5000, &a), LACUNA_OK);
  ASSERT_EQ(lacuna_allocate(device_, 1, &b), LACUNA_OK);
  EXPECT_EQ(a.gpu_address % 4096, 0u);
  EXPECT_EQ(gpu_.memory(a.gpu_address, 8192, LACUNA_VM_READ | LACUNA_VM_WRITE), static_cast<std::byte*>(a.host));
  EXPECT_EQ(gpu_.memory(a.gpu_address, 1, LACUNA_VM_EXECUTE), nullptr);
  EXPECT_EQ(gpu_.memory(a.gpu_address + 8192, 1), nullptr);
  EXPECT_EQ(lacuna_host_pointer(device_, a.gpu_address + 100, 8), static_cast<char*>(a.host) + 100);
  EXPECT_EQ(lacuna_host_pointer(device_, a.gpu_address + 8190, 8), nullptr);
  EXPECT_EQ(lacuna_gpu_address(device_, static_cast<char*>(b.host) + 7), b.gpu_address + 7);
  EXPECT_EQ(lacuna_gpu_address(device_, &a), 0u);

  lacuna_memory inner = a;
  inner.gpu_address += 4096;
  EXPECT_EQ(lacuna_free(device_, &inner), LACUNA_ERROR_NOT_ALLOCATED);
  lacuna_memory copy = a;
  EXPECT_EQ(lacuna_free(device_, &a), LACUNA_OK);
  EXPECT_EQ(lacuna_free(device_, &copy), LACUNA_ERROR_NOT_ALLOCATED) << "freed twice";
  EXPECT_EQ(gpu_.memory(copy.gpu_address, 1), nullptr);
}

TEST_F(DriverTest, MemoryRunsOutAndComesBack) {
  std::vector<lacuna_memory> all;
  lacuna_memory memory{};
  while (lacuna_allocate(device_, 1 << 20, &memory) == LACUNA_OK) all.push_back(memory);
  EXPECT_TRUE(last_error_has("are free")) << lacuna_last_error();
  EXPECT_GT(all.size(), 50u);
  for (lacuna_memory& m : all) EXPECT_EQ(lacuna_free(device_, &m), LACUNA_OK);
  EXPECT_EQ(lacuna_allocate(device_, 0, &memory), LACUNA_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lacuna_allocate(device_, UINT64_MAX, &memory), LACUNA_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(lacuna_allocate(device_, 60 << 20, &memory), LACUNA_OK) << "one range again";
}

TEST_F(DriverTest, Copies) {
  lacuna_memory memory{};
  ASSERT_EQ(lacuna_allocate(device_, 4096, &memory), LACUNA_OK);
  const char text[] = "through the aperture";
  char back[sizeof text] = {};
  EXPECT_EQ(lacuna_copy_to_device(device_, memory.gpu_address + 16, text, sizeof text), LACUNA_OK);
  EXPECT_EQ(lacuna_copy_from_device(device_, back, memory.gpu_address + 16, sizeof back), LACUNA_OK);
  EXPECT_STREQ(back, text);
  EXPECT_EQ(lacuna_fill(device_, memory.gpu_address, 0x5a, 4096), LACUNA_OK);
  EXPECT_EQ(static_cast<unsigned char*>(memory.host)[4095], 0x5a);
  EXPECT_EQ(lacuna_copy_to_device(device_, memory.gpu_address + 4090, text, sizeof text), LACUNA_ERROR_NOT_ALLOCATED);
  EXPECT_EQ(lacuna_copy_from_device(device_, back, 0, 1), LACUNA_ERROR_NOT_ALLOCATED);
}

TEST_F(DriverTest, HostMemory) {
  alignas(4096) static char pages[8192];
  lacuna_memory memory{};
  EXPECT_EQ(lacuna_map_host(device_, pages + 8, 4096, LACUNA_ACCESS_READ, &memory), LACUNA_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lacuna_map_host(device_, pages, 100, LACUNA_ACCESS_READ, &memory), LACUNA_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(lacuna_map_host(device_, pages, 8192, LACUNA_ACCESS_READ, &memory), LACUNA_OK);
  EXPECT_EQ(gpu_.memory(memory.gpu_address, 8192), reinterpret_cast<std::byte*>(pages));
  EXPECT_EQ(gpu_.memory(memory.gpu_address, 1, LACUNA_VM_WRITE), nullptr);
  lacuna_memory again{};
  EXPECT_EQ(lacuna_map_host(device_, pages, 4096, LACUNA_ACCESS_READ, &again), LACUNA_ERROR_GPUVM) << "mapped already";
  EXPECT_EQ(lacuna_free(device_, &memory), LACUNA_ERROR_NOT_ALLOCATED) << "not GPU memory";
  EXPECT_EQ(lacuna_unmap_host(device_, &memory), LACUNA_OK);
}

TEST_F(DriverTest, CodeObjectIsLoadedWhole) {
  const std::vector<char> image = read_file(VECTOR_ADD_V4);
  lacuna_code_object* code_object = nullptr;
  ASSERT_EQ(lacuna_code_object_load(device_, image.data(), image.size(), &code_object), LACUNA_OK) << lacuna_last_error();
  lacuna_kernel kernel{};
  EXPECT_EQ(lacuna_kernel_find(code_object, "absent", &kernel), LACUNA_ERROR_NO_SUCH_KERNEL);
  EXPECT_TRUE(last_error_has("\"absent\"")) << lacuna_last_error();
  ASSERT_EQ(lacuna_kernel_find(code_object, "vector_add", &kernel), LACUNA_OK);
  const std::byte* descriptor = gpu_.memory(kernel.object, 64);
  ASSERT_NE(descriptor, nullptr);
  std::int64_t entry;
  std::memcpy(&entry, descriptor + 16, sizeof entry);
  EXPECT_NE(gpu_.memory(kernel.object + static_cast<std::uint64_t>(entry), 4, LACUNA_VM_EXECUTE), nullptr);
  EXPECT_EQ(gpu_.memory(kernel.object, 64, LACUNA_VM_WRITE), nullptr);
  // The ELF header is at the start of the page run that contains the descriptor.
  bool found = false;
  for (std::uint64_t page = kernel.object & ~std::uint64_t{4095}; !found && gpu_.memory(page, 4) != nullptr; page -= 4096) {
    found = std::memcmp(gpu_.memory(page, 4),
                        "\x7f"
                        "ELF",
                        4) == 0;
  }
  EXPECT_TRUE(found);
  const std::size_t mapped = gpu_.mappings.size();
  lacuna_code_object_unload(code_object);
  EXPECT_LT(gpu_.mappings.size(), mapped);
  EXPECT_EQ(gpu_.memory(kernel.object, 64), nullptr);
}

TEST_F(DriverTest, CodeObjectForAnotherTarget) {
  const std::vector<char> image = read_file(VECTOR_ADD_GFX90A);
  lacuna_code_object* code_object = nullptr;
  EXPECT_EQ(lacuna_code_object_load(device_, image.data(), image.size(), &code_object), LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT);
  EXPECT_TRUE(last_error_has("gfx803")) << lacuna_last_error();
}

TEST_F(DriverTest, QueueDescriptor) {
  lacuna_queue* queue = make_queue({.packets = 8, .private_segment_bytes = 100, .kernarg_bytes = 0});
  EXPECT_EQ(gpu_.slots[0].aql, lacuna_queue_address(queue));
  const hsa_queue& memory = queue_memory(queue);
  EXPECT_EQ(memory.size, 8u);
  EXPECT_NE(gpu_.memory(memory.base_address, 8 * 64, LACUNA_VM_READ | LACUNA_VM_WRITE), nullptr);
  EXPECT_EQ(packet<hsa_dispatch_packet>(queue, 7).header, HSA_PACKET_INVALID);
  // Per wavefront 100 bytes x 64 lanes = 6400 bytes, rounded up to 7 KiB; 2 CUs x 4 SIMDs x 10 = 80 wavefronts.
  EXPECT_EQ(memory.compute_tmpring_size, 80u | 7u << 12);
  EXPECT_EQ(memory.scratch_wave64_lane_byte_size, 7u * 1024 / 64);
  EXPECT_EQ(memory.scratch_resource_descriptor[2], 80u * 7 * 1024);
  EXPECT_EQ(memory.scratch_resource_descriptor[3], 0x00ea4facu);
  EXPECT_EQ(memory.scratch_resource_descriptor[1] >> 31, 1u);
  const std::uint64_t base =
      memory.scratch_resource_descriptor[0] | std::uint64_t{memory.scratch_resource_descriptor[1] & 0xffffu} << 32;
  EXPECT_NE(gpu_.memory(base, 80 * 7 * 1024, LACUNA_VM_READ | LACUNA_VM_WRITE), nullptr);
  EXPECT_EQ(memory.scratch_backing_memory_location, 0u);
}

TEST_F(DriverTest, QueueLimits) {
  lacuna_queue* queue = nullptr;
  lacuna_queue_options options{.packets = 48, .private_segment_bytes = 0, .kernarg_bytes = 0};
  EXPECT_EQ(lacuna_queue_create(device_, &options, &queue), LACUNA_ERROR_INVALID_ARGUMENT);
  options = {.packets = 0, .private_segment_bytes = 1 << 20, .kernarg_bytes = 0};
  EXPECT_EQ(lacuna_queue_create(device_, &options, &queue), LACUNA_ERROR_SEGMENT_TOO_LARGE);
  std::vector<lacuna_queue*> queues;
  while (lacuna_queue_create(device_, nullptr, &queue) == LACUNA_OK) queues.push_back(queue);
  EXPECT_EQ(queues.size(), gpu_.slots.size());
  EXPECT_TRUE(last_error_has("slots are in use")) << lacuna_last_error();
  lacuna_queue_destroy(queues[1]);
  EXPECT_EQ(gpu_.slots[1].status, LACUNA_QUEUE_INACTIVE);
  EXPECT_EQ(lacuna_queue_create(device_, nullptr, &queue), LACUNA_OK);
}

TEST_F(DriverTest, DispatchPacket) {
  lacuna_queue* queue = make_queue({.packets = 4, .private_segment_bytes = 0, .kernarg_bytes = 0});
  const lacuna_kernel kernel = load_kernel(VECTOR_ADD_V5, "vector_add");
  lacuna_signal* signal = make_signal(1);
  const std::uint64_t arguments[4] = {1, 2, 3, 1000};
  const lacuna_dispatch_options options{true, LACUNA_SCOPE_AGENT, LACUNA_SCOPE_SYSTEM};
  lacuna_dispatch_packet dispatch{};
  dispatch.kernel = &kernel;
  dispatch.grid[0] = 1000;
  dispatch.grid[1] = 3;
  dispatch.workgroup[0] = 64;
  dispatch.arguments = arguments;
  dispatch.argument_bytes = 28;
  dispatch.dynamic_group_segment_bytes = 512;
  dispatch.completion = signal;
  dispatch.options = &options;
  ASSERT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_OK) << lacuna_last_error();

  const auto written = packet<hsa_dispatch_packet>(queue, 0);
  EXPECT_EQ(written.header, 2u | 1u << 8 | 1u << 9 | 2u << 11);
  EXPECT_EQ(written.setup, 2u);
  EXPECT_EQ(written.workgroup_size[0], 64u);
  EXPECT_EQ(written.workgroup_size[1], 1u);
  EXPECT_EQ(written.workgroup_size[2], 1u);
  EXPECT_EQ(written.grid_size[0], 1000u);
  EXPECT_EQ(written.grid_size[1], 3u);
  EXPECT_EQ(written.grid_size[2], 1u);
  EXPECT_EQ(written.group_segment_size, 512u);
  EXPECT_EQ(written.private_segment_size, 0u);
  EXPECT_EQ(written.kernel_object, kernel.object);
  EXPECT_EQ(written.completion_signal, lacuna_signal_handle(signal));
  const std::byte* kernarg = gpu_.memory(written.kernarg_address, kernel.kernarg_segment_bytes);
  ASSERT_NE(kernarg, nullptr);
  EXPECT_EQ(std::memcmp(kernarg, arguments, 28), 0);
  std::uint32_t blocks;
  std::memcpy(&blocks, kernarg + 32, sizeof blocks);
  EXPECT_EQ(blocks, 1000u / 64);
  EXPECT_EQ(gpu_.slots[0].doorbells, std::vector<std::uint64_t>{0});
  EXPECT_EQ(queue_memory(queue).write_dispatch_id, 1u);
}

TEST_F(DriverTest, BarrierPackets) {
  lacuna_queue* queue = make_queue({.packets = 4, .private_segment_bytes = 0, .kernarg_bytes = 0});
  lacuna_signal* dependencies[] = {make_signal(1), nullptr, make_signal(2)};
  ASSERT_EQ(lacuna_barrier_and(queue, dependencies, 3, nullptr, nullptr), LACUNA_OK);
  ASSERT_EQ(lacuna_barrier_or(queue, dependencies, 1, dependencies[2], nullptr), LACUNA_OK);
  const auto all = packet<hsa_barrier_packet>(queue, 0);
  EXPECT_EQ(all.header & 0xff, HSA_PACKET_BARRIER_AND);
  EXPECT_EQ(all.dependencies[0], lacuna_signal_handle(dependencies[0]));
  EXPECT_EQ(all.dependencies[1], 0u);
  EXPECT_EQ(all.dependencies[2], lacuna_signal_handle(dependencies[2]));
  EXPECT_EQ(all.completion_signal, 0u);
  const auto any = packet<hsa_barrier_packet>(queue, 1);
  EXPECT_EQ(any.header & 0xff, HSA_PACKET_BARRIER_OR);
  EXPECT_EQ(any.completion_signal, lacuna_signal_handle(dependencies[2]));
  EXPECT_EQ(lacuna_barrier_and(queue, dependencies, 6, nullptr, nullptr), LACUNA_ERROR_INVALID_ARGUMENT);
}

TEST_F(DriverTest, JobsAreRefusedWithoutAnAccelerator) {
  lacuna_queue* queue = make_queue({.packets = 4, .private_segment_bytes = 0, .kernarg_bytes = 0});
  EXPECT_EQ(lacuna_dispatch_sida(nullptr, 0x1000, nullptr, nullptr), LACUNA_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lacuna_dispatch_sida(queue, 0x1008, nullptr, nullptr), LACUNA_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_has("16 bytes")) << lacuna_last_error();
  EXPECT_EQ(lacuna_dispatch_sida(queue, 0x1000, nullptr, nullptr), LACUNA_ERROR_NO_ACCELERATOR);
  EXPECT_TRUE(last_error_has("sida.present")) << lacuna_last_error();
  EXPECT_EQ(queue_memory(queue).write_dispatch_id, 0u);
}

TEST_F(DriverTest, AFullQueueRefusesAPacketOrWaitsForRoom) {
  lacuna_queue* queue = make_queue({.packets = 2, .private_segment_bytes = 0, .kernarg_bytes = 0});
  const lacuna_kernel kernel = load_kernel(VECTOR_ADD_V4, "vector_add");
  lacuna_dispatch_packet dispatch{};
  dispatch.kernel = &kernel;
  ASSERT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_OK);
  ASSERT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_OK);
  const auto oldest = packet<hsa_dispatch_packet>(queue, 0);
  EXPECT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_QUEUE_FULL);
  EXPECT_TRUE(last_error_has("2 of 2")) << lacuna_last_error();
  EXPECT_EQ(queue_memory(queue).write_dispatch_id, 2u) << "a refused packet leaves no trace";
  EXPECT_EQ(std::memcmp(&oldest, gpu_.memory(queue_memory(queue).base_address, 64), 64), 0);

  gpu_.while_asleep = [&] {
    if (gpu_.sleeps == 3) queue_memory(queue).read_dispatch_id = 1;
  };
  EXPECT_EQ(lacuna_dispatch_blocking(queue, &dispatch), LACUNA_OK);
  EXPECT_EQ(gpu_.sleeps, 3u);
  EXPECT_EQ(queue_memory(queue).write_dispatch_id, 3u);
}

TEST_F(DriverTest, ArgumentsAndScratchMustFitTheQueue) {
  lacuna_queue* queue = make_queue({.packets = 2, .private_segment_bytes = 0, .kernarg_bytes = 64});
  lacuna_kernel kernel = load_kernel(VECTOR_ADD_V5, "vector_add");
  lacuna_dispatch_packet dispatch{};
  dispatch.kernel = &kernel;
  EXPECT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_SEGMENT_TOO_LARGE);
  kernel.kernarg_segment_bytes = 64;
  kernel.private_segment_bytes = 4;
  EXPECT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_SEGMENT_TOO_LARGE);
  EXPECT_TRUE(gpu_.slots[0].doorbells.empty());
}

TEST_F(DriverTest, WaitSleepsUntilTheInterrupt) {
  lacuna_signal* signal = make_signal(1);
  gpu_.while_asleep = [&] {
    EXPECT_FALSE(gpu_.interrupts_enabled) << "the look and the sleep must not be torn apart";
    if (gpu_.sleeps < 3) return;
    reinterpret_cast<hsa_signal*>(gpu_.memory(lacuna_signal_handle(signal), 64))->value = 0;
    gpu_.interrupt(LACUNA_INTERRUPT_SIGNAL);
  };
  EXPECT_EQ(lacuna_signal_wait_zero(signal), LACUNA_OK);
  EXPECT_EQ(gpu_.sleeps, 3u);
  EXPECT_TRUE(gpu_.interrupts_enabled);
  EXPECT_EQ(gpu_.registers[LACUNA_GPU_INTERRUPT_STATUS], 0u) << "cleared by the handler";
  EXPECT_EQ(lacuna_signal_wait(signal, LACUNA_CONDITION_LESS, 1, 0), LACUNA_OK);
  EXPECT_EQ(lacuna_signal_wait(signal, LACUNA_CONDITION_NOT_EQUAL, 0, 5000), LACUNA_ERROR_TIMEOUT);
  EXPECT_EQ(gpu_.sleeps, 3u + 5u);
}

TEST_F(DriverTest, WaitEndsWhenTheQueueFails) {
  lacuna_queue* queue = make_queue({.packets = 4, .private_segment_bytes = 0, .kernarg_bytes = 0});
  const lacuna_kernel kernel = load_kernel(VECTOR_ADD_V4, "vector_add");
  lacuna_signal* signal = make_signal(1);
  lacuna_dispatch_packet dispatch{};
  dispatch.kernel = &kernel;
  dispatch.completion = signal;
  ASSERT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_OK);
  gpu_.while_asleep = [&] {
    gpu_.registers[LACUNA_GPU_FAULT_STATUS] = LACUNA_FAULT_NOT_MAPPED;
    gpu_.registers[LACUNA_GPU_FAULT_QUEUE] = 0;
    gpu_.registers[LACUNA_GPU_FAULT_ADDRESS_LO] = 0xdead0000;
    gpu_.registers[LACUNA_GPU_FAULT_PC_LO] = 0x1234;
    gpu_.fail_queue(0, LACUNA_QUEUE_ERROR_MEMORY_FAULT, 0);
  };
  EXPECT_EQ(lacuna_signal_wait_zero(signal), LACUNA_ERROR_MEMORY_FAULT);
  EXPECT_TRUE(last_error_has("queue 0 failed at packet 0")) << lacuna_last_error();
  EXPECT_TRUE(last_error_has("address 0xdead0000")) << lacuna_last_error();
  EXPECT_TRUE(last_error_has("pc 0x1234")) << lacuna_last_error();
  EXPECT_EQ(lacuna_signal_wait_zero(signal), LACUNA_ERROR_MEMORY_FAULT) << "again, immediately";
  EXPECT_EQ(gpu_.sleeps, 1u);
  EXPECT_EQ(lacuna_dispatch(queue, &dispatch), LACUNA_ERROR_MEMORY_FAULT);

  // A signal of another queue is not delayed by a failure that has already been reported.
  lacuna_signal* other = make_signal(0);
  EXPECT_EQ(lacuna_signal_wait_zero(other), LACUNA_OK);
  EXPECT_EQ(lacuna_signal_wait(other, LACUNA_CONDITION_EQUAL, 7, 0), LACUNA_ERROR_TIMEOUT);
  lacuna_queue_destroy(queue);
  EXPECT_EQ(lacuna_signal_wait(signal, LACUNA_CONDITION_EQUAL, 0, 0), LACUNA_ERROR_TIMEOUT) << "the failed queue is gone";
}

TEST_F(DriverTest, SignalTimes) {
  lacuna_signal* signal = make_signal(0);
  auto& memory = *reinterpret_cast<hsa_signal*>(gpu_.memory(lacuna_signal_handle(signal), 64));
  EXPECT_NE(gpu_.memory(memory.event_mailbox, 8, LACUNA_VM_WRITE), nullptr) << "without it there is no interrupt";
  EXPECT_NE(memory.event_id, 0u);
  memory.start_timestamp = 1000;
  memory.end_timestamp = 1000 + 90'000'000'000;
  EXPECT_EQ(lacuna_signal_duration(signal), 90'000'000'000u);
}

TEST(DriverErrors, EveryErrorHasAText) {
  for (int i = 0; i < LACUNA_ERROR_COUNT; ++i) {
    EXPECT_GT(std::strlen(lacuna_error_string(static_cast<lacuna_error>(i))), 5u);
  }
  EXPECT_STREQ(lacuna_error_string(LACUNA_ERROR_COUNT), "unknown error");
}

}  // namespace
}  // namespace lacuna

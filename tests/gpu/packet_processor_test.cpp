// The command processor with one compute unit behind it, driven as a driver does: registers, ring, doorbell, signals.

#include "models/gpu/packet_processor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "models/gpu/command_processor.h"
#include "models/gpu/gpu_registers.h"
#include "tests/gpu/compute_unit_bench.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {
namespace {

constexpr std::uint64_t kBase = 0x100000;  // GPU virtual address of the test's memory
constexpr std::uint64_t kBytes = 0x40000;
// Offsets in it.
constexpr std::uint64_t kQueues = 0x0;      // amd_queue_t of slot q at + 256 q
constexpr std::uint64_t kSignals = 0x1000;  // signal i at + 64 i
constexpr std::uint64_t kMailbox = 0x2000;
constexpr std::uint64_t kRings = 0x4000;     // ring of slot q at + 0x1000 q, 8 packets
constexpr std::uint64_t kKernels = 0x20000;  // kernel object k at + 0x1000 k, its code at + 0x100
constexpr std::uint32_t kRingSize = 8;

/// A target that takes any access at once.
class Sink : public sc_core::sc_module {
 public:
  explicit Sink(sc_core::sc_module_name module_name) : sc_module(module_name) {
    socket.register_b_transport(this, &Sink::b_transport);
  }
  tlm_utils::simple_target_socket<Sink> socket{"socket"};

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { payload.set_response_status(tlm::TLM_OK_RESPONSE); }
};

class CommandProcessorBench : public sc_core::sc_module, public KernelObserver {
 public:
  explicit CommandProcessorBench(sc_core::sc_module_name module_name)
      : sc_module(module_name),
        bytes(kBytes),
        code(vm, isa::Target::gfx803),
        dispatcher("dispatcher", DispatcherParameters{}, Clock(Frequency{}), Cycles{200}),
        unit("unit", ComputeUnitParameters{}, TimingMode::loose, Clock(Frequency{}), Clock(Frequency{}), Cycles{200},
             ComputeUnitPlace{}, isa::Target::gfx803, vm, code, lds_banks, dispatcher),
        cp("cp", MmioParameters{}, PacketProcessorParameters{}, device(), TimingMode::loose, vm, code, dispatcher, {&unit}) {
    dispatcher.attach({&unit}, cp.packets);
    unit.vector_port.bind(memory.vector);
    unit.scalar_port.bind(memory.scalar);
    unit.instruction_port.bind(memory.instruction);
    cp.packets.memory.bind(sink.socket);
    cp.packets.add_observer(*this);
    cp.interrupt.bind(interrupt);
    cp.set_host_memory([this](std::uint64_t address, std::uint64_t size) {
      return address + size <= kBytes ? bytes.data() + address : nullptr;
    });
    host.socket.bind(cp.bus);
  }
  static DeviceDescription device() {
    DeviceDescription d;
    d.shader_arrays = d.compute_units = 1;
    return d;
  }

  void kernel_started(const Dispatch&) override {}
  void kernel_ended(const KernelRecord& record) override { kernels.push_back(record); }

  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }
  std::uint32_t reg(std::uint64_t offset) { return host.load<std::uint32_t>(offset, now() - host.epoch()); }
  void set_reg(std::uint64_t offset, std::uint32_t value) { host.store<std::uint32_t>(offset, value, now() - host.epoch()); }
  void set_pair(std::uint64_t offset, std::uint64_t value) {
    set_reg(offset, static_cast<std::uint32_t>(value));
    set_reg(offset + 4, static_cast<std::uint32_t>(value >> 32));
  }

  std::vector<std::byte> bytes;
  GpuVm vm;
  isa::DecodedCode code;
  LdsBanks lds_banks;
  FixedLatencyMemory memory{"memory"};
  Sink sink{"sink"};
  Dispatcher dispatcher;
  ComputeUnit unit;
  CommandProcessor cp;
  TestInitiator host{"host"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  std::vector<KernelRecord> kernels;
};

LACUNA_TEST_BENCH(CommandProcessorBench)

constexpr std::uint16_t header(hsa::PacketType type, bool barrier = false) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(type) | (barrier ? 1u << 8 : 0));
}

class PacketProcessorTest : public testing::Test {
 protected:
  CommandProcessorBench& b_ = bench<CommandProcessorBench>();
  std::array<std::uint64_t, 8> written_{};

  void SetUp() override {
    b_.host.begin_epoch();
    b_.set_reg(LACUNA_GPU_CONTROL, 1);
    std::fill(b_.bytes.begin(), b_.bytes.end(), std::byte{0});
    b_.kernels.clear();
    b_.set_pair(LACUNA_GPU_VM_VA_LO, kBase);
    b_.set_pair(LACUNA_GPU_VM_PA_LO, 0);
    b_.set_pair(LACUNA_GPU_VM_SIZE_LO, kBytes);
    b_.set_reg(LACUNA_GPU_VM_FLAGS, LACUNA_VM_READ | LACUNA_VM_WRITE | LACUNA_VM_EXECUTE);
    b_.set_reg(LACUNA_GPU_VM_COMMAND, LACUNA_VM_MAP);
    ASSERT_EQ(b_.reg(LACUNA_GPU_VM_STATUS), LACUNA_VM_OK);
    b_.set_reg(LACUNA_GPU_INTERRUPT_ENABLE, 7);
    kernel(0, {0xbf810000});                          // s_endpgm
    kernel(1, {0xbf8e0040, 0xbf8e0040, 0xbf810000});  // s_sleep 64 twice: 8,192 cycles
    kernel(2, {0xbf82ffff});                          // s_branch to itself
    kernel(3, {0xbf920002});                          // s_trap 2
    for (unsigned i = 0; i < 16; ++i) signal(i).value = 1;
  }
  void TearDown() override {
    b_.set_reg(LACUNA_GPU_CONTROL, 1);
    wait_for(Tick{20'000'000});
  }

  void kernel(unsigned k, const std::vector<std::uint32_t>& words) {
    const std::uint64_t at = kKernels + 0x1000 * k;
    b_.at<std::int64_t>(at + 16) = 0x100;
    b_.at<std::uint32_t>(at + 48) = 0;
    b_.at<std::uint32_t>(at + 52) = 0;
    std::memcpy(&b_.at<std::byte>(at + 0x100), words.data(), words.size() * 4);
  }
  hsa::Signal& signal(unsigned i) { return b_.at<hsa::Signal>(kSignals + 64 * i); }
  static std::uint64_t signal_handle(unsigned i) { return kBase + kSignals + 64 * i; }
  hsa::Queue& queue(unsigned slot) { return b_.at<hsa::Queue>(kQueues + 256 * slot); }
  std::uint32_t create(unsigned slot, std::uint64_t address) {
    b_.set_reg(LACUNA_GPU_QUEUE_SELECT, slot);
    b_.set_pair(LACUNA_GPU_QUEUE_AQL_LO, address);
    b_.set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_CREATE);
    return b_.reg(LACUNA_GPU_QUEUE_ERROR);
  }
  void open(unsigned slot) {
    queue(slot) = {};
    queue(slot).base_address = kBase + kRings + 0x1000 * slot;
    queue(slot).size = kRingSize;
    written_[slot] = 0;
    ASSERT_EQ(create(slot, kBase + kQueues + 256 * slot), LACUNA_QUEUE_ERROR_NONE);
  }
  template <class Packet>
  void put(unsigned slot, const Packet& packet) {
    const std::uint64_t index = written_[slot]++;
    b_.at<Packet>(kRings + 0x1000 * slot + index % kRingSize * hsa::kPacketBytes) = packet;
    queue(slot).write_dispatch_id = written_[slot];
  }
  void ring(unsigned slot) { ring(slot, written_[slot] - 1); }
  void ring(unsigned slot, std::uint64_t last) {
    b_.host.store<std::uint64_t>(LACUNA_DOORBELL_OFFSET + LACUNA_DOORBELL_STRIDE * slot, last, now() - b_.host.epoch());
  }
  static hsa::KernelDispatchPacket dispatch(unsigned k, unsigned done_signal, bool barrier = false) {
    hsa::KernelDispatchPacket p{};
    p.header = header(hsa::PacketType::kernel_dispatch, barrier);
    p.setup = 1;
    p.workgroup_size[0] = 64;
    p.grid_size[0] = 64;
    p.kernel_object = kBase + kKernels + 0x1000 * k;
    p.completion_signal = signal_handle(done_signal);
    return p;
  }
  static hsa::BarrierPacket barrier(hsa::PacketType type, std::initializer_list<unsigned> dependencies, unsigned done_signal) {
    hsa::BarrierPacket p{};
    p.header = header(type);
    unsigned i = 0;
    for (const unsigned d : dependencies) p.dependencies[i++] = signal_handle(d);
    p.completion_signal = signal_handle(done_signal);
    return p;
  }
  std::uint32_t status(unsigned slot) {
    b_.set_reg(LACUNA_GPU_QUEUE_SELECT, slot);
    return b_.reg(LACUNA_GPU_QUEUE_STATUS);
  }
  std::uint32_t error(unsigned slot) {
    b_.set_reg(LACUNA_GPU_QUEUE_SELECT, slot);
    return b_.reg(LACUNA_GPU_QUEUE_ERROR);
  }
  static void microseconds(std::uint64_t n) { wait_for(Tick{n * 1'000'000}); }
};

TEST_F(PacketProcessorTest, DispatchRunsSignalsAndRetires) {
  open(0);
  signal(0).event_mailbox = kBase + kMailbox;
  signal(0).event_id = 9;
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_GT(signal(0).start_timestamp, 0u);
  EXPECT_GT(signal(0).end_timestamp, signal(0).start_timestamp);
  EXPECT_EQ(b_.at<std::uint64_t>(kMailbox), 9u);
  EXPECT_EQ(queue(0).read_dispatch_id, 1u);
  EXPECT_EQ(b_.at<std::uint16_t>(kRings), header(hsa::PacketType::invalid));
  ASSERT_EQ(b_.kernels.size(), 1u);
  EXPECT_EQ(b_.kernels[0].name, "kernel@0x120000");
  EXPECT_EQ(b_.kernels[0].wavefronts, 1u);
  EXPECT_FALSE(b_.kernels[0].failed);
  EXPECT_TRUE(b_.interrupt.read());
  EXPECT_EQ(b_.reg(LACUNA_GPU_INTERRUPT_STATUS), LACUNA_INTERRUPT_SIGNAL);
  b_.set_reg(LACUNA_GPU_INTERRUPT_STATUS, LACUNA_INTERRUPT_SIGNAL);
  microseconds(1);
  EXPECT_FALSE(b_.interrupt.read());
}

TEST_F(PacketProcessorTest, NoInterruptWithoutMailbox) {
  open(0);
  put(0, dispatch(0, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_FALSE(b_.interrupt.read());
}

TEST_F(PacketProcessorTest, WithoutBarrierBitDispatchesOverlapAndRetireInOrder) {
  open(0);
  put(0, dispatch(1, 0));  // long
  put(0, dispatch(0, 1));  // short
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 0) << "the short one is complete";
  EXPECT_EQ(queue(0).read_dispatch_id, 0u) << "but its slot is not free before the long one's";
  microseconds(10);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(queue(0).read_dispatch_id, 2u);
}

TEST_F(PacketProcessorTest, BarrierBitWaitsForAllBefore) {
  open(0);
  put(0, dispatch(1, 0));
  put(0, dispatch(0, 1, true));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 1);
  microseconds(10);
  EXPECT_EQ(signal(1).value, 0);
  EXPECT_GE(signal(1).start_timestamp, signal(0).end_timestamp);
}

TEST_F(PacketProcessorTest, QueuesAreIndependent) {
  open(0);
  open(1);
  put(0, dispatch(2, 0));  // never ends
  put(1, dispatch(0, 1));
  ring(0);
  ring(1);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketProcessorTest, BarrierAndNeedsAllOfItsSignals) {
  open(0);
  put(0, barrier(hsa::PacketType::barrier_and, {2, 3}, 0));
  put(0, dispatch(0, 1));
  ring(0);
  signal(2).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(signal(1).value, 1) << "packets behind a barrier packet wait";
  signal(3).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketProcessorTest, BarrierOrNeedsOne) {
  open(0);
  put(0, barrier(hsa::PacketType::barrier_or, {2, 3}, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  signal(3).value = 0;
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
}

TEST_F(PacketProcessorTest, DependencyOnAnotherQueuesKernel) {
  open(0);
  open(1);
  put(0, barrier(hsa::PacketType::barrier_and, {1}, 0));
  put(1, dispatch(1, 1));
  ring(0);
  ring(1);
  microseconds(20);
  EXPECT_EQ(signal(0).value, 0);
  EXPECT_GE(signal(0).start_timestamp, signal(1).end_timestamp);
}

TEST_F(PacketProcessorTest, WaitsForAPacketThatIsNotWrittenYet) {
  open(0);
  hsa::KernelDispatchPacket late = dispatch(0, 0);
  late.header = header(hsa::PacketType::invalid);
  put(0, late);
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 1);
  EXPECT_EQ(status(0), LACUNA_QUEUE_ACTIVE);
  b_.at<std::uint16_t>(kRings) = header(hsa::PacketType::kernel_dispatch);
  microseconds(5);
  EXPECT_EQ(signal(0).value, 0);
}

TEST_F(PacketProcessorTest, RingIsUsedRoundAndRound) {
  open(0);
  signal(0).value = 100;
  for (int round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < kRingSize; ++i) put(0, dispatch(0, 0));
    ring(0);
    microseconds(20);
  }
  EXPECT_EQ(signal(0).value, 60);
  EXPECT_EQ(queue(0).read_dispatch_id, 40u);
}

TEST_F(PacketProcessorTest, BadPacketsFailTheirQueueAndOnlyIt) {
  using Packet = hsa::KernelDispatchPacket;
  const struct {
    const char* what;
    void (*spoil)(Packet&);
    std::uint32_t error;
  } table[] = {
      {"type", [](Packet& p) { p.header = 77; }, LACUNA_QUEUE_ERROR_PACKET_TYPE},
      {"vendor specific", [](Packet& p) { p.header = 0; }, LACUNA_QUEUE_ERROR_PACKET_TYPE},
      {"agent dispatch", [](Packet& p) { p.header = 4; }, LACUNA_QUEUE_ERROR_PACKET_TYPE},
      {"dimensions", [](Packet& p) { p.setup = 0; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"grid", [](Packet& p) { p.grid_size[0] = 0; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"workgroup", [](Packet& p) { p.workgroup_size[0] = 0; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"large workgroup", [](Packet& p) { p.workgroup_size[0] = 1025; }, LACUNA_QUEUE_ERROR_PACKET_DIMENSIONS},
      {"LDS", [](Packet& p) { p.group_segment_size = 65537; }, LACUNA_QUEUE_ERROR_PACKET_SEGMENT},
      {"scratch", [](Packet& p) { p.private_segment_size = 4; }, LACUNA_QUEUE_ERROR_PACKET_SEGMENT},
      {"misaligned kernel", [](Packet& p) { p.kernel_object += 4; }, LACUNA_QUEUE_ERROR_KERNEL_OBJECT},
      {"unmapped kernel", [](Packet& p) { p.kernel_object = 0x10; }, LACUNA_QUEUE_ERROR_KERNEL_OBJECT},
      {"signal", [](Packet& p) { p.completion_signal = 0x123; }, LACUNA_QUEUE_ERROR_SIGNAL},
  };
  open(1);
  for (const auto& row : table) {
    open(0);
    Packet bad = dispatch(0, 0);
    row.spoil(bad);
    put(0, dispatch(0, 0));
    put(0, bad);
    ring(0);
    microseconds(5);
    EXPECT_EQ(status(0), LACUNA_QUEUE_FAILED) << row.what;
    EXPECT_EQ(error(0), row.error) << row.what;
    EXPECT_EQ(b_.reg(LACUNA_GPU_QUEUE_ERROR_PACKET_LO), 1u) << row.what;
    EXPECT_NE(b_.reg(LACUNA_GPU_INTERRUPT_STATUS) & LACUNA_INTERRUPT_QUEUE_ERROR, 0u) << row.what;
    b_.set_reg(LACUNA_GPU_INTERRUPT_STATUS, ~0u);

    signal(1).value = 1;
    put(1, dispatch(0, 1));
    ring(1);
    microseconds(5);
    EXPECT_EQ(signal(1).value, 0) << row.what << ": the other queue goes on";
    b_.set_reg(LACUNA_GPU_QUEUE_SELECT, 0);
    b_.set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
  }
}

TEST_F(PacketProcessorTest, DoorbellBeyondTheRingIsAnOverflow) {
  open(0);
  put(0, dispatch(0, 0));
  ring(0, kRingSize);  // one packet more than fits
  microseconds(5);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_OVERFLOW);
}

TEST_F(PacketProcessorTest, TrapFailsTheQueueAndTellsTheRuntime) {
  open(0);
  queue(0).queue_inactive_signal = signal_handle(5);
  put(0, dispatch(3, 0));
  ring(0);
  microseconds(5);
  EXPECT_EQ(status(0), LACUNA_QUEUE_FAILED);
  EXPECT_EQ(error(0), LACUNA_QUEUE_ERROR_TRAP);
  EXPECT_EQ(b_.reg(LACUNA_GPU_FAULT_STATUS), LACUNA_FAULT_TRAP);
  EXPECT_EQ(b_.reg(LACUNA_GPU_FAULT_PC_LO), kBase + kKernels + 0x3000 + 0x100);
  EXPECT_EQ(signal(5).value, 0x80000000);
  EXPECT_EQ(signal(0).value, 1) << "a failed kernel does not complete";
  ASSERT_EQ(b_.kernels.size(), 1u);
  EXPECT_TRUE(b_.kernels[0].failed);
  EXPECT_TRUE(b_.unit.idle());
}

TEST_F(PacketProcessorTest, DestroyDropsWhatRuns) {
  open(0);
  put(0, dispatch(2, 0));
  ring(0);
  microseconds(5);
  EXPECT_FALSE(b_.unit.idle());
  b_.set_reg(LACUNA_GPU_QUEUE_SELECT, 0);
  b_.set_reg(LACUNA_GPU_QUEUE_COMMAND, LACUNA_QUEUE_DESTROY);
  EXPECT_TRUE(b_.unit.idle());
  EXPECT_EQ(status(0), LACUNA_QUEUE_INACTIVE);
  open(0);
  put(0, dispatch(0, 1));
  ring(0);
  microseconds(5);
  EXPECT_EQ(signal(1).value, 0);
}

TEST_F(PacketProcessorTest, QueueCreationIsChecked) {
  queue(0).base_address = kBase + kRings;
  queue(0).size = 6;
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "size not a power of two";
  queue(0).size = kRingSize;
  EXPECT_EQ(create(0, kBase + kQueues + 8), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "misaligned";
  EXPECT_EQ(create(0, 0x40), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "unmapped";
  queue(0).base_address = kBase + kBytes - 256;
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_DESCRIPTOR) << "ring runs out of the mapping";
  queue(0).base_address = kBase + kRings;
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_NONE);
  EXPECT_EQ(create(0, kBase + kQueues), LACUNA_QUEUE_ERROR_SLOT) << "in use";
  EXPECT_EQ(create(8, kBase + kQueues), LACUNA_QUEUE_ERROR_SLOT) << "no such slot";
}

TEST_F(PacketProcessorTest, GpuvmRegisters) {
  const auto command = [&](std::uint64_t va, std::uint64_t pa, std::uint64_t size, std::uint32_t what) {
    b_.set_pair(LACUNA_GPU_VM_VA_LO, va);
    b_.set_pair(LACUNA_GPU_VM_PA_LO, pa);
    b_.set_pair(LACUNA_GPU_VM_SIZE_LO, size);
    b_.set_reg(LACUNA_GPU_VM_COMMAND, what);
    return b_.reg(LACUNA_GPU_VM_STATUS);
  };
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_OK);
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_OVERLAP);
  EXPECT_EQ(command(0x910010, 0, 0x1000, LACUNA_VM_MAP), LACUNA_VM_MISALIGNED);
  EXPECT_EQ(command(0x910000, kBytes, 0x1000, LACUNA_VM_MAP), LACUNA_VM_BAD_ADDRESS);
  EXPECT_EQ(command(0x900000, 0, 0x2000, LACUNA_VM_UNMAP), LACUNA_VM_NOT_MAPPED);
  EXPECT_EQ(command(0x900000, 0, 0x1000, LACUNA_VM_UNMAP), LACUNA_VM_OK);
}

TEST_F(PacketProcessorTest, DiscoveryRegisters) {
  EXPECT_EQ(b_.reg(LACUNA_GPU_MAGIC), LACUNA_GPU_MAGIC_VALUE);
  EXPECT_EQ(b_.reg(LACUNA_GPU_VERSION), LACUNA_GPU_VERSION_VALUE);
  EXPECT_EQ(b_.reg(LACUNA_GPU_TARGET), 0x080003u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_COMPUTE_UNITS), 1u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_SIMDS_PER_CU), 4u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_WAVEFRONT_SIZE), 64u);
  EXPECT_EQ(b_.reg(LACUNA_GPU_LDS_BYTES_PER_CU), 65536u);
  const std::uint64_t first = b_.reg(LACUNA_GPU_TIMESTAMP_LO) | std::uint64_t{b_.reg(LACUNA_GPU_TIMESTAMP_HI)} << 32;
  microseconds(3);
  const std::uint64_t second = b_.reg(LACUNA_GPU_TIMESTAMP_LO) | std::uint64_t{b_.reg(LACUNA_GPU_TIMESTAMP_HI)} << 32;
  EXPECT_EQ(second - first, 3000u);
}

}  // namespace
}  // namespace lacuna::test

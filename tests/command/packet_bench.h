// The command processor with compute units, operated as a driver would: by registers, ring, doorbell and signals.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/command/command_processor.h"
#include "models/compute/windows.h"
#include "tests/compute/compute_unit_bench.h"
#include "tests/harness/test_initiator.h"

namespace lacuna::test {

/// Events that a driver in the process receives.
struct RecordingDriver : DriverEvents {
  struct Event {
    std::uint32_t id;
    std::uint64_t mailbox;
  };
  std::vector<Event> events;
  std::vector<std::uint32_t> messages;
  std::vector<WavefrontFault> faults;
  std::vector<std::uint32_t> errors;
  bool reports_to_runtime = true;  ///< return value of memory_fault()

  void signal_event(std::uint32_t id, std::uint64_t mailbox) override { events.push_back({id, mailbox}); }
  void message_interrupt(std::uint32_t m0) override { messages.push_back(m0); }
  bool memory_fault(unsigned, const WavefrontFault& fault) override {
    faults.push_back(fault);
    return reports_to_runtime;
  }
  void queue_failed(unsigned, std::uint32_t error) override { errors.push_back(error); }
};

inline constexpr std::uint64_t kBase = 0x100000;  // GPU virtual address of the test's memory
inline constexpr std::uint64_t kBytes = 0x40000;
// Offsets in the test's memory.
inline constexpr std::uint64_t kQueues = 0x0;      // amd_queue_t of slot q at + 256 q
inline constexpr std::uint64_t kSignals = 0x1000;  // signal i at + 64 i
inline constexpr std::uint64_t kMailbox = 0x2000;
inline constexpr std::uint64_t kRings = 0x4000;     // ring of slot q at + 0x1000 q, 8 packets
inline constexpr std::uint64_t kKernels = 0x20000;  // kernel object k at + 0x1000 k, its code at + 0x100
inline constexpr std::uint32_t kRingSize = 8;

/// A target that accepts any access and takes no time.
class Sink : public sc_core::sc_module {
 public:
  explicit Sink(sc_core::sc_module_name module_name) : sc_module(module_name) {
    socket.register_b_transport(this, &Sink::b_transport);
  }
  tlm_utils::simple_target_socket<Sink> socket{"socket"};

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { payload.set_response_status(tlm::TLM_OK_RESPONSE); }
};

/// Counts the maintenance operations, which take a fixed time.
struct CountingCache : CacheMaintenance {
  static constexpr Tick kDuration{50'000};
  unsigned invalidations = 0;
  unsigned write_backs = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;  // bus address, bytes
  void drop_clean(std::uint64_t address, std::uint64_t bytes) override { dropped.emplace_back(address, bytes); }
  Tick invalidate(Tick at) override {
    ++invalidations;
    return at + kDuration;
  }
  Tick write_back(Tick at) override {
    ++write_backs;
    return at + kDuration;
  }
};

/// If there is more than one compute unit, the first half belongs to shader array 0 and the second half to shader array 1.
class PacketBench : public sc_core::sc_module, public KernelObserver {
 public:
  explicit PacketBench(sc_core::sc_module_name module_name, unsigned unit_count = 1, isa::Target target = isa::Target::gfx803,
                       const PacketProcessorParameters& parameters = {})
      : sc_module(module_name),
        bytes(kBytes),
        code(vm, target),
        dispatcher("dispatcher", DispatcherParameters{}, Clock(Frequency{}), Cycles{200}),
        units(make_units(unit_count, target)),
        cp("cp", MmioParameters{}, parameters,
           {.device = device(unit_count, target),
            .mode = TimingMode::loose,
            .vm = vm,
            .code = code,
            .dispatcher = dispatcher,
            .units = unit_pointers()}) {
    dispatcher.attach(unit_pointers(), cp.packets);
    for (unsigned i = 0; i < unit_count; ++i) {
      memories.push_back(std::make_unique<FixedLatencyMemory>(("memory" + std::to_string(i)).c_str()));
      units[i]->vector_port.bind(memories[i]->vector);
      units[i]->scalar_port.bind(memories[i]->scalar);
      units[i]->instruction_port.bind(memories[i]->instruction);
    }
    cp.packets.memory.bind(sink.socket);
    cp.packets.add_observer(*this);
    cp.packets.set_caches({&l1}, {&l2});
    cp.interrupt.bind(interrupt);
    cp.set_host_memory([this](std::uint64_t address, std::uint64_t size) {
      return address + size <= kBytes ? bytes.data() + address : nullptr;
    });
    host.socket.bind(cp.bus);
  }
  static DeviceDescription device(unsigned unit_count, isa::Target target) {
    DeviceDescription d;
    d.target = target;
    d.shader_arrays = unit_count > 1 ? 2 : 1;
    d.compute_units = unit_count;
    return d;
  }

  void kernel_started(const Dispatch& dispatch) override { scratch.push_back(dispatch.scratch); }
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

  bool units_idle() const {
    return std::all_of(units.begin(), units.end(), [](const auto& unit) { return unit->idle(); });
  }

  std::vector<std::byte> bytes;
  GpuVm vm;
  isa::DecodedCode code;
  LdsBanks lds_banks;
  std::vector<std::unique_ptr<FixedLatencyMemory>> memories;
  Sink sink{"sink"};
  CountingCache l1;
  CountingCache l2;
  Windows windows{"windows", Clock(Frequency{}), TimingMode::loose, Cycles{200}};
  Dispatcher dispatcher;
  std::vector<std::unique_ptr<ComputeUnit>> units;
  CommandProcessor cp;
  TestInitiator host{"host"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  std::vector<KernelRecord> kernels;
  std::vector<ScratchSetup> scratch;  ///< scratch set-ups of the kernels that started

 private:
  std::vector<std::unique_ptr<ComputeUnit>> make_units(unsigned count, isa::Target target) {
    std::vector<std::unique_ptr<ComputeUnit>> made;
    const unsigned arrays = count > 1 ? 2 : 1;
    for (unsigned i = 0; i < count; ++i) {
      const ComputeUnitPlace place{.index = i, .shader_array = i / (count / arrays), .in_array = i % (count / arrays)};
      made.push_back(std::make_unique<ComputeUnit>(("unit" + std::to_string(i)).c_str(), ComputeUnitParameters{}, place,
                                                   ComputeUnitContext{.mode = TimingMode::loose,
                                                                      .target = target,
                                                                      .clock = Clock(Frequency{}),
                                                                      .timestamp = Clock(Frequency{}),
                                                                      .vm = vm,
                                                                      .code = code,
                                                                      .lds_banks = lds_banks,
                                                                      .listener = dispatcher}));
      windows.add_group({made.back().get()});
    }
    return made;
  }
  std::vector<ComputeUnit*> unit_pointers() const {
    std::vector<ComputeUnit*> pointers;
    for (const auto& unit : units) pointers.push_back(unit.get());
    return pointers;
  }
};

inline constexpr std::uint16_t header(hsa::PacketType type, bool barrier = false) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(type) | (barrier ? 1u << 8 : 0));
}

/// Each test starts with a device that was reset, its memory mapped and zero, signals 0 to 15 with value 1, and these kernels:
/// 0 ends immediately, 1 takes 8,192 cycles, 2 never ends, 3 traps.
class PacketProcessorTest : public testing::Test {
 protected:
  PacketBench& b_ = bench<PacketBench>();
  std::array<std::uint64_t, 16> written_{};

  void SetUp() override {
    b_.host.begin_epoch();
    b_.set_reg(LACUNA_GPU_CONTROL, 1);
    std::fill(b_.bytes.begin(), b_.bytes.end(), std::byte{0});
    b_.kernels.clear();
    b_.scratch.clear();
    b_.l1 = {};
    b_.l2 = {};
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
    b_.code.revalidate();                             // drops decoded code of the previous test
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
  void lay_out(unsigned slot) {
    queue(slot) = {};
    queue(slot).base_address = kBase + kRings + 0x1000 * slot;
    queue(slot).size = kRingSize;
    written_[slot] = 0;
  }
  void open(unsigned slot) {
    lay_out(slot);
    ASSERT_EQ(create(slot, kBase + kQueues + 256 * slot), LACUNA_QUEUE_ERROR_NONE);
  }
  /// Creates a queue through the packet processor, not through registers.
  std::uint32_t open_with(unsigned slot, const QueueSetup& setup) {
    lay_out(slot);
    return b_.cp.packets.create_queue(slot, kBase + kQueues + 256 * slot, setup);
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

}  // namespace lacuna::test

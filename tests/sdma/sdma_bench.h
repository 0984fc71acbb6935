// Test bench with SDMA engines of both generations and memory of fixed latency. It uses rings, pointers and signals as the ROCm
// runtime does.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/time/tlm_time.h"
#include "models/sdma/sdma_engine.h"
#include "tests/harness/harness.h"

namespace lacuna::test {

constexpr std::uint64_t kBase = 0x7f00'0000'0000;  // GPU virtual address of the test memory, mapped read_write
constexpr std::uint64_t kBytes = 0x100000;
constexpr std::uint64_t kReadOnly = 0x7f10'0000'0000;
constexpr std::uint64_t kNoBus = 0x7f20'0000'0000;  // mapped to bus addresses without memory
constexpr std::uint64_t kPhysical = 0x1'0000'0000;
// Offsets in the test memory.
constexpr std::uint64_t kRings = 0x0;        // ring of queue q at + 0x1000 q
constexpr std::uint64_t kPointers = 0x8000;  // read pointer of queue q at + 8 q
constexpr std::uint64_t kWords = 0x9000;     // signals, fences, buffers
constexpr std::uint64_t kSource = 0x20000;
constexpr std::uint64_t kTarget = 0x80000;
constexpr std::uint64_t kRingBytes = 0x1000;

/// Memory that responds after 100 ns and records the requests.
class Memory : public sc_core::sc_module {
 public:
  struct Request {
    std::uint64_t address;
    unsigned bytes;
    bool write;
    Tick at;
  };
  explicit Memory(sc_core::sc_module_name module_name) : sc_module(module_name) {
    socket.register_b_transport(this, &Memory::b_transport);
  }
  tlm_utils::simple_target_socket<Memory> socket{"socket"};
  Tick latency{100'000};
  std::vector<Request> requests;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    EXPECT_TRUE(payload.get_extension<MemoryAttributes>()->timing_only);
    requests.push_back({payload.get_address(), payload.get_data_length(), payload.is_write(), local_time(delay)});
    advance(delay, latency);
    const bool there = payload.get_address() >= kPhysical && payload.get_address() < kPhysical + kBytes;
    payload.set_response_status(there ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
};

struct Listener : SdmaListener {
  struct Trap {
    std::uint32_t queue, context;
    Tick at;
  };
  std::vector<Trap> traps;
  std::vector<SdmaFault> faults;
  void sdma_trap(std::uint32_t queue, std::uint32_t context, Tick at) override { traps.push_back({queue, context, at}); }
  void sdma_fault(const SdmaFault& fault, Tick) override { faults.push_back(fault); }
};

class SdmaBench : public sc_core::sc_module {
 public:
  enum Engine : std::size_t { gfx8, gfx9, functional, serial, another };  // another: an engine that a derived bench adds

  explicit SdmaBench(sc_core::sc_module_name module_name) : sc_module(module_name), bytes(kBytes) {
    SdmaParameters one_request = standard();
    one_request.requests_in_flight = 1;
    add("gfx8", standard(), TimingMode::loose, isa::Target::gfx803);
    add("gfx9", standard(), TimingMode::loose, isa::Target::gfx90a);
    add("functional", standard(), TimingMode::functional, isa::Target::gfx90a);
    add("serial", one_request, TimingMode::loose, isa::Target::gfx90a);
  }
  SdmaEngine& engine(Engine e) { return *engines[e]; }
  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }

  std::vector<std::byte> bytes;
  GpuVm vm;
  Listener listener;
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<std::unique_ptr<SdmaEngine>> engines;

 protected:
  static SdmaParameters standard() {
    SdmaParameters parameters;
    parameters.request_bytes = 64;
    return parameters;
  }
  void add(const char* engine_name, const SdmaParameters& parameters, TimingMode mode, isa::Target target) {
    memories.push_back(std::make_unique<Memory>((std::string(engine_name) + "_memory").c_str()));
    engines.push_back(std::make_unique<SdmaEngine>(engine_name, parameters,
                                                   SdmaEngineContext{.index = static_cast<unsigned>(engines.size()) % 2,
                                                                     .clock = Clock(Frequency{1'000'000'000}),
                                                                     .timestamp = Clock(Frequency{100'000'000}),
                                                                     .mode = mode,
                                                                     .lookahead = Cycles{50},
                                                                     .target = target,
                                                                     .vm = vm}));
    engines.back()->memory.bind(memories.back()->socket);
    engines.back()->set_listener(listener);
  }
};

using Words = std::vector<std::uint32_t>;
using Engine = SdmaBench::Engine;

inline std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
inline std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

// Packets as software writes them. `less`: difference between an amount and its encoded count, 1 on gfx9.
inline Words copy(std::uint64_t from, std::uint64_t to, std::uint32_t size, std::uint32_t less = 1) {
  return {1, size - less, 0, low(from), high(from), low(to), high(to)};
}
inline Words fill(std::uint64_t to, std::uint32_t data, std::uint32_t size, unsigned code = 2) {
  return {0xb | code << 30, low(to), high(to), data, size - 1};
}
inline Words fence(std::uint64_t to, std::uint32_t data) { return {5, low(to), high(to), data}; }
inline Words trap(std::uint32_t context) { return {6, context}; }
inline Words poll(std::uint64_t at, unsigned function, std::uint32_t reference, unsigned retries = 0xfff) {
  return {8 | function << 28 | 1u << 31, low(at), high(at), reference, ~0u, 4 | retries << 16};
}
inline Words atomic(unsigned code, std::uint64_t at, std::uint64_t operand, std::uint64_t comparand = 0, bool loop = false) {
  return {10 | code << 25 | (loop ? 1u << 16 : 0),
          low(at),
          high(at),
          low(operand),
          high(operand),
          low(comparand),
          high(comparand),
          0};
}
inline Words timestamp(unsigned kind, std::uint64_t value) { return {0xd | kind << 8, low(value), high(value)}; }

class SdmaTest : public testing::Test {
 protected:
  SdmaBench& b_ = bench<SdmaBench>();
  struct Ring {
    Engine engine = SdmaBench::gfx9;
    std::uint32_t queue = 0;
    unsigned number = 0;
    std::uint64_t written = 0;
  };

  void SetUp() override {
    std::mt19937 random(1);
    for (std::byte& byte : b_.bytes) byte = static_cast<std::byte>(random());
    b_.vm.clear();
    ASSERT_EQ(b_.vm.map(kBase, kBytes, kPhysical, b_.bytes.data(), isa::Access::read_write), GpuVm::Status::ok);
    ASSERT_EQ(b_.vm.map(kReadOnly, 0x1000, kPhysical + kSource, b_.bytes.data() + kSource, isa::Access::read),
              GpuVm::Status::ok);
    ASSERT_EQ(b_.vm.map(kNoBus, 0x1000, 0x1000, b_.bytes.data() + kSource, isa::Access::read_write), GpuVm::Status::ok);
    b_.listener = {};
    for (auto& memory : b_.memories) memory->requests.clear();
    made_ = 0;
    // Advances to a whole microsecond, so that times in the test do not depend on earlier tests.
    wait_for(Tick{1'000'000 - now().ps % 1'000'000});
    start_ = now();
  }
  void TearDown() override {
    for (auto& engine : b_.engines) engine->reset();
    microseconds(300);
  }
  static void microseconds(std::uint64_t n) { wait_for(Tick{n * 1'000'000}); }

  Ring open(Engine engine = SdmaBench::gfx9) {
    Ring ring{.engine = engine, .number = made_++};
    const auto id = b_.engine(engine).create_queue({.ring = kBase + kRings + kRingBytes * ring.number,
                                                    .ring_bytes = kRingBytes,
                                                    .read_pointer = kBase + kPointers + 8 * ring.number,
                                                    .name = "test"});
    EXPECT_TRUE(id);
    ring.queue = id.value_or(0);
    return ring;
  }
  void put(Ring& ring, const Words& words) {
    for (const std::uint32_t word : words) {
      b_.at<std::uint32_t>(kRings + kRingBytes * ring.number + ring.written % kRingBytes) = word;
      ring.written += 4;
    }
  }
  void ring(const Ring& ring) {
    const bool wraps = ring.engine == SdmaBench::gfx8;
    EXPECT_TRUE(b_.engine(ring.engine).ring(ring.queue, wraps ? ring.written % kRingBytes : ring.written));
  }
  void run(Ring& r, const std::vector<Words>& packets, std::uint64_t us = 50) {
    for (const Words& words : packets) put(r, words);
    ring(r);
    microseconds(us);
  }
  std::uint64_t read_pointer(const Ring& ring) { return b_.at<std::uint64_t>(kPointers + 8 * ring.number); }
  bool idle(const Ring& ring) { return b_.engine(ring.engine).idle(); }
  std::vector<std::byte> snapshot() const { return b_.bytes; }
  Tick since_start(Tick at) const { return at - start_; }

  unsigned made_ = 0;
  Tick start_{};
};

}  // namespace lacuna::test

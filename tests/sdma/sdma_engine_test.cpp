// SDMA engines of both generations on memory of fixed latency, driven as the ROCm runtime does: ring, pointers, signals.
#include "models/sdma/sdma_engine.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "models/common/gpu_registers.h"
#include "models/common/tlm_time.h"
#include "tests/harness/harness.h"

namespace lacuna::test {
namespace {

constexpr std::uint64_t kBase = 0x7f00'0000'0000;  // GPU virtual address of the test's memory, read and write
constexpr std::uint64_t kBytes = 0x100000;
constexpr std::uint64_t kReadOnly = 0x7f10'0000'0000;
constexpr std::uint64_t kNoBus = 0x7f20'0000'0000;  // mapped to where no memory answers
constexpr std::uint64_t kPhysical = 0x1'0000'0000;
// Offsets in the memory.
constexpr std::uint64_t kRings = 0x0;        // of queue q at + 0x1000 q
constexpr std::uint64_t kPointers = 0x8000;  // read pointer of queue q at + 8 q
constexpr std::uint64_t kWords = 0x9000;     // signals, fences, buffers
constexpr std::uint64_t kSource = 0x20000;
constexpr std::uint64_t kTarget = 0x80000;
constexpr std::uint64_t kRingBytes = 0x1000;

/// Answers after 100 ns, and keeps what it was asked.
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

/// A device with nothing but engines: traffic is what the bulk engine's memory was asked.
struct Surroundings : CopySurroundings {
  unsigned others = 0;
  const std::vector<Memory::Request>* requests = nullptr;
  std::uint64_t added = 0;
  std::vector<CopiedRange> left;
  unsigned at_work() const override { return 1 + others; }
  void work_begins() override {}
  bool in_host_memory(std::uint64_t) const override { return false; }
  std::uint64_t l2_bytes() const override { return 0; }
  std::uint32_t l2_state(const CopiedRange&) const override { return 0; }
  void leave(const CopiedRange& range, bool) override { left.push_back(range); }
  std::vector<std::uint64_t> traffic() const override { return {requests->size()}; }
  void add_traffic(const std::vector<std::uint64_t>& amounts) override { added += amounts.at(0); }
};

class SdmaBench : public sc_core::sc_module {
 public:
  enum Engine : std::size_t { gfx8, gfx9, functional, serial, bulk, count };

  explicit SdmaBench(sc_core::sc_module_name module_name) : sc_module(module_name), bytes(kBytes) {
    SdmaParameters standard;
    standard.request_bytes = 64;
    SdmaParameters one_request = standard;
    one_request.requests_in_flight = 1;
    add("gfx8", standard, TimingMode::loose, isa::Target::gfx803);
    add("gfx9", standard, TimingMode::loose, isa::Target::gfx90a);
    add("functional", standard, TimingMode::functional, isa::Target::gfx90a);
    add("serial", one_request, TimingMode::loose, isa::Target::gfx90a);
    add("bulk", standard, TimingMode::loose, isa::Target::gfx90a);
    surroundings.requests = &memories[bulk]->requests;
    engines[bulk]->attach(surroundings);
  }
  SdmaEngine& engine(Engine e) { return *engines[e]; }
  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(bytes.data() + offset);
  }

  std::vector<std::byte> bytes;
  GpuVm vm;
  Listener listener;
  Surroundings surroundings;
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<std::unique_ptr<SdmaEngine>> engines;

 private:
  void add(const char* engine_name, const SdmaParameters& parameters, TimingMode mode, isa::Target target) {
    memories.push_back(std::make_unique<Memory>((std::string(engine_name) + "_memory").c_str()));
    engines.push_back(std::make_unique<SdmaEngine>(engine_name, parameters, static_cast<unsigned>(engines.size()) % 2,
                                                   Clock(Frequency{1'000'000'000}), Clock(Frequency{100'000'000}), mode,
                                                   Cycles{50}, target, vm));
    engines.back()->memory.bind(memories.back()->socket);
    engines.back()->set_listener(listener);
  }
};

LACUNA_TEST_BENCH(SdmaBench)

using Words = std::vector<std::uint32_t>;
using Engine = SdmaBench::Engine;

std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

// Packets as software writes them; `less` is what counts are short of the amount: 1 on gfx9.
Words copy(std::uint64_t from, std::uint64_t to, std::uint32_t size, std::uint32_t less = 1) {
  return {1, size - less, 0, low(from), high(from), low(to), high(to)};
}
Words fill(std::uint64_t to, std::uint32_t data, std::uint32_t size, unsigned code = 2) {
  return {0xb | code << 30, low(to), high(to), data, size - 1};
}
Words fence(std::uint64_t to, std::uint32_t data) { return {5, low(to), high(to), data}; }
Words trap(std::uint32_t context) { return {6, context}; }
Words poll(std::uint64_t at, unsigned function, std::uint32_t reference, unsigned retries = 0xfff) {
  return {8 | function << 28 | 1u << 31, low(at), high(at), reference, ~0u, 4 | retries << 16};
}
Words atomic(unsigned code, std::uint64_t at, std::uint64_t operand, std::uint64_t comparand = 0, bool loop = false) {
  return {10 | code << 25 | (loop ? 1u << 16 : 0),
          low(at),
          high(at),
          low(operand),
          high(operand),
          low(comparand),
          high(comparand),
          0};
}
Words timestamp(unsigned kind, std::uint64_t value) { return {0xd | kind << 8, low(value), high(value)}; }

class SdmaEngineTest : public testing::Test {
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
    // Whole microseconds: numbers below do not depend on the tests before.
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

TEST_F(SdmaEngineTest, CopiesThenFencesThenTraps) {
  for (const Engine engine : {SdmaBench::gfx8, SdmaBench::gfx9, SdmaBench::functional, SdmaBench::serial}) {
    b_.listener = {};
    Ring r = open(engine);
    const auto before = snapshot();
    const std::uint32_t less = engine == SdmaBench::gfx8 ? 0 : 1;
    run(r, {copy(kBase + kSource, kBase + kTarget, 5000, less), fence(kBase + kWords, 0xabcd), trap(77)});
    EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &before[kSource], 5000), 0) << engine;
    EXPECT_EQ(b_.at<std::byte>(kTarget + 5000), before[kTarget + 5000]) << engine;
    EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0xabcdu);
    ASSERT_EQ(b_.listener.traps.size(), 1u);
    EXPECT_EQ(b_.listener.traps[0].context, 77u);
    EXPECT_EQ(b_.listener.traps[0].queue, r.queue);
    EXPECT_EQ(read_pointer(r) & 0xffff'ffff, r.written);
    EXPECT_TRUE(idle(r));
    b_.engine(engine).reset();
    for (std::byte& byte : b_.bytes) byte ^= std::byte{0x5a};
  }
}

// A fence says that the data are in memory: it must not be seen before the last write of the copy was taken.
TEST_F(SdmaEngineTest, FenceLeavesWhenAllDataAreInMemory) {
  Ring r = open();
  run(r, {copy(kBase + kSource, kBase + kTarget, 4096), fence(kBase + kWords, 1)});
  const auto& requests = b_.memories[SdmaBench::gfx9]->requests;
  Tick last_data{};
  for (const auto& request : requests) {
    if (request.write && request.bytes == 64) last_data = later(last_data, request.at + Tick{100'000});
  }
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests.back().bytes, 4u);
  EXPECT_GE(requests.back().at, last_data);
}

// The ring's line is read (100 ns), the packet taken (100 cycles), a line leaves every two cycles, and the last one is read and
// written (200 ns). The trap's own packet is taken meanwhile.
TEST_F(SdmaEngineTest, CopiesTakeTheTimeOfTheirBytes) {
  struct Row {
    std::uint32_t size;
    std::uint64_t ns;
  };
  const Row rows[] = {{64, 400}, {128, 402}, {4096, 526}, {65536, 2446}};
  for (const Row& row : rows) {
    b_.listener = {};
    Ring r = open();
    wait_for(Tick{1'000'000 - now().ps % 1'000'000});
    const Tick start = now();
    run(r, {copy(kBase + kSource, kBase + kTarget, row.size), trap(0)});
    ASSERT_EQ(b_.listener.traps.size(), 1u);
    EXPECT_NEAR(static_cast<double>((b_.listener.traps[0].at - start).ps) / 1000, static_cast<double>(row.ns), 1) << row.size;
    b_.engine(r.engine).reset();
  }
}

TEST_F(SdmaEngineTest, OneRequestInFlightWaitsForEachWrite) {
  Ring r = open(SdmaBench::serial);
  run(r, {copy(kBase + kSource, kBase + kTarget, 6400), trap(0)});
  ASSERT_EQ(b_.listener.traps.size(), 1u);
  // 100 lines, each read and written before the next; and 300 ns as above.
  EXPECT_NEAR(static_cast<double>(since_start(b_.listener.traps[0].at).ps) / 1000, 100 * 200 + 300, 110);
}

// In bulk: the same bytes, the same time, and traffic that is told instead of made; others at work end it.
TEST_F(SdmaEngineTest, LargeCopiesGoInBulk) {
  constexpr std::uint32_t kLarge = 0x5f000 + 17;  // more than is sampled
  const auto run_one = [&](Engine engine, const Words& packet) {
    b_.listener = {};
    b_.surroundings.added = 0;
    b_.memories[engine]->requests.clear();
    Ring r = open(engine);
    wait_for(Tick{1'000'000 - now().ps % 1'000'000});
    const Tick start = now();
    run(r, {packet, trap(0)});
    EXPECT_EQ(b_.listener.traps.size(), 1u);
    EXPECT_TRUE(b_.engine(engine).destroy_queue(r.queue));  // a reset would forget what copies cost
    return b_.listener.traps.empty() ? 0.0 : static_cast<double>((b_.listener.traps[0].at - start).ps);
  };
  for (const std::uint64_t offset : {0, 5}) {
    const Words copied = copy(kBase + kSource + offset, kBase + kTarget, kLarge);
    for (const Words& packet : {copied, fill(kBase + kTarget + offset, 0xabcd1234, kLarge, 0)}) {
      const std::uint64_t to = packet == copied ? kTarget : kTarget + offset;
      const double detailed = run_one(SdmaBench::gfx9, packet);
      const auto expected = snapshot();
      const std::size_t requests = b_.memories[SdmaBench::gfx9]->requests.size();
      for (const bool sampled : {false, true}) {
        for (std::uint64_t i = kTarget; i < kBytes; ++i) b_.bytes[i] = std::byte{1};
        b_.surroundings.left.clear();
        EXPECT_NEAR(run_one(SdmaBench::bulk, packet), detailed, 0.01 * detailed) << offset << sampled;
        EXPECT_EQ(std::memcmp(&b_.at<std::byte>(to), &expected[to], kLarge), 0) << offset << sampled;
        EXPECT_EQ(b_.at<std::byte>(to + kLarge), std::byte{1});
        const std::size_t made = b_.memories[SdmaBench::bulk]->requests.size();
        EXPECT_LT(made, sampled ? requests / 100 : requests);
        EXPECT_NEAR(static_cast<double>(made + b_.surroundings.added), static_cast<double>(requests),
                    0.01 * static_cast<double>(requests));
        ASSERT_EQ(b_.surroundings.left.size(), 1u) << "what is in the caches afterwards";
        EXPECT_EQ(b_.surroundings.left[0].destination + b_.surroundings.left[0].bytes, kBase + to + kLarge);
      }
      b_.surroundings.others = 1;
      EXPECT_NEAR(run_one(SdmaBench::bulk, packet), detailed, 0.01 * detailed);
      EXPECT_EQ(b_.surroundings.added, 0u);
      EXPECT_NEAR(static_cast<double>(b_.memories[SdmaBench::bulk]->requests.size()), static_cast<double>(requests),
                  0.01 * static_cast<double>(requests));
      b_.surroundings.others = 0;
    }
  }
}

TEST_F(SdmaEngineTest, FunctionalTakesTimeButNoRequests) {
  Ring r = open(SdmaBench::functional);
  run(r, {copy(kBase + kSource, kBase + kTarget, 64 * 1024), fence(kBase + kWords, 3), trap(0)});
  EXPECT_TRUE(b_.memories[SdmaBench::functional]->requests.empty());
  ASSERT_EQ(b_.listener.traps.size(), 1u);
  EXPECT_NEAR(static_cast<double>(since_start(b_.listener.traps[0].at).ps) / 1000, 2048 + 300, 60);
}

TEST_F(SdmaEngineTest, EveryMisalignmentCopiesEveryByte) {
  Ring r = open();
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 70; to += 23) {
      for (const std::uint32_t size : {1u, 3u, 63u, 64u, 65u, 191u}) {
        auto expected = snapshot();
        std::memcpy(&expected[kTarget + to], &expected[kSource + from + 61], size);
        put(r, copy(kBase + kSource + from + 61, kBase + kTarget + to, size));
        ring(r);
        microseconds(3);
        ASSERT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &expected[kTarget], 512), 0) << from << ' ' << to << ' ' << size;
      }
    }
  }
  // No line is read or written twice for one copy.
  b_.memories[r.engine]->requests.clear();
  run(r, {copy(kBase + kSource + 5, kBase + kTarget + 40, 640)});
  std::size_t reads = 0;
  std::size_t writes = 0;
  for (const auto& request : b_.memories[r.engine]->requests) {
    if (request.address >= kPhysical + kTarget) ++writes;
    if (request.address >= kPhysical + kSource && request.address < kPhysical + kTarget) ++reads;
  }
  EXPECT_EQ(reads, 11u);
  EXPECT_EQ(writes, 11u);
}

TEST_F(SdmaEngineTest, BroadcastWritesBothDestinations) {
  for (const Engine engine : {SdmaBench::gfx9, SdmaBench::functional}) {
    Ring r = open(engine);
    const auto before = snapshot();
    Words words = copy(kBase + kSource, kBase + kTarget, 300);
    words[0] |= 1u << 27;
    words.insert(words.end(), {low(kBase + kTarget + 0x1011), high(kBase + kTarget)});
    run(r, {words});
    EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &before[kSource], 300), 0);
    EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget + 0x1011), &before[kSource], 300), 0);
    EXPECT_EQ(b_.at<std::byte>(kTarget + 0x1010), before[kTarget + 0x1010]);
    b_.engine(engine).reset();
    for (std::byte& byte : b_.bytes) byte ^= std::byte{0x5a};
  }
}

TEST_F(SdmaEngineTest, SubWindowsCopyABox) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  for (const Engine engine : {SdmaBench::gfx8, SdmaBench::gfx9}) {
    Ring r = open(engine);
    for (int i = 0; i < 20; ++i) {
      const unsigned log_element = below(5);
      const unsigned element = 1U << log_element;
      const std::uint32_t width = 1 + below(20), height = 1 + below(6), depth = 1 + below(4);
      struct Array {
        std::uint32_t x, y, z, pitch, slice;
      } from{below(4), below(3), below(2), 24 + below(10), 0}, to{below(4), below(3), below(2), 24 + below(10), 0};
      from.slice = from.pitch * 10;
      to.slice = to.pitch * 9;
      auto expected = snapshot();
      for (std::uint32_t z = 0; z < depth; ++z) {
        for (std::uint32_t y = 0; y < height; ++y) {
          const auto row = [&](const Array& a) {
            return std::uint64_t{(a.z + z) * a.slice + (a.y + y) * a.pitch + a.x} * element;
          };
          std::memcpy(&expected[kTarget + row(to)], &expected[kSource + row(from)], std::size_t{width} * element);
        }
      }
      Words words = {1 | 4u << 8 | log_element << 29};
      for (const auto& [base, a] : {std::pair{kBase + kSource, from}, {kBase + kTarget, to}}) {
        words.insert(words.end(), {low(base), high(base), a.x | a.y << 16, a.z | (a.pitch - 1) << 13, a.slice - 1});
      }
      words.insert(words.end(), {(width - 1) | (height - 1) << 16, depth - 1});
      run(r, {words});
      ASSERT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &expected[kTarget], kBytes - kTarget), 0) << i;
    }
    b_.engine(engine).reset();
  }
}

TEST_F(SdmaEngineTest, FillsRepeatTheirUnit) {
  Ring r = open();
  const auto before = snapshot();
  const std::uint64_t written = b_.engine(r.engine).statistics().bytes_written;
  run(r, {fill(kBase + kTarget + 4, 0x04030201, 1000), fill(kBase + kTarget + 0x1000, 0xbbaa, 130, 1),
          fill(kBase + kTarget + 0x2001, 0x77, 67, 0)});
  EXPECT_EQ(b_.at<std::byte>(kTarget + 3), before[kTarget + 3]);
  for (unsigned i = 0; i < 1000; ++i) ASSERT_EQ(b_.at<std::uint8_t>(kTarget + 4 + i), i % 4 + 1) << i;
  EXPECT_EQ(b_.at<std::byte>(kTarget + 1004), before[kTarget + 1004]);
  for (unsigned i = 0; i < 130; ++i) ASSERT_EQ(b_.at<std::uint8_t>(kTarget + 0x1000 + i), i % 2 != 0 ? 0xbb : 0xaa) << i;
  for (unsigned i = 0; i < 67; ++i) ASSERT_EQ(b_.at<std::uint8_t>(kTarget + 0x2001 + i), 0x77) << i;
  EXPECT_EQ(b_.at<std::byte>(kTarget + 0x2001 + 67), before[kTarget + 0x2001 + 67]);
  EXPECT_EQ(b_.engine(r.engine).statistics().bytes_written - written, 1000u + 130u + 67u);
}

// Packets go over the end of the ring, pointers wrap on gfx8 and grow on gfx9.
TEST_F(SdmaEngineTest, RingsWrap) {
  for (const Engine engine : {SdmaBench::gfx8, SdmaBench::gfx9}) {
    Ring r = open(engine);
    const std::uint32_t less = engine == SdmaBench::gfx8 ? 0 : 1;
    for (std::uint32_t i = 0; i < 200; ++i) {
      Words write = {2, low(kBase + kTarget + 64 * i), high(kBase), 9 - less};
      for (std::uint32_t word = 0; word < 9; ++word) write.push_back(i * 16 + word);
      put(r, write);
      ring(r);
      microseconds(3);
      ASSERT_EQ(read_pointer(r) & 0xffff'ffff, engine == SdmaBench::gfx8 ? r.written % kRingBytes : r.written) << i;
      for (std::uint32_t word = 0; word < 9; ++word) {
        ASSERT_EQ(b_.at<std::uint32_t>(kTarget + 64 * i + 4 * word), i * 16 + word) << i << ' ' << word;
      }
    }
    b_.engine(engine).reset();
  }
}

TEST_F(SdmaEngineTest, APacketThatIsNotWholeWaitsForItsRest) {
  Ring r = open();
  const Words words = fence(kBase + kWords, 0x1234);
  b_.at<std::uint32_t>(kWords) = 0;
  put(r, {words[0], words[1]});
  ring(r);
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0u);
  EXPECT_EQ(read_pointer(r), 0u);
  put(r, {words[2], words[3]});
  ring(r);
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0x1234u);
}

TEST_F(SdmaEngineTest, PollsHoldBackTheirQueueOnly) {
  Ring waiting = open();
  Ring other = open();
  b_.at<std::uint64_t>(kWords) = 1;
  b_.at<std::uint32_t>(kWords + 8) = 0;
  b_.at<std::uint32_t>(kWords + 12) = 0;
  run(waiting, {poll(kBase + kWords, 3, 0), fence(kBase + kWords + 8, 1)}, 20);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 0u);
  EXPECT_FALSE(idle(waiting));
  EXPECT_TRUE(b_.engine(waiting.engine).polling());
  run(other, {fence(kBase + kWords + 12, 1)}, 5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 12), 1u);
  b_.at<std::uint64_t>(kWords) = 0;
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 1u);
  EXPECT_TRUE(idle(waiting));
  EXPECT_FALSE(b_.engine(waiting.engine).polling());
}

/// Answers at once, and keeps what it was told.
struct Translations : TranslationLevel {
  Tick translate(std::uint64_t, Tick at) override {
    ++lookups;
    return at;
  }
  void retire(Tick horizon) override { forgotten = horizon; }
  std::uint64_t lookups = 0;
  Tick forgotten{};
};

// Nobody else may ask for a translation for a long time.
TEST_F(SdmaEngineTest, TranslationsAreForgottenByPollsAndCopies) {
  Translations tlb;
  b_.engine(SdmaBench::gfx9).attach_tlb(&tlb);
  Ring r = open();
  b_.at<std::uint64_t>(kWords) = 1;
  run(r, {poll(kBase + kWords, 3, 0)}, 200);
  EXPECT_GT(tlb.lookups, 100u) << "a look each microsecond";
  EXPECT_GT(tlb.forgotten + Tick{2'000'000}, now());
  b_.at<std::uint64_t>(kWords) = 0;
  microseconds(5);
  run(r, {copy(kBase + kSource, kBase + kTarget, 0x10000)}, 2);
  EXPECT_FALSE(idle(r));
  EXPECT_GT(tlb.forgotten + Tick{500'000}, now());
  microseconds(50);
  EXPECT_TRUE(idle(r));
  b_.engine(SdmaBench::gfx9).attach_tlb(nullptr);
}

TEST_F(SdmaEngineTest, PollsGiveUpAfterTheirRetries) {
  Ring r = open();
  b_.at<std::uint32_t>(kWords) = 1;
  b_.at<std::uint32_t>(kWords + 8) = 0;
  const std::uint64_t polls = b_.engine(r.engine).statistics().polls;
  run(r, {poll(kBase + kWords, 3, 0, 4), fence(kBase + kWords + 8, 1)}, 20);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 1u);
  EXPECT_EQ(b_.engine(r.engine).statistics().polls - polls, 5u);
  // An HDP flush: a poll of no memory.
  Words flush = poll(0, 0, 0);
  flush[0] = 8 | 1u << 26;
  run(r, {flush, fence(kBase + kWords + 8, 2)}, 5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 2u);
}

TEST_F(SdmaEngineTest, AtomicsChangeSignals) {
  Ring r = open();
  b_.at<std::int64_t>(kWords) = 1;
  run(r, {atomic(47, kBase + kWords, ~std::uint64_t{0})}, 5);
  EXPECT_EQ(b_.at<std::int64_t>(kWords), 0);
  run(r, {atomic(47, kBase + kWords, ~std::uint64_t{0})}, 5);
  EXPECT_EQ(b_.at<std::int64_t>(kWords), -1);
  // 32-bit operations leave the neighbours alone.
  run(r, {atomic(15, kBase + kWords + 4, 2)}, 5);
  EXPECT_EQ(b_.at<std::uint64_t>(kWords), 0x1'ffff'ffffu);
  // A looping compare and exchange waits for the value, and keeps the queue.
  b_.at<std::uint64_t>(kWords) = 5;
  run(r, {atomic(40, kBase + kWords, 9, 6, true), fence(kBase + kWords + 16, 0x77)}, 10);
  EXPECT_EQ(b_.at<std::uint64_t>(kWords), 5u);
  EXPECT_NE(b_.at<std::uint32_t>(kWords + 16), 0x77u);
  b_.at<std::uint64_t>(kWords) = 6;
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint64_t>(kWords), 9u);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 16), 0x77u);
}

TEST_F(SdmaEngineTest, TimestampsCountTheTimestampClock) {
  Ring r = open();
  run(r, {timestamp(2, kBase + kWords), copy(kBase + kSource, kBase + kTarget, 32768), timestamp(2, kBase + kWords + 32)});
  const std::uint64_t first = b_.at<std::uint64_t>(kWords);
  const std::uint64_t second = b_.at<std::uint64_t>(kWords + 32);
  EXPECT_GE(first, start_.ps / 10'000);
  EXPECT_LE(second, now().ps / 10'000);
  // The copy's 1,024 cycles and 200 ns, and its packet: in units of 10 ns.
  EXPECT_NEAR(static_cast<double>(second - first), 102.4 + 20 + 40, 25);
  // The engine's own counter starts where it is set.
  run(r, {timestamp(0, 1'000'000), timestamp(1, kBase + kWords)}, 5);
  EXPECT_NEAR(static_cast<double>(b_.at<std::uint64_t>(kWords)), 1'000'000, 60);
  run(r, {timestamp(2, kBase + kWords)}, 5);
  EXPECT_NEAR(static_cast<double>(b_.at<std::uint64_t>(kWords)), static_cast<double>(now().ps) / 10'000, 600);
}

TEST_F(SdmaEngineTest, ConditionalPacketsAreSkippedOrNot) {
  Ring r = open();
  b_.at<std::uint32_t>(kWords) = 1;
  b_.at<std::uint64_t>(kWords + 8) = 0;
  const Words if_one = {9, low(kBase + kWords), high(kBase), 1, 4};
  const Words if_two = {9, low(kBase + kWords), high(kBase), 2, 4};
  run(r, {if_one, fence(kBase + kWords + 8, 1), if_two, fence(kBase + kWords + 12, 1), trap(9)});
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 8), 1u);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 12), 0u);
  ASSERT_EQ(b_.listener.traps.size(), 1u);
  EXPECT_EQ(read_pointer(r), r.written);
}

TEST_F(SdmaEngineTest, IndirectBuffersAreCarriedOutInPlace) {
  Ring r = open();
  const auto before = snapshot();
  Words buffer = copy(kBase + kSource, kBase + kTarget, 100);
  const Words end = fence(kBase + kWords, 0x99);
  buffer.insert(buffer.end(), end.begin(), end.end());
  std::memcpy(&b_.at<std::byte>(kWords + 0x100), buffer.data(), buffer.size() * 4);
  const auto indirect = [&](std::size_t words) -> Words {
    return {4, low(kBase + kWords + 0x100), high(kBase), static_cast<std::uint32_t>(words), 0, 0};
  };
  run(r, {indirect(buffer.size()), fence(kBase + kWords + 4, 0x98)});
  EXPECT_EQ(std::memcmp(&b_.at<std::byte>(kTarget), &before[kSource], 100), 0);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0x99u);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords + 4), 0x98u);
  EXPECT_EQ(read_pointer(r), r.written);
  // A buffer that ends within a packet.
  run(r, {indirect(buffer.size() - 1)});
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_NE(b_.listener.faults[0].text.find("indirect buffer ends"), std::string::npos) << b_.listener.faults[0].text;
}

TEST_F(SdmaEngineTest, WhatCannotBeDoneStopsItsQueueOnly) {
  struct Row {
    Words words;
    std::uint32_t code;
    std::uint64_t address;
    bool write;
    const char* says;
  };
  const std::uint64_t end = kBase + kBytes;
  const Row rows[] = {
      {copy(end - 64, kBase + kTarget, 256), LACUNA_FAULT_NOT_MAPPED, end, false, "not mapped"},
      {copy(kBase + kSource, end - 128, 256), LACUNA_FAULT_NOT_MAPPED, end, true, "0 bytes past the end of the mapping"},
      {fill(kReadOnly, 1, 64), LACUNA_FAULT_NOT_PERMITTED, kReadOnly, true, "not writable"},
      {copy(kNoBus, kBase + kTarget, 64), LACUNA_FAULT_NOT_MAPPED, kNoBus, false, "nothing answers at bus address 0x1000"},
      {fence(kBase + kWords + 2, 1), LACUNA_FAULT_MISALIGNED, kBase + kWords + 2, true, "not a multiple of 4"},
      {atomic(47, kBase + kWords + 4, 1), LACUNA_FAULT_MISALIGNED, kBase + kWords + 4, true, "not a multiple of 8"},
      {poll(0x1000, 3, 0), LACUNA_FAULT_NOT_MAPPED, 0x1000, false, "not mapped"},
      {{0x0c, 0, 0, 0}, LACUNA_FAULT_NONE, 0, false, "operation 12, sub-operation 0 is not supported"},
      {{2, 0, 0, 5000}, LACUNA_FAULT_NONE, 0, false, "packet of 5005 words"},
      {{4, 0x2000, 0, 16, 0, 0}, LACUNA_FAULT_NOT_MAPPED, 0x2000, false, "indirect buffer at 0x2000"},
  };
  for (const Row& row : rows) {
    b_.listener = {};
    Ring bad = open();
    Ring good = open();
    b_.at<std::uint32_t>(kWords + 64) = 0;
    run(bad, {Words{0}, row.words, fence(kBase + kWords + 64, 1)}, 5);
    run(good, {fence(kBase + kWords + 68, 0x1111)}, 5);
    ASSERT_EQ(b_.listener.faults.size(), 1u) << row.says;
    const SdmaFault& fault = b_.listener.faults[0];
    EXPECT_EQ(fault.queue, bad.queue);
    EXPECT_EQ(fault.code, row.code) << fault.text;
    EXPECT_EQ(fault.address, row.address) << fault.text;
    EXPECT_EQ(fault.write, row.write) << fault.text;
    EXPECT_NE(fault.text.find(row.says), std::string::npos) << fault.text;
    EXPECT_EQ(b_.at<std::uint32_t>(kWords + 64), 0u) << row.says;
    EXPECT_EQ(b_.at<std::uint32_t>(kWords + 68), 0x1111u) << row.says;
    EXPECT_LE(read_pointer(bad), 4u + 24u) << row.says;
    EXPECT_TRUE(idle(bad)) << row.says;
    b_.at<std::uint32_t>(kWords + 68) = 0;
    b_.engine(bad.engine).reset();
    made_ = 0;
  }
}

TEST_F(SdmaEngineTest, WritePointersBeyondTheRingStopTheQueue) {
  Ring r = open();
  EXPECT_TRUE(b_.engine(r.engine).ring(r.queue, kRingBytes + 4));
  ASSERT_EQ(b_.listener.faults.size(), 1u);
  EXPECT_NE(b_.listener.faults[0].text.find("write pointer 0x1004"), std::string::npos) << b_.listener.faults[0].text;
}

// Nothing is touched after destroy_queue() has returned, though a copy was under way.
TEST_F(SdmaEngineTest, DestroyedQueuesLeaveMemoryAlone) {
  Ring r = open();
  put(r, copy(kBase + kSource, kBase + kTarget, 256 * 1024));
  put(r, fence(kBase + kWords, 0x4711));
  ring(r);
  microseconds(2);
  const auto before = snapshot();
  EXPECT_NE(std::memcmp(&b_.at<std::byte>(kTarget), &b_.at<std::byte>(kSource), 256 * 1024), 0);
  EXPECT_TRUE(b_.engine(r.engine).destroy_queue(r.queue));
  EXPECT_FALSE(b_.engine(r.engine).destroy_queue(r.queue));
  EXPECT_FALSE(b_.engine(r.engine).ring(r.queue, 4));
  b_.vm.clear();
  microseconds(50);
  EXPECT_EQ(before, b_.bytes);
  EXPECT_TRUE(b_.listener.faults.empty());
}

TEST_F(SdmaEngineTest, SuspendedQueuesGoOnWhereTheyWere) {
  Ring r = open();
  b_.at<std::uint32_t>(kWords) = 0;
  EXPECT_TRUE(b_.engine(r.engine).suspend_queue(r.queue, true));
  run(r, {fence(kBase + kWords, 5)}, 10);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 0u);
  EXPECT_TRUE(idle(r));
  EXPECT_TRUE(b_.engine(r.engine).suspend_queue(r.queue, false));
  microseconds(5);
  EXPECT_EQ(b_.at<std::uint32_t>(kWords), 5u);
  EXPECT_FALSE(b_.engine(r.engine).suspend_queue(99, true));
}

TEST_F(SdmaEngineTest, QueuesShareTheEngineRoundRobin) {
  Ring a = open();
  Ring b = open();
  for (unsigned i = 0; i < 8; ++i) {
    put(a, trap(i));
    put(b, trap(100 + i));
  }
  ring(a);
  ring(b);
  microseconds(20);
  ASSERT_EQ(b_.listener.traps.size(), 16u);
  for (unsigned i = 0; i + 1 < 16; ++i) EXPECT_NE(b_.listener.traps[i].queue, b_.listener.traps[i + 1].queue) << i;
}

TEST_F(SdmaEngineTest, DescriptionsThatMakeNoSenseAreRefused) {
  SdmaEngine& engine = b_.engine(SdmaBench::gfx9);
  const SdmaQueueDescription good{.ring = kBase, .ring_bytes = kRingBytes, .read_pointer = kBase + kPointers, .name = "test"};
  const auto refused = [&](auto change) {
    SdmaQueueDescription description = good;
    change(description);
    return !engine.create_queue(description).has_value();
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& d) { d.ring_bytes = 3000; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring_bytes = 128; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring += 4; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring = 0x1000; }));
  EXPECT_TRUE(refused([](auto& d) { d.ring = kBase + kBytes - 256; }));
  EXPECT_TRUE(refused([](auto& d) { d.read_pointer += 4; }));
  EXPECT_TRUE(refused([](auto& d) { d.read_pointer = kReadOnly; }));
  // Numbers: never 0, never twice, also not between the engines of a GPU.
  const auto first = engine.create_queue(good);
  const auto second = engine.create_queue(good);
  const auto other = b_.engine(SdmaBench::gfx8).create_queue(good);
  EXPECT_NE(first, second);
  EXPECT_NE(*first % 2, *other % 2);
  EXPECT_NE(*first, 0u);
}

}  // namespace
}  // namespace lacuna::test

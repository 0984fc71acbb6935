// Tests memory that host threads access while a GPU kernel runs: no addition of either side may be lost, and 64-bit values are
// never read half written.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr unsigned kRounds = 20'000;

/// Repeats a kernel's instructions in this thread while another thread repeats `work`: at least `rounds` rounds, and until the
/// other thread has executed `work` kMeetings times, but not beyond an event. `work` starts before the first instruction and
/// ends after the last. Returns the number of rounds.
template <typename Work>
unsigned beside(Machine& m, const std::vector<std::string>& lines, unsigned rounds, Work&& work) {
  constexpr unsigned kMeetings = 1000;
  const auto program = assemble_by_llvm(lines, m.wave.target);
  std::atomic<bool> stop = false;
  std::atomic<unsigned> worked = 0;
  std::thread host([&] {
    while (!stop) {
      work();
      ++worked;
    }
  });
  while (worked == 0) std::this_thread::yield();
  const unsigned before = worked;
  unsigned done = 0;
  for (; done < rounds || worked - before < kMeetings; ++done) {
    for (const auto& words : program) m.step(words);
    if (m.wave.event != Event::none) break;
  }
  stop = true;
  host.join();
  return done;
}

struct AtomicCase {
  Target target;
  const char* instruction;
  unsigned lanes;  // number of lanes, each of which adds 1
  unsigned rounds;
};

class SharedAtomics : public testing::TestWithParam<AtomicCase> {};

TEST_P(SharedAtomics, OperationsConcurrentWithTheHostAreNotLost) {
  const AtomicCase& c = GetParam();
  Machine m;
  m.wave.target = c.target;
  auto* counter = reinterpret_cast<std::uint64_t*>(m.memory.map(kBase, 4096, Access::read_write, Sharing::other_threads));
  m.wave.write64(2, kBase);
  m.wave.write64(4, 1);
  for (unsigned l = 0; l < kLanes; ++l) {
    m.v(0, l) = static_cast<std::uint32_t>(kBase);
    m.v(1, l) = static_cast<std::uint32_t>(kBase >> 32);
    m.v(2, l) = 1;
  }
  std::uint64_t added = 0;
  const std::uint64_t rounds = beside(m, {c.instruction}, c.rounds, [&] {
    std::atomic_ref(*counter).fetch_add(1);
    ++added;
  });
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(*counter, added + rounds * c.lanes);
}

INSTANTIATE_TEST_SUITE_P(Paths, SharedAtomics,
                         testing::Values(AtomicCase{Target::gfx803, "flat_atomic_add_x2 v[0:1], v[2:3]", kLanes, kRounds},
                                         AtomicCase{Target::gfx90a, "global_atomic_add_x2 v[0:1], v[2:3], off", kLanes,
                                                    kRounds},
                                         AtomicCase{Target::gfx90a, "s_atomic_add_x2 s[4:5], s[2:3], 0x0", 1, 10 * kRounds}));

TEST(SharedMemory, CompareAndSwapSeesEveryChange) {
  Machine m;
  auto* word = reinterpret_cast<std::uint32_t*>(m.memory.map(kBase, 4096, Access::read_write, Sharing::other_threads));
  m.wave.set_exec(1);
  m.v(0, 0) = static_cast<std::uint32_t>(kBase);
  m.v(1, 0) = static_cast<std::uint32_t>(kBase >> 32);
  const auto load = assemble_by_llvm({"flat_load_dword v4, v[0:1]"}, m.wave.target)[0];
  const auto swap = assemble_by_llvm({"flat_atomic_cmpswap v5, v[0:1], v[2:3] glc"}, m.wave.target)[0];
  std::uint32_t swapped = 0;
  std::uint32_t missed = 0;  // swaps that failed because of concurrent accesses by the host
  std::atomic<std::uint32_t> added = 0;
  std::atomic<bool> stop = false;
  std::thread host([&] {
    while (!stop) {
      std::atomic_ref(*word).fetch_add(1);
      ++added;
      std::this_thread::yield();  // gives the GPU's swap a chance to succeed
    }
  });
  for (unsigned i = 0; i < kRounds || swapped == 0 || missed == 0; ++i) {
    m.step(load);
    m.v(3, 0) = m.v(4, 0);      // the comparand
    m.v(2, 0) = m.v(4, 0) + 1;  // the new value
    m.step(swap);
    ++(m.v(5, 0) == m.v(4, 0) ? swapped : missed);
  }
  stop = true;
  host.join();
  EXPECT_EQ(*word, added + swapped);
}

TEST(SharedMemory, QuadwordsAreLoadedAndStoredWhole) {
  Machine m;
  std::byte* at = m.memory.map(kBase, 4096, Access::read_write, Sharing::other_threads);
  auto* to_kernel = reinterpret_cast<std::uint64_t*>(at);
  auto* to_host = reinterpret_cast<std::uint64_t*>(at + 64);
  m.wave.set_exec(1ULL << 9);
  m.v(0, 9) = static_cast<std::uint32_t>(kBase);
  m.v(2, 9) = static_cast<std::uint32_t>(kBase) + 64;
  m.v(1, 9) = m.v(3, 9) = static_cast<std::uint32_t>(kBase >> 32);
  std::uint64_t value = 0;
  unsigned torn = 0;
  beside(m, {"flat_load_dwordx2 v[4:5], v[0:1]", "flat_store_dwordx2 v[2:3], v[4:5]"}, kRounds, [&] {
    ++value;
    std::atomic_ref(*to_kernel).store(value << 32 | value);
    const std::uint64_t seen = std::atomic_ref(*to_host).load();
    torn += seen >> 32 != (seen & 0xffffffff) ? 1U : 0U;
  });
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(m.v(4, 9), m.v(5, 9));
}

}  // namespace
}  // namespace lacuna::isa::test

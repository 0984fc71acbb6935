// The hart's quantum does not affect a program: every interrupt line of the platform causes the same traps between the same
// instructions, whether the hart waits for the SystemC kernel after each block of instructions or runs ahead of the kernel by a
// millisecond.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/common/time/units.h"
#include "platform/loaders/elf_file.h"
#include "platform/platform.h"

namespace lacuna {
namespace {

using namespace literals;

/// Layout as in programs/interrupts.c.
struct TrapEntry {
  std::uint64_t cause = 0;
  std::uint64_t pc = 0;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t time = 0;
  std::uint64_t found = 0;
  bool operator==(const TrapEntry&) const = default;
};
constexpr std::uint64_t kMark = 99;
constexpr std::uint64_t kFirstOfGpu = 70;

void PrintTo(const TrapEntry& entry, std::ostream* out) {
  *out << std::hex << "cause " << entry.cause << " pc " << entry.pc << " found " << entry.found << std::dec << " instructions "
       << entry.instructions << " cycles " << entry.cycles << " time " << entry.time;
}

/// A platform with a hart that runs the program. All platforms run in one simulation, with different quanta.
class Machine {
 public:
  Machine(const std::string& name, Tick quantum)
      : platform_(name.c_str(), parameters(quantum), true,
                  {[this](std::string_view bytes) { console += bytes; },
                   [this] { return read_ < kInput.size() ? kInput[read_++] : -1; }}),
        program_(ElfFile::read(LACUNA_INTERRUPTS_ELF)) {
    platform_.load(program_, "interrupts stay");
  }

  std::vector<TrapEntry> traps() {
    std::vector<TrapEntry> entries(static_cast<std::size_t>(value("trap_count")));
    EXPECT_TRUE(platform_.hart().read_memory(program_.symbol("trap_log").value(), std::as_writable_bytes(std::span(entries))));
    return entries;
  }
  bool finished() { return value("finished") != 0; }

  std::string console;

 private:
  static constexpr std::string_view kInput = "wxyz";

  static PlatformParameters parameters(Tick quantum) {
    PlatformParameters p;
    p.hart.quantum = quantum;
    p.sim.threads = 1;
    p.gpu.gpu.shader_arrays = 1;
    p.gpu.gpu.cus_per_shader_array = 1;
    p.gpu.gpu.cus_per_l1v = 1;
    p.gpu.vram.size = Bytes{64 << 20};
    return p;
  }
  std::uint64_t value(const char* symbol) {
    std::uint64_t value = 0;
    EXPECT_TRUE(platform_.hart().read_memory(program_.symbol(symbol).value(), std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }

  std::size_t read_ = 0;
  Platform platform_;
  ElfFile program_;
};

/// Sets counters and time to 0 in the GPU's part of the entries. They may differ between runs, because the number of polls
/// depends on whether the GPU has finished when the program finds its interrupt.
std::vector<TrapEntry> comparable(std::vector<TrapEntry> entries) {
  bool gpu = false;
  for (TrapEntry& entry : entries) {
    gpu = gpu || (entry.cause == kMark && entry.pc == kFirstOfGpu);
    if (gpu) entry.instructions = entry.cycles = entry.time = 0;
  }
  return entries;
}

TEST(InterruptSequence, DoesNotDependOnTheQuantum) {
  const std::array<Tick, 6> quanta{1_ns, HartParameters{}.quantum, 1000_us, 10_ns, 137_ns, 10_us};
  std::vector<std::unique_ptr<Machine>> machines;
  for (const Tick quantum : quanta) machines.push_back(std::make_unique<Machine>("q" + std::to_string(quantum.ps), quantum));

  sc_core::sc_start();  // runs until all harts sleep

  const std::vector<TrapEntry> expected = comparable(machines.front()->traps());
  for (std::size_t m = 0; m < machines.size(); ++m) {
    SCOPED_TRACE("quantum " + std::to_string(quanta[m].ps) + " ps");
    // The program prints errors that its checks find, and "." in any case.
    EXPECT_EQ(machines[m]->console, ".");
    EXPECT_TRUE(machines[m]->finished());
    const std::vector<TrapEntry> traps = comparable(machines[m]->traps());
    EXPECT_EQ(traps.size(), expected.size());
    for (std::size_t i = 0; i < std::min(traps.size(), expected.size()); ++i) {
      EXPECT_EQ(traps[i], expected[i]) << "entry " << i;
      if (HasFailure()) break;
    }
  }
}

}  // namespace
}  // namespace lacuna

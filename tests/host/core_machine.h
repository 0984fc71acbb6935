// The hart's core with flat memory, without SystemC. Tests encode instructions from the instruction table and run them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "models/host/rv64/rv64_execute.h"

namespace lacuna::rv64 {

// Register numbers of the calling convention.
inline constexpr unsigned kRa = 1, kSp = 2, kT0 = 5, kT1 = 6, kA0 = 10, kA1 = 11, kA2 = 12, kA3 = 13;

// Encoders, with fields named as in the formats of rv64_operations.h.
inline std::uint32_t encode(Operation operation, unsigned rd, unsigned rs1, unsigned rs2) {
  return traits(operation).match | rd << 7 | rs1 << 15 | rs2 << 20;
}
inline std::uint32_t encode_i(Operation operation, unsigned rd, unsigned rs1, int immediate) {
  return traits(operation).match | rd << 7 | rs1 << 15 | static_cast<std::uint32_t>(immediate) << 20;
}
inline std::uint32_t encode_s(Operation operation, unsigned rs1, unsigned rs2, int immediate) {
  const auto bits = static_cast<std::uint32_t>(immediate);
  return traits(operation).match | rs1 << 15 | rs2 << 20 | (bits & 31) << 7 | (bits >> 5 & 127) << 25;
}
inline std::uint32_t encode_b(Operation operation, unsigned rs1, unsigned rs2, int offset) {
  const auto bits = static_cast<std::uint32_t>(offset);
  return traits(operation).match | rs1 << 15 | rs2 << 20 | (bits >> 11 & 1) << 7 | (bits >> 1 & 15) << 8 |
         (bits >> 5 & 63) << 25 | (bits >> 12 & 1) << 31;
}
inline std::uint32_t encode_j(unsigned rd, int offset) {
  const auto bits = static_cast<std::uint32_t>(offset);
  return traits(Operation::jal).match | rd << 7 | (bits >> 12 & 255) << 12 | (bits >> 11 & 1) << 20 | (bits >> 1 & 1023) << 21 |
         (bits >> 20 & 1) << 31;
}
inline std::uint32_t encode_csr(Operation operation, unsigned rd, unsigned number, unsigned source) {
  return traits(operation).match | rd << 7 | source << 15 | number << 20;
}
inline constexpr std::uint32_t kNop = 0x00000013;
inline constexpr std::uint32_t kWfi = 0x10500073;  // ends a run, because no interrupt is pending
inline constexpr std::uint32_t kEcall = 0x00000073;
inline constexpr std::uint32_t kEbreak = 0x00100073;
inline constexpr std::uint32_t kMret = 0x30200073;
inline constexpr std::uint32_t kFenceI = 0x0000100f;

/// RAM of 2 MiB at 0x80000000; a device of 4 KiB at 0x10000000 whose accesses take 50 ns; no other memory.
class Machine : public Bus, public HostServices {
 public:
  static constexpr std::uint64_t kRam = 0x8000'0000;
  static constexpr std::uint64_t kRamSize = 2u << 20;
  static constexpr std::uint64_t kDevice = 0x1000'0000;
  static constexpr std::uint64_t kDeviceSize = 0x1000;
  static constexpr std::uint64_t kDevicePs = 50'000;
  static constexpr std::uint64_t kForever = 10'000'000'000;

  explicit Machine(const CoreTiming& timing = one_cycle_each(), bool direct_memory = true)
      : core(*this, *this, timing), direct_memory_(direct_memory), ram_(kRamSize), device_(kDeviceSize) {
    core.registers().pc = kRam;
    core.begin_slice(0);
  }

  static CoreTiming one_cycle_each() {
    CoreTiming timing;
    timing.cycles.fill(1);
    return timing;
  }

  void place(std::uint64_t address, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      std::memcpy(at(address), &word, 4);
      address += 4;
    }
  }
  /// Places the words and a wfi at the start of RAM and runs them.
  StopReason run(std::initializer_list<std::uint32_t> words) {
    place(kRam, words);
    place(kRam + 4 * words.size(), {kWfi});
    core.registers().pc = kRam;
    core.flush_blocks();
    core.begin_slice(0);
    return core.run(kForever);
  }

  template <class T>
  T load(std::uint64_t address) {
    T value;
    std::memcpy(&value, at(address), sizeof value);
    return value;
  }
  template <class T>
  void store(std::uint64_t address, T value) {
    std::memcpy(at(address), &value, sizeof value);
  }
  std::byte* at(std::uint64_t address) { return address >= kRam ? &ram_[address - kRam] : &device_[address - kDevice]; }
  std::uint64_t& x(unsigned index) { return core.registers().x[index]; }

  // Overrides of Bus.
  Result read(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t& local_ps) override {
    ++reads;
    return access(address, bytes.size(), local_ps, [&](std::byte* place) { std::memcpy(bytes.data(), place, bytes.size()); });
  }
  Result write(std::uint64_t address, std::span<const std::byte> bytes, std::uint64_t& local_ps) override {
    ++writes;
    return access(address, bytes.size(), local_ps, [&](std::byte* place) { std::memcpy(place, bytes.data(), bytes.size()); });
  }
  std::optional<MemoryRegion> direct(std::uint64_t address, bool) override {
    if (!direct_memory_ || address - kRam >= kRamSize) return std::nullopt;
    ++direct_requests;
    return MemoryRegion{kRam, kRam + kRamSize - 1, ram_.data(), true, true, read_ps, write_ps};
  }
  std::optional<std::uint64_t> time(std::uint64_t now_ps) override {
    return mtime ? std::optional(*mtime + now_ps / 100'000) : std::nullopt;
  }
  bool semihosting_call() override { return ++semihosting_calls, true; }
  void htif_store() override { ++htif_stores; }

  Core core;
  std::uint64_t read_ps = 0;
  std::uint64_t write_ps = 0;
  unsigned reads = 0;
  unsigned writes = 0;
  unsigned direct_requests = 0;
  unsigned semihosting_calls = 0;
  unsigned htif_stores = 0;
  std::uint64_t last_access_ps = 0;  ///< local time of the last access to the device
  bool line_changes = false;         ///< whether accesses to the device change an interrupt line
  std::optional<std::uint64_t> mtime;

 private:
  template <class Copy>
  Result access(std::uint64_t address, std::size_t size, std::uint64_t& local_ps, Copy copy) {
    if (address >= kRam && address + size <= kRam + kRamSize) return copy(at(address)), Result{true, direct_memory_};
    if (address < kDevice || address + size > kDevice + kDeviceSize) return {false, false};
    last_access_ps = local_ps;
    local_ps += kDevicePs;
    copy(at(address));
    return {true, false, line_changes};
  }

  bool direct_memory_;
  std::vector<std::byte> ram_;
  std::vector<std::byte> device_;
};

}  // namespace lacuna::rv64

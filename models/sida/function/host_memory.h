// Host memory for programs of the accelerator: allocations have GPU addresses, separated by unmapped bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/sida/matrix/sparse_matrix.h"
#include "models/sida/program/memory.h"

namespace lacuna::sida {

class HostMemory : public Memory {
 public:
  /// `has_views`: whether view() may succeed; if false, every read is copied, as for memory in scattered pages.
  explicit HostMemory(bool has_views = true) : has_views_(has_views) {}

  void check(std::uint64_t address, std::uint64_t bytes, Access access) const override { at(address, bytes, access); }
  void read(std::uint64_t address, std::span<std::byte> data) const override {
    if (!data.empty()) std::memcpy(data.data(), at(address, data.size(), Access::read), data.size());
  }
  void write(std::uint64_t address, std::span<const std::byte> data) override {
    if (!data.empty()) std::memcpy(const_cast<std::byte*>(at(address, data.size(), Access::write)), data.data(), data.size());
  }

  const std::byte* view(std::uint64_t address, std::uint64_t bytes) const override {
    return has_views_ ? at(address, bytes, Access::read) : nullptr;
  }

  std::uint64_t allocate(std::uint64_t bytes, bool writable = true) {
    const std::uint64_t address = next_;
    next_ = (next_ + bytes + 2 * kGap) / kGap * kGap;
    allocations_[address] = {std::vector<std::byte>(bytes), writable};
    return address;
  }
  std::uint64_t put(std::span<const std::byte> data, bool writable = true) {
    const std::uint64_t address = allocate(data.size(), writable);
    if (!data.empty()) std::memcpy(allocations_[address].bytes.data(), data.data(), data.size());
    return address;
  }
  template <class T>
  std::uint64_t put(const std::vector<T>& values, bool writable = true) {
    return put(std::as_bytes(std::span(values)), writable);
  }
  template <class T>
  std::vector<T> get(std::uint64_t address, std::size_t count) const {
    std::vector<T> values(count);
    read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }

 private:
  static constexpr std::uint64_t kGap = 4096;
  struct Allocation {
    std::vector<std::byte> bytes;
    bool writable;
  };

  const std::byte* at(std::uint64_t address, std::uint64_t bytes, Access access) const {
    auto after = allocations_.upper_bound(address);
    if (after != allocations_.begin()) {
      const auto& [begin, allocation] = *std::prev(after);
      const std::uint64_t offset = address - begin;
      const bool inside = offset <= allocation.bytes.size() && bytes <= allocation.bytes.size() - offset;
      if (inside && (access == Access::read || allocation.writable)) return allocation.bytes.data() + offset;
    }
    throw ProgramError(LACUNA_SIDA_ERROR_ADDRESS, "memory is not mapped", address);
  }

  bool has_views_;
  std::map<std::uint64_t, Allocation> allocations_;
  std::uint64_t next_ = kGap;
};

}  // namespace lacuna::sida

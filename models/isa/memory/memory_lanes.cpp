#include "models/isa/memory/memory_lanes.h"

#include <algorithm>
#include <utility>

namespace lacuna::isa {

bool recall_slow(Wavefront& wave, std::uint64_t address) {
  const auto known = std::find_if(wave.older_windows.begin(), wave.older_windows.end(),
                                  [&](const MemoryWindow& window) { return window.contains(address, 1); });
  if (known == wave.older_windows.end()) return false;
  std::swap(*known, wave.window);
  return true;
}

std::byte* translate_slow(Wavefront& wave, std::uint64_t address, std::uint64_t bytes, Access wanted) {
  if (!recall(wave, address)) {
    const MemoryWindow found = wave.memory->find(address);
    if (found.size == 0) return nullptr;
    std::move_backward(wave.older_windows.begin(), wave.older_windows.end() - 1, wave.older_windows.end());
    wave.older_windows.front() = wave.window;
    wave.window = found;
  }
  const MemoryWindow& window = wave.window;
  if (!window.contains(address, bytes) || !allows(window.granted, wanted)) return nullptr;
  return window.host + (address - window.base);
}

void report_fault(Wavefront& wave, unsigned lane, std::uint64_t address, unsigned bytes, Access wanted) {
  // The first inaccessible byte determines the reported reason.
  MemoryFault::Reason reason = MemoryFault::Reason::not_mapped;
  for (unsigned k = 0; k < bytes; ++k) {
    if (translate(wave, address + k, 1, wanted) != nullptr) continue;
    const bool mapped = translate(wave, address + k, 1, Access::none) != nullptr;
    reason = mapped ? MemoryFault::Reason::not_permitted : MemoryFault::Reason::not_mapped;
    break;
  }
  wave.fault = {reason, wanted, lane, address, bytes};
  wave.raise(Event::memory_fault);
}

std::uint64_t fine_grained_lanes(Wavefront& wave, unsigned bytes) {
  std::uint64_t fine = 0;
  for_lanes(wave.access.lanes, [&](unsigned l) {
    translate(wave, wave.addresses->global[l], 1, Access::none);
    fine |= std::uint64_t{wave.window.grain == Grain::fine} << l;
  });
  if (fine == 0) return 0;
  const auto first = static_cast<unsigned>(std::countr_zero(fine));
  wave.fault = {MemoryFault::Reason::not_permitted, Access::read_write, first, wave.addresses->global[first], bytes};
  wave.raise(Event::fine_grained_float_atomic, static_cast<std::uint32_t>(std::popcount(fine)));
  return fine;
}

void report_misaligned(Wavefront& wave, unsigned lane, std::uint64_t address, unsigned bytes, Access wanted) {
  wave.fault = {MemoryFault::Reason::misaligned, wanted, lane, address, bytes};
  wave.raise(Event::memory_fault);
}

void report_private(Wavefront& wave, unsigned lane, std::uint64_t offset, unsigned bytes, Access wanted) {
  wave.fault = {MemoryFault::Reason::private_out_of_range, wanted, lane, offset, bytes};
  wave.raise(Event::memory_fault);
}

bool LaneTargets::resolve_in_window(const Wavefront& wave, std::uint64_t lanes, unsigned bytes, Access wanted) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const MemoryWindow window = wave.window;
  if (window.size < bytes || !allows(window.granted, wanted)) return false;
  const std::array<std::uint64_t, kLanes>& address = wave.addresses->global;
  const std::uint64_t limit = window.size - bytes;
  const auto host = reinterpret_cast<std::uintptr_t>(window.host);
  std::uint64_t outside = 0;
  sharing_ = std::max(sharing_, window.sharing);
  if (lanes == kAllLanes && limit < kSign) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t offset = address[l] - window.base;
      outside |= offset | (limit - offset);  // one of the two has the sign bit if offset > limit
      at_[l] = host + offset;
    }
    return (outside & kSign) == 0;
  }
  // Inactive lanes are computed as well: a plain loop over all lanes vectorises, and their pointers are never used.
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::uint64_t offset = address[l] - window.base;
    outside |= std::uint64_t{offset > limit} << l;
    at_[l] = host + offset;
  }
  return (outside & lanes) == 0;
}

bool LaneTargets::resolve_global(Wavefront& wave, std::uint64_t lanes, unsigned bytes, Access wanted) {
  if (lanes == 0) return true;
  const std::array<std::uint64_t, kLanes>& address = wave.addresses->global;
  // Usual case: the window of the first lane contains all lanes.
  if (translate(wave, address[static_cast<unsigned>(std::countr_zero(lanes))], bytes, wanted) != nullptr &&
      resolve_in_window(wave, lanes, bytes, wanted)) {
    return true;
  }
  for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    std::byte* host = translate(wave, address[l], bytes, wanted);
    set(l, host);
    sharing_ = std::max(sharing_, wave.window.sharing);
    if (host == nullptr && !bounce(wave, l, bytes, wanted, [&](unsigned k) { return address[l] + k; })) return false;
  }
  return true;
}

void LaneTargets::resolve_lds(Wavefront& wave, std::uint64_t lanes, const std::uint32_t* offsets, unsigned bytes,
                              std::uint32_t limit) {
  const auto host = reinterpret_cast<std::uintptr_t>(wave.lds);
  if (lanes == kAllLanes) {
    std::uint32_t highest = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      highest = std::max(highest, offsets[l]);
      at_[l] = host + offsets[l];
    }
    if (std::uint64_t{highest} + bytes <= limit) return;
  }
  for_lanes(lanes, [&](unsigned l) {
    if (std::uint64_t{offsets[l]} + bytes <= limit) {
      at_[l] = host + offsets[l];
    } else {
      set_nowhere(l, bytes);
    }
  });
}

// Scratch is interleaved by dword (GCN3 ISA manual, "FLAT scratch"; LLVM AMDGPU guide, "Private memory is swizzled"): dword d
// of lane l is at (d * 64 + l) * 4.
bool LaneTargets::resolve_private(Wavefront& wave, std::uint64_t lanes, const std::uint32_t* offsets, std::uint64_t base,
                                  unsigned bytes, Access wanted) {
  for (std::uint64_t left = lanes; left != 0; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    const auto address_of = [&](unsigned k) {
      const std::uint64_t offset = std::uint64_t{offsets[l]} + k;
      return base + ((offset / 4) * kLanes + l) * 4 + offset % 4;
    };
    wave.addresses->global[l] = address_of(0);
    const bool contiguous = offsets[l] % 4 + bytes <= 4;
    std::byte* host = contiguous ? translate(wave, address_of(0), bytes, wanted) : nullptr;
    set(l, host);
    if (host == nullptr && !bounce(wave, l, bytes, wanted, address_of)) return false;
  }
  return true;
}

void LaneTargets::set_nowhere(unsigned lane, unsigned bytes) {
  std::memset(buffer_[lane].data(), 0, bytes);
  set(lane, buffer_[lane].data());
}

// Nearly all loads return after the range test, since loaded and stored data are rarely close to each other.
bool LaneTargets::read_stores_slow(Wavefront& wave, unsigned bytes) {
  const StoreBuffer& stores = *wave.stores;
  const std::uint64_t lanes = wave.access.lanes;
  if (bounced_ == 0) {
    std::uintptr_t lowest = ~std::uintptr_t{0};
    std::uintptr_t highest = 0;
    for_lanes(lanes, [&](unsigned l) {
      lowest = std::min(lowest, at_[l]);
      highest = std::max(highest, at_[l]);
    });
    if (lanes == 0 || !stores.may_hold(lowest, highest + bytes)) return true;
  }
  if (meets_deferred(wave, bytes)) {
    defer(wave, bytes);
    return false;
  }
  for_lanes(lanes, [&](unsigned l) {
    if (bounces(l)) {
      for (unsigned k = 0; k < bytes; ++k) stores.overlay(origin_[l][k], &buffer_[l][k], 1);
      return;
    }
    if (!stores.may_meet((*this)[l], bytes)) return;
    std::memcpy(buffer_[l].data(), (*this)[l], bytes);
    if (stores.overlay((*this)[l], buffer_[l].data(), bytes)) set(l, buffer_[l].data());
  });
  return true;
}

bool LaneTargets::redirect_slow(Wavefront& wave, unsigned bytes) {
  if (meets_deferred(wave, bytes)) {
    defer(wave, bytes);
    return false;
  }
  redirected_ = wave.access.lanes & ~bounced_;
  for_lanes(redirected_, [&](unsigned l) {
    redirected_from_[l] = (*this)[l];
    set(l, buffer_[l].data());
  });
  return true;
}

bool LaneTargets::meets_deferred(const Wavefront& wave, unsigned bytes) const {
  if (!wave.stores->any_deferred()) return false;
  bool meets = false;
  for_lanes(wave.access.lanes, [&](unsigned l) {
    if (!bounces(l)) {
      meets = meets || wave.stores->deferred((*this)[l], bytes);
    } else {
      for (unsigned k = 0; k < bytes; ++k) meets = meets || wave.stores->deferred(origin_[l][k], 1);
    }
  });
  return meets;
}

bool LaneTargets::defer(Wavefront& wave, unsigned bytes) {
  for_lanes(wave.access.lanes, [&](unsigned l) {
    if (!bounces(l)) {
      wave.stores->mark_deferred((*this)[l], bytes);
    } else {
      for (unsigned k = 0; k < bytes; ++k) wave.stores->mark_deferred(origin_[l][k], 1);
    }
  });
  wave.access.deferred = true;
  return true;
}

void LaneTargets::write_back_slow(Wavefront& wave, unsigned bytes) {
  for_lanes(redirected_, [&](unsigned l) { wave.stores->store(redirected_from_[l], buffer_[l].data(), bytes); });
  for_lanes(bounced_, [&](unsigned l) {
    for (unsigned k = 0; k < bytes; ++k) {
      if (wave.stores != nullptr) {
        wave.stores->store(origin_[l][k], &buffer_[l][k], 1);
      } else {
        *origin_[l][k] = buffer_[l][k];
      }
    }
  });
}

}  // namespace lacuna::isa

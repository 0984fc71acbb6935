// Loads and stores, and memory accesses outside of the windows: PMP, regions, bus, watchpoints.
#include <algorithm>

#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {
namespace {

/// Upper half, all ones, of a register that holds a NaN-boxed single.
constexpr std::uint64_t kBox = 0xffff'ffff'0000'0000;

template <class T>
void put_integer(ExecutionContext& c, const Instruction* i, T value) {
  if constexpr (std::is_signed_v<T>) {
    c.registers.x[i->rd] = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    c.registers.x[i->rd] = value;
  }
}

template <class T>
void put_float(ExecutionContext& c, const Instruction* i, T value) {
  c.registers.f[i->rd] = sizeof(T) == 4 ? kBox | value : value;
  c.csrs.mstatus |= mstatus::fs;
}

template <class T, auto Put>
[[gnu::noinline]] void load_slowly(ExecutionContext& c, const Instruction* i, std::uint64_t address) {
  T value{};
  if (!c.read_memory(i, address, &value, sizeof(T), Access::load)) return;
  Put(c, i, value);
  if (c.leave_pending) return c.leave_after(i);
  return next(c, i);
}

template <class T, auto Put>
[[gnu::always_inline]] inline void load_and_go(ExecutionContext& c, const Instruction* i) {
  const std::uint64_t address = c.registers.x[i->rs1] + i->immediate;
  const Window* window = c.load_window(address);
  if (window == nullptr) [[unlikely]]
    return load_slowly<T, Put>(c, i, address);
  T value;
  std::memcpy(&value, window->at(address), sizeof(T));
  c.elapsed_ps += window->latency_ps;
  Put(c, i, value);
  return next(c, i);
}

template <class T>
[[gnu::noinline]] void store_slowly(ExecutionContext& c, const Instruction* i, std::uint64_t address, T value) {
  if (!c.write_memory(i, address, &value, sizeof(T))) return;
  if (c.leave_pending) return c.leave_after(i);
  return next(c, i);
}

template <class T>
[[gnu::always_inline]] inline void store_and_go(ExecutionContext& c, const Instruction* i, T value) {
  const std::uint64_t address = c.registers.x[i->rs1] + i->immediate;
  const Window* window = c.store_window(address);
  if (window == nullptr) [[unlikely]]
    return store_slowly<T>(c, i, address, value);
  std::memcpy(window->at(address), &value, sizeof(T));
  c.elapsed_ps += window->latency_ps;
  return next(c, i);
}

template <class T>
void load(ExecutionContext& c, const Instruction* i) {
  return load_and_go<T, put_integer<T>>(c, i);
}

template <class T>
void store(ExecutionContext& c, const Instruction* i) {
  return store_and_go<T>(c, i, static_cast<T>(c.registers.x[i->rs2]));
}

template <class T>
void float_load(ExecutionContext& c, const Instruction* i) {
  if ((c.csrs.mstatus & mstatus::fs) == 0) return c.illegal(i);
  return load_and_go<T, put_float<T>>(c, i);
}

template <class T>
void float_store(ExecutionContext& c, const Instruction* i) {
  if ((c.csrs.mstatus & mstatus::fs) == 0) return c.illegal(i);
  return store_and_go<T>(c, i, static_cast<T>(c.registers.f[i->rs2]));
}

bool overlap(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

}  // namespace

Handler memory_handler(Operation operation) {
  switch (operation) {
    case Operation::lb:
      return load<std::int8_t>;
    case Operation::lh:
      return load<std::int16_t>;
    case Operation::lw:
      return load<std::int32_t>;
    case Operation::ld:
      return load<std::uint64_t>;
    case Operation::lbu:
      return load<std::uint8_t>;
    case Operation::lhu:
      return load<std::uint16_t>;
    case Operation::lwu:
      return load<std::uint32_t>;
    case Operation::sb:
      return store<std::uint8_t>;
    case Operation::sh:
      return store<std::uint16_t>;
    case Operation::sw:
      return store<std::uint32_t>;
    case Operation::sd:
      return store<std::uint64_t>;
    case Operation::flw:
      return float_load<std::uint32_t>;
    case Operation::fld:
      return float_load<std::uint64_t>;
    case Operation::fsw:
      return float_store<std::uint32_t>;
    case Operation::fsd:
      return float_store<std::uint64_t>;
    default:
      return nullptr;
  }
}

bool ExecutionContext::read_memory(const Instruction* i, std::uint64_t address, void* bytes, unsigned size, Access kind) {
  const bool atomic = kind == Access::store;
  const std::uint64_t fault = atomic ? cause::store_access_fault : cause::load_access_fault;
  const bool aligned = address % size == 0;
  leave_pending = false;
  if (!csrs.pmp.allows(address, size, kind, csrs.data_privilege())) return raise(i, fault, address), false;
  if (const MemoryRegion* memory = find_region(address, size, false, aligned ? Ask::known_only : Ask::memory)) {
    std::memcpy(bytes, memory->host + (address - memory->first), size);
    elapsed_ps += memory->read_ps;
    if (intercepted(address, size)) {
      after_access(address, size, false);
    } else if (!atomic) {
      load_windows[next_load_window_] = make_window(*memory, address, memory->read_ps);
      next_load_window_ ^= 1;
    }
    return true;
  }
  if (!aligned) return raise(i, cause::load_address_misaligned, address), false;
  const std::uint64_t start = local_time_before(i);
  std::uint64_t local = start;
  const Bus::Result result = bus_.read(address, {static_cast<std::byte*>(bytes), size}, local);
  elapsed_ps += local - start;
  if (!result.ok) return raise(i, fault, address), false;
  if (result.direct_possible) find_region(address, size, false, Ask::memory);
  if (result.line_changed) {
    stop(StopReason::synchronise);
    leave_pending = true;
  }
  after_access(address, size, false);
  return true;
}

bool ExecutionContext::write_memory(const Instruction* i, std::uint64_t address, const void* bytes, unsigned size) {
  const bool aligned = address % size == 0;
  leave_pending = false;
  if (!csrs.pmp.allows(address, size, Access::store, csrs.data_privilege())) {
    return raise(i, cause::store_access_fault, address), false;
  }
  if (const MemoryRegion* memory = find_region(address, size, true, aligned ? Ask::known_only : Ask::memory)) {
    std::memcpy(memory->host + (address - memory->first), bytes, size);
    elapsed_ps += memory->write_ps;
    if (intercepted(address, size)) {
      after_access(address, size, true);
    } else if (memory->readable) {
      store_windows[next_store_window_] = make_window(*memory, address, memory->write_ps);
      next_store_window_ ^= 1;
    }
    return true;
  }
  if (!aligned) return raise(i, cause::store_address_misaligned, address), false;
  const std::uint64_t start = local_time_before(i);
  std::uint64_t local = start;
  const Bus::Result result = bus_.write(address, {static_cast<const std::byte*>(bytes), size}, local);
  elapsed_ps += local - start;
  if (!result.ok) return raise(i, cause::store_access_fault, address), false;
  if (result.direct_possible) {
    find_region(address, size, true, Ask::memory);
  } else {
    stop(StopReason::synchronise);
    leave_pending = true;
  }
  after_access(address, size, true);
  return true;
}

const MemoryRegion* ExecutionContext::find_region(std::uint64_t address, unsigned size, bool write, Ask ask) {
  const std::uint64_t last = address + size - 1;
  const auto usable = [&](const MemoryRegion& m) {
    return address >= m.first && last <= m.last && last >= address && (write ? m.writable : m.readable);
  };
  for (const MemoryRegion& memory : regions_) {
    if (usable(memory)) return &memory;
  }
  if (ask == Ask::known_only) return nullptr;
  const auto granted = bus_.direct(address, write);
  if (!granted || !usable(*granted)) return nullptr;
  regions_.push_back(*granted);
  return &regions_.back();
}

Window ExecutionContext::make_window(const MemoryRegion& memory, std::uint64_t address, std::uint64_t latency_ps) const {
  AddressRange range = csrs.pmp.homogeneous(address, {memory.first, memory.last});
  const auto keep_out = [&](std::uint64_t first, std::uint64_t size) {
    if (size == 0) return;
    const std::uint64_t last = first + size - 1;
    if (last < address) {
      range.first = std::max(range.first, last + 1);
    } else {
      range.last = std::min(range.last, first - 1);
    }
  };
  for (const Watchpoint& watchpoint : watchpoints) keep_out(watchpoint.address, watchpoint.size);
  if (htif_address) keep_out(*htif_address, 8);
  const std::uint64_t size = range.last - range.first + 1;
  return {range.first, size >= 8 ? size - 7 : 0, memory.host + (range.first - memory.first), latency_ps};
}

bool ExecutionContext::intercepted(std::uint64_t address, unsigned size) const {
  if (htif_address && overlap(address, size, *htif_address, 8)) return true;
  return std::any_of(watchpoints.begin(), watchpoints.end(),
                     [&](const Watchpoint& w) { return overlap(address, size, w.address, w.size); });
}

void ExecutionContext::after_access(std::uint64_t address, unsigned size, bool write) {
  for (const Watchpoint& w : watchpoints) {
    if (!overlap(address, size, w.address, w.size) || !(write ? w.on_write : w.on_read)) continue;
    watchpoint_hit = {w.address, w.on_read, w.on_write};
    stop(StopReason::watchpoint);
    leave_pending = true;
  }
  if (write && htif_address && overlap(address, size, *htif_address, 8)) {
    leave_pending = true;
    services.htif_store();
  }
}

void ExecutionContext::forget_windows() {
  load_windows = {};
  store_windows = {};
  fetch_first_ = 1;
  fetch_end_ = 0;
}

void ExecutionContext::drop_regions(std::uint64_t first, std::uint64_t last) {
  std::erase_if(regions_, [&](const MemoryRegion& m) { return m.first <= last && first <= m.last; });
  forget_windows();
  request_flush();
}

}  // namespace lacuna::rv64

// LR, SC and atomic memory operations. The SystemC kernel runs one process at a time, so a read and a write in one handler are
// atomic.
#include <algorithm>

#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {
namespace {

template <class T>
std::uint64_t extend(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::make_signed_t<T>>(value)));
}

template <class T>
void load_reserved(ExecutionContext& c, const Instruction* i) {
  const std::uint64_t address = c.registers.x[i->rs1];
  if (address % sizeof(T) != 0) return c.raise(i, cause::load_address_misaligned, address);
  T value{};
  if (!c.read_memory(i, address, &value, sizeof(T), Access::load)) return;
  c.registers.x[i->rd] = extend(value);
  c.reserved = true;
  c.reserved_address = address;
  c.reserved_value = value;
  if (c.leave_pending) return c.leave_after(i);
  return next(c, i);
}

template <class T>
void store_conditional(ExecutionContext& c, const Instruction* i) {
  const std::uint64_t address = c.registers.x[i->rs1];
  if (address % sizeof(T) != 0) return c.raise(i, cause::store_address_misaligned, address);
  const bool holds = c.reserved && c.reserved_address == address;
  // The address is checked as that of a store, whether SC succeeds or not.
  T now{};
  if (!c.read_memory(i, address, &now, sizeof(T), Access::store)) return;
  bool leave = c.leave_pending;
  c.reserved = false;
  const bool success = holds && now == static_cast<T>(c.reserved_value);
  if (success) {
    const T value = static_cast<T>(c.registers.x[i->rs2]);
    if (!c.write_memory(i, address, &value, sizeof(T))) return;
    leave = leave || c.leave_pending;
  }
  c.registers.x[i->rd] = success ? 0 : 1;
  if (leave) return c.leave_after(i);
  return next(c, i);
}

template <class T, auto Function>
[[gnu::noinline]] void modify_slowly(ExecutionContext& c, const Instruction* i, std::uint64_t address) {
  if (address % sizeof(T) != 0) return c.raise(i, cause::store_address_misaligned, address);
  T old{};
  if (!c.read_memory(i, address, &old, sizeof(T), Access::store)) return;
  const bool leave = c.leave_pending;
  const T value = Function(old, static_cast<T>(c.registers.x[i->rs2]));
  if (!c.write_memory(i, address, &value, sizeof(T))) return;
  c.registers.x[i->rd] = extend(old);
  if (leave || c.leave_pending) return c.leave_after(i);
  return next(c, i);
}

template <class T, auto Function>
void modify(ExecutionContext& c, const Instruction* i) {
  const std::uint64_t address = c.registers.x[i->rs1];
  // A store window is readable too.
  const Window* window = c.store_window(address);
  if (window == nullptr || address % sizeof(T) != 0) [[unlikely]]
    return modify_slowly<T, Function>(c, i, address);
  std::byte* place = window->at(address);
  T old;
  std::memcpy(&old, place, sizeof(T));
  const T value = Function(old, static_cast<T>(c.registers.x[i->rs2]));
  std::memcpy(place, &value, sizeof(T));
  c.elapsed_ps += window->latency_ps;
  c.registers.x[i->rd] = extend(old);
  return next(c, i);
}

template <class T>
constexpr std::make_signed_t<T> as_signed(T value) {
  return static_cast<std::make_signed_t<T>>(value);
}

constexpr auto kSwap = [](auto, auto operand) { return operand; };
constexpr auto kAdd = [](auto old, auto operand) { return static_cast<decltype(old)>(old + operand); };
constexpr auto kXor = [](auto old, auto operand) { return static_cast<decltype(old)>(old ^ operand); };
constexpr auto kAnd = [](auto old, auto operand) { return static_cast<decltype(old)>(old & operand); };
constexpr auto kOr = [](auto old, auto operand) { return static_cast<decltype(old)>(old | operand); };
constexpr auto kMin = [](auto old, auto operand) { return as_signed(old) < as_signed(operand) ? old : operand; };
constexpr auto kMax = [](auto old, auto operand) { return as_signed(old) < as_signed(operand) ? operand : old; };
constexpr auto kMinUnsigned = [](auto old, auto operand) { return std::min(old, operand); };
constexpr auto kMaxUnsigned = [](auto old, auto operand) { return std::max(old, operand); };

}  // namespace

Handler atomic_handler(Operation operation) {
  using Word = std::uint32_t;
  using Double = std::uint64_t;
  switch (operation) {
    case Operation::lr_w:
      return load_reserved<Word>;
    case Operation::lr_d:
      return load_reserved<Double>;
    case Operation::sc_w:
      return store_conditional<Word>;
    case Operation::sc_d:
      return store_conditional<Double>;
    case Operation::amoswap_w:
      return modify<Word, kSwap>;
    case Operation::amoswap_d:
      return modify<Double, kSwap>;
    case Operation::amoadd_w:
      return modify<Word, kAdd>;
    case Operation::amoadd_d:
      return modify<Double, kAdd>;
    case Operation::amoxor_w:
      return modify<Word, kXor>;
    case Operation::amoxor_d:
      return modify<Double, kXor>;
    case Operation::amoand_w:
      return modify<Word, kAnd>;
    case Operation::amoand_d:
      return modify<Double, kAnd>;
    case Operation::amoor_w:
      return modify<Word, kOr>;
    case Operation::amoor_d:
      return modify<Double, kOr>;
    case Operation::amomin_w:
      return modify<Word, kMin>;
    case Operation::amomin_d:
      return modify<Double, kMin>;
    case Operation::amomax_w:
      return modify<Word, kMax>;
    case Operation::amomax_d:
      return modify<Double, kMax>;
    case Operation::amominu_w:
      return modify<Word, kMinUnsigned>;
    case Operation::amominu_d:
      return modify<Double, kMinUnsigned>;
    case Operation::amomaxu_w:
      return modify<Word, kMaxUnsigned>;
    case Operation::amomaxu_d:
      return modify<Double, kMaxUnsigned>;
    default:
      return nullptr;
  }
}

}  // namespace lacuna::rv64

#include "models/sida/function/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "models/sida/function/arithmetic.h"

namespace lacuna::sida {
namespace {

template <class T>
T scalar_value(std::uint64_t slot) {
  if constexpr (std::is_same_v<T, Bool>) return truth<T>((slot & 0xff) != 0);
  T value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}
template <class T>
std::uint64_t scalar_slot(T value) {
  std::uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof value);
  return slot;
}

template <class T, class F>
void map(T* d, const T* a, std::size_t count, F f) {
  for (std::size_t i = 0; i < count; ++i) d[i] = f(a[i]);
}
template <class T, class F>
void map(T* d, const T* a, const T* b, std::size_t count, F f) {
  for (std::size_t i = 0; i < count; ++i) d[i] = f(a[i], b[i]);
}

template <class T>
T shifted(T a, T b) {
  constexpr unsigned kBits = 8 * sizeof(T);
  return static_cast<T>(a >> (static_cast<unsigned>(b) % kBits));
}

/// Operations on registers or scalars that have no state and do not access memory. `values` yields up to three operands.
template <class T, class Values>
void apply(unsigned operation, T* d, Values&& values, std::size_t count) {
  const auto one = [&](auto f) { map(d, values(0), count, f); };
  const auto two = [&](auto f) { map(d, values(0), values(1), count, f); };
  switch (operation) {
    case LACUNA_SIDA_OPERATION_COPY:
      one([](T a) { return a; });
      return;
    case LACUNA_SIDA_OPERATION_MINIMUM:
      two([](T a, T b) { return smaller(a, b); });
      return;
    case LACUNA_SIDA_OPERATION_MAXIMUM:
      two([](T a, T b) { return greater(a, b); });
      return;
    case LACUNA_SIDA_OPERATION_AND:
      two([](T a, T b) { return truth<T>(is_true(a) & is_true(b)); });
      return;
    case LACUNA_SIDA_OPERATION_OR:
      two([](T a, T b) { return truth<T>(is_true(a) | is_true(b)); });
      return;
    case LACUNA_SIDA_OPERATION_NOT:
      one([](T a) { return truth<T>(!is_true(a)); });
      return;
    case LACUNA_SIDA_OPERATION_LESS:
      two([](T a, T b) { return truth<T>(a < b); });
      return;
    case LACUNA_SIDA_OPERATION_LESS_OR_EQUAL:
      two([](T a, T b) { return truth<T>(a < b || a == b); });
      return;
    case LACUNA_SIDA_OPERATION_EQUAL:
      two([](T a, T b) { return truth<T>(a == b); });
      return;
    case LACUNA_SIDA_OPERATION_SELECT: {
      const T *a = values(0), *b = values(1), *c = values(2);
      for (std::size_t i = 0; i < count; ++i) d[i] = is_true(c[i]) ? a[i] : b[i];
      return;
    }
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, Bool>) {
    switch (operation) {
      case LACUNA_SIDA_OPERATION_ADD:
        two([](T a, T b) { return plus(a, b); });
        return;
      case LACUNA_SIDA_OPERATION_SUBTRACT:
        two([](T a, T b) { return minus(a, b); });
        return;
      case LACUNA_SIDA_OPERATION_MULTIPLY:
        two([](T a, T b) { return times(a, b); });
        return;
      case LACUNA_SIDA_OPERATION_DIVIDE:
        two([](T a, T b) { return quotient(a, b); });
        return;
      case LACUNA_SIDA_OPERATION_NEGATE:
        if constexpr (kIsInteger<T>)
          one([](T a) { return minus(T{0}, a); });
        else
          one([](T a) { return -a; });
        return;
      case LACUNA_SIDA_OPERATION_ABSOLUTE:
        if constexpr (kIsInteger<T>)
          one([](T a) { return a < 0 ? minus(T{0}, a) : a; });
        else
          one([](T a) { return std::fabs(a); });
        return;
      default:
        break;
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (operation == LACUNA_SIDA_OPERATION_SQUARE_ROOT) one([](T a) { return std::sqrt(a); });
    } else if (operation == LACUNA_SIDA_OPERATION_SHIFT_RIGHT) {
      two([](T a, T b) { return shifted(a, b); });
    }
  }
}

template <class To>
void convert(unsigned from, To* d, const std::byte* a, std::size_t count) {
  with_type(from, [&](auto type) {
    using From = decltype(type);
    const From* const values = reinterpret_cast<const From*>(a);
    for (std::size_t i = 0; i < count; ++i) d[i] = converted<To>(values[i]);
  });
}

constexpr std::size_t kMostBytes = sizeof(double);
constexpr std::uint64_t kValuesAtOnce = 1024;

}  // namespace

ElementWise::ElementWise(Memory& memory, Program& program, const Code& code, std::uint64_t iteration, std::uint16_t input,
                         std::uint32_t input_width)
    : memory_(memory), program_(program), code_(code), iteration_(iteration), input_(input), input_width_(input_width) {
  std::uint32_t widest = input_width;
  for (const std::uint32_t width : code.widths) widest = std::max(widest, width);
  for (const RegisterKind& kind : code.registers) widest = std::max(widest, kind.width);
  chunk_ = std::max<std::uint64_t>(1, kValuesAtOnce / widest);
  registers_.resize(code.registers.size(), std::vector<std::byte>(chunk_ * widest * kMostBytes));
  widths_.resize(code.registers.size(), 1);
  for (auto& spread : spread_) spread.resize(chunk_ * widest * kMostBytes);
  accumulated_.resize(code.instructions.size());
  dense_arrays_.resize(code.instructions.size());
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    const lacuna_sida_instruction& instruction = code.instructions[i];
    if (instruction.operation == LACUNA_SIDA_OPERATION_REDUCE || instruction.operation == LACUNA_SIDA_OPERATION_SCAN) {
      with_type(instruction.type, [&](auto type) {
        using T = decltype(type);
        with_monoid<T>(instruction.b, [&](auto monoid) { accumulated_[i] = scalar_slot(monoid.identity()); });
      });
    }
  }
}

template <class T>
const T* ElementWise::operand(std::uint16_t number, std::size_t count, std::uint32_t width, unsigned which) {
  T* const spread = reinterpret_cast<T*>(spread_[which].data());
  if (number & LACUNA_SIDA_SCALAR) {
    const T value = scalar_value<T>(program_.scalars[number ^ LACUNA_SIDA_SCALAR]);
    std::fill_n(spread, count * width, value);
    return spread;
  }
  const T* const values = reinterpret_cast<const T*>(registers_[number].data());
  if (widths_[number] == width) return values;
  for (std::size_t i = 0; i < count; ++i) std::fill_n(spread + i * width, width, values[i]);
  return spread;
}

template <class T>
void ElementWise::compute(const lacuna_sida_instruction& instruction, std::uint32_t width, std::size_t count) {
  // An operand may share its register with the result. If it is narrower, operand() first spreads it into separate memory.
  const T* values[3]{};
  const std::uint16_t numbers[3]{instruction.a, instruction.b, instruction.c};
  apply<T>(
      instruction.operation, reinterpret_cast<T*>(registers_[instruction.d].data()),
      [&](unsigned which) {
        values[which] = operand<T>(numbers[which], count, width, which);
        return values[which];
      },
      count * width);
}

void ElementWise::load(const lacuna_sida_instruction& instruction, std::uint64_t first, std::size_t count) {
  const std::uint64_t bytes = program_.bytes_of_element(instruction.a);
  std::byte* const values = registers_[instruction.d].data();
  memory_.read(program_.vectors[instruction.a].address + first * bytes, {values, count * bytes});
  if (instruction.type != LACUNA_SIDA_BOOL) return;
  for (std::size_t i = 0; i < count * bytes; ++i) values[i] = std::byte{values[i] != std::byte{0}};
}

template <class T>
void ElementWise::dense(const lacuna_sida_instruction& instruction, std::uint32_t width, std::size_t count) {
  if constexpr (!std::is_same_v<T, Bool>) {
    using Sum = SumOf<T>;
    const std::uint32_t features = widths_[instruction.a];
    std::vector<std::byte>& array = dense_arrays_[static_cast<std::size_t>(&instruction - code_.instructions.data())];
    if (array.empty()) {
      const lacuna_sida_vector& vector = program_.vectors[instruction.b];
      const std::uint64_t row_bytes = program_.bytes_of_element(instruction.b), layers = vector.length / features;
      array.resize(features * row_bytes);
      memory_.read(vector.address + iteration_ % layers * array.size(), array);
    }
    const T* const weights = reinterpret_cast<const T*>(array.data());
    const T* const values = reinterpret_cast<const T*>(registers_[instruction.a].data());
    // Sums are computed in separate memory, as the result may overwrite the operand's register.
    Sum* const sums = reinterpret_cast<Sum*>(spread_[0].data());
    std::fill_n(sums, count * width, Sum{});
    for (std::size_t i = 0; i < count; ++i) {
      for (std::uint32_t f = 0; f < features; ++f) {
        const auto value = static_cast<Sum>(values[i * features + f]);
        for (std::uint32_t j = 0; j < width; ++j) {
          sums[i * width + j] = plus(sums[i * width + j], times(value, static_cast<Sum>(weights[f * width + j])));
        }
      }
    }
    std::memcpy(registers_[instruction.d].data(), sums, count * width * sizeof(Sum));
  }
}

void ElementWise::run(std::uint64_t first, std::uint64_t count) {
  if (input_ != LACUNA_SIDA_NONE) widths_[input_] = input_width_;
  for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
    const lacuna_sida_instruction& instruction = code_.instructions[i];
    const std::uint32_t width = code_.widths[i];
    const std::size_t values = count * width;
    with_type(instruction.type, [&](auto type) {
      using T = decltype(type);
      switch (instruction.operation) {
        case LACUNA_SIDA_OPERATION_LOAD:
          load(instruction, first, count);
          break;
        case LACUNA_SIDA_OPERATION_STORE: {
          const std::uint64_t bytes = program_.bytes_of_element(instruction.d);
          memory_.write(program_.vectors[instruction.d].address + first * bytes,
                        {registers_[instruction.a].data(), count * bytes});
          return;
        }
        case LACUNA_SIDA_OPERATION_REDUCE: {
          const T* const a = reinterpret_cast<const T*>(registers_[instruction.a].data());
          with_monoid<T>(instruction.b, [&](auto monoid) {
            T sum = scalar_value<T>(accumulated_[i]);
            for (std::size_t v = 0; v < values; ++v) sum = monoid.combine(sum, a[v]);
            accumulated_[i] = scalar_slot(sum);
          });
          return;
        }
        case LACUNA_SIDA_OPERATION_SCAN: {
          const T* const a = reinterpret_cast<const T*>(registers_[instruction.a].data());
          T* const d = reinterpret_cast<T*>(registers_[instruction.d].data());
          with_monoid<T>(instruction.b, [&](auto monoid) {
            T sum = scalar_value<T>(accumulated_[i]);
            for (std::size_t v = 0; v < values; ++v) d[v] = sum = monoid.combine(sum, a[v]);
            accumulated_[i] = scalar_slot(sum);
          });
          break;
        }
        case LACUNA_SIDA_OPERATION_INDEX:
          if constexpr (kIsInteger<T>) {
            T* const d = reinterpret_cast<T*>(registers_[instruction.d].data());
            for (std::size_t v = 0; v < count; ++v) d[v] = static_cast<T>(first + v);
          }
          break;
        case LACUNA_SIDA_OPERATION_CONVERT: {
          const bool scalar = instruction.a & LACUNA_SIDA_SCALAR;
          with_type(instruction.c, [&](auto from) {
            using From = decltype(from);
            const From* a = scalar ? operand<From>(instruction.a, count, width, 0)
                                   : reinterpret_cast<const From*>(registers_[instruction.a].data());
            // The result may overwrite the operand in place, with elements of another size: convert from a copy.
            if (instruction.a == instruction.d) {
              std::memcpy(spread_[0].data(), a, values * sizeof(From));
              a = reinterpret_cast<const From*>(spread_[0].data());
            }
            convert(instruction.c, reinterpret_cast<T*>(registers_[instruction.d].data()),
                    reinterpret_cast<const std::byte*>(a), values);
          });
          break;
        }
        case LACUNA_SIDA_OPERATION_DENSE:
          dense<T>(instruction, width, count);
          break;
        default:
          compute<T>(instruction, width, count);
      }
      widths_[instruction.d] = width;
    });
  }
}

void ElementWise::finish() {
  for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
    const lacuna_sida_instruction& instruction = code_.instructions[i];
    if (instruction.operation == LACUNA_SIDA_OPERATION_REDUCE) program_.scalars[instruction.d] = accumulated_[i];
  }
}

void run_scalar_code(Program& program, const Code& code) {
  for (const lacuna_sida_instruction& instruction : code.instructions) {
    const std::uint16_t numbers[3]{instruction.a, instruction.b, instruction.c};
    const auto slot = [&](std::uint16_t number) { return program.scalars[number ^ LACUNA_SIDA_SCALAR]; };
    with_type(instruction.type, [&](auto type) {
      using T = decltype(type);
      T result{}, operands[3]{};
      if (instruction.operation == LACUNA_SIDA_OPERATION_CONVERT) {
        const std::uint64_t value = slot(instruction.a);
        convert(instruction.c, &result, reinterpret_cast<const std::byte*>(&value), 1);
      } else {
        apply<T>(
            instruction.operation, &result,
            [&](unsigned which) {
              operands[which] = scalar_value<T>(slot(numbers[which]));
              return operands + which;
            },
            1);
      }
      program.scalars[instruction.d] = scalar_slot(result);
    });
  }
}

bool is_set(const Program& program, std::uint16_t scalar, unsigned element) {
  return with_type(element, [&](auto type) { return is_true(scalar_value<decltype(type)>(program.scalars[scalar])); });
}

}  // namespace lacuna::sida

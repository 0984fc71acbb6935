// Reference results of atomics: the contents of memory after the operation ([GCN3], [Vega], [MI200]: DS, FLAT, MUBUF).
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/table.h"
#include "tests/isa/reference/atomic_bench.h"
#include "tests/isa/reference/float_modes.h"

namespace lacuna::isa::test {
namespace {

using In = AtomicInputs;
using Function = std::uint64_t (*)(const In&);

template <unsigned kWidth>
std::int64_t number(std::uint64_t v) {
  return kWidth == 64 ? s64(v) : std::int64_t{s32(v)};
}
template <unsigned kWidth>
constexpr std::uint64_t kOnes = kWidth == 64 ? ~std::uint64_t{0} : 0xffffffff;

template <unsigned kWidth>
constexpr const BinaryFormat& kFormat = kWidth == 64 ? kDouble : kSingle;

/// Rounds to nearest even regardless of MODE. In LDS, denormals are treated according to MODE; in memory, f32 denormals are
/// flushed and other denormals kept ([MI200] "FLAT and GLOBAL float atomics"). The sign of a NaN result without NaN operands is
/// not documented: it is positive here.
std::uint64_t float_sum(const In& i, const BinaryFormat& f) {
  const Context x{Target::gfx90a, i.mode, false};
  const bool keeps_in = i.in_lds ? keeps_inputs(x, f) : f.width != 32;
  const bool keeps_out = i.in_lds ? keeps_results(x, f) : f.width != 32;
  if (f.nan(i.old)) return i.old | f.quiet_bit();
  if (f.nan(i.a)) return i.a | f.quiet_bit();
  const std::uint64_t sum = add(keeps_in ? i.old : f.flushed(i.old), keeps_in ? i.a : f.flushed(i.a), f, {0, !keeps_out});
  return f.nan(sum) ? f.magnitude(sum) : sum;
}
std::uint64_t packed_sum(const In& i) {
  const auto half = [&](unsigned shift) {
    return float_sum({i.old >> shift & 0xffff, i.a >> shift & 0xffff, 0, i.mode, i.in_lds}, kHalf16) << shift;
  };
  return half(0) | half(16);
}

/// Operations for both widths; names as in DS (with the type's letter) and as in the other formats.
struct Operation {
  std::string_view ds;
  char type;
  std::string_view memory;
  unsigned data;
  Function of32, of64;
};
template <unsigned W>
std::uint64_t cut(std::uint64_t v) {
  return v & kOnes<W>;
}
template <unsigned W>
struct Of {
  static std::uint64_t add(const In& i) { return cut<W>(i.old + i.a); }
  static std::uint64_t sub(const In& i) { return cut<W>(i.old - i.a); }
  static std::uint64_t rsub(const In& i) { return cut<W>(i.a - i.old); }
  static std::uint64_t inc(const In& i) { return i.old >= i.a ? 0 : i.old + 1; }
  static std::uint64_t dec(const In& i) { return i.old == 0 || i.old > i.a ? i.a : i.old - 1; }
  static std::uint64_t smin(const In& i) { return number<W>(i.old) < number<W>(i.a) ? i.old : i.a; }
  static std::uint64_t smax(const In& i) { return number<W>(i.old) > number<W>(i.a) ? i.old : i.a; }
  static std::uint64_t umin(const In& i) { return std::min(i.old, i.a); }
  static std::uint64_t umax(const In& i) { return std::max(i.old, i.a); }
  static std::uint64_t bit_and(const In& i) { return i.old & i.a; }
  static std::uint64_t bit_or(const In& i) { return i.old | i.a; }
  static std::uint64_t bit_xor(const In& i) { return i.old ^ i.a; }
  static std::uint64_t exchange(const In& i) { return i.a; }
  static std::uint64_t masked_or(const In& i) { return (i.old & ~i.a) | i.b; }
  static std::uint64_t wrap(const In& i) { return i.old >= i.a ? i.old - i.a : cut<W>(i.old + i.b); }
  /// DS: comparand, then new value; other formats: new value, then comparand.
  static std::uint64_t compare_store(const In& i) { return i.old == i.a ? i.b : i.old; }
  static std::uint64_t compare_swap(const In& i) { return i.old == i.b ? i.a : i.old; }
  /// Comparison as numbers: zeros are equal, NaNs are not.
  static std::uint64_t compare_store_float(const In& i) { return compare(i.old, i.a, kFormat<W>) == 0 ? i.b : i.old; }
  static std::uint64_t min_float(const In& i) { return compare(i.a, i.old, kFormat<W>) == -1 ? i.a : i.old; }
  static std::uint64_t max_float(const In& i) { return compare(i.a, i.old, kFormat<W>) == 1 ? i.a : i.old; }
  static std::uint64_t add_float(const In& i) { return float_sum(i, kFormat<W>); }
};
using A = Of<32>;
using B = Of<64>;

constexpr Operation kOperations[] = {
    {"add", 'u', "add", 1, A::add, B::add},
    {"sub", 'u', "sub", 1, A::sub, B::sub},
    {"rsub", 'u', "", 1, A::rsub, B::rsub},
    {"inc", 'u', "inc", 1, A::inc, B::inc},
    {"dec", 'u', "dec", 1, A::dec, B::dec},
    {"min", 'i', "smin", 1, A::smin, B::smin},
    {"max", 'i', "smax", 1, A::smax, B::smax},
    {"min", 'u', "umin", 1, A::umin, B::umin},
    {"max", 'u', "umax", 1, A::umax, B::umax},
    {"and", 'b', "and", 1, A::bit_and, B::bit_and},
    {"or", 'b', "or", 1, A::bit_or, B::bit_or},
    {"xor", 'b', "xor", 1, A::bit_xor, B::bit_xor},
    {"wrxchg", 'b', "swap", 1, A::exchange, B::exchange},
    {"write", 'b', "", 1, A::exchange, B::exchange},
    {"mskor", 'b', "", 2, A::masked_or, B::masked_or},
    {"wrap", 'b', "", 2, A::wrap, B::wrap},
    {"cmpst", 'b', "", 2, A::compare_store, B::compare_store},
    {"", 'b', "cmpswap", 2, A::compare_swap, B::compare_swap},
    {"cmpst", 'f', "", 2, A::compare_store_float, B::compare_store_float},
    {"min", 'f', "", 1, A::min_float, B::min_float},
    {"max", 'f', "", 1, A::max_float, B::max_float},
    {"add", 'f', "", 1, A::add_float, B::add_float},
};
struct Named {
  std::string_view suffix;
  OperandType type;
  Function reference;
};
constexpr Named kFloatsInMemory[] = {
    {"add_f32", OperandType::f32, A::add_float},     {"add_f64", OperandType::f64, B::add_float},
    {"min_f64", OperandType::f64, B::min_float},     {"max_f64", OperandType::f64, B::max_float},
    {"pk_add_f16", OperandType::pk_f16, packed_sum},
};

/// Entries for the combinations of mnemonic and format that are in the instruction table.
std::vector<AtomicReference> build() {
  std::vector<AtomicReference> entries;
  const auto add_if_there = [&](const std::string& mnemonic, OperandType type, unsigned data, Function reference) {
    for (const Format format : {Format::ds, Format::flat, Format::global, Format::mubuf, Format::smem}) {
      const auto all = rows(format);
      const bool there = std::any_of(all.begin(), all.end(), [&](const InstructionRow& row) {
        return is_atomic(row) && row.mnemonic == mnemonic && row.execute != nullptr;
      });
      if (there) entries.push_back({mnemonic, type, data, reference});
    }
  };
  const auto type_of = [](char type, bool wide) {
    if (type == 'f') return wide ? OperandType::f64 : OperandType::f32;
    return wide ? OperandType::b64 : OperandType::b32;
  };
  for (const Operation& o : kOperations) {
    for (const bool wide : {false, true}) {
      const Function reference = wide ? o.of64 : o.of32;
      const std::string type = o.type + std::string(wide ? "64" : "32");
      for (const std::string_view kind : {"_", "_rtn_", "_src2_"})
        add_if_there("ds_" + std::string(o.ds) + std::string(kind) + type, type_of(o.type, wide), kind == "_src2_" ? 0 : o.data,
                     reference);
      for (const std::string_view path : {"flat", "global", "buffer", "s", "s_buffer"})
        add_if_there(std::string(path) + "_atomic_" + std::string(o.memory) + (wide ? "_x2" : ""), type_of(o.type, wide),
                     o.data, reference);
    }
  }
  for (const Named& n : kFloatsInMemory) {
    for (const std::string_view path : {"flat", "global", "buffer"})
      add_if_there(std::string(path) + "_atomic_" + std::string(n.suffix), n.type, 1, n.reference);
  }
  return entries;
}

}  // namespace

bool is_atomic(const InstructionRow& row) {
  const bool named = row.format == Format::smem && row.mnemonic.find("_atomic_") != std::string_view::npos;
  return named || row.latency == LatencyClass::lds_atomic || row.latency == LatencyClass::vmem_atomic;
}

std::span<const AtomicReference> atomic_references() {
  static const std::vector<AtomicReference> entries = build();
  return entries;
}

}  // namespace lacuna::isa::test

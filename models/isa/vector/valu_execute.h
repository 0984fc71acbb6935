// Makes an executor of an instruction from an operation on one lane.
//
// execute<Signature, Operation> gathers the sources as 64-lane planes and runs one vectorisable loop over all lanes.
// Destination and sources may overlap in any way: a lane's result is stored after all of its sources have been loaded, and
// touches no other lane. If all lanes are active the loop therefore writes the registers directly, unless this overwrites a
// source that may be needed again; otherwise it writes a temporary, of which the lanes in EXEC are copied. Modifiers (NEG, ABS,
// OMOD, CLAMP, SDWA, DPP) only affect the inputs of the loop and the use of its result: execute_modified().
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "models/isa/decode/instruction.h"
#include "models/isa/vector/valu_types.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {

inline constexpr unsigned kMaxPlanes = 4;
inline constexpr unsigned kMaxArguments = 4;

template <unsigned kPlanes>
struct Planes {
  alignas(64) std::uint32_t words[kPlanes * kLanes];  // deliberately not initialised: every lane is written before it is read
};

/// Inputs and outputs of a lane loop.
struct LaneIo {
  LaneContext context;
  std::array<const std::uint32_t*, kMaxArguments> in;
  std::uint32_t* out;
  std::uint32_t* flags;  ///< all ones or zero per lane
};

/// Runs an operation over 64 lanes. True if some result of floating-point arithmetic is a NaN: settle_nans() then determines
/// the NaN's sign and payload, which IEEE 754 does not define and which differ between hosts.
using LaneLoop = bool (*)(const LaneIo&);

struct Argument {
  OperandType type = OperandType::none;
  ArgumentSource source = ArgumentSource::operand;
  std::uint8_t planes = 0;
  bool arithmetic = false;
};

/// Properties of an operation, for the code shared by all operations.
struct OperationShape {
  std::array<Argument, kMaxArguments> arguments{};
  std::uint8_t count = 0;
  Argument result;
  bool has_flag = false;     ///< second destination: a lane mask
  bool writes_exec = false;  ///< v_cmpx
  bool keeps_other_half = false;
  bool zero_silences = false;  ///< legacy products of f32: a zero factor makes the other factor irrelevant, even a NaN
  FpMode fp = FpMode::none;
};

/// Joins the two planes of a 64-bit operand, and splits them again. The joined lanes are in a host-specific order, the same for
/// all operands.
void join_planes(const std::uint32_t* planes, std::uint64_t* joined);
void split_planes(const std::uint64_t* joined, std::uint32_t* planes);

/// Whether the host has instructions that convert halves.
#if defined(__F16C__)
inline constexpr bool kHostConvertsHalves = true;
#else
inline constexpr bool kHostConvertsHalves = false;
#endif
/// Converts the low halves of 64 words to f32 and back, as f16::load and f16::store do per lane; results are rounded in the
/// host's current mode. Used only if kHostConvertsHalves.
void halves_to_floats(const std::uint32_t* halves, float* floats, bool flush_denormals);
void floats_to_halves(const float* floats, std::uint32_t* halves, bool flush_denormals);

/// Replaces NaN results by the first argument that is a NaN and affects the result, quieted, in the result's format; if there
/// is none, by the default NaN (negative, quiet, no payload: as in the ISA manuals for invalid operations, e.g. V_DIV_FIXUP).
void settle_nans(const OperationShape& shape, const LaneIo& io);
/// As settle_nans(), for f32 results that are not in io.out yet: stores them there. io.out may be a source.
void store_settled(const OperationShape& shape, const LaneIo& io, Planes<1>& results);

inline bool any_nan(const Planes<1>& floats) {
#if defined(__AVX2__)
  // Each comparison tests two vectors.
  const auto eight = [&](unsigned lane) { return _mm256_load_ps(reinterpret_cast<const float*>(floats.words + lane)); };
  __m256 unordered = _mm256_setzero_ps();
#pragma GCC unroll 4
  for (unsigned lane = 0; lane < kLanes; lane += 16) {
    unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(eight(lane), eight(lane + 8), _CMP_UNORD_Q));
  }
  return _mm256_testz_si256(_mm256_castps_si256(unordered), _mm256_castps_si256(unordered)) == 0;
#else
  std::uint32_t any = 0;
  for (const std::uint32_t bits : floats.words) any |= (bits & 0x7fffffffU) > 0x7f800000U ? 1 : 0;
  return any != 0;
#endif
}

/// Fills `planes` planes of `buffer` with a source that is not a VGPR, expanded to all lanes, and returns `buffer`. `planes` =
/// 0: one plane with a lane mask, as expand_mask().
const std::uint32_t* broadcast(const Operand& operand, const Wavefront& wave, std::uint32_t* buffer, unsigned planes);
/// Expands a mask to one word per bit: all ones or zero.
void expand_mask(std::uint64_t bits, std::uint32_t* words);
/// Packs the sign bits of 64 words into a mask: the inverse of expand_mask().
std::uint64_t pack_mask(const std::uint32_t* words);
/// Puts the high halves of `old` above the low halves of `words`.
void keep_high_halves(std::uint32_t* words, const std::uint32_t* old);
/// Applies OMOD and CLAMP to results of a floating-point type. Results of other types are unchanged.
void apply_output(const VectorModifiers& vop, OperandType type, const LaneContext& context, std::uint32_t* out);
/// Writes the lanes that EXEC selects. Slower than write_lanes() if all lanes are active.
void write_active_lanes(std::uint32_t* destination, const std::uint32_t* values, Wavefront& wave, unsigned planes);

/// Copies with the host's widest registers: a call of memcpy would take twice as long.
template <unsigned kWords>
inline void copy_words(std::uint32_t* destination, const std::uint32_t* values) {
  using Chunk [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = std::uint32_t;
#pragma GCC unroll 8
  for (unsigned i = 0; i < kWords; i += 8)
    *reinterpret_cast<Chunk*>(destination + i) = *reinterpret_cast<const Chunk*>(values + i);
}

template <unsigned kPlanes>
inline void write_lanes(std::uint32_t* destination, const std::uint32_t* values, Wavefront& wave) {
  if (wave.exec() == ~std::uint64_t{0}) [[likely]] {
    copy_words<kPlanes * kLanes>(destination, values);
  } else {
    write_active_lanes(destination, values, wave, kPlanes);
  }
}

void execute_modified(const Instruction& instruction, Wavefront& wave, const OperationShape& shape, LaneLoop loop);

namespace detail {

template <class T>
struct IsFlagged : std::false_type {};
template <class T>
struct IsFlagged<flagged<T>> : std::true_type {};

template <class Tag>
constexpr bool keeps_other_half() {
  if constexpr (requires { Tag::kKeepsOtherHalf; }) {
    return Tag::kKeepsOtherHalf;
  } else {
    return false;
  }
}

constexpr FpMode join(FpMode a, FpMode b) { return a == FpMode::none ? b : a; }

template <class Tag>
constexpr Argument argument() {
  return {Tag::kOperand, Tag::kSource, static_cast<std::uint8_t>(Tag::kPlanes), Tag::kArithmetic};
}

inline LaneContext lane_context(FpMode use, const Wavefront& wave) {
  const bool flushes_minmax = wave.target != Target::gfx803;
  return {fp_setting(use, wave.mode), wave.mode, flushes_minmax};
}

}  // namespace detail

template <class Signature, class Operation>
struct Lanes;

template <class Result, class... Arguments, class Operation>
struct Lanes<Result(Arguments...), Operation> {
  static constexpr unsigned kCount = sizeof...(Arguments);
  static constexpr bool kHasFlag = detail::IsFlagged<Result>::value;
  static constexpr bool kIsMask = Result::kOperand == OperandType::lane_mask;
  static constexpr bool kAllF64 = std::is_same_v<Result, f64> && (... && std::is_base_of_v<f64, Arguments>);

  /// Whether the operation has f16 operands and computes in f32, which rounds its result twice.
  static constexpr bool all_halves() {
    if constexpr (std::is_base_of_v<f16, Result> && (... && std::is_base_of_v<f16, Arguments>)) {
      return std::is_same_v<decltype(apply(std::declval<LaneContext>(), (static_cast<void>(sizeof(Arguments)), 0.0F)...)),
                            float>;
    } else {
      return false;
    }
  }

  static constexpr FpMode fp_mode() {
    if constexpr (requires { Operation::kFpMode; }) {
      return Operation::kFpMode;
    } else {
      FpMode mode = Result::kFp;
      ((mode = detail::join(mode, Arguments::kFp)), ...);
      return mode;
    }
  }

  static constexpr OperationShape make_shape() {
    OperationShape shape;
    ((shape.arguments[shape.count++] = detail::argument<Arguments>()), ...);
    shape.result = detail::argument<Result>();
    shape.has_flag = kHasFlag;
    if constexpr (requires { Operation::kWritesExec; }) shape.writes_exec = Operation::kWritesExec;
    shape.keeps_other_half = detail::keeps_other_half<Result>();
    if constexpr (requires { Operation::kZeroSilences; }) shape.zero_silences = Operation::kZeroSilences;
    shape.fp = fp_mode();
    return shape;
  }
  static constexpr OperationShape kShape = make_shape();

  /// Whether loads, stores or the operation use the LaneContext.
  static constexpr bool uses_context() {
    if constexpr (!kHostFlushesDenormals || std::is_base_of_v<f16, Result> || (... || std::is_base_of_v<f16, Arguments>)) {
      return true;
    } else {
      return (requires { typename Operation::Numbers; }) ||
             std::is_invocable_v<Operation, const LaneContext&,
                                 decltype(Arguments::load(std::declval<LaneContext>(), nullptr, 0))...> ||
             std::is_invocable_v<Operation, const LaneContext&,
                                 decltype(Arguments::load(std::declval<LaneContext>(), nullptr, 0))..., bool&>;
    }
  }

  /// Whether the loop itself settles NaNs before it stores: the destination may be a source, as in accumulations.
  static constexpr bool settles_nans() {
    return std::is_same_v<Result, f32> && !requires { typename Operation::Numbers; };
  }

  /// Whether the sources may be read again after the loop, to settle NaNs or by a second loop.
  static constexpr bool reads_again() {
    return (Result::kArithmetic && !settles_nans()) || requires { typename Operation::Numbers; };
  }

  // Not inlined: plain and modified executions share this code.
  [[gnu::noinline]] static bool loop(const LaneIo& io) {
    if constexpr (kAllF64) {
      return loop_over_joined(io, std::make_index_sequence<kCount>{});
    } else if constexpr (kHostConvertsHalves && all_halves()) {
      return loop_over_halves(io, std::make_index_sequence<kCount>{});
    } else if constexpr (settles_nans()) {
      loop_and_settle(io, std::make_index_sequence<kCount>{});
      return false;
    } else {
      if constexpr (requires { typename Operation::Numbers; }) {
        // If no argument is a NaN, the simpler operation Numbers gives the result.
        if (Operation::Numbers::applies(io.context) && loop_over_numbers(io, std::make_index_sequence<kCount>{})) return false;
      }
      return loop_over(io, std::make_index_sequence<kCount>{});
    }
  }

 private:
  template <std::size_t... kIndex>
  static bool loop_over(const LaneIo& io, std::index_sequence<kIndex...>) {
    const LaneContext context = io.context;
    const std::array<const std::uint32_t*, kMaxArguments> in = io.in;
    std::uint32_t* out = io.out;
    [[maybe_unused]] std::uint32_t* flags = io.flags;
    // A flag type as wide as the result, so that a vector compare needs no narrowing.
    using Nans = std::conditional_t<Result::kPlanes == 2, std::uint64_t, std::uint32_t>;
    Nans nans = 0;
    // Planes of `in` and `out` are disjoint, or overlap in the same lanes.
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if constexpr (kHasFlag) {
        bool flag = false;
        const auto result = apply(context, Arguments::load(context, in[kIndex], lane)..., flag);
        Result::store(context, out, lane, static_cast<typename Result::result_type>(result));
        flags[lane] = flag ? ~std::uint32_t{0} : 0;
      } else {
        const auto result = apply(context, Arguments::load(context, in[kIndex], lane)...);
        Result::store(context, out, lane, static_cast<typename Result::result_type>(result));
        if constexpr (Result::kArithmetic) nans |= __builtin_isnan(result) ? ~Nans{0} : Nans{0};
      }
    }
    return nans != 0;
  }

  // Keeps results in host registers, as far as there are enough, until all of them have been tested for NaN.
  template <std::size_t... kIndex>
  [[gnu::always_inline]] static void loop_and_settle(const LaneIo& io, std::index_sequence<kIndex...>) {
    const LaneContext context = io.context;
    const std::array<const std::uint32_t*, kMaxArguments> in = io.in;
    Planes<1> results;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto result = apply(context, Arguments::load(context, in[kIndex], lane)...);
      Result::store(context, results.words, lane, static_cast<float>(result));
    }
    if (any_nan(results)) [[unlikely]] {
      // A copy: taking the address of `results` itself would force it into memory.
      Planes<1> unsettled;
      copy_words<kLanes>(unsettled.words, results.words);
      return store_settled(kShape, io, unsettled);
    }
    copy_words<kLanes>(io.out, results.words);
  }

  // Executes Operation::Numbers instead of Operation. False: an argument is a NaN, and the results must be discarded.
  template <std::size_t... kIndex>
  static bool loop_over_numbers(const LaneIo& io, std::index_sequence<kIndex...>) {
    using Numbers = typename Operation::Numbers;
    const LaneContext context = io.context;
    const std::array<const std::uint32_t*, kMaxArguments> in = io.in;
    std::uint32_t* out = io.out;
    std::uint32_t nans = 0;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      nans |= (0U | ... | (Numbers::nan(Arguments::load(context, in[kIndex], lane)) ? 1U : 0U));
      Result::store(context, out, lane, Numbers{}(Arguments::load(context, in[kIndex], lane)...));
    }
    return nans == 0;
  }

  // f64 only: joining whole planes takes a third of the time of joining lane by lane.
  template <std::size_t... kIndex>
  static bool loop_over_joined(const LaneIo& io, std::index_sequence<kIndex...>) {
    const LaneContext context = io.context;
    alignas(64) std::uint64_t in[kCount][kLanes];
    alignas(64) std::uint64_t out[kLanes];
    (join_planes(io.in[kIndex], in[kIndex]), ...);
    std::uint64_t nans = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const double result = apply(context, f64::from_bits(context, in[kIndex][lane])...);
      out[lane] = f64::to_bits(context, result);
      nans |= __builtin_isnan(result) ? ~std::uint64_t{0} : 0;
    }
    split_planes(out, io.out);
    return nans != 0;
  }

  template <std::size_t... kIndex>
  static bool loop_over_halves(const LaneIo& io, std::index_sequence<kIndex...>) {
    const LaneContext context = io.context;
    alignas(64) float in[kCount][kLanes];
    alignas(64) float out[kLanes];
    (halves_to_floats(io.in[kIndex], in[kIndex], flushes_inputs(context.fp)), ...);
    std::uint32_t nans = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const float result = apply(context, in[kIndex][lane]...);
      out[lane] = result;
      nans |= __builtin_isnan(result) ? ~0U : 0U;
    }
    floats_to_halves(out, io.out, flushes_results(context.fp));
    return nans != 0;
  }

  template <class... Values>
  static auto apply(const LaneContext& context, Values&&... values) {
    if constexpr (std::is_invocable_v<Operation, const LaneContext&, Values...>) {
      return Operation{}(context, std::forward<Values>(values)...);
    } else {
      return Operation{}(std::forward<Values>(values)...);
    }
  }
};

namespace detail {

// Planes of one argument of an unmodified instruction; `next` counts the operands used so far.
template <class Tag>
inline const std::uint32_t* gather(const Instruction& instruction, Wavefront& wave, unsigned& next, std::uint32_t* buffer) {
  if constexpr (Tag::kSource == ArgumentSource::operand) {
    const Operand& operand = instruction.src[next++];
    if constexpr (Tag::kOperand != OperandType::lane_mask) {
      if (operand.kind == OperandKind::vgpr) [[likely]] {
        return wave.v(operand.index);
      }
    }
    return broadcast(operand, wave, buffer, Tag::kOperand == OperandType::lane_mask ? 0 : Tag::kPlanes);
  } else if constexpr (Tag::kSource == ArgumentSource::old_destination) {
    return wave.v(instruction.dst[0].index);
  } else if constexpr (Tag::kSource == ArgumentSource::vcc) {
    expand_mask(wave.vcc(), buffer);
    return buffer;
  } else {
    return nullptr;
  }
}

template <class Signature, class Operation>
struct Executor;

template <class Result, class... Arguments, class Operation>
struct Executor<Result(Arguments...), Operation> {
  using Loop = Lanes<Result(Arguments...), Operation>;
  static constexpr bool kInPlace = !Loop::kIsMask && !Loop::kShape.keeps_other_half;

  static bool meets_sources(const LaneIo& io, const std::uint32_t* destination) {
    unsigned position = 0;
    const auto meets = [&](unsigned planes) {
      const std::uint32_t* source = io.in[position++];
      if (Result::kPlanes == 1 && planes == 1) return source == destination;
      return source < destination + Result::kPlanes * kLanes && destination < source + planes * kLanes;
    };
    return (meets(Arguments::kPlanes) || ...);
  }

  static void run_plain(const Instruction& instruction, Wavefront& wave) {
    Planes<(0U + ... + Arguments::kPlanes)> buffers;
    Planes<Result::kPlanes> result;
    Planes<1> flags;
    LaneIo io;
    if constexpr (Loop::uses_context()) io.context = lane_context(Loop::kShape.fp, wave);
    io.out = result.words;
    io.flags = flags.words;
    unsigned next = 0;
    unsigned position = 0;
    std::uint32_t* buffer = buffers.words;
    ((io.in[position++] = gather<Arguments>(instruction, wave, next, buffer), buffer += Arguments::kPlanes * kLanes), ...);
    if constexpr (kInPlace) {
      std::uint32_t* destination = wave.v(instruction.dst[0].index);
      if (wave.exec() == ~std::uint64_t{0} && !(Loop::reads_again() && meets_sources(io, destination))) io.out = destination;
    }
    if constexpr (Loop::kShape.fp != FpMode::none) set_host_fp(fp_setting(Loop::kShape.fp, wave.mode));
    [[maybe_unused]] const bool nans = Loop::loop(io);
    if constexpr (Result::kArithmetic && !Loop::settles_nans()) {
      if (nans) [[unlikely]] {
        settle_nans(Loop::kShape, io);
      }
    }
    if constexpr (Loop::kIsMask) {
      const std::uint64_t bits = pack_mask(result.words) & wave.exec();
      wave.write64(instruction.dst[0].index, bits);
      if constexpr (Loop::kShape.writes_exec) wave.set_exec(bits);
    } else {
      if constexpr (Loop::kShape.keeps_other_half) keep_high_halves(result.words, wave.v(instruction.dst[0].index));
      if (!kInPlace || io.out == result.words) {
        write_lanes<Result::kPlanes>(wave.v(instruction.dst[0].index), result.words, wave);
      }
      if constexpr (Loop::kHasFlag) wave.write64(instruction.dst[1].index, pack_mask(flags.words) & wave.exec());
    }
  }
};

}  // namespace detail

/// Executor of an instruction without integer saturation.
template <class Signature, class Operation>
void execute(const Instruction& instruction, Wavefront& wave) {
  if (instruction.plain_vector) [[likely]] {
    detail::Executor<Signature, Operation>::run_plain(instruction, wave);
  } else {
    using Loop = Lanes<Signature, Operation>;
    execute_modified(instruction, wave, Loop::kShape, Loop::loop);
  }
}

/// Executor of an integer instruction whose CLAMP bit selects another, saturating operation.
template <class Signature, class Operation, class Saturated>
void execute_saturating(const Instruction& instruction, Wavefront& wave) {
  if (instruction.plain_vector) [[likely]] {
    detail::Executor<Signature, Operation>::run_plain(instruction, wave);
  } else {
    using Loop = Lanes<Signature, Operation>;
    const LaneLoop loop = instruction.vop.clamp ? Lanes<Signature, Saturated>::loop : Loop::loop;
    execute_modified(instruction, wave, Loop::kShape, loop);
  }
}

}  // namespace lacuna::isa

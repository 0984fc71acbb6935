#include "models/isa/vector/valu_packed.h"

#include <algorithm>
#include <array>
#include <bit>

#include "models/isa/decode/operand.h"
#include "models/isa/vector/valu_convert.h"
#include "models/isa/vector/valu_fma.h"

namespace lacuna::isa {
namespace {

constexpr std::uint32_t kSign16 = 0x8000;
constexpr std::uint32_t kSign32 = 0x80000000;

bool chosen(unsigned bits, unsigned index) { return ((bits >> index) & 1) != 0; }

/// Returns the operand's registers; for a scalar or constant, fills `buffer` with the value in all lanes and returns it.
const std::uint32_t* source_planes(const Operand& operand, Wavefront& wave, std::uint32_t* buffer, unsigned planes) {
  const bool vector = operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
  return vector ? wave.planes(operand) : broadcast(operand, wave, buffer, planes);
}

// Copies one half of each lane; with `negate`, changes its sign.
void take_half(const std::uint32_t* from, bool high, bool negate, std::uint32_t* to) {
  const std::uint32_t flip = negate ? kSign16 : 0;
  if (high) {
    for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = (from[lane] >> 16) ^ flip;
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = (from[lane] & 0xffff) ^ flip;
  }
}

void change_signs(const std::uint32_t* from, std::uint32_t keep, std::uint32_t flip, std::uint32_t* to) {
  for (unsigned lane = 0; lane < kLanes; ++lane) to[lane] = (from[lane] & keep) ^ flip;
}

bool is_integer(OperandType type) { return !is_float(type); }

}  // namespace

void run_packed(const Instruction& instruction, Wavefront& wave, const OperationShape& shape, LaneLoop loop) {
  const VectorModifiers& vop = instruction.vop;
  const bool wide = shape.result.type == OperandType::f32;
  std::array<Planes<2>, kMaxArguments> constants;
  std::array<const std::uint32_t*, kMaxArguments> source{};
  for (unsigned i = 0; i < shape.count; ++i) {
    const bool old = shape.arguments[i].source == ArgumentSource::old_destination;
    source[i] = source_planes(old ? instruction.dst[0] : instruction.src[i], wave, constants[i].words, wide ? 2 : 1);
  }
  std::array<Planes<1>, 2> results;
  std::array<Planes<1>, kMaxArguments> halves;
  LaneIo io;
  io.context = detail::lane_context(shape.fp, wave);
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned select = half == 0 ? vop.op_sel : vop.op_sel_hi;
    const unsigned negate = half == 0 ? vop.neg : vop.neg_hi;
    for (unsigned i = 0; i < shape.count; ++i) {
      // NEG and NEG_HI have no effect on integers.
      const bool negative = chosen(negate, i) && is_float(shape.arguments[i].type);
      io.in[i] = halves[i].words;
      if (!wide) {
        take_half(source[i], chosen(select, i), negative, halves[i].words);
      } else {
        const std::uint32_t* plane = source[i] + (chosen(select, i) ? kLanes : 0);
        io.in[i] = plane;
        if (negative) {
          change_signs(plane, ~0U, kSign32, halves[i].words);
          io.in[i] = halves[i].words;
        }
      }
    }
    io.out = results[half].words;
    if (shape.fp != FpMode::none) set_host_fp(io.context.fp);
    if (loop(io)) settle_nans(shape, io);
    apply_output(vop, shape.result.type, io.context, io.out);
  }
  std::uint32_t* destination = wave.planes(instruction.dst[0]);
  if (wide) {
    write_lanes<1>(destination, results[0].words, wave);
    write_lanes<1>(destination + kLanes, results[1].words, wave);
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      results[0].words[lane] = (results[0].words[lane] & 0xffff) | results[1].words[lane] << 16;
    }
    write_lanes<1>(destination, results[0].words, wave);
  }
}

void run_dot(const Instruction& instruction, Wavefront& wave, const OperationShape& shape, LaneLoop loop) {
  const VectorModifiers& vop = instruction.vop;
  std::array<Planes<1>, kMaxArguments> buffers;
  Planes<1> result;
  LaneIo io;
  io.context = detail::lane_context(shape.fp, wave);
  io.out = result.words;
  for (unsigned i = 0; i < shape.count; ++i) {
    const OperandType type = shape.arguments[i].type;
    std::uint32_t* words = buffers[i].words;
    const std::uint32_t* from = source_planes(instruction.src[i], wave, words, 1);
    io.in[i] = from;
    const bool low_is_high = chosen(vop.op_sel, i);
    const bool high_is_low = !chosen(vop.op_sel_hi, i);
    const std::uint32_t flip = (chosen(vop.neg, i) ? kSign16 : 0) | (chosen(vop.neg_hi, i) ? kSign16 << 16 : 0);
    if (i == 2) {  // the accumulator is one number
      if (is_integer(type) || !chosen(vop.neg, i)) continue;
      change_signs(from, ~0U, kSign32, words);
    } else {
      if (!low_is_high && !high_is_low && flip == 0) continue;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t word = from[lane];
        const std::uint32_t low = low_is_high ? word >> 16 : word & 0xffff;
        const std::uint32_t high = high_is_low ? word << 16 : word & 0xffff0000U;
        words[lane] = high | low;
      }
      if (!is_integer(type)) change_signs(words, ~0U, flip, words);
    }
    io.in[i] = words;
  }
  if (shape.fp != FpMode::none) set_host_fp(io.context.fp);
  if (loop(io)) settle_nans(shape, io);
  apply_output(vop, shape.result.type, io.context, result.words);
  write_lanes<1>(wave.planes(instruction.dst[0]), result.words, wave);
}

void run_mix(const Instruction& instruction, Wavefront& wave, MixResult result) {
  using Widen = Lanes<f32(f16), F32OfF16>;
  using Fma = Lanes<f32(f32, f32, f32), FusedMultiplyAdd>;
  using Narrow = Lanes<f16(f32), F16OfF32>;
  const VectorModifiers& vop = instruction.vop;
  std::array<Planes<1>, 3> sources;
  Planes<1> half;
  Planes<1> output;
  LaneIo io;
  // Runs one step with the inputs in `io`.
  const auto run = [&](const OperationShape& shape, LaneLoop loop) {
    io.context = detail::lane_context(shape.fp, wave);
    set_host_fp(io.context.fp);
    if (loop(io)) settle_nans(shape, io);
  };
  for (unsigned i = 0; i < 3; ++i) {
    std::uint32_t* words = sources[i].words;
    const Operand& operand = instruction.src[i];
    const std::uint32_t* from = source_planes(operand, wave, words, 1);
    // Signs are changed before a conversion quiets a NaN; the resulting bits are the same in either order.
    const std::uint32_t keep = chosen(vop.abs, i) ? ~kSign32 : ~0U;
    const std::uint32_t flip = chosen(vop.neg, i) ? kSign32 : 0;
    if (chosen(vop.op_sel_hi, i)) {
      take_half(from, chosen(vop.op_sel, i), false, half.words);
      io.in[0] = half.words;
      io.out = words;
      run(Widen::kShape, Widen::loop);
      from = words;
    }
    change_signs(from, keep, flip, words);
  }
  for (unsigned i = 0; i < 3; ++i) io.in[i] = sources[i].words;
  io.out = output.words;
  run(Fma::kShape, Fma::loop);
  OperandType type = OperandType::f32;
  if (result != MixResult::f32) {
    std::copy_n(output.words, kLanes, sources[0].words);
    io.in[0] = sources[0].words;
    run(Narrow::kShape, Narrow::loop);
    type = OperandType::f16;
  }
  apply_output(vop, type, io.context, output.words);
  std::uint32_t* destination = wave.planes(instruction.dst[0]);
  if (result == MixResult::low_f16) keep_high_halves(output.words, destination);
  if (result == MixResult::high_f16) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      output.words[lane] = (destination[lane] & 0xffff) | output.words[lane] << 16;
    }
  }
  write_lanes<1>(destination, output.words, wave);
}

}  // namespace lacuna::isa

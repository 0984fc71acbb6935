// Vector instructions with modifiers: NEG, ABS, OMOD and CLAMP of VOP3, and the SDWA and DPP encodings.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "models/isa/decode/operand.h"
#include "models/isa/vector/valu_execute.h"

namespace lacuna::isa {
namespace {

using Buffer = Planes<kMaxPlanes>;

// -- DPP (GCN3 ISA manual, "DPP"; LLVM AMDGPU documentation, "dpp_ctrl")

constexpr unsigned kRow = 16;

using LaneTable = std::array<std::uint8_t, kLanes>;

template <class Function>
LaneTable lane_table(Function source_of) {
  LaneTable table;
  for (unsigned lane = 0; lane < kLanes; ++lane) table[lane] = static_cast<std::uint8_t>(source_of(lane));
  return table;
}

// The lane that each lane reads from, or kLanes where there is none.
LaneTable dpp_sources(unsigned control) {
  const unsigned amount = control & 0xf;
  const auto row = [](unsigned lane) { return lane & ~(kRow - 1); };
  if (control <= 0xff) {  // quad_perm
    return lane_table([=](unsigned lane) { return (lane & ~3U) | ((control >> (2 * (lane & 3))) & 3); });
  }
  switch (control & 0x1f0) {
    case 0x100:  // row_shl
      return lane_table([=](unsigned lane) { return lane % kRow + amount < kRow ? lane + amount : kLanes; });
    case 0x110:  // row_shr
      return lane_table([=](unsigned lane) { return lane % kRow >= amount ? lane - amount : kLanes; });
    case 0x120:  // row_ror
      return lane_table([=](unsigned lane) { return row(lane) + (lane + kRow - amount) % kRow; });
    case 0x150:  // row_newbcast (gfx90a)
      return lane_table([=](unsigned lane) { return row(lane) + amount; });
    default:
      break;
  }
  switch (control) {
    case 0x130:  // wave_shl:1
      return lane_table([](unsigned lane) { return lane + 1; });
    case 0x134:  // wave_rol:1
      return lane_table([](unsigned lane) { return (lane + 1) % kLanes; });
    case 0x138:  // wave_shr:1
      return lane_table([](unsigned lane) { return lane > 0 ? lane - 1 : kLanes; });
    case 0x13c:  // wave_ror:1
      return lane_table([](unsigned lane) { return (lane + kLanes - 1) % kLanes; });
    case 0x140:  // row_mirror
      return lane_table([](unsigned lane) { return lane ^ (kRow - 1); });
    case 0x141:  // row_half_mirror
      return lane_table([](unsigned lane) { return lane ^ 7U; });
    case 0x142:  // row_bcast:15: the last lane of each row to the next row
      return lane_table([=](unsigned lane) { return lane >= kRow ? row(lane) - 1 : kLanes; });
    case 0x143:  // row_bcast:31: lane 31 to rows 2 and 3
      return lane_table([](unsigned lane) { return lane >= 32 ? 31 : kLanes; });
    default:
      return lane_table([](unsigned) { return kLanes; });
  }
}

struct DppControl {
  LaneTable sources;
  std::uint64_t exists = 0;  // lanes that have a source
};

// Returns the entry of `control` in a table of all values of the 9-bit field.
const DppControl& dpp_control(unsigned control) {
  static const std::array<DppControl, 512> controls = [] {
    std::array<DppControl, 512> all;
    for (unsigned i = 0; i < all.size(); ++i) {
      all[i].sources = dpp_sources(i);
      for (unsigned lane = 0; lane < kLanes; ++lane) all[i].exists |= std::uint64_t{all[i].sources[lane] < kLanes} << lane;
    }
    return all;
  }();
  return controls[control & 0x1ff];
}

// Moves lanes of source 0 and returns the lanes that are written: those that ROW_MASK and BANK_MASK enable and, without
// BOUND_CTRL, whose source lane exists and is active. With BOUND_CTRL, lanes without an active source lane read zero.
std::uint64_t move_lanes(const VectorModifiers& vop, std::uint64_t exec, const std::uint32_t* from, std::uint32_t* to,
                         unsigned planes) {
  const DppControl& control = dpp_control(vop.dpp_ctrl);
  const LaneTable& sources = control.sources;
  std::uint64_t valid = control.exists;
  if (exec != ~std::uint64_t{0}) {
    valid = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t active = exec >> (sources[lane] % kLanes) & control.exists >> lane & 1;
      valid |= active << lane;
    }
  }
  Planes<1> is_valid;
  expand_mask(valid, is_valid.words);
  for (unsigned plane = 0; plane < planes; ++plane) {
    const std::uint32_t* plane_from = from + plane * kLanes;
    std::uint32_t* plane_to = to + plane * kLanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      plane_to[lane] = plane_from[sources[lane] % kLanes] & is_valid.words[lane];
    }
  }
  std::uint64_t enabled = 0;
  for (unsigned bank = 0; bank < kLanes / 4; ++bank) {
    if (((vop.row_mask >> (bank / 4)) & (vop.bank_mask >> (bank % 4)) & 1) != 0) enabled |= std::uint64_t{0xf} << (4 * bank);
  }
  return vop.bound_ctrl ? enabled : enabled & valid;
}

// -- SDWA

struct Field {
  unsigned shift;
  std::uint32_t mask;
};

constexpr Field sdwa_field(unsigned select) {
  if (select < 4) return {select * 8, 0xff};
  if (select < 6) return {(select - 4) * 16, 0xffff};
  return {0, 0xffffffff};
}

void select_source(std::uint32_t* words, unsigned select, bool sign_extend) {
  const Field field = sdwa_field(select);
  const std::uint32_t sign = sign_extend ? field.mask ^ (field.mask >> 1) : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t value = (words[lane] >> field.shift) & field.mask;
    words[lane] = (value ^ sign) - sign;
  }
}

void select_destination(std::uint32_t* words, const std::uint32_t* old, const VectorModifiers& vop) {
  const Field field = sdwa_field(vop.dst_sel);
  const std::uint32_t place = field.mask << field.shift;
  const std::uint32_t sign = field.mask ^ (field.mask >> 1);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t value = words[lane] & field.mask;
    const std::uint32_t extended = ((value ^ sign) - sign) << field.shift;
    words[lane] = vop.dst_unused == 2   ? (old[lane] & ~place) | value << field.shift
                  : vop.dst_unused == 1 ? extended
                                        : value << field.shift;
  }
}

// -- input and output modifiers

void apply_signs(std::uint32_t* words, OperandType type, unsigned planes, bool absolute, bool negate) {
  // The sign bit is in the last plane; that of a 16-bit value is bit 15. v_cndmask_b32 treats its untyped 32-bit sources as
  // floats.
  const std::uint32_t sign = type == OperandType::f16 ? 0x8000U : type == OperandType::pk_f16 ? 0x80008000U : 0x80000000U;
  std::uint32_t* high = words + (planes - 1) * kLanes;
  const std::uint32_t keep = absolute ? ~sign : ~std::uint32_t{0};
  const std::uint32_t flip = negate ? sign : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) high[lane] = (high[lane] & keep) ^ flip;
}

template <class Tag>
void apply_output_modifiers(const LaneContext& context, std::uint32_t* out, double factor, bool clamp) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto value = Tag::load(context, out, lane);
    const bool nan = __builtin_isnan(value);
    if (factor != 0 && !nan) {
      value *= static_cast<decltype(value)>(factor);
      if (value == 0) value = 0;  // OMOD does not return a negative zero
    }
    if (clamp) {
      if (nan) {
        if (!context.mode.dx10_clamp()) continue;
        value = 0;
      }
      value = !(value > 0) ? 0 : value > 1 ? 1 : value;
    } else if (nan) {
      continue;
    }
    Tag::store(context, out, lane, value);
    // Storing an f16 rounds and flushes, which may result in a negative zero again.
    if (std::is_same_v<Tag, f16> && factor != 0 && out[lane] == 0x8000) out[lane] = 0;
  }
}

void write_selected(std::uint32_t* destination, const std::uint32_t* values, std::uint64_t lanes, unsigned planes) {
  Planes<1> selected;
  expand_mask(lanes, selected.words);
  for (unsigned plane = 0; plane < planes; ++plane) {
    std::uint32_t* to = destination + plane * kLanes;
    const std::uint32_t* from = values + plane * kLanes;
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      to[lane] = (to[lane] & ~selected.words[lane]) | (from[lane] & selected.words[lane]);
    }
  }
}

// OP_SEL of VOP3: reads a source's high half, or writes the result to the high half.
void take_high_halves(std::uint32_t* words) {
  for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] >>= 16;
}
void keep_low_halves(std::uint32_t* words, const std::uint32_t* old) {
  for (unsigned lane = 0; lane < kLanes; ++lane) words[lane] = (old[lane] & 0xffff) | words[lane] << 16;
}

}  // namespace

// OMOD is effective only if the result's denormals are flushed and IEEE mode is off (GCN3 ISA manual, "Output modifiers").
void apply_output(const VectorModifiers& vop, OperandType type, const LaneContext& context, std::uint32_t* out) {
  const bool keeps_denormals = type == OperandType::f32 ? context.mode.denorm_out_f32() : context.mode.denorm_out_f64_f16();
  constexpr std::array<double, 4> kFactors{0, 2, 4, 0.5};
  const double factor = keeps_denormals || context.mode.ieee() ? 0 : kFactors[vop.omod & 3];
  if (factor == 0 && !vop.clamp) return;
  LaneContext output = context;
  // OMOD and CLAMP read the results as operands: in the mode of the result's type, without flushing denormals.
  output.fp = fp_setting(type == OperandType::f32 ? FpMode::f32 : FpMode::f64, context.mode) & ~FpSetting{4};
  // CLAMP alone only selects: denormal results of the operation are kept.
  if (factor == 0) output.fp &= ~FpSetting{8};
  set_host_fp(output.fp);
  if (type == OperandType::f32) apply_output_modifiers<f32>(output, out, factor, vop.clamp);
  if (type == OperandType::f64) apply_output_modifiers<f64>(output, out, factor, vop.clamp);
  if (type == OperandType::f16) apply_output_modifiers<f16>(output, out, factor, vop.clamp);
}

void execute_modified(const Instruction& instruction, Wavefront& wave, const OperationShape& shape, LaneLoop loop) {
  const VectorModifiers& vop = instruction.vop;
  std::array<Buffer, kMaxArguments> buffers;
  Buffer result;
  Planes<1> flags;
  LaneIo io;
  io.context = detail::lane_context(shape.fp, wave);
  io.out = result.words;
  io.flags = flags.words;
  std::uint64_t active = wave.exec();

  unsigned operand_index = 0;
  for (unsigned i = 0; i < shape.count; ++i) {
    const Argument& argument = shape.arguments[i];
    std::uint32_t* words = buffers[i].words;
    io.in[i] = words;
    if (argument.source == ArgumentSource::old_destination) {
      io.in[i] = wave.v(instruction.dst[0].index);
    } else if (argument.source == ArgumentSource::vcc) {
      expand_mask(wave.vcc(), words);
    }
    if (argument.source != ArgumentSource::operand) continue;

    const unsigned index = operand_index++;
    const Operand& operand = instruction.src[index];
    if (argument.type == OperandType::lane_mask) {
      broadcast(operand, wave, words, 0);
      continue;
    }
    const bool is_vector = operand.kind == OperandKind::vgpr;
    if (vop.dpp && index == 0) {
      Buffer scalar;
      const std::uint32_t* from = is_vector ? wave.v(operand.index) : broadcast(operand, wave, scalar.words, argument.planes);
      active &= move_lanes(vop, wave.exec(), from, words, argument.planes);
    } else if (is_vector) {
      std::memcpy(words, wave.v(operand.index), argument.planes * kLanes * sizeof *words);
    } else {
      broadcast(operand, wave, words, argument.planes);
    }
    if (vop.sdwa && index < 2) {
      select_source(words, index == 0 ? vop.src0_sel : vop.src1_sel, index == 0 ? vop.src0_sext : vop.src1_sext);
    }
    if (((vop.op_sel >> index) & 1) != 0 && is_16_bit(argument.type)) take_high_halves(words);
    const bool absolute = ((vop.abs >> index) & 1) != 0;
    const bool negate = ((vop.neg >> index) & 1) != 0;
    if (absolute || negate) apply_signs(words, argument.type, argument.planes, absolute, negate);
  }

  if (shape.fp != FpMode::none) set_host_fp(io.context.fp);
  if (loop(io)) settle_nans(shape, io);

  if (shape.result.type == OperandType::lane_mask) {
    const std::uint64_t bits = pack_mask(result.words) & active;
    wave.write64(instruction.dst[0].index, bits);
    if (shape.writes_exec) wave.set_exec(bits);
    return;
  }
  apply_output(vop, shape.result.type, io.context, result.words);
  std::uint32_t* destination = wave.v(instruction.dst[0].index);
  if (vop.sdwa) {
    select_destination(result.words, destination, vop);
  } else if (shape.keeps_other_half) {
    constexpr unsigned kOfResult = 8;
    ((vop.op_sel & kOfResult) != 0 ? keep_low_halves : keep_high_halves)(result.words, destination);
  }
  write_selected(destination, result.words, active, shape.result.planes);
  if (shape.has_flag) wave.write64(instruction.dst[1].index, pack_mask(flags.words) & active);
}

}  // namespace lacuna::isa

#include "models/isa/analysis/loaded_control.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/decode/operand.h"
#include "models/isa/decode/table.h"

namespace lacuna::isa {

namespace {

/// Origin of a value, in ascending order: a result has the highest one of its operands.
enum Origin : std::uint8_t {
  kInitial,   ///< registers at the start of a wavefront, constants
  kArgument,  ///< loaded from an address that is initially in registers: arguments and packet
  kData,      ///< loaded from any other address
};

constexpr unsigned kVectorRegisters = 256;
constexpr unsigned kScalarRegisters = 128;

/// Origins of the values in all registers. LDS is one value. Lanes that EXEC excludes keep the value that a vector register had
/// before a write: `hidden_` has its origin until EXEC includes them again.
class State {
 public:
  Origin of(const RegisterRange& range) const {
    std::uint8_t highest = kInitial;
    for (unsigned i = 0; i < range.count; ++i) highest = std::max(highest, at(range.file, range.first + i));
    return static_cast<Origin>(highest);
  }
  void set(const RegisterRange& range, Origin origin) {
    for (unsigned i = 0; i < range.count; ++i) {
      std::uint8_t* const place = find(range.file, range.first + i);
      if (place == nullptr) continue;
      if (range.file != OperandKind::sgpr) raise(hidden_[static_cast<std::size_t>(place - registers_.data())], *place);
      *place = origin;
    }
  }
  /// EXEC excludes further lanes: all values of the others are visible.
  void narrow() { hidden_.fill(kInitial); }
  /// EXEC may include lanes that it excluded.
  void widen() {
    for (unsigned i = 0; i < hidden_.size(); ++i) raise(registers_[i], hidden_[i]);
    narrow();
  }
  Origin scc() const { return static_cast<Origin>(scc_); }
  void set_scc(Origin origin) { scc_ = origin; }
  Origin lds() const { return static_cast<Origin>(lds_); }
  void store_to_lds(Origin origin) { lds_ = std::max<std::uint8_t>(lds_, origin); }

  /// Takes the higher origin of each register. Returns whether any has changed.
  bool join(const State& other) {
    bool changed = raise(scc_, other.scc_) | raise(lds_, other.lds_);
    for (unsigned i = 0; i < registers_.size(); ++i) changed |= raise(registers_[i], other.registers_[i]);
    for (unsigned i = 0; i < hidden_.size(); ++i) changed |= raise(hidden_[i], other.hidden_[i]);
    return changed;
  }

 private:
  static bool raise(std::uint8_t& value, std::uint8_t to) {
    if (to <= value) return false;
    value = to;
    return true;
  }
  std::uint8_t* find(OperandKind file, unsigned index) {
    if (file == OperandKind::vgpr && index < kVectorRegisters) return &registers_[index];
    if (file == OperandKind::agpr && index < kVectorRegisters) return &registers_[kVectorRegisters + index];
    if (file == OperandKind::sgpr && index < kScalarRegisters) return &registers_[2 * kVectorRegisters + index];
    return nullptr;
  }
  std::uint8_t at(OperandKind file, unsigned index) const {
    const std::uint8_t* const place = const_cast<State*>(this)->find(file, index);
    return place == nullptr ? std::uint8_t{kInitial} : *place;
  }

  std::array<std::uint8_t, 2 * kVectorRegisters + kScalarRegisters> registers_{};
  std::array<std::uint8_t, 2 * kVectorRegisters> hidden_{};
  std::uint8_t scc_ = kInitial;
  std::uint8_t lds_ = kInitial;
};

Origin higher(Origin a, Origin b) { return std::max(a, b); }

/// Highest origin of the operands.
Origin of_operands(const PlacedInstruction& placed, const State& state) {
  const RegisterUse& use = placed.use;
  Origin highest = use.reads_scc ? state.scc() : kInitial;
  for (unsigned i = 0; i < use.read_count; ++i) highest = higher(highest, state.of(use.reads[i]));
  for (unsigned i = 0; i < placed.instruction.sources; ++i) {
    const Operand& source = placed.instruction.src[i];
    if (source.kind != OperandKind::special) continue;
    if (source.index == kScc) highest = higher(highest, state.scc());
    if (source.index == kVccz) highest = higher(highest, state.of({OperandKind::sgpr, kVccLo, 2}));
  }
  return highest;
}

/// Origin of the results of an instruction whose operands have the highest origin `operands`.
Origin of_results(const Instruction& i, Origin operands, State& state) {
  switch (i.latency) {
    case LatencyClass::vmem_load:
    case LatencyClass::vmem_atomic:
      return kData;
    case LatencyClass::smem_load:
      return i.sources == 0 || operands == kInitial ? kArgument : kData;
    case LatencyClass::lds_store:
      state.store_to_lds(operands);
      return operands;
    case LatencyClass::lds_load:
      return higher(operands, state.lds());
    case LatencyClass::lds_atomic:
      state.store_to_lds(operands);
      return higher(operands, state.lds());
    default:
      return operands;
  }
}

bool is_conditional_branch(const Instruction& i) {
  return i.latency == LatencyClass::branch && std::string_view(i.row->mnemonic).starts_with("s_cbranch");
}

/// Origin of the condition of a branch.
Origin of_condition(const Instruction& i, const State& state) {
  const std::string_view name = i.row->mnemonic;
  if (name.find("scc") != std::string_view::npos) return state.scc();
  return state.of(
      {OperandKind::sgpr, static_cast<std::uint16_t>(name.find("vcc") != std::string_view::npos ? kVccLo : kExecLo), 2});
}

/// Whether the new EXEC has no lanes that the old one excludes, for an instruction that writes EXEC.
bool narrows_exec(const PlacedInstruction& placed) {
  const std::string_view name = placed.instruction.row->mnemonic;
  if (name.starts_with("v_cmpx") || name.starts_with("s_and_saveexec")) return true;
  const auto is_exec = [&](unsigned source) {
    const Operand& operand = placed.instruction.src[source];
    return operand.kind == OperandKind::sgpr && operand.index == kExecLo;
  };
  if (name.starts_with("s_and_b64")) return is_exec(0) || is_exec(1);
  return name.starts_with("s_andn2_b64") && is_exec(0);
}

/// Executes an instruction on the state. Returns whether control depends on data.
bool execute(const PlacedInstruction& placed, State& state) {
  const Instruction& i = placed.instruction;
  if (is_conditional_branch(i)) return of_condition(i, state) == kData;
  Origin result = of_results(i, of_operands(placed, state), state);
  // All lanes but one keep their values.
  if (std::string_view(i.row->mnemonic).starts_with("v_writelane")) result = higher(result, state.of(placed.use.writes[0]));
  for (unsigned w = 0; w < placed.use.write_count; ++w) state.set(placed.use.writes[w], result);
  if (placed.use.writes_scc) state.set_scc(result);
  if (!writes_exec(placed.use)) return false;
  if (narrows_exec(placed)) {
    state.narrow();
  } else {
    state.widen();
  }
  return result == kData;
}

}  // namespace

std::optional<CodeProblem> find_loaded_control(const ControlFlow& flow) {
  if (!flow.known() || flow.blocks().empty()) return std::nullopt;
  std::vector<State> before(flow.blocks().size());
  std::vector<bool> pending(flow.blocks().size(), true);
  std::vector<bool> depends(flow.instructions().size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < flow.blocks().size(); ++b) {
      if (!pending[b]) continue;
      pending[b] = false;
      const BasicBlock& block = flow.blocks()[b];
      State state = before[b];
      for (std::uint32_t i = block.begin; i < block.end; ++i) {
        if (execute(flow.instructions()[i], state)) depends[i] = true;
      }
      for (unsigned n = 0; n < block.next_count; ++n) {
        if (!before[block.next[n]].join(state)) continue;
        pending[block.next[n]] = true;
        changed = true;
      }
    }
  }
  const auto found = std::find(depends.begin(), depends.end(), true);
  if (found == depends.end()) return std::nullopt;
  const PlacedInstruction& placed = flow.instructions()[static_cast<std::size_t>(found - depends.begin())];
  return CodeProblem{
      .pc = placed.address, .mnemonic = std::string(placed.instruction.row->mnemonic), .reason = "depends on loaded data"};
}

}  // namespace lacuna::isa

// Conditions under which a candidate is a chain: no other instruction reads its values, a packet can represent it, and no
// conflicting instruction lies in its range.
#include <algorithm>

#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"
#include "models/neardata/chain_finder.h"

namespace lacuna {
namespace {

using isa::Instruction;
using isa::LatencyClass;
using isa::Operand;
using isa::OperandKind;
using isa::RegisterRange;

constexpr std::uint64_t kLineBytes = 128;
// Fields of s_setreg's hwreg operand (GCN3 ISA manual): register in bits 5:0, first bit in 10:6, width - 1 in 15:11.
constexpr unsigned kModeRegister = 1;
constexpr unsigned kFirstAlteringBit = 27;  // bit of GPR_IDX_EN; VSKIP is the next bit
constexpr unsigned kLastAlteringBit = 28;

bool sets_register(const Instruction& instruction) { return instruction.row->mnemonic.starts_with("s_setreg"); }

bool switches_vector_mode(const Instruction& instruction) {
  return instruction.row->mnemonic.starts_with("s_set_gpr_idx") || instruction.row->mnemonic == "s_setvskip";
}

bool writes_m0(const isa::RegisterUse& use) {
  return std::any_of(use.writes.begin(), use.writes.begin() + use.write_count, [](const RegisterRange& range) {
    return range.file == OperandKind::sgpr && range.first <= isa::kM0 && range.first + unsigned{range.count} > isa::kM0;
  });
}

/// Whether the instruction must keep its order with memory accesses, or has no bounded duration.
bool orders_memory(const Instruction& instruction) {
  switch (instruction.latency) {
    case LatencyClass::smem_control:
    case LatencyClass::vmem_control:
    case LatencyClass::vmem_atomic:
    case LatencyClass::lds_atomic:
    case LatencyClass::barrier:
    case LatencyClass::end_program:
    case LatencyClass::sleep:
    case LatencyClass::message:
    case LatencyClass::trap:
      return true;
    case LatencyClass::nop:
      return instruction.row->mnemonic != "s_nop" && instruction.row->mnemonic != "s_setprio";
    default:
      return instruction.row->mnemonic == "s_icache_inv";
  }
}

bool stores_scalars(const Instruction& instruction) { return instruction.latency == LatencyClass::smem_store; }

unsigned bytes_of(const Instruction& instruction) {
  const Operand& data =
      isa::Unit::vmem == instruction.unit && instruction.destinations > 0 ? instruction.dst[0] : instruction.src[kDataSource];
  return 4U * std::max<unsigned>(data.words, 1);
}

}  // namespace

bool alters_vector_registers(const Instruction& instruction) {
  if (switches_vector_mode(instruction)) return true;
  if (!sets_register(instruction)) return false;
  const std::uint32_t field = instruction.raw[0] & 0xffff;
  const unsigned first = field >> 6 & 31;
  const unsigned last = first + (field >> 11 & 31);
  return (field & 63) == kModeRegister && first <= kLastAlteringBit && last >= kFirstAlteringBit;
}

ChainFinder::MaybeProblem ChainFinder::reuse_problem(const ChainCandidate& candidate) const {
  const auto is_member = [&](std::uint32_t index) {
    const std::vector<std::uint32_t>& operations = candidate.operations;
    return candidate.store == index || std::find(operations.begin(), operations.end(), index) != operations.end();
  };
  const auto read_outside = [&](std::uint32_t writer) -> MaybeProblem {
    const isa::ValueReaders::Readers& found = readers(writer, at(writer).instruction.dst[0].index);
    for (const std::uint32_t reader : found.in_block)
      if (!is_member(reader)) return Problem{ChainRefusal::reused, reader};
    if (found.elsewhere) return Problem{ChainRefusal::reused, *found.elsewhere};
    return std::nullopt;
  };
  for (const std::uint32_t load : candidate.loads)
    if (const MaybeProblem problem = read_outside(load)) return problem;
  for (const std::uint32_t operation : candidate.operations) {
    const Instruction& instruction = at(operation).instruction;
    const bool is_result = operation == candidate.root;
    if (!is_result)
      if (const MaybeProblem problem = read_outside(operation)) return problem;
    if (candidate.compares && is_result) continue;
    // Only the core can write a carry, so no instruction may read a carry that the chain's operations produce.
    for (unsigned d = 0; d < instruction.destinations; ++d)
      for (unsigned word = 0; word < instruction.dst[d].words && instruction.dst[d].kind == OperandKind::sgpr; ++word)
        if (values_.sgpr_live_after(operation, instruction.dst[d].index + word))
          return Problem{ChainRefusal::operation, operation};
  }
  if (!candidate.store) return std::nullopt;
  const Instruction& store = at(*candidate.store).instruction;
  for (unsigned word = 0; word < store.src[kAddressSource].words; ++word) {
    const auto writer = values_.writer(*candidate.store, store.src[kAddressSource].index + word);
    const bool own = writer && (is_member(*writer) ||
                                std::find(candidate.loads.begin(), candidate.loads.end(), *writer) != candidate.loads.end());
    if (own) return Problem{ChainRefusal::operation, *candidate.store};
  }
  return std::nullopt;
}

ChainFinder::MaybeProblem ChainFinder::packet_problem(const ChainCandidate& candidate) const {
  const ChainElement element = chain_element(at(candidate.loads.front()).instruction);
  for (const std::uint32_t load : candidate.loads)
    if (chain_element(at(load).instruction) != element) return Problem{ChainRefusal::packet, load};
  if (candidate.store && chain_element(at(*candidate.store).instruction).bytes != element.bytes)
    return Problem{ChainRefusal::packet, *candidate.store};
  if (candidate.two_uniforms) return Problem{ChainRefusal::packet, candidate.root};
  unsigned operations = 0;
  bool modified = false;
  for (const std::uint32_t index : candidate.operations) {
    const Instruction& instruction = at(index).instruction;
    const ChainOperation operation = chain_operation(instruction);
    if (candidate.splits_at(index)) {
      // Output modifiers belong to the second step, as does the sign of the product.
      constexpr unsigned kFactors = 3;
      ++operations;
      modified = modified || (instruction.vop.abs & kFactors) != 0;
      continue;
    }
    operations += operation.operations;
    modified = modified || operation.modified;
    if (operation.unfit) return Problem{ChainRefusal::packet, index};
  }
  if (operations > kPacketOperations || (operations == kPacketOperations && modified))
    return Problem{ChainRefusal::packet, candidate.root};
  if (candidate.operations.size() < 2 || !candidate.uniform || candidate.uniform->kind != OperandKind::sgpr)
    return std::nullopt;
  // The uniform SGPR must not change between the operations: a packet has one uniform value.
  for (std::uint32_t i = candidate.operations.front(); i < candidate.operations.back(); ++i)
    for (unsigned w = 0; w < at(i).use.write_count; ++w) {
      const RegisterRange& range = at(i).use.writes[w];
      if (range.file == OperandKind::sgpr && candidate.uniform->index >= range.first &&
          candidate.uniform->index < range.first + unsigned{range.count})
        return Problem{ChainRefusal::packet, i};
    }
  return std::nullopt;
}

/// Whether a store may write to a line that the chain reads or writes.
bool ChainFinder::may_concern(std::uint32_t store, const ChainCandidate& candidate) const {
  const Instruction& instruction = at(store).instruction;
  if (instruction.format == isa::Format::scratch) return false;
  if (chain_element(instruction).bytes == 0 && instruction.format != isa::Format::flat &&
      instruction.format != isa::Format::global)
    return true;
  const auto is_far = [&](std::uint32_t access) {
    const Instruction& other = at(access).instruction;
    const std::int64_t distance = std::int64_t{instruction.mem.offset} - other.mem.offset;
    const std::int64_t gap =
        distance > 0 ? distance - std::int64_t{bytes_of(other)} + 1 : -distance - std::int64_t{bytes_of(instruction)} + 1;
    return same_address_registers(store, access) && gap >= std::int64_t{kLineBytes};
  };
  const bool far_from_loads = std::all_of(candidate.loads.begin(), candidate.loads.end(), is_far);
  return !far_from_loads || (candidate.store && !is_far(*candidate.store));
}

ChainFinder::MaybeProblem ChainFinder::range_problem(const ChainCandidate& candidate) const {
  const auto is_member = [&](std::uint32_t index) {
    const auto in = [index](const std::vector<std::uint32_t>& list) {
      return std::find(list.begin(), list.end(), index) != list.end();
    };
    return candidate.store == index || in(candidate.loads) || in(candidate.operations);
  };
  for (std::uint32_t i = candidate.first(); i <= candidate.last(); ++i) {
    const isa::PlacedInstruction& placed = at(i);
    const Instruction& instruction = placed.instruction;
    if (isa::writes_exec(placed.use) || writes_m0(placed.use) || sets_register(instruction))
      return Problem{ChainRefusal::exec, i};
    if (is_member(i)) continue;
    if (orders_memory(instruction) || stores_scalars(instruction)) return Problem{ChainRefusal::alias, i};
    if (is_vector_store(instruction) && may_concern(i, candidate)) return Problem{ChainRefusal::alias, i};
  }
  return std::nullopt;
}

ChainFinder::MaybeProblem ChainFinder::wait_problem(const ChainCandidate& candidate) const {
  for (std::uint32_t wait = candidate.first() + 1; wait < candidate.last(); ++wait) {
    if (!isa::is_wait(at(wait).instruction)) continue;
    const isa::PendingRegisters available =
        waits_.made_available(wait, [&](std::uint32_t load) { return bool{in_chain_[load]}; });
    if (available.empty()) continue;
    for (std::uint32_t i = wait + 1; i <= candidate.last(); ++i) {
      const isa::RegisterUse& use = at(i).use;
      for (unsigned r = 0; r < use.read_count; ++r)
        if (available.contains_any(use.reads[r])) return Problem{ChainRefusal::wait, i};
      for (unsigned w = 0; w < use.write_count; ++w)
        if (available.contains_any(use.writes[w])) return Problem{ChainRefusal::wait, i};
    }
  }
  return std::nullopt;
}

}  // namespace lacuna

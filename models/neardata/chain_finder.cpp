#include "models/neardata/chain_finder.h"

#include <algorithm>
#include <string_view>

#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna {
namespace {

using isa::Instruction;
using isa::LatencyClass;
using isa::Operand;
using isa::OperandKind;
using isa::RegisterRange;

constexpr std::size_t kMostLoads = 2;
constexpr std::size_t kMostOperations = 2;

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void insert(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (!contains(list, value)) list.insert(std::upper_bound(list.begin(), list.end(), value), value);
}

bool is_flat_or_global(const Instruction& instruction) {
  return instruction.format == isa::Format::flat || instruction.format == isa::Format::global;
}

/// The scalar base operand of a GLOBAL instruction: an SGPR pair, or none.
const Operand& scalar_base(const Instruction& instruction) { return instruction.src.at(instruction.sources - 1U); }

bool writes_sgpr(const isa::RegisterUse& use, unsigned first, unsigned count) {
  return std::any_of(use.writes.begin(), use.writes.begin() + use.write_count, [=](const RegisterRange& range) {
    return range.file == OperandKind::sgpr && range.first < first + count && first < unsigned{range.first} + range.count;
  });
}

/// Operand `number` of an operation: a source, or, for the third operand of v_mac, the destination.
const Operand& operand_of(const Instruction& instruction, unsigned number) {
  return number < instruction.sources ? instruction.src.at(number) : instruction.dst[0];
}

bool is_uniform_register(const Operand& operand) {
  return operand.kind == OperandKind::sgpr && (operand.index < isa::kFlatScratchLo || operand.index == isa::kM0);
}

bool same_uniform(const Operand& a, const Operand& b) {
  if (a.kind != b.kind) return false;
  return a.kind == OperandKind::constant ? static_cast<std::uint32_t>(a.value) == static_cast<std::uint32_t>(b.value)
                                         : a.index == b.index;
}

}  // namespace

bool is_vector_load(const Instruction& instruction) {
  return instruction.unit == isa::Unit::vmem && instruction.latency == LatencyClass::vmem_load;
}

bool is_vector_store(const Instruction& instruction) {
  return instruction.unit == isa::Unit::vmem && instruction.latency == LatencyClass::vmem_store;
}

ChainElement chain_element(const Instruction& instruction) {
  const isa::MemoryModifiers& mem = instruction.mem;
  const bool modified = mem.glc || mem.slc || mem.scc || mem.tfe || mem.lds || mem.nv;
  const bool is_load = is_vector_load(instruction);
  if (!is_flat_or_global(instruction) || modified || (!is_load && !is_vector_store(instruction))) return {};
  const Operand& data = is_load ? instruction.dst[0] : instruction.src[kDataSource];
  const isa::InstructionRow& row = *instruction.row;
  if (data.kind != OperandKind::vgpr || data.words != 1 || (row.flags & isa::kReadsDst) != 0) return {};
  const std::string_view name = row.mnemonic;
  const bool sign = (row.flags & isa::kSignExtends) != 0;
  if (name.ends_with("_dword")) return {.bytes = 4};
  if (name.ends_with("byte")) return {.bytes = 1, .sign = sign};
  if (name.ends_with("short")) return {.bytes = 2, .sign = sign};
  return {};
}

// -- candidates

/// Operations and loads from which a result is computed.
class ChainFinder::Tree {
 public:
  Tree(const ChainFinder& finder, ChainCandidate& candidate) : finder_(finder), candidate_(candidate) {}

  /// Adds an operation with its first `operands` operands, and the operations that compute these. Returns false if they cannot
  /// belong to the chain.
  bool add(std::uint32_t index, unsigned operands) {
    if (candidate_.operations.size() == kMostOperations) return false;
    insert(candidate_.operations, index);
    bool reads_loaded = false;
    for (unsigned number = 0; number < operands; ++number) {
      const Operand& operand = operand_of(finder_.at(index).instruction, number);
      reads_loaded = reads_loaded || operand.kind == OperandKind::vgpr;
      if (!add_operand(index, operand)) return false;
    }
    // An operation without loaded operands, such as a move of a constant, is executed at the core and belongs to no chain.
    return reads_loaded;
  }

  /// Loads in the order of the operands.
  const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  bool add_operand(std::uint32_t reader, const Operand& operand) {
    if (operand.kind == OperandKind::constant || is_uniform_register(operand)) {
      if (candidate_.uniform && !same_uniform(*candidate_.uniform, operand)) candidate_.two_uniforms = true;
      candidate_.uniform = operand;
      return true;
    }
    if (operand.kind != OperandKind::vgpr) return false;
    const auto writer = finder_.values_.writer(reader, operand.index);
    if (!writer || finder_.in_chain_[*writer]) return false;
    const Instruction& instruction = finder_.at(*writer).instruction;
    if (chain_element(instruction).bytes != 0 && is_vector_load(instruction)) {
      if (contains(order_, *writer)) return true;
      if (order_.size() == kMostLoads) return false;
      order_.push_back(*writer);
      insert(candidate_.loads, *writer);
      return true;
    }
    if (contains(candidate_.operations, *writer)) return true;
    const ChainOperation operation = chain_operation(instruction);
    return operation.valid && !operation.compares && add(*writer, operation.operands);
  }

  const ChainFinder& finder_;
  ChainCandidate& candidate_;
  std::vector<std::uint32_t> order_;
};

ChainFinder::ChainFinder(const isa::ControlFlow& flow, isa::Target target, const FinalizerOptions& options, Waits waits)
    : flow_(flow), options_(options), values_(flow), waits_(flow, target), in_chain_(flow.instructions().size(), false) {
  std::optional<std::uint32_t> mode_change;
  for (std::uint32_t i = 0; i < flow.instructions().size(); ++i) {
    if (is_vector_load(at(i).instruction)) ++loads_;
    if (alters_vector_registers(at(i).instruction)) mode_change = i;
  }
  // After a mode change, the registers that an instruction uses are known only at run time.
  if (mode_change) {
    for (std::uint32_t i = 0; i < flow.instructions().size(); ++i)
      problems_.emplace(i, Problem{ChainRefusal::exec, *mode_change});
    return;
  }
  for (const isa::BasicBlock& block : flow.blocks()) find_in_block(block);
  std::sort(chains_.begin(), chains_.end(),
            [](const ChainCandidate& a, const ChainCandidate& b) { return a.first() < b.first(); });
  if (waits == Waits::clean) drop_waiting();
  if (!options_.interleaved) {
    drop_interleaved();
    drop_waiting();
  }
  assign_waits();
}

const isa::ValueReaders::Readers& ChainFinder::readers(std::uint32_t writer, unsigned vgpr) const {
  const auto found = readers_.find(writer);
  return found != readers_.end() ? found->second : readers_.emplace(writer, values_.readers(writer, vgpr)).first->second;
}

void ChainFinder::find_in_block(const isa::BasicBlock& block) {
  // Chains that return no data, or one bit per lane, take precedence because they save the most traffic.
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    if (is_vector_store(at(i).instruction)) {
      try_store(i);
    } else if (at(i).instruction.unit == isa::Unit::valu && chain_operation(at(i).instruction).compares) {
      try_operation(i);
    }
  }
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    if (at(i).instruction.unit != isa::Unit::valu || in_chain_[i]) continue;
    const ChainOperation operation = chain_operation(at(i).instruction);
    if (operation.valid && !operation.compares) try_operation(i);
  }
}

void ChainFinder::try_store(std::uint32_t store) {
  const Instruction& instruction = at(store).instruction;
  if (chain_element(instruction).bytes == 0) return;
  const auto writer = values_.writer(store, instruction.src[kDataSource].index);
  if (!writer || in_chain_[*writer]) return;
  ChainCandidate candidate;
  candidate.root = store;
  candidate.store = store;
  const Instruction& from = at(*writer).instruction;
  if (is_vector_load(from)) {
    if (chain_element(from).bytes == 0) return;
    candidate.loads = {*writer};
    candidate.order = candidate.loads;
    take(std::move(candidate));
    return;
  }
  const ChainOperation operation = chain_operation(from);
  Tree tree(*this, candidate);
  if (!operation.valid || operation.compares || !tree.add(*writer, operation.operands) || candidate.loads.empty()) return;
  candidate.order = tree.order();
  take(std::move(candidate));
}

void ChainFinder::try_operation(std::uint32_t root) {
  const ChainOperation operation = chain_operation(at(root).instruction);
  const auto grown = [&](unsigned operands) {
    ChainCandidate candidate;
    candidate.root = root;
    candidate.compares = operation.compares;
    candidate.split = operands < operation.operands;
    Tree tree(*this, candidate);
    const bool complete = tree.add(root, operands);
    candidate.order = tree.order();
    const bool saves = operation.compares ? !candidate.loads.empty() : candidate.loads.size() == kMostLoads;
    return complete && saves ? std::optional(candidate) : std::nullopt;
  };
  if (auto candidate = grown(operation.operands); candidate && take(std::move(*candidate))) return;
  if (operation.operands != 3 || (!operation.splits && !operation.fused)) return;
  auto candidate = grown(operation.operands - 1U);
  if (!candidate) return;
  if (operation.fused) {
    refuse(*candidate, {ChainRefusal::fused, root});
  } else {
    take(std::move(*candidate));
  }
}

bool ChainFinder::take(ChainCandidate candidate) {
  if (const MaybeProblem problem = problem_of(candidate)) {
    refuse(candidate, *problem);
    return false;
  }
  candidate.pattern = pattern_of(candidate);
  for (const std::uint32_t load : candidate.loads) in_chain_[load] = true;
  for (const std::uint32_t operation : candidate.operations) in_chain_[operation] = true;
  if (candidate.store) in_chain_[*candidate.store] = true;
  chains_.push_back(std::move(candidate));
  return true;
}

void ChainFinder::refuse(const ChainCandidate& candidate, const Problem& problem) {
  for (const std::uint32_t load : candidate.loads) problems_.emplace(load, problem);
}

ChainFinder::MaybeProblem ChainFinder::problem_of(const ChainCandidate& candidate) const {
  if (const MaybeProblem reuse = reuse_problem(candidate)) return reuse;
  if (const MaybeProblem packet = packet_problem(candidate)) return packet;
  return range_problem(candidate);
}

// -- patterns

bool ChainFinder::same_address_registers(std::uint32_t a, std::uint32_t b) const {
  const Instruction& one = at(a).instruction;
  const Instruction& other = at(b).instruction;
  const Operand& address = one.src[kAddressSource];
  if (one.format != other.format || address.index != other.src[kAddressSource].index ||
      address.words != other.src[kAddressSource].words)
    return false;
  // The first instruction is included in the search, because an instruction may overwrite its own address.
  const std::uint32_t before = std::min(a, b) - 1;
  const std::uint32_t until = std::max(a, b);
  for (unsigned word = 0; word < address.words; ++word)
    if (values_.access(before, until, address.index + word, true)) return false;
  if (one.format != isa::Format::global) return true;
  const Operand& base = scalar_base(one);
  if (base.kind != scalar_base(other).kind || base.index != scalar_base(other).index) return false;
  if (base.kind != OperandKind::sgpr) return true;
  for (std::uint32_t i = before + 1; i < until; ++i)
    if (writes_sgpr(at(i).use, base.index, 2)) return false;
  return true;
}

bool ChainFinder::stores_to(std::uint32_t store, std::uint32_t load) const {
  return same_address_registers(store, load) && at(store).instruction.mem.offset == at(load).instruction.mem.offset;
}

/// Whether two instructions compute g(b, i), then f(a, g). Records which load is b.
bool ChainFinder::has_inner_operation(ChainCandidate& candidate) const {
  const std::uint32_t inner = candidate.operations.front();
  const Instruction& instruction = at(inner).instruction;
  const auto is_register = [](const Operand& operand) { return operand.kind == OperandKind::vgpr; };
  if (chain_operation(instruction).operands != 2 || is_register(instruction.src[0]) == is_register(instruction.src[1]))
    return false;
  // The outer operation, f, must not have a uniform operand.
  const Instruction& outer = at(candidate.operations.back()).instruction;
  const unsigned operands = chain_operation(outer).operands - (candidate.split ? 1U : 0U);
  for (unsigned number = 0; number < operands; ++number)
    if (!is_register(operand_of(outer, number))) return false;
  const Operand& loaded = instruction.src[is_register(instruction.src[0]) ? 0 : 1];
  candidate.b_is_first = values_.writer(inner, loaded.index) == candidate.order.front();
  return true;
}

std::uint8_t ChainFinder::pattern_of(ChainCandidate& candidate) const {
  const std::size_t operations = candidate.operations.size();
  const bool two_loads = candidate.loads.size() == 2;
  const bool uniform = candidate.uniform.has_value();
  // If one instruction computes both g and f, its first loaded operand is b.
  candidate.b_is_first = operations == 1 && two_loads && uniform;
  const auto has_inner = [&] { return uniform && two_loads && (operations == 1 || has_inner_operation(candidate)); };
  if (candidate.compares) {
    if (operations != 1) return 0;
    return two_loads ? (uniform ? 0 : 5) : (uniform ? 6 : 0);
  }
  if (operations == 0) return 3;
  if (!candidate.store) {
    if (operations == 1 && !uniform) return 2;
    return has_inner() ? 8 : 0;
  }
  const unsigned steps = chain_operation(at(candidate.operations.front()).instruction).operations;
  if (!two_loads) {
    if (operations != 1 || steps != 1) return 0;
    return uniform ? 7 : 4;
  }
  if (operations == 1 && !uniform) {
    const bool in_place = std::any_of(candidate.loads.begin(), candidate.loads.end(),
                                      [&](std::uint32_t load) { return stores_to(*candidate.store, load); });
    return in_place ? 4 : 1;
  }
  return has_inner() ? 9 : 0;
}

// -- selection

void ChainFinder::drop_waiting() {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t c = 0; c < chains_.size();) {
      const MaybeProblem problem = wait_problem(chains_[c]);
      if (!problem) {
        ++c;
        continue;
      }
      drop(c, *problem);
      changed = true;
    }
  }
}

void ChainFinder::drop(std::size_t number, const Problem& problem) {
  refuse(chains_[number], problem);
  for (const std::uint32_t load : chains_[number].loads) in_chain_[load] = false;
  chains_.erase(chains_.begin() + static_cast<std::ptrdiff_t>(number));
}

/// Drops overlapping chains and keeps as many as possible: chains that end first take precedence.
void ChainFinder::drop_interleaved() {
  std::sort(chains_.begin(), chains_.end(),
            [](const ChainCandidate& a, const ChainCandidate& b) { return a.last() < b.last(); });
  std::optional<std::uint32_t> end;
  for (std::size_t c = 0; c < chains_.size();) {
    if (end && chains_[c].first() < *end) {
      drop(c, {ChainRefusal::interleaved, *end});
    } else {
      end = chains_[c++].last();
    }
  }
}

/// Assigns each wait to the chain that uses loaded data next, among the chains whose range contains the wait.
void ChainFinder::assign_waits() {
  for (std::uint32_t i = 0; i < flow_.instructions().size(); ++i) {
    if (!isa::is_wait(at(i).instruction)) continue;
    ChainCandidate* owner = nullptr;
    const auto next_use = [i](const ChainCandidate& chain) {
      for (const std::uint32_t operation : chain.operations)
        if (operation > i && chain.loads.back() < i) return operation;
      return chain.last();
    };
    for (ChainCandidate& chain : chains_) {
      if (chain.first() >= i || chain.last() <= i) continue;
      if (owner == nullptr || next_use(chain) < next_use(*owner)) owner = &chain;
    }
    if (owner != nullptr) owner->waits.push_back(i);
  }
}

std::vector<RefusedLoad> ChainFinder::refusals() const {
  std::vector<RefusedLoad> refused;
  for (std::uint32_t i = 0; i < flow_.instructions().size(); ++i) {
    if (!is_vector_load(at(i).instruction) || in_chain_[i]) continue;
    const auto noted = problems_.find(i);
    const Problem problem = noted != problems_.end() ? noted->second : default_problem(i);
    refused.push_back({at(i).address, problem.reason, at(problem.because).address});
  }
  return refused;
}

ChainFinder::Problem ChainFinder::default_problem(std::uint32_t load) const {
  const Instruction& instruction = at(load).instruction;
  if (instruction.mem.lds) return {ChainRefusal::lds, load};
  if (is_flat_or_global(instruction) && instruction.destinations > 0 && instruction.dst[0].words > 1 && !instruction.mem.tfe)
    return {ChainRefusal::wide, load};
  if (chain_element(instruction).bytes == 0) return {ChainRefusal::form, load};
  const unsigned vgpr = instruction.dst[0].index;
  const isa::ValueReaders::Readers& readers = this->readers(load, vgpr);
  if (readers.in_block.empty()) {
    if (readers.elsewhere) return {ChainRefusal::branch, *readers.elsewhere};
    return {ChainRefusal::nothing_saved, load};
  }
  const std::uint32_t first = readers.in_block.front();
  if (readers.in_block.size() > 1) return {ChainRefusal::reused, readers.in_block[1]};
  if (readers.elsewhere) return {ChainRefusal::reused, *readers.elsewhere};
  const Instruction& reader = at(first).instruction;
  if (reader.unit == isa::Unit::lds) return {ChainRefusal::lds, first};
  if (is_vector_store(reader)) {
    const bool as_data = reader.sources > kDataSource && reader.src[kDataSource].kind == OperandKind::vgpr &&
                         vgpr >= reader.src[kDataSource].index &&
                         vgpr < reader.src[kDataSource].index + unsigned{reader.src[kDataSource].words};
    if (!as_data || !is_flat_or_global(reader)) return {ChainRefusal::operation, first};
    return {reader.src[kDataSource].words > 1 ? ChainRefusal::wide : ChainRefusal::form, first};
  }
  if (isa::writes_exec(at(first).use)) return {ChainRefusal::exec, first};
  if (!chain_operation(reader).valid) return {ChainRefusal::operation, first};
  return {ChainRefusal::nothing_saved, first};
}

}  // namespace lacuna

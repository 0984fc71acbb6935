// Finds the chains of one kernel: collects candidates by def-use analysis, then checks the instructions between the members of
// each candidate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/analysis/value_readers.h"
#include "models/isa/analysis/wait_effects.h"
#include "models/neardata/chain_operations.h"
#include "models/neardata/finalizer.h"

namespace lacuna {

/// Source operands of FLAT and GLOBAL instructions, by index.
inline constexpr unsigned kAddressSource = 0;
inline constexpr unsigned kDataSource = 1;

/// A chain whose members are indices into ControlFlow::instructions().
struct ChainCandidate {
  std::uint32_t root = 0;                 ///< store, comparison, or operation whose result remains in a register
  std::vector<std::uint32_t> loads;       ///< one or two loads, distinct, ascending
  std::vector<std::uint32_t> operations;  ///< zero to two operations, distinct, ascending
  std::vector<std::uint32_t> waits;       ///< waits between the members, ascending
  std::optional<std::uint32_t> store;
  bool compares = false;
  bool split = false;  ///< only the first step of the last operation belongs to the chain
  std::uint8_t pattern = 0;
  std::optional<isa::Operand> uniform;
  bool two_uniforms = false;
  std::vector<std::uint32_t> order;  ///< loads in depth-first order of operands, from the last operation on
  bool b_is_first = false;           ///< `order` begins with operand b, that of g in f(a, g(b, i))

  std::uint32_t first() const { return loads.front(); }
  std::uint32_t last() const { return store ? *store : operations.back(); }
  std::uint32_t operand_b() const { return order.size() < 2 ? ~0U : b_is_first ? order.front() : order.back(); }
  /// Whether only the first step of the instruction at `index` belongs to the chain.
  bool splits_at(std::uint32_t index) const { return split && index == root; }
};

class ChainFinder {
 public:
  /// Waits that a candidate may contain. any: also waits that other instructions need, since moving instructions can take such
  /// waits out of a chain.
  enum class Waits : bool { clean, any };
  /// `flow` must outlive the finder, and flow.known() must be true.
  ChainFinder(const isa::ControlFlow& flow, isa::Target target, const FinalizerOptions& options, Waits waits = Waits::clean);

  /// Chains, ascending by their first instruction.
  const std::vector<ChainCandidate>& chains() const { return chains_; }
  /// Loads without a chain, ascending.
  std::vector<RefusedLoad> refusals() const;
  std::uint64_t loads() const { return loads_; }
  const isa::ValueReaders& values() const { return values_; }
  const isa::WaitEffects& waits() const { return waits_; }

 private:
  struct Problem {
    ChainRefusal reason = ChainRefusal::nothing_saved;
    std::uint32_t because = 0;
  };
  using MaybeProblem = std::optional<Problem>;
  class Tree;

  const isa::PlacedInstruction& at(std::uint32_t index) const { return flow_.instructions()[index]; }
  const isa::ValueReaders::Readers& readers(std::uint32_t writer, unsigned vgpr) const;

  void find_in_block(const isa::BasicBlock& block);
  void try_store(std::uint32_t store);
  void try_operation(std::uint32_t root);
  /// Adds the candidate to chains_ and returns true, or records the reason why its loads are in no chain and returns false.
  bool take(ChainCandidate candidate);
  MaybeProblem problem_of(const ChainCandidate& candidate) const;
  MaybeProblem packet_problem(const ChainCandidate& candidate) const;
  MaybeProblem reuse_problem(const ChainCandidate& candidate) const;
  MaybeProblem range_problem(const ChainCandidate& candidate) const;
  bool may_concern(std::uint32_t store, const ChainCandidate& candidate) const;
  bool has_inner_operation(ChainCandidate& candidate) const;
  std::uint8_t pattern_of(ChainCandidate& candidate) const;
  bool stores_to(std::uint32_t store, std::uint32_t load) const;
  bool same_address_registers(std::uint32_t a, std::uint32_t b) const;

  void drop(std::size_t number, const Problem& problem);
  void drop_waiting();
  void drop_interleaved();
  void assign_waits();
  MaybeProblem wait_problem(const ChainCandidate& candidate) const;
  void refuse(const ChainCandidate& candidate, const Problem& problem);
  Problem default_problem(std::uint32_t load) const;

  const isa::ControlFlow& flow_;
  FinalizerOptions options_;
  isa::ValueReaders values_;
  isa::WaitEffects waits_;
  mutable std::unordered_map<std::uint32_t, isa::ValueReaders::Readers> readers_;  ///< readers of each writer; never iterated
  std::vector<ChainCandidate> chains_;
  /// Whether each load is in a chain, and whether each operation or store is in a chain or has been in a dropped chain.
  std::vector<bool> in_chain_;
  std::unordered_map<std::uint32_t, Problem> problems_;  ///< reasons for rejected candidates, by load; never iterated
  std::uint64_t loads_ = 0;
};

/// Bytes per lane that a vector memory load or store of a chain accesses, and whether a narrow load sign-extends.
struct ChainElement {
  std::uint8_t bytes = 0;  ///< 0: the access cannot be part of a chain
  bool sign = false;
  bool operator==(const ChainElement&) const = default;
};
ChainElement chain_element(const isa::Instruction& instruction);

/// Whether the instruction loads from vector memory; atomic operations do not count.
bool is_vector_load(const isa::Instruction& instruction);
bool is_vector_store(const isa::Instruction& instruction);

/// Whether the instruction may enable VGPR indexing or VSKIP: later instructions may then use registers that they do not name,
/// or be skipped.
bool alters_vector_registers(const isa::Instruction& instruction);

}  // namespace lacuna

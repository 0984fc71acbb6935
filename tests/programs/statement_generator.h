// Random statements: declarations, assignments, branches and loops. In the kernel there are also atomic operations whose
// results do not depend on their order and, in uniform control flow, exchanges through local memory with barriers.
#pragma once

#include <string>

#include "expression_generator.h"

namespace lacuna::programs {

/// Context of a statement.
struct Place {
  unsigned depth = 0;    ///< number of enclosing branches and loops
  bool in_loop = false;  ///< break and continue are allowed
  bool uniform = false;  ///< all work items of the group execute the statement equally often: barriers are allowed
  bool kernel = false;   ///< atomics and local memory may be used
  Type result = kInt;    ///< return type of the enclosing function
};

class StatementGenerator {
 public:
  StatementGenerator(Random& random, ExpressionGenerator& expressions) : random_(random), expressions_(expressions) {}

  /// A random block. Declarations at its outer level remain in `scope`.
  [[nodiscard]] Block block(Scope& scope, const Place& place, unsigned statements);

  [[nodiscard]] Statement declaration(Scope& scope);

  /// A new name. Names are never reused, so that the text of a program is easy to reduce.
  [[nodiscard]] std::string new_name(const std::string& prefix) { return prefix + std::to_string(names_++); }

  /// Local arrays of the group's size, declared by the kernel; exchanges use them.
  void set_exchange_arrays(std::vector<Array> arrays) { exchange_arrays_ = std::move(arrays); }
  /// The scope of kernel arguments: expressions of kernel arguments have the same value in all work items.
  void set_uniform_scope(Scope scope) { uniform_ = std::move(scope); }
  /// Enables tiles of the matrix unit, which are only declared where all work items execute the declaration.
  void set_matrix_tiles() { matrix_tiles_ = true; }
  /// Declares a variable that is a work item's part of a tile; it remains in `scope`.
  [[nodiscard]] Statement matrix_tile(Scope& scope);

 private:
  [[nodiscard]] Statement statement(Scope& scope, const Place& place);
  [[nodiscard]] Statement array_declaration(Scope& scope);
  [[nodiscard]] Statement assignment(const Scope& scope);
  [[nodiscard]] Statement compound_assignment(const Scope& scope);
  [[nodiscard]] Statement component_assignment(const Scope& scope);
  [[nodiscard]] Statement array_store(const Scope& scope);
  [[nodiscard]] Statement branch(const Scope& scope, const Place& place);
  [[nodiscard]] Statement loop(const Scope& scope, const Place& place);
  [[nodiscard]] Statement uniform_loop(const Scope& scope, const Place& place);
  [[nodiscard]] Statement switch_statement(const Scope& scope, const Place& place);
  [[nodiscard]] Statement jump(const Scope& scope, const Place& place);
  [[nodiscard]] Statement exchange(const Scope& scope);
  [[nodiscard]] Statement reduction(const Scope& scope);
  [[nodiscard]] Statement read_cells(const Scope& scope);
  [[nodiscard]] Statement atomic(const Scope& scope);
  [[nodiscard]] Block inner(const Scope& scope, Place place, unsigned most);
  [[nodiscard]] const Variable* assignable(const Scope& scope, const auto& wanted);

  Random& random_;
  ExpressionGenerator& expressions_;
  std::vector<Array> exchange_arrays_;
  Scope uniform_;
  bool matrix_tiles_ = false;
  unsigned names_ = 0;
};

}  // namespace lacuna::programs

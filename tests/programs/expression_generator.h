// Random expressions of a given type over the variables, arrays and functions in scope.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "operator_table.h"
#include "program.h"
#include "random.h"

namespace lacuna::programs {

struct Variable {
  Type type;
  std::string name;
  bool assignable = true;
};

struct Array {
  Type type;  ///< type of an element
  std::string name;
  unsigned size = 0;  ///< a power of two
  bool assignable = true;
};

struct Callable {
  Type result;
  std::string open;  ///< name, opening parenthesis and constant arguments
  std::vector<Type> parameters;
  bool reads_input = false;
};

/// Names that an expression may refer to. An inner scope is a copy of the outer scope.
struct Scope {
  std::vector<Variable> variables;
  std::vector<Array> arrays;
  std::vector<Callable> functions;
  bool input = false;  ///< the input buffer may be accessed
};

class ExpressionGenerator {
 public:
  explicit ExpressionGenerator(Random& random);

  /// A random expression of `type`, at most `depth` operators deep.
  [[nodiscard]] Expression expression(Type type, const Scope& scope, unsigned depth);
  [[nodiscard]] Expression literal(Type type);

  /// `array[{N}]` with the index reduced modulo the array's number of elements, a power of two. The guard is part of the text,
  /// so that shrinking cannot remove it.
  [[nodiscard]] static std::string element(const std::string& array, unsigned operand, unsigned size);

  /// Returns a random type out of the few types of this program's palette.
  [[nodiscard]] Type any_type() { return random_.pick(palette_); }

 private:
  [[nodiscard]] Expression leaf(Type type, const Scope& scope);
  [[nodiscard]] Expression load(Type type, const Scope& scope);
  [[nodiscard]] Expression call(const Callable& function, const Scope& scope, unsigned depth);
  [[nodiscard]] Expression apply(const OperatorRow& row, Type type, const Scope& scope, unsigned depth);
  /// Type of an operand by its letter (OperatorRow::operands) for a result of `type`; nullopt if there is no such type.
  [[nodiscard]] std::optional<Type> operand_type(char letter, Type type);
  [[nodiscard]] std::optional<Type> prefer(const std::vector<Type>& candidates);
  [[nodiscard]] Type random_type();
  [[nodiscard]] std::string swizzle(unsigned width);

  Random& random_;
  std::vector<Type> palette_;
};

}  // namespace lacuna::programs

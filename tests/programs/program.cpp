#include "program.h"

namespace lacuna::programs {
namespace {

std::size_t size_of(const Expression& expression) {
  std::size_t result = 1;
  for (const Expression& operand : expression.operands) result += size_of(operand);
  return result;
}

std::size_t size_of(const Block& block) {
  std::size_t result = 0;
  for (const Statement& statement : block) {
    ++result;
    for (const Expression& expression : statement.expressions) result += size_of(expression);
    for (const Block& inner : statement.blocks) result += size_of(inner);
  }
  return result;
}

}  // namespace

unsigned Launch::groups() const {
  unsigned result = 1;
  for (unsigned d = 0; d < 3; ++d) result *= (grid[d] + block[d] - 1) / block[d];
  return result;
}

std::size_t size_of(const Program& program) {
  std::size_t result = size_of(program.globals) + size_of(program.body);
  for (const Function& function : program.functions) result += 1 + size_of(function.body) + size_of(function.result);
  return result;
}

}  // namespace lacuna::programs

#include "statement_generator.h"

#include <array>

#include "matrix_tile.h"

namespace lacuna::programs {
namespace {

constexpr unsigned kExpressionDepth = 3;
constexpr unsigned kDeepestNesting = 3;
constexpr unsigned kMatrixTilePercent = 12;

/// An atomic operation: `{0}` is the value, `@` the address space, `$` one of the row's first two cells (chosen by `{1}`), `%`
/// the row's third cell and `#` its fourth. Operations of a row commute. 32-bit operations use the lower half of a cell.
struct AtomicRow {
  const char* text;
  unsigned row;
  Type type;
};

constexpr Type kUlong{Scalar::ulong, 1};
constexpr Type kLong{Scalar::long_, 1};

constexpr std::array kAtomics{
    AtomicRow{"atomic_add((volatile @uint *)$, {0});", 0, kUint},
    AtomicRow{"atomic_sub((volatile @uint *)$, {0});", 0, kUint},
    AtomicRow{"atomic_inc((volatile @uint *)$);", 0, kUint},
    AtomicRow{"atomic_dec((volatile @uint *)$);", 0, kUint},
    AtomicRow{"atomic_or((volatile @uint *)$, {0});", 1, kUint},
    AtomicRow{"atomic_xor((volatile @uint *)$, {0});", 2, kUint},
    AtomicRow{"atomic_and((volatile @uint *)$, {0});", 3, kUint},
    AtomicRow{"atomic_min((volatile @int *)$, {0});", 4, kInt},
    AtomicRow{"atomic_max((volatile @uint *)$, {0});", 5, kUint},
    AtomicRow{"atom_add((volatile @ulong *)$, {0});", 6, kUlong},
    AtomicRow{"atom_xor((volatile @ulong *)$, {0});", 7, kUlong},
    AtomicRow{"atom_max((volatile @long *)$, {0});", 8, kLong},
    AtomicRow{"atom_and((volatile @ulong *)$, {0});", 9, kUlong},
    // Each work item receives a different value of the counter. The values are summed in one cell, so the result does not
    // depend on which work item receives which value.
    AtomicRow{"atom_add((volatile @ulong *)%, (ulong)atomic_inc((volatile @uint *)#));", 6, kUlong},
    AtomicRow{"{\nuint old, value = {0};\nvolatile @uint *cell = (volatile @uint *)$;\n"
              "do old = *cell;\nwhile (atomic_cmpxchg(cell, old, old + value) != old);\n}",
              0, kUint},
};

void replace(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool has_address(const Variable& variable) { return variable.name[0] == 'v' && variable.assignable; }

}  // namespace

const Variable* StatementGenerator::assignable(const Scope& scope, const auto& wanted) {
  std::vector<const Variable*> found;
  for (const Variable& variable : scope.variables) {
    if (variable.assignable && wanted(variable)) found.push_back(&variable);
  }
  return found.empty() ? nullptr : random_.pick(found);
}

Statement StatementGenerator::declaration(Scope& scope) {
  const Type type = expressions_.any_type();
  const std::string name = new_name("v");
  Statement result{type.name() + " " + name + " = {0};", {expressions_.expression(type, scope, kExpressionDepth)}, {}};
  scope.variables.push_back({type, name});
  return result;
}

Statement StatementGenerator::array_declaration(Scope& scope) {
  const Type type = expressions_.any_type();
  const std::string name = new_name("a");
  const unsigned size = type.bytes() > 16 ? 2 : 1U << random_.between(1, 4);
  Statement result{type.name() + " " + name + "[" + std::to_string(size) + "] = { ", {}, {}};
  const unsigned given = random_.between(1, std::min(size, 4U));
  for (unsigned i = 0; i < given; ++i) {
    result.text += "{" + std::to_string(i) + "}, ";
    result.expressions.push_back(expressions_.expression(type, scope, 1));
  }
  result.text += "};";
  scope.arrays.push_back({type, name, size});
  return result;
}

Statement StatementGenerator::assignment(const Scope& scope) {
  const Variable* target = assignable(scope, [](const Variable&) { return true; });
  if (target == nullptr) return {";", {}, {}};
  return {target->name + " = {0};", {expressions_.expression(target->type, scope, kExpressionDepth)}, {}};
}

Statement StatementGenerator::compound_assignment(const Scope& scope) {
  static constexpr std::array kInteger{"+=", "-=", "^=", "|=", "&=", "*="};
  static constexpr std::array kFloat{"+=", "-=", "*="};
  const Variable* target = assignable(scope, [](const Variable& variable) {
    return variable.type.is_float() || (!variable.type.is_signed() && variable.type.element_bytes() >= 4);
  });
  if (target == nullptr) return assignment(scope);
  const char* operation = target->type.is_float() ? random_.pick(kFloat) : random_.pick(kInteger);
  return {target->name + " " + operation + " {0};", {expressions_.expression(target->type, scope, kExpressionDepth)}, {}};
}

Statement StatementGenerator::component_assignment(const Scope& scope) {
  const Variable* target =
      assignable(scope, [](const Variable& variable) { return variable.type.is_vector() && has_address(variable); });
  if (target == nullptr) return assignment(scope);
  const Type element = target->type.element();
  const Expression value = expressions_.expression(element, scope, kExpressionDepth);
  if (target->type.width == 3 || random_.percent(50)) {
    return {target->name + ".s" + "0123456789abcdef"[random_.below(target->type.width)] + std::string(" = {0};"), {value}, {}};
  }
  return {ExpressionGenerator::element("((" + element.name() + " *)&" + target->name + ")", 0, target->type.width) + " = {1};",
          {expressions_.expression(kInt, scope, 1), value},
          {}};
}

Statement StatementGenerator::array_store(const Scope& scope) {
  std::vector<const Array*> arrays;
  for (const Array& array : scope.arrays) {
    if (array.assignable) arrays.push_back(&array);
  }
  if (arrays.empty()) return assignment(scope);
  const Array& array = *random_.pick(arrays);
  return {ExpressionGenerator::element(array.name, 0, array.size) + " = {1};",
          {expressions_.expression(kInt, scope, 2), expressions_.expression(array.type, scope, kExpressionDepth)},
          {}};
}

Block StatementGenerator::inner(const Scope& scope, Place place, unsigned most) {
  Scope own = scope;
  ++place.depth;
  return block(own, place, random_.between(1, most));
}

Statement StatementGenerator::branch(const Scope& scope, const Place& place) {
  const bool uniform = place.uniform && random_.percent(40);
  Place inside = place;
  inside.uniform = uniform;
  Statement result{"if ({0}) {\n[0]\n}", {expressions_.expression(kInt, uniform ? uniform_ : scope, 2)}, {}};
  result.blocks.push_back(inner(scope, inside, 4));
  if (random_.percent(60)) {
    result.text += " else {\n[1]\n}";
    result.blocks.push_back(inner(scope, inside, 4));
  }
  return result;
}

Statement StatementGenerator::loop(const Scope& scope, const Place& place) {
  const std::string counter = new_name("i");
  Scope own = scope;
  own.variables.push_back({kInt, counter, false});
  Place inside = place;
  inside.uniform = false;
  inside.in_loop = true;
  Statement result;
  result.loop = true;
  const Expression condition = expressions_.expression(kInt, own, 2);
  const unsigned limit = random_.between(1, 7);
  switch (random_.below(4)) {
    case 0:
      result.text = "for (int " + counter + " = 0; " + counter + " < ({0} & 7); ++" + counter + ") {\n[0]\n}";
      break;
    case 1:
      result.text =
          "{\nint " + counter + " = 0;\nwhile (" + counter + "++ < " + std::to_string(limit) + " && {0}) {\n[0]\n}\n}";
      break;
    case 2:
      result.text =
          "{\nint " + counter + " = " + std::to_string(limit) + ";\ndo {\n[0]\n} while (--" + counter + " > 0 && {0});\n}";
      break;
    default:
      result.text =
          "for (int " + counter + " = " + std::to_string(limit) + "; " + counter + " > ({0} & 3); --" + counter + ") {\n[0]\n}";
      break;
  }
  result.expressions.push_back(condition);
  result.blocks.push_back(inner(own, inside, 4));
  return result;
}

Statement StatementGenerator::uniform_loop(const Scope& scope, const Place& place) {
  const std::string counter = new_name("i");
  Scope own = scope;
  own.variables.push_back({kInt, counter, false});
  Place inside = place;
  inside.in_loop = false;
  Statement result{"for (int " + counter + " = 0; " + counter + " < ({0} & 3) + 1; ++" + counter + ") {\n[0]\n}",
                   {expressions_.expression(kInt, uniform_, 1)},
                   {}};
  result.loop = true;
  result.blocks.push_back(inner(own, inside, 4));
  return result;
}

Statement StatementGenerator::switch_statement(const Scope& scope, const Place& place) {
  Statement result{"switch ({0} & 7) {\n", {expressions_.expression(kInt, scope, 2)}, {}};
  result.loop = true;
  Place inside = place;
  inside.uniform = false;
  inside.in_loop = false;
  const unsigned cases = random_.between(2, 5);
  for (unsigned i = 0; i < cases; ++i) {
    const bool last = i + 1 == cases;
    result.text += (last && random_.percent(70) ? std::string("default") : "case " + std::to_string(i * 2 + random_.below(2))) +
                   ": {\n[" + std::to_string(i) + "]\n}\n" + (random_.percent(75) || last ? "break;\n" : "// falls through\n");
    result.blocks.push_back(inner(scope, inside, 2));
  }
  result.text += "}";
  return result;
}

Statement StatementGenerator::jump(const Scope& scope, const Place& place) {
  if (place.in_loop) {
    Statement result{
        random_.percent(50) ? "if ({0}) break;" : "if ({0}) continue;", {expressions_.expression(kInt, scope, 2)}, {}};
    result.jump = true;
    return result;
  }
  if (place.kernel) return assignment(scope);
  return {
      "if ({0}) return {1};", {expressions_.expression(kInt, scope, 2), expressions_.expression(place.result, scope, 2)}, {}};
}

Statement StatementGenerator::exchange(const Scope& scope) {
  if (exchange_arrays_.empty()) return assignment(scope);
  const Array& array = random_.pick(exchange_arrays_);
  const Variable* target = assignable(scope, [&](const Variable& variable) { return variable.type == array.type; });
  if (target == nullptr) return assignment(scope);
  const Expression from = random_.percent(50) ? Expression{kInt, "lid + " + std::to_string(random_.between(1, 70)), {}}
                                              : expressions_.expression(kInt, scope, 2);
  return {array.name + "[lid] = {0};\nbarrier(CLK_LOCAL_MEM_FENCE);\n" + target->name + " = " + array.name +
              "[(uint)({1}) % (uint)group_items];\nbarrier(CLK_LOCAL_MEM_FENCE);",
          {expressions_.expression(array.type, scope, 2), from},
          {}};
}

Statement StatementGenerator::reduction(const Scope& scope) {
  if (exchange_arrays_.empty()) return assignment(scope);
  const Array& array = random_.pick(exchange_arrays_);
  const Variable* target = assignable(scope, [&](const Variable& variable) { return variable.type == array.type; });
  if (target == nullptr) return assignment(scope);
  const std::string step = new_name("i");
  Scope own{{{array.type, "mine", false}, {array.type, "other", false}}, {}, {}, false};
  std::string text =
      array.name +
      "[lid] = {0};\nbarrier(CLK_LOCAL_MEM_FENCE);\nfor (int @ = 1; @ < group_items; @ <<= 1) {\n#T mine = " + array.name +
      "[lid], other = " + array.name + "[(lid + @) % group_items];\nbarrier(CLK_LOCAL_MEM_FENCE);\n" + array.name +
      "[lid] = {1};\nbarrier(CLK_LOCAL_MEM_FENCE);\n}\n" + target->name + " = " + array.name +
      "[0];\nbarrier(CLK_LOCAL_MEM_FENCE);";
  replace(text, "@", step);
  replace(text, "#T", "const " + array.type.name());
  return {text, {expressions_.expression(array.type, scope, 2), expressions_.expression(array.type, own, 2)}, {}};
}

Statement StatementGenerator::read_cells(const Scope& scope) {
  const Variable* target =
      assignable(scope, [](const Variable& variable) { return variable.type.is_integer() && !variable.type.is_vector(); });
  if (target == nullptr) return assignment(scope);
  return {"barrier(CLK_LOCAL_MEM_FENCE);\n" + target->name + " = (" + target->type.name() + ")local_cells[(uint)({0}) % " +
              std::to_string(kCells) + "];\nbarrier(CLK_LOCAL_MEM_FENCE);",
          {expressions_.expression(kInt, scope, 1)},
          {}};
}

Statement StatementGenerator::atomic(const Scope& scope) {
  const AtomicRow& row = random_.pick(kAtomics);
  const bool global = random_.percent(40);
  std::string text = row.text;
  const auto cell = [&](unsigned number, const char* more) {
    return std::string(global ? "&cells[" : "&local_cells[") + std::to_string(row.row * kCellsPerRow + number) + more + "]";
  };
  replace(text, "$", cell(0, " + ({1} & 1)"));
  replace(text, "%", cell(2, ""));
  replace(text, "#", cell(3, ""));
  replace(text, "@", global ? "global " : "local ");
  return {text, {expressions_.expression(row.type, scope, 2), expressions_.expression(kInt, scope, 1)}, {}};
}

Statement StatementGenerator::matrix_tile(Scope& scope) {
  const MatrixTile& tile = random_.pick(matrix_tiles());
  const std::string name = new_name("v");
  // Halves with random bits make most sums NaN. Half of the tiles therefore limit them to values below two.
  const bool halves = tile.a.is_integer();
  const std::string input = halves && random_.percent(50) ? "({#} & (uint2)(0xbfffbfffu))" : "{#}";
  const auto operand = [&](const char* number) {
    std::string text = input;
    replace(text, "#", number);
    return text;
  };
  Statement result{tile.c.name() + " " + name + " = " + tile.name + "(" + operand("0") + ", " + operand("1") + ", {2});",
                   {expressions_.expression(tile.a, scope, 2), expressions_.expression(tile.b, scope, 2),
                    expressions_.expression(tile.c, scope, 2)},
                   {}};
  scope.variables.push_back({tile.c, name});
  return result;
}

Statement StatementGenerator::statement(Scope& scope, const Place& place) {
  if (matrix_tiles_ && place.kernel && place.uniform && random_.percent(kMatrixTilePercent)) return matrix_tile(scope);
  const bool nest = place.depth < kDeepestNesting;
  const unsigned choice = random_.below(100);
  if (choice < 22) return declaration(scope);
  if (choice < 27) return array_declaration(scope);
  if (choice < 40) return assignment(scope);
  if (choice < 46) return compound_assignment(scope);
  if (choice < 52) return component_assignment(scope);
  if (choice < 58) return array_store(scope);
  if (choice < 66) return nest ? branch(scope, place) : assignment(scope);
  if (choice < 73) return nest ? loop(scope, place) : assignment(scope);
  if (choice < 76) return nest ? switch_statement(scope, place) : assignment(scope);
  if (choice < 82) return jump(scope, place);
  if (!place.kernel) return assignment(scope);
  if (choice < 88 || !place.uniform) return atomic(scope);
  if (choice < 92) return exchange(scope);
  if (choice < 94) return reduction(scope);
  if (choice < 96) return read_cells(scope);
  return nest ? uniform_loop(scope, place) : exchange(scope);
}

Block StatementGenerator::block(Scope& scope, const Place& place, unsigned statements) {
  Block result;
  for (unsigned i = 0; i < statements; ++i) result.push_back(statement(scope, place));
  return result;
}

}  // namespace lacuna::programs

#include "generator.h"

#include <algorithm>
#include <array>

#include "statement_generator.h"

namespace lacuna::programs {
namespace {

constexpr unsigned kMostItems = 640;
constexpr unsigned kLargestExchange = 4096;  ///< bytes of one local array

class ProgramGenerator {
 public:
  ProgramGenerator(std::uint64_t seed, bool matrix)
      : random_(seed), expressions_(random_), statements_(random_, expressions_), matrix_(matrix) {
    program_.seed = seed;
    program_.name = "p" + std::to_string(seed);
  }

  Program generate() {
    choose_launch();
    fill_buffers();
    make_globals();
    const unsigned functions = random_.below(4);
    for (unsigned i = 0; i < functions; ++i) make_function(i);
    make_body();
    return std::move(program_);
  }

 private:
  void choose_launch() {
    struct Shape {
      unsigned dimensions;
      std::array<unsigned, 3> block;
    };
    // Groups of one or several wavefronts, with and without a partial wavefront.
    static constexpr std::array kShapes{
        Shape{1, {64, 1, 1}},  Shape{1, {64, 1, 1}}, Shape{1, {1, 1, 1}},   Shape{1, {7, 1, 1}},   Shape{1, {33, 1, 1}},
        Shape{1, {48, 1, 1}},  Shape{1, {65, 1, 1}}, Shape{1, {100, 1, 1}}, Shape{1, {128, 1, 1}}, Shape{1, {192, 1, 1}},
        Shape{1, {256, 1, 1}}, Shape{2, {8, 8, 1}},  Shape{2, {13, 5, 1}},  Shape{2, {16, 3, 1}},  Shape{2, {4, 16, 1}},
        Shape{2, {31, 2, 1}},  Shape{3, {4, 4, 4}},  Shape{3, {3, 5, 7}}};
    // A tile is computed by all lanes of a wavefront, so there must be no partial wavefront.
    static constexpr std::array kWholeShapes{Shape{1, {64, 1, 1}},  Shape{1, {64, 1, 1}}, Shape{1, {128, 1, 1}},
                                             Shape{1, {256, 1, 1}}, Shape{2, {8, 8, 1}},  Shape{2, {4, 16, 1}},
                                             Shape{2, {16, 8, 1}},  Shape{3, {4, 4, 4}}};
    const Shape& shape = matrix_ ? random_.pick(kWholeShapes) : random_.pick(kShapes);
    Launch& launch = program_.launch;
    launch.dimensions = shape.dimensions;
    launch.block = shape.block;
    for (unsigned d = 0; d < shape.dimensions; ++d) {
      launch.grid[d] = launch.block[d];
      if (launch.items() + launch.items() / launch.grid[d] * launch.block[d] > kMostItems) continue;
      launch.grid[d] *= random_.between(1, 2);
      if (!matrix_ && random_.percent(25)) launch.grid[d] -= random_.below(launch.block[d]);
    }
  }

  void fill_buffers() {
    static constexpr std::array<std::uint32_t, 14> kEdges{0,          1,          0xffffffff, 0x7fffffff, 0x80000000,
                                                          0x00ff00ff, 0x7fff8000, 0x3f800000, 0x7f800000, 0xff800000,
                                                          0x00000001, 0x807fffff, 0x7f7fffff, 0x3ff00000};
    for (unsigned i = 0; i < kInputWords; ++i) {
      const auto bits = static_cast<std::uint32_t>(random_.bits() >> 32U);
      switch (random_.below(4)) {
        case 0:
          program_.input.push_back(random_.pick(kEdges));
          break;
        case 1:
          program_.input.push_back(bits & 0xffU);
          break;
        case 2:
          program_.input.push_back(0x3e000000 + bits % 0x04000000);
          break;  // floats of moderate size
        default:
          program_.input.push_back(bits);
          break;
      }
    }
    for (unsigned i = 0; i < kCells; ++i) program_.cells.push_back(random_.bits() >> random_.below(64));
  }

  void make_globals() {
    const unsigned tables = random_.below(3);
    for (unsigned i = 0; i < tables; ++i) {
      const Type type = expressions_.any_type();
      const unsigned size = type.bytes() > 16 ? 2 : 1U << random_.between(1, 3);
      const std::string name = program_.name + "_c" + std::to_string(i);
      Statement table{"constant " + type.name() + " " + name + "[" + std::to_string(size) + "] = { ", {}, {}};
      for (unsigned element = 0; element < size; ++element) {
        table.text += "{" + std::to_string(element) + "}, ";
        table.expressions.push_back(expressions_.literal(type));
      }
      table.text += "};";
      program_.globals.push_back(table);
      shared_.arrays.push_back({type, name, size, false});
    }
    if (random_.percent(40)) {
      structure_ = "struct " + program_.name + "_s";
      std::string text = structure_ + " {\n";
      const unsigned fields = random_.between(2, 5);
      for (unsigned i = 0; i < fields; ++i) {
        const Type type = expressions_.any_type();
        fields_.push_back({type, "f" + std::to_string(i)});
        text += type.name() + " f" + std::to_string(i) + ";\n";
      }
      program_.globals.push_back({text + "};", {}, {}});
    }
  }

  [[nodiscard]] std::vector<Variable> fields_of(const std::string& variable) const {
    std::vector<Variable> result;
    for (const Variable& field : fields_) result.push_back({field.type, variable + "." + field.name});
    return result;
  }

  void make_function(unsigned number) {
    const std::string name = program_.name + "_f" + std::to_string(number);
    Callable callable{expressions_.any_type(), name + "(", {}};
    Scope scope = shared_;
    const bool noinline = random_.percent(50);
    std::string head = "static " + callable.result.name() + " " + name + "(";
    std::string separator;
    const auto parameter = [&](const std::string& text, const std::string& argument) {
      head += separator + text;
      callable.open += separator.empty() || argument.empty() ? argument : ", " + argument;
      separator = ", ";
    };
    bool fixed = false;
    if (random_.percent(40)) {
      parameter("global const uint *input", "input");
      scope.input = callable.reads_input = fixed = true;
    }
    const bool by_value = !structure_.empty() && random_.percent(50);
    const bool by_pointer = !structure_.empty() && !by_value && random_.percent(60);
    if (by_value || by_pointer) {
      parameter(structure_ + (by_value ? " s" : " *s"), by_value ? "s0" : "&s0");
      fixed = true;
      for (Variable field : fields_of(by_value ? "s" : "(*s)")) scope.variables.push_back(field);
    }
    if (fixed) callable.open += ", ";
    const unsigned parameters = random_.between(1, 3);
    for (unsigned i = 0; i < parameters; ++i) {
      const Type type = expressions_.any_type();
      const std::string own = statements_.new_name("v");
      parameter(type.name() + " " + own, "");
      scope.variables.push_back({type, own});
      callable.parameters.push_back(type);
    }
    head += ")";
    // A structure passed by pointer is only read: C does not define the order of evaluation, so writes could change the result.
    if (by_pointer) {
      for (Variable& variable : scope.variables) variable.assignable = variable.assignable && variable.name[0] != '(';
    }
    Place place;
    place.depth = 1;
    place.result = callable.result;
    Function function{head, statements_.block(scope, place, random_.between(1, 3)), {}};
    function.noinline = noinline;
    function.result = expressions_.expression(callable.result, scope, 3);
    program_.functions.push_back(std::move(function));
    // Functions call functions defined before them. Only the kernel, which has a structure, calls functions with a structure
    // parameter.
    (by_value || by_pointer ? kernel_functions_ : shared_.functions).push_back(callable);
  }

  void make_body() {
    Scope scope = shared_;
    scope.input = true;
    scope.functions.insert(scope.functions.end(), kernel_functions_.begin(), kernel_functions_.end());
    Scope uniform;
    const unsigned scalars = random_.below(5);
    for (unsigned i = 0; i < scalars; ++i) {
      const Type type = i == 0 ? kInt : expressions_.any_type();
      if (type.width > 4) continue;
      const std::string name = "n" + std::to_string(i);
      // Bits that represent no NaN in any float type.
      program_.scalars.push_back({type, name, random_.bits() & 0x3fefffff3fefffffULL});
      uniform.variables.push_back({type, name, false});
      scope.variables.push_back({type, name, false});
    }
    scope.variables.push_back({kInt, "item", false});
    scope.variables.push_back({kInt, "lid", false});
    statements_.set_uniform_scope(uniform);
    declare_exchange_arrays();

    Place place;
    place.uniform = place.kernel = true;
    if (!structure_.empty()) {
      program_.body.push_back({structure_ + " s0 = { 0 };", {}, {}});
      for (const Variable& field : fields_of("s0")) {
        program_.body.push_back({field.name + " = {0};", {expressions_.expression(field.type, scope, 1)}, {}});
        scope.variables.push_back(field);
      }
    }
    for (unsigned i = 0; i < 3; ++i) program_.body.push_back(statements_.declaration(scope));
    if (matrix_) {
      statements_.set_matrix_tiles();
      program_.body.push_back(statements_.matrix_tile(scope));
    }
    for (Statement& statement : statements_.block(scope, place, random_.between(4, 9))) {
      program_.body.push_back(std::move(statement));
    }
    store_results(scope);
  }

  void declare_exchange_arrays() {
    const unsigned count = random_.below(3);
    std::vector<Array> arrays;
    for (unsigned i = 0; i < count; ++i) {
      const Type type = expressions_.any_type();
      const unsigned size = program_.launch.group_items();
      if (size * type.bytes() > kLargestExchange) continue;
      arrays.push_back({type, "l" + std::to_string(i), size});
      program_.body.push_back({"local " + type.name() + " l" + std::to_string(i) + "[" + std::to_string(size) + "];", {}, {}});
    }
    statements_.set_exchange_arrays(arrays);
  }

  /// Stores every assignable variable and an element of every assignable array, each at its natural alignment.
  void store_results(const Scope& scope) {
    unsigned offset = 0;
    unsigned alignment = 4;
    const auto store = [&](Type type, Expression value) {
      // NaNs are stored with one bit pattern, because IEEE 754 does not define the bits of NaN results.
      const Type stored = type.is_float() ? unsigned_like(type) : type;
      const std::string written = type.is_float() ? "as_" + stored.name() + "(canonical({0}))" : "{0}";
      const unsigned size = type.width == 3 ? 3 * type.element_bytes() : type.bytes();
      const unsigned align = type.width == 3 ? type.element_bytes() : size;
      offset = (offset + align - 1) / align * align;
      alignment = std::max(alignment, align);
      const std::string at = "output + " + std::to_string(offset);
      program_.body.push_back({type.width == 3
                                   ? "vstore3(" + written + ", 0, (global " + stored.element().name() + " *)(" + at + "));"
                                   : "*(global " + stored.name() + " *)(" + at + ") = " + written + ";",
                               {std::move(value)},
                               {}});
      offset += size;
    };
    for (const Variable& variable : scope.variables) {
      if (variable.assignable) store(variable.type, {variable.type, variable.name, {}});
    }
    for (const Array& array : scope.arrays) {
      if (!array.assignable) continue;
      store(array.type, {array.type, array.name + "[item & " + std::to_string(array.size - 1) + "]", {}});
    }
    program_.item_bytes = (offset + alignment - 1) / alignment * alignment;
  }

  Random random_;
  ExpressionGenerator expressions_;
  StatementGenerator statements_;
  bool matrix_;
  Program program_;
  Scope shared_;
  std::vector<Callable> kernel_functions_;
  std::string structure_;
  std::vector<Variable> fields_;
};

}  // namespace

Program generate_program(std::uint64_t seed, bool matrix) { return ProgramGenerator(seed, matrix).generate(); }

}  // namespace lacuna::programs

#include "models/sida/program/code_check.h"

#include <algorithm>
#include <optional>
#include <string>

namespace lacuna::sida {
namespace {

bool is_float(unsigned element) { return element == LACUNA_SIDA_F64 || element == LACUNA_SIDA_F32; }
bool is_integer(unsigned element) { return !is_float(element) && element != LACUNA_SIDA_BOOL; }

/// Whether an operation accepts operands of this type.
bool computes(unsigned operation, unsigned element) {
  switch (operation) {
    case LACUNA_SIDA_OPERATION_ADD:
    case LACUNA_SIDA_OPERATION_SUBTRACT:
    case LACUNA_SIDA_OPERATION_MULTIPLY:
    case LACUNA_SIDA_OPERATION_DIVIDE:
    case LACUNA_SIDA_OPERATION_NEGATE:
    case LACUNA_SIDA_OPERATION_ABSOLUTE:
      return element != LACUNA_SIDA_BOOL;
    case LACUNA_SIDA_OPERATION_INDEX:
      return element == LACUNA_SIDA_I64 || element == LACUNA_SIDA_I32;
    case LACUNA_SIDA_OPERATION_SQUARE_ROOT:
      return is_float(element);
    case LACUNA_SIDA_OPERATION_SHIFT_RIGHT:
      return is_integer(element);
    case LACUNA_SIDA_OPERATION_DENSE:
      return is_float(element) || element == LACUNA_SIDA_I8;
    default:
      return true;
  }
}

void insert_once(std::vector<std::uint16_t>& set, std::uint16_t value) {
  const auto place = std::lower_bound(set.begin(), set.end(), value);
  if (place == set.end() || *place != value) set.insert(place, value);
}

class CodeCheck {
 public:
  /// `elements`: number of elements of element-wise code; nullopt for scalar code.
  CodeCheck(const Program& program, std::optional<std::uint64_t> elements, bool may_scan)
      : program_(program), elements_(elements), may_scan_(may_scan) {}

  /// Declares a register that has a value before the code runs.
  void define(std::uint16_t number, unsigned element, std::uint32_t width) {
    if (number >= LACUNA_SIDA_MAX_REGISTERS) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "register " + std::to_string(number) + " does not exist");
    }
    set(number, {static_cast<std::uint8_t>(element), width});
  }

  Code check(std::span<const lacuna_sida_instruction> all, lacuna_sida_code part, const char* name) {
    if (part.first > all.size() || part.count > all.size() - part.first) {
      throw ProgramError(LACUNA_SIDA_ERROR_SIZE, std::string(name) + ": instructions beyond the program's");
    }
    for (std::uint32_t i = part.first; i < part.first + part.count; ++i) {
      try {
        check(all[i]);
      } catch (const ProgramError& error) {
        throw ProgramError(error.code,
                           std::string(name) + ", instruction " + std::to_string(i - part.first) + ", " +
                               lacuna_sida_operation_name(all[i].operation) + ": " + error.what(),
                           1 + std::uint64_t{i} * sizeof(lacuna_sida_instruction));
      }
      code_.instructions.push_back(all[i]);
    }
    return std::move(code_);
  }

 private:
  void set(std::uint16_t number, RegisterKind kind) {
    if (code_.registers.size() <= number) code_.registers.resize(number + 1);
    code_.registers[number] = kind;
  }

  const lacuna_sida_vector& vector(std::uint16_t number, bool of_phase) const {
    if (number >= program_.vectors.size()) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "vector " + std::to_string(number) + " does not exist");
    }
    const lacuna_sida_vector& vector = program_.vectors[number];
    if (of_phase && vector.length != *elements_) {
      throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "vector " + std::to_string(number) + " has " + std::to_string(vector.length) +
                                                      " elements, the code runs over " + std::to_string(*elements_));
    }
    return vector;
  }

  void scalar(std::uint16_t number) const {
    if (number >= program_.scalars.size()) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "scalar " + std::to_string(number) + " does not exist");
    }
  }

  /// Checks that the operand has a value of type `type`, and returns its width. Scalars have width 1 and can be combined with
  /// any width.
  std::uint32_t operand(std::uint16_t number, unsigned type) const {
    if (number & LACUNA_SIDA_SCALAR) {
      scalar(static_cast<std::uint16_t>(number ^ LACUNA_SIDA_SCALAR));
      return 1;
    }
    if (!elements_) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "register " + std::to_string(number) + " in scalar code, which has none");
    }
    if (number >= code_.registers.size() || !code_.registers[number].has_value()) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "register " + std::to_string(number) + " has no value");
    }
    const RegisterKind kind = code_.registers[number];
    if (kind.element != type) {
      throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "register " + std::to_string(number) + " has " +
                                                        lacuna_sida_element_name(kind.element) + ", the instruction requires " +
                                                        lacuna_sida_element_name(type));
    }
    return kind.width;
  }

  /// Like operand(), for an operand that must be a register.
  std::uint32_t register_operand(std::uint16_t number, unsigned type) const {
    if (number & LACUNA_SIDA_SCALAR) throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "a scalar where a register is needed");
    return operand(number, type);
  }

  void result(std::uint16_t number, unsigned type, std::uint32_t width) {
    if (!elements_) {
      scalar(number);
      return;
    }
    if (number >= LACUNA_SIDA_MAX_REGISTERS) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "register " + std::to_string(number) + " does not exist");
    }
    set(number, {static_cast<std::uint8_t>(type), width});
  }

  void monoid(std::uint16_t number, unsigned type) const {
    if (number >= LACUNA_SIDA_MONOID_COUNT) {
      throw ProgramError(LACUNA_SIDA_ERROR_SEMIRING, "monoid " + std::to_string(number) + " does not exist");
    }
    if (!lacuna_sida_monoid_takes(number, type)) {
      throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT,
                         std::string("the monoid does not combine elements of ") + lacuna_sida_element_name(type));
    }
  }

  void check(const lacuna_sida_instruction& i) {
    if (i.operation >= LACUNA_SIDA_OPERATION_COUNT) {
      throw ProgramError(LACUNA_SIDA_ERROR_INSTRUCTION, "operation " + std::to_string(i.operation) + " does not exist");
    }
    if (lacuna_sida_element_bytes(i.type) == 0) {
      throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "unknown element " + std::to_string(i.type));
    }
    if (!computes(i.operation, i.type)) {
      throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, std::string("not defined for ") + lacuna_sida_element_name(i.type));
    }
    std::uint32_t width = 1;
    std::uint64_t operations = 0;
    if (i.operation >= LACUNA_SIDA_OPERATION_INDEX && !elements_) {
      throw ProgramError(LACUNA_SIDA_ERROR_INSTRUCTION, "not for scalar code");
    }
    switch (i.operation) {
      case LACUNA_SIDA_OPERATION_INDEX:
        result(i.d, i.type, 1);
        break;
      case LACUNA_SIDA_OPERATION_LOAD: {
        const lacuna_sida_vector& from = vector(i.a, true);
        if (from.element != i.type) throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "the vector has another element");
        width = from.width;
        insert_once(code_.loads, i.a);
        result(i.d, i.type, width);
        break;
      }
      case LACUNA_SIDA_OPERATION_STORE: {
        const lacuna_sida_vector& to = vector(i.d, true);
        width = register_operand(i.a, i.type);
        if (to.element != i.type) throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "the vector has another element");
        if (to.width != width) throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "the vector has other features");
        insert_once(code_.stores, i.d);
        break;
      }
      case LACUNA_SIDA_OPERATION_REDUCE:
        width = register_operand(i.a, i.type);
        monoid(i.b, i.type);
        scalar(i.d);
        if (std::find(code_.reductions.begin(), code_.reductions.end(), i.d) != code_.reductions.end()) {
          throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "scalar " + std::to_string(i.d) + " is reduced to twice");
        }
        code_.reductions.push_back(i.d);
        operations = width;
        break;
      case LACUNA_SIDA_OPERATION_SCAN:
        if (!may_scan_) throw ProgramError(LACUNA_SIDA_ERROR_INSTRUCTION, "legal in an element-wise pass alone");
        width = register_operand(i.a, i.type);
        monoid(i.b, i.type);
        if (width != 1) throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "of elements with one feature only");
        operations = 1;
        result(i.d, i.type, 1);
        break;
      case LACUNA_SIDA_OPERATION_DENSE: {
        const lacuna_sida_vector& array = vector(i.b, false);
        const std::uint32_t features = register_operand(i.a, i.type);
        if (array.element != i.type) throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "the array has another element");
        if (array.length == 0 || array.length % features != 0) {
          throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "the array has " + std::to_string(array.length) +
                                                          " rows, no multiple of the features, " + std::to_string(features));
        }
        width = array.width;
        operations = std::uint64_t{features} * width;
        insert_once(code_.arrays, i.b);
        result(i.d, lacuna_sida_sum_element(i.type), width);
        break;
      }
      case LACUNA_SIDA_OPERATION_CONVERT:
        if (lacuna_sida_element_bytes(i.c) == 0)
          throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "unknown element " + std::to_string(i.c));
        operations = width = operand(i.a, i.c);
        result(i.d, i.type, width);
        break;
      default: {
        const std::uint16_t operands[3]{i.a, i.b, i.c};
        for (unsigned o = 0; o < lacuna_sida_operands(i.operation); ++o) {
          const std::uint32_t other = operand(operands[o], i.type);
          if (width != 1 && other != 1 && other != width) {
            throw ProgramError(LACUNA_SIDA_ERROR_SHAPE,
                               "operands with " + std::to_string(width) + " and " + std::to_string(other) + " features");
          }
          width = std::max(width, other);
        }
        operations = width;
        result(i.d, i.type, width);
      }
    }
    code_.widths.push_back(width);
    code_.operations += operations;
  }

  const Program& program_;
  std::optional<std::uint64_t> elements_;
  bool may_scan_;
  Code code_;
};

bool has(const std::vector<std::uint16_t>& set, std::uint16_t vector) {
  return std::binary_search(set.begin(), set.end(), vector);
}

void refuse_common(const std::vector<std::uint16_t>& stored, const std::vector<std::uint16_t>& used, const char* how) {
  for (const std::uint16_t vector : stored) {
    if (has(used, vector)) throw ProgramError(LACUNA_SIDA_ERROR_ALIAS, "vector " + std::to_string(vector) + " is " + how);
  }
}

void check_aliases(const Pass& pass) {
  const Code &load = pass.of(Phase::load), &ewise = pass.of(Phase::ewise), &finish = pass.of(Phase::finish);
  if (!load.stores.empty()) {
    throw ProgramError(LACUNA_SIDA_ERROR_INSTRUCTION, "load stores a vector; elements of x may be loaded again");
  }
  refuse_common(ewise.stores, load.loads, "stored by ewise, and x is computed from it");
  refuse_common(finish.stores, load.loads, "stored by finish, and x is computed from it");
  refuse_common(finish.stores, ewise.stores, "stored by ewise and by finish, which may yet be dropped");
  for (const Code* code : {&load, &ewise, &finish}) {
    refuse_common(ewise.stores, code->arrays, "stored by ewise, and DENSE reads it whole");
    refuse_common(finish.stores, code->arrays, "stored by finish, and DENSE reads it whole");
  }
}

/// Checks an output register of a phase.
void check_output(const Code& code, std::uint16_t number, const char* name, unsigned element, std::uint32_t width) {
  const bool exists = number < code.registers.size() && code.registers[number].has_value();
  if (!exists) throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, std::string(name) + ": register without a value");
  const RegisterKind kind = code.registers[number];
  if (kind.element != element || kind.width != width) {
    throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, std::string(name) + " has " + lacuna_sida_element_name(kind.element) +
                                                      " and " + std::to_string(kind.width) + " features, the pass " +
                                                      lacuna_sida_element_name(element) + " and " + std::to_string(width));
  }
}

/// Checks a presence register: elements whose value in it is 0 contribute no terms.
void check_presence(const Code& code, std::uint16_t number, const char* name) {
  if (number == LACUNA_SIDA_NONE) return;
  const bool exists = number < code.registers.size() && code.registers[number].has_value();
  if (!exists) throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, std::string(name) + ": register without a value");
  if (code.registers[number].element != LACUNA_SIDA_BOOL || code.registers[number].width != 1) {
    throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, std::string(name) + " is not a BOOL vector with one feature");
  }
}

void check_semiring(unsigned semiring, unsigned element, const char* name) {
  if (semiring >= LACUNA_SIDA_SEMIRING_COUNT) {
    throw ProgramError(LACUNA_SIDA_ERROR_SEMIRING,
                       std::string(name) + ": semiring " + std::to_string(semiring) + " does not exist");
  }
  if (!lacuna_sida_semiring_takes(semiring, element)) {
    throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, std::string(name) + ": " + lacuna_sida_semiring_name(semiring) +
                                                      " is not defined for " + lacuna_sida_element_name(element));
  }
}

void check_shape(const Program& program, const Pass& pass) {
  const lacuna_sida_pass& d = pass.description;
  if (pass.has_is() && !pass.has_os()) throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "a second product without a first");
  if (!pass.has_os()) {
    if (d.elements > UINT32_MAX)
      throw ProgramError(LACUNA_SIDA_ERROR_SIZE, "an element-wise pass over more than 2^32 - 1 elements");
    if (d.load.count != 0 || d.finish.count != 0 || d.after_load.count != 0 || d.after_finish.count != 0) {
      throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "an element-wise pass has ewise code alone");
    }
    return;
  }
  if (d.elements != 0) throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "`elements` of a pass with a product is not 0");
  if (d.matrix >= program.matrices.size()) {
    throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "matrix " + std::to_string(d.matrix) + " does not exist");
  }
  const lacuna_sida_matrix& matrix = program.matrices[d.matrix];
  if (lacuna_sida_element_bytes(d.element) == 0)
    throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "unknown element " + std::to_string(d.element));
  if (matrix.has_values == 1 && matrix.element != d.element) {
    throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, std::string("products of ") + lacuna_sida_element_name(d.element) +
                                                      " of a matrix of " + lacuna_sida_element_name(matrix.element));
  }
  if (d.width == 0 || d.width > LACUNA_SIDA_MAX_WIDTH) {
    throw ProgramError(LACUNA_SIDA_ERROR_SIZE, std::to_string(d.width) + " features; 1 to 1,024 are possible");
  }
  check_semiring(d.os_semiring, d.element, "first product");
  if (!pass.has_is()) {
    if (d.finish.count != 0 || d.after_finish.count != 0) {
      throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "finish code without a second product");
    }
    return;
  }
  check_semiring(d.is_semiring, d.element, "second product");
  const bool os_transposed = d.flags & LACUNA_SIDA_PASS_OS_TRANSPOSED, is_transposed = d.flags & LACUNA_SIDA_PASS_IS_TRANSPOSED;
  if (os_transposed == is_transposed && matrix.rows != matrix.columns) {
    throw ProgramError(LACUNA_SIDA_ERROR_SHAPE, "two products with one matrix of " + std::to_string(matrix.rows) +
                                                    " rows and " + std::to_string(matrix.columns) + " columns");
  }
}

}  // namespace

void check_pass(const Program& program, std::span<const lacuna_sida_instruction> instructions, Pass& pass) {
  const lacuna_sida_pass& d = pass.description;
  constexpr std::uint32_t kFlags = 2 * LACUNA_SIDA_PASS_FINISH_COUNTS - 1;
  if ((d.flags & ~kFlags) != 0) throw ProgramError(LACUNA_SIDA_ERROR_INSTRUCTION, "unknown flags");
  check_shape(program, pass);
  const auto element_wise = [&](Phase phase, lacuna_sida_code part, const char* name, std::uint16_t input) {
    CodeCheck check(program, program.elements(pass, phase), !pass.has_os());
    if (input != LACUNA_SIDA_NONE) check.define(input, lacuna_sida_sum_element(d.element), d.width);
    pass.code[static_cast<std::size_t>(phase)] = check.check(instructions, part, name);
  };
  const auto scalar = [&](Phase phase, lacuna_sida_code part, const char* name) {
    pass.scalar[static_cast<std::size_t>(phase)] = CodeCheck(program, std::nullopt, false).check(instructions, part, name);
  };
  element_wise(Phase::load, d.load, "load", LACUNA_SIDA_NONE);
  element_wise(Phase::ewise, d.ewise, "ewise", pass.has_os() ? d.y : LACUNA_SIDA_NONE);
  element_wise(Phase::finish, d.finish, "finish", pass.has_is() ? d.z : LACUNA_SIDA_NONE);
  scalar(Phase::load, d.after_load, "after load");
  scalar(Phase::ewise, d.after_ewise, "after ewise");
  scalar(Phase::finish, d.after_finish, "after finish");
  if (pass.has_os()) {
    check_output(pass.of(Phase::load), d.x, "x", d.element, d.width);
    check_presence(pass.of(Phase::load), d.x_present, "x_present");
  }
  if (pass.has_is()) {
    check_output(pass.of(Phase::ewise), d.w, "w", d.element, d.width);
    check_presence(pass.of(Phase::ewise), d.w_present, "w_present");
  }
  for (const std::uint16_t condition : {d.load_condition, d.ewise_condition, d.finish_condition}) {
    if (condition == LACUNA_SIDA_NONE) continue;
    if (condition >= program.scalars.size()) {
      throw ProgramError(LACUNA_SIDA_ERROR_OPERAND, "condition: scalar " + std::to_string(condition) + " does not exist");
    }
    if (lacuna_sida_element_bytes(d.condition_element) == 0)
      throw ProgramError(LACUNA_SIDA_ERROR_ELEMENT, "condition: unknown element");
  }
  check_aliases(pass);
}

}  // namespace lacuna::sida

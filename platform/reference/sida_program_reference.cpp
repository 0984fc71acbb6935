#include "platform/reference/sida_program_reference.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "include/lacuna/sida_applications.h"
#include "models/sida/program/program.h"

namespace lacuna {
namespace {

struct Field {
  std::string type, name;
  std::size_t offset, bytes;
  const char* text;
};

struct Structure {
  const char* name;
  std::size_t bytes;
  const char* text;
  std::vector<Field> fields;
};

std::vector<Structure> structures() {
#define LACUNA_SIDA_ROW(type, name, array, text) \
  Field{#type #array, #name, offsetof(Described, name), sizeof(Described::name), text},
#define LACUNA_SIDA_STRUCTURE(name, list, bytes, text)                                                               \
  [] {                                                                                                               \
    using Described = lacuna_sida_##name;                                                                            \
    return Structure{"lacuna_sida_" #name, sizeof(Described), text, {LACUNA_SIDA_##list##_FIELDS(LACUNA_SIDA_ROW)}}; \
  }(),
  return {LACUNA_SIDA_STRUCTURES(LACUNA_SIDA_STRUCTURE)};
#undef LACUNA_SIDA_STRUCTURE
#undef LACUNA_SIDA_ROW
}

/// Lists the element types for which a semiring's products are defined.
std::string elements_of(unsigned semiring) {
  std::string elements;
  for (unsigned element = 0; element < LACUNA_SIDA_ELEMENT_COUNT; ++element) {
    if (!lacuna_sida_semiring_takes(semiring, element)) continue;
    elements += elements.empty() ? "" : ", ";
    elements += lacuna_sida_element_name(element);
  }
  return elements;
}

/// Returns the reason why the first product is not fused with another. Omits the beginning of the explanation, which names the
/// product.
std::string prevention(const lacuna_sida_plan* plan) {
  const std::string lines = lacuna_sida_explain(plan), line = lines.substr(0, lines.find('\n'));
  const std::size_t colon = line.rfind(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

std::string fusion_of(const lacuna_sida_application& application) {
  // A matrix without entries, since fusion does not depend on entries.
  constexpr std::array<std::uint64_t, 3> kOffsets{};
  lacuna_sida_setup setup{};
  setup.rows = setup.columns = 2;
  setup.column_offsets = kOffsets.data();
  const std::unique_ptr<lacuna_sida_graph, decltype(&lacuna_sida_destroy)> graph(application.build(&setup),
                                                                                 lacuna_sida_destroy);
  const std::unique_ptr<lacuna_sida_plan, decltype(&lacuna_sida_plan_destroy)> plan(
      lacuna_sida_compile(graph.get(), LACUNA_SIDA_FUSION_AUTO), lacuna_sida_plan_destroy);
  if (!plan) return lacuna_sida_problem(graph.get());
  if (lacuna_sida_fused_products(plan.get()) == 0) return "no; " + prevention(plan.get());
  return lacuna_sida_iterations_per_period(plan.get()) == 2 ? "two iterations" : "two products of an iteration";
}

}  // namespace

void write_sida_applications(std::ostream& out) {
  out << "\n## Programs\n"
         "Graphs of `include/lacuna/sida_applications.h`, which the library compiles. Fused: what shares a reading of the "
         "matrix, as the compiler finds it.\n\n"
         "| program | computes | element | matrix | options | iterations, at most | fused |\n|---|---|---|---|---|---|---|\n";
  for (const lacuna_sida_application* a = lacuna_sida_applications(); a->name; ++a) {
    out << fmt::format("| `{}` | {} | {} | {}{} | {} | {} | {} |\n", a->name, a->text,
                       lacuna_sida_element_name(static_cast<unsigned>(a->element)), a->needs_square ? "square, " : "",
                       a->uses_values ? "values" : "ones", a->options, a->limit, fusion_of(*a));
  }
}

void write_sida_format(std::ostream& out) {
  out << fmt::format(
      "\n## Program format\n"
      "A program lies in GPU memory, little-endian: `lacuna_sida_program`, followed by its tables, each aligned to 16 bytes, "
      "in "
      "the order of the header's counts: matrices, vectors, scalars (8 bytes each), instructions, passes, swaps. Addresses are "
      "GPU virtual addresses. `include/lacuna/abi/sida.h` has all names below with the prefix `LACUNA_SIDA_`, and says in "
      "which "
      "order a pass does its work. `MAGIC` is {:#x}, `VERSION` {}, and `NONE`, for no register, scalar, vector or pass, "
      "{:#x}.\n",
      LACUNA_SIDA_MAGIC, LACUNA_SIDA_VERSION, LACUNA_SIDA_NONE);
  for (const Structure& structure : structures()) {
    out << fmt::format("\n### `{}`\n{} bytes: {}.\n\n| offset | size | type | field | |\n|---|---|---|---|---|\n",
                       structure.name, structure.bytes, structure.text);
    for (const Field& field : structure.fields)
      out << fmt::format("| {} | {} | `{}` | `{}` | {} |\n", field.offset, field.bytes, field.type, field.name, field.text);
  }

  out << "\n### Flags of a pass\n\n| flag | bit mask | |\n|---|---|---|\n";
#define LACUNA_SIDA_ROW(name, text) out << fmt::format("| `{}` | {} | {} |\n", #name, LACUNA_SIDA_##name, text);
  LACUNA_SIDA_PASS_FLAGS(LACUNA_SIDA_ROW)
  out << "\n### Layouts of a matrix\n\n| layout | value | |\n|---|---|---|\n";
  LACUNA_SIDA_LAYOUTS(LACUNA_SIDA_ROW)
  out << "\n### Ends of the loop\nField `exit` of the header.\n\n| exit | value | |\n|---|---|---|\n";
  LACUNA_SIDA_EXITS(LACUNA_SIDA_ROW)
  out << "\n### Limits\n\n| limit | most | |\n|---|---|---|\n";
  LACUNA_SIDA_LIMITS(LACUNA_SIDA_ROW)
#undef LACUNA_SIDA_ROW

  out << "\n## Elements\nOf vectors, scalars and the values of matrices.\n\n| element | value | bytes | |\n|---|---|---|---|\n";
#define LACUNA_SIDA_ROW(name, value, bytes, text) out << fmt::format("| `{}` | {} | {} | {} |\n", #name, value, bytes, text);
  LACUNA_SIDA_ELEMENTS(LACUNA_SIDA_ROW)
#undef LACUNA_SIDA_ROW

  out << "\n## Semirings\n"
         "A product of the vector's element a and the matrix' element b, and the monoid that adds products up. Without values, "
         "b is 1. An absent element of the vector has no products.\n\n"
         "| semiring | value | sum | product | elements | for |\n|---|---|---|---|---|---|\n";
#define LACUNA_SIDA_ROW(name, value, sum, product, text) \
  out << fmt::format("| `{}` | {} | `MONOID_{}` | {} | {} | {} |\n", #name, value, #sum, product, elements_of(value), text);
  LACUNA_SIDA_SEMIRINGS(LACUNA_SIDA_ROW)
#undef LACUNA_SIDA_ROW

  out << "\n## Monoids\nOf sums, reductions and scans: commutative, beginning with the identity.\n\n"
         "| monoid | value | | identity |\n|---|---|---|---|\n";
#define LACUNA_SIDA_ROW(name, value, text, identity) \
  out << fmt::format("| `MONOID_{}` | {} | {} | {} |\n", #name, value, text, identity);
  LACUNA_SIDA_MONOIDS(LACUNA_SIDA_ROW)
#undef LACUNA_SIDA_ROW

  out << fmt::format(
      "\n## Instructions\n"
      "Of element-wise and of scalar code; the result goes to d. An operand is a register of the code or, with bit {:#x} set, "
      "a "
      "scalar; in scalar code all are scalars. The instruction's type is that of its operands; comparisons yield 1 or 0 of it. "
      "BOOL is not for arithmetic: ADD to DIVIDE, NEGATE, ABSOLUTE and SQUARE_ROOT. Operands: how many of a, b and c, in this "
      "order, are such values.\n\n"
      "| instruction | value | operands | result |\n|---|---|---|---|\n",
      LACUNA_SIDA_SCALAR);
#define LACUNA_SIDA_ROW(name, value, operands, text) \
  out << fmt::format("| `OPERATION_{}` | {} | {} | {} |\n", #name, value, operands, text);
  LACUNA_SIDA_OPERATIONS(LACUNA_SIDA_ROW)
#undef LACUNA_SIDA_ROW

  out << "\n## Errors\nField `error` of the header: why a job failed. The queue that it came from is then in error.\n\n"
         "| error | value | |\n|---|---|---|\n";
#define LACUNA_SIDA_ROW(name, value, text) out << fmt::format("| `ERROR_{}` | {} | {} |\n", #name, value, text);
  LACUNA_SIDA_ERRORS(LACUNA_SIDA_ROW)
#undef LACUNA_SIDA_ROW
}

}  // namespace lacuna

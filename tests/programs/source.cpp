#include "source.h"

#include <cctype>
#include <sstream>

namespace lacuna::programs {
namespace {

/// Number in the hole that begins at `at`, such as 3 in `{3}`; -1 if there is none. `end`: position after the hole.
int hole(const std::string& text, std::size_t at, char open, char close, std::size_t& end) {
  if (text[at] != open) return -1;
  std::size_t digit = at + 1;
  while (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0) ++digit;
  if (digit == at + 1 || digit >= text.size() || text[digit] != close) return -1;
  end = digit + 1;
  return std::stoi(text.substr(at + 1, digit - at - 1));
}

void write(const Expression& expression, std::string& out) {
  for (std::size_t at = 0; at < expression.text.size();) {
    std::size_t end = 0;
    const int operand = hole(expression.text, at, '{', '}', end);
    if (operand < 0) {
      out += expression.text[at++];
    } else {
      write(expression.operands.at(static_cast<std::size_t>(operand)), out);
      at = end;
    }
  }
}

void write(const Block& block, unsigned indent, std::string& out);

void write(const Statement& statement, unsigned indent, std::string& out) {
  unsigned depth = indent;
  std::istringstream lines(statement.text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t end = 0;
    if (const int inner = hole(line, 0, '[', ']', end); inner >= 0 && end == line.size()) {
      write(statement.blocks.at(static_cast<std::size_t>(inner)), depth, out);
      continue;
    }
    if (line[0] == '}') --depth;
    out.append(std::size_t{2} * depth, ' ');
    for (std::size_t at = 0; at < line.size();) {
      const int operand = hole(line, at, '{', '}', end);
      if (operand < 0) {
        out += line[at++];
      } else {
        write(statement.expressions.at(static_cast<std::size_t>(operand)), out);
        at = end;
      }
    }
    out += '\n';
    if (line.back() == '{') ++depth;
  }
}

void write(const Block& block, unsigned indent, std::string& out) {
  for (const Statement& statement : block) write(statement, indent, out);
}

bool mentions(const Block& block, const std::string& word);

bool mentions(const Statement& statement, const std::string& word) {
  if (statement.text.find(word) != std::string::npos) return true;
  for (const Block& block : statement.blocks) {
    if (mentions(block, word)) return true;
  }
  return false;
}

bool mentions(const Block& block, const std::string& word) {
  for (const Statement& statement : block) {
    if (mentions(statement, word)) return true;
  }
  return false;
}

/// Whether the text names a type that is larger than 16 bytes.
bool names_wide_type(const std::string& text) {
  for (unsigned scalar = 0; scalar < kScalars; ++scalar) {
    for (const unsigned width : kWidths) {
      const Type type{static_cast<Scalar>(scalar), width};
      if (type.bytes() > 16 && text.find(type.name()) != std::string::npos) return true;
    }
  }
  return false;
}

void write_function(const Function& function, std::string& out) {
  std::string body;
  write(function.body, 1, body);
  body += "  return ";
  write(function.result, body);
  body += ";\n}\n";
  const std::string inlining = names_wide_type(function.head + body) ? "WIDE" : "";
  const std::string noinline = inlining.empty() ? "__attribute__((noinline)) " : "WIDE_NOINLINE ";
  out += function.noinline ? noinline : inlining + (inlining.empty() ? "" : " ");
  out += function.head + " {\n" + body;
}

void write_kernel(const Program& program, std::string& out) {
  const bool local_cells = mentions(program.body, "local_cells");
  const Launch& launch = program.launch;
  bool whole = true;
  for (unsigned d = 0; d < 3; ++d) whole = whole && launch.grid[d] % launch.block[d] == 0;
  if (whole && program.seed % 3 == 0) {
    out += "__attribute__((reqd_work_group_size(" + std::to_string(launch.block[0]) + ", " + std::to_string(launch.block[1]) +
           ", " + std::to_string(launch.block[2]) + ")))\n";
  }
  out += "kernel void " + program.name + "(global const uint *input, global uchar *output, global ulong *cells";
  for (const ScalarArgument& scalar : program.scalars) out += ", " + scalar.type.name() + " " + scalar.name;
  out += ") {\n";
  out += "  const int item = global_item(), lid = local_item(), group_items = items_of_group();\n";
  if (local_cells) {
    out += "  local ulong local_cells[" + std::to_string(kCells) + "];\n";
    out += "  for (int i = lid; i < " + std::to_string(kCells) + "; i += group_items) local_cells[i] = i * 0x0107030509ul;\n";
    out += "  barrier(CLK_LOCAL_MEM_FENCE);\n";
    out += "  global ulong *const group_output = (global ulong *)(output + " + std::to_string(program.group_output_offset()) +
           ") + group_number() * " + std::to_string(kCells) + ";\n";
  }
  out += "  output += item * " + std::to_string(program.item_bytes) + ";\n";
  write(program.body, 1, out);
  if (local_cells) {
    out += "  barrier(CLK_LOCAL_MEM_FENCE);\n";
    out += "  for (int i = lid; i < " + std::to_string(kCells) + "; i += group_items) group_output[i] = local_cells[i];\n";
  }
  out += "}\n";
}

void write_host_entry(const Program& program, std::string& out) {
  out += "#ifdef LACUNA_HOST\nvoid " + program.name + "_run(private void *private *arguments) {\n  " + program.name +
         "((global const uint *)(ulong)arguments[0], (global uchar *)(ulong)arguments[1], (global ulong *)(ulong)arguments[2]";
  unsigned number = 3;
  for (const ScalarArgument& scalar : program.scalars) {
    out += ", *(private " + scalar.type.name() + " *)arguments[" + std::to_string(number++) + "]";
  }
  out += ");\n}\n#endif\n";
}

}  // namespace

std::string source_of(std::span<const Program> programs) {
  std::string out = "#include \"random_program.h\"\n";
  for (const Program& program : programs) {
    out += "\n// seed " + std::to_string(program.seed) + "\n";
    write(program.globals, 0, out);
    for (const Function& function : program.functions) write_function(function, out);
    write_kernel(program, out);
    write_host_entry(program, out);
  }
  return out;
}

}  // namespace lacuna::programs

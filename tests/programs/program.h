// A random program: one OpenCL kernel with its helper functions, its launch and the contents of its buffers.
//
//  Expressions and statements are text with holes for parts: printing needs nothing else, and shrinking needs only the type of
//  a part. Every operator is defined for every value of its operands (guards are part of its text), so any part may be replaced
//  by another part of the same type without making the program undefined.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "opencl_type.h"

namespace lacuna::programs {

struct Expression {
  Type type;
  std::string text;  ///< `{0}`, `{1}`, ... stand for the operands
  std::vector<Expression> operands;
};

struct Statement {
  std::string text;  ///< `{0}` ... stand for expressions, `[0]` ... (alone on a line) for blocks
  std::vector<Expression> expressions;
  std::vector<std::vector<Statement>> blocks;
  bool jump = false;  ///< break or continue, which refers to the enclosing loop or switch
  bool loop = false;  ///< a loop or switch, to which an inner break or continue refers
};

using Block = std::vector<Statement>;

struct Function {
  std::string head;  ///< text of the function with its parameters, up to the brace
  Block body;
  Expression result;
  bool noinline = false;
};

/// A kernel argument that is passed by value.
struct ScalarArgument {
  Type type;
  std::string name;
  std::uint64_t bits = 0;
};

struct Launch {
  unsigned dimensions = 1;
  std::array<unsigned, 3> grid{1, 1, 1};   ///< number of work items
  std::array<unsigned, 3> block{1, 1, 1};  ///< work items per group; the last group of a row may be smaller
  [[nodiscard]] unsigned items() const { return grid[0] * grid[1] * grid[2]; }
  [[nodiscard]] unsigned group_items() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] unsigned groups() const;
};

inline constexpr unsigned kInputWords = 256;  ///< 32 bit words of the buffer that every program reads
inline constexpr unsigned kCellRows = 10;     ///< one row for each kind of atomic operation
inline constexpr unsigned kCellsPerRow = 4;
inline constexpr unsigned kCells = kCellRows * kCellsPerRow;  ///< 64-bit cells in global memory, and in each local memory

struct Program {
  std::uint64_t seed = 0;
  std::string name;
  Launch launch;
  std::vector<ScalarArgument> scalars;
  Block globals;  ///< structures and constant tables
  std::vector<Function> functions;
  Block body;
  unsigned item_bytes = 0;  ///< bytes of output of each work item
  std::vector<std::uint32_t> input;
  std::vector<std::uint64_t> cells;  ///< initial contents of the cells in global memory

  /// Size of the output: the items' values, then each group's cells of local memory.
  [[nodiscard]] std::uint64_t output_bytes() const {
    return group_output_offset() + std::uint64_t{launch.groups()} * kCells * 8;
  }
  [[nodiscard]] std::uint64_t group_output_offset() const { return (std::uint64_t{item_bytes} * launch.items() + 7) / 8 * 8; }
};

/// Initial contents of the output buffer, so that missing writes are detected.
inline constexpr std::uint8_t kUnwritten = 0xA5;

/// Number of functions, statements and expressions, which shrinking minimises.
[[nodiscard]] std::size_t size_of(const Program& program);

}  // namespace lacuna::programs

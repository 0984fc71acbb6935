#include "shrink.h"

#include <algorithm>

namespace lacuna::programs {
namespace {

void visit_blocks(Block& block, const auto& use) {
  use(block);
  for (Statement& statement : block) {
    for (Block& inner : statement.blocks) visit_blocks(inner, use);
  }
}

/// Every list of statements, outer lists first.
std::vector<Block*> blocks_of(Program& program) {
  std::vector<Block*> result;
  const auto collect = [&](Block& block) { result.push_back(&block); };
  visit_blocks(program.body, collect);
  for (Function& function : program.functions) visit_blocks(function.body, collect);
  visit_blocks(program.globals, collect);
  return result;
}

void visit_expressions(Expression& expression, const auto& use) {
  use(expression);
  for (Expression& operand : expression.operands) visit_expressions(operand, use);
}

/// Every expression, outer expressions before their operands.
std::vector<Expression*> expressions_of(Program& program) {
  std::vector<Expression*> result;
  const auto collect = [&](Expression& expression) { result.push_back(&expression); };
  for (Block* block : blocks_of(program)) {
    for (Statement& statement : *block) {
      for (Expression& expression : statement.expressions) visit_expressions(expression, collect);
    }
  }
  for (Function& function : program.functions) visit_expressions(function.result, collect);
  return result;
}

/// Whether a break or continue in the block refers to a loop or switch outside of it.
bool jumps_out(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Statement& statement) {
    return statement.jump || (!statement.loop && std::any_of(statement.blocks.begin(), statement.blocks.end(), jumps_out));
  });
}

Expression constant(Type type, const char* value) { return {type, "((" + type.name() + ")(" + value + "))", {}}; }

/// Some parts of an expression that have the type of the whole, each before the parts inside of it.
std::vector<Expression> parts_of(const Expression& expression) {
  constexpr std::size_t kMost = 6;
  std::vector<Expression> result;
  for (const Expression& operand : expression.operands) {
    if (operand.type == expression.type) result.push_back(operand);
    for (const Expression& inner : parts_of(Expression{expression.type, "", operand.operands})) result.push_back(inner);
    if (result.size() >= kMost) break;
  }
  return result;
}

class Shrinker {
 public:
  Shrinker(Program program, const Shows& shows, std::chrono::seconds limit)
      : program_(std::move(program)), shows_(shows), end_(std::chrono::steady_clock::now() + limit) {}

  Program run() {
    do {
      changed_ = false;
      remove_functions();
      remove_statements();
      open_blocks();
      simplify_expressions();
      remove_scalars();
      reduce_launch();
      clear_input();
    } while (changed_ && !out_of_time());
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool out_of_time() const { return std::chrono::steady_clock::now() > end_; }

  /// Keeps the candidate if it still shows the fault.
  bool attempt(Program candidate) {
    if (out_of_time() || !shows_(candidate)) return false;
    program_ = std::move(candidate);
    changed_ = true;
    return true;
  }

  void remove_functions() {
    for (std::size_t i = program_.functions.size(); i-- > 0;) {
      Program candidate = program_;
      candidate.functions.erase(candidate.functions.begin() + static_cast<std::ptrdiff_t>(i));
      attempt(std::move(candidate));
    }
  }

  /// Removes runs of statements: a whole block, halves, and so on down to single statements. Begins at the end of each block,
  /// since later statements use earlier statements.
  void remove_statements() {
    for (std::size_t b = 0; b < blocks_of(program_).size(); ++b) {
      for (std::size_t run = std::max<std::size_t>(blocks_of(program_)[b]->size(), 1); run > 0; run /= 2) {
        std::size_t end = blocks_of(program_)[b]->size();
        while (end > 0) {
          const std::size_t begin = end > run ? end - run : 0;
          Program candidate = program_;
          Block& block = *blocks_of(candidate)[b];
          block.erase(block.begin() + static_cast<std::ptrdiff_t>(begin), block.begin() + static_cast<std::ptrdiff_t>(end));
          attempt(std::move(candidate));
          end = begin;
          if (b >= blocks_of(program_).size()) return;
          end = std::min(end, blocks_of(program_)[b]->size());
        }
      }
    }
  }

  /// Replaces a branch or loop by its body.
  void open_blocks() {
    for (std::size_t b = 0; b < blocks_of(program_).size(); ++b) {
      for (std::size_t s = 0; b < blocks_of(program_).size() && s < blocks_of(program_)[b]->size(); ++s) {
        const std::size_t inner = (*blocks_of(program_)[b])[s].blocks.size();
        for (std::size_t i = 0; i < inner; ++i) {
          Program candidate = program_;
          Block& block = *blocks_of(candidate)[b];
          const Block inside = block[s].blocks[i];
          if (block[s].loop && jumps_out(inside)) continue;
          block.erase(block.begin() + static_cast<std::ptrdiff_t>(s));
          block.insert(block.begin() + static_cast<std::ptrdiff_t>(s), inside.begin(), inside.end());
          if (attempt(std::move(candidate))) break;
        }
      }
    }
  }

  void simplify_expressions() {
    for (std::size_t e = 0; e < expressions_of(program_).size(); ++e) {
      const Expression old = *expressions_of(program_)[e];
      const Expression zero = constant(old.type, "0");
      const Expression one = constant(old.type, "1");
      if (old.text == zero.text) continue;
      std::vector<Expression> candidates{zero};
      if (old.text != one.text) candidates.push_back(one);
      const std::vector<Expression> parts = parts_of(old);
      candidates.insert(candidates.end(), parts.begin(), parts.end());
      for (const Expression& simpler : candidates) {
        Program candidate = program_;
        *expressions_of(candidate)[e] = simpler;
        if (attempt(std::move(candidate))) break;
      }
    }
  }

  void remove_scalars() {
    for (std::size_t i = program_.scalars.size(); i-- > 0;) {
      Program candidate = program_;
      candidate.scalars.erase(candidate.scalars.begin() + static_cast<std::ptrdiff_t>(i));
      attempt(std::move(candidate));
    }
  }

  void reduce_launch() {
    const auto with = [&](const Launch& launch) {
      if (launch.grid == program_.launch.grid && launch.block == program_.launch.block) return false;
      Program candidate = program_;
      candidate.launch = launch;
      return attempt(std::move(candidate));
    };
    Launch one_group = program_.launch;
    one_group.grid = one_group.block;
    with(one_group);
    for (const unsigned items : {1U, 2U, 64U, 65U}) {
      if (items < program_.launch.group_items() && with({1, {items, 1, 1}, {items, 1, 1}})) return;
    }
    Launch half = program_.launch;
    for (unsigned d = 0; d < 3; ++d) {
      half.block[d] = (half.block[d] + 1) / 2;
      half.grid[d] = std::min(half.grid[d], half.block[d]);
    }
    with(half);
  }

  void clear_input() {
    for (std::size_t run = kInputWords; run >= 16; run /= 2) {
      for (std::size_t at = 0; at < kInputWords; at += run) {
        Program candidate = program_;
        const auto begin = candidate.input.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = begin + static_cast<std::ptrdiff_t>(run);
        if (std::all_of(begin, end, [](std::uint32_t word) { return word == 0; })) continue;
        std::fill(begin, end, 0U);
        attempt(std::move(candidate));
      }
    }
  }

  Program program_;
  const Shows& shows_;
  std::chrono::steady_clock::time_point end_;
  bool changed_ = false;
};

}  // namespace

Program shrink(Program program, const Shows& shows, std::chrono::seconds limit) {
  return Shrinker(std::move(program), shows, limit).run();
}

}  // namespace lacuna::programs

// Tests the generator and the reduction of programs, on the host only: generated programs are well defined, and a failing
// program is reduced.
#include <gtest/gtest.h>

#include "files.h"
#include "generator.h"
#include "matrix_tile.h"
#include "run.h"
#include "shrink.h"
#include "source.h"

namespace lacuna::programs {
namespace {

std::vector<Program> programs_from(std::uint64_t seed, unsigned count) {
  std::vector<Program> result;
  for (unsigned i = 0; i < count; ++i) result.push_back(generate_program(seed + i));
  return result;
}

TEST(Generator, ASeedDeterminesTheProgram) {
  const std::vector<Program> first = programs_from(7, 3);
  const std::vector<Program> second = programs_from(7, 3);
  EXPECT_EQ(source_of(first), source_of(second));
  EXPECT_EQ(first[1].input, second[1].input);
  EXPECT_NE(source_of({&first[0], 1}), source_of({&first[1], 1}));
}

TEST(Generator, ProgramsUseAllLanguageFeatures) {
  const std::string text = source_of(programs_from(1, 200));
  for (const char* word :
       {"barrier(", "atomic_add", "atom_max", "atomic_cmpxchg", "switch", "do {", "continue", "noinline", "struct ", "double16",
        "char3", "convert_float_rtz", "mad24", "upsample", "shuffle2", "local_cells", "vload3", "constant ", "return"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

TEST(Generator, MatrixTilesStandInWholeWavefronts) {
  std::string text;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Program program = generate_program(seed, true);
    EXPECT_EQ(program.launch.group_items() % kTileItems, 0U);
    for (unsigned d = 0; d < 3; ++d) EXPECT_EQ(program.launch.grid[d] % program.launch.block[d], 0U);
    text += source_of({&program, 1});
  }
  for (const MatrixTile& tile : matrix_tiles()) EXPECT_NE(text.find(tile.name), std::string::npos) << tile.name;
  EXPECT_EQ(source_of(programs_from(1, 100)).find("matrix_"), std::string::npos);
}

TEST(Generator, APartOfAWavefrontMakesNoTile) {
  const TemporaryFolder folder;
  Program program = generate_program(1, true);
  write_programs({&program, 1}, folder.path());
  EXPECT_NO_THROW(static_cast<void>(run_on_host({&program, 1}, folder.path())));
  program.launch = {1, {33, 1, 1}, {33, 1, 1}};
  EXPECT_THROW(static_cast<void>(run_on_host({&program, 1}, folder.path())), RunError);
}

// Results of undefined programs, or of programs that depend on excess precision or on the order of evaluation, may change with
// optimisation. Other undefined behaviour traps in the host's build, which runs every program of programs_test() in
// CMakeLists.txt.
TEST(Generator, ProgramsAreWellDefined) {
  const std::vector<Program> programs = programs_from(1000, 12);
  const TemporaryFolder folder;
  write_programs(programs, folder.path());
  const std::vector<Result> plain = run_on_host(programs, folder.path());
  const std::vector<Result> optimised = run_on_host(programs, folder.path(), {"-O3"});
  for (std::size_t i = 0; i < programs.size(); ++i) EXPECT_EQ(plain[i], optimised[i]) << "seed " << programs[i].seed;
}

TEST(Generator, ProgramsWriteWhatTheyCompute) {
  const std::vector<Program> programs = programs_from(1, 20);
  const TemporaryFolder folder;
  write_programs(programs, folder.path());
  const std::vector<Result> results = run_on_host(programs, folder.path());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto items = results[i].output.begin() + static_cast<std::ptrdiff_t>(programs[i].group_output_offset());
    const auto written = static_cast<std::size_t>(
        std::count_if(results[i].output.begin(), items, [](std::uint8_t byte) { return byte != kUnwritten; }));
    EXPECT_GT(written, programs[i].group_output_offset() / 4) << "seed " << programs[i].seed;
  }
}

// A fault in a built-in function of the host stands for a fault of the simulator.
TEST(Shrink, AWrongHaddIsFound) {
  const TemporaryFolder folder;
  const auto shows = [&](const Program& program) {
    try {
      write_programs({&program, 1}, folder.path());
      return run_on_host({&program, 1}, folder.path()) != run_on_host({&program, 1}, folder.path(), {"-DLACUNA_FAULT_HADD=1"});
    } catch (const std::exception&) {
      return false;
    }
  };
  std::optional<Program> failing;
  for (std::uint64_t seed = 1; !failing && seed < 200; ++seed) {
    Program program = generate_program(seed);
    if (source_of({&program, 1}).find("hadd(") != std::string::npos && size_of(program) > 150 && shows(program))
      failing = program;
  }
  ASSERT_TRUE(failing);
  const Program small = shrink(*failing, shows, std::chrono::hours(1));
  EXPECT_TRUE(shows(small));
  const std::string text = source_of({&small, 1});
  EXPECT_NE(text.find("hadd("), std::string::npos) << text;
  EXPECT_LE(size_of(small), 12U) << text;
  EXPECT_LE(small.launch.items(), failing->launch.items());
}

TEST(Shrink, RemovingALoopAlsoRemovesItsJumps) {
  Program program;
  program.name = "p";
  program.input.assign(kInputWords, 0);
  Statement jump{"if ({0}) break;", {{kInt, "1", {}}}, {}};
  jump.jump = true;
  Statement inner{"for (;;) {\n[0]\n}", {}, {{jump}}};
  inner.loop = true;
  program.body = {inner};
  // No candidate has a break outside of a loop.
  const auto shows = [](const Program& candidate) {
    for (const Statement& statement : candidate.body) EXPECT_FALSE(statement.jump);
    return !candidate.body.empty();
  };
  EXPECT_EQ(shrink(program, shows, std::chrono::hours(1)).body.size(), 1U);
}

}  // namespace
}  // namespace lacuna::programs

// Tests invalid programs: each error is reported with its code, and an error in an instruction with pass, instruction and
// address. Randomly changed programs do not crash.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>

#include "include/lacuna/sida_applications.h"
#include "models/sida/function/host_memory.h"
#include "models/sida/function/job.h"
#include "models/sida/matrix/generators.h"
#include "models/sida/matrix/layout.h"
#include "platform/sida/application_job.h"

namespace lacuna::sida::test {
namespace {

/// A program in memory, as written by the library.
struct Sample {
  HostMemory memory;
  std::vector<std::byte> image;
  SparseMatrix matrix;

  explicit Sample(const char* name = "pr", const char* kind = "power:rows=60,entries=300", bool blocked = false) {
    matrix = generated(kind);
    const lacuna_sida_application& application = *lacuna_sida_application_named(name);
    const lacuna_sida_setup setup = setup_of(matrix);
    const std::unique_ptr<lacuna_sida_graph, decltype(&lacuna_sida_destroy)> graph(application.build(&setup),
                                                                                   lacuna_sida_destroy);
    const std::unique_ptr<lacuna_sida_plan, decltype(&lacuna_sida_plan_destroy)> plan(
        lacuna_sida_compile(graph.get(), LACUNA_SIDA_FUSION_AUTO), lacuna_sida_plan_destroy);
    matrix.values.clear();
    const lacuna_sida_matrix stored =
        lay_out(matrix, {.element = static_cast<unsigned>(application.element), .blocked = blocked, .block_side = 8},
                [&](std::span<const std::byte> array) { return memory.put(array); });
    std::vector<std::uint64_t> addresses;
    for (unsigned v = 0; v < lacuna_sida_vectors(plan.get()); ++v) {
      const lacuna_sida_storage storage = lacuna_sida_storage_of(plan.get(), v);
      std::vector<std::byte> contents(storage.bytes);
      if (storage.value != LACUNA_SIDA_NO_VALUE) application.fill(&setup, storage.name, contents.data());
      addresses.push_back(memory.put(contents));
    }
    image.resize(lacuna_sida_program_bytes(plan.get()));
    lacuna_sida_write(plan.get(), &stored, addresses.data(), image.data());
  }

  lacuna_sida_program& header() { return *reinterpret_cast<lacuna_sida_program*>(image.data()); }
  template <class T>
  T& entry(std::uint64_t table, std::size_t number = 0) {
    return reinterpret_cast<T*>(image.data() + table)[number];
  }
  lacuna_sida_matrix& stored() { return entry<lacuna_sida_matrix>(lacuna_sida_tables_of(&header()).matrices); }
  lacuna_sida_vector& vector(std::size_t number) {
    return entry<lacuna_sida_vector>(lacuna_sida_tables_of(&header()).vectors, number);
  }
  lacuna_sida_instruction& instruction(std::size_t number) {
    return entry<lacuna_sida_instruction>(lacuna_sida_tables_of(&header()).instructions, number);
  }
  lacuna_sida_pass& pass(std::size_t number) {
    return entry<lacuna_sida_pass>(lacuna_sida_tables_of(&header()).passes, number);
  }

  /// Reads the program and runs at most 50 passes. Returns the error, or NONE.
  lacuna_sida_error run(WorkerThreads* threads = nullptr) {
    try {
      Job job(memory, memory.put(image), threads);
      for (int passes = 0; !job.is_done() && passes < 50; ++passes) job.run_pass();
    } catch (const ProgramError& error) {
      what = error.what();
      address = error.address;
      return error.code;
    }
    return LACUNA_SIDA_ERROR_NONE;
  }
  std::string what;
  std::uint64_t address = 0;
};

struct Mistake {
  const char* name;
  lacuna_sida_error code;
  std::function<void(Sample&)> make;
};

/// The first instruction of the program with that operation.
lacuna_sida_instruction& find(Sample& sample, unsigned operation) {
  for (std::uint32_t i = 0; i < sample.header().instructions; ++i) {
    if (sample.instruction(i).operation == operation) return sample.instruction(i);
  }
  throw std::logic_error("no such instruction");
}

TEST(SidaProgram, ValidSampleRuns) {
  EXPECT_EQ(Sample().run(), LACUNA_SIDA_ERROR_NONE);
  EXPECT_EQ(Sample("bfs").run(), LACUNA_SIDA_ERROR_NONE);
  EXPECT_EQ(Sample("gcn", "power:rows=60,entries=300", true).run(), LACUNA_SIDA_ERROR_NONE);
}

// If two coordinates are invalid, several threads report the same error as a single thread: the first.
TEST(SidaProgram, ThreadsReportTheSameError) {
  WorkerThreads three(3);
  for (const std::uint64_t second : {20'000, 45'000, 59'000}) {
    Sample sample("pr", "power:rows=3000,entries=60000");
    const std::uint64_t coordinates = sample.stored().by_columns.coordinates;
    for (const std::uint64_t entry : {std::uint64_t{15'000}, second}) {
      const std::uint32_t wrong = 3000;
      sample.memory.write(coordinates + entry * sizeof wrong, std::as_bytes(std::span(&wrong, 1)));
    }
    EXPECT_EQ(sample.run(), LACUNA_SIDA_ERROR_COORDINATE);
    const std::string what = sample.what;
    EXPECT_EQ(sample.run(&three), LACUNA_SIDA_ERROR_COORDINATE);
    EXPECT_EQ(sample.what, what);
  }
}

TEST(SidaProgram, ErrorsHaveTheirCodes) {
  const std::vector<Mistake> mistakes{
      {"magic", LACUNA_SIDA_ERROR_MAGIC, [](Sample& s) { s.header().magic ^= 1; }},
      {"version", LACUNA_SIDA_ERROR_MAGIC, [](Sample& s) { s.header().version = 2; }},
      {"bytes", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.header().bytes += 16; }},
      {"too many vectors", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.header().vectors = 257; }},
      {"no limit", LACUNA_SIDA_ERROR_LOOP, [](Sample& s) { s.header().limit = 0; }},
      {"layout", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.stored().layout = 2; }},
      {"offset bytes", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.stored().offset_bytes = 3; }},
      {"block side of a dual matrix", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.stored().block_side = 8; }},
      {"element of a matrix", LACUNA_SIDA_ERROR_ELEMENT, [](Sample& s) { s.stored().element = 9; }},
      {"element of another matrix", LACUNA_SIDA_ERROR_ELEMENT, [](Sample& s) { s.stored().element = LACUNA_SIDA_I32; }},
      {"element of a vector", LACUNA_SIDA_ERROR_ELEMENT, [](Sample& s) { s.vector(0).element = 6; }},
      {"features", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.vector(0).width = 0; }},
      {"length of a vector", LACUNA_SIDA_ERROR_SHAPE, [](Sample& s) { --s.vector(0).length; }},
      {"unmapped vector", LACUNA_SIDA_ERROR_ADDRESS, [](Sample& s) { s.vector(0).address = 16; }},
      {"unmapped coordinates", LACUNA_SIDA_ERROR_ADDRESS, [](Sample& s) { s.stored().by_columns.coordinates = 16; }},
      {"overlapping vectors", LACUNA_SIDA_ERROR_OVERLAP, [](Sample& s) { s.vector(3).address = s.vector(2).address; }},
      {"semiring", LACUNA_SIDA_ERROR_SEMIRING, [](Sample& s) { s.pass(0).os_semiring = 10; }},
      {"semiring of integers of 8 bits", LACUNA_SIDA_ERROR_ELEMENT,
       [](Sample& s) {
         s.pass(0).element = LACUNA_SIDA_I8;
         s.stored().has_values = 0;
       }},
      {"operation", LACUNA_SIDA_ERROR_INSTRUCTION, [](Sample& s) { s.instruction(0).operation = 200; }},
      {"type", LACUNA_SIDA_ERROR_ELEMENT, [](Sample& s) { s.instruction(0).type = LACUNA_SIDA_I32; }},
      {"register without a value", LACUNA_SIDA_ERROR_OPERAND,
       [](Sample& s) { find(s, LACUNA_SIDA_OPERATION_MULTIPLY).a = 40; }},
      {"register that does not exist", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { s.instruction(0).d = 64; }},
      {"scalar that does not exist", LACUNA_SIDA_ERROR_OPERAND,
       [](Sample& s) { find(s, LACUNA_SIDA_OPERATION_MULTIPLY).a = LACUNA_SIDA_SCALAR | 1000; }},
      {"vector that does not exist", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { find(s, LACUNA_SIDA_OPERATION_LOAD).a = 200; }},
      {"monoid", LACUNA_SIDA_ERROR_SEMIRING, [](Sample& s) { find(s, LACUNA_SIDA_OPERATION_REDUCE).b = 9; }},
      {"scan in a pass with products", LACUNA_SIDA_ERROR_INSTRUCTION,
       [](Sample& s) { find(s, LACUNA_SIDA_OPERATION_MULTIPLY).operation = LACUNA_SIDA_OPERATION_SCAN; }},
      {"code beyond the program", LACUNA_SIDA_ERROR_SIZE, [](Sample& s) { s.pass(0).ewise.count = 10000; }},
      {"matrix that does not exist", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { s.pass(0).matrix = 1; }},
      {"second product without a first", LACUNA_SIDA_ERROR_SHAPE, [](Sample& s) { s.pass(0).flags &= ~LACUNA_SIDA_PASS_OS; }},
      {"flags", LACUNA_SIDA_ERROR_INSTRUCTION, [](Sample& s) { s.pass(0).flags |= 1024; }},
      {"x without a value", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { s.pass(0).x = 50; }},
      {"successor", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { s.pass(0).next = 77; }},
      {"exit with a product", LACUNA_SIDA_ERROR_LOOP, [](Sample& s) { s.pass(0).ewise_exit = 0; }},
      {"loop that never counts", LACUNA_SIDA_ERROR_LOOP,
       [](Sample& s) { s.pass(1).flags &= ~(LACUNA_SIDA_PASS_EWISE_COUNTS | LACUNA_SIDA_PASS_FINISH_COUNTS); }},
      {"condition", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { s.pass(0).ewise_condition = 1000; }},
      {"swap", LACUNA_SIDA_ERROR_OPERAND, [](Sample& s) { s.pass(1).first_swap = 40; }},
      {"load from what ewise stores", LACUNA_SIDA_ERROR_ALIAS,
       [](Sample& s) { find(s, LACUNA_SIDA_OPERATION_STORE).d = find(s, LACUNA_SIDA_OPERATION_LOAD).a; }},
  };
  for (const Mistake& mistake : mistakes) {
    Sample sample;
    mistake.make(sample);
    EXPECT_EQ(sample.run(), mistake.code) << mistake.name << ": " << sample.what;
    EXPECT_FALSE(sample.what.empty()) << mistake.name;
  }
}

TEST(SidaProgram, NamesPassInstructionAndAddress) {
  Sample sample;
  const std::uint64_t instructions = lacuna_sida_tables_of(&sample.header()).instructions;
  lacuna_sida_instruction& wrong = find(sample, LACUNA_SIDA_OPERATION_MULTIPLY);
  wrong.a = 40;
  const auto offset = reinterpret_cast<const std::byte*>(&wrong) - (sample.image.data() + instructions);
  EXPECT_EQ(sample.run(), LACUNA_SIDA_ERROR_OPERAND);
  EXPECT_NE(sample.what.find("pass 0: load, instruction"), std::string::npos) << sample.what;
  EXPECT_NE(sample.what.find("MULTIPLY: register 40 has no value"), std::string::npos) << sample.what;
  EXPECT_EQ(sample.address % 4096, (instructions + static_cast<std::uint64_t>(offset)) % 4096);
}

TEST(SidaProgram, MatricesAreCheckedAsTheyAreRead) {
  const auto change = [](auto&& make, lacuna_sida_error code) {
    Sample sample;
    make(sample);
    EXPECT_EQ(sample.run(), code) << sample.what;
  };
  const auto set = [](Sample& sample, std::uint64_t address, std::uint32_t value) {
    sample.memory.write(address, std::as_bytes(std::span(&value, 1)));
  };
  change([&](Sample& s) { set(s, s.stored().by_columns.coordinates, 60); }, LACUNA_SIDA_ERROR_COORDINATE);
  change([&](Sample& s) { set(s, s.stored().by_columns.offsets, 1); }, LACUNA_SIDA_ERROR_OFFSETS);
  change([&](Sample& s) { set(s, s.stored().by_columns.offsets + 40, 100000); }, LACUNA_SIDA_ERROR_OFFSETS);
  change([&](Sample& s) { set(s, s.stored().by_columns.offsets + 240, 1); }, LACUNA_SIDA_ERROR_OFFSETS);
}

TEST(SidaProgram, ChangedAtRandomNeverCrashes) {
  constexpr unsigned kPrograms = 3'000;
  const char* const more = std::getenv("LACUNA_SIDA_PROGRAMS");
  const unsigned programs = more ? static_cast<unsigned>(std::strtoul(more, nullptr, 10)) : kPrograms;
  std::mt19937_64 random(5);
  constexpr const char* kNames[]{"pr", "kcore", "bfs", "kpp", "gcn", "cg"};
  unsigned refused = 0;
  for (unsigned i = 0; i < programs; ++i) {
    Sample sample(kNames[i % 6], "power:rows=24,entries=90", i % 5 == 0);
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      // A changed iteration limit is detected only if it is 0; run() stops after 50 passes.
      const std::size_t at = random() % sample.image.size();
      sample.image[at] = random() % 2 ? std::byte(random()) : sample.image[at] ^ std::byte(1U << random() % 8);
    }
    refused += sample.run() != LACUNA_SIDA_ERROR_NONE ? 1 : 0;
  }
  EXPECT_GT(refused, programs / 4);
}

}  // namespace
}  // namespace lacuna::sida::test

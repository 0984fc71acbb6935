// Checks the chains in all code objects that the build makes for workloads, tests and firmware: the invariants of every chain,
// and the expected chains of the paper's programs. LACUNA_LIST_CHAINS=mvt lists chains and refused loads of files whose names
// begin with "mvt"; an empty value lists those of all files.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/isa/analysis/control_flow.h"
#include "models/neardata/finalizer.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

// Object files are excluded, because the linked programs contain the same code objects.
std::vector<fs::path> code_files() {
  std::vector<fs::path> files;
  for (const char* folder : {"workloads", "tests", "firmware"}) {
    const fs::path root = fs::path(LACUNA_BUILD) / folder;
    if (!fs::exists(root)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      const fs::path& path = entry.path();
      if (!entry.is_regular_file() || path.extension() == ".o" || path.extension() == ".a") continue;
      if (holds_code_objects(path)) files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Programs for the hart are ELF files without code objects.
std::vector<CodeObject> code_objects(const fs::path& file) {
  try {
    return read_code_objects(file);
  } catch (const ElfError&) {
    return {};
  }
}

using Counts = std::map<std::string, unsigned>;

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += (text.empty() ? "" : ", ") + name + ": " + std::to_string(count);
  return text.empty() ? "none" : text;
}

std::string name_of(const Chain& chain) {
  return chain.pattern != 0 ? std::to_string(chain.pattern) : "0 (" + chain_name(chain) + ")";
}

void list(const std::string& place, const FinalizedKernel& kernel) {
  std::cout << std::hex;
  for (const Chain& chain : kernel.chains) {
    std::cout << place << " pattern " << name_of(chain) << ':';
    for (const ChainInstruction& part : chain.instructions) std::cout << ' ' << part.address;
    std::cout << '\n';
  }
  for (const RefusedLoad& load : kernel.refusals)
    std::cout << place << ' ' << load.address << ' ' << refusal_name(load.reason) << ' ' << load.because << '\n';
  std::cout << std::dec;
}

// A chain lies in one basic block, begins with a load and ends with its store or, without a store, with an operation. Its tags
// correspond to positions, and its roles to the chain's counts.
void check_chain(const Chain& chain, const isa::ControlFlow& flow) {
  ASSERT_GE(chain.instructions.size(), 2u);
  std::map<ChainRole, unsigned> roles;
  std::set<std::uint32_t> blocks;
  const std::vector<isa::PlacedInstruction>& code = flow.instructions();
  for (std::size_t i = 0; i < chain.instructions.size(); ++i) {
    const ChainInstruction& part = chain.instructions[i];
    const bool is_last = i + 1 == chain.instructions.size();
    EXPECT_EQ(part.tag, i == 0 ? ChainTag::first : is_last ? ChainTag::last : ChainTag::middle);
    if (i > 0) {
      EXPECT_GT(part.address, chain.instructions[i - 1].address);
    }
    ++roles[part.role];
    const auto placed =
        std::lower_bound(code.begin(), code.end(), part.address,
                         [](const isa::PlacedInstruction& p, std::uint64_t address) { return p.address < address; });
    ASSERT_TRUE(placed != code.end() && placed->address == part.address);
    blocks.insert(placed->block);
  }
  EXPECT_EQ(blocks.size(), 1u);
  EXPECT_EQ(roles[ChainRole::load_a], 1u);
  EXPECT_EQ(roles[ChainRole::load_b], chain.second_load ? 1u : 0u);
  EXPECT_EQ(roles[ChainRole::operation], chain.operations);
  EXPECT_EQ(roles[ChainRole::store], chain.stores ? 1u : 0u);
  EXPECT_LE(chain.operations, 2);
  EXPECT_LE(chain.pattern, 9);
  const ChainRole first = chain.instructions.front().role;
  const ChainRole last = chain.instructions.back().role;
  EXPECT_TRUE(first == ChainRole::load_a || first == ChainRole::load_b);
  EXPECT_EQ(last, chain.stores ? ChainRole::store : ChainRole::operation);
}

// Each vector load is in one chain or refused; no instruction is in two chains.
void check_kernel(const FinalizedKernel& kernel, const isa::ControlFlow& flow) {
  EXPECT_EQ(kernel.unknown, flow.unknown());
  std::set<std::uint64_t> tagged;
  std::set<std::uint64_t> loads;
  for (const Chain& chain : kernel.chains) {
    check_chain(chain, flow);
    for (const ChainInstruction& part : chain.instructions) {
      EXPECT_TRUE(tagged.insert(part.address).second) << std::hex << part.address;
      if (part.role == ChainRole::load_a || part.role == ChainRole::load_b) loads.insert(part.address);
    }
  }
  for (const RefusedLoad& load : kernel.refusals) EXPECT_TRUE(loads.insert(load.address).second) << std::hex << load.address;
  EXPECT_EQ(loads.size(), kernel.loads);
}

TEST(ChainInventory, AllCodeObjects) {
  const char* const listed = std::getenv("LACUNA_LIST_CHAINS");
  std::map<std::string, Counts> chains;
  std::map<std::string, Counts> refusals;
  Counts unknown;
  for (const fs::path& file : code_files()) {
    const bool is_workload = file.parent_path().filename() == "workloads";
    for (const CodeObject& object : code_objects(file)) {
      const isa::FetchWords fetch = code_words(object.elf());
      const std::string target(isa::traits(object.target()).name);
      const std::string place = (is_workload ? file.filename().string() : "others") + ' ' + target;
      for (const KernelEntry& entry : object.entries()) {
        SCOPED_TRACE(object.name() + ' ' + entry.name);
        const FinalizedKernel kernel = finalize_kernel(fetch, object.target(), entry.entry, {.move = false});
        check_kernel(kernel, isa::ControlFlow(fetch, object.target(), entry.entry));
        if (!kernel.unknown.empty()) ++unknown[kernel.unknown.substr(0, kernel.unknown.find(' '))];
        for (const Chain& chain : kernel.chains) ++chains[place][name_of(chain)];
        for (const RefusedLoad& load : kernel.refusals) ++refusals[place][std::string(refusal_name(load.reason))];
        if (listed != nullptr && file.filename().string().starts_with(listed))
          list(file.filename().string() + ' ' + target + ' ' + entry.name, kernel);
      }
    }
  }
  std::cout << "kernels of unknown control flow: " << text_of(unknown) << '\n';
  for (const auto& [place, counts] : refusals)
    std::cout << place << ": chains " << text_of(chains[place]) << "; refused " << text_of(counts) << '\n';

  // Number of chains by pattern in Table 3 of the paper, for the programs that have been built.
  const std::map<std::string, Counts> expected{{"compare", {{"5", 8}}},        {"copy_aligned", {{"3", 1}}},
                                               {"copy_strided", {{"3", 1}}},   {"density", {{"6", 8}}},
                                               {"vecadd_aligned", {{"1", 1}}}, {"vecadd_strided", {{"1", 1}}},
                                               {"norm", {{"7", 1}}},           {"scp", {{"2", 5}}},
                                               {"triad", {{"9", 1}}},          {"red", {{"1", 1}, {"2", 1}, {"4", 1}}}};
  for (const auto& [program, counts] : expected) {
    if (!fs::exists(fs::path(LACUNA_BUILD) / "workloads" / program)) continue;
    EXPECT_EQ(chains[program + " gfx803"], counts) << program;
  }
}

/// A kernel that a workload runs with --form suite, and the kernel's expected chains.
struct SuiteKernel {
  const char* program;
  const char* name;
  Counts chains;         ///< expected number of chains by pattern
  bool in_loop = false;  ///< whether all chains of the kernel are in loops
};

const std::vector<SuiteKernel>& suite_kernels() {
  static const std::vector<SuiteKernel> kernels{
      {"bfs", "bfs_visit", {{"2", 1}, {"6", 2}, {"7", 1}}},
      {"bfs", "bfs_update", {{"6", 1}}},
      {"fdtd_2d", "fdtd_step1", {{"2", 1}}},
      {"fdtd_2d", "fdtd_step2", {{"2", 1}}},
      {"fdtd_2d", "fdtd_step3", {{"2", 2}}},
      {"kmeans", "kmeans_point", {{"2", 1}}, true},
      {"kmeans", "kmeans_sums", {{"4", 1}}, true},
      {"mvt", "mvt_rows", {{"2", 1}}, true},
      {"mvt", "mvt_columns", {{"2", 1}}, true},
      {"red", "reduce", {{"2", 1}}, true},
      {"red", "reduce_level", {{"1", 1}}},
      {"srad", "srad_prepare", {{"1", 1}, {"3", 1}}},
      {"srad", "srad_first", {{"2", 4}}},
      {"srad", "srad_second", {{"2", 4}}},
      {"streamcluster", "pgain", {{"2", 1}}, true},
  };
  return kernels;
}

/// Whether control may return to the chain's block.
bool in_loop(const Chain& chain, const isa::ControlFlow& flow) {
  const std::vector<isa::PlacedInstruction>& code = flow.instructions();
  const auto first = std::find_if(code.begin(), code.end(), [&](const isa::PlacedInstruction& placed) {
    return placed.address == chain.instructions.front().address;
  });
  std::set<std::uint32_t> reached;
  std::vector<std::uint32_t> open{first->block};
  while (!open.empty()) {
    const isa::BasicBlock& block = flow.blocks()[open.back()];
    open.pop_back();
    for (unsigned i = 0; i < block.next_count; ++i)
      if (reached.insert(block.next.at(i)).second) open.push_back(block.next.at(i));
  }
  return reached.contains(first->block);
}

TEST(ChainInventory, KernelsInTheFormOfTheirSuites) {
  for (const SuiteKernel& kernel : suite_kernels()) {
    const fs::path file = fs::path(LACUNA_BUILD) / "workloads" / kernel.program;
    if (!fs::exists(file)) continue;
    unsigned found = 0;
    for (const CodeObject& object : code_objects(file)) {
      const isa::FetchWords fetch = code_words(object.elf());
      for (const KernelEntry& entry : object.entries()) {
        if (entry.name != kernel.name) continue;
        SCOPED_TRACE(std::string(kernel.name) + ' ' + std::string(isa::traits(object.target()).name));
        ++found;
        const FinalizedKernel finalized = finalize_kernel(fetch, object.target(), entry.entry, {.move = false});
        const isa::ControlFlow flow(fetch, object.target(), entry.entry);
        Counts counts;
        for (const Chain& chain : finalized.chains) {
          ++counts[name_of(chain)];
          EXPECT_TRUE(!kernel.in_loop || in_loop(chain, flow));
        }
        EXPECT_EQ(counts, kernel.chains);
      }
    }
    EXPECT_EQ(found, 2U) << kernel.program << ' ' << kernel.name << ": gfx803 and gfx90a";
  }
}

// -- patterns of Table 3 that the programs do not have

/// A kernel of firmware/kernels/table3_programs.cl.
struct Statement {
  const char* kernel;
  const char* missing;  ///< pattern that Table 3 names for the program, and that the statement does not have
  std::set<ChainRefusal> reasons;
};

const std::vector<Statement>& statements() {
  using enum ChainRefusal;
  static const std::vector<Statement> all{
      // The stored value depends on three or five loads, and a chain has two: a difference returns to the core, which stores.
      {"fdtd_electric", "1", {nothing_saved}},
      {"fdtd_magnetic", "1", {nothing_saved, operation}},
      // Likewise three loads: the product returns to the core, which adds and stores.
      {"mvt_in_memory", "1", {nothing_saved, fused, wait}},
      // Pattern 8 combines two loads with a value that is the same in all lanes. A distance has such a value, the candidate's
      // coordinate, but only one other load; sums of costs have no such value.
      {"stream_distance", "8", {nothing_saved}},
      {"stream_gain", "8", {nothing_saved, fused, wait}},
      {"stream_saving", "8", {nothing_saved, fused, wait, operation}},
      // One load and a store, but exponentials and logarithms are no operations of a packet.
      {"srad_extract", "7", {nothing_saved, reused}},
      {"srad_compress", "7", {operation, reused}},
  };
  return all;
}

TEST(ChainInventory, StatementsOfTheApplicationsLackPatternsOfTable3) {
  for (const char* const target : {"gfx803", "gfx90a"}) {
    for (const char* const rounding : {"", "fast_"}) {
      const fs::path file =
          fs::path(LACUNA_BUILD) / "firmware/kernels" / (std::string("table3_programs_") + rounding + target + ".co");
      const std::vector<CodeObject> objects = code_objects(file);
      ASSERT_EQ(objects.size(), 1U) << file;
      const isa::FetchWords fetch = code_words(objects[0].elf());
      EXPECT_EQ(objects[0].entries().size(), statements().size());
      for (const KernelEntry& entry : objects[0].entries()) {
        SCOPED_TRACE(file.filename().string() + ' ' + entry.name);
        const auto found = std::find_if(statements().begin(), statements().end(),
                                        [&](const Statement& statement) { return entry.name == statement.kernel; });
        ASSERT_NE(found, statements().end());
        const FinalizedKernel kernel = finalize_kernel(fetch, objects[0].target(), entry.entry, {.move = false});
        for (const Chain& chain : kernel.chains) {
          EXPECT_NE(name_of(chain), found->missing);
          EXPECT_EQ(chain.pattern, 2);
        }
        for (const RefusedLoad& load : kernel.refusals)
          EXPECT_TRUE(found->reasons.contains(load.reason)) << std::hex << load.address << ' ' << refusal_name(load.reason);
      }
    }
  }
}

}  // namespace
}  // namespace lacuna

// Chains in all code objects that the build makes for tests and workloads: what is found, and what must hold of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/isa/decode/decoder.h"
#include "models/neardata/finalizer.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

// Object files, which hold code objects, too, are left out: their programs hold the same ones.
std::vector<fs::path> code_files() {
  std::vector<fs::path> files;
  for (const char* folder : {"workloads", "tests", "firmware", "experiments"}) {
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

// Programs for the hart are ELF files, too.
std::vector<CodeObject> code_objects(const fs::path& file) {
  try {
    return read_code_objects(file);
  } catch (const ElfError&) {
    return {};
  }
}

struct Counts {
  std::map<std::string, unsigned> chains;
  std::map<std::string, unsigned> refusals;
  std::uint64_t loads = 0;
};

std::string text_of(const std::map<std::string, unsigned>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  return text;
}

}  // namespace

TEST(ChainInventory, AllCodeObjects) {
  const bool list = std::getenv("LACUNA_LIST_CHAINS") != nullptr;
  std::map<std::string, Counts> all;
  unsigned kernels = 0;
  unsigned unknown = 0;
  std::map<std::string, unsigned> unknowns;
  for (const fs::path& file : code_files()) {
    for (const CodeObject& object : code_objects(file)) {
      const isa::FetchWords fetch = code_words(object.elf());
      for (const KernelEntry& entry : object.entries()) {
        FinalizerOptions options;
        options.move = false;
        const FinalizedKernel kernel = finalize_kernel(fetch, object.target(), entry.entry, options);
        ++kernels;
        if (!kernel.unknown.empty()) {
          ++unknown;
          ++unknowns[kernel.unknown.substr(0, kernel.unknown.find(" at"))];
        }
        const std::string place = file.parent_path().filename().string() == "workloads"
                                      ? file.filename().string() + " " + std::string(isa::traits(object.target()).name)
                                      : "tests " + std::string(isa::traits(object.target()).name);
        Counts& counts = all[place];
        counts.loads += kernel.loads;
        for (const Chain& chain : kernel.chains)
          ++counts.chains[std::to_string(chain.pattern) + (chain.pattern == 0 ? " (" + chain_name(chain) + ")" : "")];
        for (const RefusedLoad& load : kernel.refusals) ++counts.refusals[std::string(refusal_name(load.reason))];
        if (list && place.starts_with(list ? std::getenv("LACUNA_LIST_CHAINS") : "")) {
          for (const Chain& chain : kernel.chains) {
            std::cout << place << ' ' << entry.name << " pattern " << unsigned{chain.pattern} << std::hex;
            for (const ChainInstruction& i : chain.instructions)
              std::cout << " " << i.address << '/' << unsigned(i.tag) << '/' << unsigned(i.role);
            std::cout << std::dec << " foreign " << foreign_instructions(chain, fetch, object.target()) << '\n';
          }
          for (const RefusedLoad& load : kernel.refusals)
            std::cout << place << ' ' << entry.name << std::hex << " refused " << load.address << " "
                      << refusal_name(load.reason) << " " << load.because << std::dec << '\n';
        }
      }
    }
  }
  std::cout << kernels << " kernels, " << unknown << " unknown: " << text_of(unknowns) << "\n";
  for (const auto& [place, counts] : all)
    std::cout << place << ": " << counts.loads << " loads; chains: " << text_of(counts.chains)
              << "; refused: " << text_of(counts.refusals) << '\n';
}

}  // namespace lacuna

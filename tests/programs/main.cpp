// lacuna_programs: compares results of random OpenCL C programs on the host and on the simulated GPU.
#include <boost/program_options.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "campaign.h"
#include "generator.h"
#include "source.h"

namespace {

namespace po = boost::program_options;
using namespace lacuna::programs;

constexpr int kExitFailures = 1;
constexpr int kExitUsage = 2;

std::vector<std::string> list(const std::string& text) {
  std::vector<std::string> result(1);
  for (const char c : text) {
    if (c == ',') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

unsigned number(const std::string& text, unsigned first, unsigned last) {
  if (text.size() == 1 && text[0] >= '0' + static_cast<int>(first) && text[0] <= '0' + static_cast<int>(last))
    return static_cast<unsigned>(text[0] - '0');
  throw po::error("'" + text + "': a number from " + std::to_string(first) + " to " + std::to_string(last) + " is wanted");
}

int run(int argc, char** argv) {
  CampaignOptions options;
  std::string targets, levels, versions, modes, lacuna;
  std::vector<std::string> simulator_options;
  bool finalize = false;
  long shrink_seconds = 0;
  po::options_description described(
      "lacuna_programs: random OpenCL C programs are compiled for the GPU's targets and for the host; what they compute must\n"
      "be equal byte for byte. A program that fails is made small and kept with its launch file. Exit code 1 when one "
      "failed.\n\nOptions");
  described.add_options()("help", "print this")                                                          //
      ("seed", po::value(&options.seed)->default_value(1), "of the first program; a seed is a program")  //
      ("count", po::value(&options.count)->default_value(100), "of programs")                            //
      ("batch", po::value(&options.batch)->default_value(20), "programs in one code object")             //
      ("targets", po::value(&targets)->default_value("gfx803,gfx90a"), "list")                           //
      ("matrix", po::bool_switch(&options.matrix),
       "programs with tiles of the matrix unit's extensions, for gfx90a; the simulator gets mfma.extensions=all")  //
      ("opt", po::value(&levels)->default_value("0,1,3"), "list of optimisation levels")                           //
      ("code-object-version", po::value(&versions)->default_value("4"), "list, 2 to 5; gfx90a has none below 3")   //
      ("lazy-modes", po::value(&modes)->default_value(""),
       "list of lazy.mode, each with gpu.timing=loose and lazy.check=true; empty: as the simulator's options say")           //
      ("lacuna", po::value(&lacuna)->default_value("lacuna"), "the simulator")                                               //
      ("simulator-option", po::value(&simulator_options), "given to it, such as --simulator-option=--set=gpu.timing=loose")  //
      ("finalize", po::bool_switch(&finalize), "run code in which lacuna finalize has moved address arithmetic")             //
      ("built", po::value(&options.built),
       "folder of what --build has made; without it, programs are built when they are run")          //
      ("build", "compile the programs into the folder --built, and run nothing on the simulator")    //
      ("keep", po::value(&options.keep)->default_value("failed_programs"), "folder for what fails")  //
      ("shrink-seconds", po::value(&shrink_seconds)->default_value(300),
       "for making one failing program small; 0: leave it as it is")  //
      ("print", "print the programs' source and run nothing");
  po::variables_map values;
  po::store(po::parse_command_line(argc, argv, described), values);
  if (values.count("help") != 0) {
    std::cout << described;
    return 0;
  }
  po::notify(values);
  if (options.batch == 0) throw po::error("--batch: at least 1");
  if (values.count("print") != 0) {
    for (std::uint64_t i = 0; i < options.count; ++i) {
      const Program program = generate_program(options.seed + i, options.matrix);
      std::cout << source_of({&program, 1});
    }
    return 0;
  }
  for (const std::string& target : list(targets)) {
    if (options.matrix && target != "gfx90a") throw po::error("--matrix needs --targets gfx90a");
    if (target != "gfx803" && target != "gfx90a") throw po::error("'" + target + "': gfx803 or gfx90a is wanted");
    for (const std::string& level : list(levels)) {
      for (const std::string& version : list(versions)) {
        for (const std::string& mode : list(modes)) {
          const Variant variant{target, number(level, 0, 3), number(version, 2, 5), mode};
          if (variant.code_object_version > 2 || target == "gfx803") options.variants.push_back(variant);
        }
      }
    }
  }
  if (values.count("build") != 0) {
    if (options.built.empty()) throw po::error("--build needs --built");
    build_programs(options);
    return 0;
  }
  options.built = options.built.empty() ? options.built : std::filesystem::absolute(options.built);
  if (options.matrix) simulator_options.emplace_back("--set=mfma.extensions=all");
  options.simulator = {
      std::filesystem::path(lacuna).has_parent_path() ? std::filesystem::absolute(lacuna) : std::filesystem::path(lacuna),
      simulator_options, finalize};
  options.keep = std::filesystem::absolute(options.keep);
  options.shrink_limit = std::chrono::seconds(shrink_seconds);
  const std::uint64_t failed = run_campaign(options, std::cout);
  std::cout << options.count << " programs, " << options.variants.size() << " variants each: " << failed << " failed\n";
  return failed == 0 ? 0 : kExitFailures;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const po::error& e) {
    std::cerr << "lacuna_programs: " << e.what() << "; --help lists the options\n";
  } catch (const std::exception& e) {
    std::cerr << "lacuna_programs: " << e.what() << '\n';
  }
  return kExitUsage;
}

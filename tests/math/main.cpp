// lacuna_math: measures the errors of the device library's functions relative to MPFR, in units in the last place.
#include <boost/program_options.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "math_check.h"

namespace {

namespace po = boost::program_options;
using namespace lacuna::math;

constexpr int kExitBeyond = 1;
constexpr int kExitUsage = 2;

/// Prints a table of all findings. Returns the number of findings with errors beyond the bound.
unsigned report(const std::vector<Finding>& findings, const lacuna::programs::Variant& variant) {
  std::printf("%s -O%u\n%-12s %-6s %8s %12s  %s\n", variant.target.c_str(), variant.level, "function", "type", "bound",
              "largest", "there");
  unsigned failed = 0;
  for (const Finding& finding : findings) {
    const std::string bound = finding.bound == kCorrectlyRounded ? "exact" : std::to_string(finding.bound).substr(0, 6);
    std::printf("%-12s %-6s %8s %12.4f  %s\n", finding.function->name, finding.is_double ? "double" : "float", bound.c_str(),
                finding.worst, finding.worst_at.c_str());
    if (finding.beyond == 0) continue;
    ++failed;
    std::printf("FAILED: %u of %u results of %s are beyond the bound\n", finding.beyond, finding.samples,
                finding.function->name);
  }
  return failed;
}

int run(int argc, char** argv) {
  std::string target, lacuna, only;
  unsigned level = 3;
  unsigned samples = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> simulator_options;
  po::options_description described(
      "lacuna_math: runs every math function of the device library on the simulated GPU and compares with MPFR; the bounds "
      "are\n"
      "those of OpenCL's full profile. Exit code 1 when a result is beyond its bound.\n\nOptions");
  described.add_options()("help", "print this")                                           //
      ("target", po::value(&target)->default_value("gfx803"), "gfx803 or gfx90a")         //
      ("opt", po::value(&level)->default_value(3), "optimisation level")                  //
      ("samples", po::value(&samples)->default_value(2048), "of each function and type")  //
      ("seed", po::value(&seed)->default_value(1), "of the samples")                      //
      ("only", po::value(&only), "one function")                                          //
      ("lacuna", po::value(&lacuna)->default_value("lacuna"), "the simulator")            //
      ("simulator-option", po::value(&simulator_options), "given to it");
  po::variables_map values;
  po::store(po::parse_command_line(argc, argv, described), values);
  if (values.count("help") != 0) {
    std::cout << described;
    return 0;
  }
  po::notify(values);
  const lacuna::programs::Variant variant{target, level, 4};
  const auto path =
      std::filesystem::path(lacuna).has_parent_path() ? std::filesystem::absolute(lacuna) : std::filesystem::path(lacuna);
  const std::vector<Finding> findings = measure(variant, {path, simulator_options}, samples, seed, only);
  if (findings.empty()) throw po::error("--only " + only + ": there is no such function");
  const unsigned failed = report(findings, variant);
  std::printf("%zu functions, %u beyond their bounds\n", findings.size(), failed);
  return failed == 0 ? 0 : kExitBeyond;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const po::error& e) {
    std::cerr << "lacuna_math: " << e.what() << "; --help lists the options\n";
  } catch (const std::exception& e) {
    std::cerr << "lacuna_math: " << e.what() << '\n';
  }
  return kExitUsage;
}

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "files.h"
#include "run.h"
#include "source.h"
#include "subprocess.h"

namespace lacuna::programs {
namespace {

constexpr std::chrono::seconds kRunLimit{600};  ///< a run that takes longer is assumed to hang, even on a busy machine

std::string triple(const std::array<unsigned, 3>& sizes) {
  return std::to_string(sizes[0]) + "," + std::to_string(sizes[1]) + "," + std::to_string(sizes[2]);
}

std::string scalar_argument(const ScalarArgument& scalar) {
  std::string text = "bytes:";
  for (unsigned byte = 0; byte < scalar.type.bytes(); ++byte) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned>(scalar.bits >> (byte % 8 * 8)) & 0xffU);
    text += digits.data();
  }
  return text;
}

std::string saved(const Program& program, const Variant& variant, const char* what) {
  return variant.name() + "-" + program.name + "." + what;
}

std::string launch_file(std::span<const Program> programs, const Variant& variant, const std::string& code) {
  std::string text = "[code]\nfile = " + code + "\n";
  for (const Program& program : programs) {
    text += "\n[dispatch " + program.name + "]\ngrid = " + triple(program.launch.grid) +
            "\nblock = " + triple(program.launch.block) + "\n";
    text += "arg = in:" + program.name + ".input\n";
    text += "arg = fill:" + std::to_string(program.output_bytes()) + ":u8:constant(" + std::to_string(kUnwritten) +
            "):save=" + saved(program, variant, "output") + "\n";
    text += "arg = in:" + program.name + ".cells:save=" + saved(program, variant, "cells") + "\n";
    for (const ScalarArgument& scalar : program.scalars) text += "arg = " + scalar_argument(scalar) + "\n";
  }
  return text;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> fields;
  for (std::string field; std::getline(text, field, ',');) fields.push_back(field);
  return fields;
}

std::uint64_t sum_of_column(const std::filesystem::path& csv, const std::string& name) {
  std::ifstream file(csv);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = fields_of(line);
  const auto column = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (column == names.size()) throw RunError(csv.string() + ": has no column " + name);
  std::uint64_t sum = 0;
  while (std::getline(file, line)) sum += std::stoull(fields_of(line).at(column));
  return sum;
}

}  // namespace

void write_programs(std::span<const Program> programs, const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".co") std::filesystem::remove(entry.path());
  }
  write_file(folder / kSourceFile, source_of(programs));
  for (const Program& program : programs) {
    write_file(folder / (program.name + ".input"), bytes_of(program.input));
    write_file(folder / (program.name + ".cells"), bytes_of(program.cells));
  }
}

void build_for_gpu(const std::filesystem::path& folder, const Variant& variant) {
  compile_for_gpu(folder / kSourceFile, variant, folder / (variant.code_name() + ".co"), exact_float_options());
}

std::vector<Result> run_on_gpu(std::span<const Program> programs, const std::filesystem::path& folder, const Variant& variant,
                               const Simulator& simulator) {
  std::string code = variant.code_name() + ".co";
  if (simulator.finalize) {
    const std::string finalized = variant.code_name() + ".finalized";
    const Outcome outcome =
        run_command({simulator.executable.string(), "finalize", code, "--out", finalized}, folder, kRunLimit);
    if (outcome.exit_code != 0) throw RunError(variant.name() + ": lacuna finalize failed\n" + outcome.output);
    code = finalized;
  }
  const std::string launch = variant.name() + ".launch";
  write_file(folder / launch, launch_file(programs, variant, code));
  for (const Program& program : programs) {
    std::filesystem::remove(folder / saved(program, variant, "output"));
    std::filesystem::remove(folder / saved(program, variant, "cells"));
  }
  std::vector<std::string> command{simulator.executable.string(), "launch", launch, "--out", variant.name() + ".out"};
  command.insert(command.end(), simulator.options.begin(), simulator.options.end());
  if (!variant.lazy_mode.empty()) {
    command.insert(command.end(), {"--set=gpu.timing=loose", "--set=lazy.check=true"});
    command.push_back("--set=lazy.mode=" + variant.lazy_mode);
  }
  const Outcome outcome = run_command(command, folder, kRunLimit);
  if (outcome.exit_code != 0) {
    throw RunError(variant.name() + ": " +
                   (outcome.timed_out ? "takes too long" : "exit code " + std::to_string(outcome.exit_code)) + "\n" +
                   outcome.output);
  }
  if (const std::uint64_t lanes = sum_of_column(folder / (variant.name() + ".out") / "kernels.csv", "lazy_lanes_changed");
      lanes != 0)
    throw RunError(variant.name() + ": memory had changed for " + std::to_string(lanes) + " lanes of held loads");
  std::vector<Result> results;
  for (const Program& program : programs) {
    results.push_back(
        {read_file(folder / saved(program, variant, "output")), read_file(folder / saved(program, variant, "cells"))});
  }
  return results;
}

}  // namespace lacuna::programs

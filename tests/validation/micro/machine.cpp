#include "tests/validation/micro/machine.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/validation/reference_table.h"

namespace lacuna::validation {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string kernels() { return LACUNA_KERNELS; }

Machine::Machine(std::string name, std::string configuration, std::vector<std::string> settings)
    : name_(std::move(name)),
      configuration_(std::move(configuration)),
      settings_(std::move(settings)),
      folder_(fs::path(LACUNA_VALIDATION_DIR) / "micro" / name_) {
  fs::remove_all(folder_);
  fs::create_directories(folder_);
}

std::vector<double> Machine::chase(const ChaseTable& table, const std::vector<Chain>& chains, unsigned warm_ups,
                                   unsigned dispatches) {
  std::map<std::string, Words> inputs;
  for (const Chain& chain : chains) {
    inputs["first"].push_back(static_cast<std::uint32_t>(chain.first));
    inputs["hops"].push_back(static_cast<std::uint32_t>(chain.hops));
  }
  std::string text = fmt::format(
      "[code]\nfile = {}/micro_latency.co\n"
      "[buffer table]\ncontents = fill:{}:u32:iota({},4)\n"
      "[buffer first]\ncontents = in:first.bin\n[buffer hops]\ncontents = in:hops.bin\n"
      "[buffer cycles]\ncontents = zero:{}\nsave = cycles.bin\n",
      kernels(), table.bytes / 4, table.stride, chains.size() * 4);
  if (!table.links.empty()) {
    for (const auto& [from, to] : table.links) {
      inputs["from"].push_back(static_cast<std::uint32_t>(from));
      inputs["to"].push_back(static_cast<std::uint32_t>(to));
    }
    text += fmt::format(
        "[buffer from]\ncontents = in:from.bin\n[buffer to]\ncontents = in:to.bin\n"
        "[dispatch link]\ngrid = {0}\narg = buf:table\narg = buf:from\narg = buf:to\narg = u32:{0}\n",
        table.links.size());
  }
  text += fmt::format(
      "[dispatch chase]\ngrid = 1\nrepeat = {}\n"
      "arg = buf:table\narg = buf:first\narg = buf:hops\narg = buf:cycles\narg = u32:{}\narg = u32:{}\n",
      dispatches, chains.size(), warm_ups);
  launch(text, inputs);
  const Words cycles = saved("cycles.bin");
  return {cycles.begin(), cycles.end()};
}

void Machine::launch(const std::string& text, const std::map<std::string, Words>& inputs) {
  for (const auto& [name, words] : inputs) {
    std::ofstream file(folder_ / (name + ".bin"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(words[0])));
  }
  std::ofstream(folder_ / "run.launch") << text;
  std::string command = fmt::format("'{}' launch '{}' --config {} --out '{}'", LACUNA_PROGRAM,
                                    (folder_ / "run.launch").string(), configuration_, (folder_ / "out").string());
  for (const std::string& setting : settings_) command += " --set " + setting;
  const fs::path log = folder_ / "log.txt";
  if (std::system(fmt::format("{} >'{}' 2>&1", command, log.string()).c_str()) != 0) {
    throw std::runtime_error(command + " failed:\n" + text_of(log));
  }
}

Words Machine::saved(const std::string& file) const {
  const std::string bytes = text_of(folder_ / file);
  Words words(bytes.size() / sizeof(std::uint32_t));
  bytes.copy(reinterpret_cast<char*>(words.data()), words.size() * sizeof(words[0]));
  return words;
}

std::vector<double> Machine::dispatch_times(const std::string& kernel) const {
  std::vector<double> times = dispatch_values(kernel, "end_ps");
  const std::vector<double> starts = dispatch_values(kernel, "start_ps");
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = (times[i] - starts[i]) / 1000;
  return times;
}

std::vector<double> Machine::dispatch_values(const std::string& kernel, const std::string& column) const {
  std::vector<double> values;
  for (const Row& row : read_table(folder_ / "out/kernels.csv")) {
    if (row.text("kernel") == kernel) values.push_back(row.number(column).value());
  }
  return values;
}

double Machine::configured(const std::string& parameter) const {
  std::ifstream file(folder_ / "out/effective.cfg");
  std::string section;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1);
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos || section + '.' + line.substr(0, equals) != parameter) continue;
    const std::string value = line.substr(equals + 3);
    std::size_t used = 0;
    const double number = std::stod(value, &used);
    const std::string unit = value.substr(used, value.find(' ', used) - used);
    static const std::map<std::string, double> kUnits{{"", 1}, {"cycles", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}};
    return number * kUnits.at(unit);
  }
  throw std::invalid_argument("effective.cfg has no " + parameter);
}

}  // namespace lacuna::validation

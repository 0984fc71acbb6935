#include "drivers/rocm/settings.h"

#include <cstdlib>
#include <sstream>

#include "platform/run/output_folder.h"

namespace lacuna::rocm {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream stream(list);
  for (std::string item; std::getline(stream, item, ';');)
    if (!item.empty()) found.push_back(item);
  return found;
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  for (const std::string& item : items(variable("LACUNA_CONFIG")))
    settings.configuration.push_back({item.find('=') == std::string::npos, item});
  for (const std::string& item : items(variable("LACUNA_SET"))) settings.configuration.push_back({false, item});
  settings.output_folder = variable("LACUNA_OUT");
  const std::string run = variable("LACUNA_RUN");
  settings.run = run.empty() ? std::string(OutputFolder::kUnknownRun) : run;
  settings.write_results = settings.output_folder != "none";
  const std::string report = variable("LACUNA_REPORT");
  settings.report = !report.empty() && report != "0";
  return settings;
}

}  // namespace lacuna::rocm

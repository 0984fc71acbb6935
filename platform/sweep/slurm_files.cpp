#include "platform/sweep/slurm_files.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/run/output_file.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kResultFile = "end.json";

void write_json(const fs::path& file, const Json& json) {
  write_file(file, [&](std::ostream& out) { out << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n'; });
}

Json pairs(const NamedValues& values) {
  Json json = Json::array();
  for (const auto& [name, value] : values) json.push_back({name, value});
  return json;
}

}  // namespace

void write_batch(const fs::path& folder, const BatchFile& batch) {
  Json json{{"run_in", batch.run_in.string()},
            {"simulator", batch.simulator.string()},
            {"timeout_seconds", batch.timeout_seconds},
            {"grace_seconds", batch.grace_seconds},
            {"points_per_task", batch.points_per_task},
            {"files", batch.files},
            {"points", Json::array()}};
  for (const BatchPoint& point : batch.points)
    json["points"].push_back({{"key", point.task.key},
                              {"words", point.task.words},
                              {"environment", pairs(point.task.environment)},
                              {"inputs", point.inputs},
                              {"name", point.name},
                              {"command", point.command}});
  write_json(folder / kBatchFile, json);
}

BatchFile read_batch(const fs::path& folder) {
  BatchFile batch;
  try {
    std::ifstream stream(folder / kBatchFile);
    const Json json = Json::parse(stream);
    batch.run_in = json.at("run_in").get<std::string>();
    batch.simulator = json.at("simulator").get<std::string>();
    batch.timeout_seconds = json.at("timeout_seconds").get<double>();
    batch.grace_seconds = json.at("grace_seconds").get<double>();
    batch.points_per_task = json.at("points_per_task").get<unsigned>();
    batch.files = json.at("files").get<std::map<std::string, std::string>>();
    for (const Json& entry : json.at("points")) {
      BatchPoint& point = batch.points.emplace_back();
      point.task.index = batch.points.size() - 1;
      point.task.key = entry.at("key").get<std::string>();
      point.task.words = entry.at("words").get<std::vector<std::string>>();
      for (const Json& pair : entry.at("environment"))
        point.task.environment.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
      point.inputs = entry.at("inputs").get<PointInputs>();
      point.name = entry.at("name").get<std::string>();
      point.command = entry.at("command").get<std::string>();
    }
  } catch (const nlohmann::json::exception& e) {
    throw SweepError((folder / kBatchFile).string() + ": " + e.what());
  }
  return batch;
}

void write_result(const fs::path& folder, const RunResult& result) {
  write_json(folder / kResultFile, {{"state", state_name(result.state)},
                                    {"exit_code", result.exit_code},
                                    {"signal", result.signal},
                                    {"why", result.why},
                                    {"seconds", result.seconds},
                                    {"user_seconds", result.user_seconds},
                                    {"system_seconds", result.system_seconds},
                                    {"peak_memory_bytes", result.peak_memory_bytes},
                                    {"host", result.host},
                                    {"date", result.date}});
}

std::optional<RunResult> read_result(const fs::path& folder) {
  std::ifstream stream(folder / kResultFile);
  if (!stream) return std::nullopt;
  try {
    const Json json = Json::parse(stream);
    RunResult result;
    result.state = state_of_name(json.at("state").get<std::string>());
    result.exit_code = json.at("exit_code").get<int>();
    result.signal = json.at("signal").get<int>();
    result.why = json.at("why").get<std::string>();
    result.seconds = json.at("seconds").get<double>();
    result.user_seconds = json.at("user_seconds").get<double>();
    result.system_seconds = json.at("system_seconds").get<double>();
    result.peak_memory_bytes = json.at("peak_memory_bytes").get<std::uint64_t>();
    result.host = json.at("host").get<std::string>();
    result.date = json.at("date").get<std::string>();
    return result;
  } catch (const nlohmann::json::exception& e) {
    throw SweepError((folder / kResultFile).string() + ": " + e.what());
  }
}

}  // namespace lacuna

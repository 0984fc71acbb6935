#include "platform/sida/sida_command_line.h"

#include <algorithm>
#include <array>

#include "models/common/config/nearest_name.h"
#include "platform/usage_error.h"

namespace po = boost::program_options;

namespace lacuna {
namespace {

/// Names of the actions, in the order of SidaAction.
const std::vector<std::string> kActions{"info", "generate", "prepare", "run", "explain", "machine"};

/// Actions that accept an option. Options that every action accepts are not listed.
struct OptionUse {
  const char* option;
  std::vector<SidaAction> actions;
};
const std::array<OptionUse, 19> kUses{{
    {"sub-tensor", {SidaAction::info}},
    {"room", {SidaAction::info}},
    {"value-bytes", {SidaAction::info}},
    {"block", {SidaAction::info, SidaAction::run, SidaAction::explain}},
    {"out", {SidaAction::generate, SidaAction::prepare, SidaAction::run}},
    {"matrix", {SidaAction::run, SidaAction::explain}},
    {"fusion", {SidaAction::run, SidaAction::explain}},
    {"machine", {SidaAction::run}},
    {"storage", {SidaAction::run}},
    {"iterations", {SidaAction::run}},
    {"source", {SidaAction::run}},
    {"features", {SidaAction::run}},
    {"tolerance", {SidaAction::run}},
    {"timeline", {SidaAction::run}},
    {"check", {SidaAction::run}},
    {"quiet", {SidaAction::run}},
    {"addresses", {SidaAction::run}},
    {"set", {SidaAction::run, SidaAction::machine}},
    {"config", {SidaAction::run, SidaAction::machine}},
}};

void refuse_other_options(const po::variables_map& values, SidaAction action, const std::string& name) {
  for (const OptionUse& use : kUses) {
    const bool given = values.count(use.option) != 0 && !values[use.option].defaulted();
    if (!given || std::find(use.actions.begin(), use.actions.end(), action) != use.actions.end()) continue;
    std::string legal;
    for (const SidaAction other : use.actions) legal += (legal.empty() ? "" : ", ") + kActions[static_cast<std::size_t>(other)];
    usage_error("--" + std::string(use.option) + " is not an option of lacuna sida " + name + "; it belongs to " + legal,
                "sida");
  }
}

/// Returns the index of an option's value in `names`. Throws UsageError if it is not among them.
std::size_t sida_choice(const po::variables_map& values, const char* option, const std::vector<std::string>& names) {
  const std::string given = values[option].as<std::string>();
  const auto found = std::find(names.begin(), names.end(), given);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string legal;
  for (const std::string& name : names) legal += (legal.empty() ? "" : &name == &names.back() ? " or " : ", ") + name;
  usage_error("--" + std::string(option) + " " + given + ": must be " + legal + did_you_mean(nearest_name(names, given)),
              "sida");
}

void take_sida_run_options(const po::variables_map& values, const SidaOptions& sida, bool needs_matrix, SidaRunOptions& run) {
  if (values.count("matrix") != 0) run.matrix = values["matrix"].as<std::string>();
  if (needs_matrix && run.matrix.empty()) usage_error("lacuna sida run needs --matrix: a file, or KIND:NAME=VALUE,…", "sida");
  if (sida.orders.size() > 1) usage_error("a matrix has one order: --order is given several times", "sida");
  if (!sida.orders.empty()) run.order = sida.orders.front();
  run.as_stored = sida.as_stored;
  run.block_side = sida.block;
  run.machine = static_cast<SidaMachine>(sida_choice(values, "machine", {kSidaMachineNames.begin(), kSidaMachineNames.end()}));
  run.fusion = static_cast<lacuna_sida_fusion>(sida_choice(values, "fusion", {"auto", "producer-consumer", "none"}));
  run.blocked = sida_choice(values, "storage", {"dual", "blocked"}) == 1;
  run.iterations = values["iterations"].as<std::uint64_t>();
  run.source = values["source"].as<std::uint32_t>();
  run.features = values["features"].as<std::uint32_t>();
  if (run.features > LACUNA_SIDA_MAX_WIDTH)
    usage_error("--features " + std::to_string(run.features) + ": at most " + std::to_string(LACUNA_SIDA_MAX_WIDTH), "sida");
  run.tolerance = values["tolerance"].as<double>();
  run.check = values.count("check") != 0;
  if (values.count("timeline") != 0) run.timeline = values["timeline"].as<std::string>();
  if (run.timeline && run.machine != SidaMachine::sida) usage_error("--timeline is of --machine sida", "sida");
  if (values.count("addresses") != 0) run.addresses = values["addresses"].as<std::string>();
  if (run.addresses && run.machine != SidaMachine::device) usage_error("--addresses is of --machine device", "sida");
  run.quiet = values.count("quiet") != 0;
  run.folder = sida.file;
}

}  // namespace

void add_sida_options(po::options_description& options) {
  const auto topic = [](const char* caption) { return po::options_description(caption, 100, 50); };
  po::options_description run = topic("run");
  run.add_options()                                                                                                           //
      ("matrix,m", po::value<std::string>()->value_name("MATRIX"), "the matrix; also of explain")                             //
      ("machine", po::value<std::string>()->value_name("MACHINE")->default_value("sida"),                                     //
       "sida, device (in the GPU of --config), roofline, oracle, cpu")                                                        //
      ("fusion", po::value<std::string>()->value_name("HOW")->default_value("auto"),                                          //
       "auto, producer-consumer, none; also of explain")                                                                      //
      ("storage", po::value<std::string>()->value_name("LAYOUT")->default_value("dual"), "dual or blocked")                   //
      ("iterations", po::value<std::uint64_t>()->value_name("N")->default_value(0), "at most N; 0: the program's own limit")  //
      ("source", po::value<std::uint32_t>()->value_name("ROW")->default_value(0),                                             //
       "row at which bfs, sssp, knn and kpp begin")                                                                           //
      ("features", po::value<std::uint32_t>()->value_name("N")->default_value(0), "of gcn; 0: 16")                            //
      ("tolerance", po::value<double>()->value_name("X")->default_value(0), "of pr, gmres, cg, bgs; 0: their own")            //
      ("timeline", po::value<std::string>()->value_name("FILE.svg"), "picture of the longest pass over time")                 //
      ("addresses", po::value<std::string>()->value_name("FILE"),                                                             //
       "device: arrays at the addresses in a job_arrays.csv")                                                                 //
      ("check", "compare with a plain implementation; exit code 3: differs")                                                  //
      ("quiet,q", "print nothing, only write --out");
  po::options_description matrices = topic("Matrices: info, prepare, run");
  matrices.add_options()                                                                                           //
      ("order", po::value<std::vector<std::string>>()->value_name("ORDER"),                                        //
       "order of rows, such as rcm, or a file; info: repeatable")                                                  //
      ("as-stored", "of a symmetric file the lower triangle alone")                                                //
      ("sub-tensor", po::value<unsigned>()->value_name("T")->default_value(1), "info: columns of a sub-tensor")    //
      ("room", po::value<std::string>()->value_name("SIZE"), "info: capacity for entries by row")                  //
      ("block", po::value<unsigned>()->value_name("SIDE")->default_value(256), "info: side of a block, 1 to 256")  //
      ("value-bytes", po::value<unsigned>()->value_name("N")->default_value(8), "info: bytes of a value");
  po::options_description machine = topic("Machine: run, machine");
  machine.add_options()                                                                   //
      ("config,c", po::value<std::vector<std::string>>()->value_name("FILE"),             //
       "configuration file, such as energy/sida; repeatable")                             //
      ("set,s", po::value<std::vector<std::string>>()->value_name("SECTION.NAME=VALUE"),  //
       "set one parameter, such as sida.buffer; repeatable")                              //
      ("out,o", po::value<std::string>()->value_name("FILE|DIR"),                         //
       "run: output folder; generate, prepare: the file to write");
  options.add(run).add(matrices).add(machine);
}

void take_sida_options(const po::variables_map& values, std::vector<std::string>& operands, SidaOptions& sida) {
  if (operands.empty())
    usage_error("lacuna sida needs run or explain PROGRAM, info MATRIX, generate KIND, prepare MATRIX or machine", "sida");
  const std::string action = operands.front();
  const auto known = std::find(kActions.begin(), kActions.end(), action);
  if (known == kActions.end())
    usage_error("lacuna sida " + action + ": must be run, explain, info, generate, prepare or machine" +
                    did_you_mean(nearest_name(kActions, action)),
                "sida");
  sida.action = static_cast<SidaAction>(known - kActions.begin());
  operands.erase(operands.begin());
  refuse_other_options(values, sida.action, action);
  if (sida.action == SidaAction::machine) return;
  const bool runs = sida.action == SidaAction::run || sida.action == SidaAction::explain;
  if (operands.empty())
    usage_error(
        "lacuna sida " + action + (runs ? " needs a program, such as pr" : " needs a matrix: a file, or KIND:NAME=VALUE,…"),
        "sida");
  if (values.count("order") != 0) sida.orders = values["order"].as<std::vector<std::string>>();
  sida.sub_tensor = values["sub-tensor"].as<unsigned>();
  sida.block = values["block"].as<unsigned>();
  sida.value_bytes = values["value-bytes"].as<unsigned>();
  sida.as_stored = values.count("as-stored") != 0;
  if (values.count("out") != 0) sida.file = values["out"].as<std::string>();
  const bool writes = sida.action == SidaAction::generate || sida.action == SidaAction::prepare;
  if (writes && !sida.file) usage_error("lacuna sida " + action + " needs --out FILE", "sida");
  if (values.count("room") != 0) sida.room = values["room"].as<std::string>();
  if (writes && sida.orders.size() > 1) usage_error("a matrix has one order: --order is given several times", "sida");
  if (runs) take_sida_run_options(values, sida, sida.action == SidaAction::run, sida.run);
}

}  // namespace lacuna

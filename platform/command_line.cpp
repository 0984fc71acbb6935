#include "platform/command_line.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <sstream>

#include "models/common/config/nearest_name.h"
#include "platform/command_texts.h"
#include "platform/sida/sida_command_line.h"

namespace po = boost::program_options;

namespace lacuna {
namespace {

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  N    the program ended itself with code N (its low 8 bits); exec: the program's own\n"
    "  1, 3 launch: the GPU reported an error; a comparison differs\n"
    "  2    command line, configuration, program file or output folder is wrong\n"
    "  4    a check of the modelled machine failed (see the log); the program's results are correct\n"
    "  69   this build requires AVX2 and FMA, which the host CPU does not have\n"
    "  70   internal error of the simulator, not of a model\n"
    "  71   the host has no memory left, or refuses a thread or a file\n"
    "  74   output could not be written\n"
    "  123  the hart took a trap whose handler cannot be fetched (mtvec); the log names cause and place\n"
    "  124  simulated time limit reached (--max-time, sim.max_time)\n"
    "  125  hung: no progress for sim.max_idle, or no event left to simulate\n"
    "  126  internal error: a model reached an inconsistent state; exec: PROGRAM cannot be started\n"
    "  127  exec: there is no PROGRAM\n"
    "  130  ended by Ctrl-C (results so far are written; a second Ctrl-C ends immediately)\n";

/// A group of options, printed in lines of at most 100 columns.
po::options_description topic(const std::string& caption) { return po::options_description(caption, 100, 50); }

po::options_description common_options(const std::string& caption = "Options") {
  po::options_description options = topic(caption);
  options.add_options()("help,h", "print this help");
  return options;
}

po::options_description machine_options() {
  po::options_description options = topic("Machine");
  options.add_options()                                                                   //
      ("config,c", po::value<std::vector<std::string>>()->value_name("FILE"),             //
       "preset such as r9nano, or a configuration file; repeatable")                      //
      ("set,s", po::value<std::vector<std::string>>()->value_name("SECTION.NAME=VALUE"),  //
       "set one parameter, see lacuna --list-params; repeatable");
  return options;
}

bool simulates(Command command) { return command == Command::run || command == Command::launch || command == Command::hart; }

po::options_description platform_options(Command command) {
  po::options_description options = topic("");
  options.add(machine_options());
  po::options_description run = topic("Run");
  run.add_options()("max-time", po::value<std::string>()->value_name("TIME"), "end after this simulated time, e.g. 10ms");
  if (command != Command::hart)
    run.add_options()("results", po::value<std::string>()->value_name("none"), "skip what gpu.timing = sampled does not time");
  if (simulates(command))
    run.add_options()                                                                                                //
        ("gdb", po::value<std::uint16_t>()->value_name("PORT"), "wait for GDB on 127.0.0.1:PORT (0: any free one)")  //
        ("input", po::value<std::string>()->value_name("FILE"), "console input; - is standard input");
  else
    run.add_options()("strict-memory", "each hipMalloc is a separate allocation: an access beyond its last page faults");
  po::options_description output = common_options("Output");
  output.add_options()                                                                                           //
      ("out,o", po::value<std::string>()->value_name("DIR"), "output folder (lacuna-out/run-NNNN; hart: none)")  //
      ("quiet,q", "no progress line and no report");
  options.add(run).add(output);
  return options;
}

/// Options of `lacuna launch`. Launch files have keys of the same names.
po::options_description launch_options() {
  using Texts = std::vector<std::string>;
  po::options_description options = topic("Kernel");
  options.add_options()                                                                                         //
      ("kernel,k", po::value<Texts>()->value_name("NAME"), "the kernel")                                        //
      ("grid", po::value<Texts>()->value_name("X[,Y,Z]"), "size of the grid in work-items")                     //
      ("blocks", po::value<Texts>()->value_name("X[,Y,Z]"), "size of the grid in workgroups")                   //
      ("block", po::value<Texts>()->value_name("X[,Y,Z]"), "work-items of a workgroup (default 64)")            //
      ("offset", po::value<Texts>()->value_name("X[,Y,Z]"), "global offset")                                    //
      ("arg,a", po::value<Texts>()->value_name("ARGUMENT"), "argument of the kernel, in order; repeatable")     //
      ("stack", po::value<Texts>()->value_name("BYTES"), "minimum private memory of a work-item")               //
      ("max-block", po::value<Texts>()->value_name("ITEMS"), "largest workgroup, instead of the metadata's")    //
      ("repeat", po::value<Texts>()->value_name("N"), "number of dispatches")                                   //
      ("compare", po::value<Texts>()->value_name("[BUFFER=]FILE"), "compare a buffer with a file; repeatable")  //
      ("tolerance", po::value<Texts>()->value_name("SPEC"), "of comparisons: abs=X,rel=X,ulp=N")                //
      ("define,D", po::value<Texts>()->value_name("NAME=VALUE"), "set a constant of the launch file");
  return options;
}

po::options_description sweep_options() {
  po::options_description points = topic("Points");
  points.add_options()                                                                                                  //
      ("jobs,j", po::value<unsigned>()->value_name("N"), "points run in parallel (default: the number of processors)")  //
      ("dry-run,n", "list the points and what a run would do with each")                                                //
      ("retry", "run again what failed, took too long or was killed")                                                   //
      ("overnight", "only the points that the file marks as a night's work of two processors")                          //
      ("files", po::value<std::string>()->value_name("FOLDER"),
       "inputs from this folder, named in [files], instead of generated ones");
  po::options_description place = topic("Place");
  place.add_options()                                                                   //
      ("on", po::value<std::string>()->value_name("WHERE"), "here (default) or slurm")  //
      ("slurm", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
       "a key of [slurm]: partition, time, memory, cpus, …; repeatable")  //
      ("no-wait", "with --on slurm: submit and exit; the same command collects the results later");
  po::options_description output = common_options("Output");
  output.add_options()  //
      ("db", po::value<std::string>()->value_name("FILE"),
       "database (default: the sweep file's database, else lacuna-results.db)")  //
      ("quiet,q", "no progress and no table at the end");
  po::options_description options = topic("");
  options.add(points).add(place).add(output);
  return options;
}

po::options_description results_options() {
  using Texts = std::vector<std::string>;
  po::options_description selection = topic("Selection");
  selection.add_options()                                                                                   //
      ("db", po::value<std::string>()->value_name("FILE")->default_value("lacuna-results.db"), "database")  //
      ("where,w", po::value<Texts>()->value_name("CONDITION"), "only points for which this holds: 'n >= 1024'");
  po::options_description contents = topic("Contents");
  contents.add_options()                                                                                           //
      ("metric,m", po::value<Texts>()->value_name("[NAME=]PATH"), "show this instead of the sweep's own metrics")  //
      ("interval", po::value<std::string>()->value_name("PERCENT"),
       "also how many samples a mean within this share of it, such as 1%, would need")  //
      ("points", "list each point, with its state and origin")                          //
      ("failed", "points that failed, with the end of their logs");
  po::options_description comparison = topic("Comparison");
  comparison.add_options()  //
      ("compare", po::value<std::string>()->value_name("SWEEP[@VERSION]"),
       "what has changed from SWEEP to this one: differences beyond the threshold and beyond the intervals")  //
      ("threshold", po::value<std::string>()->value_name("PERCENT")->default_value("1%"), "of --compare");
  po::options_description output = common_options("Output");
  output.add_options()("csv", "comma-separated values to standard output");
  po::options_description options = topic("");
  options.add(selection).add(contents).add(comparison).add(output);
  return options;
}

po::options_description finalize_options() {
  po::options_description options = topic("Result");
  options.add_options()                                                                        //
      ("out,o", po::value<std::string>()->value_name("TAGGED"), "file to write, with tags")    //
      ("report", po::value<std::string>()->value_name("FILE.json"), "the report as JSON")      //
      ("no-move", "tags only: leave the code as it is, also where chains are not contiguous")  //
      ("take-apart", "as ndc.take_apart: also move loads past waits that follow them")         //
      ("interleaved", "as ndc.interleaved: also tag interleaved chains");
  return options;
}

po::options_description mesh_options() {
  po::options_description options = topic("");
  options.add(machine_options());
  po::options_description output = common_options("Output");
  output.add_options()                                                                //
      ("core", po::value<unsigned>()->value_name("N")->default_value(0), "the core")  //
      ("out,o", po::value<std::string>()->value_name("FILE.svg"), "also draw a picture");
  options.add(output);
  return options;
}

po::options_description options_of(Command command) {
  if (command == Command::sida) {
    po::options_description options = topic("");
    add_sida_options(options);
    return options.add(common_options("Other"));
  }
  if (command == Command::mesh) return mesh_options();
  if (command == Command::sweep) return sweep_options();
  if (command == Command::results) return results_options();
  po::options_description options = topic("");
  if (command == Command::launch) options.add(launch_options());
  if (command == Command::finalize) options.add(finalize_options());
  if (simulates(command) || command == Command::exec) return options.add(platform_options(command));
  po::options_description others = common_options();
  if (command == Command::isa_check) others.add_options()("json", "print JSON");
  return options.add(others);
}

std::string general_help() {
  std::ostringstream text;
  text << "Lacuna, a virtual GPU: runs GPU programs and predicts how long they would take.\n\n"
          "Examples:\n"
          "  lacuna exec --config r9nano -- ./vector_add      a HIP program on an R9 Nano\n"
          "  lacuna run build/release/firmware/demo.elf       the demo firmware\n"
          "  lacuna exec --help                               options of a command\n\n"
          "Usage: lacuna COMMAND [OPTIONS] ...\n";
  for (const CommandInfo& info : kCommands)
    text << "  " << info.name << std::string(10 - std::string(info.name).size(), ' ') << info.summary << '\n';
  text << "  --list-params  print all parameters\n"
          "  --version      print the version\n\n"
       << kExitCodes;
  return text.str();
}

/// Breaks lines at blanks so that they stay within 100 columns.
std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  std::string word;
  std::size_t column = 0;
  while (words >> word) {
    if (column != 0 && column + 1 + word.size() > 100) {
      result += '\n';
      column = 0;
    } else if (column != 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + '\n';
}

std::string command_help(const CommandInfo& info) {
  std::ostringstream text;
  text << "lacuna " << info.name << ": " << info.summary << "\n\nExamples:\n"
       << info.examples << "\n"
       << wrapped("Usage: lacuna " + std::string(info.name) + " [OPTIONS] " + info.operand) << '\n'
       << wrapped(info.text);
  std::ostringstream options;
  options << options_of(info.command);
  // Boost prints a blank line for each nested group of options.
  std::string lines = "\n" + options.str();
  for (std::size_t at = lines.find("\n\n\n"); at != std::string::npos; at = lines.find("\n\n\n")) lines.erase(at, 1);
  text << (lines.starts_with("\n\n") ? lines.substr(1) : lines);
  if (info.command == Command::launch)
    text << "\nExit code 1: the GPU reported an error; 3: a comparison differs. lacuna --help lists the others.\n";
  else if (simulates(info.command) || info.command == Command::exec)
    text << "\nThe exit code is the program's own; lacuna --help lists all others.\n";
  return text.str();
}

std::string without_dashes(const std::string& option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

bool has_option(Command command, const std::string& name) {
  const std::vector<std::string> names = option_names(command);
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_letter(Command command, const std::string& letter) {
  const po::options_description options = options_of(command);
  const auto& all = options.options();
  return std::any_of(all.begin(), all.end(), [&](const auto& option) {
    return option->canonical_display_name(po::command_line_style::allow_dash_for_short) == '-' + letter;
  });
}

/// The only name for which the predicate holds; "" if there is none or there are several.
template <class Predicate>
std::string only_one(const std::vector<std::string>& names, Predicate predicate) {
  if (std::count_if(names.begin(), names.end(), predicate) != 1) return {};
  return *std::find_if(names.begin(), names.end(), predicate);
}

/// The option that the user probably meant by `name`: the only option that begins with `name`, the nearest option, the only
/// option with which `name` begins (--output), or the only option with the word `name` (--time); "" if there is none.
std::string nearest_option(const std::vector<std::string>& names, const std::string& name) {
  constexpr std::size_t kLeast = 3;  // minimum length of an abbreviated option
  const auto begins = [&](const std::string& option) { return option.starts_with(name); };
  const auto is_prefix = [&](const std::string& option) { return option.size() >= kLeast && name.starts_with(option); };
  const auto has_word = [&](const std::string& option) {
    return name.size() >= kLeast && ('-' + option + '-').find('-' + name + '-') != std::string::npos;
  };
  std::string found = only_one(names, begins);
  if (found.empty()) found = nearest_name(names, name);
  if (found.empty()) found = only_one(names, is_prefix);
  return found.empty() ? only_one(names, has_word) : found;
}

std::vector<std::string> all_option_names() {
  std::vector<std::string> all;
  for (const CommandInfo& info : kCommands)
    for (const std::string& name : option_names(info.command))
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  return all;
}

/// Lists the commands that have the option, a long name or a single letter: "run, launch".
std::string commands_with(const std::string& name) {
  std::string commands;
  for (const CommandInfo& info : kCommands)
    if (name.size() == 1 ? has_letter(info.command, name) : has_option(info.command, name))
      commands += (commands.empty() ? "" : ", ") + std::string(info.name);
  return commands;
}

/// Throws UsageError. `written`: the option as the user wrote it, with dashes and possibly with =VALUE.
[[noreturn]] void unknown_option(const std::string& written, const CommandInfo& info) {
  const std::string option = written.substr(0, written.find('='));
  const std::string name = without_dashes(option);
  const std::string unknown = "unknown option " + option;
  // No suggestions for a single letter, which is similar to every other letter.
  const bool is_word = name.size() > 1;
  if (is_word) {
    const std::string nearest = nearest_option(option_names(info.command), name);
    if (!nearest.empty()) usage_error(unknown + did_you_mean("--" + nearest), info.name);
    for (const std::string without_command : {"version", "list-params"})
      if (name == without_command) usage_error(unknown + ", which is used without a command: lacuna --" + name, info.name);
  }
  if (const std::string others = commands_with(name); !others.empty())
    usage_error(unknown + ", which is one of lacuna " + others, info.name);
  const std::string elsewhere = is_word ? nearest_option(all_option_names(), name) : std::string();
  if (!elsewhere.empty())
    usage_error(unknown + "; the nearest, --" + elsewhere + ", is one of lacuna " + commands_with(elsewhere), info.name);
  usage_error(unknown, info.name);
}

/// Refuses empty values: an empty name of a file or kernel would make messages incomplete.
void refuse_empty_values(const po::parsed_options& parsed, const CommandInfo& info) {
  for (const po::option& option : parsed.options)
    for (const std::string& value : option.value)
      if (value.empty())
        usage_error(option.string_key == "operand" ? "an empty name means " + std::string(info.operand)
                                                   : "the value of --" + option.string_key + " is empty",
                    info.name);
}

/// Collects --config, --set, --max-time, --results and the options of a launch in the order given, because later options
/// override earlier ones.
void collect_sources(const po::parsed_options& parsed, CommandLine& line) {
  for (const po::option& option : parsed.options) {
    if (option.string_key == "config" || option.string_key == "set")
      for (const std::string& value : option.value) line.configuration.push_back({option.string_key == "config", value});
    if (line.command == Command::launch && launch_options().find_nothrow(option.string_key, false) != nullptr)
      for (const std::string& value : option.value) line.launch.values.emplace_back(option.string_key, value);
    if (option.string_key == "results") {
      if (option.value.front() != "none") usage_error("--results " + option.value.front() + ": must be none");
      line.configuration.push_back({false, "sampling.untimed=skipped"});
    }
    if (option.string_key == "max-time") line.configuration.push_back({false, "sim.max_time=" + option.value.front()});
  }
}

void take_sweep_options(const po::variables_map& values, SweepOptions& sweep) {
  if (values.count("jobs") != 0) sweep.jobs = values["jobs"].as<unsigned>();
  if (values.count("jobs") != 0 && sweep.jobs == 0) usage_error("--jobs must be at least 1", "sweep");
  const std::string place = values.count("on") != 0 ? values["on"].as<std::string>() : "here";
  if (place != "here" && place != "slurm") usage_error("--on " + place + ": must be here or slurm", "sweep");
  sweep.on_slurm = place == "slurm";
  sweep.wait = values.count("no-wait") == 0;
  if (!sweep.wait && !sweep.on_slurm) usage_error("--no-wait belongs to --on slurm", "sweep");
  sweep.dry_run = values.count("dry-run") != 0;
  sweep.retry = values.count("retry") != 0;
  sweep.overnight = values.count("overnight") != 0;
  if (values.count("files") != 0) sweep.files = values["files"].as<std::string>();
  if (values.count("db") != 0) sweep.database = values["db"].as<std::string>();
  if (values.count("task") != 0) sweep.task = values["task"].as<std::string>();
  if (values.count("slurm") == 0) return;
  if (!sweep.on_slurm) usage_error("--slurm belongs to --on slurm", "sweep");
  for (const std::string& text : values["slurm"].as<std::vector<std::string>>()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) usage_error("--slurm " + text + ": must be KEY=VALUE", "sweep");
    sweep.slurm.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
}

void take_results_options(const po::variables_map& values, ResultsOptions& results) {
  using Texts = std::vector<std::string>;
  results.database = values["db"].as<std::string>();
  if (values.count("metric") != 0) results.metrics = values["metric"].as<Texts>();
  if (values.count("where") != 0) results.where = values["where"].as<Texts>();
  if (values.count("compare") != 0) results.compare = values["compare"].as<std::string>();
  results.threshold = values["threshold"].as<std::string>();
  if (values.count("interval") != 0) results.interval = values["interval"].as<std::string>();
  results.points = values.count("points") != 0;
  results.failed = values.count("failed") != 0;
  results.csv = values.count("csv") != 0;
}

CommandLine parse_command(const CommandInfo& info, std::vector<std::string> arguments) {
  CommandLine line;
  line.command = info.command;
  // Split off the arguments after "--", which Boost would treat as operands of lacuna.
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  if (separator != arguments.end()) {
    line.guest_arguments.assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
    if (info.command != Command::hart && info.command != Command::run && info.command != Command::exec)
      usage_error("nothing may follow --", info.name);
  }

  po::options_description options = options_of(info.command);
  options.add_options()("operand", po::value<std::vector<std::string>>());
  // An option of the jobs that a sweep submits, which no help lists.
  if (info.command == Command::sweep) options.add_options()("task", po::value<std::string>());
  po::positional_options_description positions;
  positions.add("operand", -1);
  po::variables_map values;
  try {
    namespace style = po::command_line_style;
    const po::parsed_options parsed = po::command_line_parser(arguments)
                                          .options(options)
                                          .positional(positions)
                                          .style(style::unix_style & ~style::allow_guessing)
                                          .run();
    refuse_empty_values(parsed, info);
    po::store(parsed, values);
    collect_sources(parsed, line);
  } catch (const po::unknown_option& e) {
    unknown_option(e.get_option_name(), info);
  } catch (const po::invalid_command_line_syntax& e) {
    // Boost examines the value after = before it looks up the option, so it reports an empty value even for an unknown option.
    const bool known = has_option(info.command, without_dashes(e.get_option_name()));
    if (e.kind() == po::invalid_syntax::empty_adjacent_parameter && !known) unknown_option(e.get_option_name(), info);
    usage_error(e.what(), info.name);
  } catch (const po::error& e) {
    usage_error(e.what(), info.name);
  }

  if (values.count("help") != 0) {
    line.command = Command::help;
    line.help = command_help(info);
    return line;
  }
  auto operands = values.count("operand") != 0 ? values["operand"].as<std::vector<std::string>>() : std::vector<std::string>();
  if (info.command == Command::isa_check) {
    if (operands.empty() || operands.front() != "check")
      usage_error(
          "lacuna isa needs " + std::string(operands.empty() ? "" : "check, not " + operands.front() + ": ") + info.operand,
          info.name);
    operands.erase(operands.begin());
    line.inputs = operands;
    line.json = values.count("json") != 0;
    operands.resize(std::min<std::size_t>(operands.size(), 1));
  }
  if (info.command == Command::exec && operands.empty() && !line.guest_arguments.empty()) {
    operands.push_back(line.guest_arguments.front());
    line.guest_arguments.erase(line.guest_arguments.begin());
    if (operands.front().empty()) usage_error(std::string("an empty name means ") + info.operand, info.name);
  }
  if (info.command == Command::sida) take_sida_options(values, operands, line.sida);
  if (info.command == Command::sweep) take_sweep_options(values, line.sweep);
  if (info.command == Command::results) take_results_options(values, line.results);
  if (info.command == Command::finalize) {
    if (values.count("out") != 0) line.finalize.tagged = values["out"].as<std::string>();
    if (values.count("report") != 0) line.finalize.report = values["report"].as<std::string>();
    line.finalize.move = values.count("no-move") == 0;
    line.finalize.take_apart = values.count("take-apart") != 0;
    line.finalize.interleaved = values.count("interleaved") != 0;
    if (!line.finalize.move && line.finalize.take_apart) usage_error("--take-apart moves code, --no-move does not", info.name);
  }
  if (info.command == Command::mesh) {
    line.mesh.core = values["core"].as<unsigned>();
    if (values.count("out") != 0) line.mesh.picture = values["out"].as<std::string>();
    if (!operands.empty()) usage_error("unexpected " + operands[0], info.name);
  }
  const bool is_sida_machine = info.command == Command::sida && line.sida.action == SidaAction::machine;
  const bool may_be_missing =
      info.command == Command::results || info.command == Command::mesh || line.sweep.task || is_sida_machine;
  if (operands.empty() && !may_be_missing)
    usage_error(std::string("lacuna ") + info.name + " needs " + info.operand, info.name);
  if (operands.size() > 1) usage_error("unexpected " + operands[1], info.name);
  if (!operands.empty()) line.input = operands.front();
  if (values.count("out") != 0) line.output_folder = values["out"].as<std::string>();
  if (values.count("gdb") != 0) line.gdb_port = values["gdb"].as<std::uint16_t>();
  if (values.count("input") != 0) line.console_input = values["input"].as<std::string>();
  line.quiet = values.count("quiet") != 0;
  line.strict_memory = values.count("strict-memory") != 0;
  return line;
}

}  // namespace

std::vector<std::string> option_names(Command command) {
  std::vector<std::string> names;
  const po::options_description options = options_of(command);
  for (const auto& option : options.options()) names.push_back(option->long_name());
  return names;
}

bool takes_value(Command command, const std::string& option) {
  return options_of(command).find(option, false).semantic()->max_tokens() != 0;
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  line.help = general_help();
  if (arguments.empty()) usage_error("no command given");
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return line;
  if (first == "--version") {
    line.command = Command::version;
    return line;
  }
  if (first == "--list-params") {
    line.command = Command::list_parameters;
    return line;
  }
  for (const CommandInfo& info : kCommands)
    if (first == info.name) return parse_command(info, {arguments.begin() + 1, arguments.end()});
  const auto is_its_option = [&](const CommandInfo& info) {
    return first.starts_with("--") && has_option(info.command, without_dashes(first));
  };
  if (std::any_of(kCommands.begin(), kCommands.end(), is_its_option))
    usage_error(first + " belongs after a command: lacuna COMMAND " + first);
  if (first.empty()) usage_error("the command is an empty name");
  std::vector<std::string> names{"help", "--help", "--version", "--list-params"};
  for (const CommandInfo& info : kCommands) names.emplace_back(info.name);
  std::string nearest = nearest_name(names, first);
  const bool is_word = first.starts_with("--") && first.size() > 3;
  if (nearest.empty() && is_word) {
    const std::string option = nearest_option(all_option_names(), without_dashes(first.substr(0, first.find('='))));
    if (!option.empty()) nearest = "lacuna COMMAND --" + option;
  }
  usage_error("unknown command " + first + did_you_mean(nearest));
}

}  // namespace lacuna

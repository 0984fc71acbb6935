#include "platform/command_line.h"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <sstream>

#include "models/common/config/nearest_name.h"
#include "platform/sida/sida_command_line.h"

namespace po = boost::program_options;

namespace lacuna {
namespace {

struct CommandInfo {
  const char* name;
  Command command;
  const char* operand;
  const char* summary;
  const char* text;
};

constexpr std::array<CommandInfo, 12> kCommands{
    {{"run", Command::run, "FIRMWARE.elf", "boot a firmware on the hart, with the GPU on its bus",
      "Boots a bare-metal RV64GC program on a platform with hart, RAM, CLINT, PLIC, UART, finisher and GPU, until the program "
      "ends itself (semihosting exit, HTIF tohost, finisher). Prints the program's console, then a line per kernel; writes "
      "effective.cfg, statistics.json, kernels.csv, log.txt and console.txt to the output folder, and a table of kernels to "
      "stderr "
      "at the end; stdout has the bytes of the program's console and nothing else."},
     {"launch", Command::launch, "CODE-OBJECT|LAUNCH-FILE", "run kernels of a code object",
      "Runs one kernel of a gfx803 or gfx90a code object, or what a launch file describes, without a firmware of your own: "
      "lacuna launch vadd.co --kernel vadd --grid 1024 --block 256 --arg in:a.bin --arg in:b.bin --arg out:4096:c.bin --arg "
      "i32:1024. Arguments: in:FILE inout:FILE out:SIZE:FILE zero:SIZE fill:COUNT:TYPE:PATTERN[:SEED] buf:NAME null, "
      "TYPE:VALUE (i8 to u64, f16 bf16 f32 f64), bytes:HEX raw:FILE, lds:BYTES; docs/launch.md has them all, and launch "
      "files."},
     {"exec", Command::exec, "-- PROGRAM [ARGUMENTS]", "run a HIP program on virtual GPUs in its process",
      "Runs a program of ROCm's user-mode stack, as hipcc --offload-arch=gfx803 or gfx90a built it, with virtual GPUs in place "
      "of "
      "the kernel driver and its hardware: lacuna exec --config r9nano -- ./vadd; lacuna exec -- rocminfo. The program is not "
      "changed; exit code, input and output are its own. Several GPUs: --set rocm.gpus=gfx803,gfx90a. Writes effective.cfg, "
      "statistics.json, kernels.csv and log.txt to the output folder and a table of kernels to stderr at the end. Without "
      "lacuna exec, LD_LIBRARY_PATH=<folder of Lacuna's libhsakmt.so.1> ./program does the same, and LACUNA_CONFIG, "
      "LACUNA_SET, LACUNA_OUT and LACUNA_REPORT replace the options; see docs/rocm.md."},
     {"sweep", Command::sweep, "FILE", "run a workload at many points: parameters, options, seeds",
      "Runs lacuna run, launch, exec or sida once for every combination of values in a sweep file (docs/sweep.md), and stores "
      "configuration, statistics, kernels and origin of each in a database: lacuna sweep l2.sweep -j 8; lacuna results l2. "
      "Points that have been run with the same inputs are not run again: after an interruption, or when values have been added "
      "to the file, the same command runs the rest. until = 1 % in [repeat] repeats each point until the confidence interval "
      "of the mean is that narrow. --on slurm hands "
      "the points to the batch system as job arrays. Exit code 1: not all points are done, or an "
      "interval is wider than until asks for."},
     {"results", Command::results, "[SWEEP[@VERSION]]", "list, filter, export and compare what sweeps have found",
      "Without SWEEP lists the sweeps of a database; with it prints the metrics of each combination of axes: the mean "
      "of the repetitions, its 95 % confidence interval, and how many samples a narrower one would need. @VERSION, a commit or "
      "the first digits of one or a version, chooses among "
      "results of several builds. Exit code 1: --compare has found a change."},
     {"hart", Command::hart, "PROGRAM.elf [-- ARGUMENTS]", "run a bare-metal program on the hart alone",
      "Runs a bare-metal RV64GC program on the same platform without the GPU and returns its exit code. ARGUMENTS reach the "
      "program by semihosting. Nothing but the program's console is printed, and files are written only with --out."},
     {"disasm", Command::disasm, "CODE-OBJECT", "print a GPU code object's instructions",
      "Prints the executable sections of a gfx803 or gfx90a code object in the format of llvm-objdump -d."},
     {"isa", Command::isa_check, "check FILE...", "list kernels: arguments, resources, instructions, whether they run",
      "Lists for each kernel of gfx803 and gfx90a code objects its arguments, what resources of a compute unit it needs, and "
      "the "
      "instructions that it consists of, called functions included, as "
      "exact, approximate or unsupported, without running anything. Exit code 1 when a kernel cannot run."},
     {"finalize", Command::finalize, "FILE", "find and tag code that can be computed near the data",
      "Finds in each kernel of a code object or an offload bundle (gfx803, gfx90a) the offload chains of near-data computing: "
      "one "
      "or two loads, none to two operations, and a store or a result. Prints them by kernel and pattern, and for every other "
      "vector load the reason why it is in none. With --out writes the file with the tags in an additional section, which "
      "loaders and other tools ignore."},
     {"mesh", Command::mesh, "", "show a mesh, and where the data of caches meet",
      "Prints the mesh of a configuration, with its cores and last-level caches, and for a core the node at which the data of "
      "each pair of last-level caches meet on their way to it (docs/near-data.md). With --out also draws it, as SVG."},
     {"sida", Command::sida, "run PROGRAM | explain PROGRAM | info MATRIX | generate KIND | prepare MATRIX | machine",
      "programs and matrices of the sparse dataflow accelerator",
      "run runs a program, such as pr, on --matrix, a file or KIND:NAME=VALUE,…, and prints iterations, time and bytes. "
      "--out writes the results of a run to a folder. machine prints what the accelerator consists of, and its area. "
      "explain says which products of a program share a reading of the matrix, and what prevents it for the others. "
      "info prints sizes of a sparse matrix and, for each order of its rows and columns, how much of it the accelerator keeps "
      "when "
      "it reads the matrix once for two products: a Matrix Market file, also compressed by gzip, a prepared one, or "
      "KIND:NAME=VALUE,… as generate takes it. prepare writes a prepared one, which loads quickly. generate writes a matrix of "
      "a "
      "kind: "
      "lacuna sida generate power:rows=100000,entries=1280000 --out "
      "power.mtx. docs/sida-reference.md has kinds and orders."},
     {"docs", Command::docs, "FOLDER", "write the generated pages of the documentation",
      "Writes parameters.md, memory-map.md, isa-coverage.md, kernels-csv.md, duplo-reference.md, lazy-reference.md, "
      "matrix-unit-reference.md and sida-reference.md to FOLDER."}}};

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  N    the program ended itself with code N (its low 8 bits); exec: the program's own\n"
    "  1, 3 launch: the GPU reported an error; a comparison differs\n"
    "  2    command line, configuration, program file or output folder is wrong\n"
    "  4    a check of the modelled machine failed (the log says which); the results of the program are correct\n"
    "  69   the processor lacks instructions that this build consists of (AVX2, FMA)\n"
    "  70   internal error of the simulator, not of a model\n"
    "  71   the host has no memory left, or refuses a thread or a file\n"
    "  74   output could not be written\n"
    "  123  the hart took a trap whose handler cannot be fetched (mtvec); the log names cause and place\n"
    "  124  simulated time limit reached (--max-time, sim.max_time)\n"
    "  125  hung: no progress for sim.max_idle, or no event left to simulate\n"
    "  126  internal error: a model is in an impossible state; exec: PROGRAM cannot be started\n"
    "  127  exec: there is no PROGRAM\n"
    "  130  ended by Ctrl-C (results so far are written; a second Ctrl-C ends immediately)\n";

po::options_description common_options() {
  po::options_description options("Options");
  options.add_options()("help,h", "print this help");
  return options;
}

po::options_description platform_options() {
  po::options_description options = common_options();
  options.add_options()                                                                                                  //
      ("config,c", po::value<std::vector<std::string>>()->value_name("FILE"),                                            //
       "configuration file, or the name of a preset such as r9nano; may be repeated, later wins")                        //
      ("set,s", po::value<std::vector<std::string>>()->value_name("SECTION.NAME=VALUE"),                                 //
       "set one parameter; may be repeated, later wins")                                                                 //
      ("out,o", po::value<std::string>()->value_name("DIR"), "output folder (default lacuna-out/run-NNNN; hart: none)")  //
      ("max-time", po::value<std::string>()->value_name("TIME"), "end after this simulated time, e.g. 10ms")             //
      ("quiet,q", "no progress line and no report, only the program's console");
  return options;
}

po::options_description simulation_options() {
  po::options_description options = platform_options();
  options.add_options()                                                                                                //
      ("gdb", po::value<std::uint16_t>()->value_name("PORT"), "wait for a debugger on 127.0.0.1:PORT (0 = any free)")  //
      ("input", po::value<std::string>()->value_name("FILE"), "console input; - is standard input");
  return options;
}

bool simulates(Command command) { return command == Command::run || command == Command::launch || command == Command::hart; }

/// Options of a launch; a launch file has the same values as keys.
po::options_description launch_options() {
  using Texts = std::vector<std::string>;
  po::options_description options("Kernel and arguments");
  options.add_options()                                                                                                  //
      ("kernel,k", po::value<Texts>()->value_name("NAME"), "the kernel")                                                 //
      ("grid", po::value<Texts>()->value_name("X[,Y,Z]"), "size of the grid in work-items")                              //
      ("blocks", po::value<Texts>()->value_name("X[,Y,Z]"), "size of the grid in workgroups, instead of --grid")         //
      ("block", po::value<Texts>()->value_name("X[,Y,Z]"), "work-items of a workgroup (default 64)")                     //
      ("offset", po::value<Texts>()->value_name("X[,Y,Z]"), "global offset")                                             //
      ("arg,a", po::value<Texts>()->value_name("ARGUMENT"), "argument of the kernel; one for each parameter, in order")  //
      ("stack", po::value<Texts>()->value_name("BYTES"), "minimum private memory of a work-item")                        //
      ("max-block", po::value<Texts>()->value_name("ITEMS"), "largest workgroup, instead of the metadata's")             //
      ("repeat", po::value<Texts>()->value_name("N"), "number of dispatches")                                            //
      ("compare", po::value<Texts>()->value_name("[BUFFER=]FILE"), "compare a buffer with a file; may be repeated")      //
      ("tolerance", po::value<Texts>()->value_name("SPEC"), "of comparisons: abs=X,rel=X,ulp=N")                         //
      ("define,D", po::value<Texts>()->value_name("NAME=VALUE"), "set a constant of the launch file");
  return options;
}

po::options_description sweep_options() {
  po::options_description options = common_options();
  options.add_options()                                                                                                 //
      ("jobs,j", po::value<unsigned>()->value_name("N"), "points run in parallel (default: the number of processors)")  //
      ("on", po::value<std::string>()->value_name("WHERE"), "here (default) or slurm")                                  //
      ("slurm", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
       "a key of [slurm]: partition, time, memory, cpus, …; may be repeated")                       //
      ("no-wait", "with --on slurm: submit and exit; the same command collects the results later")  //
      ("db", po::value<std::string>()->value_name("FILE"),
       "database (default: the sweep file's database, else lacuna-results.db)")                 //
      ("dry-run,n", "list the points and what a run would do with each")                        //
      ("retry", "run again what failed, took too long or was killed")                           //
      ("overnight", "only the points that the file marks as a night's work of two processors")  //
      ("quiet,q", "no progress and no table at the end")                                        //
      ("task", po::value<std::string>()->value_name("FOLDER"), "folder of a batch job's points; used by the jobs themselves");
  return options;
}

po::options_description results_options() {
  using Texts = std::vector<std::string>;
  po::options_description options = common_options();
  options.add_options()                                                                                            //
      ("db", po::value<std::string>()->value_name("FILE")->default_value("lacuna-results.db"), "database")         //
      ("metric,m", po::value<Texts>()->value_name("[NAME=]PATH"), "show this instead of the sweep's own metrics")  //
      ("where,w", po::value<Texts>()->value_name("CONDITION"), "only points for which this holds: 'n >= 1024'")    //
      ("points", "list each point, with its state and origin")                                                     //
      ("failed", "points that failed, with the end of their logs")                                                 //
      ("csv", "comma-separated values to standard output")                                                         //
      ("compare", po::value<std::string>()->value_name("SWEEP[@VERSION]"),
       "what has changed from SWEEP to this one: differences beyond the threshold and beyond the intervals")  //
      ("threshold", po::value<std::string>()->value_name("PERCENT")->default_value("1%"), "of --compare")     //
      ("interval", po::value<std::string>()->value_name("PERCENT"),
       "also how many samples a mean within this share of it, such as 1%, would need");
  return options;
}

po::options_description finalize_options() {
  po::options_description options("Output");
  options.add_options()                                                                        //
      ("out,o", po::value<std::string>()->value_name("TAGGED"), "file to write, with tags")    //
      ("report", po::value<std::string>()->value_name("FILE.json"), "the report as JSON")      //
      ("no-move", "tags only: leave the code as it is, also where chains are not contiguous")  //
      ("take-apart", "as ndc.take_apart: also move loads past waits that follow them")         //
      ("interleaved", "as ndc.interleaved: also tag interleaved chains");
  return options;
}

po::options_description mesh_options() {
  po::options_description options = common_options();
  options.add_options()                                                                   //
      ("config,c", po::value<std::vector<std::string>>()->value_name("FILE"),             //
       "configuration file, or the name of a preset such as mesh56; may be repeated")     //
      ("set,s", po::value<std::vector<std::string>>()->value_name("SECTION.NAME=VALUE"),  //
       "set one parameter; may be repeated, later wins")                                  //
      ("core", po::value<unsigned>()->value_name("N")->default_value(0), "the core")      //
      ("out,o", po::value<std::string>()->value_name("FILE.svg"), "draw a picture, too");
  return options;
}

po::options_description options_of(Command command) {
  if (command == Command::sida) {
    po::options_description options = common_options();
    add_sida_options(options);
    return options;
  }
  if (command == Command::mesh) return mesh_options();
  if (command == Command::sweep) return sweep_options();
  if (command == Command::results) return results_options();
  po::options_description options = simulates(command)         ? simulation_options()
                                    : command == Command::exec ? platform_options()
                                                               : common_options();
  if (command == Command::launch) options.add(launch_options());
  if (command == Command::isa_check) options.add_options()("json", "print JSON");
  if (command == Command::finalize) options.add(finalize_options());
  return options;
}

std::string general_help() {
  std::ostringstream text;
  text << "Lacuna: a SystemC/TLM-2.0 loosely-timed virtual GPU\n\nUsage:\n";
  for (const CommandInfo& info : kCommands) {
    const std::string usage = std::string("  lacuna ") + info.name + ' ' + info.operand;
    text << usage << std::string(usage.size() < 40 ? 40 - usage.size() : 1, ' ') << info.summary << '\n';
  }
  text << "  lacuna --list-params                  print all parameters\n"
          "  lacuna --version                      print the version\n"
          "  lacuna COMMAND --help                 print a command's options\n\n"
       << kExitCodes;
  return text.str();
}

/// Breaks lines at blanks so that they stay within 80 columns.
std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  std::string word;
  std::size_t column = 0;
  while (words >> word) {
    if (column != 0 && column + 1 + word.size() > 80) {
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
  text << "Usage: lacuna " << info.name << " [OPTIONS] " << info.operand << "\n\n"
       << wrapped(info.text) << '\n'
       << options_of(info.command);
  if (simulates(info.command) || info.command == Command::exec) text << '\n' << kExitCodes;
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

/// The option that the user probably meant by `name`: the only one that begins with it, the nearest one, the only one that it
/// begins with (--output), the only one that contains it as a word (--time); "" if none.
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

/// "run, launch": the commands that have the option, which may be a single letter.
std::string commands_with(const std::string& name) {
  std::string commands;
  for (const CommandInfo& info : kCommands)
    if (name.size() == 1 ? has_letter(info.command, name) : has_option(info.command, name))
      commands += (commands.empty() ? "" : ", ") + std::string(info.name);
  return commands;
}

/// `written`: with dashes and possibly with =VALUE.
[[noreturn]] void unknown_option(const std::string& written, const CommandInfo& info) {
  const std::string option = written.substr(0, written.find('='));
  const std::string name = without_dashes(option);
  const std::string unknown = "unknown option " + option;
  // A single letter is near to every other one.
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

/// Collects the values of an option in order, merged with those of other options: --config and --set apply in the order given.
void collect_sources(const po::parsed_options& parsed, CommandLine& line) {
  for (const po::option& option : parsed.options) {
    if (option.string_key == "config" || option.string_key == "set")
      for (const std::string& value : option.value) line.configuration.push_back({option.string_key == "config", value});
    if (line.command == Command::launch && launch_options().find_nothrow(option.string_key, false) != nullptr)
      for (const std::string& value : option.value) line.launch.values.emplace_back(option.string_key, value);
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
  // Boost would treat arguments after "--" as operands.
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  if (separator != arguments.end()) {
    line.guest_arguments.assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
    if (info.command != Command::hart && info.command != Command::run && info.command != Command::exec)
      usage_error("nothing may follow --", info.name);
  }

  po::options_description options = options_of(info.command);
  options.add_options()("operand", po::value<std::vector<std::string>>());
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
    // Boost examines the value after = before it looks up the option.
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
  return line;
}

}  // namespace

std::vector<std::string> option_names(Command command) {
  std::vector<std::string> names;
  const po::options_description options = options_of(command);
  for (const auto& option : options.options()) names.push_back(option->long_name());
  return names;
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

#include "campaign.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "files.h"
#include "generator.h"
#include "shrink.h"
#include "source.h"

namespace lacuna::programs {
namespace {

/// Failure of one program with one variant.
struct Failure {
  Program program;
  Variant variant;
  std::string message;
};

std::string difference(const Program& program, const Result& expected, const Result& got) {
  std::ostringstream text;
  const auto describe = [&](const char* what, const auto& a, const auto& b) {
    const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    if (a == b) return;
    std::size_t count = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i] ? 1U : 0U;
    text << what << ": " << count << " of " << a.size() << " bytes differ, first byte " << at;
    if (&a == &expected.output && at < program.group_output_offset() && program.item_bytes != 0) {
      text << " (work item " << at / program.item_bytes << ", its byte " << at % program.item_bytes << ")";
    }
    text << std::hex << std::setfill('0') << ": expected";
    for (std::size_t i = at; i < std::min(at + 8, a.size()); ++i) text << ' ' << std::setw(2) << unsigned{a[i]};
    text << ", got";
    for (std::size_t i = at; i < std::min(at + 8, b.size()); ++i) text << ' ' << std::setw(2) << unsigned{b[i]};
    text << std::dec << '\n';
  };
  describe("output", expected.output, got.output);
  describe("cells", expected.cells, got.cells);
  return text.str();
}

/// Description of the failure of `program` with `variant`; empty if there is none. Throws CompileError or RunError if the
/// host's compiler or run fails: then there is no reference.
std::string fault_of(const Program& program, const Variant& variant, const Simulator& simulator,
                     const std::filesystem::path& folder) {
  const std::span<const Program> alone(&program, 1);
  write_programs(alone, folder);
  const Result expected = run_on_host(alone, folder).front();
  try {
    build_for_gpu(folder, variant);
    return difference(program, expected, run_on_gpu(alone, folder, variant, simulator).front());
  } catch (const CompileError& e) {
    return std::string("compiler: ") + e.what();
  } catch (const RunError& e) {
    return std::string("run: ") + e.what();
  }
}

std::vector<std::vector<Program>> batches(const CampaignOptions& options) {
  std::vector<std::vector<Program>> result;
  for (std::uint64_t done = 0; done < options.count; done += options.batch) {
    std::vector<Program>& programs = result.emplace_back();
    for (std::uint64_t i = done; i < std::min<std::uint64_t>(done + options.batch, options.count); ++i) {
      programs.push_back(generate_program(options.seed + i, options.matrix));
    }
  }
  return result;
}

std::filesystem::path built_folder(const CampaignOptions& options, const std::vector<Program>& programs) {
  return options.built / ("seeds-" + std::to_string(programs.front().seed) + "-" + std::to_string(programs.back().seed));
}

std::filesystem::path expected_file(const std::filesystem::path& folder, const Program& program, const char* what) {
  return folder / (program.name + ".expected." + what);
}

/// Kind of a fault, which the reduction of a program must preserve.
std::string kind_of(const std::string& fault) { return fault.substr(0, fault.find(':')); }

class Campaign {
 public:
  Campaign(const CampaignOptions& options, std::ostream& log) : options_(options), log_(log) {}

  std::uint64_t run() {
    for (const std::vector<Program>& programs : batches(options_)) {
      check(programs);
      log_ << "seeds " << programs.front().seed << " to " << programs.back().seed << ": " << failures_ << " failed so far"
           << std::endl;
    }
    return failures_;
  }

 private:
  void check(const std::vector<Program>& programs) {
    const TemporaryFolder folder;
    const std::vector<Result> expected = expected_of(programs, folder.path());
    std::map<std::uint64_t, Failure> failing;  // one variant of each program is enough
    for (const Variant& variant : options_.variants) {
      for (const Failure& failure : failures_of(programs, expected, variant, folder.path())) {
        failing.emplace(failure.program.seed, failure);
      }
    }
    for (const auto& [seed, failure] : failing) report(failure);
  }

  /// Results computed by the host. `folder` receives the programs and the files built from them.
  std::vector<Result> expected_of(const std::vector<Program>& programs, const std::filesystem::path& folder) {
    const std::filesystem::path built = built_folder(options_, programs);
    if (options_.built.empty() || !std::filesystem::exists(expected_file(built, programs.back(), "cells"))) {
      write_programs(programs, folder);
      return run_on_host(programs, folder);
    }
    const std::vector<std::uint8_t> source = read_file(built / kSourceFile);
    if (std::string(source.begin(), source.end()) != source_of(programs))
      throw std::runtime_error(built.string() + ": these are other programs; build them again");
    for (const auto& file : std::filesystem::directory_iterator(built)) {
      std::filesystem::create_symlink(file.path(), folder / file.path().filename());
    }
    std::vector<Result> expected;
    for (const Program& program : programs) {
      expected.push_back(
          {read_file(expected_file(built, program, "output")), read_file(expected_file(built, program, "cells"))});
    }
    return expected;
  }

  std::vector<Failure> failures_of(const std::vector<Program>& programs, const std::vector<Result>& expected,
                                   const Variant& variant, const std::filesystem::path& folder) {
    std::vector<Failure> result;
    try {
      if (!std::filesystem::exists(folder / (variant.code_name() + ".co"))) build_for_gpu(folder, variant);
      const std::vector<Result> got = run_on_gpu(programs, folder, variant, options_.simulator);
      for (std::size_t i = 0; i < programs.size(); ++i) {
        const std::string fault = difference(programs[i], expected[i], got[i]);
        if (!fault.empty()) result.push_back({programs[i], variant, fault});
      }
      return result;
    } catch (const std::exception& e) {
      log_ << variant.name() << ", seeds " << programs.front().seed << " to " << programs.back().seed
           << ": one by one, because " << e.what() << std::endl;
    }
    for (const Program& program : programs) {
      const TemporaryFolder own;
      const std::string fault = fault_of(program, variant, options_.simulator, own.path());
      if (!fault.empty()) result.push_back({program, variant, fault});
    }
    if (result.empty()) {
      ++failures_;
      log_ << "FAILED: the programs fail together only" << std::endl;
    }
    return result;
  }

  void report(const Failure& failure) {
    ++failures_;
    log_ << "FAILED: seed " << failure.program.seed << ", " << failure.variant.name() << ", size " << size_of(failure.program)
         << '\n'
         << failure.message << std::endl;
    Failure kept = failure;
    if (options_.shrink_limit.count() > 0) {
      const TemporaryFolder folder;
      const std::string kind = kind_of(failure.message);
      const auto shows = [&](const Program& candidate) {
        try {
          return kind_of(fault_of(candidate, failure.variant, options_.simulator, folder.path())) == kind;
        } catch (const std::exception&) {
          return false;
        }
      };
      kept.program = shrink(failure.program, shows, options_.shrink_limit);
      log_ << "made smaller: size " << size_of(kept.program) << std::endl;
    }
    keep(kept);
  }

  void keep(const Failure& failure) {
    const std::filesystem::path folder = options_.keep / (failure.program.name + "-" + failure.variant.name());
    std::filesystem::create_directories(folder);
    const std::string fault = fault_of(failure.program, failure.variant, options_.simulator, folder);
    const Result expected = run_on_host({&failure.program, 1}, folder).front();
    write_file(folder / "expected.output", expected.output);
    write_file(folder / "expected.cells", expected.cells);
    std::filesystem::copy_file(include_folder() / "random_program.h", folder / "random_program.h",
                               std::filesystem::copy_options::overwrite_existing);
    write_file(folder / "fault.txt", fault);
    log_ << fault << "kept in " << folder.string() << "; again: (cd " << folder.string() << " && "
         << options_.simulator.executable.string() << " launch " << failure.variant.name() << ".launch)" << std::endl;
  }

  const CampaignOptions& options_;
  std::ostream& log_;
  std::uint64_t failures_ = 0;
};

}  // namespace

void build_programs(const CampaignOptions& options) {
  for (const std::vector<Program>& programs : batches(options)) {
    const std::filesystem::path folder = built_folder(options, programs);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    write_programs(programs, folder);
    try {
      const std::vector<Result> expected = run_on_host(programs, folder);
      for (std::size_t i = 0; i < programs.size(); ++i) {
        write_file(expected_file(folder, programs[i], "output"), expected[i].output);
        write_file(expected_file(folder, programs[i], "cells"), expected[i].cells);
      }
      for (const Variant& variant : options.variants) build_for_gpu(folder, variant);
    } catch (const CompileError&) {
    } catch (const RunError&) {
    }
    // The intermediate files of code objects and results are not needed after the build.
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.path().extension() == ".o" || file.path().extension() == ".so" || file.path().filename() == "host.cl")
        std::filesystem::remove(file.path());
  }
}

std::uint64_t run_campaign(const CampaignOptions& options, std::ostream& log) { return Campaign(options, log).run(); }

}  // namespace lacuna::programs

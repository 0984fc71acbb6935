// A launch: its program, and the files by which the launcher on the hart reads the plan and returns results.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/host/devices/guest_file.h"
#include "platform/launch/launch_interpreter.h"

namespace lacuna {

class LaunchSession {
 public:
  /// `wanted_target` selects among the code objects of a bundle; "" = the first, whose target then applies to all.
  explicit LaunchSession(LaunchProgram program, std::string wanted_target = {});
  LaunchSession(const LaunchSession&) = delete;
  LaunchSession& operator=(const LaunchSession&) = delete;

  /// Checks everything that can be checked before the run. Throws LaunchError or ElfError with file and line.
  void rehearse() { interpreter_.rehearse(); }
  /// Target of the code objects; call it after rehearse().
  isa::Target target() const { return interpreter_.codes().target(); }
  /// Warnings for the user about a launch that can nevertheless run.
  const std::vector<std::string>& warnings() const { return interpreter_.warnings(); }
  /// Input files of the statements executed so far: the launch file or code object itself, code objects, contents, references.
  /// rehearse() adds only those of each loop's first iteration.
  const std::set<std::filesystem::path>& inputs() const { return interpreter_.inputs(); }
  /// Contents of all code object files read so far.
  std::vector<std::span<const std::byte>> code_images() const { return interpreter_.codes().images(); }

  /// Opens one of the launcher's files (platform/launch/launch_plan.h).
  std::unique_ptr<GuestFile> open(const std::string& name);

  /// Error during the construction or execution of the plan, with file and line; "" = none. The launcher ends after an error.
  std::string error() const;
  /// A file to which a buffer could not be saved, and the reason; "" = none.
  const std::string& lost_output() const { return interpreter_.buffers().lost_output(); }
  const std::deque<ComparisonResult>& comparisons() const { return interpreter_.buffers().comparisons(); }

 private:
  class PlanFile;

  /// Adds records for the launcher, unless the next records depend on an element that the launcher has not written yet.
  void extend_plan();

  PlanStream plan_;
  LaunchInterpreter interpreter_;
  std::vector<std::byte> failure_;  ///< launch_failure and text that the launcher has written
  std::string error_;               ///< error of the interpreter; "" = none
};

}  // namespace lacuna

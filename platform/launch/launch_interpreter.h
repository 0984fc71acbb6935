// Executes the statements of a launch program: each adds records to the plan of the launcher on the hart.
//
// Statements are executed while the launcher reads the plan, so that a loop of a million dispatches takes no memory, and a
// condition can depend on results of the GPU. rehearse() first executes the whole program without a GPU, each loop once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/launch/kernel_call.h"
#include "platform/launch/launch_buffers.h"
#include "platform/launch/launch_code.h"
#include "platform/launch/launch_program.h"
#include "platform/launch/plan_stream.h"

namespace lacuna {

class LaunchInterpreter {
 public:
  /// `plan` must outlive the interpreter. `wanted_target`: see LaunchCodes.
  LaunchInterpreter(LaunchProgram program, std::string wanted_target, PlanStream& plan);

  /// Checks everything that can be checked before the run. Afterwards the plan is rewound to its beginning. Throws LaunchError
  /// or ElfError with file and line.
  void rehearse();
  /// Executes the next statement. Throws LaunchError with file and line. If the statement needs an element of a buffer, a
  /// record to fetch it is added instead, and the next step() executes the statement again.
  void step();
  bool finished() const { return finished_; }
  /// Ends the program without executing the remaining statements.
  void stop() { finished_ = true; }

  const LaunchProgram& program() const { return program_; }
  const LaunchBuffers& buffers() const { return buffers_; }
  const LaunchCodes& codes() const { return codes_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::set<std::filesystem::path>& inputs() const { return inputs_; }

 private:
  void begin(bool rehearsing);
  void execute(const LaunchStatement& statement);
  void execute_constants(const LaunchStatement& statement);
  void execute_code(const LaunchStatement& statement);
  void execute_buffer(const LaunchStatement& statement);
  void execute_write(const LaunchStatement& statement);
  void execute_save(const LaunchStatement& statement);
  void execute_compare(const LaunchStatement& statement);
  void execute_dispatch(const LaunchStatement& statement);
  void execute_condition(const LaunchStatement& statement);
  void execute_end(const LaunchStatement& statement);
  void finish();

  KernelCall read_call(const LaunchStatement& statement, const KernelMetadata& kernel);
  std::uint32_t read_stack(const LaunchStatement& statement, const KernelMetadata& kernel);
  void compare_buffer(const std::string& name, const LaunchBuffer& compared, const std::filesystem::path& reference,
                      const Tolerance& tolerance);
  void warn_of_services(const KernelMetadata& kernel);
  void warn_of_block(const KernelMetadata& kernel, const KernelCall& call);
  std::string value(std::string_view text) const { return substitute(text, scope_); }
  ArgumentContext context() { return {program_.folder, scope_, &inputs_}; }

  LaunchProgram program_;
  PlanStream& plan_;
  LaunchCodes codes_;
  LaunchBuffers buffers_;
  ExpressionScope scope_;
  std::size_t next_ = 0;  ///< index of the next statement
  bool finished_ = false;
  bool rehearsing_ = false;
  /// In a rehearsal: errors of statements before this index are ignored, since values are guesses.
  std::size_t lenient_until_ = 0;
  std::uint32_t kernarg_bytes_ = 0;  ///< largest argument segment of a kernel
  std::uint32_t private_bytes_ = 0;  ///< largest stack of a kernel
  std::set<std::filesystem::path> inputs_;
  std::vector<std::string> warnings_;
  std::set<std::string> warned_;
};

}  // namespace lacuna

// Runs a launch program: turns its statements into the stream of records that the launcher on the hart executes, and provides
// the files that go with it.
//
// Statements are executed while the launcher reads, so a loop of a million dispatches takes no memory, and a condition can
// look at what the GPU has computed so far. rehearse() goes through the whole program before, without a GPU: each loop once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/host/devices/guest_file.h"
#include "platform/launch/comparison.h"
#include "platform/launch/kernel_call.h"
#include "platform/launch/launch_program.h"
#include "platform/loaders/code_object.h"

namespace lacuna {

class LaunchSession {
 public:
  /// `wanted_target` chooses among the code objects of a bundle; "" takes the first, and then those for the same target.
  explicit LaunchSession(LaunchProgram program, std::string wanted_target = {});
  ~LaunchSession();
  LaunchSession(const LaunchSession&) = delete;
  LaunchSession& operator=(const LaunchSession&) = delete;

  /// Checks everything that can be known before the run. Throws LaunchError or ElfError with file and line.
  void rehearse();
  /// What the code objects are for; to be called after rehearse().
  isa::Target target() const;
  /// Things that the user should know although the launch runs.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The files that have been read or will be, as far as statements have been executed: the launch file or code object itself,
  /// code objects, contents, references. Of a loop, rehearse() sees the first pass.
  const std::set<std::filesystem::path>& inputs() const { return inputs_; }

  /// The files of all code objects so far.
  std::vector<std::span<const std::byte>> code_images() const;

  /// The launcher's files (platform/launch/launch_plan.h).
  std::unique_ptr<GuestFile> open(const std::string& name);

  /// What went wrong while the plan was made or executed, with file and line; "" = nothing. The launcher ends then.
  std::string error() const;
  /// A file that a buffer should have been saved to, and why it was not; "" = none is missing.
  const std::string& lost_output() const { return lost_; }
  const std::deque<ComparisonResult>& comparisons() const { return comparisons_; }

 private:
  /// A statement needs a buffer's element that has to come from the GPU first.
  struct ElementWanted {};
  class PlanFile;
  class FetchFile;
  using StreamOpener = std::function<std::unique_ptr<GuestFile>()>;

  struct Code {
    std::string name;
    std::shared_ptr<const CodeObject> object;
  };
  struct Buffer {
    std::uint32_t index = 0;
    std::uint64_t bytes = 0;
    unsigned line = 0;
    std::optional<ElementType> type;
    std::optional<std::filesystem::path> save;
    std::optional<std::filesystem::path> compare;
    Tolerance tolerance;
  };
  /// What one pass through the program, rehearsal or run, has come to.
  struct State {
    std::size_t next = 0;  ///< statement
    bool finished = false;
    ExpressionScope scope;
    std::vector<Code> codes;
    std::map<std::string, Buffer, std::less<>> buffers;
    std::vector<std::string> buffer_order;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t, std::less<>> kernels;  ///< code/kernel and stack to number
  };

  void begin();
  /// Executes the next statement; errors get its place.
  void step();
  void execute(const LaunchStatement& statement);
  void execute_constants(const LaunchStatement& statement);
  std::shared_ptr<const CodeObject> read_code(const std::filesystem::path& file);
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
  const Code& code_of(const LaunchStatement& statement) const;
  std::uint32_t kernel_number(const Code& code, const KernelMetadata& kernel, std::uint32_t stack);
  Buffer& buffer(const std::string& name);
  std::uint32_t add_buffer(const std::string& name, Buffer added);
  void add_printf_buffer();
  void warn_of_services(const KernelMetadata& kernel);
  void warn_of_block(const KernelMetadata& kernel, const KernelCall& call);
  Number element(const std::string& name, std::int64_t index);
  void download(const Buffer& from, std::uint64_t offset, std::uint64_t bytes, StreamOpener open);
  void upload(const Buffer& to, const Contents& contents);
  void compare_buffer(const std::string& name, const Buffer& compared, const std::filesystem::path& reference,
                      const Tolerance& tolerance);
  std::string value(std::string_view text) const;
  /// "FILE:LINE: ", or "" for line 0.
  std::string at(unsigned line) const;
  ArgumentContext context() { return {program_.folder, state_.scope, &inputs_}; }

  /// Appends a record to the plan; its header is filled in here.
  template <typename Record>
  void emit(std::uint32_t operation, Record record, std::span<const std::byte> tail = {},
            std::span<const std::byte> tail2 = {}) {
    emit_bytes(operation, std::as_writable_bytes(std::span(&record, 1)), tail, tail2);
  }
  void emit_bytes(std::uint32_t operation, std::span<std::byte> record, std::span<const std::byte> tail,
                  std::span<const std::byte> tail2);
  std::uint32_t add_stream(StreamOpener open);
  /// Text with its 0, as long as records are: in whole eights.
  static std::string record_text(std::string text);

  LaunchProgram program_;
  std::string wanted_target_;
  State state_;
  bool rehearsing_ = false;
  /// Rehearsal: until this statement values are guesses, so errors do not count.
  std::size_t lenient_until_ = 0;
  bool guessed_ = false;
  std::map<std::string, std::shared_ptr<const CodeObject>, std::less<>> code_objects_;  ///< by file
  std::uint32_t kernarg_bytes_ = 0;
  std::uint32_t private_bytes_ = 0;

  unsigned line_ = 0;  ///< of the statement being executed
  std::vector<std::byte> plan_;
  std::size_t plan_read_ = 0;
  std::map<std::uint32_t, StreamOpener> streams_;
  std::uint32_t next_stream_ = 0;
  /// Elements of buffers that the current statement has asked for, and what waits to be fetched.
  std::map<std::pair<std::string, std::int64_t>, Number> elements_;
  std::optional<std::pair<std::string, std::int64_t>> wanted_;
  std::vector<std::byte> fetched_;
  std::vector<std::byte> failure_;  ///< launch_failure and text, when the launcher has ended for it

  std::deque<ComparisonResult> comparisons_;
  std::set<std::filesystem::path> inputs_;
  std::vector<std::string> warnings_;
  std::set<std::string> warned_;
  std::string error_;  ///< of the plan
  std::string lost_;
};

}  // namespace lacuna

#include "platform/launch/launch_session.h"

#include <cerrno>
#include <cstring>

#include "platform/launch/fetched_file.h"
#include "platform/launch/launch_plan.h"

namespace lacuna {
namespace {

/// Statements are executed ahead of the launcher until the unread records have this size in bytes.
constexpr std::size_t kPlanAhead = 64 * 1024;

}  // namespace

/// The plan as a file that the launcher reads.
class LaunchSession::PlanFile final : public GuestFile {
 public:
  explicit PlanFile(LaunchSession& session) : session_(session) {}

  std::int64_t read(std::span<std::byte> bytes) override {
    if (session_.plan_.unread() == 0) session_.extend_plan();
    return static_cast<std::int64_t>(session_.plan_.read(bytes));
  }
  std::int64_t write(std::span<const std::byte>) override { return errno = EBADF, -1; }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return -1; }
  /// Reads return the available records without waiting: later records may depend on the execution of earlier records.
  bool terminal() const override { return true; }

 private:
  LaunchSession& session_;
};

LaunchSession::LaunchSession(LaunchProgram program, std::string wanted_target)
    : interpreter_(std::move(program), std::move(wanted_target), plan_) {}

void LaunchSession::extend_plan() {
  try {
    if (interpreter_.buffers().is_fetching()) return;
    while (plan_.unread() < kPlanAhead && !interpreter_.finished()) {
      interpreter_.step();
      if (interpreter_.buffers().is_wanted()) return;
    }
  } catch (const std::runtime_error& e) {
    error_ = e.what();
    plan_.drop_unread();
    interpreter_.stop();
    plan_.emit(LAUNCH_ABORT, launch_header{});
  }
}

std::string LaunchSession::error() const {
  launch_failure failure{};
  if (!error_.empty() || failure_.size() < sizeof failure) return error_;
  std::memcpy(&failure, failure_.data(), sizeof failure);
  return interpreter_.program().location(failure.line) +
         std::string(reinterpret_cast<const char*>(failure_.data()) + sizeof failure, failure_.size() - sizeof failure);
}

std::unique_ptr<GuestFile> LaunchSession::open(const std::string& name) {
  if (name == LAUNCH_PLAN_FILE) return std::make_unique<PlanFile>(*this);
  if (name == LAUNCH_FAILURE_FILE) return std::make_unique<FetchedFile>(failure_);
  return plan_.open_file(name);
}

}  // namespace lacuna

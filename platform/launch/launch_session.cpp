#include "platform/launch/launch_session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/launch_plan.h"
#include "platform/launch/saved_file.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

using Kind = LaunchStatement::Kind;

/// The plan is made this far ahead of the launcher.
constexpr std::size_t kPlanAhead = 64 * 1024;
constexpr std::uint32_t kQueuePackets = 1024;

}  // namespace

/// The plan as the launcher reads it.
class LaunchSession::PlanFile final : public GuestFile {
 public:
  explicit PlanFile(LaunchSession& session) : session_(session) {}

  std::int64_t read(std::span<std::byte> bytes) override {
    LaunchSession& s = session_;
    if (s.plan_read_ == s.plan_.size()) {
      s.plan_.clear();
      s.plan_read_ = 0;
      make();
    }
    const std::size_t count = std::min(bytes.size(), s.plan_.size() - s.plan_read_);
    std::memcpy(bytes.data(), s.plan_.data() + s.plan_read_, count);
    s.plan_read_ += count;
    return static_cast<std::int64_t>(count);
  }
  std::int64_t write(std::span<const std::byte>) override { return errno = EBADF, -1; }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return -1; }
  /// What there is, is given at once: the rest may depend on what the launcher does with it.
  bool terminal() const override { return true; }

 private:
  void make() {
    LaunchSession& s = session_;
    try {
      if (s.wanted_ && s.fetched_.empty()) return;  // the launcher has not done what was asked
      while (s.plan_.size() < kPlanAhead && !s.state_.finished) {
        s.step();
        if (s.wanted_) return;
      }
    } catch (const std::runtime_error& e) {
      s.error_ = e.what();
      s.plan_.clear();
      s.state_.finished = true;
      s.emit(LAUNCH_ABORT, launch_header{});
    }
  }

  LaunchSession& session_;
};

/// Takes bytes that the launcher writes: an element that a statement waits for, or why it ends.
class LaunchSession::FetchFile final : public GuestFile {
 public:
  explicit FetchFile(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  std::int64_t read(std::span<std::byte>) override { return errno = EBADF, -1; }
  std::int64_t write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return static_cast<std::int64_t>(bytes.size());
  }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return 0; }

 private:
  std::vector<std::byte>& bytes_;
};

LaunchSession::LaunchSession(LaunchProgram program, std::string wanted_target)
    : program_(std::move(program)), wanted_target_(std::move(wanted_target)), inputs_{program_.file} {}
LaunchSession::~LaunchSession() = default;

void LaunchSession::begin() {
  state_ = {};
  state_.scope.element = [this](const std::string& name, std::int64_t index) { return element(name, index); };
  plan_.clear();
  plan_read_ = 0;
  streams_.clear();
  elements_.clear();
  comparisons_.clear();
  failure_.clear();
}

void LaunchSession::rehearse() {
  rehearsing_ = true;
  begin();
  while (!state_.finished) step();
  if (state_.codes.empty()) throw LaunchError(program_.file + ": no code object is loaded");
  rehearsing_ = false;
  begin();
  emit(LAUNCH_QUEUE, launch_queue{.header = {},
                                  .packets = kQueuePackets,
                                  .kernarg_bytes = std::max<std::uint32_t>((kernarg_bytes_ + 63) / 64 * 64, 64),
                                  .private_segment_bytes = private_bytes_,
                                  .reserved = 0});
}

isa::Target LaunchSession::target() const { return code_objects_.begin()->second->target(); }

std::string LaunchSession::at(unsigned line) const {
  return line != 0 ? program_.file + ':' + std::to_string(line) + ": " : std::string();
}

std::string LaunchSession::error() const {
  launch_failure failure{};
  if (!error_.empty() || failure_.size() < sizeof failure) return error_;
  std::memcpy(&failure, failure_.data(), sizeof failure);
  return at(failure.line) +
         std::string(reinterpret_cast<const char*>(failure_.data()) + sizeof failure, failure_.size() - sizeof failure);
}

std::vector<std::span<const std::byte>> LaunchSession::code_images() const {
  std::vector<std::span<const std::byte>> images;
  for (const auto& [file, object] : code_objects_) images.push_back(object->elf().bytes());
  return images;
}

std::unique_ptr<GuestFile> LaunchSession::open(const std::string& name) {
  if (name == LAUNCH_PLAN_FILE) return std::make_unique<PlanFile>(*this);
  if (name == LAUNCH_FAILURE_FILE) return std::make_unique<FetchFile>(failure_);
  constexpr std::string_view kPrefix = LAUNCH_STREAM_FILE;
  if (!name.starts_with(kPrefix)) return nullptr;
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + kPrefix.size(), end, number).ptr != end) return nullptr;
  const auto stream = streams_.find(number);
  if (stream == streams_.end()) return nullptr;
  // Each is opened once.
  const StreamOpener opener = std::move(stream->second);
  streams_.erase(stream);
  return opener();
}

void LaunchSession::emit_bytes(std::uint32_t operation, std::span<std::byte> record, std::span<const std::byte> tail,
                               std::span<const std::byte> tail2) {
  if (rehearsing_) return;
  const std::size_t bytes = record.size() + tail.size() + tail2.size();
  if (bytes > LAUNCH_RECORD_BYTES) throw LaunchError("a name or the arguments of a dispatch are too long");
  const launch_header header{.operation = operation, .bytes = static_cast<std::uint32_t>(bytes), .line = line_, .reserved = 0};
  std::memcpy(record.data(), &header, sizeof header);
  plan_.insert(plan_.end(), record.begin(), record.end());
  plan_.insert(plan_.end(), tail.begin(), tail.end());
  plan_.insert(plan_.end(), tail2.begin(), tail2.end());
}

std::string LaunchSession::record_text(std::string text) {
  text.resize((text.size() + 8) / 8 * 8, '\0');
  return text;
}

std::uint32_t LaunchSession::add_stream(StreamOpener open) {
  if (!rehearsing_) streams_[next_stream_] = std::move(open);
  return next_stream_++;
}

void LaunchSession::step() {
  if (wanted_) {
    const Buffer& from = buffer(wanted_->first);
    if (fetched_.size() == element_size(*from.type)) elements_[*wanted_] = load_element(*from.type, fetched_.data());
    wanted_.reset();
    fetched_.clear();
  }
  if (state_.next == program_.statements.size()) {
    line_ = 0;
    finish();
    return;
  }
  const std::size_t index = state_.next;
  const LaunchStatement& statement = program_.statements[index];
  line_ = statement.line;
  guessed_ = false;
  try {
    // Where control goes elsewhere, the statement says so.
    ++state_.next;
    execute(statement);
    elements_.clear();
  } catch (const ElementWanted&) {
    state_.next = index;
  } catch (const std::runtime_error& e) {
    const bool tentative = rehearsing_ && (guessed_ || index < lenient_until_);
    if (!tentative) throw LaunchError(at(line_) + e.what());
  }
}

void LaunchSession::execute(const LaunchStatement& statement) {
  switch (statement.kind) {
    case Kind::constants:
    case Kind::set:
      return execute_constants(statement);
    case Kind::code:
      return execute_code(statement);
    case Kind::buffer:
      return execute_buffer(statement);
    case Kind::dispatch:
      return execute_dispatch(statement);
    case Kind::loop:
    case Kind::while_loop:
    case Kind::branch:
      return execute_condition(statement);
    case Kind::end:
      return execute_end(statement);
    case Kind::write:
      return execute_write(statement);
    case Kind::save:
      return execute_save(statement);
    case Kind::compare:
      return execute_compare(statement);
  }
}

std::string LaunchSession::value(std::string_view text) const { return substitute(text, state_.scope); }

LaunchSession::Buffer& LaunchSession::buffer(const std::string& name) {
  const auto found = state_.buffers.find(name);
  if (found != state_.buffers.end()) return found->second;
  throw LaunchError("unknown buffer " + name + did_you_mean(nearest_name(state_.buffer_order, name)));
}

std::uint32_t LaunchSession::add_buffer(const std::string& name, Buffer added) {
  added.index = static_cast<std::uint32_t>(state_.buffer_order.size());
  emit(LAUNCH_ALLOCATE, launch_allocate{.header = {}, .bytes = added.bytes, .buffer = added.index, .reserved = 0});
  state_.buffer_order.push_back(name);
  return (state_.buffers[name] = std::move(added)).index;
}

void LaunchSession::upload(const Buffer& to, const Contents& contents) {
  emit(LAUNCH_UPLOAD,
       launch_transfer{.header = {}, .offset = 0, .bytes = contents.bytes, .buffer = to.index, .stream = add_stream([contents] {
                                                                                                 return open_contents(contents);
                                                                                               })});
}

void LaunchSession::download(const Buffer& from, std::uint64_t offset, std::uint64_t bytes, StreamOpener open) {
  emit(LAUNCH_DOWNLOAD,
       launch_transfer{
           .header = {}, .offset = offset, .bytes = bytes, .buffer = from.index, .stream = add_stream(std::move(open))});
}

Number LaunchSession::element(const std::string& name, std::int64_t index) {
  const Buffer& from = buffer(name);
  if (!from.type) throw LaunchError("buffer " + name + " has no element type (type=…)");
  const std::uint64_t size = element_size(*from.type);
  if (static_cast<std::uint64_t>(index) >= from.bytes / size)
    throw LaunchError(name + '[' + std::to_string(index) + "]: the buffer has " + std::to_string(from.bytes / size) +
                      " elements");
  if (rehearsing_) {
    guessed_ = true;
    return Number::of(1);
  }
  const std::pair key{name, index};
  if (const auto known = elements_.find(key); known != elements_.end()) return known->second;
  wanted_ = key;
  download(from, static_cast<std::uint64_t>(index) * size, size, [this] { return std::make_unique<FetchFile>(fetched_); });
  throw ElementWanted{};
}

void LaunchSession::finish() {
  for (const std::string& name : state_.buffer_order) {
    const Buffer& made = buffer(name);
    line_ = made.line;
    try {
      if (made.compare) compare_buffer(name, made, *made.compare, made.tolerance);
    } catch (const LaunchError& e) {
      throw LaunchError(at(made.line) + "buffer " + name + ": " + e.what());
    }
    if (made.save)
      download(made, 0, made.bytes,
               [this, file = *made.save, bytes = made.bytes] { return open_saved_file(file, bytes, lost_); });
  }
  line_ = 0;
  emit(LAUNCH_END, launch_header{});
  state_.finished = true;
}

}  // namespace lacuna

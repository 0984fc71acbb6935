#include "platform/launch/launch_code.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/launch_plan.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

/// A code object in memory, as a file that the launcher can read.
class MemoryFile final : public GuestFile {
 public:
  explicit MemoryFile(std::shared_ptr<const CodeObject> object) : object_(std::move(object)) {}
  std::int64_t read(std::span<std::byte> bytes) override {
    const auto all = object_->elf().bytes();
    const std::size_t count = std::min(bytes.size(), all.size() - position_);
    std::memcpy(bytes.data(), all.data() + position_, count);
    position_ += count;
    return static_cast<std::int64_t>(count);
  }
  std::int64_t write(std::span<const std::byte>) override { return errno = EBADF, -1; }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return static_cast<std::int64_t>(object_->elf().bytes().size()); }

 private:
  std::shared_ptr<const CodeObject> object_;
  std::size_t position_ = 0;
};

}  // namespace

void LaunchCodes::begin() {
  codes_.clear();
  kernels_.clear();
}

std::shared_ptr<const CodeObject> LaunchCodes::read(const std::filesystem::path& file) {
  std::vector<CodeObject> objects = read_code_objects(file);
  const auto chosen = std::find_if(objects.begin(), objects.end(),
                                   [&](const CodeObject& o) { return isa::traits(o.target()).name == wanted_target_; });
  auto object = std::make_shared<const CodeObject>(std::move(chosen != objects.end() ? *chosen : objects.front()));
  if (wanted_target_.empty()) wanted_target_ = isa::traits(object->target()).name;
  files_[file.string()] = object;
  return object;
}

void LaunchCodes::load(const std::string& name, const std::filesystem::path& file, std::set<std::filesystem::path>& inputs) {
  for (const LaunchCode& code : codes_)
    if (code.name == name) throw LaunchError("code object " + name + " is loaded twice");
  const auto known = files_.find(file.string());
  const std::shared_ptr<const CodeObject> object = known != files_.end() ? known->second : read(file);
  inputs.insert(file);
  if (object->target() != target())
    throw LaunchError(file.string() + ": is for " + std::string(isa::traits(object->target()).name) +
                      ", the first code object is for " + std::string(isa::traits(target()).name));
  codes_.push_back({name, object});
  const std::uint32_t stream = plan_.add_file([object] { return std::make_unique<MemoryFile>(object); });
  plan_.emit(LAUNCH_LOAD, launch_load{.header = {},
                                      .code = static_cast<std::uint32_t>(codes_.size() - 1),
                                      .stream = stream,
                                      .bytes = object->elf().bytes().size()});
}

const LaunchCode& LaunchCodes::find(const std::string* name) const {
  if (codes_.empty()) throw LaunchError("there is no [code] before the dispatch");
  if (name == nullptr) return codes_.front();
  std::vector<std::string> names;
  for (const LaunchCode& code : codes_) {
    if (code.name == *name) return code;
    names.push_back(code.name);
  }
  throw LaunchError("unknown code object " + *name + did_you_mean(nearest_name(names, *name)));
}

std::uint32_t LaunchCodes::kernel_number(const LaunchCode& code, const KernelMetadata& kernel, std::uint32_t stack) {
  const auto code_index = static_cast<std::uint32_t>(&code - codes_.data());
  const auto number = static_cast<std::uint32_t>(kernels_.size());
  const auto [entry, is_new] = kernels_.try_emplace({std::to_string(code_index) + '/' + kernel.name, stack}, number);
  if (is_new) {
    const std::string name = PlanStream::record_text(kernel.name);
    plan_.emit(LAUNCH_KERNEL,
               launch_kernel{.header = {},
                             .kernel = number,
                             .code = code_index,
                             .private_segment_bytes = stack,
                             .name_bytes = static_cast<std::uint32_t>(name.size())},
               std::as_bytes(std::span(name)));
  }
  return entry->second;
}

isa::Target LaunchCodes::target() const { return files_.begin()->second->target(); }

std::vector<std::span<const std::byte>> LaunchCodes::images() const {
  std::vector<std::span<const std::byte>> images;
  for (const auto& [file, object] : files_) images.push_back(object->elf().bytes());
  return images;
}

}  // namespace lacuna

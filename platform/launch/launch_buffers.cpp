#include "platform/launch/launch_buffers.h"

#include <memory>

#include "models/common/config/nearest_name.h"
#include "platform/launch/fetched_file.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/launch_plan.h"
#include "platform/launch/saved_file.h"

namespace lacuna {

void LaunchBuffers::begin() {
  buffers_.clear();
  names_.clear();
  elements_.clear();
  comparisons_.clear();
}

LaunchBuffer& LaunchBuffers::add(const std::string& name, LaunchBuffer added) {
  added.index = static_cast<std::uint32_t>(names_.size());
  plan_.emit(LAUNCH_ALLOCATE, launch_allocate{.header = {}, .bytes = added.bytes, .buffer = added.index, .reserved = 0});
  names_.push_back(name);
  return buffers_[name] = std::move(added);
}

LaunchBuffer& LaunchBuffers::find(const std::string& name) {
  const auto found = buffers_.find(name);
  if (found != buffers_.end()) return found->second;
  throw LaunchError("unknown buffer " + name + did_you_mean(nearest_name(names_, name)));
}

const LaunchBuffer* LaunchBuffers::lookup(const std::string& name) const {
  const auto found = buffers_.find(name);
  return found != buffers_.end() ? &found->second : nullptr;
}

void LaunchBuffers::upload(const LaunchBuffer& to, const Contents& contents) {
  const std::uint32_t stream = plan_.add_file([contents] { return open_contents(contents); });
  plan_.emit(LAUNCH_UPLOAD,
             launch_transfer{.header = {}, .offset = 0, .bytes = contents.bytes, .buffer = to.index, .stream = stream});
}

void LaunchBuffers::download(const LaunchBuffer& from, std::uint64_t offset, std::uint64_t bytes, PlanStream::Opener open) {
  const std::uint32_t stream = plan_.add_file(std::move(open));
  plan_.emit(LAUNCH_DOWNLOAD,
             launch_transfer{.header = {}, .offset = offset, .bytes = bytes, .buffer = from.index, .stream = stream});
}

void LaunchBuffers::save(const LaunchBuffer& from, const std::filesystem::path& file) {
  download(from, 0, from.bytes, [this, file, bytes = from.bytes] { return open_saved_file(file, bytes, lost_); });
}

void LaunchBuffers::compare(const std::string& name, const LaunchBuffer& compared, const std::filesystem::path& reference,
                            const Tolerance& tolerance) {
  check_comparison(reference, compared.bytes, tolerance, compared.type);
  if (plan_.discards()) return;
  ComparisonResult& result = comparisons_.emplace_back();
  result.buffer = name;
  result.reference = reference.string();
  download(compared, 0, compared.bytes, [reference, tolerance, type = compared.type, &result] {
    return open_comparison(reference, tolerance, type, result);
  });
}

Number LaunchBuffers::element(const std::string& name, std::int64_t index) {
  const LaunchBuffer& from = find(name);
  if (!from.type) throw LaunchError("buffer " + name + " has no element type (type=…)");
  const std::uint64_t size = element_size(*from.type);
  if (static_cast<std::uint64_t>(index) >= from.bytes / size)
    throw LaunchError(name + '[' + std::to_string(index) + "]: the buffer has " + std::to_string(from.bytes / size) +
                      " elements");
  if (plan_.discards()) {
    guessed_ = true;
    return Number::of(1);
  }
  const ElementKey key{name, index};
  if (const auto known = elements_.find(key); known != elements_.end()) return known->second;
  wanted_ = key;
  download(from, static_cast<std::uint64_t>(index) * size, size, [this] { return std::make_unique<FetchedFile>(fetched_); });
  throw ElementWanted{};
}

void LaunchBuffers::take_element() {
  if (!wanted_) return;
  const LaunchBuffer& from = find(wanted_->first);
  if (fetched_.size() == element_size(*from.type)) elements_[*wanted_] = load_element(*from.type, fetched_.data());
  wanted_.reset();
  fetched_.clear();
}

}  // namespace lacuna

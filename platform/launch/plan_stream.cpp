#include "platform/launch/plan_stream.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "platform/launch/launch_error.h"
#include "platform/launch/launch_plan.h"

namespace lacuna {

void PlanStream::begin(bool discard) {
  drop_unread();
  files_.clear();
  discard_ = discard;
}

void PlanStream::emit_bytes(std::uint32_t operation, std::span<std::byte> record, std::span<const std::byte> tail,
                            std::span<const std::byte> tail2) {
  if (discard_) return;
  const std::size_t bytes = record.size() + tail.size() + tail2.size();
  if (bytes > LAUNCH_RECORD_BYTES) throw LaunchError("a name or the arguments of a dispatch are too long");
  const launch_header header{.operation = operation, .bytes = static_cast<std::uint32_t>(bytes), .line = line_, .reserved = 0};
  std::memcpy(record.data(), &header, sizeof header);
  records_.insert(records_.end(), record.begin(), record.end());
  records_.insert(records_.end(), tail.begin(), tail.end());
  records_.insert(records_.end(), tail2.begin(), tail2.end());
}

std::uint32_t PlanStream::add_file(Opener open) {
  if (!discard_) files_[next_file_] = std::move(open);
  return next_file_++;
}

std::string PlanStream::record_text(std::string text) {
  text.resize((text.size() + 8) / 8 * 8, '\0');
  return text;
}

std::size_t PlanStream::read(std::span<std::byte> bytes) {
  const std::size_t count = std::min(bytes.size(), unread());
  std::memcpy(bytes.data(), records_.data() + read_, count);
  read_ += count;
  if (unread() == 0) drop_unread();
  return count;
}

void PlanStream::drop_unread() {
  records_.clear();
  read_ = 0;
}

std::unique_ptr<GuestFile> PlanStream::open_file(std::string_view name) {
  constexpr std::string_view kPrefix = LAUNCH_STREAM_FILE;
  if (!name.starts_with(kPrefix)) return nullptr;
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data() + kPrefix.size(), end, number).ptr != end) return nullptr;
  const auto file = files_.find(number);
  if (file == files_.end()) return nullptr;
  const Opener open = std::move(file->second);
  files_.erase(file);
  return open();
}

}  // namespace lacuna

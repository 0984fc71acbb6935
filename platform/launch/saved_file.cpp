#include "platform/launch/saved_file.h"

#include <cerrno>

#include "platform/run/whole_file.h"

namespace lacuna {
namespace {

class SavedFile final : public GuestFile {
 public:
  SavedFile(const std::filesystem::path& file, std::uint64_t bytes, std::string& lost)
      : file_(file), left_(bytes), lost_(lost) {
    if (left_ == 0) file_.commit();
  }
  std::int64_t read(std::span<std::byte>) override { return errno = EBADF, -1; }
  std::int64_t write(std::span<const std::byte> bytes) override {
    if (bytes.size() > left_) return errno = EFBIG, -1;
    try {
      file_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      left_ -= bytes.size();
      if (left_ == 0) file_.commit();
    } catch (const WriteError& e) {
      if (lost_.empty()) lost_ = e.what();
      return errno = EIO, -1;
    }
    return static_cast<std::int64_t>(bytes.size());
  }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return -1; }

 private:
  WholeFile file_;
  std::uint64_t left_;
  std::string& lost_;
};

}  // namespace

std::unique_ptr<GuestFile> open_saved_file(const std::filesystem::path& file, std::uint64_t bytes, std::string& lost) {
  try {
    return std::make_unique<SavedFile>(file, bytes, lost);
  } catch (const WriteError& e) {
    if (lost.empty()) lost = e.what();
    return nullptr;
  }
}

}  // namespace lacuna

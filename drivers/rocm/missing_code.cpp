#include "drivers/rocm/missing_code.h"

#include <link.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lacuna::rocm {
namespace {

constexpr std::size_t kMostGpus = 16;
constexpr std::uint64_t kMostEntries = 4096;
constexpr std::uint64_t kLongestIdentifier = 256;
// Formats of clang's offload bundle, and of the record with which a file registers a bundle (clang, CGCUDANV.cpp; HIP,
// __CudaFatBinaryWrapper).
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint32_t kWrapperMagic = 0x48495046;
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* bundle;
  const void* unused;
};

std::array<isa::Target, kMostGpus> wanted;
std::size_t wanted_count = 0;
const char* parameter_name = "";

/// A line of text in a buffer of fixed size, without allocation; longer text is truncated.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - 1 - size_);
    std::copy_n(text.data(), count, text_.data() + size_);
    size_ += count;
    return *this;
  }
  std::string_view text() const { return {text_.data(), size_}; }
  void print() {
    text_[size_++] = '\n';
    if (write(STDERR_FILENO, text_.data(), size_) < 0) size_ = 0;
  }

 private:
  std::array<char, 2048> text_;
  std::size_t size_ = 0;
};

/// The target id in a bundle entry's identifier: "gfx90a:xnack+" in "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"; empty for the
/// host's entry.
std::string_view target_id(std::string_view identifier) {
  const std::size_t at =
      identifier.find("amdgcn") == std::string_view::npos ? std::string_view::npos : identifier.rfind("-gfx");
  return at == std::string_view::npos ? std::string_view() : identifier.substr(at + 1);
}

/// Whether code with target id `id` runs on `target`. Code that names a feature runs only on GPUs that have it in the same
/// state: gfx90a has SRAM ECC on and XNACK off.
bool fits(std::string_view id, isa::Target target) {
  return id.substr(0, id.find(':')) == isa::traits(target).name && id.find(":xnack+") == std::string_view::npos &&
         id.find(":sramecc-") == std::string_view::npos;
}

std::uint64_t number_at(const std::byte* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Calls `visit(target id)` for each code object in the bundle; false if this is not a bundle, or if it is truncated.
template <class Visit>
bool for_code_objects(const std::byte* bundle, std::size_t bytes, Visit visit) {
  constexpr std::size_t kHead = kBundleMagic.size() + 8;
  if (bytes < kHead || std::memcmp(bundle, kBundleMagic.data(), kBundleMagic.size()) != 0) return false;
  const std::uint64_t count = number_at(bundle + kBundleMagic.size());
  if (count > kMostEntries) return false;
  std::size_t at = kHead;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes - at < 24) return false;
    const std::uint64_t size = number_at(bundle + at + 8);
    const std::uint64_t length = number_at(bundle + at + 16);
    at += 24;
    if (length > kLongestIdentifier || length > bytes - at) return false;
    const std::string_view id = target_id({reinterpret_cast<const char*>(bundle + at), length});
    if (!id.empty() && size != 0) visit(id);
    at += length;
  }
  return true;
}

/// Writes the report on a bundle to `line`; false if the bundle has code for all GPUs or cannot be read.
bool describe(const std::byte* bundle, std::size_t bytes, std::string_view file, Line& line) {
  std::array<bool, isa::kTargets> there{};
  const bool read = for_code_objects(bundle, bytes, [&](std::string_view id) {
    for (unsigned t = 0; t < isa::kTargets; ++t) there[t] = there[t] || fits(id, static_cast<isa::Target>(t));
  });
  const auto missing = std::find_if(wanted.begin(), wanted.begin() + wanted_count,
                                    [&](isa::Target target) { return !there[static_cast<unsigned>(target)]; });
  if (!read || missing == wanted.begin() + wanted_count) return false;
  line << "lacuna: " << file << " has code for ";
  bool first = true;
  for_code_objects(bundle, bytes, [&](std::string_view id) {
    line << (first ? "" : ", ") << id;
    first = false;
  });
  const std::string_view name = isa::traits(*missing).name;
  line << (first ? "no GPU" : "") << " and none for " << name << ", so HIP aborts: compile it with --offload-arch=" << name
       << " as well";
  for (unsigned t = 0; t < isa::kTargets; ++t) {
    if (there[t]) line << ", or choose --set " << parameter_name << "=" << isa::traits(static_cast<isa::Target>(t)).name;
  }
  return true;
}

/// Number of bytes from `at` to the end of the segment of `object` that contains it; 0 if none does.
std::size_t bytes_from(const dl_phdr_info& object, std::uintptr_t at) {
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && at >= begin && at - begin < segment.p_filesz)
      return segment.p_filesz - (at - begin);
  }
  return 0;
}

// Callback of dl_iterate_phdr(): searches the writable segments of a loaded file for registration records, and reports the
// first bundle of each segment that lacks code. The records are in writable segments, which are small, because the dynamic
// linker relocates them.
int look_at(dl_phdr_info* object, std::size_t, void*) {
  std::array<char, 1024> own{};
  std::string_view file = object->dlpi_name;
  if (file.empty()) {
    const ssize_t length = readlink("/proc/self/exe", own.data(), own.size());
    file = {own.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
  }
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const auto* const begin = reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr);
    for (std::size_t at = (0 - segment.p_vaddr) % alignof(Wrapper); at + sizeof(Wrapper) <= segment.p_filesz;
         at += alignof(Wrapper)) {
      Wrapper wrapper;
      std::memcpy(&wrapper, begin + at, sizeof wrapper);
      if (wrapper.magic != kWrapperMagic) continue;
      Line line;
      if (!describe(wrapper.bundle, bytes_from(*object, reinterpret_cast<std::uintptr_t>(wrapper.bundle)), file, line))
        continue;
      line.print();
      break;  // one line per segment is enough
    }
  }
  return 0;
}

}  // namespace

void expect_code_for(const std::vector<isa::Target>& targets, const char* parameter) {
  wanted_count = std::min(targets.size(), wanted.size());
  std::copy_n(targets.begin(), wanted_count, wanted.begin());
  parameter_name = parameter;
}

void report_missing_code() noexcept { dl_iterate_phdr(look_at, nullptr); }

std::string missing_code_of(const void* bundle, std::size_t bytes, const char* file) {
  Line line;
  return describe(static_cast<const std::byte*>(bundle), bytes, file, line) ? std::string(line.text()) : std::string();
}

}  // namespace lacuna::rocm

#include "drivers/rocm/runtime_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/listing/finalize.h"
#include "platform/loaders/elf_file.h"
#include "platform/loaders/source_lines.h"

namespace lacuna::rocm {
namespace {

constexpr const char* kRuntime = "libhsa-runtime64.so.1";
constexpr const char* kList = "_amdgpu_r_debug";
constexpr std::uint8_t kSymbolTypeAmdKernel = 10;  // STT_AMDGPU_HSA_KERNEL
constexpr unsigned kMostObjects = 1u << 16;        // a list that is being changed may be circular
constexpr std::size_t kLongestUri = 4096;
constexpr std::uint64_t kLargestObject = std::uint64_t{1} << 32;

/// Reads this process's memory by a system call, so that a bad address is an error and does not raise a signal.
class OwnMemory {
 public:
  OwnMemory() : file_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
  ~OwnMemory() {
    if (file_ >= 0) close(file_);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  std::size_t read(std::uint64_t address, void* to, std::size_t bytes) const {
    const ssize_t count = pread(file_, to, bytes, static_cast<off_t>(address));
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  template <class T>
  bool read_object(const T* address, T& value) const {
    return read(reinterpret_cast<std::uint64_t>(address), &value, sizeof value) == sizeof value;
  }
  std::string read_text(const char* address) const {
    std::array<char, kLongestUri> text{};
    const std::size_t count = read(reinterpret_cast<std::uint64_t>(address), text.data(), text.size());
    return {text.data(), strnlen(text.data(), count)};
  }

 private:
  int file_;
};

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view digits = text.substr(at + key.size());
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

/// Decodes percent-encoding: "%20" is a space.
std::string decoded(std::string_view path) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    unsigned code = 0;
    if (path[i] == '%' && i + 2 < path.size() &&
        std::from_chars(&path[i + 1], &path[i + 1] + 2, code, 16).ptr == &path[i + 1] + 2) {
      text += static_cast<char>(code);
      i += 2;
    } else {
      text += path[i];
    }
  }
  return text;
}

std::vector<std::byte> bytes_of(const CodeObjectPlace& place, const OwnMemory& memory) {
  std::vector<std::byte> bytes;
  if (place.file.empty()) {
    if (place.size > kLargestObject) return {};
    bytes.resize(place.size);
    bytes.resize(memory.read(place.offset, bytes.data(), bytes.size()));
    return bytes;
  }
  std::error_code status;
  const std::uint64_t file_size = std::filesystem::file_size(place.file, status);
  if (status || place.offset >= file_size) return {};
  const std::uint64_t rest = file_size - place.offset;
  bytes.resize(place.size == 0 ? rest : std::min(place.size, rest));
  std::ifstream file(place.file, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place.offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file ? bytes : std::vector<std::byte>();
}

/// The function symbol that covers `address`, which is relative to the same base as the file's symbols.
std::optional<CodeSymbol> function_of(const ElfFile& file, std::uint64_t address) {
  const ElfSymbol* best = nullptr;
  for (const ElfSymbol& symbol : file.symbols()) {
    if (!symbol.function && symbol.type != kSymbolTypeAmdKernel) continue;
    if (symbol.section == SHN_UNDEF || symbol.value > address) continue;
    if (symbol.size != 0 && address - symbol.value >= symbol.size) continue;
    if (best == nullptr || symbol.value > best->value) best = &symbol;
  }
  if (best == nullptr) return std::nullopt;
  return CodeSymbol{.name = best->name, .address = best->value};
}

}  // namespace

std::optional<CodeObjectPlace> code_object_place(const std::string& uri) {
  constexpr std::string_view kFile = "file://";
  constexpr std::string_view kMemory = "memory://";
  const std::size_t range_at = std::min(uri.find_first_of("#?"), uri.size());
  const std::string_view range = std::string_view(uri).substr(range_at);
  CodeObjectPlace place;
  place.offset = number_after(range, "offset=").value_or(0);
  place.size = number_after(range, "size=").value_or(0);
  if (uri.starts_with(kFile)) {
    place.file = decoded(std::string_view(uri).substr(kFile.size(), range_at - kFile.size()));
    if (!place.file.empty()) return place;
  }
  if (uri.starts_with(kMemory) && place.offset != 0 && place.size != 0) return place;
  return std::nullopt;
}

RuntimeSymbols::RuntimeSymbols() {
  void* const runtime = dlopen(kRuntime, RTLD_LAZY | RTLD_NOLOAD);
  if (runtime == nullptr) return;
  loaded_ = static_cast<const r_debug*>(dlsym(runtime, kList));
  dlclose(runtime);
}

std::optional<RuntimeSymbols::LoadedFile> RuntimeSymbols::file_of(std::uint64_t pc) const {
  const OwnMemory memory;
  r_debug list{};
  if (loaded_ == nullptr || !memory.read_object(loaded_, list)) return std::nullopt;
  // Find the code object with the highest load address that is at or below `pc`.
  link_map nearest{};
  link_map entry{};
  unsigned count = 0;
  for (const link_map* at = list.r_map; at != nullptr && count < kMostObjects; at = entry.l_next, ++count) {
    if (!memory.read_object(at, entry)) return std::nullopt;
    if (entry.l_addr <= pc && entry.l_addr > nearest.l_addr) nearest = entry;
  }
  if (nearest.l_addr == 0) return std::nullopt;
  const auto place = code_object_place(memory.read_text(nearest.l_name));
  if (!place) return std::nullopt;
  return LoadedFile{.address = nearest.l_addr, .bytes = bytes_of(*place, memory)};
}

std::optional<CodeSymbol> RuntimeSymbols::function(std::uint64_t pc) const {
  std::optional<LoadedFile> file = file_of(pc);
  if (!file) return std::nullopt;
  try {
    std::optional<CodeSymbol> found = function_of(ElfFile(std::move(file->bytes), "loaded code"), pc - file->address);
    if (found) found->address += file->address;
    return found;
  } catch (const ElfError&) {
    return std::nullopt;
  }
}

std::optional<std::string> RuntimeSymbols::find(const isa::MemoryInterface&, std::uint64_t pc) const {
  const std::optional<LoadedFile> file = file_of(pc);
  return file ? source_line(file->bytes, pc - file->address) : std::nullopt;
}

std::optional<KernelTags> RuntimeTags::find(const isa::MemoryInterface& memory, std::uint64_t entry) const {
  static_cast<void>(memory);
  const auto file = symbols_.file_of(entry);
  // There is no file if the code object has been unloaded meanwhile, or was not loaded by the runtime.
  if (!file || file->bytes.empty()) return std::nullopt;
  return loaded_tags(file->bytes, file->address, entry);
}

}  // namespace lacuna::rocm

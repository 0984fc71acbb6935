#include "platform/loaders/program_targets.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include "models/isa/target.h"
#include "platform/loaders/elf_file.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 500;
constexpr const char* kSystemFolders[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib",
                                          "/usr/local/lib"};

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};

/// A host file, mapped instead of read, because libraries with kernels can have hundreds of megabytes.
class HostFile {
 public:
  explicit HostFile(const fs::path& file) : descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0 || elf_version(EV_CURRENT) == EV_NONE) return;
    elf_.reset(elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr));
    if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || gelf_getclass(elf_.get()) != ELFCLASS64) elf_.reset();
  }
  ~HostFile() {
    elf_.reset();
    if (descriptor_ >= 0) close(descriptor_);
  }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;

  std::span<const std::byte> section(std::string_view name) const {
    std::size_t names = 0;
    std::size_t size = 0;
    if (!elf_ || elf_getshdrstrndx(elf_.get(), &names) != 0) return {};
    const char* const bytes = elf_rawfile(elf_.get(), &size);
    if (bytes == nullptr) return {};
    for (Elf_Scn* section = elf_nextscn(elf_.get(), nullptr); section != nullptr; section = elf_nextscn(elf_.get(), section)) {
      GElf_Shdr header{};
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
      const char* const text = elf_strptr(elf_.get(), names, header.sh_name);
      if (text == nullptr || name != text || header.sh_offset > size || header.sh_size > size - header.sh_offset) continue;
      return {reinterpret_cast<const std::byte*>(bytes) + header.sh_offset, header.sh_size};
    }
    return {};
  }

  /// Texts of the dynamic section's entries with this tag.
  std::vector<std::string> dynamic(Elf64_Sxword tag) const {
    std::vector<std::string> texts;
    for (Elf_Scn* section = elf_ ? elf_nextscn(elf_.get(), nullptr) : nullptr; section != nullptr;
         section = elf_nextscn(elf_.get(), section)) {
      GElf_Shdr header{};
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC || header.sh_entsize == 0) continue;
      Elf_Data* const data = elf_getdata(section, nullptr);
      GElf_Dyn entry{};
      for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag != DT_NULL; ++i) {
        const char* const text = entry.d_tag == tag ? elf_strptr(elf_.get(), header.sh_link, entry.d_un.d_val) : nullptr;
        if (text != nullptr) texts.emplace_back(text);
      }
    }
    return texts;
  }

 private:
  int descriptor_;
  std::unique_ptr<Elf, ElfCloser> elf_;
};

void add_folders(const std::string& list, const fs::path& origin, std::vector<fs::path>& folders) {
  std::istringstream stream(list);
  for (std::string folder; std::getline(stream, folder, ':');) {
    for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"})
      if (const std::size_t at = folder.find(name); at != std::string::npos) folder.replace(at, name.size(), origin.string());
    if (!folder.empty()) folders.emplace_back(folder);
  }
}

/// The libraries that a file is linked to, as far as they are found in the folders of the dynamic linker.
std::vector<fs::path> libraries_of(const HostFile& elf, const fs::path& file) {
  std::vector<fs::path> folders;
  for (const Elf64_Sxword tag : {DT_RPATH, DT_RUNPATH})
    for (const std::string& list : elf.dynamic(tag)) add_folders(list, file.parent_path(), folders);
  if (const char* const variable = std::getenv("LD_LIBRARY_PATH")) add_folders(variable, file.parent_path(), folders);
  std::copy(std::begin(kSystemFolders), std::end(kSystemFolders), std::back_inserter(folders));
  std::vector<fs::path> found;
  std::error_code status;
  for (const std::string& name : elf.dynamic(DT_NEEDED)) {
    const auto folder = std::find_if(folders.begin(), folders.end(),
                                     [&](const fs::path& candidate) { return fs::is_regular_file(candidate / name, status); });
    if (folder != folders.end()) found.push_back(fs::canonical(*folder / name, status));
  }
  return found;
}

std::optional<FatBinary> fat_binary(const HostFile& elf, const fs::path& file) {
  const std::span<const std::byte> section = elf.section(kFatBinarySection);
  if (section.empty()) return std::nullopt;
  std::vector<std::set<std::string>> bundles;
  try {
    for (const BundleEntry& entry : read_offload_bundle(section, file.string())) {
      if (entry.bundle >= bundles.size()) bundles.resize(entry.bundle + 1);
      if (!entry.processor.empty() && !entry.bytes.empty()) bundles[entry.bundle].insert(entry.processor);
    }
  } catch (const ElfError&) {
    return std::nullopt;
  }
  if (bundles.empty()) return std::nullopt;
  FatBinary binary{file, bundles.front()};
  for (const std::set<std::string>& bundle : bundles)
    std::erase_if(binary.processors, [&](const std::string& processor) { return bundle.count(processor) == 0; });
  return binary;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

bool executed(const std::string& processor) {
  for (unsigned t = 0; t < isa::kTargets; ++t)
    if (isa::traits(static_cast<isa::Target>(t)).name == processor) return true;
  return false;
}

}  // namespace

std::vector<FatBinary> fat_binaries(const fs::path& program) {
  std::vector<FatBinary> binaries;
  std::deque<fs::path> waiting{program};
  std::set<fs::path> known{program};
  while (!waiting.empty() && known.size() < kMostFiles) {
    const fs::path file = waiting.front();
    waiting.pop_front();
    const HostFile elf(file);
    if (auto binary = fat_binary(elf, file)) binaries.push_back(std::move(*binary));
    for (const fs::path& library : libraries_of(elf, file))
      if (!library.empty() && known.insert(library).second) waiting.push_back(library);
  }
  return binaries;
}

std::vector<std::string> missing_targets(const std::vector<FatBinary>& binaries, const std::vector<std::string>& targets,
                                         const std::string& option) {
  std::vector<std::string> sentences;
  for (const FatBinary& binary : binaries) {
    std::vector<std::string> missing;
    for (const std::string& target : targets)
      if (binary.processors.count(target) == 0 && std::find(missing.begin(), missing.end(), target) == missing.end())
        missing.push_back(target);
    if (missing.empty()) continue;
    const std::vector<std::string> there(binary.processors.begin(), binary.processors.end());
    std::vector<std::string> fitting;
    std::copy_if(there.begin(), there.end(), std::back_inserter(fitting), executed);
    sentences.push_back(binary.file.string() + " has code for " + (there.empty() ? "no GPU" : joined(there, ", ")) +
                        " and none for " + joined(missing, ", ") + ", so that HIP will end it: " +
                        (fitting.empty() ? "compile it with --offload-arch=" + joined(missing, " --offload-arch=")
                                         : "--set " + option + '=' + joined(fitting, " or --set " + option + '=') + " fits"));
  }
  return sentences;
}

}  // namespace lacuna

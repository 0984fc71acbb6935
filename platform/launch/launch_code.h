// The code objects of a launch and their kernels, with the numbers by which the launcher on the hart identifies them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/launch/plan_stream.h"
#include "platform/loaders/code_object.h"

namespace lacuna {

struct LaunchCode {
  std::string name;  ///< name for `code=` of dispatches; may be ""
  std::shared_ptr<const CodeObject> object;
};

class LaunchCodes {
 public:
  /// `wanted_target` selects among the code objects of a bundle; "" = the first, whose target then applies to all.
  LaunchCodes(PlanStream& plan, std::string wanted_target) : plan_(plan), wanted_target_(std::move(wanted_target)) {}

  /// Drops loaded code objects and kernel numbers; keeps the contents of files.
  void begin();
  /// Loads a file into the GPU and adds the file to `inputs`. Throws ElfError, and LaunchError if the name is in use or the
  /// target differs from that of the first code object.
  void load(const std::string& name, const std::filesystem::path& file, std::set<std::filesystem::path>& inputs);
  /// Returns the code object `*name`, or the first that was loaded if `name` is null. Throws LaunchError with the nearest name
  /// if there is no such code object.
  const LaunchCode& find(const std::string* name) const;
  bool empty() const { return codes_.empty(); }
  /// Returns the number by which dispatch records refer to a kernel with this stack size in bytes.
  std::uint32_t kernel_number(const LaunchCode& code, const KernelMetadata& kernel, std::uint32_t stack);

  /// Target of all code objects. At least one must have been read.
  isa::Target target() const;
  /// ELF images of all files read so far.
  std::vector<std::span<const std::byte>> images() const;

 private:
  std::shared_ptr<const CodeObject> read(const std::filesystem::path& file);

  PlanStream& plan_;
  std::string wanted_target_;
  std::vector<LaunchCode> codes_;  ///< loaded code objects, in the order of loading
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t, std::less<>>
      kernels_;  ///< numbers by code object, kernel and stack size
  std::map<std::string, std::shared_ptr<const CodeObject>, std::less<>> files_;  ///< code objects by file
};

}  // namespace lacuna

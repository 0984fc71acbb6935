// `include = FILE` of configuration and sweep files: which file that is, and that none includes itself.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna {

/// what() is the reason alone; the reader adds file and line.
class IncludeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The files that are being read: each includes the next.
class IncludeStack {
 public:
  /// A file is being read for as long as this lives.
  class Reading {
   public:
    Reading(IncludeStack& stack, const std::filesystem::path& file);
    ~Reading() { stack_.open_.pop_back(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    IncludeStack& stack_;
  };

  /// The file that `name` in `includer` means, which is relative to that one's folder. Throws IncludeError: there is no such
  /// file (with the nearest name in its folder), or it is being read already.
  std::filesystem::path find(const std::filesystem::path& includer, const std::string& name) const;

 private:
  std::vector<std::filesystem::path> open_;
};

}  // namespace lacuna

// `include = FILE` of configuration and sweep files: resolves the file name, and detects files that include themselves.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna {

/// what() states only the reason; the parser of the file adds file and line.
class IncludeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The files that are being read: each includes the next.
class IncludeStack {
 public:
  /// Marks a file as being read while this object exists.
  class Reading {
   public:
    Reading(IncludeStack& stack, const std::filesystem::path& file);
    ~Reading() { stack_.open_.pop_back(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    IncludeStack& stack_;
  };

  /// Resolves `name`, which is relative to the folder of `includer`. Throws IncludeError if there is no such file (with the
  /// nearest name in its folder), or if the file is already being read.
  std::filesystem::path find(const std::filesystem::path& includer, const std::string& name) const;

 private:
  std::vector<std::filesystem::path> open_;
};

}  // namespace lacuna

// The buffers of a launch: their allocation, transfers, comparisons, and elements that expressions read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/launch/comparison.h"
#include "platform/launch/contents.h"
#include "platform/launch/plan_stream.h"

namespace lacuna {

struct LaunchBuffer {
  std::uint32_t index = 0;  ///< number by which records refer to the buffer
  std::uint64_t bytes = 0;
  unsigned line = 0;  ///< line of its declaration; 0 = none
  std::optional<ElementType> type;
  std::optional<std::filesystem::path> save;     ///< file to write at the end of the launch
  std::optional<std::filesystem::path> compare;  ///< reference file to compare with at the end of the launch
  Tolerance tolerance;
};

class LaunchBuffers {
 public:
  /// Thrown by element(): the statement must be executed again when the element has been fetched.
  struct ElementWanted {};

  explicit LaunchBuffers(PlanStream& plan) : plan_(plan) {}

  /// Drops all buffers, elements and comparisons.
  void begin();

  /// Allocates a buffer in GPU memory and sets its `index`.
  LaunchBuffer& add(const std::string& name, LaunchBuffer added);
  /// The buffer of this name. Throws LaunchError with the nearest name if there is none.
  LaunchBuffer& find(const std::string& name);
  /// The buffer of this name; null if there is none.
  const LaunchBuffer* lookup(const std::string& name) const;
  /// Names of the buffers, in the order of allocation.
  const std::vector<std::string>& names() const { return names_; }

  void upload(const LaunchBuffer& to, const Contents& contents);
  void save(const LaunchBuffer& from, const std::filesystem::path& file);
  /// Compares a buffer with a file while the launcher writes it. Throws LaunchError if the reference does not match the buffer.
  void compare(const std::string& name, const LaunchBuffer& compared, const std::filesystem::path& reference,
               const Tolerance& tolerance);

  /// Returns an element for an expression. Throws LaunchError for an unknown buffer or index. If the element is still in GPU
  /// memory, requests it and throws ElementWanted; a rehearsal returns 1 instead.
  Number element(const std::string& name, std::int64_t index);
  /// Whether an element has been requested and not yet been written by the launcher.
  bool is_fetching() const { return wanted_ && fetched_.empty(); }
  /// Whether an element has been requested; true until take_element().
  bool is_wanted() const { return wanted_.has_value(); }
  /// Stores the element that the launcher has written.
  void take_element();
  /// Drops fetched elements, since the next statement may change the buffers.
  void drop_elements() { elements_.clear(); }
  /// Whether element() has returned a guessed value, as it does in a rehearsal, since reset_guess().
  bool has_guessed() const { return guessed_; }
  void reset_guess() { guessed_ = false; }

  const std::deque<ComparisonResult>& comparisons() const { return comparisons_; }
  /// A file that could not be saved, and the reason; "" = none.
  const std::string& lost_output() const { return lost_; }

 private:
  using ElementKey = std::pair<std::string, std::int64_t>;

  void download(const LaunchBuffer& from, std::uint64_t offset, std::uint64_t bytes, PlanStream::Opener open);

  PlanStream& plan_;
  std::map<std::string, LaunchBuffer, std::less<>> buffers_;
  std::vector<std::string> names_;
  std::map<ElementKey, Number> elements_;  ///< elements fetched for the current statement
  std::optional<ElementKey> wanted_;
  std::vector<std::byte> fetched_;  ///< bytes of the wanted element
  bool guessed_ = false;
  std::deque<ComparisonResult> comparisons_;
  std::string lost_;
};

}  // namespace lacuna

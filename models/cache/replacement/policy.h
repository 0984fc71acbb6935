// Replacement policies of caches and TLBs: the interface that a policy implements, and its row in the table of policies.
//
// A policy is a file of this folder, and a line in policies.cpp. LRU of up to 16 ways, which nearly all caches have, does not
// pass through this interface: models/cache/replacement.h keeps it inline.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace lacuna {

/// What a policy remembers of all sets of one tag array. It depends on the calls made and on the seed alone, so that runs
/// repeat. Used by one thread at a time.
class ReplacementState {
 public:
  virtual ~ReplacementState() = default;
  /// A line is used, by a read or a write.
  virtual void touch(std::uint32_t set, unsigned way) = 0;
  /// Another line is installed in a way, which counts as its first use; touch() is not called in addition.
  virtual void replace(std::uint32_t set, unsigned way) { touch(set, way); }
  /// The way to replace, of a set in which no way is empty. The caller may choose another one, or query again.
  virtual unsigned victim(std::uint32_t set) = 0;
  /// Of two ways of a full set, whether `way` is replaced before `other`. False where the policy does not order them.
  virtual bool goes_before(std::uint32_t /*set*/, unsigned /*way*/, unsigned /*other*/) const { return false; }
  /// A hint for the host: the set is about to be used.
  virtual void prefetch(std::uint32_t /*set*/) const {}
  /// All sets as they were constructed.
  virtual void reset() = 0;
  /// One set as it was constructed. restart() follows when all sets that were used have been reset.
  virtual void reset(std::uint32_t set) = 0;
  /// As constructed: what does not belong to a set.
  virtual void restart() {}
};

struct ReplacementPolicy {
  /// std::invalid_argument when the policy does not support that many ways.
  using Make = std::unique_ptr<ReplacementState> (*)(std::uint32_t sets, unsigned ways, std::uint64_t seed);

  constexpr ReplacementPolicy(std::string_view policy_name, std::string_view meaning, Make maker)
      : name(policy_name), description(meaning), make(maker) {}
  ReplacementPolicy(const ReplacementPolicy&) = delete;
  ReplacementPolicy& operator=(const ReplacementPolicy&) = delete;

  std::string_view name;         ///< as in configurations
  std::string_view description;  ///< which line is replaced
  Make make;

  // Those that C++ code names.
  static const ReplacementPolicy lru;
  static const ReplacementPolicy plru;
  static const ReplacementPolicy random;
};

/// All policies that a configuration can select.
std::span<const ReplacementPolicy* const> replacement_policies();

}  // namespace lacuna

// Replacement policies of caches and TLBs: the interface that a policy implements, and its row in the table of policies.
//
// A policy is a file of this folder, a declaration in ReplacementPolicy, and a line in policies.cpp. LRU of up to 16 ways,
// which nearly all caches use, bypasses this interface: models/cache/replacement.h implements it inline.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace lacuna {

/// State of a policy for all sets of one tag array. It depends only on the calls and on the seed, so that runs are
/// reproducible. Used by one thread at a time.
class ReplacementState {
 public:
  virtual ~ReplacementState() = default;
  /// Called when a line is read or written.
  virtual void touch(std::uint32_t set, unsigned way) = 0;
  /// Called when another line is installed in a way. This is the line's first use; touch() is not called in addition.
  virtual void replace(std::uint32_t set, unsigned way) { touch(set, way); }
  /// The way to replace in a set without an empty way. The caller may choose another way, or call this function again.
  virtual unsigned victim(std::uint32_t set) = 0;
  /// Whether `way` of a full set is replaced before `other`. False if the policy does not order them.
  virtual bool goes_before(std::uint32_t /*set*/, unsigned /*way*/, unsigned /*other*/) const { return false; }
  /// Prefetches the state of a set to the host's caches.
  virtual void prefetch(std::uint32_t /*set*/) const {}
  /// Resets all sets to their initial state.
  virtual void reset() = 0;
  /// Resets a set to its initial state. restart() follows when all sets that were used have been reset.
  virtual void reset(std::uint32_t set) = 0;
  /// Resets the state that does not belong to a set.
  virtual void restart() {}
};

struct ReplacementPolicy {
  /// Throws std::invalid_argument if the policy does not support that many ways.
  using Make = std::unique_ptr<ReplacementState> (*)(std::uint32_t sets, unsigned ways, std::uint64_t seed);

  constexpr ReplacementPolicy(std::string_view policy_name, std::string_view meaning, Make maker)
      : name(policy_name), description(meaning), make(maker) {}
  ReplacementPolicy(const ReplacementPolicy&) = delete;
  ReplacementPolicy& operator=(const ReplacementPolicy&) = delete;

  std::string_view name;         ///< name in configurations
  std::string_view description;  ///< phrase that names the line to be replaced
  Make make;

  // Policies that C++ code refers to.
  static const ReplacementPolicy lru;
  static const ReplacementPolicy plru;
  static const ReplacementPolicy random;
};

/// All policies that a configuration can select.
std::span<const ReplacementPolicy* const> replacement_policies();

}  // namespace lacuna

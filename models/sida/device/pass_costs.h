// What the passes of a job have taken: a pass that the loop repeats while nothing else uses the memory takes the same again, at
// the host cost of its function (sida.passes = bulk).
//
// The cost of a pass is that of its first execution in detail in which nothing else used the memory, whatever state that one
// found caches and TLBs in. They stay in the state that the last pass in detail has left. Counters of the memory system
// increase as for copies in bulk (CopyContext::add_traffic), when the pass ends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/sdma/copy_context.h"
#include "models/sida/device/memory_ports.h"
#include "models/sida/pipeline/pass_counts.h"

namespace lacuna {

struct PassCost {
  sida::PassCounts counts;
  std::vector<sida::Time> begins;  ///< of its steps, in cycles from the begin of the pass
  MemoryPorts::Statistics ports;
  std::vector<std::uint64_t> traffic;  ///< of the memory system (CopyContext::traffic)

  /// Number of steps that have begun `elapsed` cycles after the begin of the pass.
  std::size_t steps_begun(sida::Time elapsed) const;
};

class PassCosts {
 public:
  /// Passes of one number differ in whether the loop has ended before their second product.
  struct Key {
    std::uint32_t pass = 0;
    bool has_is = false;
    auto operator<=>(const Key&) const = default;
  };

  explicit PassCosts(MemoryPorts& ports) : ports_(ports) {}
  void attach(CopyContext& context) { context_ = &context; }

  /// Whether the accelerator, which has a job, is the only user of the memory. False without a context.
  bool alone() const { return context_ != nullptr && context_->active_users() == 1; }
  /// Null: no such pass has been executed alone.
  const PassCost* find(Key key) const;

  /// Called when a pass of which no cost is known begins alone.
  void begin();
  /// Called when it has ended, still alone. `start`: the begin of the pass.
  void end(Key key, const sida::PassCounts& counts, std::vector<sida::Time> begins, sida::Time start);
  /// Counts the requests of `part` of `whole` of a pass in bulk.
  void count(const PassCost& cost, std::uint64_t part, std::uint64_t whole);

  void clear() { costs_.clear(); }

 private:
  MemoryPorts& ports_;
  CopyContext* context_ = nullptr;
  std::map<Key, PassCost> costs_;
  // When the pass began:
  MemoryPorts::Statistics ports_before_;
  std::vector<std::uint64_t> traffic_before_;
};

}  // namespace lacuna

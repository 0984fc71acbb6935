// Costs of a job's passes. While nothing else uses the memory, a pass repeated by the loop is charged its earlier cost instead
// of being simulated in detail (sida.passes = bulk).
//
// The cost of a pass is that of its first detailed execution without other users of the memory, with caches and TLBs in any
// state. Bulk passes leave caches and TLBs as they are. At the end of a bulk pass, its traffic is added to the counters of the
// memory system, as for bulk copies (CopyContext::add_traffic).
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
  std::vector<sida::Time> begins;  ///< beginning of each step, in cycles from the beginning of the pass
  MemoryPorts::Statistics ports;
  std::vector<std::uint64_t> traffic;  ///< increments of the memory system's counters (CopyContext::traffic) during the pass

  /// Number of steps that have begun within `elapsed` cycles.
  std::size_t steps_begun(sida::Time elapsed) const;
};

class PassCosts {
 public:
  /// Identifies a pass and whether its second product was executed; the loop may end before that product.
  struct Key {
    std::uint32_t pass = 0;
    bool has_is = false;
    auto operator<=>(const Key&) const = default;
  };

  explicit PassCosts(MemoryPorts& ports) : ports_(ports) {}
  void attach(CopyContext& context) { context_ = &context; }

  /// Whether the accelerator's job is the only user of the memory. False without a context.
  bool alone() const { return context_ != nullptr && context_->active_users() == 1; }
  /// The cost of a pass; null if the pass has not been executed alone yet.
  const PassCost* find(Key key) const;

  /// Records the counters. Call it when a pass without a known cost begins alone.
  void begin();
  /// Stores the cost of the pass announced by begin(). Call it when the pass ends, if no other user of the memory has become
  /// active. `start`: time at which the pass began.
  void end(Key key, const sida::PassCounts& counts, std::vector<sida::Time> begins, sida::Time start);
  /// Adds the traffic of a pass to the counters of the ports and of the memory system.
  void count(const PassCost& cost) { count(cost, {1, 1}, {1, 1}, {1, 1}); }
  /// Adds the traffic of the first `cycles` of a pass, as a fraction of its cycles.
  void count_cycles(const PassCost& cost, sida::Time cycles);
  /// Adds the traffic of the requests of a pass with the given bytes, as a fraction of its bytes.
  void count_bytes(const PassCost& cost, const sida::PassCounts& requested);

  void clear() { costs_.clear(); }

 private:
  struct Fraction {
    std::uint64_t part, whole;
    std::uint64_t of(std::uint64_t amount) const;
  };
  void count(const PassCost& cost, Fraction all, Fraction read, Fraction written);

  MemoryPorts& ports_;
  CopyContext* context_ = nullptr;
  std::map<Key, PassCost> costs_;
  // Counters when begin() was called.
  MemoryPorts::Statistics ports_before_;
  std::vector<std::uint64_t> traffic_before_;
};

}  // namespace lacuna

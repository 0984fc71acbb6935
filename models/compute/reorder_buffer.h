// A buffer of a compute unit's vector memory transactions that gives their answers back in the order of the requests, whichever
// wavefronts they are of, one a cycle. A request enters when an entry is free and keeps it until its answer leaves.
//
// The times it is asked for come in the order of the requests. Without entries it does nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "models/common/units.h"

namespace lacuna {

class ReorderBuffer {
 public:
  explicit ReorderBuffer(unsigned entries) : left_(entries) {}

  /// When a request that wants to enter at `at` has an entry.
  Tick enter(Tick at) const { return left_.empty() ? at : later(at, left_[next_]); }
  /// When the answer leaves that is there at `at`: to the request that entered last. `period`: a cycle.
  Tick leave(Tick at, Tick period) {
    if (left_.empty()) return at;
    last_ = later(at, last_ + period);
    left_[next_] = last_;
    next_ = (next_ + 1) % left_.size();
    return last_;
  }

 private:
  std::vector<Tick> left_;  // when the answers before left, the oldest at next_
  std::size_t next_ = 0;
  Tick last_{};
};

}  // namespace lacuna

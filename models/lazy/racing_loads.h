// Loads of mode eager_zero: a load goes to memory while its zero masks are read. A line whose loaded words are all zero
// according to the masks arrives with the first of two responses, memory's or that of the load's last mask.
#pragma once

#include <cstdint>
#include <vector>

#include "models/common/time/units.h"
#include "models/compute/memory/vector_memory.h"
#include "models/lazy/zero_requests.h"

namespace lacuna {

class RacingLoads : private ZeroRequests::Client {
 public:
  explicit RacingLoads(VectorMemory& memory) : memory_(memory) {}

  /// Starts a load. Returns the list of its racing lines, to which VectorMemory::send() adds. Valid until send_zero_reads().
  std::vector<VectorMemory::Race>& begin();
  /// Reads the `masks` masks that `zeros` has found last, for the load of the last begin(), whose requests must have been sent.
  /// The first mask request departs at `at`. Races whose two responses are already known are resolved immediately.
  void send_zero_reads(ZeroRequests& zeros, unsigned masks, Tick at);
  /// Number of loads whose masks have not all responded.
  std::size_t waiting() const { return loads_.size() - free_.size(); }
  void reset();

 private:
  struct Load {
    std::vector<VectorMemory::Race> lines;
    unsigned masks_open = 0;
    Tick masks_at{};  ///< latest response so far
  };

  void zeros_known(std::uint32_t tag, Tick at) override;

  VectorMemory& memory_;
  std::vector<Load> loads_;
  std::vector<std::uint32_t> free_;
  std::uint32_t last_ = 0;                 ///< load of the last begin()
  std::vector<VectorMemory::Race> races_;  ///< scratch memory of send_zero_reads()
};

}  // namespace lacuna

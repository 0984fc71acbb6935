// Makes the requests of a pass in the order of their times: a batch that waits for data (x for the coordinates of columns, a
// write for a core) is held until a later request, or its user, comes past its time. A memory that keeps requests until their
// time receives them at the end of each turn. Counts bytes by kind.
#pragma once

#include <vector>

#include "models/sida/pipeline/pass_counts.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

class RequestIssuer {
 public:
  RequestIssuer(PassMemory& memory, PassCounts& counts) : memory_(memory), counts_(counts) {}

  /// Held batches up to `earliest` go first. `arrival` receives the time when all of them have arrived, at least `earliest`.
  void read(const MemoryRequest& request, Time earliest, Arrival& arrival);
  void read(const std::vector<MemoryRequest>& requests, Time earliest, Arrival& arrival);
  void write(const std::vector<MemoryRequest>& requests, Time earliest);

  /// Reads that leave at `when`. `arrival` expects them from now on. Takes the requests and leaves an empty vector.
  void hold_reads(std::vector<MemoryRequest>& requests, Time when, Arrival& arrival);
  void hold_writes(std::vector<MemoryRequest>& requests, Time when);
  /// Makes all held requests up to a time, in the order of theirs.
  void release(Time until);
  /// With `skipping`, requests are counted but not made, and arrive when they leave.
  void skip(bool skipping) { skipping_ = skipping; }
  /// When all requests so far are complete, held ones included.
  const Arrival& all() const { return all_; }

 private:
  struct Batch {
    Time when = 0;
    Arrival* arrival = nullptr;  ///< null: writes
    std::vector<MemoryRequest> requests;
  };
  void hold(std::vector<MemoryRequest>& requests, Time when, Arrival* arrival);
  void make(Batch& batch);
  void make_read(const MemoryRequest& request, Time earliest, Arrival& arrival);
  void make_write(const MemoryRequest& request, Time earliest);

  PassMemory& memory_;
  PassCounts& counts_;
  bool skipping_ = false;
  std::vector<Batch> held_;                         ///< few
  std::vector<std::vector<MemoryRequest>> spares_;  ///< capacity of batches that have been made
  Arrival all_;
  Arrival writes_;  ///< of all writes
};

}  // namespace lacuna::sida

// Makes the requests of a pass in order of departure. A batch that depends on data (x on the coordinates of columns, a write
// on a core) is held until a request with a later departure is made, or until its user needs it. A memory that holds requests
// itself receives them at the end of each turn. Counts bytes by kind.
#pragma once

#include <vector>

#include "models/sida/pipeline/pass_counts.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

class RequestIssuer {
 public:
  RequestIssuer(PassMemory& memory, PassCounts& counts) : memory_(memory), counts_(counts) {}

  /// Makes held batches up to `earliest`, then the read. `arrival` receives the time when all of them have arrived, at least
  /// `earliest`.
  void read(const MemoryRequest& request, Time earliest, Arrival& arrival);
  void read(const std::vector<MemoryRequest>& requests, Time earliest, Arrival& arrival);
  void write(const std::vector<MemoryRequest>& requests, Time earliest);

  /// Holds reads until they depart at `when`; `arrival` expects them from now on. Moves the requests out of the vector.
  void hold_reads(std::vector<MemoryRequest>& requests, Time when, Arrival& arrival);
  void hold_writes(std::vector<MemoryRequest>& requests, Time when);
  /// Makes all held requests up to a time, in order of departure.
  void release(Time until);
  /// While `skipping`, requests are counted but not made, and arrive when they depart.
  void skip(bool skipping) { skipping_ = skipping; }
  /// Completion of all requests so far, including held ones.
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
  std::vector<std::vector<MemoryRequest>> spares_;  ///< empty vectors of earlier batches, kept for their capacity
  Arrival all_;
  Arrival writes_;  ///< completion of all writes
};

}  // namespace lacuna::sida

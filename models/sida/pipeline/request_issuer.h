// Makes the requests of a pass in the order of their times: a batch that waits for data (x for the coordinates of columns, a
// write for a core) is held until a later request, or its user, comes past its time. Counts bytes by kind.
#pragma once

#include <vector>

#include "models/sida/pipeline/pass_counts.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

class RequestIssuer {
 public:
  RequestIssuer(PassMemory& memory, PassCounts& counts) : memory_(memory), counts_(counts) {}

  /// Held batches up to `earliest` go first.
  Time read(const MemoryRequest& request, Time earliest);
  /// When the last of them has arrived; `earliest` for none.
  Time read(const std::vector<MemoryRequest>& requests, Time earliest);
  void write(const MemoryRequest& request, Time earliest);
  void write(const std::vector<MemoryRequest>& requests, Time earliest);

  /// Reads that leave at `when`; `*arrived` becomes the time when all have arrived. Takes the requests and leaves an empty
  /// vector.
  void hold_reads(std::vector<MemoryRequest>& requests, Time when, Time* arrived);
  void hold_writes(std::vector<MemoryRequest>& requests, Time when);
  /// Makes all held requests up to a time, in the order of theirs.
  void release(Time until);
  /// When all requests so far are complete.
  Time last() const { return last_; }

 private:
  struct Batch {
    Time when = 0;
    Time* arrived = nullptr;  ///< null: writes
    std::vector<MemoryRequest> requests;
  };
  void hold(std::vector<MemoryRequest>& requests, Time when, Time* arrived);
  void make(Batch& batch);
  Time make_read(const MemoryRequest& request, Time earliest);
  void make_write(const MemoryRequest& request, Time earliest);

  PassMemory& memory_;
  PassCounts& counts_;
  std::vector<Batch> held_;                         ///< few
  std::vector<std::vector<MemoryRequest>> spares_;  ///< capacity of batches that have been made
  Time last_ = 0;
};

}  // namespace lacuna::sida

// Issues the requests of a pass in order of departure, and counts their bytes by kind. A batch whose departure depends on data
// (reads of x on the coordinates of columns, writes on the results of a core) is held until a request with a later departure is
// issued, or until its data are needed. A memory that holds requests itself (PassMemory::keeps_requests) receives all held
// batches at the end of PassPipeline::resume().
#pragma once

#include <vector>

#include "models/sida/pipeline/pass_counts.h"
#include "models/sida/pipeline/pass_memory.h"

namespace lacuna::sida {

class RequestIssuer {
 public:
  RequestIssuer(PassMemory& memory, PassCounts& counts) : memory_(memory), counts_(counts) {}

  /// Issues the held batches that depart up to `earliest`, then the given reads. `arrival` receives the time at which all these
  /// reads have arrived, at least `earliest`.
  void read(const MemoryRequest& request, Time earliest, Arrival& arrival);
  void read(const std::vector<MemoryRequest>& requests, Time earliest, Arrival& arrival);
  void write(const std::vector<MemoryRequest>& requests, Time earliest);

  /// Holds reads until they depart at `when`, and adds them to `arrival`. Moves the requests out of the vector.
  void hold_reads(std::vector<MemoryRequest>& requests, Time when, Arrival& arrival);
  void hold_writes(std::vector<MemoryRequest>& requests, Time when);
  /// Issues all held requests that depart up to `until`, in order of departure.
  void release(Time until);
  /// While `skipping` is set, requests are counted but not issued, and arrive at the time of their departure.
  void skip(bool skipping) { skipping_ = skipping; }
  /// Completion of all requests so far, including held ones.
  const Arrival& all() const { return all_; }

 private:
  struct Batch {
    Time when = 0;
    Arrival* arrival = nullptr;  ///< arrival of the reads; null: the batch has writes
    std::vector<MemoryRequest> requests;
  };
  void hold(std::vector<MemoryRequest>& requests, Time when, Arrival* arrival);
  void make(Batch& batch);
  void make_read(const MemoryRequest& request, Time earliest, Arrival& arrival);
  void make_write(const MemoryRequest& request, Time earliest);

  PassMemory& memory_;
  PassCounts& counts_;
  bool skipping_ = false;
  std::vector<Batch> held_;                         ///< batches that have not been issued; few at a time
  std::vector<std::vector<MemoryRequest>> spares_;  ///< empty vectors of earlier batches, kept for their capacity
  Arrival all_;
  Arrival writes_;  ///< completion of all writes
};

}  // namespace lacuna::sida

// Performs large copies and fills of an SDMA engine in bulk: at a sampled rate, without making requests.
//
// A rate is sampled, not computed: the first 64 KiB of a copy fill the pipeline, the bytes from there to 320 KiB, or to the end
// of a shorter copy, are measured, and the measured rate applies to all further bytes of copies of the same CopyKind. A bulk
// copy proceeds in chunks, and only while no other unit uses memory; otherwise chunks are copied request by request, as in
// detailed mode.
//
// Without a CopyContext, accepts() returns false, and work_begins() and install_pending() have no effect.
#pragma once

#include <cstdint>
#include <map>

#include "models/sdma/copy_context.h"
#include "models/sdma/copy_costs.h"
#include "models/sdma/sdma_data_mover.h"

namespace lacuna {

class SdmaBulkCopies {
 public:
  SdmaBulkCopies(const SdmaParameters& parameters, SdmaMemory& memory, SdmaDataMover& mover, SdmaTimeline& timeline)
      : parameters_(parameters), memory_(memory), mover_(mover), timeline_(timeline) {}

  void set_copy_context(CopyContext& context) { context_ = &context; }

  /// Announces that the engine begins to use memory. Other bulk copies stop.
  void work_begins() const {
    if (context_ != nullptr) context_->work_begins();
  }
  /// Whether transfer() can perform the transfer: time is simulated, and the transfer is large enough and does not overlap
  /// itself.
  bool accepts(const SdmaTransfer& transfer) const;
  /// Performs the whole transfer, in bulk as far as possible. Returns false if the queue was stopped or destroyed.
  bool transfer(SdmaQueue& queue, const SdmaTransfer& transfer);
  /// Installs the range that the queue has copied in bulk (SdmaQueue::pending) in caches and TLBs. Called before requests and
  /// before packets that other agents observe.
  void install_pending(SdmaQueue& queue) const;
  /// Drops all sampled rates.
  void reset();

 private:
  CopyKind kind_of(const SdmaTransfer& transfer) const;
  void add_pending(SdmaQueue& queue, const CopiedRange& range) const;
  void prepare_writes(std::uint64_t destination, std::uint64_t bytes) const;

  const SdmaParameters& parameters_;
  SdmaMemory& memory_;
  SdmaDataMover& mover_;
  SdmaTimeline& timeline_;
  CopyContext* context_ = nullptr;
  CopyCosts costs_;                 // copy costs, up to the issue of the last request
  std::map<CopyKind, Tick> tails_;  // time from the issue of the last request to the completion of the last write
};

}  // namespace lacuna

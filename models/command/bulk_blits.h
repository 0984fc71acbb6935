// Bulk path for a runtime's copy and fill kernels: they take the simulated time of their execution, at the host cost of a
// memcpy.
//
// A copy's cost is sampled, not computed, so that it holds for every configuration. The first large copy of a kind (kernel,
// memory, alignment) is cut into pieces:
//
//   first  second   third                      rest
//   |------|--------|------------------|-------------------------------------------------------- ... --|
//    executed                            bulk: the time of the first sample, plus (time of third - time of second) per
//                                        (bytes of third - bytes of second), so that starts and ends of pieces cancel out
//
// Later copies of the kind are bulk copies from their start. Shorter copies are executed three times for each size (CopyCosts
// interpolates between sizes). Copies below kSmallest, and copies that overlap themselves, are always executed.
//
// Contention: a copy proceeds in bulk only while no other dispatch or copy uses the memory. As soon as another dispatch or copy
// begins, the bulk copy is executed in pieces from its current byte on; if it is alone again after a piece, it returns to bulk.
// Contention is therefore always simulated in detail. Kernels whose workgroups loop can be cut only between two iterations,
// which delays the change by up to one iteration.
//
// A bulk copy occupies no compute units, and its wavefront instructions are not counted. The memory system's counters are
// incremented by the sampled amounts; L2 and TLBs are left in the state after an executed copy (CopyContext::install_copied).
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <systemc>
#include <vector>

#include "models/command/blits.h"
#include "models/command/dispatcher.h"
#include "models/sdma/copy_context.h"
#include "models/sdma/copy_costs.h"

namespace lacuna {

class BulkBlits : public sc_core::sc_module {
 public:
  /// Minimum bytes of a bulk copy.
  static constexpr std::uint64_t kSmallest = 64 * 1024;

  /// `done` is notified of dispatches that end as bulk copies.
  BulkBlits(sc_core::sc_module_name name, const Blits& blits, Dispatcher& dispatcher, DispatchListener& done);
  ~BulkBlits() override;

  /// Sets the context. Without it take() accepts no dispatch.
  void set_copy_context(CopyContext& context) { context_ = &context; }
  /// Forwards calls of others_begin() to `user`.
  void attach(BulkUser& user) { others_.push_back(&user); }

  /// Accepts a dispatch that starts now, in place of the dispatcher. False: the dispatch cannot be performed in bulk.
  bool take(Dispatch& dispatch);
  /// Called when the dispatcher has finished the submitted workgroups. True if they were one piece of a copy and the dispatch
  /// continues.
  bool piece_done(Dispatch& dispatch);
  /// Drops a dispatch that has been aborted.
  void drop(const Dispatch& dispatch);
  /// Drops the sampled costs. Call it only when no copy is in flight.
  void reset();
  /// Called when another dispatch or copy begins to use the memory.
  void others_begin();

  /// Number of copies that currently proceed in bulk.
  unsigned in_bulk() const;
  /// Total bytes moved in bulk: grows while bulk copies make progress.
  std::uint64_t bytes() const { return bytes_; }
  void diagnose(std::ostream& out) const;

 private:
  struct Copy;

  void advance();
  void go_on(Copy& copy);
  /// Executes the copy from its current byte up to byte `to`, which is a cut or the end.
  void execute(Copy& copy, std::uint64_t to);
  bool sample(Copy& copy);
  void learn(Copy& copy);
  void begin_bulk(Copy& copy, const CopyCost& whole);
  /// Moves the bytes that are due.
  void catch_up(Copy& copy);
  void end_bulk(Copy& copy);
  void finish(Copy& copy);
  void wake();
  Copy* find(const Dispatch& dispatch);
  CopyKind kind_of(const Dispatch& dispatch, const Blit& blit) const;

  const Blits& blits_;
  Dispatcher& dispatcher_;
  DispatchListener& listener_;
  CopyContext* context_ = nullptr;
  CopyCosts costs_;
  std::vector<BulkUser*> others_;
  std::vector<std::unique_ptr<Copy>> copies_;  // copies in flight, in order of their start
  std::uint64_t bytes_ = 0;
  sc_core::sc_event wake_;
};

}  // namespace lacuna

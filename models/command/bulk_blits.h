// A runtime's copy and fill kernels in bulk: in the time that executing them takes, at the price of a memcpy.
//
// What a copy costs is sampled, not computed, so that it is right for every configuration. The first large copy of a kind
// (kernel, memory, alignment) is cut into pieces:
//
//   first  second   third                      rest
//   |------|--------|------------------|-------------------------------------------------------- ... --|
//    executed                            bulk: the time of the first, and for each further byte what the third took
//                                        longer than the second, so that neither start nor end of a piece counts
//
// Later copies of its kind are in bulk from their beginning. Shorter ones are executed three times for each size (CopyCosts
// says how sizes between are known). Below kSmallest, and where a copy overlaps itself, everything is executed.
//
// Contention: a copy is in bulk only while nothing else uses the memory. As soon as another dispatch or copy begins, it goes on
// from where it is, executed in pieces; when it is alone again after a piece, in bulk. So what competes does so in detail.
// Kernels whose workgroups loop can be cut only between two turns: there the change takes up to one turn more.
//
// In bulk nothing occupies compute units, and no wavefront instruction is counted. The memory system's counters grow by what
// the samples say; L2 and TLBs are left as the executed copy leaves them (CopyContext::install_copied).
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
  /// Bytes from which on a copy is looked at.
  static constexpr std::uint64_t kSmallest = 64 * 1024;

  /// `done` is notified of dispatches that end in bulk.
  BulkBlits(sc_core::sc_module_name name, const Blits& blits, Dispatcher& dispatcher, DispatchListener& done);
  ~BulkBlits() override;

  /// Without, take() takes nothing.
  void set_copy_context(CopyContext& context) { context_ = &context; }

  /// Takes a dispatch that starts now, instead of the dispatcher. False: it is none of those that may go in bulk.
  bool take(Dispatch& dispatch);
  /// The dispatcher has finished the workgroups that it was given. True when that was a piece, and the dispatch goes on.
  bool piece_done(Dispatch& dispatch);
  /// Drops a dispatch that has been aborted.
  void drop(const Dispatch& dispatch);
  /// Drops what is known of the cost of copies. Only without copies: all have been dropped.
  void reset();
  /// Something else uses the memory from now on.
  void others_begin();

  /// Copies in bulk at the moment.
  unsigned in_bulk() const;
  /// Bytes moved in bulk since the beginning: grows while copies make progress.
  std::uint64_t bytes() const { return bytes_; }
  void diagnose(std::ostream& out) const;

 private:
  struct Copy;

  void advance();
  void go_on(Copy& copy);
  /// Executes from where the copy is up to byte `to`, a place to cut or the end.
  void execute(Copy& copy, std::uint64_t to);
  bool sample(Copy& copy);
  void learn(Copy& copy);
  void begin_bulk(Copy& copy, const CopyCost& whole);
  /// Moves what the time has come for.
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
  std::vector<std::unique_ptr<Copy>> copies_;  // in order of their start
  std::uint64_t bytes_ = 0;
  sc_core::sc_event wake_;
};

}  // namespace lacuna

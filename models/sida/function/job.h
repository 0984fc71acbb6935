// A job: a program from its first pass to the end of its loop. What it computes; time is the pipeline's (models/sida/pipeline).
#pragma once

#include <cstdint>
#include <optional>

#include "models/sida/function/products.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// A pass as it went.
struct PassOutcome {
  std::uint32_t pass = 0;
  std::uint64_t iteration = 0;                 ///< iterations that were complete before it
  bool has_os = false;                         ///< false also where the loop ended after load
  bool has_is = false;                         ///< false also where the loop ended after ewise
  std::uint32_t exit = LACUNA_SIDA_EXIT_NONE;  ///< the loop ended here
};

class Job {
 public:
  /// Reads and checks the program. Throws ProgramError. `threads`, which may be null, share the work of products.
  Job(Memory& memory, std::uint64_t address, WorkerThreads* threads = nullptr);

  const Program& program() const { return program_; }
  bool is_done() const { return next_ == LACUNA_SIDA_NONE; }
  /// Number of the next pass; only if it is not done.
  std::uint32_t next() const { return next_; }
  /// Computes the next pass whole. At the end of the job results are written to memory. Throws ProgramError.
  PassOutcome run_pass();

 private:
  void load(const Pass& pass, HostVector& x);
  void os(const Pass& pass, const HostVector& x, HostVector& w);
  void element_wise(const Pass& pass);
  void is(const Pass& pass, const HostVector& w);
  void go_on(const Pass& pass, PassOutcome& outcome, std::uint32_t exit, std::uint16_t exit_pass);
  /// Counts an iteration if the pass has that flag, and says whether the loop ends.
  bool ends(const Pass& pass, std::uint32_t counts, std::uint16_t condition);
  bool goes_on(const Pass& pass, std::uint16_t condition) const;
  void swap(const Pass& pass);

  Memory& memory_;
  WorkerThreads* threads_;
  Program program_;
  std::uint32_t next_ = 0;
};

}  // namespace lacuna::sida

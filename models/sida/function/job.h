// Functional execution of a job: a program from its first pass to the end of its loop. The pipeline (models/sida/pipeline)
// simulates how long the job takes.
#pragma once

#include <cstdint>
#include <optional>

#include "models/sida/function/products.h"
#include "models/sida/program/program.h"

namespace lacuna::sida {

/// Outcome of a pass.
struct PassOutcome {
  std::uint32_t pass = 0;
  std::uint64_t iteration = 0;                 ///< number of iterations completed before the pass
  bool has_os = false;                         ///< whether the first product was executed; the loop may end before it
  bool has_is = false;                         ///< whether the second product was executed; the loop may end before it
  std::uint32_t exit = LACUNA_SIDA_EXIT_NONE;  ///< reason if the loop ended in this pass
};

class Job {
 public:
  /// Reads and checks the program. Throws ProgramError. Products are divided among `threads`, which may be null.
  Job(Memory& memory, std::uint64_t address, WorkerThreads* threads = nullptr);

  const Program& program() const { return program_; }
  bool is_done() const { return next_ == LACUNA_SIDA_NONE; }
  /// Number of the next pass; only valid if the job is not done.
  std::uint32_t next() const { return next_; }
  /// Computes the next pass completely. At the end of the job, writes results to memory. Throws ProgramError.
  PassOutcome run_pass();

 private:
  void load(const Pass& pass, HostVector& x);
  void os(const Pass& pass, const HostVector& x, HostVector& w);
  void element_wise(const Pass& pass);
  void is(const Pass& pass, const HostVector& w);
  void go_on(const Pass& pass, PassOutcome& outcome, std::uint32_t exit, std::uint16_t exit_pass);
  /// Counts an iteration if the pass has the flag `counts`; returns whether the loop ends.
  bool ends(const Pass& pass, std::uint32_t counts, std::uint16_t condition);
  bool goes_on(const Pass& pass, std::uint16_t condition) const;
  void swap(const Pass& pass);

  Memory& memory_;
  WorkerThreads* threads_;
  Program program_;
  std::uint32_t next_ = 0;
};

}  // namespace lacuna::sida

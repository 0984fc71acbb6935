// One pass by sub-tensor: what each core does in each step, when, and what memory brings for it.
//
// In step s OS uses sub-tensor s, E-wise runs on s - 1, IS uses the rows of s - 2 and, of the columns of s, the entries whose
// rows it knows (those of s - 2 and below), besides what the CSR loader has fetched eagerly in step s - 1. After the last
// column come two steps of drain (one without IS). Thesis, section 4.4.4; spec "Machine", dispatcher.
//
//   begin(s + 1) = max(begin(s) + X, OS end, E-wise end, IS end; prefetch = step: arrival of sub-tensor s + 1 and its vectors)
//   OS end       = over the pieces of s: max(end before, arrival of the piece and of x) + cycles; + log2(P)
//   E-wise end   = max(begin, arrival of its vectors) + cycles, then finish code of the sums that step s - 1 finished;
//                  load code of the x that is fetched in this step takes its PEs too
//   IS end       = max(begin, arrival of eager entries) + rows, max(that, arrival of s) + columns, max(that, arrival of reloads
//                  and lines read back) + reloaded; + log2(P)
//   Cycles of the cores: core_cycles.h. X and R: traffic_estimator.h.
//
// A step ends when all cores have finished with what it gave them, so nothing is left over for IS after the drain (ours).
// Requests of step s at its begin: reloads, lines read back and spilled, vectors of s, x of s + 1 (when its coordinates have
// arrived), columns, eager entries; columns again whenever OS frees room; outputs when their code ends. An entry is converted
// to its row when OS uses it. Vectors of two sub-tensors lie in buffers of the E-wise core (thesis, section 4.4.3), not in the
// capacity modelled here.
//
// step() makes the requests of one step and advances to the begin of the next; it never blocks.
// Memory: 8 bytes a row or column for lives and lines (f64), 4 a sum for conflicts, 8 a row from the first eviction on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/sida/pipeline/column_loader.h"
#include "models/sida/pipeline/core_cycles.h"
#include "models/sida/pipeline/csr_loader.h"
#include "models/sida/pipeline/parameters.h"
#include "models/sida/pipeline/pass_counts.h"
#include "models/sida/pipeline/request_issuer.h"
#include "models/sida/pipeline/row_store.h"
#include "models/sida/pipeline/traffic_estimator.h"
#include "models/sida/pipeline/vector_lines.h"

namespace lacuna::sida {

class PassPipeline {
 public:
  /// Throws PassError unless `shape` and `parameters` are legal and go together. The memory and the spans of `shape` must
  /// outlive the pipeline.
  PassPipeline(const PassShape& shape, const PipelineParameters& parameters, PassMemory& memory, Time start = 0);
  PassPipeline(const PassPipeline&) = delete;
  PassPipeline& operator=(const PassPipeline&) = delete;

  /// Runs the next step. False when it was the last one: the pass is complete then, and conservation has been checked
  /// (std::logic_error otherwise).
  bool step();
  /// Runs all steps that are left.
  const PassCounts& run();

  /// Begin of the next step; after the last one, the end of the pass.
  Time now() const { return now_; }
  std::uint64_t next_step() const { return step_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t sub_tensor() const { return sub_tensor_; }
  const PassCounts& counts() const { return counts_; }
  /// With parameters.trace: of each step.
  const std::vector<StepTrace>& trace() const { return trace_; }

 private:
  /// x of a sub-tensor: reads that wait for its coordinates.
  struct XFetch {
    std::vector<MemoryRequest> reads;
    bool held = false;  ///< by the issuer
    Time when = 0, arrival = 0;
  };
  /// Sums that a step has finished, for the finish code of the next.
  struct Finished {
    std::uint64_t elements = 0;
    std::vector<MemoryRequest> reads, writes;
  };
  /// Work of the IS core in a step, in cycles.
  struct IsWork {
    std::uint64_t entries = 0;
    std::uint64_t reloaded = 0;
    Time rows = 0, columns = 0, reload = 0, repack = 0;
    Time busy() const { return rows + columns + reload + repack; }
  };
  struct StepEnds {
    Time os = 0, ewise = 0, is = 0;
    Time os_busy = 0, ewise_busy = 0, is_busy = 0;
  };

  void begin();
  void finish();
  std::uint64_t elements_of(std::uint64_t sub_tensor) const;
  std::uint64_t row_room() const;

  TrafficEstimate estimate() const;
  IsWork use_rows();
  void use_cached_lines();
  void finish_sums();
  void request_vectors();
  std::uint64_t fetch_eagerly(std::uint64_t r);
  void prepare_x(std::uint64_t sub_tensor);
  void hold_x(std::uint64_t sub_tensor);
  Time wait_for_x(std::uint64_t sub_tensor);
  void request_columns();
  void advance(Time until);
  void run_os(StepEnds& ends);
  void run_ewise(StepEnds& ends);
  void run_is(const IsWork& work, StepEnds& ends);
  void end_step(const TrafficEstimate& estimate, const StepEnds& ends, StepTrace& trace);
  void stall(Core core, Time cycles) { counts_.stalled[static_cast<std::size_t>(core)] += cycles; }

  PassShape shape_;
  PipelineParameters parameters_;
  std::uint64_t sub_tensor_, sub_tensors_, steps_;
  std::uint64_t csc_bytes_;
  PassCounts counts_;
  RequestIssuer issuer_;
  VectorLines lines_;
  RowStore rows_;
  CsrLoader eager_;
  ColumnLoader loader_;
  ScatterGroups scatter_;
  std::uint64_t converted_bytes_ = 0;  ///< most that converted columns and early sums take

  Time start_, now_;
  std::uint64_t step_ = 0;
  bool begun_ = false, finished_ = false;
  std::array<XFetch, 2> x_;  ///< of sub-tensor i, at i mod 2
  Time load_code_ = 0;       ///< cycles of load code in this step
  Finished done_;
  std::array<Time, 2> vectors_arrive_{};       ///< of sub-tensor i, at i mod 2
  Time columns_arrive_ = 0;                    ///< last piece that OS has used in this step
  Time reads_arrive_ = 0;                      ///< reloads and lines read back in this step
  Time eager_arrive_ = 0, eager_arrived_ = 0;  ///< entries fetched in this step, and in the one before
  std::uint64_t last_eager_ = 0;
  Time repack_left_ = 0;  ///< cycles of IS that the current repack still needs
  std::vector<MemoryRequest> reads_;
  std::vector<StepTrace> trace_;
};

}  // namespace lacuna::sida

// Timing of one pass by steps and sub-tensors: work of the cores, and their requests to memory.
//
// In step s, OS uses sub-tensor s, E-wise processes s - 1, and IS uses the rows of s - 2, those entries in columns of s whose
// rows are known (s - 2 and below), and the entries that the CSR loader fetched eagerly in step s - 1. Two drain steps follow
// the last column (one without IS). Source: thesis, section 4.4.4.
//
//   begin(s + 1) = max(begin(s) + X, OS end, E-wise end, IS end; prefetch = step: arrival of sub-tensor s + 1 and its vectors)
//   OS end       = over the pieces of s: max(previous end, arrival of the piece and of x) + cycles; + log2(P)
//   E-wise end   = max(begin, arrival of its vectors) + cycles, then finish code of the sums that step s - 1 finished;
//                  load code of the x that is fetched in this step uses the same PEs
//   IS end       = max(begin, arrival of eager entries) + rows, max(that, arrival of s) + columns, max(that, arrival of reloads
//                  and lines read back) + reloaded; + log2(P)
//   Cycles of the cores: core_cycles.h. X and R: traffic_estimator.h.
//
// A step ends when all cores have finished its work, so that no work is left for IS after the drain (our choice). Requests at
// the beginning of step s: reloads, lines read back and spilled, vectors of s, x of s + 1 (when its coordinates have arrived),
// columns, and eager entries. During the step, more columns are requested whenever OS frees space, and outputs are written when
// their code ends. An entry is converted to its row when OS uses it. Vectors of two sub-tensors are held in buffers of the
// E-wise core (thesis, section 4.4.3), which are not part of the capacity modelled here.
//
// resume() advances each core independently as far as arrivals are known. With a memory that reports arrivals immediately,
// resume() runs to the end of the pass, and step() to the end of a step. Host memory: 8 bytes per row or column for lives and
// lines (f64), 4 per sum for conflicts, 8 per row from the first eviction on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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
  /// Throws PassError if `shape` or `parameters` are invalid or incompatible. The memory and the spans of `shape` must outlive
  /// the pipeline.
  PassPipeline(const PassShape& shape, const PipelineParameters& parameters, PassMemory& memory, Time start = 0);
  PassPipeline(const PassPipeline&) = delete;
  PassPipeline& operator=(const PassPipeline&) = delete;

  /// Advances as far as arrivals are known, and issues all requests that depart before `until`. Returns false when the pass is
  /// complete, after checking conservation (std::logic_error). Call it again when a request has arrived, or at `until`.
  bool resume(Time until);
  /// Runs the next step; requires a memory that reports arrivals immediately (std::logic_error otherwise). Returns false after
  /// the last step.
  bool step();
  /// Runs all remaining steps; requires a memory that reports arrivals immediately, like step().
  const PassCounts& run();

  /// Call before resume(). `begins`: start times of the first steps, from step 0 on. All of these steps except the last are
  /// skipped: their requests are counted but not made, and their stalls and bounds are those of a memory without latency. The
  /// last of these steps begins again at `from`.
  void skip(std::span<const Time> begins, Time from);

  /// Time at which the next step begins; after the last step, end of the pass.
  Time now() const { return now_; }
  std::uint64_t next_step() const { return step_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t sub_tensor() const { return sub_tensor_; }
  const PassCounts& counts() const { return counts_; }
  /// Times at which the steps so far have begun.
  const std::vector<Time>& begins() const { return begins_; }
  /// Trace of each step, if parameters.trace is set.
  const std::vector<StepTrace>& trace() const { return trace_; }
  static constexpr Time kNever = ColumnLoader::kNever;
  /// Time of the next request if nothing arrives earlier; kNever: none before an arrival.
  Time next_request() { return stage_ == Stage::cores || stage_ == Stage::next_sub_tensor ? loader_.next_time() : kNever; }
  /// Event that the pass waits for, as text for messages; empty: none.
  const char* waits_for() const { return waits_for_; }

 private:
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};  ///< larger than any time and any sub-tensor number

  /// Reads of x for a sub-tensor, which depend on the coordinates of its entries.
  struct XFetch {
    std::vector<MemoryRequest> reads;
    bool held = false;  ///< reads have been passed to the issuer
    Time when = 0;
    Arrival arrival;
  };
  /// Sums that a step has finished; the finish code of the next step processes them.
  struct Finished {
    std::uint64_t elements = 0;
    std::vector<MemoryRequest> reads, writes;
  };
  /// Next stage of the pass.
  enum class Stage : std::uint8_t { begin, preload, step, cores, next_sub_tensor, finish, last_requests, complete };
  /// Progress of OS in this step.
  struct OsProgress {
    Time at = 0;
    std::uint64_t used = 0;
    bool done = false;
  };
  /// Progress of E-wise in this step.
  struct EwiseProgress {
    enum class Next : std::uint8_t { elements, finish, done } next = Next::elements;
    Time at = 0;
    Finished finished;  ///< sums whose finish code runs
    Arrival arrival;    ///< arrival of the reads of `finished`
  };
  /// Work of the IS core in a step: numbers of entries, and cycles by kind of work.
  struct IsWork {
    std::uint64_t entries = 0;
    std::uint64_t reloaded = 0;
    Time rows = 0, columns = 0, reload = 0, repack = 0;
    bool taken_in = false;  ///< end_cores() has added the step's entries to the CSR space and made room
    Time busy() const { return rows + columns + reload + repack; }
  };
  struct StepEnds {
    Time os = 0, ewise = 0, is = 0;
    Time os_busy = 0, ewise_busy = 0, is_busy = 0;
  };

  bool go_on();
  bool go_on_with(bool known, const char* awaited);
  bool begin();
  bool preload();
  void start_loading();
  bool begin_step();
  void take_finished();
  bool run_cores();
  void end_cores();
  bool await_next_sub_tensor();
  bool end_step(Time end);
  void count_step(Time end, const BufferContent& content);
  bool finish();
  bool await_last_requests();
  std::uint64_t elements_of(std::uint64_t sub_tensor) const;
  std::uint64_t row_room() const;

  TrafficEstimate estimate() const;
  void use_rows();
  void use_cached_lines();
  void finish_sums();
  void request_vectors();
  std::uint64_t fetch_eagerly(std::uint64_t r);
  void prepare_x(std::uint64_t sub_tensor);
  void hold_x(std::uint64_t sub_tensor);
  bool x_arrived(std::uint64_t sub_tensor, Time* at);
  void request_columns();
  void advance(Time until);
  bool run_os();
  bool run_ewise();
  bool run_is();
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
  std::uint64_t converted_bytes_ = 0;  ///< limit of the bytes of converted columns and early sums

  bool keeps_requests_;
  Time start_, now_;
  std::uint64_t step_ = 0;
  Stage stage_ = Stage::begin;
  const char* waits_for_ = "";
  Arrival preload_arrives_;
  std::array<XFetch, 2> x_;  ///< x of sub-tensor i, at index i mod 2
  Time load_code_ = 0;       ///< cycles of E-wise for load code in this step
  Finished done_;
  std::array<Arrival, 2> vectors_arrive_;  ///< vectors of sub-tensor i, at index i mod 2
  std::array<Arrival, 2> eager_arrive_;    ///< entries fetched eagerly in step i, at index i mod 2
  std::uint64_t last_eager_ = 0;           ///< number of entries fetched eagerly in the previous step
  // State of this step.
  TrafficEstimate estimate_;
  IsWork is_work_;
  OsProgress os_;
  EwiseProgress ewise_;
  StepEnds ends_;
  StepTrace step_trace_;
  std::array<std::uint64_t, kMemoryKinds> bytes_before_{};
  bool reads_for_is_ = false;  ///< IS waits for reloads or for lines read back
  Arrival reads_arrive_;       ///< arrival of reloads and lines read back
  Time columns_arrive_ = 0;    ///< arrival of the last piece that OS has used
  Time repack_left_ = 0;       ///< cycles of IS that the current repack still needs
  std::vector<MemoryRequest> reads_;
  std::vector<StepTrace> trace_;
  std::vector<Time> begins_;
};

}  // namespace lacuna::sida

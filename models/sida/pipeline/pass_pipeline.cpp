#include "models/sida/pipeline/pass_pipeline.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace lacuna::sida {
namespace {

const PassShape& checked(const PassShape& shape, const PipelineParameters& parameters) {
  validate(shape);
  validate(parameters, shape);
  return shape;
}

/// Appends a request for `bytes` bytes of each of the elements [first, first + n), unless it is empty.
void append(std::vector<MemoryRequest>& requests, MemoryKind kind, Operand operand, std::uint64_t first, std::uint64_t n,
            unsigned bytes) {
  if (n == 0 || bytes == 0) return;
  const std::uint64_t offset = first * bytes;
  if (!requests.empty() && requests.back().operand == operand && requests.back().offset + requests.back().bytes == offset) {
    requests.back().bytes += n * bytes;
  } else {
    requests.push_back({kind, operand, offset, n * bytes});
  }
}

}  // namespace

PassPipeline::PassPipeline(const PassShape& shape, const PipelineParameters& parameters, PassMemory& memory, Time start)
    : shape_(checked(shape, parameters)),
      parameters_(parameters),
      sub_tensor_(sub_tensor_of(shape_, parameters)),
      sub_tensors_((shape_.y_length + sub_tensor_ - 1) / sub_tensor_),
      steps_(sub_tensors_ + (shape_.has_is ? 2 : 1)),
      csc_bytes_(shape_.has_os ? csc_space_of(shape_, parameters) : 0),
      issuer_(memory, counts_),
      lines_(shape_, sub_tensor_, steps_, parameters.line_bytes,
             parameters.fixed_csr_entries ? std::nullopt : std::optional(parameters.buffer_bytes - csc_bytes_)),
      rows_(shape_, sub_tensor_, steps_, parameters.csr_reserve, parameters.repack_threshold),
      eager_(shape_, sub_tensor_, parameters.balance),
      loader_(shape_, parameters, sub_tensor_, csc_bytes_),
      scatter_(shape_, parameters.is_pes, parameters.scatter),
      keeps_requests_(memory.keeps_requests()),
      start_(start),
      now_(start) {
  counts_.entries = shape_.entries();
  counts_.sub_tensors = sub_tensors_;
  // Eager loading requires a separate row order, and space that vectors never use.
  const bool eager = parameters.eager == Eager::automatic && shape_.has_is && !shape_.same_lines && lines_.all_fit();
  if (eager) {
    const std::uint64_t wanted = parameters.converted_bytes != 0 ? parameters.converted_bytes : parameters.buffer_bytes / 4;
    converted_bytes_ =
        parameters.fixed_csr_entries ? wanted : std::min(wanted, parameters.buffer_bytes - csc_bytes_ - lines_.peak_bytes());
  }
}

std::uint64_t PassPipeline::elements_of(std::uint64_t sub_tensor) const {
  return std::min((sub_tensor + 1) * sub_tensor_, shape_.y_length) - std::min(sub_tensor * sub_tensor_, shape_.y_length);
}

/// Maximum number of entries that the CSR space can hold after this step.
std::uint64_t PassPipeline::row_room() const {
  if (parameters_.fixed_csr_entries) return *parameters_.fixed_csr_entries;
  const std::uint64_t taken = csc_bytes_ + lines_.held(step_).all() + eager_.held_now() * shape_.entry_bytes;
  if (taken > parameters_.buffer_bytes) throw std::logic_error("sida pass: vectors and columns exceed the buffer");
  return (parameters_.buffer_bytes - taken) / shape_.entry_bytes;
}

/// Issues the requests that depart up to `until`: reads of columns and of the elements of x for these columns, and writes.
void PassPipeline::advance(Time until) {
  for (;;) {
    const Time columns = loader_.next_time();
    if (columns > until || columns == ColumnLoader::kNever) break;
    issuer_.release(columns);
    counts_.fetched += loader_.request_next(eager_, issuer_);
    hold_x(step_);
    hold_x(step_ + 1);
  }
  issuer_.release(until);
}

/// Looks up the lines of x that a sub-tensor needs, and adds the cycles of its load code, which runs in this step.
void PassPipeline::prepare_x(std::uint64_t sub_tensor) {
  XFetch& x = x_[sub_tensor % 2];
  if (!x.arrival.known()) throw std::logic_error("sida pass: x of a sub-tensor has not arrived after its use");
  x.reads.clear();
  x.held = false;
  x.arrival = Arrival();
  if (sub_tensor >= sub_tensors_ || !shape_.has_os) return;
  lines_.fetch_x(sub_tensor, x.reads);
  std::uint64_t elements = 0;
  for (const MemoryRequest& read : x.reads) elements += read.bytes / shape_.x_read_bytes();
  load_code_ += ewise_cycles(elements, shape_.load, parameters_.ewise_pes);
  if (!shape_.x_from_memory) x.reads.clear();
}

/// Passes the reads of x to the issuer once the arrival of the sub-tensor's first piece, and thus of its coordinates, is known.
void PassPipeline::hold_x(std::uint64_t sub_tensor) {
  XFetch& x = x_[sub_tensor % 2];
  if (sub_tensor >= sub_tensors_ || x.held || x.reads.empty()) return;
  const ColumnLoader::Piece* piece = loader_.first_of(sub_tensor);
  if (piece == nullptr ? !loader_.complete(sub_tensor) : !piece->arrival.known()) return;
  x.held = true;
  x.when = std::max(now_, piece == nullptr ? 0 : piece->arrival.at());
  issuer_.hold_reads(x.reads, x.when, x.arrival);
}

/// Whether the arrival of x for a sub-tensor is known; `at` receives the time at which its load code ends.
bool PassPipeline::x_arrived(std::uint64_t sub_tensor, Time* at) {
  XFetch& x = x_[sub_tensor % 2];
  *at = 0;
  if (!x.held) return true;
  advance(x.when);
  if (!x.arrival.known()) return false;
  *at = x.arrival.at() + shape_.load.instructions;
  return true;
}

/// Requests offsets, and the columns that may be requested from this step on.
void PassPipeline::request_columns() {
  if (!shape_.has_os) return;
  loader_.request_offsets(step_ + 2, now_, issuer_);
  loader_.allow(parameters_.prefetch == Prefetch::step ? step_ + 1 : kNoLimit, now_);
  hold_x(step_);
  hold_x(step_ + 1);
  advance(now_);
}

TrafficEstimate PassPipeline::estimate() const {
  std::uint64_t bytes = 0;
  if (shape_.has_os && step_ + 1 < sub_tensors_) bytes += loader_.bytes_of(step_ + 1, eager_);
  for (const MemoryRequest& read : x_[(step_ + 1) % 2].reads) bytes += read.bytes;
  bytes += elements_of(step_) * shape_.ewise.read_bytes;
  const std::uint64_t ewise_elements = step_ == 0 ? 0 : elements_of(step_ - 1);
  bytes += ewise_elements * shape_.ewise.written_bytes;
  bytes += done_.elements * (shape_.finish.read_bytes + shape_.finish.written_bytes);
  const std::uint64_t entries = shape_.has_os && step_ < sub_tensors_ ? loader_.entries_in(step_) : 0;
  const Time os = entries == 0 ? 0 : os_cycles(entries, shape_, parameters_.os_pes) + tree_stages(parameters_.os_pes);
  const Time ewise = load_code_ + ewise_cycles(ewise_elements, shape_.ewise, parameters_.ewise_pes) +
                     ewise_cycles(done_.elements, shape_.finish, parameters_.ewise_pes);
  return estimate_traffic(bytes, os, ewise, parameters_.bytes_per_cycle, shape_.entry_bytes);
}

/// Computes the work of IS in this step; conflicts of rows are counted by coordinate.
void PassPipeline::use_rows() {
  is_work_ = {};
  if (!shape_.has_is) return;
  IsWork& work = is_work_;
  const LineOrder& order = shape_.is_order();
  for (const RowSegment& segment : eager_.segments()) {
    scatter_.add(order.coordinates.subspan(segment.begin, segment.end - segment.begin));
    work.entries += segment.end - segment.begin;
  }
  eager_.clear_segments();
  const RowUse use = rows_.use(step_, reads_);
  work.reloaded = use.reloaded;
  if (step_ >= 2) {
    const std::uint64_t end = std::min((step_ - 1) * sub_tensor_, shape_.y_length);
    const auto limit = static_cast<Index>(std::min<std::uint64_t>(step_ * sub_tensor_, std::numeric_limits<Index>::max()));
    std::uint64_t used = 0;
    for (std::uint64_t row = (step_ - 2) * sub_tensor_; row < end; ++row) {
      if (shape_.same_lines) {
        scatter_.add(order.line(row));
        used += order.length(row);
      } else {
        used += scatter_.add_below(order.line(row), limit);
      }
    }
    if (used != use.kept + use.reloaded)
      throw std::logic_error("sida pass: rows have entries that the CSR space does not know");
    work.entries += used;
  }
  work.reload = scatter_.plain(work.reloaded);
  work.rows = scatter_.end();
  work.rows -= std::min(work.rows, work.reload);
  if (!shape_.same_lines && step_ < sub_tensors_) {
    std::uint64_t known = 0;
    const std::uint64_t first = step_ * sub_tensor_;
    for (std::uint64_t column = first; column < first + elements_of(step_); ++column) {
      known += rows_.first_unknown(column) - shape_.os.offsets[column] - eager_.used_early(column);
    }
    work.columns = scatter_.plain(known);
    work.entries += known;
  }
  if (work.entries != 0) work.rows += tree_stages(parameters_.is_pes);
}

/// Records the uses of lines if not all lines fit, in the order in which the cores access them: E-wise, rows of IS, columns of
/// IS.
void PassPipeline::use_cached_lines() {
  if (!shape_.has_is || lines_.all_fit()) return;
  if (step_ >= 1 && step_ - 1 < sub_tensors_) lines_.make_w(step_ - 1);
  const LineOrder& order = shape_.is_order();
  if (step_ >= 2) {
    const std::uint64_t end = std::min((step_ - 1) * sub_tensor_, shape_.y_length);
    for (std::uint64_t row = (step_ - 2) * sub_tensor_; row < end; ++row) {
      const auto sums = order.line(row);
      if (sums.empty()) continue;
      bool used = false;
      for (const Index sum : sums) {
        if (!shape_.same_lines && sum >= step_ * sub_tensor_) break;
        if (!used) lines_.use_w(static_cast<Index>(row));
        used = true;
        lines_.use_sum(sum);
      }
    }
  }
  if (shape_.same_lines || step_ >= sub_tensors_) return;
  const std::uint64_t first = step_ * sub_tensor_;
  for (std::uint64_t column = first; column < first + elements_of(step_); ++column) {
    const std::uint64_t begin = shape_.os.offsets[column];
    lines_.use_column(static_cast<Index>(column), shape_.os.coordinates.subspan(begin, rows_.first_unknown(column) - begin));
  }
}

/// Collects the sums that this step finishes; the next step reads their vectors, runs finish code and writes the results.
void PassPipeline::finish_sums() {
  done_.elements = 0;
  if (!shape_.has_is) return;
  const LineGeometry& lines = lines_.z_lines();
  for (const Index line : lines_.finish_sums(step_)) {
    const std::uint64_t first = lines.first_of(line), n = lines.elements_of(line);
    done_.elements += n;
    append(done_.reads, MemoryKind::ewise_vectors, Operand::finish, first, n, shape_.finish.read_bytes);
    append(done_.writes, MemoryKind::outputs, Operand::finish, first, n, shape_.finish.written_bytes);
  }
}

void PassPipeline::request_vectors() {
  Arrival& arrives = vectors_arrive_[step_ % 2];
  arrives = Arrival(now_);
  const std::uint64_t bytes = elements_of(step_) * shape_.ewise.read_bytes;
  if (bytes != 0)
    issuer_.read({MemoryKind::ewise_vectors, Operand::ewise, step_ * sub_tensor_ * shape_.ewise.read_bytes, bytes}, now_,
                 arrives);
}

std::uint64_t PassPipeline::fetch_eagerly(std::uint64_t r) {
  if (r == 0 || converted_bytes_ == 0 || step_ < 2) return 0;
  std::uint64_t room = converted_bytes_;
  if (!parameters_.fixed_csr_entries) {
    const std::uint64_t taken = csc_bytes_ + lines_.peak_bytes() + rows_.space() * shape_.entry_bytes;
    room = std::min(room, parameters_.buffer_bytes - std::min(parameters_.buffer_bytes, taken));
  }
  const EagerRequest request{.step = step_,
                             .entries = r,
                             .known_rows = std::min((step_ - 1) * sub_tensor_, shape_.y_length),
                             .frontier = std::max(loader_.frontier(), (step_ + 2) * sub_tensor_),
                             .room_bytes = room};
  const std::uint64_t fetched = eager_.fetch(request, lines_);
  reads_.clear();
  for (const RowSegment& segment : eager_.segments())
    append(reads_, MemoryKind::csr_eager, Operand::is_order, segment.begin, segment.end - segment.begin, shape_.entry_bytes);
  if (fetched != 0) {
    eager_arrive_[step_ % 2] = Arrival(now_);
    issuer_.read(reads_, now_, eager_arrive_[step_ % 2]);
  }
  counts_.fetched += fetched;
  return fetched;
}

/// Advances OS in this step. Returns false while OS waits for data.
bool PassPipeline::run_os() {
  if (os_.done) return true;
  const std::uint64_t entries = shape_.has_os && step_ < sub_tensors_ ? loader_.entries_in(step_) : 0;
  while (os_.used < entries) {
    if (loader_.front() == nullptr) {
      const Time next = loader_.next_time();
      if (next == ColumnLoader::kNever) return false;
      advance(next);
    }
    const ColumnLoader::Piece& piece = *loader_.front();
    hold_x(step_);
    Time x = 0;
    if (!piece.arrival.known() || !x_arrived(step_, &x)) return false;
    const Time ready = std::max(piece.arrival.at(), x);
    columns_arrive_ = std::max(columns_arrive_, piece.arrival.at());
    stall(Core::os, ready - std::min(ready, os_.at));
    os_.at = std::max(os_.at, ready) + os_cycles(os_.used + piece.entries, shape_, parameters_.os_pes) -
             os_cycles(os_.used, shape_, parameters_.os_pes);
    os_.used += piece.entries;
    advance(os_.at);  // requests the pieces that fit before this piece frees its space
    loader_.release(os_.at);
    advance(os_.at);
  }
  os_.done = true;
  ends_.os = os_.at;
  if (entries == 0) return true;
  eager_.release(step_);
  counts_.os_used += entries;
  ends_.os_busy = os_cycles(entries, shape_, parameters_.os_pes) + tree_stages(parameters_.os_pes);
  ends_.os += tree_stages(parameters_.os_pes);
  return true;
}

/// Advances E-wise in this step. Returns false while E-wise waits for data.
bool PassPipeline::run_ewise() {
  using Next = EwiseProgress::Next;
  Time& at = ewise_.at;
  if (ewise_.next == Next::elements) {
    ends_.ewise_busy = load_code_;
    const std::uint64_t elements = step_ == 0 ? 0 : elements_of(step_ - 1);
    if (elements != 0) {
      const Arrival& vectors = vectors_arrive_[(step_ - 1) % 2];
      if (!vectors.known()) return false;
      stall(Core::ewise, vectors.at() - std::min(vectors.at(), at));
      const Time cycles = ewise_cycles(elements, shape_.ewise, parameters_.ewise_pes);
      at = std::max(at, vectors.at()) + cycles;
      ends_.ewise_busy += cycles;
      reads_.clear();
      append(reads_, MemoryKind::outputs, Operand::ewise, (step_ - 1) * sub_tensor_, elements, shape_.ewise.written_bytes);
      issuer_.hold_writes(reads_, at);
    }
    at += load_code_;
    ewise_.next = Next::finish;
  }
  if (ewise_.next == Next::finish) {
    Finished& finished = ewise_.finished;
    if (finished.elements != 0) {
      if (!ewise_.arrival.known()) return false;
      const Time arrived = ewise_.arrival.at();
      if (!finished.reads.empty()) stall(Core::ewise, arrived - std::min(arrived, at));
      const Time cycles = ewise_cycles(finished.elements, shape_.finish, parameters_.ewise_pes);
      at = std::max(at, arrived) + cycles;
      ends_.ewise_busy += cycles;
      issuer_.hold_writes(finished.writes, at);
    }
    ends_.ewise = at;
    ewise_.next = Next::done;
  }
  return true;
}

/// Runs IS, after OS has finished the step. Returns false while IS waits for data.
bool PassPipeline::run_is() {
  const IsWork& work = is_work_;
  const Arrival& eager = eager_arrive_[(step_ + 1) % 2];
  if ((last_eager_ != 0 && !eager.known()) || !reads_arrive_.known()) return false;
  Time at = now_;
  const auto wait = [&](Time arrival) {
    stall(Core::is, arrival - std::min(arrival, at));
    at = std::max(at, arrival);
  };
  if (last_eager_ != 0) wait(eager.at());
  at += work.rows + work.repack;
  if (work.columns != 0) wait(columns_arrive_);
  at += work.columns;
  if (reads_for_is_) wait(reads_arrive_.at());
  at += work.reload;
  ends_.is = at;
  ends_.is_busy = work.busy();
  counts_.is_used += work.entries;
  return true;
}

}  // namespace lacuna::sida

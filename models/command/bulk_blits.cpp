#include "models/command/bulk_blits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <utility>

#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

/// Bytes of the second sample, and ratio of the third sample's bytes to the second's. For copies within GPU memory, the samples
/// occupy all workgroups that a large GPU holds concurrently, and average out the rates of individual MiB, which vary by 10 %:
/// the time of a 256 MiB copy on r9nano was 5.2 % too short with a ratio of 5, and 3.1 % with a ratio of 8.
constexpr std::uint64_t kSampleOverLink = 256 * 1024;
constexpr std::uint64_t kSampleInMemory = 1024 * 1024;
constexpr std::uint64_t kThirdOverLink = 2;
constexpr std::uint64_t kThirdInMemory = 8;
/// Bytes of a piece of a copy under contention: the piece takes long compared with the start and the end of a kernel.
constexpr std::uint64_t kPieceOverLink = 2 * 1024 * 1024;
constexpr std::uint64_t kPieceInMemory = 8 * 1024 * 1024;
/// Interval at which the workgroups of the third sample are counted.
constexpr Tick kCount{100'000};
/// Maximum interval between two moves of data, so that checks of a run's limits and progress see a long copy advance.
constexpr Tick kStep{1'000'000'000};

/// Class of an address's alignment, up to a line: log2 of its largest power-of-two divisor, halved, because kernels distinguish
/// only every other power of two.
std::uint32_t alignment_class(std::uint64_t address) {
  constexpr unsigned kLine = 6;
  return std::min<unsigned>(static_cast<unsigned>(std::countr_zero(address | std::uint64_t{1} << kLine)), kLine) / 2;
}

std::uint64_t share_of(std::uint64_t bytes, Tick part, Tick whole) {
  return whole.ps == 0 ? bytes
                       : static_cast<std::uint64_t>(static_cast<double>(bytes) * static_cast<double>(part.ps) /
                                                    static_cast<double>(whole.ps));
}

}  // namespace

struct BulkBlits::Copy {
  enum class Sample : std::uint8_t { none, first, second, third };

  Dispatch* dispatch;
  Blit blit;
  CopyKind kind;
  Tick began;
  std::array<std::uint32_t, 3> workgroups;  // workgroups of the whole copy
  std::array<std::uint32_t, 3> grid;        // grid of the whole copy
  std::uint64_t executed = 0;               // number of workgroups executed
  std::uint64_t done = 0;                   // bytes moved
  bool alone = true;                        // no contention since the copy began
  // The current piece: bytes [from, to), executed or moved in bulk; bytes [done, to) remain.
  bool in_bulk = false;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Tick piece_began{};
  bool piece_alone = false;
  // State of an executed piece.
  Sample sample = Sample::none;
  std::vector<std::uint64_t> traffic_before{};
  std::array<std::uint64_t, 3> sample_bytes{};
  std::array<CopyCost, 3> samples{};
  // Middle of the third sample: numbers of finished workgroups at two times between which the GPU was full.
  std::uint64_t counted_first = 0;
  std::uint64_t counted_last = 0;
  Tick count_began{};
  Tick count_ended{};
  // Cost of the bulk part, from `from` to the blit's end.
  CopyCost rest{};

  std::uint64_t cut_after(std::uint64_t at) const {
    const std::uint64_t cut = at == 0 ? 0 : blit.cut_before(at - 1 + blit.cut_step);
    return cut >= at ? cut : blit.bytes;
  }
  /// Time at which the bulk part reaches byte `at`.
  Tick time_of(std::uint64_t at) const {
    return piece_began + Tick{share_of(rest.time.ps, Tick{at - from}, Tick{blit.bytes - from})};
  }
  bool counts_workgroups() const { return sample == Sample::third && !in_bulk && blit.workgroup_per_step; }
  void count() {
    const std::uint64_t all = dispatch->total_workgroups();
    const std::uint64_t finished = dispatch->finished_workgroups;
    // The first workgroups start at the dispatcher's rate; only the rate at which workgroups end reflects memory bandwidth.
    if (finished == 0 || finished < all / 8 || dispatch->next_workgroup >= all) return;
    if (counted_first == 0) {
      counted_first = finished;
      count_began = kernel_time();
    }
    counted_last = finished;
    count_ended = kernel_time();
  }
  bool over_link() const { return kind.from_host || kind.to_host; }
};

BulkBlits::BulkBlits(sc_core::sc_module_name name, const Blits& blits, Dispatcher& dispatcher, DispatchListener& done)
    : sc_module(name), blits_(blits), dispatcher_(dispatcher), listener_(done), wake_("wake") {
  SC_HAS_PROCESS(BulkBlits);
  SC_METHOD(advance);
  sensitive << wake_;
  dont_initialize();
}

BulkBlits::~BulkBlits() = default;

// -- events from outside

bool BulkBlits::take(Dispatch& dispatch) {
  if (context_ == nullptr) return false;
  std::optional<Blit> blit = blits_.find(dispatch);
  if (!blit || blit->bytes < kSmallest || blit->overlaps()) return false;
  // Executing pieces changes the arguments in memory, so no other copy may use the same arguments.
  const auto shares_arguments = [&](const auto& c) {
    return c->dispatch->packet.kernarg_address == dispatch.packet.kernarg_address;
  };
  if (std::any_of(copies_.begin(), copies_.end(), shares_arguments)) return false;
  others_begin();
  CopyKind kind = kind_of(dispatch, *blit);
  copies_.push_back(std::make_unique<Copy>(Copy{.dispatch = &dispatch,
                                                .blit = std::move(*blit),
                                                .kind = std::move(kind),
                                                .began = kernel_time(),
                                                .workgroups = dispatch.workgroups,
                                                .grid = dispatch.grid}));
  go_on(*copies_.back());
  return true;
}

bool BulkBlits::piece_done(Dispatch& dispatch) {
  Copy* copy = find(dispatch);
  if (copy == nullptr) return false;
  copy->executed += dispatch.finished_workgroups;
  copy->done = copy->to;
  learn(*copy);
  if (copy->done < copy->blit.bytes) {
    go_on(*copy);
    return true;
  }
  finish(*copy);
  return false;
}

void BulkBlits::drop(const Dispatch& dispatch) {
  const Copy* copy = find(dispatch);
  if (copy == nullptr) return;
  blits_.restore(copy->blit, dispatch);
  std::erase_if(copies_, [copy](const auto& c) { return c.get() == copy; });
}

void BulkBlits::reset() {
  costs_ = {};
  wake_.cancel();
}

void BulkBlits::others_begin() {
  for (const auto& copy : copies_) {
    copy->alone = copy->piece_alone = false;
    if (!copy->in_bulk) continue;
    // The bulk part ends at the next cut.
    catch_up(*copy);
    const std::uint64_t there =
        copy->from + share_of(copy->blit.bytes - copy->from, kernel_time() - copy->piece_began, copy->rest.time);
    copy->to = copy->cut_after(std::max(copy->done, std::min(there, copy->blit.bytes)));
  }
  for (BulkUser* const user : others_) user->others_begin();
  wake();
}

unsigned BulkBlits::in_bulk() const {
  return static_cast<unsigned>(std::count_if(copies_.begin(), copies_.end(), [](const auto& c) { return c->in_bulk; }));
}

void BulkBlits::diagnose(std::ostream& out) const {
  for (const auto& copy : copies_) {
    out << fmt::format("  dispatch {} (kernel {}, queue {}): {} of {} bytes done, {}\n", copy->dispatch->index,
                       copy->dispatch->kernel, copy->dispatch->queue_slot, copy->done, copy->blit.bytes,
                       copy->in_bulk ? "in bulk" : "executed");
  }
}

// -- progress of a copy

void BulkBlits::go_on(Copy& copy) {
  if (context_->active_users() != 0) {
    copy.alone = false;
    copy.sample = Copy::Sample::none;
    const std::uint64_t to = copy.blit.cut_before(copy.done + (copy.over_link() ? kPieceOverLink : kPieceInMemory));
    execute(copy, to > copy.done ? to : copy.blit.bytes);
  } else if (const std::optional<CopyCost> cost = costs_.of(copy.kind, copy.blit.bytes)) {
    begin_bulk(copy, *cost);
  } else if (!sample(copy)) {
    execute(copy, copy.blit.bytes);
  }
}

// Executes the next of the three samples. False if the copy is too short for them.
bool BulkBlits::sample(Copy& copy) {
  const std::uint64_t size = copy.over_link() ? kSampleOverLink : kSampleInMemory;
  // For copies within GPU memory, the first sample covers the bytes that L2 accepts without write-backs. Write-backs do not
  // change the rate of copies over the link.
  const std::uint64_t filling = context_->l2_bytes() / (copy.blit.is_fill() ? 1 : 2);
  const std::uint64_t first = copy.cut_after(copy.done + (copy.over_link() ? size : std::max(size, filling)));
  const std::uint64_t second = copy.cut_after(first + size);
  const std::uint64_t times = copy.over_link() ? kThirdOverLink : kThirdInMemory;
  const std::uint64_t third = copy.cut_after(second + times * (second - first));
  switch (copy.sample) {
    case Copy::Sample::none:
      // The rest must be long enough to outweigh the starts and ends of the pieces.
      if (third >= copy.blit.bytes || third - copy.done > (copy.blit.bytes - copy.done) / 5 * 4) return false;
      copy.sample = Copy::Sample::first;
      execute(copy, first);
      return true;
    case Copy::Sample::first:
      // A copy over the link fills L2 slowly and causes write-backs only when L2 is full. L2 is therefore filled in advance
      // with dirty lines of the end of the destination, so that the samples cause write-backs.
      if (const std::uint64_t l2 = context_->l2_bytes();
          copy.over_link() && !copy.kind.to_host && copy.blit.bytes > copy.done + l2 + kPieceInMemory) {
        context_->install_copied(
            {.destination = copy.blit.destination + copy.blit.bytes - l2, .bytes = l2, .has_source = false}, false);
      }
      copy.sample = Copy::Sample::second;
      execute(copy, copy.cut_after(copy.done + size));
      return true;
    default:
      copy.sample = Copy::Sample::third;
      execute(copy, copy.cut_after(copy.done + times * copy.sample_bytes[1]));
      return true;
  }
}

void BulkBlits::execute(Copy& copy, std::uint64_t to) {
  Dispatch& dispatch = *copy.dispatch;
  copy.from = copy.done;
  copy.to = to;
  copy.piece_began = kernel_time();
  copy.piece_alone = context_->active_users() == 0;
  dispatch.timed_whole = true;  // no part may run untimed: the measured time may become a sample
  copy.traffic_before = context_->traffic();
  dispatch.workgroups = copy.workgroups;
  dispatch.grid = copy.grid;
  dispatch.next_workgroup = dispatch.finished_workgroups = 0;
  if (copy.from != 0 || to != copy.blit.bytes) blits_.narrow(copy.blit, dispatch, copy.from, to);
  copy.counted_first = copy.counted_last = 0;
  dispatcher_.submit(dispatch);
  wake();
}

void BulkBlits::learn(Copy& copy) {
  if (!copy.piece_alone) {
    copy.sample = Copy::Sample::none;
    return;
  }
  CopyCost cost{.time = kernel_time() - copy.piece_began, .traffic = context_->traffic()};
  for (std::size_t i = 0; i < cost.traffic.size(); ++i) cost.traffic[i] -= copy.traffic_before[i];
  const std::uint64_t bytes = copy.to - copy.from;
  if (copy.sample == Copy::Sample::none) {
    if (bytes == copy.blit.bytes) costs_.add(copy.kind, bytes, std::move(cost));
    return;
  }
  const auto index = static_cast<std::size_t>(copy.sample) - 1;
  copy.sample_bytes[index] = bytes;
  copy.samples[index] = std::move(cost);
  if (copy.sample != Copy::Sample::third) return;
  copy.sample = Copy::Sample::none;
  const auto& [first, second, third] = copy.samples;
  // The ends of consecutive workgroups give the rate of a full GPU, unaffected by writes that are still pending in memory when
  // a piece ends.
  const std::uint64_t counted = (copy.counted_last - copy.counted_first) * copy.blit.cut_step;
  if (counted > bytes / 4) {
    CopyCost more = third.scaled(static_cast<double>(counted) / static_cast<double>(bytes));
    more.time = copy.count_ended - copy.count_began;
    costs_.add_slope(copy.kind, copy.sample_bytes[0], first, counted, std::move(more));
    return;
  }
  costs_.add_slope(copy.kind, copy.sample_bytes[0], first, copy.sample_bytes[2] - copy.sample_bytes[1], third.beyond(second));
}

// -- bulk part

void BulkBlits::begin_bulk(Copy& copy, const CopyCost& whole) {
  copy.in_bulk = true;
  copy.from = copy.done;
  copy.to = copy.blit.bytes;
  copy.piece_began = kernel_time();
  blits_.expect_moves(copy.blit, copy.done);
  copy.rest = whole.scaled(static_cast<double>(copy.blit.bytes - copy.done) / static_cast<double>(copy.blit.bytes));
  // An uncontended copy takes the time of a whole copy, without the additional starts and ends of the samples.
  if (copy.alone) copy.rest.time = later(copy.began + whole.time, kernel_time()) - kernel_time();
  wake();
}

void BulkBlits::catch_up(Copy& copy) {
  const std::uint64_t all = copy.blit.bytes - copy.from;
  std::uint64_t upto = copy.to;
  if (kernel_time() < copy.time_of(copy.to)) {
    upto = std::min(upto, copy.blit.cut_before(copy.from + share_of(all, kernel_time() - copy.piece_began, copy.rest.time)));
  }
  if (upto <= copy.done) return;
  const std::uint64_t bytes = upto - copy.done;
  blits_.move(copy.blit, copy.done, upto);
  // Differences of cumulative amounts, so that the shares add up to the whole.
  const auto amounts = [&](std::uint64_t at) {
    return copy.rest.scaled(static_cast<double>(at - copy.from) / static_cast<double>(all)).traffic;
  };
  std::vector<std::uint64_t> traffic = amounts(upto);
  const std::vector<std::uint64_t> before = amounts(copy.done);
  for (std::size_t i = 0; i < traffic.size(); ++i) traffic[i] -= before[i];
  context_->add_traffic(traffic);
  copy.done = upto;
  copy.dispatch->bulk_bytes += bytes;
  bytes_ += bytes;
}

void BulkBlits::end_bulk(Copy& copy) {
  copy.in_bulk = false;
  context_->install_copied({.source = copy.blit.source + copy.from,
                            .destination = copy.blit.destination + copy.from,
                            .bytes = copy.done - copy.from,
                            .has_source = !copy.blit.is_fill()},
                           true);
}

void BulkBlits::advance() {
  std::vector<Dispatch*> ended;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    Copy& copy = *copies_[i];
    if (copy.counts_workgroups()) copy.count();
    if (!copy.in_bulk) continue;
    catch_up(copy);
    if (copy.done != copy.to) continue;
    end_bulk(copy);
    if (copy.done == copy.blit.bytes) {
      ended.push_back(copy.dispatch);
    } else {
      go_on(copy);
    }
  }
  for (Dispatch* dispatch : ended) {
    dispatch->end = kernel_time();
    finish(*find(*dispatch));
    listener_.dispatch_done(*dispatch);
  }
  wake();
}

void BulkBlits::finish(Copy& copy) {
  Dispatch& dispatch = *copy.dispatch;
  blits_.restore(copy.blit, dispatch);
  dispatch.workgroups = copy.workgroups;
  dispatch.grid = copy.grid;
  dispatch.next_workgroup = dispatch.total_workgroups();
  dispatch.finished_workgroups = copy.executed;
  std::erase_if(copies_, [&copy](const auto& c) { return c.get() == &copy; });
}

void BulkBlits::wake() {
  Tick next = kNever;
  for (const auto& copy : copies_) {
    if (copy->counts_workgroups()) next = earlier(next, kernel_time() + kCount);
    if (copy->in_bulk) next = earlier(next, later(earlier(copy->time_of(copy->to), kernel_time() + kStep), kernel_time()));
  }
  if (next != kNever) wake_.notify(to_sc_time(next - kernel_time()));
}

BulkBlits::Copy* BulkBlits::find(const Dispatch& dispatch) {
  const auto found = std::find_if(copies_.begin(), copies_.end(), [&](const auto& c) { return c->dispatch == &dispatch; });
  return found == copies_.end() ? nullptr : found->get();
}

CopyKind BulkBlits::kind_of(const Dispatch& dispatch, const Blit& blit) const {
  CopyKind kind{.what = fmt::format("{}, {} x {} bytes", dispatch.kernel, dispatch.workgroup[0], blit.element),
                .from_host = !blit.is_fill() && context_->in_host_memory(blit.source),
                .to_host = context_->in_host_memory(blit.destination),
                .alignment = alignment_class(blit.destination)};
  if (!blit.is_fill()) kind.alignment |= alignment_class(blit.source) << 8;
  for (const std::uint32_t mask : dispatch.cu_mask) kind.what += fmt::format(", {:x}", mask);
  // The state of L2 has little effect on copies of kCaches times its size or more.
  constexpr std::uint64_t kCaches = 16;
  if (blit.bytes < kCaches * context_->l2_bytes()) {
    kind.cache_state = context_->l2_state(
        {.source = blit.source, .destination = blit.destination, .bytes = blit.bytes, .has_source = !blit.is_fill()});
  } else {
    kind.cache_state = ~std::uint32_t{0};
  }
  return kind;
}

}  // namespace lacuna

#include "models/sdma/sdma_bulk_copies.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "models/common/host/huge_pages.h"

namespace lacuna {

namespace {

/// Bytes after which the pipeline is full: requests_in_flight requests are 32 KiB by default.
constexpr std::uint64_t kSettle = 64 * 1024;
constexpr std::uint64_t kSampled = 320 * 1024;
/// Bytes copied in bulk between checks for other users of memory.
constexpr std::uint64_t kChunk = 256 * 1024;

}  // namespace

bool SdmaBulkCopies::accepts(const SdmaTransfer& transfer) const {
  if (context_ == nullptr || memory_.mode() == TimingMode::functional || transfer.bytes < 2 * kSettle) return false;
  const auto [a, b] = std::minmax(transfer.source, transfer.destination);
  return transfer.is_fill() || b - a >= transfer.bytes;  // an overlapping copy depends on the order of requests
}

CopyKind SdmaBulkCopies::kind_of(const SdmaTransfer& transfer) const {
  const std::uint64_t line = parameters_.request_bytes;
  CopyKind kind{.what = transfer.is_fill() ? "fill" : "copy",
                .to_host = context_->in_host_memory(transfer.destination),
                .alignment = transfer.destination % line == 0 ? 0U : 1U};
  if (!transfer.is_fill()) {
    kind.from_host = context_->in_host_memory(transfer.source);
    kind.alignment |= transfer.source % line == transfer.destination % line ? 0U : 2U;
  }
  return kind;
}

bool SdmaBulkCopies::transfer(SdmaQueue& queue, const SdmaTransfer& transfer) {
  const CopyKind kind = kind_of(transfer);
  const bool from_idle = queue.done <= timeline_.at();
  bool sampling = from_idle;  // samples are taken only from the beginning of the transfer
  CopyCost settled{};
  Tick began = timeline_.at();
  std::vector<std::uint64_t> traffic;
  const auto lap = [&] {
    CopyCost cost{.time = timeline_.at() - began, .traffic = context_->traffic()};
    for (std::size_t i = 0; i < traffic.size(); ++i) cost.traffic[i] -= traffic[i];
    return cost;
  };
  // The last `in_bulk` bytes before `done` were copied in bulk; `fresh`: the engine was idle when they began.
  std::uint64_t in_bulk = 0;
  bool fresh = false;
  const auto cost_of = [&](std::uint64_t bytes, bool from_start) {
    return from_start ? *costs_.of(kind, bytes) : costs_.of(kind, kSettle + bytes)->beyond(*costs_.of(kind, kSettle));
  };
  const auto end_bulk = [&](std::uint64_t done) {
    if (in_bulk == 0) return;
    context_->add_traffic(cost_of(in_bulk, fresh).traffic);
    add_pending(queue, transfer.range(done - in_bulk, in_bulk));
    in_bulk = 0;
  };
  std::uint64_t last_chunk = 0;
  Tick chunk_time{};
  for (std::uint64_t done = 0; done < transfer.bytes;) {
    const bool alone = context_->active_users() <= 1;
    const std::uint64_t rest = transfer.bytes - done;
    const bool known = in_bulk != 0 || costs_.of(kind, kSettle).has_value();
    if (alone && known) {
      const std::uint64_t chunk = rest < 2 * kChunk ? rest : kChunk;
      const bool from_start = done == 0 && from_idle;
      if (in_bulk == 0) {
        fresh = from_start;
        prepare_writes(transfer.destination + done, rest);
      }
      if (chunk != last_chunk || from_start) chunk_time = cost_of(chunk, from_start).time;
      last_chunk = from_start ? 0 : chunk;
      if (!mover_.move(queue, transfer, done, chunk)) {
        end_bulk(done);
        return false;
      }
      timeline_.advance(chunk_time);
      queue.done = later(queue.done, timeline_.at() + tails_[kind]);
      sampling = false;
      in_bulk += chunk;
      done += chunk;
      if (!timeline_.keep_up(queue)) {
        end_bulk(done);
        return false;
      }
      continue;
    }
    end_bulk(done);
    sampling = sampling && alone && !known;
    if (sampling && done == 0) {
      began = timeline_.at();
      traffic = context_->traffic();
    }
    const std::uint64_t chunk = std::min(rest, done == 0 ? kSettle : done < kSampled ? kSampled - done : kSettle);
    install_pending(queue);
    if (!mover_.transfer(queue, transfer, done, chunk)) return false;
    done += chunk;
    if (!sampling || context_->active_users() > 1) {
      sampling = false;
    } else if (done == kSettle) {
      settled = lap();
    } else {
      costs_.add_slope(kind, kSettle, settled, done - kSettle, lap().beyond(settled));
      tails_[kind] = later(queue.done, timeline_.at()) - timeline_.at();
      sampling = false;
    }
  }
  end_bulk(transfer.bytes);
  return true;
}

void SdmaBulkCopies::add_pending(SdmaQueue& queue, const CopiedRange& range) const {
  CopiedRange& pending = queue.pending;
  const bool continues = pending.bytes != 0 && pending.has_source == range.has_source &&
                         pending.destination + pending.bytes == range.destination &&
                         (!range.has_source || pending.source + pending.bytes == range.source);
  if (continues) {
    pending.bytes += range.bytes;
  } else {
    install_pending(queue);
    pending = range;
  }
}

void SdmaBulkCopies::install_pending(SdmaQueue& queue) const {
  if (queue.pending.bytes != 0) context_->install_copied(queue.pending, false);
  queue.pending.bytes = 0;
}

void SdmaBulkCopies::reset() {
  costs_ = {};
  tails_.clear();
}

void SdmaBulkCopies::prepare_writes(std::uint64_t destination, std::uint64_t bytes) const {
  const isa::MemoryWindow window = memory_.vm().find(destination);
  if (!window.contains(destination, 1)) return;
  const std::uint64_t offset = destination - window.base;
  expect_writes(window.host + offset, std::min(bytes, window.size - offset), window.host, window.host + window.size);
}

}  // namespace lacuna

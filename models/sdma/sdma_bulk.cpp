// The SDMA engine's large copies and fills in bulk: at the rate that requests had, without making them.
//
// A rate is sampled, not computed: the first kSettle bytes of a copy fill the pipeline, what follows up to kSampled is
// measured, and what each byte took there is what all further bytes take that are copied between the same kinds of memory. Bulk
// goes in chunks, and only while nobody else uses the memory; otherwise chunks are copied request by request, as in the
// detailed mode.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/common/host/huge_pages.h"
#include "models/common/time/tlm_time.h"
#include "models/sdma/sdma_engine_state.h"

namespace lacuna {

namespace {

/// The pipeline holds requests_in_flight requests: 32 KiB by default.
constexpr std::uint64_t kSettle = 64 * 1024;
constexpr std::uint64_t kSampled = 320 * 1024;
/// Others are noticed after a chunk.
constexpr std::uint64_t kChunk = 256 * 1024;

}  // namespace

bool SdmaEngine::may_go_in_bulk(const Transfer& transfer) const {
  if (context_ == nullptr || mode_ == TimingMode::functional || transfer.bytes < 2 * kSettle) return false;
  const auto [a, b] = std::minmax(transfer.source, transfer.destination);
  return transfer.is_fill() || b - a >= transfer.bytes;  // a copy onto itself shows the order of its requests
}

CopyKind SdmaEngine::kind_of(const Transfer& transfer) const {
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

bool SdmaEngine::transfer_large(Queue& queue, const Transfer& transfer) {
  const CopyKind kind = kind_of(transfer);
  const bool from_idle = queue.done <= at_;
  bool sampling = from_idle;  // from the beginning on
  CopyCost settled{};
  Tick began = at_;
  std::vector<std::uint64_t> traffic;
  const auto lap = [&] {
    CopyCost cost{.time = at_ - began, .traffic = context_->traffic()};
    for (std::size_t i = 0; i < traffic.size(); ++i) cost.traffic[i] -= traffic[i];
    return cost;
  };
  // Of the bytes before `done`, the last `in_bulk` went in bulk; `fresh` when they began with an idle engine.
  std::uint64_t in_bulk = 0;
  bool fresh = false;
  const auto cost_of = [&](std::uint64_t bytes, bool from_start) {
    return from_start ? *costs_.of(kind, bytes) : costs_.of(kind, kSettle + bytes)->beyond(*costs_.of(kind, kSettle));
  };
  const auto end_bulk = [&](std::uint64_t done) {
    if (in_bulk == 0) return;
    context_->add_traffic(cost_of(in_bulk, fresh).traffic);
    queue.leave(*context_, transfer.range(done - in_bulk, in_bulk));
    in_bulk = 0;
  };
  std::uint64_t last_chunk = 0;
  Tick chunk_time{};
  for (std::uint64_t done = 0; done < transfer.bytes;) {
    const bool alone = context_->at_work() <= 1;
    const std::uint64_t rest = transfer.bytes - done;
    const bool known = in_bulk != 0 || costs_.of(kind, kSettle).has_value();
    if (alone && known) {
      const std::uint64_t chunk = rest < 2 * kChunk ? rest : kChunk;
      const bool from_start = done == 0 && from_idle;
      if (in_bulk == 0) {
        fresh = from_start;
        expect_writes_to(transfer.destination + done, rest);
      }
      if (chunk != last_chunk || from_start) chunk_time = cost_of(chunk, from_start).time;
      last_chunk = from_start ? 0 : chunk;
      if (!move(queue, transfer, done, chunk)) {
        end_bulk(done);
        return false;
      }
      at_ += chunk_time;
      queue.done = later(queue.done, at_ + tails_[kind]);
      sampling = false;
      in_bulk += chunk;
      done += chunk;
      if (!keep_up(queue)) {
        end_bulk(done);
        return false;
      }
      continue;
    }
    end_bulk(done);
    sampling = sampling && alone && !known;
    if (sampling && done == 0) {
      began = at_;
      traffic = context_->traffic();
    }
    const std::uint64_t chunk = std::min(rest, done == 0 ? kSettle : done < kSampled ? kSampled - done : kSettle);
    if (!transfer_lines(queue, transfer, done, chunk)) return false;
    done += chunk;
    if (!sampling || context_->at_work() > 1) {
      sampling = false;
    } else if (done == kSettle) {
      settled = lap();
    } else {
      costs_.add_slope(kind, kSettle, settled, done - kSettle, lap().beyond(settled));
      tails_[kind] = later(queue.done, at_) - at_;
      sampling = false;
    }
  }
  end_bulk(transfer.bytes);
  return true;
}

void SdmaEngine::expect_writes_to(std::uint64_t destination, std::uint64_t bytes) const {
  const isa::MemoryWindow window = vm_.find(destination);
  if (!window.contains(destination, 1)) return;
  const std::uint64_t offset = destination - window.base;
  expect_writes(window.host + offset, std::min(bytes, window.size - offset), window.host, window.host + window.size);
}

// The data, now. Windows say where memory ends, as for requests.
bool SdmaEngine::move(Queue& queue, const Transfer& transfer, std::uint64_t first, std::uint64_t bytes) {
  for (std::uint64_t at = first; at < first + bytes;) {
    std::uint64_t piece = first + bytes - at;
    const std::byte* from = nullptr;
    if (!transfer.is_fill()) {
      const std::optional<isa::MemoryWindow> source = window(queue, transfer.source + at, 1, false);
      if (!source) return false;
      const std::uint64_t offset = transfer.source + at - source->base;
      piece = std::min(piece, source->size - offset);
      from = source->host + offset;
    }
    const std::optional<isa::MemoryWindow> destination = window(queue, transfer.destination + at, 1, true);
    if (!destination) return false;
    const std::uint64_t offset = transfer.destination + at - destination->base;
    piece = std::min(piece, destination->size - offset);
    std::byte* to = destination->host + offset;
    if (from != nullptr) {
      std::memcpy(to, from, piece);
      statistics_.bytes_read += piece;
    } else {
      for (std::uint64_t i = 0; i < piece;) {
        const std::uint64_t phase = (at + i) % transfer.unit;
        const std::uint64_t part = std::min<std::uint64_t>(piece - i, transfer.pattern.size() - phase);
        std::memcpy(to + i, transfer.pattern.data() + phase, part);
        i += part;
      }
    }
    statistics_.bytes_written += piece;
    at += piece;
  }
  return true;
}

}  // namespace lacuna

#include "models/sdma/sdma_data_mover.h"

#include <algorithm>
#include <cstring>

namespace lacuna {

namespace {

/// Bytes that are moved at a time in functional mode.
constexpr std::uint64_t kUntimedPiece = 64 * 1024;

std::uint64_t up_to_boundary(std::uint64_t address, std::uint64_t boundary) { return boundary - address % boundary; }

}  // namespace

Tick SdmaDataMover::transfer_time(std::uint64_t bytes) const {
  return clock_.ticks({(bytes + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle});
}

void SdmaDataMover::retire(Tick horizon) {
  in_flight_.retire(horizon);
  write_port_.retire(horizon);
}

void SdmaDataMover::reset() {
  staged_ = 0;
  in_flight_.reset();
  write_port_.reset();
}

bool SdmaDataMover::copy(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations,
                         std::uint64_t bytes) {
  return memory_.mode() == TimingMode::functional ? copy_untimed(queue, source, destinations, bytes)
                                                  : copy_requests(queue, source, destinations, bytes);
}

bool SdmaDataMover::transfer(SdmaQueue& queue, const SdmaTransfer& transfer, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t destination = transfer.destination + first;
  if (!transfer.is_fill()) return copy(queue, transfer.source + first, {&destination, 1}, bytes);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t piece = std::min(bytes - done, up_to_boundary(destination + done, parameters_.request_bytes));
    if (!write(queue, destination + done, transfer.pattern.subspan((first + done) % transfer.unit, piece))) return false;
    done += piece;
  }
  return true;
}

bool SdmaDataMover::copy_requests(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations,
                                  std::uint64_t bytes) {
  staged_ = 0;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  Tick arrived{};  // arrival of all data that have been read
  while (written < bytes) {
    // Each round writes one line of the first destination and reads the lines of the source that this line needs.
    const std::uint64_t piece = std::min(bytes - written, up_to_boundary(destinations[0] + written, parameters_.request_bytes));
    const Tick start = in_flight_.acquire(timeline_.at());
    timeline_.advance_to(start);
    while (read < written + piece) {
      const std::uint64_t size = std::min(bytes - read, up_to_boundary(source + read, parameters_.request_bytes));
      const std::optional<Tick> done = read_request(queue, source + read, size);
      if (!done) return false;
      arrived = later(arrived, *done);
      timeline_.advance(transfer_time(size));
      read += size;
    }
    Tick end = arrived;
    for (const std::uint64_t destination : destinations) {
      const std::optional<Tick> done = write_requests(queue, destination + written, std::span(staging_).first(piece), arrived);
      if (!done) return false;
      end = later(end, *done);
    }
    in_flight_.occupy(start, end);
    queue.done = later(queue.done, end);
    staged_ -= piece;
    std::memmove(staging_.data(), staging_.data() + piece, staged_);
    written += piece;
    if (!timeline_.keep_up(queue)) return false;
  }
  return true;
}

bool SdmaDataMover::copy_untimed(SdmaQueue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations,
                                 std::uint64_t bytes) {
  for (const std::uint64_t destination : destinations) {
    for (std::uint64_t at = 0; at < bytes;) {
      const std::optional<isa::MemoryWindow> from = memory_.window(queue, source + at, 1, false);
      if (!from) return false;
      const std::optional<isa::MemoryWindow> to = memory_.window(queue, destination + at, 1, true);
      if (!to) return false;
      const std::uint64_t from_offset = source + at - from->base;
      const std::uint64_t to_offset = destination + at - to->base;
      const std::uint64_t piece = std::min({bytes - at, from->size - from_offset, to->size - to_offset, kUntimedPiece});
      std::memmove(to->host + to_offset, from->host + from_offset, piece);
      statistics_.bytes_read += piece;
      statistics_.bytes_written += piece;
      at += piece;
      timeline_.advance(transfer_time(piece));
      if (!timeline_.keep_up(queue)) return false;
    }
  }
  return true;
}

bool SdmaDataMover::write(SdmaQueue& queue, std::uint64_t destination, std::span<const std::byte> data) {
  const bool timed = memory_.mode() != TimingMode::functional;
  while (!data.empty()) {
    const auto piece = data.first(std::min<std::uint64_t>(data.size(), up_to_boundary(destination, parameters_.request_bytes)));
    const Tick start = timed ? in_flight_.acquire(timeline_.at()) : timeline_.at();
    const std::optional<Tick> done = write_requests(queue, destination, piece, start);
    if (!done) return false;
    if (timed) in_flight_.occupy(start, later(start, *done));
    queue.done = later(queue.done, *done);
    timeline_.advance_to(start + transfer_time(piece.size()));
    destination += piece.size();
    data = data.subspan(piece.size());
    if (!timeline_.keep_up(queue)) return false;
  }
  return true;
}

std::optional<Tick> SdmaDataMover::read_request(SdmaQueue& queue, std::uint64_t address, std::uint64_t bytes) {
  const std::optional<isa::MemoryWindow> from = memory_.window(queue, address, bytes, false);
  if (!from) return std::nullopt;
  std::memcpy(staging_.data() + staged_, from->host + (address - from->base), bytes);
  staged_ += bytes;
  statistics_.bytes_read += bytes;
  return memory_.access(queue, *from, address, bytes, false, timeline_.at());
}

std::optional<Tick> SdmaDataMover::write_requests(SdmaQueue& queue, std::uint64_t address, std::span<const std::byte> data,
                                                  Tick at) {
  Tick end = at;
  while (!data.empty()) {
    const std::uint64_t piece = std::min<std::uint64_t>(data.size(), up_to_boundary(address, parameters_.request_bytes));
    const std::optional<isa::MemoryWindow> to = memory_.window(queue, address, piece, true);
    if (!to) return std::nullopt;
    std::memcpy(to->host + (address - to->base), data.data(), piece);
    statistics_.bytes_written += piece;
    const Tick departs = memory_.mode() == TimingMode::functional ? at : write_port_.reserve(at, transfer_time(piece));
    const std::optional<Tick> done = memory_.access(queue, *to, address, piece, true, departs);
    if (!done) return std::nullopt;
    end = later(end, *done);
    address += piece;
    data = data.subspan(piece);
  }
  return end;
}

bool SdmaDataMover::move(SdmaQueue& queue, const SdmaTransfer& transfer, std::uint64_t first, std::uint64_t bytes) {
  for (std::uint64_t at = first; at < first + bytes;) {
    std::uint64_t piece = first + bytes - at;
    const std::byte* from = nullptr;
    if (!transfer.is_fill()) {
      const std::optional<isa::MemoryWindow> source = memory_.window(queue, transfer.source + at, 1, false);
      if (!source) return false;
      const std::uint64_t offset = transfer.source + at - source->base;
      piece = std::min(piece, source->size - offset);
      from = source->host + offset;
    }
    const std::optional<isa::MemoryWindow> destination = memory_.window(queue, transfer.destination + at, 1, true);
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

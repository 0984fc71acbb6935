// The SDMA engine's data path: copies, fills and writes, and when they are done.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/time/tlm_time.h"
#include "models/sdma/sdma_engine_state.h"

namespace lacuna {

namespace {

/// Moved at once when only the result matters.
constexpr std::uint64_t kUntimedPiece = 64 * 1024;

std::uint64_t up_to_boundary(std::uint64_t address, std::uint64_t boundary) { return boundary - address % boundary; }

}  // namespace

Tick SdmaEngine::transfer_time(std::uint64_t bytes) const {
  return clock_.ticks({(bytes + parameters_.bytes_per_cycle - 1) / parameters_.bytes_per_cycle});
}

bool SdmaEngine::keep_up(const Queue& queue) {
  if (at_ <= now() + clock_.ticks(lookahead_)) return queue.alive;
  return wait_until(queue, at_);
}

bool SdmaEngine::copy(Queue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations, std::uint64_t bytes) {
  if (context_ != nullptr) context_->work_begins();
  if (mode_ == TimingMode::functional) return copy_untimed(queue, source, destinations, bytes);
  const Transfer transfer{.source = source, .destination = destinations[0], .bytes = bytes};
  if (destinations.size() == 1 && may_go_in_bulk(transfer)) return transfer_large(queue, transfer);
  return copy_lines(queue, source, destinations, bytes);
}

bool SdmaEngine::transfer_lines(Queue& queue, const Transfer& transfer, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t destination = transfer.destination + first;
  queue.settle(context_);
  if (!transfer.is_fill()) return copy_lines(queue, transfer.source + first, {&destination, 1}, bytes);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t piece = std::min(bytes - done, up_to_boundary(destination + done, parameters_.request_bytes));
    if (!write(queue, destination + done, transfer.pattern.subspan((first + done) % transfer.unit, piece))) return false;
    done += piece;
  }
  return true;
}

bool SdmaEngine::copy_lines(Queue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations,
                            std::uint64_t bytes) {
  staged_ = 0;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  Tick there{};  // all that has been read
  while (written < bytes) {
    // One line of the first destination, and the lines of the source that it needs.
    const std::uint64_t piece = std::min(bytes - written, up_to_boundary(destinations[0] + written, parameters_.request_bytes));
    const Tick start = in_flight_.acquire(at_);
    at_ = start;
    while (read < written + piece) {
      const std::uint64_t size = std::min(bytes - read, up_to_boundary(source + read, parameters_.request_bytes));
      const std::optional<Tick> done = read_request(queue, source + read, size, at_);
      if (!done) return false;
      there = later(there, *done);
      at_ += transfer_time(size);
      read += size;
    }
    Tick end = there;
    for (const std::uint64_t destination : destinations) {
      const std::optional<Tick> done = write_requests(queue, destination + written, std::span(staging_).first(piece), there);
      if (!done) return false;
      end = later(end, *done);
    }
    in_flight_.occupy(start, end);
    queue.done = later(queue.done, end);
    staged_ -= piece;
    std::memmove(staging_.data(), staging_.data() + piece, staged_);
    written += piece;
    if (!keep_up(queue)) return false;
  }
  return true;
}

bool SdmaEngine::copy_untimed(Queue& queue, std::uint64_t source, std::span<const std::uint64_t> destinations,
                              std::uint64_t bytes) {
  for (const std::uint64_t destination : destinations) {
    for (std::uint64_t at = 0; at < bytes;) {
      const std::optional<isa::MemoryWindow> from = window(queue, source + at, 1, false);
      if (!from) return false;
      const std::optional<isa::MemoryWindow> to = window(queue, destination + at, 1, true);
      if (!to) return false;
      const std::uint64_t from_offset = source + at - from->base;
      const std::uint64_t to_offset = destination + at - to->base;
      const std::uint64_t piece = std::min({bytes - at, from->size - from_offset, to->size - to_offset, kUntimedPiece});
      std::memmove(to->host + to_offset, from->host + from_offset, piece);
      statistics_.bytes_read += piece;
      statistics_.bytes_written += piece;
      at += piece;
      at_ += transfer_time(piece);
      if (!keep_up(queue)) return false;
    }
  }
  return true;
}

bool SdmaEngine::copy_window(Queue& queue, const sdma::CopyWindow& box) {
  const std::uint64_t row_bytes = std::uint64_t{box.width} * box.element;
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const std::uint64_t to = box.destination.row(y, z, box.element);
      if (!copy(queue, box.source.row(y, z, box.element), {&to, 1}, row_bytes)) return false;
    }
  }
  return true;
}

bool SdmaEngine::fill(Queue& queue, const sdma::Fill& packet) {
  std::array<std::byte, kLargestRequest + sizeof packet.data> pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(packet.data >> (i % packet.unit * 8));
  if (context_ != nullptr) context_->work_begins();
  const Transfer transfer{.destination = packet.destination, .bytes = packet.bytes, .pattern = pattern, .unit = packet.unit};
  return may_go_in_bulk(transfer) ? transfer_large(queue, transfer) : transfer_lines(queue, transfer, 0, packet.bytes);
}

bool SdmaEngine::write(Queue& queue, std::uint64_t destination, std::span<const std::byte> data) {
  while (!data.empty()) {
    const auto piece = data.first(std::min<std::uint64_t>(data.size(), up_to_boundary(destination, parameters_.request_bytes)));
    const Tick start = mode_ == TimingMode::functional ? at_ : in_flight_.acquire(at_);
    const std::optional<Tick> done = write_requests(queue, destination, piece, start);
    if (!done) return false;
    if (mode_ != TimingMode::functional) in_flight_.occupy(start, later(start, *done));
    queue.done = later(queue.done, *done);
    at_ = start + transfer_time(piece.size());
    destination += piece.size();
    data = data.subspan(piece.size());
    if (!keep_up(queue)) return false;
  }
  return true;
}

std::optional<Tick> SdmaEngine::read_request(Queue& queue, std::uint64_t address, std::uint64_t bytes, Tick at) {
  const std::optional<isa::MemoryWindow> from = window(queue, address, bytes, false);
  if (!from) return std::nullopt;
  std::memcpy(staging_.data() + staged_, from->host + (address - from->base), bytes);
  staged_ += bytes;
  statistics_.bytes_read += bytes;
  return transport(queue, *from, address, bytes, false, at);
}

std::optional<Tick> SdmaEngine::write_requests(Queue& queue, std::uint64_t address, std::span<const std::byte> data, Tick at) {
  Tick end = at;
  while (!data.empty()) {
    const std::uint64_t piece = std::min<std::uint64_t>(data.size(), up_to_boundary(address, parameters_.request_bytes));
    const std::optional<isa::MemoryWindow> to = window(queue, address, piece, true);
    if (!to) return std::nullopt;
    std::memcpy(to->host + (address - to->base), data.data(), piece);
    statistics_.bytes_written += piece;
    const Tick leaves = mode_ == TimingMode::functional ? at : write_port_.reserve(at, transfer_time(piece));
    const std::optional<Tick> done = transport(queue, *to, address, piece, true, leaves);
    if (!done) return std::nullopt;
    end = later(end, *done);
    address += piece;
    data = data.subspan(piece);
  }
  return end;
}

std::byte* SdmaEngine::object(Queue& queue, std::uint64_t address, unsigned bytes, bool write, const char* what) {
  if (address % bytes != 0) {
    stop(queue, {.code = LACUNA_FAULT_MISALIGNED,
                 .address = address,
                 .write = write,
                 .text = fmt::format("{} at {:#x}, which is not a multiple of {}", what, address, bytes)});
    return nullptr;
  }
  const std::optional<isa::MemoryWindow> found = window(queue, address, bytes, write);
  if (!found) return nullptr;
  const std::optional<Tick> done = transport(queue, *found, address, bytes, write, at_);
  if (!done) return nullptr;
  at_ = *done;
  if (!wait_until(queue, at_)) return nullptr;
  // Time has passed: what was mapped may be no longer.
  const std::optional<isa::MemoryWindow> still = window(queue, address, bytes, write);
  return still ? still->host + (address - still->base) : nullptr;
}

std::optional<isa::MemoryWindow> SdmaEngine::window(Queue& queue, std::uint64_t address, std::uint64_t bytes, bool write) {
  if (windows_epoch_ != vm_.epoch()) {
    windows_ = {};
    windows_epoch_ = vm_.epoch();
  }
  isa::MemoryWindow& last = windows_[write ? 1 : 0];
  if (!last.contains(address, bytes)) last = vm_.find(address);
  const bool mapped = last.contains(address, bytes);
  if (mapped && isa::allows(last.granted, write ? isa::Access::write : isa::Access::read)) {
    if (write) {
      for (WriteObserver* const observer : write_observers_)
        observer->written(last.physical + (address - last.base), bytes, false);
    }
    return last;
  }
  stop(queue, {.code = mapped ? LACUNA_FAULT_NOT_PERMITTED : LACUNA_FAULT_NOT_MAPPED,
               .address = address,
               .write = write,
               .text = fmt::format("{} of {} bytes at {:#x}, which is not {}; {}", write ? "write" : "read", bytes, address,
                                   mapped ? (write ? "writable" : "readable") : "mapped", vm_.nearest(address))});
  return std::nullopt;
}

std::optional<Tick> SdmaEngine::transport(Queue& queue, const isa::MemoryWindow& where, std::uint64_t address,
                                          std::uint64_t bytes, bool write, Tick at) {
  if (mode_ == TimingMode::functional) return at;
  if (tlb_ != nullptr) at = later(at, tlb_->translate(address, at));
  PooledPayload payload(payloads_);
  payload->set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload->set_address(where.physical + (address - where.base));
  payload->set_data_length(static_cast<unsigned>(bytes));
  payload->set_streaming_width(static_cast<unsigned>(bytes));
  payload.attributes().kind = RequestKind::command_processor;
  payload.attributes().timing_only = true;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  set_local_time(delay, at);
  memory->b_transport(*payload, delay);
  if (payload->is_response_ok()) return local_time(delay);
  stop(queue, {.code = LACUNA_FAULT_NOT_MAPPED,
               .address = address,
               .write = write,
               .text = fmt::format("{} of {} bytes at {:#x}: nothing answers at bus address {:#x}", write ? "write" : "read",
                                   bytes, address, where.physical + (address - where.base))});
  return std::nullopt;
}

}  // namespace lacuna

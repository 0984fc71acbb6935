#include "models/sida/pipeline/column_loader.h"

#include <algorithm>

namespace lacuna::sida {

ColumnLoader::ColumnLoader(const PassShape& shape, const PipelineParameters& parameters, std::uint64_t sub_tensor,
                           std::uint64_t csc_bytes)
    : shape_(shape),
      sub_tensor_(sub_tensor),
      sub_tensors_(shape.has_os ? (shape.os.lines() + sub_tensor - 1) / sub_tensor : 0),
      line_bytes_(parameters.line_bytes),
      capacity_(csc_bytes / shape.entry_bytes),
      piece_(std::max<std::uint64_t>(1, std::min(capacity_, parameters.in_flight() / shape.entry_bytes) / 4)),
      window_(std::max<std::uint64_t>(1, parameters.in_flight() / shape.entry_bytes)) {
  if (shape.has_os) skip_empty();
  ahead_ = 2 + std::min(sub_tensors_, window_ * sub_tensors_ / std::max<std::uint64_t>(1, shape.entries()));
  if (shape.has_os && shape.block_side != 0) count_blocks();
}

void ColumnLoader::count_blocks() {
  blocks_.resize(sub_tensors_);
  // 1 + the last column of blocks that had an entry, for each row of blocks.
  std::vector<std::uint64_t> seen((shape_.x_length + shape_.block_side - 1) / shape_.block_side);
  for (std::uint64_t c = 0; c < shape_.os.lines(); ++c) {
    const std::uint64_t number = c / shape_.block_side + 1;
    for (const Index row : shape_.os.line(c)) {
      std::uint64_t& last = seen[row / shape_.block_side];
      blocks_[c / sub_tensor_] += last != number ? 1 : 0;
      last = number;
    }
  }
}

const ColumnLoader::Piece* ColumnLoader::first_of(std::uint64_t sub_tensor) const {
  for (const Piece& piece : pieces_) {
    if (piece.sub_tensor >= sub_tensor) return piece.sub_tensor == sub_tensor ? &piece : nullptr;
  }
  return nullptr;
}

void ColumnLoader::release(Time at) {
  free_since_ = at;
  held_ -= pieces_.front().fetched;
  if (flights_.size() >= pieces_.size()) flights_[flights_.size() - pieces_.size()].arrival = pieces_.front().arrival.at();
  pieces_.pop_front();
}

std::uint64_t ColumnLoader::frontier() const {
  if (next_ >= sub_tensors_) return shape_.os.lines();
  const auto begin = shape_.os.offsets.begin();
  const auto first = begin + static_cast<std::ptrdiff_t>(column(next_));
  if (position_ <= *first) return column(next_);
  const auto last = begin + static_cast<std::ptrdiff_t>(column(next_ + 1));
  return static_cast<std::uint64_t>(std::lower_bound(first, last, position_) - begin);
}

std::uint64_t ColumnLoader::columns_in(std::uint64_t sub_tensor) const { return column(sub_tensor + 1) - column(sub_tensor); }

std::uint64_t ColumnLoader::bytes_of(std::uint64_t sub_tensor, const CsrLoader& eager) const {
  const unsigned orders = shape_.has_is && !shape_.same_lines ? 2 : 1;
  std::uint64_t bytes = (entries_in(sub_tensor) - eager.held_in(sub_tensor)) * shape_.entry_bytes;
  bytes += columns_in(sub_tensor) * orders * shape_.offset_bytes;
  if (sub_tensor < blocks_.size()) bytes += std::uint64_t{blocks_[sub_tensor]} * shape_.block_list_bytes;
  return bytes;
}

void ColumnLoader::request_offsets_of(std::uint64_t sub_tensor, Time earliest, RequestIssuer& issuer) {
  const std::uint64_t all = (shape_.os.lines() + 1) * shape_.offset_bytes;
  const std::uint64_t wanted = (column(sub_tensor + 1) + 1) * shape_.offset_bytes;
  const std::uint64_t until = std::min(all, (wanted + line_bytes_ - 1) / line_bytes_ * line_bytes_);
  const unsigned orders = shape_.has_is && !shape_.same_lines ? 2 : 1;
  for (unsigned order = 0; order < orders; ++order) {
    std::uint64_t& requested = offset_bytes_[order];
    if (until <= requested) continue;
    const Operand operand = order == 0 ? Operand::os_order : Operand::is_order;
    if (offset_flights_.empty() || offset_flights_.back().sub_tensor != sub_tensor)
      offset_flights_.push_back({sub_tensor, Arrival()});
    issuer.read({MemoryKind::offsets, operand, requested, until - requested}, earliest, offset_flights_.back().arrival);
    requested = until;
  }
}

void ColumnLoader::request_piece(std::uint64_t begin, std::uint64_t end, Piece& piece, const CsrLoader& eager,
                                 RequestIssuer& issuer) {
  const MemoryKind kind = blocks_.empty() ? MemoryKind::csc : MemoryKind::blocks;
  const auto read = [&](std::uint64_t first, std::uint64_t last) {
    if (first >= last) return;
    piece.fetched += last - first;
    issuer.read({kind, Operand::os_order, first * shape_.entry_bytes, (last - first) * shape_.entry_bytes}, last_,
                piece.arrival);
  };
  if (eager.held_in(next_) == 0) {
    read(begin, end);
    return;
  }
  std::uint64_t from = begin;
  for (std::uint64_t c = column(next_); c < column(next_ + 1) && shape_.os.offsets[c] < end; ++c) {
    if (eager.held(c) == 0 || shape_.os.offsets[c + 1] <= begin) continue;
    const std::uint64_t held_end = shape_.os.offsets[c] + eager.held(c);
    read(from, std::max(from, shape_.os.offsets[c]));
    from = std::min(end, std::max(from, held_end));
  }
  read(from, end);
}

void ColumnLoader::request_offsets(std::uint64_t last, Time earliest, RequestIssuer& issuer) {
  last = std::max(last, next_ + ahead_);
  for (; offsets_for_ < sub_tensors_ && offsets_for_ <= last; ++offsets_for_)
    request_offsets_of(offsets_for_, earliest, issuer);
}

void ColumnLoader::allow(std::uint64_t last, Time since) {
  allowed_ = last;
  allowed_since_ = since;
}

void ColumnLoader::skip_empty() {
  while (next_ < sub_tensors_ && position_ >= end_of(next_)) ++next_;
}

/// Whether the offsets of all sub-tensors up to that of the next piece have arrived.
bool ColumnLoader::offsets_arrived() {
  while (!offset_flights_.empty() && offset_flights_.front().sub_tensor <= next_) {
    if (!offset_flights_.front().arrival.known()) return false;
    offsets_since_ = std::max(offsets_since_, offset_flights_.front().arrival.at());
    offset_flights_.pop_front();
  }
  return true;
}

Time ColumnLoader::next_time() {
  awaits_requests_ = false;
  if (next_ >= sub_tensors_ || next_ > allowed_) return kNever;
  const std::uint64_t entries = stop() - position_;
  if (held_ + entries > capacity_) return kNever;
  awaits_requests_ = true;
  while (in_flight_ + entries > window_ && !flights_.empty()) {
    const bool used = flights_.size() > pieces_.size();
    const Piece* const oldest = used ? nullptr : &pieces_[pieces_.size() - flights_.size()];
    if (!used && !oldest->arrival.known()) return kNever;
    window_since_ = used ? flights_.front().arrival : oldest->arrival.at();
    in_flight_ -= flights_.front().entries;
    flights_.pop_front();
  }
  if (!offsets_arrived()) return kNever;
  awaits_requests_ = false;
  return std::max({last_, allowed_since_, free_since_, window_since_, offsets_since_});
}

std::uint64_t ColumnLoader::request_next(const CsrLoader& eager, RequestIssuer& issuer) {
  last_ = next_time();
  Piece& piece = pieces_.emplace_back(Piece{next_, stop() - position_, 0, Arrival(last_)});
  if (!blocks_.empty() && position_ == begin_of(next_)) {
    const std::uint64_t bytes = std::uint64_t{blocks_[next_]} * shape_.block_list_bytes;
    issuer.read({MemoryKind::csc, Operand::os_order, blocks_requested_ * shape_.block_list_bytes, bytes}, last_, piece.arrival);
    blocks_requested_ += blocks_[next_];
  }
  request_piece(position_, stop(), piece, eager, issuer);
  held_ += piece.fetched;
  in_flight_ += piece.fetched;
  flights_.push_back({piece.fetched, 0});
  position_ = stop();
  skip_empty();
  request_offsets(0, last_, issuer);
  return piece.fetched;
}

}  // namespace lacuna::sida

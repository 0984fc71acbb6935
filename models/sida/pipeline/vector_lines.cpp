#include "models/sida/pipeline/vector_lines.h"

#include <algorithm>

namespace lacuna::sida {
namespace {

constexpr std::uint8_t kFetched = 1;  ///< x: the line has been fetched before; w, z: it has been computed
constexpr std::uint8_t kSpilled = 2;  ///< memory holds the line's current contents

/// Appends a read, or extends the last read if it ends where `request` begins.
void append(std::vector<MemoryRequest>& requests, const MemoryRequest& request) {
  if (!requests.empty()) {
    MemoryRequest& last = requests.back();
    if (last.kind == request.kind && last.operand == request.operand && last.offset + last.bytes == request.offset) {
      last.bytes += request.bytes;
      return;
    }
  }
  requests.push_back(request);
}

}  // namespace

VectorLines::VectorLines(const PassShape& shape, std::uint64_t sub_tensor, std::uint64_t steps, unsigned line_bytes,
                         std::optional<std::uint64_t> capacity)
    : shape_(shape),
      sub_tensor_(sub_tensor),
      x_(x_lives(shape, sub_tensor, line_bytes)),
      w_(w_lives(shape, sub_tensor, line_bytes)),
      z_(z_lives(shape, sub_tensor, line_bytes)),
      x_by_need_(x_.first, steps),
      z_by_begin_(z_.first, steps),
      live_(steps + 1),
      counted_(capacity.has_value()) {
  z_by_end_ = StepLists(z_.last, steps);
  if (shape.preload) std::fill(x_.first.begin(), x_.first.end(), 0);
  add_live(x_, &LineBytes::x, 1, steps);
  add_live(w_, &LineBytes::w, 0, steps);
  add_live(z_, &LineBytes::z, 0, steps);
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step > 0) {
      live_[step].x += live_[step - 1].x;
      live_[step].w += live_[step - 1].w;
      live_[step].z += live_[step - 1].z;
    }
    peak_ = std::max(peak_, live_[step].all());
  }
  if (!counted_ || peak_ <= *capacity) return;
  const auto ends = [&](LineLives& lives) {
    for (std::size_t line = 0; line < lives.last.size(); ++line) {
      if (lives.first[line] == StepLists::kNever) lives.last[line] = StepLists::kNever;
    }
    return StepLists(lives.last, steps);
  };
  x_by_end_ = ends(x_);
  w_by_end_ = ends(w_);
  base_ = {0, x_.lines.lines(), x_.lines.lines() + w_.lines.lines(), x_.lines.lines() + w_.lines.lines() + z_.lines.lines()};
  cache_.emplace(base_[3], *capacity);
  state_.resize(base_[3]);
}

void VectorLines::add_live(const LineLives& lives, std::uint64_t LineBytes::*member, std::uint64_t lead, std::uint64_t steps) {
  for (std::size_t line = 0; line < lives.first.size(); ++line) {
    if (lives.first[line] == StepLists::kNever) continue;
    const std::uint64_t first = lives.first[line] - std::min<std::uint64_t>(lead, lives.first[line]);
    live_[first].*member += lives.lines.bytes;
    // The difference may wrap around below 0 here; the running sum over the steps is correct.
    live_[std::min<std::uint64_t>(lives.last[line] + std::uint64_t{1}, steps)].*member -= lives.lines.bytes;
  }
}

LineBytes VectorLines::held(std::uint64_t step) const {
  if (!counted_) return {};
  if (!all_fit()) return cached_;
  LineBytes bytes = live_[step];
  bytes.z += early_bytes_;
  return bytes;
}

MemoryRequest VectorLines::part(Vector vector, Index line) const {
  const LineLives& lives = vector == kX ? x_ : vector == kW ? w_ : z_;
  const unsigned bytes = vector == kX ? shape_.x_read_bytes() : vector == kW ? shape_.w_bytes : shape_.z_bytes;
  const Operand operand = vector == kX ? Operand::load : vector == kW ? Operand::w : Operand::z;
  return {vector == kX ? MemoryKind::x : MemoryKind::sums, operand, lives.lines.first_of(line) * bytes,
          std::uint64_t{lives.lines.elements_of(line)} * bytes};
}

void VectorLines::read_x(Index line, std::vector<MemoryRequest>& reads) { append(reads, part(kX, line)); }

std::uint64_t VectorLines::leaves(Index number) {
  if (number < base_[1]) {
    cached_.x -= x_.lines.bytes;
    return x_.lines.bytes;
  }
  if (number < base_[2]) {
    if ((state_[number] & kSpilled) == 0) {
      state_[number] |= kSpilled;
      ++counts_.w_spilled;
      append(spills_, part(kW, number - base_[1]));
    }
    cached_.w -= w_.lines.bytes;
    return w_.lines.bytes;
  }
  ++counts_.sums_spilled;
  append(spills_, part(kZ, number - base_[2]));
  cached_.z -= z_.lines.bytes;
  return z_.lines.bytes;
}

void VectorLines::use(Vector vector, Index line) {
  const Index number = id(vector, line);
  const std::uint64_t bytes = vector == kW ? w_.lines.bytes : z_.lines.bytes;
  if (cache_->use(number, bytes, [this](Index oldest) { return leaves(oldest); })) return;
  (vector == kW ? cached_.w : cached_.z) += bytes;
  if ((state_[number] & kFetched) == 0) {
    state_[number] = kFetched;
    return;
  }
  ++(vector == kW ? counts_.w_read_back : counts_.sums_read_back);
  append(read_backs_, part(vector, line));
}

void VectorLines::load_all_x() {
  preloaded_ = true;
  counts_.x_fetched += x_.lines.lines();
  if (all_fit()) return;
  for (Index line = 0; line < x_.lines.lines(); ++line) {
    state_[line] |= kFetched;
    if (x_.last[line] == StepLists::kNever) continue;
    if (!cache_->use(line, x_.lines.bytes, [this](Index oldest) { return leaves(oldest); })) cached_.x += x_.lines.bytes;
  }
}

void VectorLines::fetch_x(std::uint64_t sub_tensor, std::vector<MemoryRequest>& reads) {
  if (all_fit()) {
    if (preloaded_) return;
    for (const Index line : x_by_need_.at(sub_tensor)) read_x(line, reads);
    counts_.x_fetched += x_by_need_.at(sub_tensor).size();
    return;
  }
  const std::uint64_t begin = shape_.os.offsets[std::min(sub_tensor * sub_tensor_, shape_.y_length)];
  const std::uint64_t end = shape_.os.offsets[std::min((sub_tensor + 1) * sub_tensor_, shape_.y_length)];
  for (std::uint64_t entry = begin; entry < end; ++entry) {
    const Index line = x_.lines.line_of(shape_.os.coordinates[entry]);
    if (cache_->use(line, x_.lines.bytes, [this](Index oldest) { return leaves(oldest); })) continue;
    cached_.x += x_.lines.bytes;
    ++((state_[line] & kFetched) != 0 ? counts_.x_refetched : counts_.x_fetched);
    state_[line] |= kFetched;
    read_x(line, reads);
  }
}

void VectorLines::make_w(std::uint64_t sub_tensor) {
  if (all_fit()) return;
  const std::uint64_t end = std::min((sub_tensor + 1) * sub_tensor_, shape_.y_length);
  for (std::uint64_t row = sub_tensor * sub_tensor_; row < end; ++row) {
    const Index line = w_.lines.line_of(row);
    if (w_.first[line] == StepLists::kNever) continue;
    use(kW, line);
    // The line receives further elements, so an earlier spilled copy in memory is outdated.
    state_[id(kW, line)] &= static_cast<std::uint8_t>(~kSpilled);
  }
}

void VectorLines::use_w(Index row) { use(kW, w_.lines.line_of(row)); }
void VectorLines::use_sum(Index column) { use(kZ, z_.lines.line_of(column)); }

void VectorLines::use_column(Index column, std::span<const Index> known_rows) {
  if (known_rows.empty()) return;
  use_sum(column);
  for (const Index row : known_rows) use_w(row);
}

std::span<const Index> VectorLines::finish_sums(std::uint64_t step) {
  const std::span<const Index> lines = z_by_end_.at(step);
  if (all_fit()) return lines;
  for (const Index line : lines) {
    use(kZ, line);
    cache_->drop(id(kZ, line), z_.lines.bytes);
    cached_.z -= z_.lines.bytes;
  }
  return lines;
}

void VectorLines::end_step(std::uint64_t step) {
  if (all_fit()) {
    if (early_bytes_ == 0) return;
    for (const Index line : z_by_begin_.at(step + 1)) {
      if (early_[line] == 0) continue;
      early_[line] = 0;
      early_bytes_ -= z_.lines.bytes;
    }
    return;
  }
  for (const Index line : x_by_end_.at(step)) {
    if (!cache_->holds(line)) continue;
    cache_->drop(line, x_.lines.bytes);
    cached_.x -= x_.lines.bytes;
  }
  for (const Index line : w_by_end_.at(step)) {
    if (!cache_->holds(id(kW, line))) continue;
    cache_->drop(id(kW, line), w_.lines.bytes);
    cached_.w -= w_.lines.bytes;
  }
}

bool VectorLines::use_early(Index column, std::uint64_t step, bool may_begin) {
  const Index line = z_.lines.line_of(column);
  if (z_.first[line] <= step || (!early_.empty() && early_[line] != 0)) return true;
  if (!may_begin) return false;
  if (early_.empty()) early_.resize(z_.lines.lines());
  early_[line] = 1;
  early_bytes_ += z_.lines.bytes;
  return true;
}

}  // namespace lacuna::sida

#include "models/isa/memory/store_buffer.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lacuna::isa {
namespace {

/// Initial number of table entries; the table grows with use. A large GPU has a hundred buffers, most of which hold few lines.
constexpr std::size_t kFirstTable = 64;

// Copies a lane's data. For the usual sizes, a copy of constant size takes one or two host instructions.
void copy_lane(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

// Writes the bytes selected by `mask`, in the largest aligned words that the mask selects completely.
void write(std::byte* at, const std::byte* data, std::uint64_t mask) {
  if (mask == ~std::uint64_t{0}) {
    for (unsigned word = 0; word < StoreBuffer::kLineBytes; word += 8) std::memcpy(at + word, data + word, 8);
    return;
  }
  for (unsigned word = 0; word < StoreBuffer::kLineBytes; word += 8) {
    const auto bytes = static_cast<unsigned>(mask >> word & 0xff);
    if (bytes == 0) continue;
    if (bytes == 0xff) {
      std::memcpy(at + word, data + word, 8);
      continue;
    }
    for (unsigned half = word; half < word + 8; half += 4) {
      const auto own = static_cast<unsigned>(mask >> half & 0xf);
      if (own == 0xf) {
        std::memcpy(at + half, data + half, 4);
        continue;
      }
      for (unsigned k = 0; k < 4; ++k) {
        if ((own >> k & 1) != 0) at[half + k] = data[half + k];
      }
    }
  }
}

}  // namespace

StoreBuffer::StoreBuffer() : lines_(kFirstTable / 2), table_(kFirstTable, kFree), shift_(64 - std::countr_zero(kFirstTable)) {}

template <typename Body>
void StoreBuffer::for_parts(std::uintptr_t first, std::size_t bytes, Body&& body) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t offset = (first + done) % kLineBytes;
    const std::size_t count = std::min(kLineBytes - offset, bytes - done);
    body((first + done) / kLineBytes, offset, done, count);
    done += count;
  }
}

const StoreBuffer::Line* StoreBuffer::find(std::uintptr_t number) const {
  if (count_ != 0 && lines_[count_ - 1].number == number) return &lines_[count_ - 1];
  for (std::size_t place = place_of(number);; place = (place + 1) & (table_.size() - 1)) {
    const std::uint32_t index = table_[place];
    if (index == kFree) return nullptr;
    if (lines_[index].number == number) return &lines_[index];
  }
}

StoreBuffer::Line& StoreBuffer::line(std::uintptr_t number) {
  if (count_ != 0 && lines_[count_ - 1].number == number) return lines_[count_ - 1];
  if (count_ == lines_.size()) [[unlikely]]
    grow();
  std::size_t place = place_of(number);
  for (; table_[place] != kFree; place = (place + 1) & (table_.size() - 1)) {
    if (Line& known = lines_[table_[place]]; known.number == number) return known;
  }
  table_[place] = static_cast<std::uint32_t>(count_);
  Line& line = lines_[count_++];
  line.number = number;
  line.mask = 0;
  line.deferred = false;
  first_ = std::min(first_, number * kLineBytes);
  end_ = std::max(end_, (number + 1) * kLineBytes);
  return line;
}

void StoreBuffer::grow() {
  table_.assign(2 * table_.size(), kFree);
  --shift_;
  lines_.resize(table_.size() / 2);
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::size_t place = place_of(lines_[i].number);
    while (table_[place] != kFree) place = (place + 1) & (table_.size() - 1);
    table_[place] = i;
  }
}

void StoreBuffer::store(std::byte* at, const std::byte* data, std::size_t bytes) {
  for_parts(address(at), bytes, [&](std::uintptr_t number, std::size_t offset, std::size_t done, std::size_t count) {
    Line& to = line(number);
    if (count == kLineBytes) {  // adjacent lanes fill the line
      std::memcpy(to.data.data(), data + done, kLineBytes);
      to.mask = ~std::uint64_t{0};
      return;
    }
    copy_lane(to.data.data() + offset, data + done, count);
    to.mask |= bytes_mask(offset, count);
  });
}

bool StoreBuffer::overlay(const std::byte* at, std::byte* data, std::size_t bytes) const {
  bool any = false;
  for_parts(address(at), bytes, [&](std::uintptr_t number, std::size_t offset, std::size_t done, std::size_t count) {
    const Line* from = find(number);
    if (from == nullptr) return;
    const std::uint64_t wanted = bytes_mask(offset, count);
    std::uint64_t stored = from->mask & wanted;
    if (stored == 0) return;
    any = true;
    if (stored == wanted) {
      copy_lane(data + done, from->data.data() + offset, count);
      return;
    }
    for (; stored != 0; stored &= stored - 1) {
      const auto byte = static_cast<std::size_t>(std::countr_zero(stored));
      data[done + byte - offset] = from->data[byte];
    }
  });
  return any;
}

void StoreBuffer::mark_deferred(const std::byte* at, std::size_t bytes) {
  for_parts(address(at), bytes,
            [&](std::uintptr_t number, std::size_t, std::size_t, std::size_t) { line(number).deferred = true; });
  any_deferred_ = true;
}

bool StoreBuffer::deferred(const std::byte* at, std::size_t bytes) const {
  if (!any_deferred_) return false;
  bool found = false;
  for_parts(address(at), bytes, [&](std::uintptr_t number, std::size_t, std::size_t, std::size_t) {
    const Line* line = find(number);
    found = found || (line != nullptr && line->deferred);
  });
  return found;
}

void StoreBuffer::flush() {
  if (empty()) return;
  for (std::size_t i = 0; i < count_; ++i) {
    const Line& line = lines_[i];
    write(reinterpret_cast<std::byte*>(line.number * kLineBytes), line.data.data(),
          line.mask);  // NOLINT(performance-no-int-to-ptr)
  }
  // A table that was once large and now has few entries is cleared entry by entry.
  if (8 * count_ < table_.size()) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      std::size_t place = place_of(lines_[i].number);
      while (table_[place] == kFree || table_[place] != i) place = (place + 1) & (table_.size() - 1);
      table_[place] = kFree;
    }
  } else {
    std::fill(table_.begin(), table_.end(), kFree);
  }
  count_ = 0;
  first_ = ~std::uintptr_t{0};
  end_ = 0;
  any_deferred_ = false;
}

}  // namespace lacuna::isa

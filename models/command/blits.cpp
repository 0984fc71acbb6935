#include "models/command/blits.h"

#include <algorithm>
#include <cstring>

#include "models/common/host/huge_pages.h"

namespace lacuna {

std::string_view Blits::name(std::uint64_t entry) const {
  return recogniser_ == nullptr ? std::string_view{} : recogniser_->name(vm_, entry);
}

std::optional<Blit> Blits::find(const Dispatch& dispatch) const {
  if (recogniser_ == nullptr) return std::nullopt;
  std::optional<Blit> blit = recogniser_->find(vm_, dispatch);
  if (!blit || !mapped(blit->destination, blit->bytes, isa::Access::write)) return std::nullopt;
  if (!blit->is_fill() && !mapped(blit->source, blit->bytes, isa::Access::read)) return std::nullopt;
  return blit;
}

void Blits::narrow(const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const {
  recogniser_->narrow(vm_, blit, dispatch, from, to);
}

void Blits::restore(const Blit& blit, const Dispatch& dispatch) const {
  if (std::byte* at = vm_.pointer(dispatch.packet.kernarg_address, blit.arguments.size(), isa::Access::read)) {
    std::memcpy(at, blit.arguments.data(), blit.arguments.size());
  }
}

bool Blits::perform(const Dispatch& dispatch) const {
  const std::optional<Blit> blit = find(dispatch);
  if (blit) move(*blit, 0, blit->bytes);
  return blit.has_value();
}

bool Blits::mapped(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const {
  while (bytes > 0) {
    const isa::MemoryWindow window = vm_.find(address);
    if (!window.contains(address, 1) || !isa::allows(window.granted, wanted)) return false;
    const std::uint64_t piece = std::min(bytes, window.base + window.size - address);
    address += piece;
    bytes -= piece;
  }
  return true;
}

template <class Piece>
void Blits::pieces(std::uint64_t address, std::uint64_t bytes, const Piece& piece) const {
  for (std::uint64_t done = 0; done < bytes;) {
    const isa::MemoryWindow window = vm_.find(address + done);
    const std::uint64_t offset = address + done - window.base;
    const std::uint64_t count = std::min(bytes - done, window.size - offset);
    piece(window.host + offset, done, count);
    done += count;
  }
}

void Blits::expect_moves(const Blit& blit, std::uint64_t from) const {
  for (std::uint64_t at = blit.destination + from; at < blit.destination + blit.bytes;) {
    const isa::MemoryWindow window = vm_.find(at);
    const std::uint64_t offset = at - window.base;
    const std::uint64_t count = std::min(blit.destination + blit.bytes - at, window.size - offset);
    expect_writes(window.host + offset, count, window.host, window.host + window.size);
    at += count;
  }
}

void Blits::move(const Blit& blit, std::uint64_t from, std::uint64_t to) const {
  pieces(blit.destination + from, to - from, [&](std::byte* target, std::uint64_t done, std::uint64_t count) {
    if (!blit.is_fill()) {
      pieces(blit.source + from + done, count, [&](const std::byte* origin, std::uint64_t further, std::uint64_t part) {
        std::memmove(target + further, origin, part);
      });
      return;
    }
    // Writes the pattern once, then repeatedly copies the bytes already written, in doubling sizes up to a block that fits the
    // host's caches.
    constexpr std::uint64_t kBlock = 64 * 1024;
    const std::uint64_t period = blit.pattern.size();
    const std::uint64_t block = period * std::max<std::uint64_t>(1, kBlock / period);
    const std::uint64_t first = std::min(count, period);
    for (std::uint64_t i = 0; i < first; ++i) target[i] = blit.pattern[(from + done + i) % period];
    for (std::uint64_t there = first; there < count;) {
      const std::uint64_t part = std::min({there, block, count - there});
      std::memcpy(target + there, target, part);
      there += part;
    }
  });
}

}  // namespace lacuna

#include "models/duplo/history_index.h"

#include <bit>
#include <stdexcept>

namespace lacuna {
namespace {

std::uint32_t low_bits(unsigned bits) { return bits == 32 ? ~0U : (1U << bits) - 1; }
std::uint32_t shifted_right(std::uint32_t value, unsigned bits) { return bits >= 32 ? 0 : value >> bits; }
std::uint32_t shifted_left(std::uint32_t value, unsigned bits) { return bits >= 32 ? 0 : value << bits; }

std::uint32_t reversed(std::uint32_t value, unsigned bits) {
  std::uint32_t result = 0;
  for (unsigned bit = 0; bit < bits && value >> bit != 0; ++bit) result |= (value >> bit & 1) << (bits - 1 - bit);
  return result;
}

}  // namespace

HistoryIndex::HistoryIndex(HistoryHash hash, unsigned sets)
    : hash_(hash), bits_(static_cast<unsigned>(std::bit_width(sets)) - 1) {
  if (!std::has_single_bit(sets)) throw std::invalid_argument("sets of a load history buffer are a power of two");
}

std::uint32_t HistoryIndex::folded(std::uint32_t upper, std::uint32_t image, const TileForm& form) const {
  if (hash_ != HistoryHash::xor_ || bits_ == 0) return 0;
  std::uint32_t all = form.rows == 1 ? reversed(image, bits_) : image;
  for (; upper != 0; upper = shifted_right(upper, bits_)) all ^= upper;
  return (all ^ shifted_right(image, bits_)) & low_bits(bits_);
}

unsigned HistoryIndex::set(const LoadTag& tag, unsigned zeros) const {
  const std::uint32_t moved = tag.tile.first.element >> shift(zeros);
  return (moved & low_bits(bits_)) ^ folded(shifted_right(moved, bits_), tag.tile.first.image, tag.tile.form);
}

// The rest includes the bits below those of the set, which are 0 in tags of tiles but may be nonzero in other tags.
std::uint32_t HistoryIndex::rest(const LoadTag& tag, unsigned zeros) const {
  const std::uint32_t element = tag.tile.first.element;
  const std::uint32_t upper = shifted_right(element >> shift(zeros), bits_);
  return upper << shift(zeros) | (element & low_bits(shift(zeros)));
}

std::uint32_t HistoryIndex::element(unsigned set, std::uint32_t rest, std::uint32_t image, const TileForm& form,
                                    unsigned zeros) const {
  const std::uint32_t upper = rest >> shift(zeros);
  const std::uint32_t middle = set ^ folded(upper, image, form);
  return shifted_left(upper, bits_ + shift(zeros)) | middle << shift(zeros) | (rest & low_bits(shift(zeros)));
}

}  // namespace lacuna

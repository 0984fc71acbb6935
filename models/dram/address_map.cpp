#include "models/dram/address_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace lacuna {
namespace {

enum Field : unsigned { kRow, kColumn, kPseudo, kGroup, kBank, kFields };
constexpr std::array<const char*, kFields> kNames{"row", "column", "pseudo", "group", "bank"};

struct Word {
  unsigned field;
  unsigned bits;  // number of bits; 0: the field's remaining bits
  bool hashed;
};

Word parse_word(const std::string& text) {
  const std::size_t hat = text.find('^');
  const std::string word = text.substr(0, hat);
  const std::size_t colon = word.find(':');
  const std::string name = word.substr(0, colon);
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw std::invalid_argument(fmt::format("address map: \"{}\" is not one of row, bank, group, column, pseudo", name));
  }
  Word result{static_cast<unsigned>(found - kNames.begin()), 0, hat != std::string::npos};
  if (result.hashed && (text.substr(hat) != "^row" || word.starts_with("row") || word.starts_with("column"))) {
    throw std::invalid_argument(fmt::format("address map: \"{}\": bank^row, group^row and pseudo^row are the hashes", text));
  }
  if (colon != std::string::npos) {
    const char* const first = word.data() + colon + 1;
    const char* const last = word.data() + word.size();
    const auto [end, error] = std::from_chars(first, last, result.bits);
    if (error != std::errc() || end != last || result.bits == 0 || result.bits > 32) {
      throw std::invalid_argument(fmt::format("address map: \"{}\": the number of bits is not 1 to 32", word));
    }
  }
  return result;
}

}  // namespace

DramAddressMap::DramAddressMap(const std::string& text, const DramOrganization& organization) {
  const auto bits_of = [](unsigned count) { return static_cast<unsigned>(std::countr_zero(count)); };
  std::array<unsigned, kFields> left{};
  left[kColumn] = bits_of(organization.columns);
  left[kPseudo] = bits_of(organization.pseudo_channels);
  left[kGroup] = bits_of(organization.bank_groups);
  left[kBank] = bits_of(organization.banks_per_group);
  group_from_ = left[kBank];
  pseudo_from_ = group_from_ + left[kGroup];
  std::array<unsigned, kFields> base{};  // lowest bit of a field in a bank's number
  base[kGroup] = group_from_;
  base[kPseudo] = pseudo_from_;
  bank_bits_.resize(pseudo_from_ + left[kPseudo]);
  std::vector<std::size_t> hashed;  // bit of a bank's number onto which each bit of the hash is XORed

  std::vector<Word> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(parse_word(word));
  if (words.empty() || words.front().field != kRow || words.front().bits != 0) {
    throw std::invalid_argument("address map: \"row\" must be first, without a number of bits");
  }
  // Places the words, least significant first. A word without a number takes the bits of its field that words with numbers do
  // not use.
  std::array<unsigned, kFields> named{};
  for (const Word& word : words) named[word.field] += word.bits;
  unsigned from = 0;
  std::array<unsigned, kFields> to{};
  for (auto word = words.rbegin(); word != words.rend() - 1; ++word) {
    if (word->field == kRow) throw std::invalid_argument("address map: \"row\" cannot be split");
    const unsigned field = word->field;
    unsigned width = word->bits;
    if (width == 0) {
      width = left[field] > named[field] ? left[field] - named[field] : 0;
      named[field] += width;
    }
    if (to[field] + width > left[field]) {
      throw std::invalid_argument(fmt::format("address map: {} has {} bits, not more", kNames[field], left[field]));
    }
    if (field == kColumn) {
      column_pieces_.push_back({from, to[field], (std::uint64_t{1} << width) - 1});
    } else {
      for (unsigned bit = 0; bit < width; ++bit) {
        const std::size_t place = bank_bits_.size() - 1 - (base[field] + to[field] + bit);
        bank_bits_[place] = std::uint64_t{1} << (from + bit);
        if (word->hashed) hashed.push_back(place);
      }
    }
    from += width;
    to[field] += width;
  }
  for (unsigned field = kColumn; field < kFields; ++field) {
    if (to[field] != left[field]) {
      throw std::invalid_argument(
          fmt::format("address map: {} has {} bits, but {} are placed", kNames[field], left[field], to[field]));
    }
  }
  row_from_ = from;
  // Folds the row to the n bits of the hash: bit i of the row is XORed into bit i mod n.
  for (unsigned bit = 0; !hashed.empty() && from + bit < 64; ++bit) {
    bank_bits_[hashed[bit % hashed.size()]] |= std::uint64_t{1} << (from + bit);
  }
}

DramLocation DramAddressMap::locate(std::uint64_t burst) const {
  const Bank bank = bank_of(burst);
  std::uint64_t column = 0;
  for (const Piece& piece : column_pieces_) column |= (burst >> piece.from & piece.mask) << piece.to;
  const auto bits = [&bank](unsigned from, unsigned to) { return bank.number >> from & ((1U << (to - from)) - 1); };
  return {bank.row, static_cast<std::uint32_t>(column), bank.number >> pseudo_from_, bits(group_from_, pseudo_from_),
          bits(0, group_from_)};
}

}  // namespace lacuna

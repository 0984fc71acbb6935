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

constexpr std::array<const char*, 5> kNames{"row", "column", "pseudo", "group", "bank"};

struct Word {
  unsigned field;
  unsigned bits;  // 0: all that are left
  bool hashed;
};

Word parse_word(const std::string& text) {
  const std::size_t hat = text.find('^');
  const std::string word = text.substr(0, hat);
  const std::size_t colon = word.find(':');
  const std::string name = word.substr(0, colon);
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw std::invalid_argument(fmt::format("address map: \"{}\" is none of row, bank, group, column, pseudo", name));
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

  std::vector<Word> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(parse_word(word));
  if (words.empty() || words.front().field != kRow || words.front().bits != 0) {
    throw std::invalid_argument("address map: \"row\" comes first, without a number of bits");
  }
  // Least significant first. A word without number takes what the field's words with numbers leave.
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
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    if (width > 0) pieces_.push_back({static_cast<Field>(field), from, to[field], mask});
    if (width > 0 && word->hashed) {
      hashed_.push_back({static_cast<Field>(field), hash_bits_, to[field], mask});
      hash_bits_ += width;
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
  pieces_.push_back({kRow, from, 0, ~std::uint64_t{0}});
}

}  // namespace lacuna

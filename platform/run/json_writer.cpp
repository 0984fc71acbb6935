#include "platform/run/json_writer.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>

#include "platform/run/decimal.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kIndentation = 2;
/// Maximum number of bytes of text that are buffered before they are passed to the stream, unless a single text is longer.
constexpr std::size_t kMostWaiting = 16 * 1024;

constexpr std::uint64_t kEachByte = 0x0101010101010101;
constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Returns a nonzero word if any of the eight characters must be escaped in a JSON string: controls, quotes, backslashes, and
/// non-ASCII characters. Each such character sets the highest bit of its byte; borrows may set further bits above it, never
/// below (Hacker's Delight, section 6-1).
std::uint64_t special(std::uint64_t characters) {
  const auto equal = [characters](unsigned char c) {
    const std::uint64_t difference = characters ^ kEachByte * c;
    return (difference - kEachByte) & ~difference;
  };
  const std::uint64_t controls = (characters - kEachByte * 0x20) & ~characters;
  return (characters | controls | equal('"') | equal('\\') | equal(0x7f)) & kEachByte * 0x80;
}

/// Whether a text needs no escapes in a JSON string.
bool is_plain(std::string_view text) {
  std::uint64_t characters = kEachByte * ' ';
  if (text.size() < kWord) {
    std::memcpy(&characters, text.data(), text.size());
    return special(characters) == 0;
  }
  std::uint64_t found = 0;
  for (std::size_t i = 0; i + kWord < text.size(); i += kWord) {
    std::memcpy(&characters, text.data() + i, kWord);
    found |= special(characters);
  }
  std::memcpy(&characters, text.data() + text.size() - kWord, kWord);
  return (found | special(characters)) == 0;
}

std::string dump(const Json& json, int indentation) {
  return json.dump(indentation, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void JsonWriter::flush() {
  out_.write(waiting_.data(), static_cast<std::streamsize>(used_));
  used_ = 0;
}

void JsonWriter::make_room(std::size_t bytes) {
  flush();
  if (bytes > waiting_.size()) waiting_.resize(std::max(bytes, kMostWaiting));
}

void JsonWriter::append(std::string_view text) {
  std::memcpy(room(text.size()), text.data(), text.size());
  used_ += text.size();
}

void JsonWriter::new_line() {
  static constexpr std::string_view kBreak = "\n                                ";
  const std::size_t indentation = level_ * kIndentation;
  append(kBreak.substr(0, 1 + indentation));
  for (std::size_t more = kBreak.size() - 1; more < indentation; ++more) append(' ');
}

// Writes the separator between the previous value, key or bracket and the next value or key.
void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (level_ == 0) return;
  if (!first_) append(',');
  new_line();
}

void JsonWriter::begin(char bracket) {
  separate();
  append(bracket);
  ++level_;
  first_ = true;
}

void JsonWriter::end(char bracket) {
  --level_;
  if (!first_) new_line();
  append(bracket);
  first_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_string(name);
  append(": ");
  first_ = false;
  after_key_ = true;
}

void JsonWriter::scalar(std::string_view text) {
  separate();
  append(text);
  first_ = false;
}

void JsonWriter::append_string(std::string_view text) {
  if (is_plain(text)) {
    append('"');
    append(text);
    append('"');
  } else {
    append(dump(Json(text), -1));
  }
}

void JsonWriter::value(double number) { scalar(dump(Json(number), -1)); }

void JsonWriter::value(std::string_view text) {
  separate();
  append_string(text);
  first_ = false;
}

void JsonWriter::unsigned_value(std::uint64_t number) {
  separate();
  append(Decimal(number).text());
  first_ = false;
}

void JsonWriter::signed_value(std::int64_t number) {
  separate();
  if (number < 0) append('-');
  const auto bits = static_cast<std::uint64_t>(number);
  append(Decimal(number < 0 ? 0 - bits : bits).text());
  first_ = false;
}

// Line breaks of the dumped text occur only outside of strings; within strings they are escaped.
void JsonWriter::value(const Json& tree) {
  separate();
  for (const char c : dump(tree, kIndentation)) {
    if (c == '\n') {
      new_line();
    } else {
      append(c);
    }
  }
  first_ = false;
}

}  // namespace lacuna

#include "platform/run/json_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "platform/run/decimal.h"

namespace lacuna {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kIndentation = 2;
/// Text that waits for the stream.
constexpr std::size_t kMostWaiting = 16 * 1024;

/// Is written in a JSON string as it is.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

std::string dump(const Json& json, int indentation) {
  return json.dump(indentation, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void JsonWriter::flush() {
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(level_ * kIndentation, ' ');
}

// What comes between the previous value, key or bracket and the next value or key.
void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (level_ == 0) return;
  if (text_.size() > kMostWaiting) flush();
  if (!first_) text_ += ',';
  new_line();
}

void JsonWriter::begin(char bracket) {
  separate();
  text_ += bracket;
  ++level_;
  first_ = true;
}

void JsonWriter::end(char bracket) {
  --level_;
  if (!first_) new_line();
  text_ += bracket;
  first_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_string(name);
  text_ += ": ";
  first_ = false;
  after_key_ = true;
}

void JsonWriter::scalar(std::string_view text) {
  separate();
  text_ += text;
  first_ = false;
}

void JsonWriter::append_string(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    text_ += '"';
    text_ += text;
    text_ += '"';
  } else {
    text_ += dump(Json(text), -1);
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
  append_decimal(text_, number);
  first_ = false;
}

void JsonWriter::signed_value(std::int64_t number) {
  separate();
  if (number < 0) text_ += '-';
  const auto bits = static_cast<std::uint64_t>(number);
  append_decimal(text_, number < 0 ? 0 - bits : bits);
  first_ = false;
}

// Lines end outside of strings only, where they are escaped.
void JsonWriter::value(const Json& tree) {
  separate();
  for (const char c : dump(tree, kIndentation)) {
    if (c == '\n') {
      new_line();
    } else {
      text_ += c;
    }
  }
  first_ = false;
}

}  // namespace lacuna

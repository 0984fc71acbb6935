// Incremental writer of JSON, whose memory does not grow with the size of the output.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// The output equals nlohmann's dump(2) of the whole document: a line per value, two spaces per level, and invalid UTF-8
/// replaced. The caller must ensure that the keys of an object differ.
class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  void key(std::string_view name);

  void value(bool flag) { scalar(flag ? "true" : "false"); }
  void value(double number);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(std::unsigned_integral auto number) { unsigned_value(number); }
  void value(std::signed_integral auto number) { signed_value(number); }
  void value(const nlohmann::ordered_json& tree);

  void begin_object(std::string_view name) { key(name), begin_object(); }
  void begin_array(std::string_view name) { key(name), begin_array(); }
  template <class T>
  void member(std::string_view name, const T& member_value) {
    key(name);
    value(member_value);
  }

  /// Passes all text to the stream. Call it after the last value.
  void flush();

 private:
  void begin(char bracket);
  void end(char bracket);
  void separate();
  void new_line();
  void append(char c) { *room(1) = c, ++used_; }
  void append(std::string_view text);
  /// Returns the position for the next `bytes` bytes of text. The caller must then increment used_.
  char* room(std::size_t bytes) {
    if (bytes > waiting_.size() - used_) make_room(bytes);
    return waiting_.data() + used_;
  }
  void make_room(std::size_t bytes);
  void scalar(std::string_view text);
  void append_string(std::string_view text);
  void unsigned_value(std::uint64_t number);
  void signed_value(std::int64_t number);

  std::ostream& out_;
  std::vector<char> waiting_;  // the first used_ characters have not been passed to the stream yet
  std::size_t used_ = 0;
  std::size_t level_ = 0;
  bool first_ = true;       // the next value is the first of its object or array
  bool after_key_ = false;  // the next value belongs to the key
};

}  // namespace lacuna

#include "platform/launch/argument.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kBufferKinds{"in", "inout", "out", "zero", "fill"};
constexpr std::array<std::string_view, 6> kOtherKinds{"buf", "null", "bytes", "raw", "struct", "lds"};
constexpr std::array<std::string_view, 4> kOptions{"name", "save", "type", "zeros"};
constexpr std::uint64_t kLargestScalar = 4096;

std::string_view kind_of(std::string_view text) { return trimmed(text.substr(0, text.find(':'))); }

bool is_option(std::string_view field) {
  const std::string_view key = field.substr(0, field.find('='));
  return key.size() < field.size() && is_identifier(key);
}

/// Resolves the file name in the argument `text` against the folder of the launch. Throws LaunchError if the name is empty.
fs::path file_of(std::string_view text, const std::string& file_name, const ArgumentContext& context) {
  if (file_name.empty()) throw LaunchError('"' + std::string(text) + "\" names no file");
  return context.folder / file_name;
}

std::uint64_t readable_size(const fs::path& file) {
  std::error_code status;
  if (!fs::exists(file, status)) throw LaunchError(file.string() + ": no such file");
  if (!fs::is_regular_file(file, status)) throw LaunchError(file.string() + ": not a regular file");
  if (::access(file.c_str(), R_OK) != 0) throw LaunchError(file.string() + ": cannot be read");
  return fs::file_size(file, status);
}

void apply_option(BufferSpec& buffer, const std::string& field, const ArgumentContext& context) {
  const std::size_t equals = field.find('=');
  const std::string key = field.substr(0, equals);
  const std::string value = field.substr(equals + 1);
  if (key == "name") {
    if (!is_identifier(value)) throw LaunchError("\"" + value + "\" is not a name for a buffer (letters, digits, _)");
    buffer.name = value;
  } else if (key == "save") {
    buffer.save = file_of(field, value, context);
  } else if (key == "type") {
    buffer.type = require_element_type(value);
  } else if (key == "zeros") {
    if (buffer.contents.kind != Contents::Kind::fill) throw LaunchError("zeros= belongs to fill: only");
    const double share = evaluate(value, context.scope).as_double();
    if (!(share >= 0 && share <= 1)) throw LaunchError("zeros=" + value + " is not a share between 0 and 1");
    buffer.contents.fill.zeros = share;
  } else {
    throw LaunchError("unknown option " + key + did_you_mean(nearest_name({kOptions.begin(), kOptions.end()}, key)) +
                      " (name, save, type, zeros)");
  }
}

/// If there are more than `needed` fields, removes field `at`, which names an element type, and sets buffer.type to it.
void take_type(BufferSpec& buffer, std::vector<std::string>& fields, std::size_t needed, std::size_t at) {
  if (fields.size() <= needed) return;
  buffer.type = require_element_type(fields[at]);
  fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(at));
}

void require_fields(std::string_view text, const std::vector<std::string>& fields, std::size_t least, std::size_t most,
                    const char* form) {
  if (fields.size() < least || fields.size() > most)
    throw LaunchError('"' + std::string(text) + "\" does not have the form " + form);
}

std::vector<std::byte> hexadecimal_bytes(std::string_view digits) {
  if (digits.empty() || digits.size() % 2 != 0) throw LaunchError("bytes: needs pairs of hexadecimal digits");
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    std::uint8_t value = 0;
    const auto parsed = std::from_chars(digits.data() + at, digits.data() + at + 2, value, 16);
    if (parsed.ptr != digits.data() + at + 2)
      throw LaunchError('"' + std::string(digits.substr(at, 2)) + "\" is not a hexadecimal byte");
    bytes.push_back(std::byte{value});
  }
  return bytes;
}

std::vector<std::byte> file_bytes(const fs::path& file) {
  const std::uint64_t size = readable_size(file);
  if (size == 0 || size > kLargestScalar)
    throw LaunchError(file.string() + ": " + std::to_string(size) + " bytes are not an argument's value");
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::byte> bytes(size);
  if (!stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
    throw LaunchError(file.string() + ": cannot be read");
  return bytes;
}

/// Parses "f32:1.5" or "f32x4:1,2,3,4"; nullopt if the kind is not a type.
std::optional<ArgumentValue> parse_scalar(std::string_view kind, std::string_view value, const ExpressionScope& scope) {
  const std::size_t cross = kind.rfind('x');
  std::uint64_t lanes = 1;
  auto type = parse_element_type(kind);
  if (!type && cross != std::string_view::npos) {
    type = parse_element_type(kind.substr(0, cross));
    const std::string_view digits = kind.substr(cross + 1);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), lanes);
    if (type && (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || lanes < 2 || lanes > 16))
      throw LaunchError(std::string(kind) + ": a vector has 2 to 16 elements");
  }
  if (!type) return std::nullopt;
  const std::vector<std::string> values = lanes == 1 ? std::vector<std::string>{std::string(value)} : split_outside(value, ',');
  if (values.size() != lanes)
    throw LaunchError(std::string(kind) + ": " + std::to_string(values.size()) + " values instead of " + std::to_string(lanes));
  ArgumentValue argument;
  argument.type = type;
  argument.bytes.resize(lanes * element_size(*type));
  for (std::size_t i = 0; i < lanes; ++i)
    store_element(*type, evaluate(values[i], scope), argument.bytes.data() + i * element_size(*type));
  // A vector of three occupies the space of four (OpenCL C 2.0, section 6.1.5).
  if (lanes == 3) argument.bytes.resize(std::size_t{4} * element_size(*type));
  return argument;
}

/// Parses the members and lays them out in order, each at its natural alignment, as in a C structure.
ArgumentValue parse_structure(std::string_view members, const ArgumentContext& context) {
  ArgumentValue structure;
  std::size_t structure_align = 1;
  for (const std::string& text : split_outside(members, ';')) {
    ArgumentValue member = parse_argument(text, context);
    if (member.kind == ArgumentValue::Kind::lds || !member.pointers.empty())
      throw LaunchError("\"" + text + "\" cannot be a member of a structure");
    const bool address = member.kind != ArgumentValue::Kind::scalar;
    if (address) member.bytes.resize(sizeof(std::uint64_t));
    // The alignment of a member without a type (bytes:, raw:) is unknown; the user has to provide the padding.
    const bool aligned = address || member.type;
    const std::size_t align = aligned ? member.bytes.size() : 1;
    const std::size_t at = (structure.bytes.size() + align - 1) / align * align;
    structure_align = std::max(structure_align, align);
    structure.bytes.resize(at);
    structure.bytes.insert(structure.bytes.end(), member.bytes.begin(), member.bytes.end());
    if (member.kind == ArgumentValue::Kind::buffer)
      structure.pointers.push_back({static_cast<std::uint32_t>(at), member.buffer, member.number});
  }
  structure.bytes.resize((structure.bytes.size() + structure_align - 1) / structure_align * structure_align);
  return structure;
}

}  // namespace

bool describes_buffer(std::string_view text) {
  return std::find(kBufferKinds.begin(), kBufferKinds.end(), kind_of(text)) != kBufferKinds.end();
}

void require_writable(const fs::path& file) {
  std::error_code status;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, status)) throw LaunchError(file.string() + ": there is no folder " + folder.string());
  if (fs::is_directory(file, status)) throw LaunchError(file.string() + ": is a folder");
  const bool exists = fs::exists(file, status);
  if (::access(exists ? file.c_str() : folder.c_str(), W_OK) != 0) throw LaunchError(file.string() + ": cannot be written");
}

std::uint64_t parse_size(std::string_view text, const ExpressionScope& scope, std::uint64_t most) {
  std::uint64_t scale = 1;
  text = trimmed(text);
  // "4K" is a number with a unit, "K" and "n_K" are names.
  if (text.size() > 1 && text[text.size() - 2] >= '0' && text[text.size() - 2] <= '9' && text.front() >= '0' &&
      text.front() <= '9') {
    constexpr std::string_view kUnits = "KMG";
    const std::size_t unit = kUnits.find(text.back());
    if (unit != std::string_view::npos) {
      scale = std::uint64_t{1} << (10 * (unit + 1));
      text.remove_suffix(1);
    }
  }
  return scale * static_cast<std::uint64_t>(evaluate_integer(text, scope, 1, static_cast<std::int64_t>(most / scale)));
}

BufferSpec parse_buffer(std::string_view text, const ArgumentContext& context) {
  std::vector<std::string> fields = split_outside(text, ':');
  BufferSpec buffer;
  const std::string kind = fields.front();
  if (kind == "fill") buffer.contents.kind = Contents::Kind::fill;
  std::vector<std::string> options;
  while (fields.size() > 2 && is_option(fields.back())) {
    options.push_back(fields.back());
    fields.pop_back();
  }
  if (kind == "in" || kind == "inout") {
    require_fields(text, fields, 2, 3, (kind + ":FILE[:TYPE]").c_str());
    take_type(buffer, fields, 2, 2);
    buffer.contents.kind = Contents::Kind::file;
    buffer.contents.file = file_of(text, fields[1], context);
    buffer.contents.bytes = readable_size(buffer.contents.file);
    context.reads(buffer.contents.file);
    if (buffer.contents.bytes == 0) throw LaunchError(buffer.contents.file.string() + ": is empty");
    if (kind == "inout") buffer.save = buffer.contents.file;
  } else if (kind == "out") {
    require_fields(text, fields, 3, 4, "out:SIZE[:TYPE]:FILE");
    take_type(buffer, fields, 3, 2);
    buffer.contents.bytes = parse_size(fields[1], context.scope);
    buffer.save = file_of(text, fields[2], context);
  } else if (kind == "zero") {
    require_fields(text, fields, 2, 3, "zero:SIZE[:TYPE]");
    take_type(buffer, fields, 2, 2);
    buffer.contents.bytes = parse_size(fields[1], context.scope);
  } else if (kind == "fill") {
    require_fields(text, fields, 4, 5, "fill:COUNT:TYPE:PATTERN[:SEED]");
    Fill& fill = buffer.contents.fill;
    fill.type = require_element_type(fields[2]);
    fill.count = parse_size(fields[1], context.scope);
    parse_fill_pattern(fields[3], context.scope, fill);
    if (fields.size() > 4)
      fill.seed =
          static_cast<std::uint64_t>(evaluate_integer(fields[4], context.scope, 0, std::numeric_limits<std::int64_t>::max()));
    buffer.contents.bytes = fill.bytes();
    buffer.type = fill.type;
  } else {
    throw LaunchError("\"" + kind + "\" is not a kind of buffer" +
                      did_you_mean(nearest_name({kBufferKinds.begin(), kBufferKinds.end()}, kind)) +
                      " (in, inout, out, zero, fill)");
  }
  for (const std::string& option : options) apply_option(buffer, option, context);
  if (buffer.save) require_writable(*buffer.save);
  return buffer;
}

ArgumentValue parse_argument(std::string_view text, const ArgumentContext& context) {
  const std::string kind(kind_of(text));
  const std::size_t colon = text.find(':');
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : trimmed(text.substr(colon + 1));
  ArgumentValue argument;
  if (kind == "null") {
    if (colon != std::string_view::npos) throw LaunchError("null takes no value");
    argument.kind = ArgumentValue::Kind::null;
    return argument;
  }
  if (auto scalar = parse_scalar(kind, rest, context.scope)) return *scalar;
  if (kind == "bytes") {
    argument.bytes = hexadecimal_bytes(rest);
  } else if (kind == "raw") {
    const fs::path file = file_of(text, std::string(rest), context);
    argument.bytes = file_bytes(file);
    context.reads(file);
  } else if (kind == "struct") {
    return parse_structure(rest, context);
  } else if (kind == "lds") {
    argument.kind = ArgumentValue::Kind::lds;
    argument.number = parse_size(rest, context.scope);
  } else if (kind == "buf") {
    argument.kind = ArgumentValue::Kind::buffer;
    const std::size_t plus = rest.find('+');
    argument.buffer = trimmed(rest.substr(0, plus));
    if (argument.buffer.empty()) throw LaunchError('"' + std::string(text) + "\" names no buffer");
    if (plus != std::string_view::npos)
      argument.number = static_cast<std::uint64_t>(
          evaluate_integer(rest.substr(plus + 1), context.scope, 0, static_cast<std::int64_t>(kLargestBuffer)));
  } else {
    std::vector<std::string> kinds(kBufferKinds.begin(), kBufferKinds.end());
    kinds.insert(kinds.end(), kOtherKinds.begin(), kOtherKinds.end());
    for (const char* type : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"})
      kinds.emplace_back(type);
    throw LaunchError("unknown kind of argument \"" + kind + '"' + did_you_mean(nearest_name(kinds, kind)) +
                      " (in inout out zero fill buf null, i8…u64 f16 bf16 f32 f64, bytes raw struct, lds)");
  }
  return argument;
}

}  // namespace lacuna

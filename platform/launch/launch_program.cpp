#include "platform/launch/launch_program.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <istream>

#include "models/common/config/nearest_name.h"
#include "platform/launch/argument.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

using Kind = LaunchStatement::Kind;

enum class Header : std::uint8_t { nothing, name, optional_name, text };

struct SectionInfo {
  std::string_view name;
  Kind kind;
  Header header;
  std::vector<std::string> keys;  ///< keys that the section accepts; empty = any key
  std::vector<std::string> required;
  bool has_keys = true;
};

const std::vector<SectionInfo>& sections() {
  static const std::vector<SectionInfo> kSections{
      {"constants", Kind::constants, Header::nothing, {}, {}},
      {"code", Kind::code, Header::optional_name, {"file"}, {"file"}},
      {"buffer", Kind::buffer, Header::name, {"contents", "save", "compare", "tolerance", "type"}, {"contents"}},
      {"dispatch",
       Kind::dispatch,
       Header::name,
       {"grid", "blocks", "block", "offset", "arg", "code", "stack", "repeat", "max_block"},
       {}},
      {"set", Kind::set, Header::nothing, {}, {}},
      {"for", Kind::loop, Header::text, {}, {}, false},
      {"while", Kind::while_loop, Header::text, {}, {}, false},
      {"if", Kind::branch, Header::text, {}, {}, false},
      {"end", Kind::end, Header::nothing, {}, {}, false},
      {"write", Kind::write, Header::name, {"contents"}, {"contents"}},
      {"save", Kind::save, Header::name, {"file"}, {"file"}},
      {"compare", Kind::compare, Header::name, {"file", "tolerance"}, {"file"}}};
  return kSections;
}

const SectionInfo& section_of(Kind kind) {
  return *std::find_if(sections().begin(), sections().end(), [&](const SectionInfo& s) { return s.kind == kind; });
}

class FileParser {
 public:
  explicit FileParser(LaunchProgram& program) : program_(program) {}

  void read(std::istream& text) {
    std::string line;
    while (std::getline(text, line)) {
      ++number_;
      const std::string_view content = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (content.empty()) continue;
      if (content.find('\0') != std::string_view::npos) fail("is not text");
      if (content.front() == '[') {
        finish();
        begin(content);
      } else {
        add_key(content);
      }
    }
    finish();
    if (!open_.empty())
      fail_at(program_.statements[open_.back()].line,
              "[" + std::string(section_of(program_.statements[open_.back()].kind).name) + "] has no [end]");
  }

 private:
  [[noreturn]] void fail_at(unsigned line, const std::string& reason) const {
    throw LaunchError(program_.file + ':' + std::to_string(line) + ": " + reason);
  }
  [[noreturn]] void fail(const std::string& reason) const { fail_at(number_, reason); }

  void begin(std::string_view line) {
    if (line.back() != ']') fail("the line begins with [ but does not end with ]");
    const std::string_view inside = trimmed(line.substr(1, line.size() - 2));
    const std::string name(inside.substr(0, inside.find_first_of(" \t")));
    const std::string_view rest = trimmed(inside.substr(name.size()));
    const auto info = std::find_if(sections().begin(), sections().end(), [&](const SectionInfo& s) { return s.name == name; });
    if (info == sections().end()) {
      std::vector<std::string> names;
      for (const SectionInfo& section : sections()) names.emplace_back(section.name);
      fail("unknown section [" + name + ']' + did_you_mean(nearest_name(names, name)));
    }
    current_ = {};
    current_.kind = info->kind;
    current_.line = number_;
    current_.name = rest;
    active_ = true;
    const std::string section = '[' + name + ']';
    if (info->header == Header::nothing && !rest.empty()) fail(section + " takes nothing after its name");
    if (info->header == Header::name && rest.empty()) fail(section + " needs a name: [" + name + " NAME]");
    if (info->kind == Kind::buffer && !is_identifier(rest))
      fail('"' + std::string(rest) + "\" is not a name for a buffer (letters, digits, _)");
    if (info->header == Header::text) begin_block(rest);
    if (info->kind == Kind::end && open_.empty()) fail("[end] without [for], [while] or [if]");
  }

  void begin_block(std::string_view header) {
    current_.name.clear();
    if (current_.kind != Kind::loop) {
      if (header.empty()) fail("a condition is missing");
      current_.condition = header;
      return;
    }
    const std::vector<std::string> parts = split_outside(header, ';');
    if (parts.size() != 3) fail("[for] has the form [for I = A; CONDITION; I = B]");
    current_.first = assignment(parts[0]);
    current_.condition = parts[1];
    current_.next = assignment(parts[2]);
  }

  LaunchKey assignment(std::string_view text) const {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) fail('"' + std::string(text) + "\" is not NAME = EXPRESSION");
    LaunchKey key{std::string(trimmed(text.substr(0, equals))), std::string(trimmed(text.substr(equals + 1))), number_};
    if (!is_identifier(key.name)) fail('"' + key.name + "\" is not a name");
    if (key.value.empty()) fail(key.name + " has no value");
    return key;
  }

  void add_key(std::string_view line) {
    if (!active_) fail('"' + std::string(line) + "\" is before the first section");
    const SectionInfo& info = section_of(current_.kind);
    if (!info.has_keys) fail("[" + std::string(info.name) + "] takes no keys: what follows begins with a section");
    LaunchKey key = assignment(line);
    if (!info.keys.empty() && std::find(info.keys.begin(), info.keys.end(), key.name) == info.keys.end()) {
      std::string list;
      for (const std::string& name : info.keys) list += (list.empty() ? "" : ", ") + name;
      fail("unknown key " + key.name + " in [" + std::string(info.name) + ']' +
           did_you_mean(nearest_name(info.keys, key.name)) + " (" + list + ')');
    }
    if (current_.key(key.name) != nullptr && !(current_.kind == Kind::dispatch && key.name == "arg"))
      fail(key.name + " is given twice, first in line " + std::to_string(current_.key(key.name)->line));
    current_.keys.push_back(std::move(key));
  }

  void finish() {
    if (!active_) return;
    active_ = false;
    const SectionInfo& info = section_of(current_.kind);
    for (const std::string& key : info.required)
      if (current_.key(key) == nullptr)
        fail_at(current_.line, "[" + std::string(info.name) + ' ' + current_.name + "] needs " + key);
    if (current_.kind == Kind::dispatch) {
      if ((current_.key("grid") == nullptr) == (current_.key("blocks") == nullptr))
        fail_at(current_.line, "[dispatch " + current_.name + "] needs grid or blocks, one of them");
      add_dispatch(program_, std::move(current_), "line_" + std::to_string(current_.line) + "_argument_");
      return;
    }
    const std::size_t index = program_.statements.size();
    if (current_.kind == Kind::end) {
      current_.partner = open_.back();
      program_.statements[open_.back()].partner = index;
      open_.pop_back();
    } else if (info.header == Header::text) {
      open_.push_back(index);
    }
    program_.statements.push_back(std::move(current_));
  }

  LaunchProgram& program_;
  unsigned number_ = 0;
  bool active_ = false;
  LaunchStatement current_;
  std::vector<std::size_t> open_;  ///< statements whose [end] has not been read
};

}  // namespace

const LaunchKey* LaunchStatement::key(std::string_view key_name) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const LaunchKey& k) { return k.name == key_name; });
  return found == keys.end() ? nullptr : &*found;
}

void add_dispatch(LaunchProgram& program, LaunchStatement dispatch, const std::string& prefix,
                  const std::vector<std::pair<std::size_t, LaunchKey>>& extra) {
  std::size_t number = 0;
  for (LaunchKey& key : dispatch.keys) {
    if (key.name != "arg") continue;
    const std::size_t argument = number++;
    if (!describes_buffer(key.value)) continue;
    LaunchStatement buffer;
    buffer.kind = Kind::buffer;
    buffer.line = key.line;
    buffer.in_place = true;
    buffer.name = prefix + std::to_string(argument);
    // Record the name of a buffer before the argument is evaluated, so that later statements can refer to it.
    for (const std::string& field : split_outside(key.value, ':'))
      if (field.starts_with("name=")) buffer.name = field.substr(5);
    buffer.keys.push_back({"contents", key.value, key.line});
    for (const auto& [at, extra_key] : extra)
      if (at == argument) buffer.keys.push_back(extra_key);
    key.value = "buf:" + buffer.name;
    program.statements.push_back(std::move(buffer));
  }
  program.statements.push_back(std::move(dispatch));
}

LaunchProgram parse_launch_text(std::istream& text, const std::string& name, const std::filesystem::path& folder) {
  LaunchProgram program;
  program.file = name;
  program.folder = folder;
  FileParser(program).read(text);
  return program;
}

std::string LaunchProgram::location(unsigned line) const {
  return line != 0 ? file + ':' + std::to_string(line) + ": " : std::string();
}

LaunchProgram parse_launch_file(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(file, status)) throw LaunchError(file.string() + ": no such file");
  std::ifstream stream(file);
  if (!stream) throw LaunchError(file.string() + ": cannot be read");
  return parse_launch_text(stream, file.string(), file.parent_path());
}

}  // namespace lacuna

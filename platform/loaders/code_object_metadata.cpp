// The two notations of kernel metadata: YAML (code object version 2) and MessagePack (3 to 5), with the same contents under
// different names.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "platform/loaders/code_object.h"

namespace lacuna {
namespace {

using Json = nlohmann::json;

/// Limit of the nesting depth, which bounds the parser's recursion on damaged files. Valid metadata have at most five levels.
constexpr int kDeepest = 32;
/// Size limit in bytes: far more than the metadata of the largest libraries need, but too few to stall the YAML parser.
constexpr std::size_t kLongestYaml = 16 << 20;

/// "HiddenGlobalOffsetX" -> "hidden_global_offset_x": converts version 2's names to those of later versions.
std::string snake_case(const std::string& camel) {
  std::string text;
  for (const char c : camel) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !text.empty()) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (text == "hidden_multi_grid_sync_arg") return "hidden_multigrid_sync_arg";
  return text;
}

std::uint32_t narrow(std::uint64_t value, const std::string& key) {
  if (value > std::numeric_limits<std::uint32_t>::max())
    throw std::runtime_error(key + " = " + std::to_string(value) + " is out of range");
  return static_cast<std::uint32_t>(value);
}

/// Rejects deep nesting before the document is built, because the builder is recursive; ignores all other SAX events.
class DepthGuard : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= kDeepest; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= kDeepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    position_ = position;
    return false;
  }
  std::string reason() const {
    return depth_ > kDeepest ? "nested deeper than " + std::to_string(kDeepest) + " levels"
                             : "not well-formed MessagePack at byte " + std::to_string(position_);
  }

 private:
  int depth_ = 0;
  std::size_t position_ = 0;
};

std::string text_of(const Json& map, const char* key, bool required = false) {
  const auto found = map.find(key);
  if (found == map.end() && !required) return {};
  if (found == map.end() || !found->is_string()) throw std::runtime_error(std::string(key) + " is missing or not a string");
  return found->get<std::string>();
}

std::uint32_t number_of(const Json& map, const char* key, bool required = false) {
  const auto found = map.find(key);
  if (found == map.end() && !required) return 0;
  if (found == map.end() || !found->is_number_unsigned())
    throw std::runtime_error(std::string(key) + " is missing or not a natural number");
  return narrow(found->get<std::uint64_t>(), key);
}

KernelArgument argument_of(const Json& map) {
  if (!map.is_object()) throw std::runtime_error("an argument is not a map");
  return {.name = text_of(map, ".name"),
          .type_name = text_of(map, ".type_name"),
          .kind = text_of(map, ".value_kind", true),
          .address_space = text_of(map, ".address_space"),
          .access = text_of(map, ".access"),
          .offset = number_of(map, ".offset", true),
          .size = number_of(map, ".size", true),
          .pointee_align = number_of(map, ".pointee_align")};
}

KernelMetadata kernel_of(const Json& map) {
  if (!map.is_object()) throw std::runtime_error("a kernel is not a map");
  KernelMetadata kernel;
  kernel.name = text_of(map, ".name", true);
  kernel.symbol = text_of(map, ".symbol", true);
  kernel.kernarg_size = number_of(map, ".kernarg_segment_size", true);
  kernel.group_segment_size = number_of(map, ".group_segment_fixed_size");
  kernel.private_segment_size = number_of(map, ".private_segment_fixed_size");
  kernel.max_workgroup_size = number_of(map, ".max_flat_workgroup_size");
  kernel.sgprs = number_of(map, ".sgpr_count");
  kernel.vgprs = number_of(map, ".vgpr_count");
  kernel.agprs = number_of(map, ".agpr_count");
  const auto stack = map.find(".uses_dynamic_stack");
  kernel.dynamic_stack = stack != map.end() && stack->is_boolean() && stack->get<bool>();
  if (const auto size = map.find(".reqd_workgroup_size"); size != map.end()) {
    if (!size->is_array() || size->size() != 3) throw std::runtime_error(".reqd_workgroup_size is not three numbers");
    for (unsigned d = 0; d < 3; ++d) {
      if (!(*size)[d].is_number_unsigned()) throw std::runtime_error(".reqd_workgroup_size is not three numbers");
      kernel.required_workgroup_size[d] = narrow((*size)[d].get<std::uint64_t>(), ".reqd_workgroup_size");
    }
  }
  if (const auto arguments = map.find(".args"); arguments != map.end()) {
    if (!arguments->is_array()) throw std::runtime_error(".args is not a list");
    for (const Json& argument : *arguments) kernel.arguments.push_back(argument_of(argument));
  }
  return kernel;
}

std::string text_of(const YAML::Node& map, const char* key, bool required = false) {
  const YAML::Node node = map[key];
  if (!node && !required) return {};
  if (!node || !node.IsScalar()) throw std::runtime_error(std::string(key) + " is missing or not a string");
  return node.Scalar();
}

std::uint32_t number_of(const YAML::Node& node, const char* key) {
  std::uint64_t value = 0;
  if (!node.IsScalar() || !YAML::convert<std::uint64_t>::decode(node, value) || node.Scalar().starts_with('-'))
    throw std::runtime_error(std::string(key) + " is not a natural number");
  return narrow(value, key);
}

std::uint32_t number_in(const YAML::Node& map, const char* key, bool required = false) {
  const YAML::Node node = map[key];
  if (!node && !required) return 0;
  if (!node) throw std::runtime_error(std::string(key) + " is missing");
  return number_of(node, key);
}

/// Parses an argument of version 2, which states size and alignment but no offset. `end`: end of the previous argument; set to
/// the end of this argument.
KernelArgument argument_of(const YAML::Node& map, std::uint64_t& end) {
  if (!map.IsMap()) throw std::runtime_error("an argument is not a map");
  KernelArgument argument{.name = text_of(map, "Name"),
                          .type_name = text_of(map, "TypeName"),
                          .kind = snake_case(text_of(map, "ValueKind", true)),
                          .address_space = snake_case(text_of(map, "AddrSpaceQual")),
                          .access = snake_case(text_of(map, "AccQual")),
                          .size = number_in(map, "Size", true),
                          .pointee_align = number_in(map, "PointeeAlign")};
  const std::uint64_t align = std::max<std::uint32_t>(number_in(map, "Align"), 1);
  end = (end + align - 1) / align * align;
  argument.offset = narrow(end, "an argument's offset");
  end += argument.size;
  return argument;
}

KernelMetadata kernel_of(const YAML::Node& map) {
  if (!map.IsMap()) throw std::runtime_error("a kernel is not a map");
  KernelMetadata kernel;
  kernel.name = text_of(map, "Name", true);
  kernel.symbol = text_of(map, "SymbolName");
  if (const YAML::Node code = map["CodeProps"]; code && code.IsMap()) {
    kernel.kernarg_size = number_in(code, "KernargSegmentSize");
    kernel.group_segment_size = number_in(code, "GroupSegmentFixedSize");
    kernel.private_segment_size = number_in(code, "PrivateSegmentFixedSize");
    kernel.max_workgroup_size = number_in(code, "MaxFlatWorkGroupSize");
    kernel.sgprs = number_in(code, "NumSGPRs");
    kernel.vgprs = number_in(code, "NumVGPRs");
  }
  if (const YAML::Node attributes = map["Attrs"]; attributes && attributes.IsMap()) {
    if (const YAML::Node size = attributes["ReqdWorkGroupSize"]; size) {
      if (!size.IsSequence() || size.size() != 3) throw std::runtime_error("ReqdWorkGroupSize is not three numbers");
      for (unsigned d = 0; d < 3; ++d) kernel.required_workgroup_size[d] = number_of(size[d], "ReqdWorkGroupSize");
    }
  }
  std::uint64_t end = 0;
  if (const YAML::Node arguments = map["Args"]; arguments && !arguments.IsNull()) {
    if (!arguments.IsSequence()) throw std::runtime_error("Args is not a list");
    for (const YAML::Node& argument : arguments) kernel.arguments.push_back(argument_of(argument, end));
  }
  kernel.kernarg_size = std::max(kernel.kernarg_size, narrow(end, "the argument segment's size"));
  return kernel;
}

}  // namespace

std::vector<KernelMetadata> parse_metadata_msgpack(std::span<const std::byte> bytes) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  DepthGuard guard;
  // Bytes after the document are padding.
  if (!Json::sax_parse(begin, begin + bytes.size(), &guard, Json::input_format_t::msgpack, false))
    throw std::runtime_error(guard.reason());
  std::vector<KernelMetadata> kernels;
  try {
    const Json document = Json::from_msgpack(begin, begin + bytes.size(), false);
    if (!document.is_object()) throw std::runtime_error("not a map");
    const auto list = document.find("amdhsa.kernels");
    if (list == document.end()) return kernels;
    if (!list->is_array()) throw std::runtime_error("amdhsa.kernels is not a list");
    for (const Json& kernel : *list) kernels.push_back(kernel_of(kernel));
  } catch (const Json::exception& e) {
    throw std::runtime_error(e.what());
  }
  return kernels;
}

std::vector<KernelMetadata> parse_metadata_yaml(std::string_view text) {
  if (text.size() > kLongestYaml) throw std::runtime_error(std::to_string(text.size()) + " bytes of YAML are too many");
  std::vector<KernelMetadata> kernels;
  try {
    const YAML::Node document = YAML::Load(std::string(text.substr(0, text.find('\0'))));
    if (!document.IsMap()) throw std::runtime_error("not a map");
    const YAML::Node list = document["Kernels"];
    if (!list) return kernels;
    if (!list.IsSequence()) throw std::runtime_error("Kernels is not a list");
    for (const YAML::Node& kernel : list) kernels.push_back(kernel_of(kernel));
  } catch (const YAML::Exception& e) {
    throw std::runtime_error(e.what());
  }
  return kernels;
}

}  // namespace lacuna

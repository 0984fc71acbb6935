// Tests the reader with code objects of all versions, compiled by clang, and with metadata in both notations; and the layout of
// a kernel call's arguments.
#include "platform/loaders/code_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "platform/launch/kernel_call.h"
#include "platform/launch/launch_error.h"
#include "platform/listing/isa_check.h"

namespace lacuna {
namespace {

using ::testing::HasSubstr;

struct Built {
  const char* file;
  unsigned version;
  isa::Target target;
};
constexpr Built kBuilt[] = {
    {"launch_examples_v2.co", 2, isa::Target::gfx803},        {"launch_examples_v3.co", 3, isa::Target::gfx803},
    {"launch_examples.co", 4, isa::Target::gfx803},           {"launch_examples_v5.co", 5, isa::Target::gfx803},
    {"launch_examples_gfx90a_v3.co", 3, isa::Target::gfx90a}, {"launch_examples_gfx90a_v4.co", 4, isa::Target::gfx90a},
    {"launch_examples_gfx90a_v5.co", 5, isa::Target::gfx90a}};

CodeObject read(const Built& built) { return CodeObject::read(std::string(LACUNA_KERNELS) + '/' + built.file); }

TEST(CodeObject, AllVersionsSayTheSameOfTheirKernels) {
  for (const Built& built : kBuilt) {
    SCOPED_TRACE(built.file);
    const CodeObject object = read(built);
    EXPECT_EQ(object.version(), built.version);
    EXPECT_EQ(object.target(), built.target);
    EXPECT_EQ(object.entries().size(), object.kernels().size());
    const KernelMetadata& kernel = object.kernel("arguments");
    EXPECT_EQ(kernel.signature(),
              "arguments(int* #0, int* #1, float4 #2, char #3, short #4, long #5, double #6, double* #7, int* #8)");
    // Offsets follow from the layout rules of C. The offsets of version 2, whose metadata lack them, must agree.
    const unsigned offsets[] = {0, 8, 16, 32, 34, 40, 48, 56, 64};
    const unsigned sizes[] = {8, 4, 16, 1, 2, 8, 8, 4, 8};
    for (unsigned i = 0; i < 9; ++i) {
      ASSERT_NE(parameter_of(kernel, i), nullptr);
      EXPECT_EQ(parameter_of(kernel, i)->offset, offsets[i]) << i;
      EXPECT_EQ(parameter_of(kernel, i)->size, sizes[i]) << i;
    }
    EXPECT_EQ(parameter_of(kernel, 9), nullptr);
    EXPECT_EQ(parameter_of(kernel, 1)->kind, "dynamic_shared_pointer");
    EXPECT_EQ(parameter_of(kernel, 7)->pointee_align, 8u);
    EXPECT_EQ(parameter_of(kernel, 0)->kind, "global_buffer");
    EXPECT_EQ(parameter_of(kernel, 0)->address_space, "global");
    EXPECT_EQ(object.kernel("required_size").required_workgroup_size, (std::array<std::uint32_t, 3>{32, 2, 1}));
    EXPECT_EQ(object.kernel("shape").max_workgroup_size, 256u);
    EXPECT_NE(object.kernel("shape").argument("hidden_global_offset_y"), nullptr);
    EXPECT_EQ(object.kernel("shape").argument("hidden_block_count_x") != nullptr, built.version == 5);
  }
}

TEST(CodeObject, EntriesLieInCode) {
  for (const Built& built : kBuilt) {
    const CodeObject object = read(built);
    const std::vector<KernelCheck> checks = check_kernels(object);
    EXPECT_EQ(checks.size(), object.kernels().size()) << built.file;
    EXPECT_FALSE(checks.empty()) << built.file;
    for (const KernelCheck& check : checks) EXPECT_GT(check.code.instructions, 0u) << built.file << ' ' << check.kernel;
  }
}

TEST(CodeObject, UnknownKernelsGetTheNearestNameAndTheList) {
  const CodeObject object = read(kBuilt[0]);
  try {
    (void)object.kernel("bitonic_pas");
    FAIL() << "accepted";
  } catch (const ElfError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no kernel bitonic_pas; did you mean bitonic_pass?"));
    EXPECT_THAT(e.what(), HasSubstr("\n  divide(float* #0, float* #1, float* #2)"));
  }
}

TEST(CodeObject, UnknownKernelsAreSuggestedAndListedByTheirReadableNames) {
  const CodeObject object = CodeObject::read(LACUNA_MANGLED_CODE_OBJECT);
  const auto refusal = [&](const char* name) -> std::string {
    try {
      (void)object.kernel(name);
    } catch (const ElfError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(object.kernel("scale<float>").name, "_Z5scaleIfEvPT_");
  EXPECT_THAT(refusal("scale"), HasSubstr("no kernel scale; did you mean scale<float>?\nits kernels are\n"));
  EXPECT_THAT(refusal("scale"), HasSubstr("\n  scale<float>(float* #0), mangled _Z5scaleIfEvPT_\n"));
  EXPECT_THAT(refusal("sqare"), HasSubstr("no kernel sqare; did you mean math::square<double>?\n"));
  EXPECT_THAT(refusal("_Z5scaleIfEvPT"), HasSubstr("did you mean scale<float>?\n"));
  EXPECT_THAT(refusal("negate"), HasSubstr("did you mean _Z6negatePf?\n")) << "two kernels are shown as negate";
  EXPECT_THAT(refusal("convolution"), HasSubstr("no kernel convolution\nits kernels are\n"));
}

ArgumentValue scalar(std::size_t bytes) {
  ArgumentValue value;
  value.bytes.resize(bytes, std::byte{0x5a});
  return value;
}
ArgumentValue local_memory(std::uint64_t bytes) {
  ArgumentValue value;
  value.kind = ArgumentValue::Kind::lds;
  value.number = bytes;
  return value;
}

template <typename T>
T at(const ArgumentSegment& segment, std::uint32_t offset) {
  T value;
  std::memcpy(&value, segment.bytes.data() + offset, sizeof value);
  return value;
}

TEST(KernelCall, HiddenArgumentsOfVersion5) {
  const CodeObject object = read(kBuilt[3]);
  const KernelMetadata& kernel = object.kernel("shape");
  KernelCall call;
  call.grid = {100, 6, 1};
  call.block = {32, 4, 1};
  call.offset = {7, 8, 9};
  ArgumentValue buffer;
  buffer.kind = ArgumentValue::Kind::buffer;
  buffer.buffer = "b";
  buffer.number = 16;
  call.arguments = {buffer};
  const ArgumentSegment segment = lay_out_arguments(kernel, call, [](const std::string&) { return BufferPlace{3, 64}; });
  const auto hidden = [&](const char* kind) { return kernel.argument(kind)->offset; };
  EXPECT_EQ(at<std::uint32_t>(segment, hidden("hidden_block_count_x")), 3u);  // whole workgroups
  EXPECT_EQ(at<std::uint32_t>(segment, hidden("hidden_block_count_y")), 1u);
  EXPECT_EQ(at<std::uint16_t>(segment, hidden("hidden_group_size_y")), 4u);
  EXPECT_EQ(at<std::uint16_t>(segment, hidden("hidden_remainder_x")), 4u);
  EXPECT_EQ(at<std::uint16_t>(segment, hidden("hidden_remainder_y")), 2u);
  EXPECT_EQ(at<std::uint64_t>(segment, hidden("hidden_global_offset_z")), 9u);
  EXPECT_EQ(at<std::uint16_t>(segment, hidden("hidden_grid_dims")), 2u);
  EXPECT_EQ(at<std::uint64_t>(segment, 0), 16u);
  const auto patch = std::find_if(segment.patches.begin(), segment.patches.end(),
                                  [](const launch_patch& p) { return p.kind == LAUNCH_PATCH_BUFFER; });
  ASSERT_NE(patch, segment.patches.end());
  EXPECT_EQ(patch->offset, 0u);
  EXPECT_EQ(patch->index, 3u);
}

TEST(KernelCall, LocalPointersFollowEachOtherAligned) {
  const CodeObject object = read(kBuilt[2]);
  const KernelMetadata& kernel = object.kernel("arguments");
  KernelCall call;
  ArgumentValue none;
  none.kind = ArgumentValue::Kind::null;
  call.arguments = {none,      local_memory(100), scalar(16),       scalar(1), scalar(2),
                    scalar(8), scalar(8),         local_memory(64), none,      local_memory(40)};
  const ArgumentSegment segment = lay_out_arguments(kernel, call, [](const std::string&) { return BufferPlace{}; });
  EXPECT_EQ(at<std::uint32_t>(segment, 8), 0u);
  EXPECT_EQ(at<std::uint32_t>(segment, 56), 104u);
  EXPECT_EQ(segment.dynamic_group_bytes, 104u + 64u + 40u);
  call.arguments.push_back(local_memory(1));
  EXPECT_THROW(lay_out_arguments(kernel, call, [](const std::string&) { return BufferPlace{}; }), LaunchError);
}

TEST(Metadata, MessagePackThatIsNotMetadataIsRefused) {
  const auto parse = [](const nlohmann::json& json) {
    const std::vector<std::uint8_t> bytes = nlohmann::json::to_msgpack(json);
    return parse_metadata_msgpack(std::as_bytes(std::span(bytes)));
  };
  EXPECT_TRUE(parse(nlohmann::json::object()).empty());
  EXPECT_THROW(parse(nlohmann::json::array()), std::runtime_error);
  EXPECT_THROW(parse({{"amdhsa.kernels", 1}}), std::runtime_error);
  EXPECT_THROW(parse({{"amdhsa.kernels", {1}}}), std::runtime_error);
  EXPECT_THROW(parse({{"amdhsa.kernels", {{{".name", "a"}}}}}), std::runtime_error);
  const nlohmann::json kernel = {{".name", "a"}, {".symbol", "a.kd"}, {".kernarg_segment_size", 8}};
  EXPECT_EQ(parse({{"amdhsa.kernels", {kernel}}}).size(), 1u);
  nlohmann::json negative = kernel;
  negative[".group_segment_fixed_size"] = -1;
  EXPECT_THROW(parse({{"amdhsa.kernels", {negative}}}), std::runtime_error);
  // A nesting depth at which a recursive parser would exhaust its stack.
  const std::vector<std::byte> deep(1 << 20, std::byte{0x91});
  EXPECT_THROW(parse_metadata_msgpack(deep), std::runtime_error);
}

TEST(Metadata, YamlThatIsNotMetadataIsRefused) {
  EXPECT_TRUE(parse_metadata_yaml("Version: [1, 0]\n").empty());
  EXPECT_THROW(parse_metadata_yaml("["), std::runtime_error);
  EXPECT_THROW(parse_metadata_yaml("Kernels: 1"), std::runtime_error);
  EXPECT_THROW(parse_metadata_yaml("Kernels: [1]"), std::runtime_error);
  EXPECT_THROW(parse_metadata_yaml("Kernels: [{Name: a, Args: [{Size: -1, ValueKind: ByValue}]}]"), std::runtime_error);
  EXPECT_THROW(parse_metadata_yaml("Kernels: [{Name: a, Args: [{Size: 99999999999, ValueKind: ByValue}]}]"),
               std::runtime_error);
  EXPECT_THROW(parse_metadata_yaml(std::string(200000, '[')), std::runtime_error);
  EXPECT_EQ(parse_metadata_yaml("Kernels: [{Name: a, Args: [{Size: 1, Align: 1, ValueKind: ByValue}]}]").front().kernarg_size,
            1u);
}

}  // namespace
}  // namespace lacuna

// Tests the section of tags: written tags are read back, and damage of any kind is refused with a message that locates it.
#include "models/neardata/tag_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/neardata/assembled_kernel.h"

namespace lacuna::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// One kernel with two chains: 0x1000 ld, 0x1008 wait, 0x100c st; 0x1014 ld, 0x101c ld, 0x1024 wait, 0x1028 add, 0x102c st.
class TagSection : public ::testing::Test {
 protected:
  TagSection()
      : code_(isa::Target::gfx803, {"LOAD v10, v[0:1]", "s_waitcnt vmcnt(0)", "STORE v[4:5], v10", "LOAD v10, v[0:1]",
                                    "LOAD v11, v[2:3]", "s_waitcnt vmcnt(0)", "v_add_f32 v10, v10, v11", "STORE v[4:5], v10"}),
        found_(code_.finalize({.move = false})),
        tagged_(kernel_tags("vecadd", kEntry, found_.chains, code_.fetch(), code_.target())) {}

  static std::string decode_error(std::span<const std::byte> bytes) {
    try {
      (void)decode_tags(bytes, "a.co");
    } catch (const TagError& e) {
      return e.what();
    }
    return "";
  }
  std::string check_error(const KernelTags& kernel) const {
    try {
      check_tags(kernel, code_.fetch(), code_.target(), "a.co");
    } catch (const TagError& e) {
      return e.what();
    }
    return "";
  }

  AssembledKernel code_;
  FinalizedKernel found_;
  KernelTags tagged_;
};

TEST_F(TagSection, ReadsWhatIsWritten) {
  ASSERT_EQ(tagged_.chains.size(), 2u);
  const KernelTags none{.name = "none", .entry = 0x2000, .chains = {}, .checks = {}};
  const std::vector<KernelTags> kernels = decode_tags(encode_tags({tagged_, none}), "a.co");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "vecadd");
  EXPECT_EQ(kernels[0].entry, kEntry);
  EXPECT_EQ(kernels[0].chains, found_.chains);
  EXPECT_EQ(kernels[0].checks, tagged_.checks);
  EXPECT_EQ(kernels[1].name, "none");
  EXPECT_TRUE(kernels[1].chains.empty());
  EXPECT_EQ(check_error(kernels[0]), "");
  EXPECT_EQ(check_error(kernels[1]), "");
}

TEST_F(TagSection, RefusesOtherVersionsAndLengths) {
  std::vector<std::byte> bytes = encode_tags({tagged_});
  bytes[4] = std::byte{1};
  EXPECT_EQ(decode_error(bytes), "a.co: section .lacuna.chains: version 1 is not 2");
  bytes[0] = std::byte{0};
  EXPECT_THAT(decode_error(bytes), HasSubstr("does not begin with LNDC"));
  bytes = encode_tags({tagged_});
  bytes.push_back(std::byte{0});
  EXPECT_THAT(decode_error(bytes), HasSubstr("has bytes after its last kernel"));
  bytes = encode_tags({tagged_});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(decode_error(std::span(bytes).first(size)), StartsWith("a.co: section .lacuna.chains: ")) << size;
}

TEST_F(TagSection, RefusesTagsThatMakeNoChain) {
  const auto error = [&](auto change) {
    KernelTags kernel = tagged_;
    change(kernel.chains[1]);
    return decode_error(encode_tags({kernel}));
  };
  EXPECT_EQ(error([](Chain& chain) { chain.instructions[0].tag = ChainTag::middle; }),
            "a.co: section .lacuna.chains: kernel vecadd: 0x1014 has tag 10 where 01 belongs");
  EXPECT_THAT(error([](Chain& chain) { chain.instructions[4].tag = ChainTag::middle; }),
              HasSubstr("0x102c has tag 10 where 11"));
  EXPECT_THAT(error([](Chain& chain) { chain.instructions[2].tag = ChainTag::none; }), HasSubstr("0x1024 has tag 00 where 10"));
  EXPECT_THAT(error([](Chain& chain) { std::swap(chain.instructions[1].address, chain.instructions[2].address); }),
              HasSubstr("0x101c is after a later instruction"));
  EXPECT_THAT(error([](Chain& chain) { chain.pattern = 10; }), HasSubstr("0x1014 is of pattern 10"));
  EXPECT_THAT(error([](Chain& chain) { chain.element_bytes = 3; }), HasSubstr("0x1014 has elements of 3 bytes"));
  EXPECT_THAT(error([](Chain& chain) { chain.steps = 0; }), HasSubstr("0x1014 begins a chain whose instructions"));
  EXPECT_THAT(error([](Chain& chain) { chain.second_load = false; }), HasSubstr("0x1014 begins a chain whose instructions"));
  EXPECT_THAT(error([](Chain& chain) { chain.instructions[3].role = ChainRole::wait; }),
              HasSubstr("0x1014 begins a chain whose instructions"));
}

TEST_F(TagSection, RefusesTagsOfOtherCode) {
  KernelTags kernel = tagged_;
  kernel.chains[0].instructions[2].address = kEntry + 0x1000;
  EXPECT_EQ(check_error(kernel), "a.co: section .lacuna.chains: kernel vecadd: 0x2000 is not an instruction of the kernel");
  kernel = tagged_;
  kernel.chains[0].instructions[2].address -= 2;
  EXPECT_THAT(check_error(kernel), HasSubstr("0x100a is not an instruction of the kernel"));
  kernel = tagged_;
  kernel.chains[1].steps = 2;  // its operation is an addition
  EXPECT_THAT(check_error(kernel), HasSubstr("0x1014 begins a chain whose operations do not match its steps"));
  kernel = tagged_;
  kernel.chains[1] = kernel.chains[0];
  kernel.checks[1] = kernel.checks[0];
  EXPECT_THAT(check_error(kernel), HasSubstr("0x1000 is in two chains"));
  // Changes single bits of an instruction: each change is detected.
  for (unsigned bit = 0; bit < 32; ++bit) {
    code_.words()[2] ^= 1U << bit;
    EXPECT_THAT(check_error(tagged_), HasSubstr("kernel vecadd: ")) << bit;
    code_.words()[2] ^= 1U << bit;
  }
  EXPECT_EQ(check_error(tagged_), "");
  // The instruction tagged as a store is a load, but the checksum matches.
  kernel = tagged_;
  kernel.chains[0].instructions[2].address = 0x101c;
  kernel.checks[0][2] = kernel.checks[1][1];
  EXPECT_THAT(check_error(kernel), HasSubstr("0x101c does not match its tag: flat_load_dword"));
}

TEST_F(TagSection, RefusesTagsAcrossBlocks) {
  const AssembledKernel code(isa::Target::gfx803, {"LOAD v10, v[0:1]", "s_cbranch_scc0 0", "STORE v[4:5], v10"});
  Chain chain{.pattern = 3, .element_bytes = 4, .operations = 0, .stores = true, .instructions = {}};
  chain.instructions = {{code.address(0), ChainTag::first, ChainRole::load_a},
                        {code.address(2), ChainTag::last, ChainRole::store}};
  const KernelTags kernel = kernel_tags("copy", kEntry, {chain}, code.fetch(), code.target());
  EXPECT_THROW(check_tags(kernel, code.fetch(), code.target(), "a.co"), TagError);
  const AssembledKernel call(isa::Target::gfx803, {"LOAD v10, v[0:1]", "STORE v[4:5], v10", "s_swappc_b64 s[30:31], s[4:5]"});
  chain.instructions[1].address = call.address(1);
  const KernelTags calling = kernel_tags("copy", kEntry, {chain}, call.fetch(), call.target());
  EXPECT_THROW(check_tags(calling, call.fetch(), call.target(), "a.co"), TagError);
}

TEST_F(TagSection, RandomDamageIsRefusedOrHarmless) {
  const std::vector<std::byte> original = encode_tags({tagged_});
  std::mt19937 random(1);
  unsigned refused = 0;
  for (unsigned run = 0; run < 20000; ++run) {
    std::vector<std::byte> bytes = original;
    for (unsigned i = 0; i <= random() % 4; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    try {
      for (const KernelTags& kernel : decode_tags(bytes, "a.co")) check_tags(kernel, code_.fetch(), code_.target(), "a.co");
    } catch (const TagError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 15000u);
}

}  // namespace
}  // namespace lacuna::test

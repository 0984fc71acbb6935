// Tests parsers of external files with truncated and changed input: each file is accepted or rejected with an error message,
// and none crashes the process. Seeds are fixed; LACUNA_MUTATIONS=N sets the number of changed files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "platform/launch/launch_error.h"
#include "platform/launch/launch_program.h"
#include "platform/launch/launch_session.h"
#include "platform/listing/disassembly.h"
#include "platform/listing/finalize.h"
#include "platform/listing/isa_check.h"
#include "platform/loaders/code_object.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

unsigned mutations(unsigned usual) {
  const char* const more = std::getenv("LACUNA_MUTATIONS");
  return more != nullptr ? static_cast<unsigned>(std::strtoul(more, nullptr, 10)) : usual;
}

std::vector<std::byte> contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Changes a few bytes to random values, or to values that are critical for sizes and counts.
void change(std::vector<std::byte>& bytes, std::mt19937& random) {
  constexpr unsigned kInteresting[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x91, 0xdf, 0xc6};
  const auto changes = static_cast<unsigned>(1 + random() % 12);
  for (unsigned i = 0; i < changes && !bytes.empty(); ++i) {
    // Most changes are within the first 4 KiB, which contain headers, notes and symbols, or the last 4 KiB, which contain
    // section headers.
    const std::size_t range = random() % 3 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 4096);
    const std::size_t at = random() % 4 == 0 ? bytes.size() - 1 - random() % range : random() % range;
    bytes[at] = static_cast<std::byte>(random() % 2 == 0 ? random() : kInteresting[random() % std::size(kInteresting)]);
  }
}

void use(std::vector<std::byte> bytes) {
  try {
    const CodeObject object(ElfFile(std::move(bytes), "mutant"));
    (void)check_kernels(object);
    std::ostringstream listing;
    write_disassembly(object.elf(), tags_of(object), listing);
    (void)finalize_object(object, {});
  } catch (const ElfError&) {
  }
}

class CodeObjects : public ::testing::TestWithParam<const char*> {};

TEST_P(CodeObjects, ChangedBytes) {
  const std::vector<std::byte> original = contents(fs::path(LACUNA_KERNELS) / GetParam());
  ASSERT_FALSE(original.empty());
  std::mt19937 random(7);
  for (unsigned i = 0; i < mutations(300); ++i) {
    std::vector<std::byte> mutant = original;
    change(mutant, random);
    use(std::move(mutant));
  }
}

TEST_P(CodeObjects, ChangedBytesWithTags) {
  const std::vector<std::byte> original = finalize_object(CodeObject::read(fs::path(LACUNA_KERNELS) / GetParam()), {}).bytes;
  std::mt19937 random(8);
  for (unsigned i = 0; i < mutations(100); ++i) {
    std::vector<std::byte> mutant = original;
    change(mutant, random);
    use(std::move(mutant));
  }
}

TEST_P(CodeObjects, Truncated) {
  const std::vector<std::byte> original = contents(fs::path(LACUNA_KERNELS) / GetParam());
  for (std::size_t size = 0; size < original.size(); size += size < 1024 ? 7 : 211)
    use({original.begin(), original.begin() + static_cast<std::ptrdiff_t>(size)});
}

TEST_P(CodeObjects, ChangedMetadata) {
  const CodeObject object = CodeObject::read(fs::path(LACUNA_KERNELS) / GetParam());
  std::mt19937 random(8);
  for (const ElfNote& note : object.elf().notes()) {
    for (unsigned i = 0; i < mutations(300); ++i) {
      std::vector<std::byte> mutant(note.bytes.begin(), note.bytes.end());
      change(mutant, random);
      try {
        (void)parse_metadata_msgpack(mutant);
      } catch (const std::runtime_error&) {
      }
      try {
        (void)parse_metadata_yaml({reinterpret_cast<const char*>(mutant.data()), mutant.size()});
      } catch (const std::runtime_error&) {
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, CodeObjects,
                         ::testing::Values("launch_examples_v2.co", "launch_examples_v3.co", "launch_examples.co",
                                           "launch_examples_v5.co", "launch_examples_gfx90a_v5.co"),
                         [](const auto& test) { return "object" + std::to_string(test.index); });

TEST(OffloadBundles, Changed) {
  std::vector<std::byte> original;
  const auto text = [&](std::string_view t) {
    for (const char c : t) original.push_back(static_cast<std::byte>(c));
  };
  const auto number = [&](std::uint64_t n) {
    for (int i = 0; i < 8; ++i) original.push_back(static_cast<std::byte>(n >> (8 * i)));
  };
  const std::vector<std::byte> object = contents(fs::path(LACUNA_KERNELS) / "launch_examples.co");
  text("__CLANG_OFFLOAD_BUNDLE__");
  number(2);
  for (const std::string_view id : {"host-x86_64-unknown-linux-gnu", "hip-amdgcn-amd-amdhsa-gfx803"}) {
    number(256);
    number(id.front() == 'h' && id[1] == 'o' ? 0 : object.size());
    number(id.size());
    text(id);
  }
  original.resize(256);
  original.insert(original.end(), object.begin(), object.end());
  const auto entries = read_offload_bundle(original, "bundle");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].processor, "");
  EXPECT_EQ(entries[1].processor, "gfx803");
  EXPECT_EQ(entries[1].bytes.size(), object.size());
  // Two consecutive bundles, as in a linked executable.
  std::vector<std::byte> twice = original;
  twice.resize((twice.size() + 4095) / 4096 * 4096);
  twice.insert(twice.end(), original.begin(), original.end());
  EXPECT_EQ(read_offload_bundle(twice, "bundles").size(), 4u);
  std::mt19937 random(10);
  for (unsigned i = 0; i < mutations(2000); ++i) {
    std::vector<std::byte> mutant(original.begin(), original.begin() + 512);
    change(mutant, random);
    if (i % 3 == 0) mutant.resize(random() % mutant.size());
    try {
      (void)read_offload_bundle(mutant, "mutant");
    } catch (const ElfError&) {
    }
  }
}

/// The example of docs/guide/launch.md.
std::string example() {
  std::ifstream document(LACUNA_LAUNCH_DOCUMENT);
  std::string text;
  std::string line;
  bool inside = false;
  while (std::getline(document, line)) {
    if (line.starts_with("```")) {
      inside = line == "```ini";
      continue;
    }
    if (inside) text += line + '\n';
  }
  return text;
}

std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view kPieces[] = {"[end]", "[for",  "(",   ")", "{", "}", "\n", "=", ":", "-1", "99999999999999999999",
                                          "[0]",   "1e999", "buf:"};
  const auto changes = static_cast<unsigned>(1 + random() % 6);
  for (unsigned i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 20);
        break;
      case 2:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 60));
    }
  }
  return text;
}

TEST(LaunchFiles, Changed) {
  const std::string original = example();
  ASSERT_GT(original.size(), 500u);
  const fs::path folder = fs::path(::testing::TempDir()) / "lacuna_mutated_launch";
  fs::create_directories(folder);
  fs::copy_file(fs::path(LACUNA_KERNELS) / "launch_examples.co", folder / "launch_examples.co",
                fs::copy_options::overwrite_existing);
  std::mt19937 random(9);
  unsigned accepted = 0;
  for (unsigned i = 0; i < mutations(1500); ++i) {
    std::istringstream text(i == 0 ? original : mutated(original, random));
    try {
      LaunchSession session(parse_launch_text(text, "mutant.launch", folder));
      session.rehearse();
      ++accepted;
    } catch (const LaunchError&) {
    } catch (const ElfError&) {
    }
  }
  EXPECT_GE(accepted, 1u);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace lacuna

#include "models/neardata/tag_section.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include "models/isa/analysis/control_flow.h"
#include "models/isa/decode/decoder.h"
#include "models/isa/decode/table.h"
#include "models/neardata/chain_finder.h"

namespace lacuna {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are copied");

constexpr std::uint32_t kMagic = 0x43444e4c;  // "LNDC"
constexpr std::uint8_t kSecondLoad = 1;
constexpr std::uint8_t kStores = 2;
constexpr std::uint8_t kCompares = 4;
constexpr std::uint8_t kLastPattern = 9;
constexpr std::size_t kBytesPerInstruction = 12;
constexpr std::size_t kBytesPerChain = 12;
constexpr std::size_t kBytesPerKernel = 16;

class SectionWriter {
 public:
  template <class T>
  void put(T value) {
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put_text(const std::string& text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    while (bytes_.size() % 4 != 0) bytes_.push_back(std::byte{0});
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Location of a fault: file and kernel, the prefix of error messages.
struct Place {
  const std::string& file;
  std::string kernel;

  [[noreturn]] void fail(const std::string& reason) const {
    throw TagError(file + ": section " + std::string(kTagSectionName) + ": " +
                   (kernel.empty() ? "" : "kernel " + kernel + ": ") + reason);
  }
  [[noreturn]] void fail(std::uint64_t address, const std::string& reason) const {
    fail(fmt::format("{:#x} {}", address, reason));
  }
};

class SectionReader {
 public:
  SectionReader(std::span<const std::byte> bytes, const Place& place) : bytes_(bytes), place_(place) {}

  template <class T>
  T get(const char* what) {
    T value;
    std::memcpy(&value, part(sizeof(T), what).data(), sizeof value);
    return value;
  }
  std::string get_text(std::uint32_t size, const char* what) {
    const auto padded = (std::uint64_t{size} + 3) & ~std::uint64_t{3};
    const std::span<const std::byte> text = part(padded, what);
    return {reinterpret_cast<const char*>(text.data()), size};
  }
  /// Reads a number of records of at least `bytes_each` bytes each. Fails if the rest of the section is too small for the
  /// records.
  std::uint32_t get_count(std::size_t bytes_each, const char* what) {
    const auto count = get<std::uint32_t>(what);
    if (count > (bytes_.size() - at_) / bytes_each)
      place_.fail(std::to_string(count) + ' ' + what + " do not fit into the section of " + std::to_string(bytes_.size()) +
                  " bytes");
    return count;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> part(std::uint64_t size, const char* what) {
    if (size > bytes_.size() - at_) place_.fail("is truncated: " + std::string(what) + " exceed it");
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

  std::span<const std::byte> bytes_;
  const Place& place_;
  std::size_t at_ = 0;
};

/// Checks the conditions on a chain that do not depend on its code.
void check_form(const Chain& chain, const Place& place) {
  const std::vector<ChainInstruction>& parts = chain.instructions;
  if (parts.size() < 2) place.fail("a chain has " + std::to_string(parts.size()) + " instructions");
  const std::uint64_t first = parts.front().address;
  if (chain.pattern > kLastPattern) place.fail(first, "is of pattern " + std::to_string(chain.pattern));
  if (chain.element_bytes != 1 && chain.element_bytes != 2 && chain.element_bytes != 4)
    place.fail(first, "has elements of " + std::to_string(chain.element_bytes) + " bytes");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ChainTag wanted = i == 0 ? ChainTag::first : i + 1 == parts.size() ? ChainTag::last : ChainTag::middle;
    if (parts[i].tag != wanted)
      place.fail(parts[i].address,
                 "has tag " + std::string(tag_bits(parts[i].tag)) + " where " + std::string(tag_bits(wanted)) + " belongs");
    if (i > 0 && parts[i].address <= parts[i - 1].address) place.fail(parts[i].address, "is after a later instruction");
  }
  const auto count = [&](ChainRole role) {
    return std::count_if(parts.begin(), parts.end(), [role](const ChainInstruction& part) { return part.role == role; });
  };
  const bool right = count(ChainRole::load_a) == 1 && count(ChainRole::load_b) == (chain.second_load ? 1 : 0) &&
                     count(ChainRole::store) == (chain.stores ? 1 : 0) && chain.operations <= chain.steps &&
                     chain.steps <= kPacketOperations && (chain.operations != 0 || chain.steps == 0) &&
                     count(ChainRole::operation) == chain.operations;
  if (!right) place.fail(first, "begins a chain whose instructions do not match its counts");
}

/// Whether an instruction can have the role that its tag specifies.
bool can_be(const isa::Instruction& instruction, ChainRole role, const Chain& chain) {
  switch (role) {
    case ChainRole::load_a:
    case ChainRole::load_b:
      return is_vector_load(instruction) && chain_element(instruction).bytes == chain.element_bytes;
    case ChainRole::wait:
      return isa::is_wait(instruction);
    case ChainRole::operation:
      return chain_operation(instruction).valid;
    case ChainRole::store:
      return is_vector_store(instruction) && chain_element(instruction).bytes == chain.element_bytes;
  }
  return false;
}

ChainInstruction read_instruction(SectionReader& reader, std::uint64_t entry, const Place& place) {
  ChainInstruction part;
  part.address = entry + static_cast<std::uint64_t>(std::int64_t{reader.get<std::int32_t>("instructions")});
  const auto tag = reader.get<std::uint8_t>("instructions");
  const auto role = reader.get<std::uint8_t>("instructions");
  if (tag > static_cast<std::uint8_t>(ChainTag::last)) place.fail(part.address, "has tag " + std::to_string(tag));
  if (role > static_cast<std::uint8_t>(ChainRole::store)) place.fail(part.address, "has role " + std::to_string(role));
  if (reader.get<std::uint16_t>("instructions") != 0) place.fail(part.address, "has a value where zeros belong");
  part.tag = static_cast<ChainTag>(tag);
  part.role = static_cast<ChainRole>(role);
  return part;
}

}  // namespace

// FNV-1a over the instruction's bytes (Fowler, Noll, Vo): detects accidental changes, but does not protect against forgery.
std::uint32_t code_check(std::uint64_t address, const isa::FetchWords& fetch, isa::Target target) {
  std::array<std::uint32_t, 3> words{};
  const std::size_t available = fetch(address, words);
  const isa::DecodeResult decoded =
      available == 0 ? isa::DecodeResult{} : isa::decode(words.data(), available, target, isa::kAllMatrixCodes);
  if (!decoded.ok) return 0;
  std::uint32_t hash = 0x811c9dc5;
  for (unsigned byte = 0; byte < decoded.instruction.size; ++byte)
    hash = (hash ^ (words.at(byte / 4) >> 8 * (byte % 4) & 0xff)) * 0x01000193;
  return hash;
}

KernelTags kernel_tags(std::string name, std::uint64_t entry, std::vector<Chain> chains, const isa::FetchWords& fetch,
                       isa::Target target) {
  KernelTags kernel{.name = std::move(name), .entry = entry, .chains = std::move(chains), .checks = {}};
  for (const Chain& chain : kernel.chains) {
    std::vector<std::uint32_t>& checks = kernel.checks.emplace_back();
    for (const ChainInstruction& part : chain.instructions) checks.push_back(code_check(part.address, fetch, target));
  }
  return kernel;
}

std::vector<std::byte> encode_tags(const std::vector<KernelTags>& kernels) {
  SectionWriter out;
  out.put(kMagic);
  out.put(kTagSectionVersion);
  out.put(static_cast<std::uint32_t>(kernels.size()));
  for (const KernelTags& kernel : kernels) {
    out.put(kernel.entry);
    out.put(static_cast<std::uint32_t>(kernel.name.size()));
    out.put(static_cast<std::uint32_t>(kernel.chains.size()));
    out.put_text(kernel.name);
    for (std::size_t c = 0; c < kernel.chains.size(); ++c) {
      const Chain& chain = kernel.chains[c];
      out.put(chain.pattern);
      out.put(chain.element_bytes);
      out.put(chain.operations);
      out.put(chain.steps);
      out.put(static_cast<std::uint32_t>((chain.second_load ? kSecondLoad : 0) | (chain.stores ? kStores : 0) |
                                         (chain.compares ? kCompares : 0)));
      out.put(static_cast<std::uint32_t>(chain.instructions.size()));
      for (std::size_t i = 0; i < chain.instructions.size(); ++i) {
        const ChainInstruction& part = chain.instructions[i];
        out.put(static_cast<std::int32_t>(part.address - kernel.entry));
        out.put(static_cast<std::uint8_t>(part.tag));
        out.put(static_cast<std::uint8_t>(part.role));
        out.put(std::uint16_t{0});
        out.put(kernel.checks[c][i]);
      }
    }
  }
  return out.take();
}

std::vector<KernelTags> decode_tags(std::span<const std::byte> bytes, const std::string& file) {
  Place place{.file = file, .kernel = ""};
  SectionReader reader(bytes, place);
  if (reader.get<std::uint32_t>("magic and version") != kMagic) place.fail("does not begin with LNDC");
  if (const auto version = reader.get<std::uint32_t>("magic and version"); version != kTagSectionVersion)
    place.fail("version " + std::to_string(version) + " is not " + std::to_string(kTagSectionVersion));
  const std::uint32_t count = reader.get_count(kBytesPerKernel, "kernels");
  std::vector<KernelTags> kernels(count);
  for (KernelTags& kernel : kernels) {
    kernel.entry = reader.get<std::uint64_t>("kernels");
    const auto name_bytes = reader.get<std::uint32_t>("kernels");
    const auto chains = reader.get<std::uint32_t>("kernels");
    kernel.name = reader.get_text(name_bytes, "kernels");
    place.kernel = kernel.name;
    if (chains > bytes.size() / kBytesPerChain) place.fail(std::to_string(chains) + " chains do not fit into the section");
    for (std::uint32_t c = 0; c < chains; ++c) {
      Chain chain;
      chain.pattern = reader.get<std::uint8_t>("chains");
      chain.element_bytes = reader.get<std::uint8_t>("chains");
      chain.operations = reader.get<std::uint8_t>("chains");
      chain.steps = reader.get<std::uint8_t>("chains");
      const auto flags = reader.get<std::uint32_t>("chains");
      if (flags > (kSecondLoad | kStores | kCompares)) place.fail("a chain has flags " + std::to_string(flags));
      chain.second_load = (flags & kSecondLoad) != 0;
      chain.stores = (flags & kStores) != 0;
      chain.compares = (flags & kCompares) != 0;
      const std::uint32_t parts = reader.get_count(kBytesPerInstruction, "instructions");
      std::vector<std::uint32_t>& checks = kernel.checks.emplace_back();
      for (std::uint32_t i = 0; i < parts; ++i) {
        chain.instructions.push_back(read_instruction(reader, kernel.entry, place));
        checks.push_back(reader.get<std::uint32_t>("instructions"));
      }
      check_form(chain, place);
      kernel.chains.push_back(std::move(chain));
    }
  }
  place.kernel.clear();
  if (!reader.at_end()) place.fail("has bytes after its last kernel");
  return kernels;
}

void check_tags(const KernelTags& kernel, const isa::FetchWords& fetch, isa::Target target, const std::string& file) {
  const Place place{.file = file, .kernel = kernel.name};
  if (kernel.chains.empty()) return;
  const isa::ControlFlow flow(fetch, target, kernel.entry);
  if (!flow.known()) place.fail("has tags, but its control flow is not known: " + flow.unknown());
  const std::vector<isa::PlacedInstruction>& code = flow.instructions();
  std::set<std::uint64_t> tagged;
  for (std::size_t c = 0; c < kernel.chains.size(); ++c) {
    const Chain& chain = kernel.chains[c];
    std::uint32_t block = 0;
    unsigned steps = 0;
    for (std::size_t i = 0; i < chain.instructions.size(); ++i) {
      const ChainInstruction& part = chain.instructions[i];
      const auto found =
          std::lower_bound(code.begin(), code.end(), part.address,
                           [](const isa::PlacedInstruction& p, std::uint64_t address) { return p.address < address; });
      if (found == code.end() || found->address != part.address)
        place.fail(part.address, "is not an instruction of the kernel");
      if (code_check(part.address, fetch, target) != kernel.checks[c][i])
        place.fail(part.address, "is not the instruction that was tagged");
      if (!can_be(found->instruction, part.role, chain))
        place.fail(part.address, "does not match its tag: " + std::string(found->instruction.row->mnemonic));
      if (i > 0 && found->block != block) place.fail(part.address, "is in another basic block than its chain");
      if (!tagged.insert(part.address).second) place.fail(part.address, "is in two chains");
      if (part.role == ChainRole::operation) steps += chain_operation(found->instruction).operations;
      block = found->block;
    }
    // The second step of a chain's last operation may be left to the core.
    if (chain.steps != steps && chain.steps + 1U != steps)
      place.fail(chain.instructions.front().address, "begins a chain whose operations do not match its steps");
  }
}

}  // namespace lacuna

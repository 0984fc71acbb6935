#include "models/isa/decode/decoded_code.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "models/isa/detail/host_layout.h"

namespace lacuna::isa {
namespace {

std::string eight_digits(std::uint32_t word) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08x", word);
  return text.data();
}

}  // namespace

void DecodedCode::read_page(Page& page) const {
  MemoryWindow window;
  for (unsigned k = 0; k < page.words.size(); ++k) {
    const std::uint64_t address = page.base + k * 4ULL;
    if (!window.contains(address, 4)) window = memory_.find(address);
    const bool readable = window.contains(address, 4) && allows(window.granted, Access::execute);
    page.present[k] = readable;
    if (k < kWords) page.whole = page.whole && readable;
    if (readable) std::memcpy(&page.words[k], window.host + (address - window.base), 4);
  }
}

DecodedCode::Page& DecodedCode::page_of(std::uint64_t pc) {
  const std::uint64_t base = pc & ~(kPageBytes - 1);
  std::unique_ptr<Page>& page = pages_[base];
  if (page == nullptr) {
    page = std::make_unique<Page>();
    page->base = base;
    read_page(*page);
  }
  recent_[(pc / kPageBytes) % kRecent].store(page.get(), std::memory_order_release);
  return *page;
}

const DecodedInstruction* DecodedCode::decode_at(std::uint64_t pc) {
  if (pc % 4 != 0) return nullptr;
  const std::lock_guard lock(decoding_);
  Page& page = page_of(pc);
  const unsigned place = static_cast<unsigned>(pc % kPageBytes) / 4;
  if (const DecodedInstruction* known = page.instructions[place].load(std::memory_order_relaxed); known != nullptr)
    return known;
  unsigned available = 0;
  while (available < 3 && place + available < page.words.size() && page.present[place + available]) ++available;
  if (available == 0) return nullptr;
  DecodeResult result = decode(&page.words[place], available, target_, codes_);
  if (!result.ok) return nullptr;
  result.instruction.profile = profiles_.number_of(result.instruction);
  page.storage.push_back(std::make_unique<DecodedInstruction>(result.instruction, pc));
  page.instructions[place].store(page.storage.back().get(), std::memory_order_release);
  return page.storage.back().get();
}

// Stores links within a page only, so that revalidate() finds all links into the pages that it drops.
const DecodedInstruction* DecodedCode::follow(const DecodedInstruction& before) {
  const DecodedInstruction* found = at(before.end);
  if ((before.end - before.size) / kPageBytes == before.end / kPageBytes)
    before.following.store(found, std::memory_order_release);
  return found;
}

CodeError DecodedCode::explain(std::uint64_t pc) const {
  if (pc % 4 != 0) return {CodeError::Kind::misaligned, "address is not a multiple of 4"};
  const MemoryWindow window = memory_.find(pc);
  if (!window.contains(pc, 4)) return {CodeError::Kind::not_mapped, "address is not mapped"};
  if (!allows(window.granted, Access::execute)) return {CodeError::Kind::not_executable, "memory is not executable"};
  Page page;
  page.base = pc & ~(kPageBytes - 1);
  read_page(page);
  const unsigned place = static_cast<unsigned>(pc % kPageBytes) / 4;
  unsigned available = 0;
  std::string bytes;
  while (available < 3 && place + available < page.words.size() && page.present[place + available]) {
    bytes.append(" ").append(eight_digits(page.words[place + available]));
    ++available;
  }
  const DecodeResult result = decode(&page.words[place], available, target_, codes_);
  if (result.ok) return {};
  return {CodeError::Kind::undecodable, "illegal instruction: " + result.error + ", words" + bytes};
}

bool DecodedCode::unchanged(const Page& page) const {
  unsigned k = 0;
  // Usual case: one executable mapping covers the whole page.
  const MemoryWindow window = memory_.find(page.base);
  if (window.contains(page.base, kPageBytes) && allows(window.granted, Access::execute) && page.whole) {
    if (std::memcmp(window.host + (page.base - window.base), page.words.data(), kPageBytes) != 0) return false;
    k = kWords;
  }
  for (; k < page.words.size(); ++k) {
    const std::optional<std::uint32_t> now = word_at(page.base + 4 * k);
    if (now.has_value() != page.present[k] || (now && *now != page.words[k])) return false;
  }
  return true;
}

std::optional<std::uint32_t> DecodedCode::word_at(std::uint64_t address) const {
  const MemoryWindow window = memory_.find(address);
  if (!window.contains(address, 4) || !allows(window.granted, Access::execute)) return std::nullopt;
  std::uint32_t word;
  std::memcpy(&word, window.host + (address - window.base), sizeof word);
  return word;
}

unsigned DecodedCode::revalidate() {
  unsigned dropped = 0;
  for (auto entry = pages_.begin(); entry != pages_.end();) {
    if (unchanged(*entry->second)) {
      ++entry;
      continue;
    }
    ++dropped;
    for (std::atomic<Page*>& recent : recent_) {
      if (recent == entry->second.get()) recent = nullptr;
    }
    retired_.push_back(std::move(entry->second));
    entry = pages_.erase(entry);
  }
  // A program that still holds an instruction of a dropped page continues in the page that replaced it.
  for (const std::unique_ptr<Page>& page : retired_) {
    for (const auto& instruction : page->storage) instruction->following.store(nullptr, std::memory_order_relaxed);
  }
  for (CodeObserver* const observer : observers_) observer->code_revalidated();
  return dropped;
}

}  // namespace lacuna::isa

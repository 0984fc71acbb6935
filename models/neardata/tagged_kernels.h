// Chains of the dispatched kernels, looked up by instruction address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/neardata/chain.h"
#include "models/neardata/packet_code.h"

namespace lacuna {

/// Chains of one kernel, for concurrent use by any number of threads. Only expire(), called between windows, changes the
/// object.
class TaggedKernel {
 public:
  /// A tagged instruction and its chain.
  struct Place {
    const Chain* chain = nullptr;  ///< null: the instruction has no tag
    const PacketCode* code = nullptr;
    ChainTag tag = ChainTag::none;
    ChainRole role = ChainRole::load_a;
  };

  /// `codes`: packet code of each chain.
  TaggedKernel(std::vector<Chain> chains, std::vector<PacketCode> codes)
      : chains_(std::move(chains)), codes_(std::move(codes)) {
    if (chains_.empty()) return;
    std::uint64_t last = 0;
    begin_ = ~std::uint64_t{0};
    for (const Chain& chain : chains_) {
      begin_ = begin_ < chain.instructions.front().address ? begin_ : chain.instructions.front().address;
      last = last > chain.instructions.back().address ? last : chain.instructions.back().address;
    }
    places_.resize((last - begin_) / kBytes + 1);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      for (const ChainInstruction& instruction : chains_[i].instructions)
        places_[(instruction.address - begin_) / kBytes] = {&chains_[i], &codes_.at(i), instruction.tag, instruction.role};
    }
  }

  const std::vector<Chain>& chains() const { return chains_; }
  /// Whether the code has not changed since it was tagged.
  bool current() const { return current_; }
  void expire() { current_ = false; }
  /// Tag and chain of the instruction at an address; Place::chain is null for an instruction without a tag.
  const Place& at(std::uint64_t address) const {
    const std::uint64_t index = (address - begin_) / kBytes;
    return index < places_.size() ? places_[index] : none_;
  }

 private:
  static constexpr std::uint64_t kBytes = 4;  ///< smallest size of an instruction
  std::vector<Chain> chains_;
  std::vector<PacketCode> codes_;
  std::uint64_t begin_ = 0;
  std::vector<Place> places_;
  Place none_;
  bool current_ = true;
};

/// Code that has been searched for chains, with its contents at that time.
struct SearchedCode {
  std::uint64_t begin = 0;
  std::vector<std::byte> bytes;

  /// Records the words that were read at an address.
  void add(std::uint64_t address, std::span<const std::uint32_t> words) {
    const auto read = std::as_bytes(words);
    if (bytes.empty()) begin = address;
    if (address < begin) {
      bytes.insert(bytes.begin(), begin - address, std::byte{});
      begin = address;
    }
    bytes.resize(std::max<std::size_t>(bytes.size(), address - begin + read.size()));
    std::copy(read.begin(), read.end(), bytes.begin() + static_cast<std::ptrdiff_t>(address - begin));
    known.emplace_back(address, read.size());
  }
  /// Whether memory still contains the searched code. `same(address, bytes)`: whether memory has these bytes at the address.
  template <typename Same>
  bool unchanged(const Same& same) const {
    return std::all_of(known.begin(), known.end(), [&](const auto& range) {
      return same(range.first, std::span(bytes).subspan(range.first - begin, range.second));
    });
  }
  /// Joins adjacent ranges. Called after the last add().
  void join() {
    std::sort(known.begin(), known.end());
    std::vector<std::pair<std::uint64_t, std::size_t>> joined;
    for (const auto& [address, size] : known) {
      if (!joined.empty() && address <= joined.back().first + joined.back().second) {
        joined.back().second = std::max<std::size_t>(joined.back().second, address + size - joined.back().first);
      } else {
        joined.emplace_back(address, size);
      }
    }
    known = std::move(joined);
  }

  std::vector<std::pair<std::uint64_t, std::size_t>> known;  ///< addresses and sizes in bytes of the ranges that have been read
};

/// All tagged kernels, indexed by the address of the first instruction. Kernels are added and dropped between windows.
class TaggedKernels {
 public:
  void add(std::uint64_t entry, std::shared_ptr<TaggedKernel> tagged, SearchedCode code) {
    kernels_[entry] = {std::move(tagged), std::move(code)};
  }
  /// The tagged kernel at `entry`; null if there is none, or if the kernel has no chains.
  std::shared_ptr<const TaggedKernel> find(std::uint64_t entry) const {
    const auto found = kernels_.find(entry);
    return found == kernels_.end() || found->second.tagged->chains().empty() ? nullptr : found->second.tagged;
  }
  bool known(std::uint64_t entry) const { return kernels_.contains(entry); }
  /// Drops kernels whose code has changed: their tags expire, and the code is searched again at the next dispatch. Returns the
  /// number of dropped kernels that had chains. `same`: see SearchedCode::unchanged().
  template <typename Same>
  unsigned revalidate(const Same& same) {
    unsigned expired = 0;
    for (auto kernel = kernels_.begin(); kernel != kernels_.end();) {
      if (kernel->second.code.unchanged(same)) {
        ++kernel;
        continue;
      }
      kernel->second.tagged->expire();
      if (!kernel->second.tagged->chains().empty()) ++expired;
      expired_.push_back(std::move(kernel->second.tagged));
      kernel = kernels_.erase(kernel);
    }
    return expired;
  }

 private:
  struct Kernel {
    std::shared_ptr<TaggedKernel> tagged;
    SearchedCode code;
  };
  std::unordered_map<std::uint64_t, Kernel> kernels_;         // never iterated for results
  std::vector<std::shared_ptr<const TaggedKernel>> expired_;  ///< dropped kernels, to whose chains packets in flight may refer
};

}  // namespace lacuna

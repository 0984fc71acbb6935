// Chains of the kernels that have been dispatched, by the address of an instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/neardata/chain.h"

namespace lacuna {

/// Immutable: any number of threads may use it.
class TaggedKernel {
 public:
  /// A tagged instruction and its chain.
  struct Place {
    const Chain* chain = nullptr;  ///< null: the instruction has no tag
    ChainTag tag = ChainTag::none;
    ChainRole role = ChainRole::load_a;
  };

  explicit TaggedKernel(std::vector<Chain> chains) : chains_(std::move(chains)) {
    if (chains_.empty()) return;
    std::uint64_t last = 0;
    begin_ = ~std::uint64_t{0};
    for (const Chain& chain : chains_) {
      begin_ = begin_ < chain.instructions.front().address ? begin_ : chain.instructions.front().address;
      last = last > chain.instructions.back().address ? last : chain.instructions.back().address;
    }
    places_.resize((last - begin_) / kBytes + 1);
    for (const Chain& chain : chains_) {
      for (const ChainInstruction& instruction : chain.instructions)
        places_[(instruction.address - begin_) / kBytes] = {&chain, instruction.tag, instruction.role};
    }
  }

  const std::vector<Chain>& chains() const { return chains_; }
  /// Place::chain is null for an instruction without a tag.
  const Place& at(std::uint64_t address) const {
    const std::uint64_t index = (address - begin_) / kBytes;
    return index < places_.size() ? places_[index] : none_;
  }

 private:
  static constexpr std::uint64_t kBytes = 4;  ///< smallest size of an instruction
  std::vector<Chain> chains_;
  std::uint64_t begin_ = 0;
  std::vector<Place> places_;
  Place none_;
};

/// By the address of the kernel's first instruction. Kernels are added between windows.
class TaggedKernels {
 public:
  void set(std::uint64_t entry, std::vector<Chain> chains) {
    std::shared_ptr<const TaggedKernel>& kernel = kernels_[entry];
    if (kernel != nullptr) replaced_.push_back(std::move(kernel));
    kernel = std::make_shared<TaggedKernel>(std::move(chains));
  }
  /// Null: the kernel has no chains.
  std::shared_ptr<const TaggedKernel> find(std::uint64_t entry) const {
    const auto found = kernels_.find(entry);
    return found == kernels_.end() || found->second->chains().empty() ? nullptr : found->second;
  }
  bool known(std::uint64_t entry) const { return kernels_.contains(entry); }

 private:
  std::unordered_map<std::uint64_t, std::shared_ptr<const TaggedKernel>> kernels_;  // never iterated
  std::vector<std::shared_ptr<const TaggedKernel>> replaced_;  ///< packets in flight may refer to their chains
};

}  // namespace lacuna

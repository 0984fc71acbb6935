#include "models/neardata/kernel_tagger.h"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/isa/analysis/control_flow.h"
#include "models/neardata/finalizer.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint32_t);

}  // namespace

void KernelTaggerStatistics::describe(StatisticsGroup& group) const {
  group.add("kernels_from_files", from_files, "kernels with the tags of their file", "kernels");
  group.add("kernels_searched", found, "kernels whose chains were found when they were dispatched", "kernels");
  group.add("kernels_unknown", unknown, "of these, not tagged: where control goes is not known", "kernels");
  group.add("kernels_damaged", damaged, "kernels that run without tags, because those of their file are damaged", "kernels");
  group.add("kernels_changed", changed, "dispatches that found other code than the kernel was tagged in", "dispatches");
  group.add("chains", chains, "chains that have been tagged", "chains");
  group.add("moved", moved, "instructions that have other places or registers since (ndc.move)", "instructions");
}

void KernelTagger::started(const Dispatch& dispatch) {
  Kernel& kernel = known_[dispatch.entry];
  const bool is_other = kernel.tagged && !is_unchanged(kernel);
  if (is_other) {
    ++statistics_.changed;
    kernel.tagged = false;
    kernels_.set(dispatch.entry, {});
  }
  if (!kernel.tagged && kernel.running == 0) tag(dispatch, kernel);
  ++kernel.running;
  running_[dispatch.index] = dispatch.entry;
}

void KernelTagger::ended(std::uint64_t dispatch_index) {
  const auto found = running_.find(dispatch_index);
  if (found == running_.end()) return;
  --known_[found->second].running;
  running_.erase(found);
}

void KernelTagger::reset() {
  known_.clear();
  running_.clear();
  kernels_ = {};
}

isa::FetchWords KernelTagger::fetch() const {
  return [this](std::uint64_t pc, std::array<std::uint32_t, 3>& words) {
    for (std::size_t count = words.size(); count > 0; --count) {
      const std::byte* const bytes = vm_->pointer(pc, count * sizeof words[0], isa::Access::execute);
      if (bytes == nullptr) continue;
      std::memcpy(words.data(), bytes, count * sizeof words[0]);
      return count;
    }
    return std::size_t{0};
  };
}

bool KernelTagger::is_unchanged(const Kernel& kernel) const {
  if (kernel.code.empty()) return true;
  const std::byte* const now = vm_->pointer(kernel.begin, kernel.code.size(), isa::Access::execute);
  return now != nullptr && std::memcmp(now, kernel.code.data(), kernel.code.size()) == 0;
}

void KernelTagger::tag(const Dispatch& dispatch, Kernel& kernel) {
  if (!take_from_file(dispatch)) find_chains(dispatch);
  keep_code(dispatch.entry, kernel);
  kernel.tagged = true;
}

bool KernelTagger::take_from_file(const Dispatch& dispatch) {
  if (source_ == nullptr) return false;
  try {
    std::optional<KernelTags> tags = source_->find(*vm_, dispatch.entry);
    if (!tags) return false;
    check_tags(*tags, fetch(), target_, "code object in GPU memory");
    ++statistics_.from_files;
    statistics_.chains += tags->chains.size();
    kernels_.set(dispatch.entry, std::move(tags->chains));
  } catch (const TagError& e) {
    constexpr const char* kKind = "kernels with damaged tags";
    if (++statistics_.damaged == 1) {
      guest_warning(kKind, "kernel {} runs without offload chains: {}", dispatch.kernel, e.what());
    } else {
      count_guest_mistake(kKind);
    }
    kernels_.set(dispatch.entry, {});
  }
  return true;
}

// Nothing of the kernel runs, so that its instructions may change. Copies and fills of the runtime that are known by their code
// (BlitRecogniser::name(), with a blank in it) keep it: they would not be known any more.
void KernelTagger::find_chains(const Dispatch& dispatch) {
  FinalizedKernel finalized = finalize_kernel(fetch(), target_, dispatch.entry,
                                              {.move = parameters_.move && dispatch.kernel.find(' ') == std::string::npos,
                                               .take_apart = parameters_.take_apart,
                                               .interleaved = parameters_.interleaved,
                                               .vgprs = dispatch.needs.vgprs});
  for (const CodePatch& patch : finalized.patches) {
    // Word by word: each has been fetched, but they may lie in different mappings.
    for (std::size_t i = 0; i < patch.words.size(); ++i)
      std::memcpy(vm_->pointer(patch.address + kWord * i, kWord, isa::Access::execute), &patch.words[i], kWord);
  }
  if (!finalized.patches.empty()) code_->revalidate();
  ++statistics_.found;
  if (!finalized.unknown.empty()) ++statistics_.unknown;
  statistics_.chains += finalized.chains.size();
  statistics_.moved += finalized.moved;
  kernels_.set(dispatch.entry, std::move(finalized.chains));
}

void KernelTagger::keep_code(std::uint64_t entry, Kernel& kernel) const {
  const isa::ControlFlow flow(fetch(), target_, entry);
  constexpr std::uint64_t kOfUnknown = 64;  // bytes, by which other code is noticed
  kernel.begin = entry;
  std::uint64_t end = entry + kOfUnknown;
  if (!flow.instructions().empty()) {
    kernel.begin = flow.instructions().front().address;
    end = flow.instructions().back().address + flow.instructions().back().instruction.size;
  }
  const std::byte* const code = vm_->pointer(kernel.begin, end - kernel.begin, isa::Access::execute);
  kernel.code.clear();
  if (code != nullptr) kernel.code.assign(code, code + (end - kernel.begin));
}

}  // namespace lacuna

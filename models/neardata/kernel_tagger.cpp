#include "models/neardata/kernel_tagger.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "models/common/config/guest_mistake.h"
#include "models/isa/analysis/control_flow.h"
#include "models/neardata/finalizer.h"
#include "models/neardata/packet_code.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint32_t);

}  // namespace

void KernelTaggerStatistics::describe(StatisticsGroup& group) const {
  group.add("kernels_from_files", from_files, "kernels with the tags of their file", "kernels");
  group.add("kernels_searched", found, "kernels whose chains were found when they were dispatched", "kernels");
  group.add("kernels_unknown", unknown, "of these, not tagged: the control flow is not known", "kernels");
  group.add("kernels_damaged", damaged, "kernels that run without tags, because those of their file are damaged", "kernels");
  group.add("kernels_changed", changed, "kernels with chains whose code has changed after it was tagged", "kernels");
  group.add("chains", chains, "chains that have been tagged", "chains");
  group.add("moved", moved, "instructions moved or given other registers (ndc.move)", "instructions");
}

void KernelTagger::started(const Dispatch& dispatch) {
  unsigned& running = dispatches_[dispatch.entry];
  if (running == 0 && !kernels_.known(dispatch.entry)) tag(dispatch);
  ++running;
  running_[dispatch.index] = dispatch.entry;
}

void KernelTagger::ended(std::uint64_t dispatch_index) {
  const auto found = running_.find(dispatch_index);
  if (found == running_.end()) return;
  --dispatches_[found->second];
  running_.erase(found);
}

void KernelTagger::reset() {
  dispatches_.clear();
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

void KernelTagger::code_revalidated() {
  statistics_.changed +=
      kernels_.revalidate([this](std::uint64_t address, std::span<const std::byte> bytes) { return holds(address, bytes); });
}

bool KernelTagger::holds(std::uint64_t address, std::span<const std::byte> bytes) const {
  constexpr std::uint64_t kPage = 4096;  // mappings consist of whole pages
  while (!bytes.empty()) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), kPage - address % kPage));
    const std::byte* const now = vm_->pointer(address, size, isa::Access::execute);
    if (now == nullptr || std::memcmp(now, bytes.data(), size) != 0) return false;
    address += size;
    bytes = bytes.subspan(size);
  }
  return true;
}

void KernelTagger::tag(const Dispatch& dispatch) {
  std::optional<std::vector<Chain>> chains = take_from_file(dispatch);
  if (!chains) chains = find_chains(dispatch);
  statistics_.chains += chains->size();
  // Contents of the searched code, after instructions have been moved.
  SearchedCode code;
  const isa::FetchWords memory = fetch();
  const isa::ControlFlow flow(
      [&](std::uint64_t pc, std::array<std::uint32_t, 3>& words) {
        const std::size_t count = memory(pc, words);
        if (count > 0) code.add(pc, std::span(words).first(count));
        return count;
      },
      target_, dispatch.entry);
  code.join();
  std::vector<PacketCode> codes;
  for (const Chain& chain : *chains) codes.push_back(packet_code(chain, memory, target_));
  kernels_.add(dispatch.entry, std::make_shared<TaggedKernel>(std::move(*chains), std::move(codes)), std::move(code));
}

std::optional<std::vector<Chain>> KernelTagger::take_from_file(const Dispatch& dispatch) {
  if (source_ == nullptr) return std::nullopt;
  try {
    std::optional<KernelTags> tags = source_->find(*vm_, dispatch.entry);
    if (!tags) return std::nullopt;
    check_tags(*tags, fetch(), target_, "code object in GPU memory");
    ++statistics_.from_files;
    return std::move(tags->chains);
  } catch (const TagError& e) {
    constexpr const char* kKind = "kernels with damaged tags";
    if (++statistics_.damaged == 1) {
      guest_warning(kKind, "kernel {} runs without offload chains: {}", dispatch.kernel, e.what());
    } else {
      count_guest_mistake(kKind);
    }
    return std::vector<Chain>{};
  }
}

// No wavefront of the kernel is running, so its instructions may be changed. Copy and fill kernels of the runtime
// (BlitRecogniser::name() returns names that contain a space) are not changed, because they are recognised by their code.
std::vector<Chain> KernelTagger::find_chains(const Dispatch& dispatch) {
  FinalizedKernel finalized = finalize_kernel(fetch(), target_, dispatch.entry,
                                              {.move = parameters_.move && dispatch.kernel.find(' ') == std::string::npos,
                                               .take_apart = parameters_.take_apart,
                                               .interleaved = parameters_.interleaved,
                                               .vgprs = dispatch.needs.vgprs});
  for (const CodePatch& patch : finalized.patches) {
    // Copies word by word: all words are mapped, but possibly by different mappings.
    for (std::size_t i = 0; i < patch.words.size(); ++i)
      std::memcpy(vm_->pointer(patch.address + kWord * i, kWord, isa::Access::execute), &patch.words[i], kWord);
  }
  if (!finalized.patches.empty()) code_->revalidate();
  ++statistics_.found;
  if (!finalized.unknown.empty()) ++statistics_.unknown;
  statistics_.moved += finalized.moved;
  return std::move(finalized.chains);
}

}  // namespace lacuna

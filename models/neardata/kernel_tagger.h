// Tags kernels when they are dispatched, before their first wavefront: with the tags of their file (tag_source.h), or else with
// tags that the finalizer derives from the code in GPU memory, where the finalizer may also move instructions (ndc.move).
//
// Code that changes loses its tags at the next acquire, when a change takes effect, and is tagged again when it is next
// dispatched, unless wavefronts of the kernel are running: then the dispatch runs without tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/compute/dispatch.h"
#include "models/isa/analysis/code_walk.h"
#include "models/isa/decode/decoded_code.h"
#include "models/isa/target.h"
#include "models/neardata/near_data_parameters.h"
#include "models/neardata/tag_source.h"
#include "models/neardata/tagged_kernels.h"
#include "models/tlb/gpuvm.h"

namespace lacuna {

struct KernelTaggerStatistics {
  std::uint64_t from_files = 0;
  std::uint64_t found = 0;
  std::uint64_t unknown = 0;
  std::uint64_t damaged = 0;
  std::uint64_t changed = 0;
  std::uint64_t chains = 0;
  std::uint64_t moved = 0;

  void describe(StatisticsGroup& group) const;
};

class KernelTagger {
 public:
  KernelTagger(const NearDataParameters& parameters, isa::Target target, TaggedKernels& kernels)
      : parameters_(parameters), target_(target), kernels_(kernels) {}

  /// Attaches the memory that holds the kernels, and the instructions decoded from that memory.
  void attach(const GpuVm& vm, isa::DecodedCode& code) {
    vm_ = &vm;
    code_ = &code;
  }
  /// Sets the source of tags. Without a source, all kernels are tagged by the finalizer.
  void set_source(const TagSource& source) { source_ = &source; }

  /// Called between windows, when a kernel starts (before its first wavefront) and when it has ended.
  void started(const Dispatch& dispatch);
  void ended(std::uint64_t dispatch_index);
  /// Called when changes of code take effect: drops the tags of code that has changed.
  void code_revalidated();
  /// Drops all tags, because memory may contain other code. Called while no kernel runs.
  void reset();

  const KernelTaggerStatistics& statistics() const { return statistics_; }

 private:
  isa::FetchWords fetch() const;
  bool holds(std::uint64_t address, std::span<const std::byte> bytes) const;
  void tag(const Dispatch& dispatch);
  /// Chains from the kernel's file: empty if its tags are damaged; nullopt if the file has no tags for the kernel.
  std::optional<std::vector<Chain>> take_from_file(const Dispatch& dispatch);
  std::vector<Chain> find_chains(const Dispatch& dispatch);

  const NearDataParameters& parameters_;
  const isa::Target target_;
  TaggedKernels& kernels_;
  const GpuVm* vm_ = nullptr;
  isa::DecodedCode* code_ = nullptr;
  const TagSource* source_ = nullptr;
  std::unordered_map<std::uint64_t, unsigned> dispatches_;    ///< number of running dispatches by entry address; never iterated
  std::unordered_map<std::uint64_t, std::uint64_t> running_;  ///< entry address by index of running dispatch; never iterated
  KernelTaggerStatistics statistics_;
};

}  // namespace lacuna

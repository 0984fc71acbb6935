// Results that are not computed, because workgroups have been skipped (sampling.untimed = skipped). Refuses later kernels whose
// control flow depends on loaded data, because these data may be such results.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "models/command/dispatch_packet.h"
#include "models/isa/memory/memory_interface.h"
#include "models/isa/target.h"

namespace lacuna {

class SkippedResults final : public DispatchCheck {
 public:
  /// `memory` outlives this object.
  SkippedResults(const isa::MemoryInterface& memory, isa::Target target) : memory_(memory), target_(target) {}

  /// Records that workgroups of a kernel have been skipped, and warns if they are the first.
  void skipped(const Dispatch& dispatch);
  std::optional<std::string> refusal(Dispatch& dispatch) override;
  void reset() { first_.clear(); }

 private:
  /// Location in the code of the first condition that depends on loaded data; nullopt: there is none.
  const std::optional<std::string>& loaded_control(const Dispatch& dispatch);

  const isa::MemoryInterface& memory_;
  const isa::Target target_;
  std::string first_;  ///< name of the first kernel with skipped workgroups; "": there is none
  std::unordered_map<std::uint64_t, std::optional<std::string>> known_;  ///< loaded_control() by entry point
};

}  // namespace lacuna

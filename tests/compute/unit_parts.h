// The parts of a compute unit, connected as in ComputeUnit but without issue, windows and SystemC: a test calls the part that
// it tests. A cycle is a nanosecond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "models/compute/compute_unit_context.h"
#include "models/compute/issue/instruction_execution.h"
#include "models/compute/issue/instruction_fetch.h"
#include "models/compute/matrix/matrix_pipe.h"
#include "models/compute/memory/memory_pipe.h"
#include "models/compute/reports/fault_reports.h"
#include "models/compute/reports/unit_reports.h"
#include "models/compute/wavefront_events.h"
#include "models/compute/workgroup_lifecycle.h"
#include "tests/compute/instruction_words.h"
#include "tests/compute/recording_listener.h"

namespace lacuna::test {

/// Responds `latency` after a request or, while `defers` is set, when respond() is called.
class ResponsiveMemory : public MemoryTarget {
 public:
  Tick latency{};
  bool defers = false;
  const LatencyBreakdown* below = nullptr;  ///< latency breakdown reported with responses
  unsigned requests = 0;

  bool request(const MemoryRequest& request, Tick at, MemoryClient& client, std::uint32_t tag,
               MemoryResponse& response) override {
    ++requests;
    response = {.made = request.made, .arrived = at, .done = at + latency, .service = latency, .below = below};
    if (defers) pending_.push_back({&client, tag, response});
    return !defers;
  }
  /// Responds to all pending requests.
  void respond() {
    std::vector<Pending> pending;
    pending.swap(pending_);
    for (const Pending& p : pending) p.client->on_response(p.tag, p.response);
  }

 private:
  struct Pending {
    MemoryClient* client;
    std::uint32_t tag;
    MemoryResponse response;
  };
  std::vector<Pending> pending_;
};

/// Counts calls of release_from_sync().
struct RecordingSyncUnit : WaveSyncUnit {
  unsigned released = 0;
  void release_from_sync(const WavefrontTicket&, Tick) override { ++released; }
};

struct UnitParts {
  static constexpr std::uint64_t kCode = 0x10000;
  static constexpr std::uint64_t kData = 0x40000;
  static constexpr std::uint64_t kBytes = 0x1000;

  struct Options {
    TimingMode mode = TimingMode::loose;
    isa::Target target = isa::Target::gfx803;
    MatrixParameters matrix{};
    std::span<const LoadStageFactory> stages{};
  };

  UnitParts() : UnitParts(Options{}) {}
  explicit UnitParts(const Options& options)
      : code_bytes(kBytes),
        data(kBytes / 4),
        code(vm, options.target, options.matrix.codes()),
        context{.mode = options.mode,
                .target = options.target,
                .clock = Clock(Frequency{1'000'000'000}),
                .timestamp = Clock(Frequency{100'000'000}),
                .vm = vm,
                .code = code,
                .lds_banks = lds_banks,
                .listener = listener,
                .matrix = options.matrix,
                .stages = options.stages} {
    vm.map(kCode, kBytes, 0x1000'0000, code_bytes.data(), isa::Access::read | isa::Access::execute);
    vm.map(kData, kBytes, 0x2000'0000, reinterpret_cast<std::byte*>(data.data()), isa::Access::read_write);
    vector_memory.latency = Tick{100'000};
    memory.deferred().attach(performer);
  }

  /// A dispatch of workgroups of `wavefronts` full wavefronts whose program is `words`. s[0:1] is kData.
  std::unique_ptr<Dispatch> dispatch(const Words& words, unsigned wavefronts = 1) {
    std::memcpy(code_bytes.data(), words.data(), words.size() * 4);
    code.revalidate();
    auto made = std::make_unique<Dispatch>();
    made->kernel = "test";
    made->entry = kCode;
    made->grid = made->workgroup = {wavefronts * isa::kLanes, 1, 1};
    made->needs = {.wavefronts = wavefronts, .vgprs = 8, .agprs = 0, .sgprs = 32, .lds_bytes = 1024};
    made->descriptor.rsrc2 = 2u << 1;  // two user SGPRs: the kernarg pointer
    made->descriptor.properties = 1u << 3;
    made->packet.kernarg_address = kData;
    return made;
  }
  /// Launches a workgroup of the dispatch, whose wavefronts may issue from `at` on.
  ResidentWorkgroup& start(Dispatch& dispatch, Cycles at = Cycles{0}) {
    ResidentWorkgroup& group = *workgroups.launch(dispatch, 0, {});
    workgroups.start(group, at);
    return group;
  }
  /// Executes the wavefront's next instruction in `cycle`, and issues it to the memory pipe.
  void issue(WavefrontSlot& slot, Cycles cycle) {
    const isa::DecodedInstruction& instruction = *slot.next;
    slot.wave.access.bytes_per_lane = 0;
    execution.execute(slot, instruction, cycle);
    slot.when = cycle + Cycles{4};
    memory.issue(slot, instruction, cycle);
    execution.complete(slot, instruction, cycle);
  }
  /// Delivers the pending reports, as at the end of a window.
  void deliver() {
    for (unsigned i = 0; i < reports.count(); ++i) reports.perform(i);
    reports.clear();
  }
  static Tick tick(std::uint64_t cycle) { return Tick{cycle * 1000}; }

  ComputeUnitParameters parameters{};
  ComputeUnitPlace place{.index = 9, .shader_array = 1, .in_array = 2};
  GpuVm vm;
  std::vector<std::byte> code_bytes;
  std::vector<std::uint32_t> data;
  isa::DecodedCode code;
  LdsBanks lds_banks;
  RecordingListener listener;
  isa::DeferredAccessPerformer performer;
  ComputeUnitContext context;
  ResponsiveMemory vector_memory;
  ResponsiveMemory scalar_memory;
  ResponsiveMemory instruction_memory;
  RecordingSyncUnit sync_unit;
  WavefrontPool pool{parameters, context.target, context.memory};
  InstructionFetch fetch{context.clock, context.timed(), vm, code, instruction_memory, 0};
  MatrixPipe matrix{parameters, context.matrix, context.mode};
  UnitReports reports{place, context.clock, !context.timed(), listener, fetch};
  FaultReports faults{place, context, reports};
  WorkgroupLifecycle workgroups{parameters, place, context, pool, fetch, memory, matrix, reports};
  MemoryPipe memory{parameters, place, context, vector_memory, scalar_memory, workgroups};
  WavefrontEvents events{parameters, context, fetch, workgroups, reports, faults, sync_unit};
  InstructionExecution execution{context, fetch, events, faults};
};

}  // namespace lacuna::test

#include "models/compute/memory/scalar_memory.h"

namespace lacuna {

MemoryTokens::Token ScalarMemory::access(WavefrontSlot& slot, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  const Dispatch& dispatch = *slot.group->dispatch;
  const Tick wanted = clock_.ticks(cycle);
  const Tick start = unit_.reserve(wanted, clock_.period() * kIssueCycles);
  const bool write = access.operation != isa::MemoryAccess::Operation::load;
  KernelActivity* const activity = write ? nullptr : &slot.group->work->activity;
  const bool arguments = dispatch.launch_page(access.scalar_address);
  if (activity != nullptr && !arguments) activity->scalar_data_dwords += access.bytes_per_lane / 4U;
  const MemoryTokens::Token token = tokens_.begin(slot, Counters::lgkmcnt, start, start - wanted, parameters_.smem_latency,
                                                  activity, arguments ? LoadKind::scalar_arguments : LoadKind::scalar_data);
  const std::uint64_t first = access.scalar_address / kLineBytes;
  const std::uint64_t last = (access.scalar_address + access.bytes_per_lane - 1) / kLineBytes;
  Tick at = start;
  MemoryResponse response;
  for (std::uint64_t line = first; line <= last; ++line) {
    const std::uint64_t where = physical_.find(line * kLineBytes);
    if (where == PhysicalAddresses::kUnmapped) continue;
    ++requests_;
    tokens_.expect(token, 1);
    const std::uint64_t salt = dispatch.launch_page(line * kLineBytes) ? dispatch.page_salt : 0;
    port_.translate((line * kLineBytes) ^ salt, at);
    const MemoryRequest request{.address = where,
                                .made = at,
                                .bytes = kLineBytes,
                                .requester = requester_,
                                .kind = RequestKind::scalar,
                                .write = write,
                                .atomic = access.operation == isa::MemoryAccess::Operation::atomic,
                                .bypass_l1 = access.glc};
    if (port_.request(request, token, response)) tokens_.add(token, response, response.done);
    at += clock_.period();
  }
  return token;
}

}  // namespace lacuna

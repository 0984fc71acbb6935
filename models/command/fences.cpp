#include "models/command/fences.h"

#include <utility>

#include "models/command/loaded_code_object.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {

void Fences::set_caches(std::vector<CacheMaintenance*> l1, std::vector<CacheMaintenance*> l2) {
  l1_ = std::move(l1);
  l2_ = std::move(l2);
}

void Fences::acquire(hsa::FenceScope scope, bool past_l2) {
  if (scope == hsa::FenceScope::none) return;
  ++context_.statistics.acquires;
  invalidate_l1();
  if (past_l2) maintain_l2(&CacheMaintenance::write_back);
}

void Fences::release(hsa::FenceScope scope, bool past_l2) {
  if (scope == hsa::FenceScope::none) return;
  if (scope == hsa::FenceScope::system) ++context_.statistics.releases;
  if (past_l2) {
    maintain_l2(&CacheMaintenance::invalidate);
  } else if (scope == hsa::FenceScope::system) {
    maintain_l2(&CacheMaintenance::write_back);
  }
}

void Fences::maintain(const Pm4Actions& actions) {
  if (actions.invalidate_l1) invalidate_l1();
  if (actions.invalidate_l2) {
    maintain_l2(&CacheMaintenance::invalidate);
  } else if (actions.write_back_l2) {
    maintain_l2(&CacheMaintenance::write_back);
  }
}

void Fences::flush() {
  invalidate_l1();
  maintain_l2(&CacheMaintenance::invalidate);
}

void Fences::invalidate_l1() {
  context_.code.revalidate();
  if (context_.dispatcher.idle()) context_.code.collect();
  if (context_.mode == TimingMode::functional) return;
  const Tick now = kernel_time();
  Tick done = now;
  for (CacheMaintenance* cache : l1_) done = later(done, cache->invalidate(now));
  wait_for_time(done);
}

void Fences::maintain_l2(Tick (CacheMaintenance::*operation)(Tick)) {
  if (context_.mode == TimingMode::functional) return;
  const Tick now = kernel_time();
  Tick done = now;
  for (CacheMaintenance* cache : l2_) done = later(done, (cache->*operation)(now));
  wait_for_time(done);
}

void Fences::make_cold(Dispatch& dispatch) {
  dispatch.page_salt = (dispatch.index + 1) << 48;  // the salt occupies bits above those of virtual addresses
  if (const auto object = LoadedCodeObject::around(context_.vm, dispatch.packet.kernel_object)) {
    for (const Elf64_Phdr& segment : object->segments) {
      const bool code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
      if (code) drop_clean(object->base + segment.p_vaddr, segment.p_memsz);
    }
  }
  constexpr std::uint64_t kPage = GpuVm::kPage;
  if (dispatch.packet.kernarg_address != 0) drop_clean(dispatch.packet.kernarg_address / kPage * kPage, kPage);
  drop_clean(dispatch.packet_address, hsa::kPacketBytes);
}

void Fences::drop_clean(std::uint64_t address, std::uint64_t bytes) {
  const isa::MemoryWindow window = context_.vm.find(address);
  if (!window.contains(address, bytes)) return;
  for (CacheMaintenance* cache : l2_) cache->drop_clean(window.physical + (address - window.base), bytes);
}

}  // namespace lacuna

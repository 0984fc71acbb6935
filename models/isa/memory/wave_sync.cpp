// Executors of ds_gws_*. Semantics: Vega ISA manual, "DS_GWS_INIT" and following. The resource number is (M0[21:16] + offset)
// mod 64 (LLVM, SIInstrInfo and lowering of "llvm.amdgcn.ds.gws").
#include "models/isa/memory/wave_sync.h"

#include <bit>

#include "models/isa/memory/memory_lanes.h"

namespace lacuna::isa {

template <WaveSync kOperation>
void execute_wave_sync(const Instruction& i, Wavefront& w) {
  note_no_access(w);
  if (w.exec() == 0) return;  // no first lane provides the operand
  const unsigned resource = ((w.sgpr[kM0] >> 16) + static_cast<unsigned>(i.mem.offset)) & 0x3f;
  w.sync_value = 0;
  if (i.sources != 0) w.sync_value = w.planes(i.src[0])[std::countr_zero(w.exec())];
  w.raise(Event::wave_sync, static_cast<std::uint32_t>(kOperation) << 8 | resource);
}

template void execute_wave_sync<WaveSync::init>(const Instruction&, Wavefront&);
template void execute_wave_sync<WaveSync::barrier>(const Instruction&, Wavefront&);
template void execute_wave_sync<WaveSync::semaphore_v>(const Instruction&, Wavefront&);
template void execute_wave_sync<WaveSync::semaphore_add>(const Instruction&, Wavefront&);
template void execute_wave_sync<WaveSync::semaphore_p>(const Instruction&, Wavefront&);
template void execute_wave_sync<WaveSync::semaphore_release_all>(const Instruction&, Wavefront&);

}  // namespace lacuna::isa

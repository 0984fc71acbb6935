// Reads of a workspace whose slabs are in LDS (implicit lowering). Their completion is known when they issue: no operation is
// tracked, and entries have the times at which reads will retire.
#include "models/duplo/detection_unit.h"
#include "models/duplo/lds_reads.h"

namespace lacuna {

// LDS instructions of a wavefront complete in order: programs that wait for some of them rely on this order. Scalar loads,
// which lgkmcnt also counts, do not delay them.
LocalDataShare::Result DetectionUnit::access_lds(WavefrontSlot& slot, const isa::DecodedInstruction& instruction,
                                                 Cycles cycle) {
  Wavefront& w = wavefront(slot);
  if (w.convolution == nullptr || !w.convolution->lds) return pass_on_lds(slot, instruction, cycle);
  std::optional<ClassifiedLoad> found;
  if (instruction.registers.writes() > 0) {
    found = classify_lds_read(*w.convolution->lds, w.convolution->tags.ids(), slot.wave.access, memory_.addresses().lds,
                              slot.wave.sgpr[isa::kM0], instruction.registers.write(0));
  }
  if (found && found->tile && by_row()) found = ClassifiedLoad::none(DuploCount::form);
  if (found && found->tile) return read_tile(slot, w, instruction, *found->tile, cycle);
  if (found) count(slot, found->reason);
  LocalDataShare::Result result = pass_on_lds(slot, instruction, cycle);
  result.done = w.lds_done = later(w.lds_done, result.done);
  return result;
}

LocalDataShare::Result DetectionUnit::read_tile(WavefrontSlot& slot, Wavefront& w, const isa::DecodedInstruction& instruction,
                                                const TileLoad& tile, Cycles cycle) {
  const StagedAccess load{
      .access = slot.wave.access, .destination = instruction.registers.write(0), .pc = instruction.end - instruction.size};
  const Piece& piece = split(slot, *w.convolution, tile).front();
  count_look_ups(slot, w, 1);
  Handle entry = find(slot, w, load, piece, tile.zeros, cycle);
  LocalDataShare::Result result{};
  if (entry == LoadHistory::kNone) {
    result = pass_on_lds(slot, instruction, parameters_.l1 == DuploL1::after ? cycle + parameters_.latency : cycle);
    entry = allocate(slot, w, load, piece, tile.zeros, kNone);
    contents_[entry].ready = result.done;
  } else {
    const LdsCycles saved = lds().cycles(slot.wave.access, memory_.addresses().lds, instruction);
    count(slot, DuploCount::lds_cycles, saved.busy);
    statistics_.unread += std::uint64_t{load.destination.count} * isa::kLanes;
    const Cycles copy_cycles = rename(slot, w, load, piece, entry);
    history_.relay(entry);
    result.done = later(cycle + parameters_.latency, contents_[entry].ready) + copy_cycles;
  }
  result.done = w.lds_done = later(w.lds_done, result.done);
  history_.retire(entry, history_.generation(entry), clock_.ticks(result.done));
  return result;
}

}  // namespace lacuna

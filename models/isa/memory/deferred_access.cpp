#include "models/isa/memory/deferred_access.h"

#include <algorithm>

#include "models/isa/memory/memory_lanes.h"

namespace lacuna::isa {
namespace {

bool is_vector_operand(const Operand& operand) {
  return operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
}

}  // namespace

void DeferredAccess::capture(const Instruction& instruction, Wavefront& wave) {
  instruction_ = &instruction;
  wave_ = &wave;
  registers_ = wave;
  source_count_ = 0;
  std::uint32_t* to = planes_.data();
  for (unsigned i = 0; i < instruction.sources; ++i) {
    const Operand& source = instruction.src[i];
    if (!is_vector_operand(source)) continue;
    sources_[source_count_++] = {source.kind, source.index, source.words};
    to = std::copy_n(wave.planes(source), std::size_t{source.words} * kLanes, to);
  }
}

DeferredAccessPerformer::DeferredAccessPerformer() : vgprs_(kRegisters * kLanes), agprs_(kRegisters * kLanes) {}

std::uint32_t* DeferredAccessPerformer::plane(OperandKind file, unsigned index) {
  return (file == OperandKind::agpr ? agprs_ : vgprs_).data() + std::size_t{index} * kLanes;
}

void DeferredAccessPerformer::perform(DeferredAccess& access) {
  const Instruction& instruction = *access.instruction_;
  Wavefront& wave = *access.wave_;
  Wavefront& stand_in = access.registers_;
  const std::array<std::uint32_t, 128> before = stand_in.sgpr;
  stand_in.vgpr = vgprs_.data();
  stand_in.agpr = agprs_.data();
  stand_in.addresses = &addresses_;
  stand_in.stores = nullptr;
  stand_in.event = Event::none;
  // Copies the destination, parts of which the instruction does not write: inactive lanes, halves of registers. Sources are
  // copied afterwards, since they may overlap the destination.
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const Operand& to = instruction.dst[i];
    if (is_vector_operand(to)) std::copy_n(wave.planes(to), std::size_t{to.words} * kLanes, plane(to.kind, to.index));
  }
  const std::uint32_t* from = access.planes_.data();
  for (unsigned i = 0; i < access.source_count_; ++i) {
    const DeferredAccess::Planes& source = access.sources_[i];
    std::copy_n(from, std::size_t{source.count} * kLanes, plane(source.file, source.first));
    from += std::size_t{source.count} * kLanes;
  }
  instruction.execute(instruction, stand_in);

  // Only active lanes are written back: the other path of a branch may have written inactive lanes in the meantime.
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const Operand& to = instruction.dst[i];
    if (!is_vector_operand(to)) continue;
    for (unsigned k = 0; k < to.words; ++k) {
      const std::uint32_t* result = plane(to.kind, to.index + k);
      std::uint32_t* destination = wave.planes(to) + std::size_t{k} * kLanes;
      for_lanes(stand_in.exec(), [&](unsigned l) { destination[l] = result[l]; });
    }
  }
  // A scalar atomic operation returns the old value in its data registers.
  for (unsigned k = 0; k < before.size(); ++k) {
    if (stand_in.sgpr[k] != before[k]) wave.sgpr[k] = stand_in.sgpr[k];
  }
}

}  // namespace lacuna::isa

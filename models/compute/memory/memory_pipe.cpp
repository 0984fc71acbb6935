#include "models/compute/memory/memory_pipe.h"

#include <algorithm>
#include <utility>

namespace lacuna {

MemoryPipe::MemoryPipe(const ComputeUnitParameters& parameters, ComputeUnitPlace place, const ComputeUnitContext& context,
                       MemoryTarget& vector, MemoryTarget& scalar, Listener& listener)
    : listener_(listener),
      waits_(context.target),
      tokens_(context.clock, *this),
      vector_(parameters, context.clock, context.vm, tokens_, vector, static_cast<std::uint16_t>(place.index),
              context.vector_workspace),
      scalar_(parameters, context.clock, context.vm, tokens_, scalar, static_cast<std::uint16_t>(place.index)),
      lds_(parameters, context.clock, context.lds_banks),
      deferred_(context.clock, tokens_) {
  if (!context.timed()) return;
  const LoadStageContext stage_context{.place = place,
                                       .parameters = parameters,
                                       .clock = context.clock,
                                       .vm = context.vm,
                                       .tokens = tokens_,
                                       .memory = vector_,
                                       .socket = vector};
  for (const LoadStageFactory& make : context.stages) {
    if (auto stage = make(stage_context)) stages_.push_back(std::move(stage));
  }
  for (std::size_t i = stages_.size(); i-- > 0;) {
    stages_[i]->enter_chain(static_cast<unsigned>(i), first_stage_, lds_);
    first_stage_ = stages_[i].get();
  }
}

void MemoryPipe::attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar) {
  vector_.port().attach(vector);
  for (const auto& stage : stages_) stage->attach(vector);
  scalar_.port().attach(scalar);
}

bool MemoryPipe::serves(const Dispatch& dispatch) const {
  return std::any_of(stages_.begin(), stages_.end(), [&](const auto& stage) { return stage->serves(dispatch); });
}

void MemoryPipe::issue(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  switch (instruction.unit) {
    case isa::Unit::vmem:
      issue_vector(slot, instruction, cycle);
      break;
    case isa::Unit::smem:
      issue_scalar(slot, instruction, cycle);
      break;
    case isa::Unit::lds:
      if (slot.staged) [[unlikely]] {
        const LocalDataShare::Result result = first_stage_->access_lds(slot, instruction, cycle);
        slot.lgkmcnt.add_out_of_order(result.done, result.delays);
      } else {
        issue_lds(slot, lds_cycles(slot.wave.access, instruction), cycle);
      }
      break;
    default:
      break;
  }
}

void MemoryPipe::issue_vector(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  const isa::MemoryAccess& access = slot.wave.access;
  const Counters counters = instruction.format == isa::Format::flat ? Counters::both : Counters::vmcnt;
  const bool global = access.bytes_per_lane != 0 && access.lanes != 0;
  const MemoryTokens::Token token = !global        ? vector_.no_access(slot, counters, cycle)
                                    : !slot.staged ? vector_.access(slot, access, counters, cycle)
                                                   : first_stage_->access(slot, instruction, counters, cycle);
  if (first_stage_ != nullptr && global && access.operation != isa::MemoryAccess::Operation::load) [[unlikely]]
    notify_of_store(slot, instruction, cycle);
  if (access.bytes_per_lane != 0 && access.lds_lanes != 0) {
    const LocalDataShare::Result local = lds_.access(lds_cycles(access, instruction), cycle);
    tokens_.include(token, local.done, local.delays);
  }
  if (access.bytes_per_lane != 0 && access.deferred) [[unlikely]]
    deferred_.defer(slot, instruction, token, cycle);
  tokens_.issued(token);
}

void MemoryPipe::issue_scalar(WavefrontSlot& slot, const isa::DecodedInstruction& instruction, Cycles cycle) {
  if (slot.wave.access.bytes_per_lane == 0) {
    slot.lgkmcnt.add_out_of_order(cycle + Cycles{1});
    return;
  }
  const MemoryTokens::Token token = scalar_.access(slot, cycle);
  if (first_stage_ != nullptr && slot.wave.access.operation != isa::MemoryAccess::Operation::load) [[unlikely]]
    notify_of_store(slot, instruction, cycle);
  if (slot.wave.access.deferred) [[unlikely]]
    deferred_.defer(slot, instruction, token, cycle);
  tokens_.issued(token);
}

// A program may end without waiting for its stores; the workgroup is done only when they are performed.
void MemoryPipe::end_wavefront(WavefrontSlot& slot, Cycles cycle) {
  ResidentWorkgroup& group = *slot.group;
  group.end = later(group.end, later(slot.vmcnt.latest_known(cycle), slot.lgkmcnt.latest_known(cycle)));
  tokens_.wavefront_ended(slot);
  drop_wavefront(slot);
}

void MemoryPipe::drop_wavefront(WavefrontSlot& slot) {
  for (const auto& stage : stages_) stage->wavefront_ended(slot);
}

void MemoryPipe::retire(Tick horizon) {
  vector_.retire(horizon);
  scalar_.retire(horizon);
  lds_.retire(horizon);
  for (const auto& stage : stages_) stage->retire(horizon);
  for (MemoryPort* port : {&vector_.port(), &scalar_.port()}) {
    if (port->tlb() != nullptr) port->tlb()->retire(horizon);
  }
}

void MemoryPipe::reset() {
  tokens_.reset();
  vector_.reset();
  for (const auto& stage : stages_) stage->reset();
  scalar_.reset();
  lds_.reset();
}

}  // namespace lacuna

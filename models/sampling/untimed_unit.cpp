#include "models/sampling/untimed_unit.h"

#include "models/common/time/tlm_time.h"

namespace lacuna {

namespace {

// Instructions that a wavefront executes before others continue: many, so that its registers stay in the host's caches.
constexpr Cycles kRoundOfUnit{10'000};

ComputeUnitContext without_timing(ComputeUnitContext context, ComputeUnitListener& listener, LdsBanks& banks) {
  return {.mode = TimingMode::functional,
          .target = context.target,
          .clock = context.clock,
          .timestamp = context.timestamp,
          .vm = context.vm,
          .code = context.code,
          .lds_banks = banks,
          .listener = listener,
          .matrix = context.matrix,
          .fine_grained_float_atomics = context.fine_grained_float_atomics,
          .memory = context.memory};
}

}  // namespace

UntimedUnit::UntimedUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, ComputeUnitContext context,
                         Dispatcher& dispatcher)
    : sc_module(name),
      dispatcher_(dispatcher),
      clock_(context.clock),
      windows_("windows", context.clock, TimingMode::functional, Cycles{1}),
      unit_("cu", parameters, {.index = 0, .shader_array = 0, .in_array = 0}, without_timing(context, *this, lds_banks_)) {
  unit_.vector_port.bind(vector_);
  unit_.scalar_port.bind(scalar_);
  unit_.instruction_port.bind(instruction_);
  for (Target* const target : {&vector_, &scalar_, &instruction_}) target->register_b_transport(this, &UntimedUnit::ignore);
  windows_.add_group({&unit_});
}

void UntimedUnit::ignore(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void UntimedUnit::reset() { unit_.reset(); }

std::uint64_t UntimedUnit::execute(Dispatch& dispatch, std::uint64_t count, std::uint64_t most_instructions) {
  executing_ = true;
  ended_ = 0;
  std::uint64_t launched = 0;
  const Cycles begin = later(windows_.end(), clock_.ceil(kernel_time()));
  const std::uint64_t limit = unit_.statistics().wavefront_instructions + most_instructions;
  for (Cycles until = begin + kRoundOfUnit; ended_ < count && !dispatch.failed; until += kRoundOfUnit) {
    for (; launched < count && unit_.launch(dispatch, dispatch.next_workgroup, kernel_time(), {}); ++launched)
      ++dispatch.next_workgroup;
    const std::uint64_t before = unit_.statistics().wavefront_instructions;
    unit_.run_untimed(until);
    const std::uint64_t now = unit_.statistics().wavefront_instructions;
    if (now > limit || now == before) break;  // the workgroups wait for something
  }
  executing_ = false;
  return ended_;
}

void UntimedUnit::workgroup_done(const ComputeUnitPlace&, Dispatch& dispatch, std::span<const std::uint32_t>, Tick) {
  ++ended_;
  if (executing_) {
    ++dispatch.finished_workgroups;
  } else {
    dispatcher_.workgroup_ended_elsewhere(dispatch);
  }
}

void UntimedUnit::wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick) {
  dispatcher_.wavefront_fault(dispatch, fault, kernel_time());
}

void UntimedUnit::wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick) {
  dispatcher_.wavefront_warning(dispatch, fault, kernel_time());
}

void UntimedUnit::interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick) {
  dispatcher_.interrupt_message(dispatch, m0, kernel_time());
}

bool UntimedUnit::wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick) {
  return dispatcher_.wave_sync(request, wavefront, kernel_time());
}

}  // namespace lacuna

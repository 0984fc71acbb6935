#include "models/compute/compute_unit.h"

#include "models/common/tlm_time.h"
#include "models/compute/compute_unit_state.h"
#include "models/isa/host_fp.h"

namespace lacuna {

void ComputeUnitStatistics::describe(StatisticsGroup& g) const {
  const auto unit = [this](isa::Unit u) -> const std::uint64_t& { return issued[static_cast<std::size_t>(u)]; };
  g.add("wavefront_instructions", wavefront_instructions, "instructions issued", "wavefront instructions");
  g.add("thread_instructions", thread_instructions,
        "active lanes of vector instructions; scalar and control instructions count one", "thread instructions");
  g.add("wavefronts", wavefronts, "wavefronts run", "wavefronts");
  g.add("workgroups", workgroups, "workgroups run", "workgroups");
  g.add("issued_valu", unit(isa::Unit::valu), "vector ALU instructions", "wavefront instructions");
  g.add("issued_salu", unit(isa::Unit::salu), "scalar ALU instructions", "wavefront instructions");
  g.add("issued_smem", unit(isa::Unit::smem), "scalar memory instructions", "wavefront instructions");
  g.add("issued_vmem", unit(isa::Unit::vmem), "vector memory instructions", "wavefront instructions");
  g.add("issued_lds", unit(isa::Unit::lds), "LDS instructions", "wavefront instructions");
  g.add("issued_branch", unit(isa::Unit::branch), "branches", "wavefront instructions");
  g.add("issued_special", unit(isa::Unit::special), "waits, barriers, ends and other control", "wavefront instructions");
  g.add("vector_requests", vector_requests, "line transactions of the vector memory unit", "requests");
  g.add("scalar_requests", scalar_requests, "line transactions of the scalar memory unit", "requests");
  g.add("instruction_requests", instruction_requests, "instruction line fetches", "requests");
  g.add("valu_busy_cycles", valu_busy_cycles, "cycles in which SIMDs execute, summed over SIMDs", "cycles");
  g.add("lds_conflict_cycles", lds_conflict_cycles, "cycles that the LDS is busy only because lanes meet in a bank", "cycles");
}

ComputeUnit::ComputeUnit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, TimingMode mode, Clock clock,
                         Clock timestamp, Cycles quantum, ComputeUnitPlace place, isa::Target target, GpuVm& vm,
                         isa::DecodedCode& code, LdsBanks& lds_banks, ComputeUnitListener& listener,
                         std::pmr::memory_resource& memory)
    : sc_module(name),
      vector_port("vector_port"),
      scalar_port("scalar_port"),
      instruction_port("instruction_port"),
      parameters_(parameters),
      mode_(mode),
      clock_(clock),
      timestamp_(timestamp),
      // Without timing there is nobody to keep in step with: wavefronts run long enough to stay in the host's caches.
      quantum_(mode == TimingMode::reference    ? Cycles{1}
               : mode == TimingMode::functional ? later(quantum, Cycles{10'000})
                                                : quantum),
      place_(place),
      target_(target),
      vmcnt_limit_((1u << isa::traits(target).vmcnt_bits) - 1),
      vm_(vm),
      code_(code),
      lds_banks_(lds_banks),
      listener_(listener),
      wake_("wake"),
      memory_(memory),
      lds_(parameters.lds.n, &memory),
      lds_granules_(static_cast<unsigned>(parameters.lds.n / parameters.lds_granule.n)),
      reorder_(parameters.reorder_entries),
      coalescer_(parameters.transaction_bytes) {
  for (unsigned i = 0; i < parameters_.simds; ++i) {
    simds_.push_back(std::make_unique<Simd>(i, parameters_, isa::traits(target).vgpr_granule, memory_));
  }
  // A workgroup has at least one wavefront, so there can be no more workgroups than slots.
  for (unsigned i = 0; i < parameters_.simds * parameters_.wavefronts_per_simd; ++i) {
    workgroups_.push_back(std::make_unique<Workgroup>());
  }
  SC_HAS_PROCESS(ComputeUnit);
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

ComputeUnit::~ComputeUnit() = default;

void ComputeUnit::attach_caches(CacheMaintenance* l1_vector, CacheMaintenance* l1_scalar, CacheMaintenance* l1_instruction) {
  l1_vector_ = l1_vector;
  l1_scalar_ = l1_scalar;
  l1_instruction_ = l1_instruction;
}

void ComputeUnit::attach_tlbs(TranslationLevel* vector, TranslationLevel* scalar, TranslationLevel* instruction) {
  vector_tlb_ = vector;
  scalar_tlb_ = scalar;
  instruction_tlb_ = instruction;
}

void ComputeUnit::set_apertures(std::uint64_t shared, std::uint64_t private_base) {
  shared_aperture_ = shared;
  private_aperture_ = private_base;
}

void ComputeUnit::run() {
  const Tick now = to_tick(sc_core::sc_time_stamp());
  vmem_port_.retire(now);
  lds_port_.retire(now);
  smem_port_.retire(now);
  for (TranslationLevel* tlb : {vector_tlb_, scalar_tlb_, instruction_tlb_}) {
    if (tlb != nullptr) tlb->retire(now);
  }
  const Cycles from = clock_.ceil(now);
  const Cycles limit = from + quantum_;
  if (mode_ == TimingMode::functional) {
    run_functional(from, limit);
  } else {
    run_timed(from, limit);
  }
  isa::restore_host_fp();
  if (active_wavefronts_ == 0) return;
  Cycles next = kNeverCycles;
  for (const auto& simd : simds_) next = simd->earliest < next ? simd->earliest : next;
  if (next == kNeverCycles) return;  // everyone waits for something that wakes us
  next = later(next, limit);
  wake_.notify(to_sc_time(clock_.ticks(next) - now));
}

}  // namespace lacuna

// Compute units on memories of fixed latency, for programs given as machine code.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <systemc>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/common/time/tlm_time.h"
#include "models/compute/compute_unit.h"
#include "models/compute/windows.h"
#include "models/isa/decode/decoded_code.h"
#include "tests/compute/instruction_words.h"
#include "tests/compute/recording_listener.h"
#include "tests/harness/harness.h"

namespace lacuna::test {

/// Machine code of consecutive instructions, each a word or an array of words.
template <typename... Parts>
Words program(const Parts&... parts) {
  Words all;
  const auto add = [&all](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
      all.push_back(part);
    } else {
      all.insert(all.end(), std::begin(part), std::end(part));
    }
  };
  (add(parts), ...);
  return all;
}

/// Responds to every transaction after `latency`, counts transactions, and records the addresses of vector transactions.
class FixedLatencyMemory : public sc_core::sc_module {
 public:
  explicit FixedLatencyMemory(sc_core::sc_module_name module_name) : sc_module(module_name) {
    for (auto* socket : {&vector, &scalar, &instruction}) socket->register_b_transport(this, &FixedLatencyMemory::b_transport);
  }
  tlm_utils::simple_target_socket<FixedLatencyMemory> vector{"vector"};
  tlm_utils::simple_target_socket<FixedLatencyMemory> scalar{"scalar"};
  tlm_utils::simple_target_socket<FixedLatencyMemory> instruction{"instruction"};
  Tick latency{100'000};
  std::vector<std::uint64_t> vector_addresses;
  /// Maximum time by which requests were made ahead of SystemC time; a huge value if a request was made for a past time.
  Tick furthest_ahead{};
  unsigned requests = 0;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++requests;
    furthest_ahead = later(furthest_ahead, to_tick(delay));
    if (payload.get_extension<MemoryAttributes>()->kind == RequestKind::vector)
      vector_addresses.push_back(payload.get_address());
    delay += to_sc_time(latency);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// Returns every translation immediately, and records the requests.
struct RecordingTranslation : TranslationLevel {
  std::vector<std::uint64_t> addresses;
  Tick translate(std::uint64_t address, Tick at) override {
    addresses.push_back(address);
    return at;
  }
  void retire(Tick) override {}
};

/// Compute units at 1 GHz that share 64 KiB each of code and data memory, mapped at kCode (read, execute) and kData (read,
/// write).
class ComputeUnitBench : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t kCode = 0x10000;
  static constexpr std::uint64_t kData = 0x40000;
  static constexpr std::uint64_t kBytes = 0x10000;

  explicit ComputeUnitBench(sc_core::sc_module_name module_name)
      : sc_module(module_name), code_bytes_(kBytes), data_bytes_(kBytes), code_(vm, isa::Target::gfx803) {
    vm.map(kCode, kBytes, 0x1000'0000, code_bytes_.data(), isa::Access::read | isa::Access::execute);
    vm.map(kData, kBytes, 0x2000'0000, data_bytes_.data(), isa::Access::read_write);
    const ComputeUnitParameters standard;
    ComputeUnitParameters last_served;
    last_served.simd_policy = SimdPolicy::last_served;
    ComputeUnitParameters staged = last_served;
    staged.valu_decode_cycles = Cycles{1};
    staged.special_cycles = Cycles{1};
    staged.vmem_cycles = Cycles{8};
    staged.lds_conflicts = false;
    staged.reorder_entries = 2;
    const struct {
      TimingMode mode;
      const ComputeUnitParameters& parameters;
      Cycles window;
    } kinds[] = {{TimingMode::loose, standard, Cycles{200}},
                 {TimingMode::loose, standard, Cycles{1}},
                 {TimingMode::functional, standard, Cycles{200}},
                 {TimingMode::loose, last_served, Cycles{200}},
                 {TimingMode::loose, staged, Cycles{1}}};
    for (const auto& kind : kinds) add_unit(kind.mode, kind.parameters, kind.window);
    staged_unit().attach_tlbs(&vector_tlb, &scalar_tlb, &instruction_tlb);
  }

  /// Adds a unit with separate memory and windows. Call it while the bench is built.
  ComputeUnit& add_unit(TimingMode mode, const ComputeUnitParameters& parameters, Cycles window,
                        std::span<const LoadStageFactory> stages = {}) {
    const std::string number = std::to_string(units.size());
    memories.push_back(std::make_unique<FixedLatencyMemory>(("memory" + number).c_str()));
    const Clock clock(Frequency{1'000'000'000});
    units.push_back(std::make_unique<ComputeUnit>(("unit" + number).c_str(), parameters, ComputeUnitPlace{},
                                                  ComputeUnitContext{.mode = mode,
                                                                     .target = isa::Target::gfx803,
                                                                     .clock = clock,
                                                                     .timestamp = Clock(Frequency{100'000'000}),
                                                                     .vm = vm,
                                                                     .code = code_,
                                                                     .lds_banks = lds_banks_,
                                                                     .listener = listener,
                                                                     .stages = stages}));
    windows.push_back(std::make_unique<Windows>(("windows" + number).c_str(), clock, mode, window));
    windows.back()->add_group({units.back().get()});
    units.back()->vector_port.bind(memories.back()->vector);
    units.back()->scalar_port.bind(memories.back()->scalar);
    units.back()->instruction_port.bind(memories.back()->instruction);
    return *units.back();
  }

  ComputeUnit& loose() { return *units[0]; }
  ComputeUnit& in_short_windows() { return *units[1]; }
  ComputeUnit& functional() { return *units[2]; }
  ComputeUnit& last_served() { return *units[3]; }
  /// A unit like last_served(), with pipeline stages and limits that the other units do not have: see the constructor.
  ComputeUnit& staged_unit() { return *units[4]; }

  std::uint32_t* data() { return reinterpret_cast<std::uint32_t*>(data_bytes_.data()); }

  /// A dispatch of `wavefronts` full wavefronts in one workgroup whose program is `words`.
  std::unique_ptr<Dispatch> program(const std::vector<std::uint32_t>& words, unsigned wavefronts = 1) {
    std::fill(code_bytes_.begin(), code_bytes_.end(), std::byte{0});
    std::memcpy(code_bytes_.data(), words.data(), words.size() * 4);
    code_.revalidate();
    auto d = std::make_unique<Dispatch>();
    d->kernel = "test";
    d->entry = kCode;
    d->grid = {wavefronts * isa::kLanes, 1, 1};
    d->workgroup = d->grid;
    d->needs = {.wavefronts = wavefronts, .vgprs = 8, .agprs = 0, .sgprs = 32, .lds_bytes = 1024};
    d->descriptor.rsrc2 = 2u << 1;  // two user SGPRs: the kernarg pointer
    d->descriptor.properties = 1u << 3;
    d->packet.kernarg_address = kData;
    return d;
  }

  /// Sets the data memory to its initial contents, as before any program.
  void clear_data() { std::fill(data_bytes_.begin(), data_bytes_.end(), std::byte{0}); }

  /// Runs one workgroup to its end on `unit`. Returns the cycles from launch to the end; 0 if it did not fit, faulted, or did
  /// not end within 100 us.
  std::uint64_t run(ComputeUnit& unit, Dispatch& dispatch) {
    listener = {};
    wait_for(Tick{10'000'000 - now().ps % 10'000'000});
    const Tick start = now();
    if (!unit.launch(dispatch, 0, start, {})) return 0;
    for (int i = 0; i < 100 && listener.done.empty() && listener.faults.empty(); ++i) wait_for(Tick{1'000'000});
    if (!listener.faults.empty()) unit.abort(dispatch);
    dispatch.collect();
    return listener.done.empty() ? 0 : (listener.done[0] - start).ps / 1000;
  }

  GpuVm vm;
  RecordingListener listener;
  RecordingTranslation vector_tlb;  // TLB of staged_unit()
  RecordingTranslation scalar_tlb;
  RecordingTranslation instruction_tlb;
  std::vector<std::unique_ptr<ComputeUnit>> units;
  std::vector<std::unique_ptr<FixedLatencyMemory>> memories;
  std::vector<std::unique_ptr<Windows>> windows;

 private:
  std::vector<std::byte> code_bytes_;
  std::vector<std::byte> data_bytes_;
  isa::DecodedCode code_;
  LdsBanks lds_banks_;
};

}  // namespace lacuna::test

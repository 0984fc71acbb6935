#include "models/sampling/untimed_units.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <string>

#include "models/common/time/tlm_time.h"
#include "models/compute/windows.h"
#include "models/isa/memory/store_buffer.h"

namespace lacuna {

namespace {

// Units among which a chunk is divided: enough for a host with this number of processors. More units would need more memory.
// Results of kernels that race depend on this number.
constexpr unsigned kUnits = 8;
// Instructions of a wavefront before others continue: many, so that its registers stay in the host's caches.
constexpr Cycles kRoundOfUnit{10'000};
// Size of a chunk, per unit: long compared with the time that threads need to begin and end a chunk together, and with few
// enough stores that these stay in the host's caches.
constexpr double kInstructionsOfChunk = 400'000;
constexpr std::size_t kLinesOfChunk = 8'192;
// The first chunk is smaller by this factor, since the number of stores is not known yet. Each later chunk is at most twice as
// large as the chunk before it.
constexpr double kFirstChunk = 16;

ComputeUnitContext without_timing(const ComputeUnitContext& context, ComputeUnitListener& listener, LdsBanks& banks) {
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

class UntimedUnits::Unit final : public sc_core::sc_module, private ComputeUnitListener {
 public:
  Unit(sc_core::sc_module_name name, const ComputeUnitParameters& parameters, const ComputeUnitContext& context, unsigned group,
       Dispatcher& dispatcher)
      : sc_module(name),
        dispatcher_(dispatcher),
        clock_(context.clock),
        windows_("windows", context.clock, TimingMode::functional, Cycles{1}),
        unit_("cu", parameters, {.index = 0, .shader_array = 0, .in_array = 0}, without_timing(context, *this, lds_banks_)) {
    unit_.vector_port.bind(vector_);
    unit_.scalar_port.bind(scalar_);
    unit_.instruction_port.bind(instruction_);
    for (Target* const target : {&vector_, &scalar_, &instruction_}) target->register_b_transport(this, &Unit::ignore);
    windows_.add_group({&unit_});
    unit_.attach_untimed(group, stores_);
  }

  ComputeUnit& compute_unit() { return unit_; }
  const ComputeUnit& compute_unit() const { return unit_; }
  /// Number of lines that the unit has stored to in the latest chunk.
  std::size_t lines_of_chunk() const { return lines_; }

  /// Assigns workgroups [first, first + count) of a dispatch. Execution stops after the round in which the unit exceeds
  /// `most_instructions`.
  void begin(Dispatch& dispatch, std::uint64_t first, std::uint64_t count, std::uint64_t most_instructions) {
    dispatch_ = &dispatch;
    next_ = first;
    end_ = first + count;
    ended_ = 0;
    executing_ = true;
    limit_ = unit_.statistics().wavefront_instructions + most_instructions;
    until_ = later(windows_.end(), clock_.ceil(kernel_time()));
    unit_.set_buffered(true, until_);
  }
  /// On any thread: executes the workgroups until they have ended, until those left are held, or until the limit on
  /// instructions.
  void run_buffered() {
    run([this] { unit_.run_buffered(until_); });
  }
  void write_stores() {
    lines_ = stores_.lines();
    stores_.flush();
  }
  /// Delivers the reports, then continues the wavefronts that have been held; their accesses and reports take effect
  /// immediately.
  void complete() {
    const bool held = !unit_.idle();
    windows_.deliver_reports();
    unit_.set_buffered(false, until_);
    if (held) run([this] { unit_.run_untimed(until_); });
  }
  /// Returns the number of workgroups that have ended since begin(). The remaining workgroups, if any, continue in simulated
  /// time.
  std::uint64_t end() {
    executing_ = false;
    if (!unit_.idle()) windows_.resume(0);
    return ended_;
  }
  void reset() { unit_.reset(); }

 private:
  // `advance`: executes resident wavefronts up to `until_`.
  template <typename Advance>
  void run(const Advance& advance) {
    while (!dispatch_->failed) {
      for (; next_ < end_ && unit_.launch_untimed(*dispatch_, next_, until_); ++next_) {
      }
      const std::uint64_t before = unit_.statistics().wavefront_instructions;
      until_ += kRoundOfUnit;
      advance();
      const std::uint64_t now = unit_.statistics().wavefront_instructions;
      if (now > limit_ || now == before || (next_ == end_ && unit_.idle())) return;
    }
  }

  void workgroup_done(const ComputeUnitPlace&, Dispatch& dispatch, std::span<const std::uint32_t>, Tick) override {
    ++ended_;
    if (executing_) {
      ++dispatch.finished_workgroups;
      dispatch.end = later(dispatch.end, kernel_time());
    } else {
      for (; next_ < end_ && unit_.launch(dispatch, next_, kernel_time(), {}); ++next_) {
      }
      dispatcher_.workgroup_ended_elsewhere(dispatch);
    }
  }
  void wavefront_fault(Dispatch& dispatch, const WavefrontFault& fault, Tick) override {
    dispatcher_.wavefront_fault(dispatch, fault, kernel_time());
  }
  void wavefront_warning(Dispatch& dispatch, const WavefrontFault& fault, Tick) override {
    dispatcher_.wavefront_warning(dispatch, fault, kernel_time());
  }
  void interrupt_message(Dispatch& dispatch, std::uint32_t m0, Tick) override {
    dispatcher_.interrupt_message(dispatch, m0, kernel_time());
  }
  bool wave_sync(const isa::WaveSyncRequest& request, const WavefrontTicket& wavefront, Tick) override {
    return dispatcher_.wave_sync(request, wavefront, kernel_time());
  }
  void ignore(tlm::tlm_generic_payload& payload, sc_core::sc_time&) { payload.set_response_status(tlm::TLM_OK_RESPONSE); }

  using Target = tlm_utils::simple_target_socket<Unit>;
  Dispatcher& dispatcher_;
  const Clock clock_;
  Target vector_{"vector"};  // never used: an untimed unit makes no requests
  Target scalar_{"scalar"};
  Target instruction_{"instruction"};
  Windows windows_;
  LdsBanks lds_banks_;
  isa::StoreBuffer stores_;
  ComputeUnit unit_;
  Dispatch* dispatch_ = nullptr;
  std::uint64_t next_ = 0;   ///< next workgroup to be launched
  std::uint64_t end_ = 0;    ///< end of the assigned workgroups
  std::uint64_t limit_ = 0;  ///< value of the unit's instruction counter at which execution ends
  std::uint64_t ended_ = 0;
  std::size_t lines_ = 0;
  Cycles until_{};
  bool executing_ = false;
};

UntimedUnits::UntimedUnits(sc_core::sc_module_name name, const ComputeUnitParameters& parameters,
                           const ComputeUnitContext& context, unsigned first_group, Dispatcher& dispatcher,
                           WorkerThreads* threads)
    : sc_module(name), dispatcher_(dispatcher), first_group_(first_group), threads_(threads) {
  for (unsigned i = 0; i < kUnits; ++i) {
    units_.push_back(
        std::make_unique<Unit>(("unit_" + std::to_string(i)).c_str(), parameters, context, first_group + i, dispatcher));
    numbers_.push_back(i);
  }
}

UntimedUnits::~UntimedUnits() = default;

std::vector<ComputeUnit*> UntimedUnits::units() const {
  std::vector<ComputeUnit*> result;
  for (const auto& unit : units_) result.push_back(&unit->compute_unit());
  return result;
}

InstructionMix UntimedUnits::issued() const {
  InstructionMix sum{};
  for (const auto& unit : units_) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += unit->compute_unit().statistics().issued[i];
  }
  return sum;
}

void UntimedUnits::reset() {
  for (const auto& unit : units_) unit->reset();
}

void UntimedUnits::abort(const Dispatch& dispatch) {
  for (const auto& unit : units_) unit->compute_unit().abort(dispatch);
}

bool UntimedUnits::idle() const {
  return std::all_of(units_.begin(), units_.end(), [](const auto& unit) { return unit->compute_unit().idle(); });
}

std::uint64_t UntimedUnits::execute(Dispatch& dispatch, std::uint64_t count, double instructions_of_each) {
  if (!idle()) return 0;
  const double each = std::max(1.0, instructions_of_each);
  const auto most = static_cast<std::uint64_t>(std::max(1.0, kInstructionsOfChunk / each));
  auto share = static_cast<std::uint64_t>(std::max(1.0, kInstructionsOfChunk / kFirstChunk / each));
  std::uint64_t ended = 0;
  while (ended < count && !dispatch.failed) {
    const std::uint64_t chunk = std::min(count - ended, share * kUnits);
    const std::uint64_t done =
        run_chunk(dispatch, chunk, static_cast<std::uint64_t>(kMostInstructions * each * static_cast<double>(share) + 1e6));
    ended += done;
    if (done < chunk) break;
    std::size_t lines = 1;
    for (const auto& unit : units_) lines = std::max(lines, unit->lines_of_chunk());
    share = std::clamp<std::uint64_t>(share * kLinesOfChunk / lines, 1, std::min(most, 2 * share));
  }
  return ended;
}

std::uint64_t UntimedUnits::run_chunk(Dispatch& dispatch, std::uint64_t count, std::uint64_t most_instructions) {
  std::uint64_t wavefronts = 0;
  for (unsigned i = 0; i < kUnits; ++i) {
    dispatch.work_of(first_group_ + i);  // created before the threads look it up
    const std::uint64_t first = count * i / kUnits;
    const std::uint64_t end = count * (i + 1) / kUnits;
    units_[i]->begin(dispatch, dispatch.next_workgroup + first, end - first, most_instructions);
    wavefronts -= units_[i]->compute_unit().wavefronts();
  }
  if (threads_ != nullptr) {
    threads_->run(numbers_, kUnits, [this](unsigned i, unsigned) { units_[i]->run_buffered(); });
  } else {
    for (const auto& unit : units_) unit->run_buffered();
  }
  for (const auto& unit : units_) unit->write_stores();
  for (const auto& unit : units_) unit->complete();
  std::uint64_t ended = 0;
  for (unsigned i = 0; i < kUnits; ++i) {
    ended += units_[i]->end();
    wavefronts += units_[i]->compute_unit().wavefronts();
  }
  dispatch.next_workgroup += count;
  dispatch.wavefronts += wavefronts;
  return ended;
}

}  // namespace lacuna

#include "models/duplo/duplo.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/duplo/lds_reads.h"

namespace lacuna {
namespace {

constexpr std::string_view kBlockSuffix = "_duplo";  // suffix of a kernel's name

}  // namespace

DuploParameterSet::DuploParameterSet() { duplo_slots(); }

void DuploParameterSet::check(const GpuDeviceParameters& device, std::vector<std::string>& problems) const {
  const GpuParameters& gpu = device.gpu;
  if (gpu.timing == TimingMode::functional)
    problems.emplace_back("duplo.mode needs time: gpu.timing = functional has none; set loose");
  if (gpu.target != isa::Target::gfx90a)
    problems.emplace_back("duplo.mode needs matrix instructions: gpu.target = gfx803 has none; set gfx90a");
  const bool is_power = (duplo.entries & (duplo.entries - 1)) == 0;
  if (!is_power)
    problems.push_back("duplo.entries = " + std::to_string(duplo.entries) + ": set a power of two, or 0 for any number");
  if (is_power && duplo.entries != 0 && duplo.ways > duplo.entries) {
    problems.push_back("duplo.ways = " + std::to_string(duplo.ways) + ": there are " + std::to_string(duplo.entries) +
                       " entries (duplo.entries); ways must not exceed entries");
  }
  if (duplo.scope == DuploScope::simd && duplo.copy_cycles != Cycles{0}) {
    problems.push_back(
        "duplo.copy_cycles = " + std::to_string(duplo.copy_cycles.n) +
        ": duplo.scope = simd copies nothing between SIMDs; leave it at 0, or set duplo.scope = core, which takes "
        "1 to 64 cycles");
  }
}

std::unique_ptr<DeviceExtension> DuploParameterSet::make(const GpuDeviceParameters& device) const {
  return std::make_unique<Duplo>(duplo, device.l1v.size);
}

void Duplo::attach_code(const GpuVm& vm, isa::DecodedCode& code) {
  vm_ = &vm;
  symbols_.emplace(vm);
  slab_check_.emplace(vm, isa::Target::gfx90a, code.matrix_codes(), other_use_of_m0);
}

std::unique_ptr<LoadStage> Duplo::make_stage(const LoadStageContext& context) {
  auto unit = std::make_unique<DetectionUnit>(parameters_, convolutions_, context);
  if (units_.size() <= context.place.index) units_.resize(context.place.index + 1);
  units_[context.place.index] = unit.get();
  return unit;
}

void Duplo::trace_to(HistoryTrace trace) {
  trace_ = std::move(trace);
  for (DetectionUnit* const unit : units_) unit->record_history_events();
}

void Duplo::finish_trace() {
  if (!trace_) return;
  for (unsigned unit = 0; unit < units_.size(); ++unit) {
    std::vector<HistoryEvent>& events = units_[unit]->history_events();
    if (!events.empty()) trace_(unit, events);
    events.clear();
  }
}

// Events are sent in portions, so that a long kernel does not exhaust the host's memory.
void Duplo::window_ended() {
  constexpr std::size_t kPortion = 1 << 16;
  std::size_t waiting = 0;
  for (DetectionUnit* const unit : units_) waiting += unit->history_events().size();
  if (waiting >= kPortion) finish_trace();
}

void Duplo::check_registers_at_each_change() {
  for (DetectionUnit* const unit : units_) unit->check_registers_at_each_change();
}

void Duplo::reset() {
  checked_.reset();
  power_off(kernel_time());
  convolutions_.clear();
  dispatches_.clear();
  std::fill(numbers_.begin(), numbers_.end(), false);
}

std::variant<ParameterBlock, std::string> Duplo::read_block(const Dispatch& dispatch, const std::string& name,
                                                            const KernelSymbols::DataObject& object) {
  if (object.bytes != ParameterBlock::kBytes)
    return name + " has " + std::to_string(object.bytes) + " bytes; a parameter block of Duplo has 32";
  const std::byte* const bytes = vm_->pointer(object.address, ParameterBlock::kBytes, isa::Access::read);
  if (bytes == nullptr)
    return fmt::format("{} is at {:#x}; its {} bytes have to be mapped", name, object.address, ParameterBlock::kBytes);
  auto block = ParameterBlock::read(bytes);
  if (auto* const problem = std::get_if<std::string>(&block)) return name + ": " + *problem;
  const ParameterBlock& read = std::get<ParameterBlock>(block);
  if (read.lds) {
    if (const auto problem = lds_problem(dispatch, *read.lds)) return name + ": " + *problem;
  } else if (vm_->pointer(read.workspace, read.bytes(), isa::Access::read) == nullptr) {
    return fmt::format("{}: workspace is {:#x}; {} bytes from there on have to be mapped", name, read.workspace, read.bytes());
  }
  return block;
}

std::optional<std::string> Duplo::lds_problem(const Dispatch& dispatch, const LdsBuffers& buffers) {
  const std::uint32_t bytes = dispatch.packet.group_segment_size;
  if (buffers.end() > bytes) {
    return "the last buffer ends at byte " + std::to_string(buffers.end()) + " of a workgroup's LDS, which has " +
           std::to_string(bytes);
  }
  const isa::CodeProblem* const problem = slab_check_->problem(dispatch.entry);
  if (problem == nullptr) return std::nullopt;
  return "form is 1, where M0 names the slab in LDS, but " +
         code_place(dispatch.kernel, dispatch.entry, problem->pc, std::nullopt) + " has " + problem->mnemonic + ": " +
         problem->reason;
}

std::optional<std::string> Duplo::refusal(Dispatch& dispatch) {
  checked_.reset();
  const std::string name = dispatch.kernel + std::string(kBlockSuffix);
  const auto object = symbols_->data_object(dispatch.packet.kernel_object, name);
  warn_of_lost_block(dispatch.packet.kernel_object);
  if (!object) return std::nullopt;
  const auto block = read_block(dispatch, name, *object);
  if (const auto* const problem = std::get_if<std::string>(&block)) return *problem;
  dispatch.objects.push_back({.address = object->address, .bytes = ParameterBlock::kBytes});
  checked_.emplace(&dispatch, std::get<ParameterBlock>(block));
  return std::nullopt;
}

void Duplo::kernel_started(const Dispatch& dispatch) {
  if (!checked_ || checked_->first != &dispatch) return;
  const auto free = std::find(numbers_.begin(), numbers_.end(), false);
  if (free == numbers_.end()) {
    ++unserved_;
    return;
  }
  *free = true;
  if (convolutions_.empty()) powered_since_ = dispatch.start;
  const auto number = static_cast<std::uint8_t>(free - numbers_.begin());
  convolutions_[&dispatch] = std::make_unique<ActiveConvolution>(number, checked_->second, parameters_.ids);
  dispatches_[dispatch.index] = &dispatch;
}

void Duplo::kernel_ended(const KernelRecord& record) {
  const auto known = dispatches_.find(record.index);
  if (known == dispatches_.end() || record.unfinished) return;
  const auto active = convolutions_.find(known->second);
  const std::uint8_t number = active->second->number;
  ConvolutionFindings first;
  for (DetectionUnit* const unit : units_) {
    const ConvolutionFindings found = unit->end_convolution(number, record.end);
    if (found.wrong && (!first.wrong || found.wrong->at < first.wrong->at)) first.wrong = found.wrong;
    if (found.store && (!first.store || found.store->at < first.store->at)) first.store = found.store;
    first.dropped += found.dropped;
  }
  if (first.wrong && parameters_.ids != DatumIds::paper) report(record, active->second->tags.ids().convolution(), *first.wrong);
  if (first.store) warn_of_store(record, *first.store, first.dropped);
  numbers_[number] = false;
  if (convolutions_.size() == 1) power_off(record.end);
  convolutions_.erase(active);
  dispatches_.erase(known);
}

void Duplo::warn_of_store(const KernelRecord& record, const WorkspaceStore& store, std::uint64_t dropped) {
  if (!warned_.emplace(record.name, store.kernel).second) return;
  guest_warning(
      "kernels that store into the workspace of a running convolution",
      "{}: workgroup {}, wavefront {}, PC {:#x}: the kernel stores into the workspace that {}_duplo describes, while {} runs. "
      "Each such store drops all entries of the convolution in its core: {} in this dispatch of {}. Later dispatches are not "
      "named",
      store.kernel, store.workgroup, store.wavefront, store.pc, record.name, record.name, dropped, record.name);
}

void Duplo::warn_of_lost_block(std::uint64_t kernel_object) {
  if (symbols_->readings() == searched_) return;
  searched_ = symbols_->readings();
  for (const std::string& name : symbols_->data_without_kernel(kernel_object, kBlockSuffix)) {
    guest_warning(
        "parameter blocks of Duplo without a kernel",
        "{}{} has no kernel {} in its code object: the block is never read. A kernel in C++ has a mangled name; declare it "
        "extern \"C\"",
        name, kBlockSuffix, name);
  }
}

void Duplo::report(const KernelRecord& record, const LoweredConvolution& c, const WrongHit& wrong) const {
  failed_check(
      "hits on registers with other data",
      "{0}: workgroup {1}, wavefront {2}, PC {3:#x}: the load of the tile at row {4}, column {5} of the workspace was taken "
      "from registers that hold the tile at row {6}, column {7}, which has the same ID {8} (image {9}), and other data: "
      "pair {10} of SIMD {11} has {12:#010x} in lane {13}, memory {14:#010x}. {0}_duplo does not describe what the kernel "
      "loads, or the workspace has changed while it ran. Results are those of its loads; hardware would have computed others. "
      "{15} of its hits were wrong. The block describes {16} images of {17} x {18} x {19}, filters of {20} x {21}, strides of "
      "{22} and {23}",
      record.name, wrong.workgroup, wrong.wavefront, wrong.pc, wrong.row, wrong.column, wrong.held_row, wrong.held_column,
      wrong.tag.first.element, wrong.tag.first.image, wrong.pair, wrong.simd, wrong.held, wrong.lane, wrong.loaded,
      record.activity.extension[duplo_slots().first_count + static_cast<std::size_t>(DuploCount::hits_wrong)], c.images,
      c.height, c.width, c.channels, c.filter_height, c.filter_width, c.stride_y, c.stride_x);
}

void Duplo::describe(StatisticsGroup& device) const {
  device.group("duplo").add("unserved", unserved_,
                            "kernels with a parameter block that ran without Duplo: all numbers of convolutions were in use",
                            "kernels");
  if (units_.empty() || parameters_.entry == DuploEntry::row) return;
  StatisticsGroup& hardware = device.group("duplo_hardware");
  for (const CostLine& line : cost_lines(units_.front()->hardware(), static_cast<unsigned>(units_.size())))
    hardware.add_derived(
        line.name, [value = line.value] { return value; }, line.meaning, line.unit);
}

// A bit has the leakage of a bit of the L1 vector cache. The meter receives picoseconds as events, so one watt is one picojoule
// per event.
void Duplo::describe_energy(EnergyMeter& meter, const EnergyParameters& energy) const {
  for (const DetectionUnit* unit : units_) meter.add("l1v", "tag", unit->cancelled(), energy.l1v.tag);
  if (units_.empty() || parameters_.entry == DuploEntry::row) return;
  const double bits = static_cast<double>(units_.front()->hardware().total_bits()) * static_cast<double>(units_.size());
  const double watts = energy.l1v.leakage * bits / (static_cast<double>(l1v_.n) * 8);
  meter.add("duplo", "static", powered_ps_, watts);
  meter.before_reading([this] { count_powered(kernel_time()); });
}

void Duplo::count_powered(Tick until) const {
  if (!powered_since_ || until <= *powered_since_) return;
  powered_ps_ += (until - *powered_since_).ps;
  powered_since_ = until;
}

void Duplo::power_off(Tick at) {
  count_powered(at);
  powered_since_.reset();
}

}  // namespace lacuna

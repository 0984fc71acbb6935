#include "models/sida/device/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <utility>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/time/tlm_time.h"
#include "models/sida/device/job_arrays.h"
#include "models/sida/machine/count_statistics.h"

namespace lacuna {
namespace {

constexpr std::uint64_t kProgramAlignment = LACUNA_SIDA_TABLE_ALIGNMENT;

lacuna_sida_packet packet_of(const std::byte* raw) {
  lacuna_sida_packet packet;
  static_assert(sizeof packet == hsa::kPacketBytes);
  std::memcpy(&packet, raw, sizeof packet);
  return packet;
}

constexpr std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
constexpr std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

}  // namespace

Accelerator::Accelerator(sc_core::sc_module_name module_name, const AcceleratorParameters& parameters, const Context& context)
    : sc_module(module_name),
      parameters_(parameters),
      timing_(parameters.machine.pipeline()),
      context_(context),
      clock_(parameters.machine.clock),
      ports_(clock_, {context.ports, context.line_bytes, context.page_bytes, context.request, parameters.lines_in_flight},
             *this),
      costs_(ports_),
      work_("work"),
      phase_("phase") {
  SC_HAS_PROCESS(Accelerator);
  SC_THREAD(serve);
}

Accelerator::~Accelerator() = default;

void Accelerator::attach(const GpuVm& vm) {
  vm_ = &vm;
  memory_ = std::make_unique<sida::VmMemory>(vm);
  ports_.attach(vm);
}

void Accelerator::attach(CopyContext& copies) {
  copies_ = &copies;
  copies.attach(*this);
  if (parameters_.passes == SidaPasses::bulk) costs_.attach(copies);
}

// -- packets

std::optional<PacketRefusal> Accelerator::check(const std::byte* raw) const {
  const lacuna_sida_packet packet = packet_of(raw);
  const auto refused = [](std::string why) { return PacketRefusal{.error = LACUNA_QUEUE_ERROR_SIDA, .why = std::move(why)}; };
  if (packet.program == 0) return refused("packet of a SIDA job without a program");
  if (packet.program % kProgramAlignment != 0)
    return refused(fmt::format("packet of a SIDA job: its program at {:#x} is not aligned to {} bytes", packet.program,
                               kProgramAlignment));
  const auto is_set = [](auto byte) { return byte != 0; };
  if (std::any_of(std::begin(packet.reserved), std::end(packet.reserved), is_set) ||
      std::any_of(std::begin(packet.reserved2), std::end(packet.reserved2), is_set))
    return refused("packet of a SIDA job: reserved bytes are set");
  return std::nullopt;
}

void Accelerator::start(const std::byte* raw, const EnginePacket& packet) {
  jobs_.push_back({.packet = packet, .program = packet_of(raw).program});
  work_.notify(sc_core::SC_ZERO_TIME);
}

void Accelerator::drop(unsigned slot) {
  std::erase_if(jobs_, [slot](const Waiting& job) { return job.packet.slot == slot && !job.begun; });
  if (!running() || dropped() || jobs_.front().packet.slot != slot) return;
  jobs_.front().dropped = true;
  ++statistics_.dropped;
  ports_.drop();
  phase_.notify(sc_core::SC_ZERO_TIME);
}

void Accelerator::suspend(unsigned slot, bool suspended) {
  for (Waiting& job : jobs_) {
    if (job.packet.slot == slot) job.held = suspended;
  }
  if (!suspended) work_.notify(sc_core::SC_ZERO_TIME);
}

/// Sum of the numbers of completed jobs, completed passes, arrived lines, and steps executed in bulk, which request no lines.
std::uint64_t Accelerator::progress() const {
  const std::uint64_t in_bulk = steps_in_bulk_ + (bulk_ != nullptr ? bulk_->steps_begun(elapsed_in_bulk()) : 0);
  return statistics_.passes + statistics_.jobs + ports_.arrived() + in_bulk;
}

bool Accelerator::busy() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const Waiting& job) { return job.begun || !job.held; });
}

std::optional<std::uint32_t> Accelerator::read_register(std::uint64_t offset) const {
  switch (offset) {
    case LACUNA_GPU_SIDA_PES:
      return parameters_.machine.pes;
    case LACUNA_GPU_SIDA_VERSION:
      return LACUNA_SIDA_VERSION;
    case LACUNA_GPU_SIDA_BUFFER_LO:
      return low(parameters_.machine.buffer.n);
    case LACUNA_GPU_SIDA_BUFFER_HI:
      return high(parameters_.machine.buffer.n);
    case LACUNA_GPU_SIDA_STATE:
      return running() ? LACUNA_SIDA_BUSY : LACUNA_SIDA_IDLE;
    case LACUNA_GPU_SIDA_PASS:
      return pass_;
    case LACUNA_GPU_SIDA_STEP:
      return low(current_step());
    case LACUNA_GPU_SIDA_PROGRAM_LO:
      return low(program_);
    case LACUNA_GPU_SIDA_PROGRAM_HI:
      return high(program_);
    case LACUNA_GPU_SIDA_JOBS:
      return low(jobs_since_reset_);
    case LACUNA_GPU_SIDA_PASSES:
      return low(passes_since_reset_);
    case LACUNA_GPU_SIDA_ERROR:
      return error_;
    case LACUNA_GPU_SIDA_ERROR_ADDRESS_LO:
      return low(error_address_);
    case LACUNA_GPU_SIDA_ERROR_ADDRESS_HI:
      return high(error_address_);
    default:
      return std::nullopt;
  }
}

std::uint64_t Accelerator::current_step() const {
  if (pipeline_) return pipeline_->next_step();
  if (bulk_ == nullptr) return step_;
  const std::size_t begun = bulk_->steps_begun(elapsed_in_bulk());
  return begun == 0 ? 0 : begun - 1;
}

// -- jobs

/// Moves the first job whose queue is not suspended to the front and returns it, or null if there is none.
Accelerator::Waiting* Accelerator::next_job() {
  const auto next = std::find_if(jobs_.begin(), jobs_.end(), [](const Waiting& job) { return !job.held; });
  if (next == jobs_.end()) return nullptr;
  std::rotate(jobs_.begin(), next, next + 1);
  return &jobs_.front();
}

void Accelerator::serve() {
  process_ = sc_core::sc_get_current_process_handle();
  for (;;) {
    Waiting* const next = next_job();
    if (next == nullptr) {
      wait(work_);
      continue;
    }
    next->begun = true;
    begin_job();
    try {
      run(program_);
      end_job(nullptr);
    } catch (const sida::ProgramError& error) {
      end_job(&error);
    } catch (const Dropped&) {
      record_.end = SidaJobEnd::dropped;
    }
    pipeline_.reset();
    awaited_.reset();
    orders_.clear();
    costs_.clear();
    record_.ended = kernel_time();
    statistics_.busy += record_.ended - record_.began;
    if (observer_) observer_(record_);
    jobs_.pop_front();
  }
}

void Accelerator::begin_job() {
  pass_ = 0;
  step_ = 0;
  program_ = jobs_.front().program;
  record_ = {.number = jobs_begun_++, .packet = jobs_.front().packet, .program = program_, .began = kernel_time()};
  if (copies_ != nullptr) copies_->work_begins();
}

void Accelerator::end_job(const sida::ProgramError* error) {
  ++jobs_since_reset_;
  const EnginePacket packet = jobs_.front().packet;
  if (error == nullptr) {
    ++statistics_.jobs;
    listener_->packet_done(packet);
    return;
  }
  ++statistics_.failed;
  record_.end = SidaJobEnd::failed;
  record_.error = error_ = error->code;
  error_address_ = error->address;
  std::string why = fmt::format("SIDA program at {:#x}: {}", program_, error->what());
  if (error->pass != LACUNA_SIDA_NONE) why += fmt::format(", pass {}", error->pass);
  if (error->address != 0) why += fmt::format(", at address {:#x}", error->address);
  listener_->packet_failed(packet, {.error = LACUNA_QUEUE_ERROR_SIDA, .why = std::move(why)});
}

void Accelerator::run(std::uint64_t address) {
  sida::Job job(*memory_, address, threads_);
  if (observer_) record_.arrays = job_arrays(job.program(), *vm_);
  const sida::AddressRange block{address, job.program().header.bytes};
  access_and_wait(block, false);
  while (!job.is_done()) run_pass(job);
  record_.iterations = job.program().header.iterations;
  statistics_.iterations += record_.iterations;
  access_and_wait(block, true);
}

void Accelerator::run_pass(sida::Job& job) {
  const std::uint32_t number = job.next();
  pass_ = number;
  check_buffer(job.program(), number);
  // Copies the addresses before run_pass(), which executes the swaps of the pass at its end.
  const sida::Pass& pass = job.program().passes[number];
  std::optional<sida::PassAddresses> addresses;
  if (context_.mode != TimingMode::functional) addresses.emplace(job.program(), pass);
  const sida::PassOutcome outcome = job.run_pass();
  SidaPassRecord record{.job = record_.number,
                        .pass = number,
                        .iteration = outcome.iteration,
                        .products = static_cast<std::uint64_t>(outcome.has_os) + static_cast<std::uint64_t>(outcome.has_is)};
  const std::uint64_t in_bulk = record_.passes_in_bulk;
  if (addresses) {
    ports_.begin(std::move(*addresses));
    if (pass.has_os() && !outcome.has_os) {
      read_dropped_x(job.program(), pass, record);
    } else if (pass.has_os() || job.program().elements(pass, sida::Phase::ewise) != 0) {
      const sida::PassShape timed = shape(job.program(), pass, outcome);
      const sida::PassCounts counts = take_time(timed, {number, outcome.has_is});
      statistics_.sums += counts;
      record_.sums += counts;
      record.counts = counts;
      if (pass.has_os()) statistics_.sub_tensor = sub_tensor_of(timed, timing_);
      sida::EnergyCounts energy = energy_counts(timed, counts, timing_.line_bytes);
      energy.operations = operations_of(job.program(), pass, outcome);
      statistics_.energy += energy;
    }
  }
  ++statistics_.passes;
  ++record_.passes;
  ++passes_since_reset_;
  record.in_bulk = record_.passes_in_bulk != in_bulk;
  if (pass_observer_) pass_observer_(record);
}

sida::PassShape Accelerator::shape(const sida::Program& program, const sida::Pass& pass, const sida::PassOutcome& outcome) {
  sida::MatrixOrders orders;
  if (pass.has_os()) {
    std::unique_ptr<sida::StoredOrders>& stored = orders_[pass.description.matrix];
    if (!stored) stored = std::make_unique<sida::StoredOrders>(*memory_, program, pass.description.matrix);
    orders = stored->orders();
  }
  return shape_of(program, pass, outcome, orders);
}

/// Throws ProgramError if a pass does not fit into the buffer; does nothing in functional timing. Called before the pass is
/// executed.
void Accelerator::check_buffer(const sida::Program& program, std::uint32_t number) {
  if (context_.mode == TimingMode::functional) return;
  const sida::Pass& pass = program.passes[number];
  try {
    const sida::PassOutcome whole{.pass = number, .has_os = pass.has_os(), .has_is = pass.has_is()};
    validate(timing_, shape(program, pass, whole));
  } catch (const sida::PassError& error) {
    throw sida::ProgramError(LACUNA_SIDA_ERROR_BUFFER, error.what(), 0, number);
  }
}

// -- time

/// Start time of the next pass or access, in cycles: the later of the current time and the end of the last window, up to which
/// compute units have already run.
sida::Time Accelerator::begin_time() const {
  return clock_.ceil(later(kernel_time(), context_.core_clock.ticks(windows_->end()))).n;
}

sida::PassCounts Accelerator::take_time(const sida::PassShape& shape, PassCosts::Key key) {
  const sida::Time begin = begin_time();
  const PassCost* const known = costs_.find(key);
  alone_ = costs_.alone();
  if (alone_ && known != nullptr) return in_bulk(*known, begin) ? known->counts : rest_in_detail(shape, *known, begin);
  const bool measured = alone_;
  if (measured) costs_.begin();
  pipeline_ = std::make_unique<sida::PassPipeline>(shape, timing_, ports_, begin);
  wait_for_phase();
  if (measured && alone_) costs_.end(key, pipeline_->counts(), pipeline_->begins(), begin);
  return end_pipeline();
}

sida::PassCounts Accelerator::end_pipeline() {
  const sida::PassCounts counts = pipeline_->counts();
  step_ = pipeline_->next_step();
  pipeline_.reset();
  return counts;
}

/// Runs a pass in bulk. Returns false if another user of the memory becomes active before the pass ends.
bool Accelerator::in_bulk(const PassCost& cost, sida::Time begin) {
  const Tick end = clock_.ticks(Cycles{begin + cost.counts.cycles});
  bulk_ = &cost;
  bulk_began_ = clock_.ticks(Cycles{begin});
  phase_.notify(delay_until(end));
  wait(phase_);
  steps_in_bulk_ += cost.steps_begun(elapsed_in_bulk());
  if (dropped()) {
    step_ = current_step();
    abandon_bulk();
    throw Dropped();
  }
  bulk_ = nullptr;
  if (kernel_time() < end) return false;
  step_ = cost.counts.steps;
  costs_.count(cost);
  ++statistics_.passes_in_bulk;
  ++record_.passes_in_bulk;
  return true;
}

/// Ends bulk execution, and counts the requests of the elapsed part of the pass.
void Accelerator::abandon_bulk() {
  costs_.count_cycles(*bulk_, elapsed_in_bulk());
  bulk_ = nullptr;
}

/// Cycles that the pass has run in bulk.
sida::Time Accelerator::elapsed_in_bulk() const {
  const Tick now = kernel_time();
  return now < bulk_began_ ? 0 : clock_.floor(now - bulk_began_).n;
}

/// Continues a pass in detail, from the beginning of its current step, after it ran in bulk from `begin` until now.
sida::PassCounts Accelerator::rest_in_detail(const sida::PassShape& shape, const PassCost& cost, sida::Time begin) {
  const sida::Time now = begin_time();
  std::vector<sida::Time> begins(cost.begins.begin(),
                                 cost.begins.begin() + static_cast<std::ptrdiff_t>(cost.steps_begun(now - begin)));
  for (sida::Time& time : begins) time += begin;
  const sida::Time start = begins.empty() ? now : begin;
  pipeline_ = std::make_unique<sida::PassPipeline>(shape, timing_, ports_, start);
  pipeline_->skip(begins, now);
  costs_.count_bytes(cost, pipeline_->counts());
  wait_for_phase();
  sida::PassCounts counts = end_pipeline();
  counts.cycles += start - begin;
  return counts;
}

void Accelerator::others_begin() {
  alone_ = false;
  if (bulk_ != nullptr) phase_.notify(sc_core::SC_ZERO_TIME);
}

/// Counts and times the reads of x by a pass whose load code has ended the loop. The products of this pass are not executed.
void Accelerator::read_dropped_x(const sida::Program& program, const sida::Pass& pass, SidaPassRecord& record) {
  std::uint64_t element_bytes = 0;
  for (const std::uint16_t vector : pass.of(sida::Phase::load).loads) element_bytes += program.bytes_of_element(vector);
  const std::uint64_t bytes = program.elements(pass, sida::Phase::load) * element_bytes;
  if (bytes == 0) return;
  for (sida::PassCounts* const sums : {&statistics_.sums, &record_.sums, &record.counts})
    sums->read_bytes[static_cast<std::size_t>(sida::MemoryKind::x)] += bytes;
  await([&](sida::Time begin, sida::Arrival& arrival) {
    ports_.start_read({sida::MemoryKind::x, sida::Operand::load, 0, bytes}, begin, arrival);
  });
}

void Accelerator::access_and_wait(const sida::AddressRange& range, bool write) {
  if (context_.mode == TimingMode::functional) return;
  await([&](sida::Time begin, sida::Arrival& arrival) { ports_.access(range, write, begin, arrival); });
}

/// Makes one request by calling request(time, arrival), and waits until it is complete.
template <class Request>
void Accelerator::await(const Request& request) {
  const sida::Time begin = begin_time();
  awaited_ = std::make_unique<sida::Arrival>(begin);
  sida::Arrival all;
  awaited_->expect(1, all);
  request(begin, *awaited_);
  wait_for_phase();
  awaited_.reset();
}

/// Starts the current pass or access and waits until its end. Throws Dropped if the job has been dropped by then.
void Accelerator::wait_for_phase() {
  phase_done_ = phase_reported_ = false;
  phase_end_ = Tick{};
  go_on(Tick{});
  if (!phase_done_) {
    ports_.announce();
    windows_->wake(context_.core_clock.floor(later(kernel_time(), context_.core_clock.ticks(windows_->end()))));
  } else {
    phase_reported_ = true;
    phase_.notify(delay_until(phase_end_));
  }
  wait(phase_);
  if (dropped()) throw Dropped();
}

/// Advances the current pass or access up to `until`: once when it starts, then in each memory phase.
void Accelerator::go_on(Tick until) {
  until_ = until;
  if (phase_done_ || dropped()) return;
  if (awaited_) {
    phase_done_ = awaited_->known();
    if (phase_done_) phase_end_ = clock_.ticks(Cycles{awaited_->at()});
  } else if (pipeline_) {
    phase_done_ = !pipeline_->resume(clock_.ceil(until).n);
    if (phase_done_) phase_end_ = clock_.ticks(Cycles{pipeline_->now()});
  }
}

/// Time of the next request or, once the pass or access has ended, the time of that end, until window_ended() has reported it;
/// otherwise kNever.
Tick Accelerator::next() const {
  if (dropped() || (!pipeline_ && !awaited_)) return kNever;
  if (phase_done_) return phase_reported_ ? kNever : later(phase_end_, until_);
  const sida::Time next = pipeline_ ? pipeline_->next_request() : sida::PassPipeline::kNever;
  return next == sida::PassPipeline::kNever ? kNever : clock_.ticks(Cycles{next});
}

void Accelerator::window_ended() {
  if (!phase_done_ || phase_reported_) return;
  phase_reported_ = true;
  phase_.notify(delay_until(phase_end_));
}

// -- the device

void Accelerator::reset() {
  ports_.drop();
  jobs_.clear();
  phase_done_ = phase_reported_ = false;
  pipeline_.reset();
  awaited_.reset();
  orders_.clear();
  if (bulk_ != nullptr) abandon_bulk();
  costs_.clear();
  program_ = error_address_ = step_ = jobs_since_reset_ = passes_since_reset_ = 0;
  pass_ = error_ = 0;
  work_.cancel();
  phase_.cancel();
  if (process_.valid()) process_.reset();  // restarts the process's loop, which finds no jobs
}

void Accelerator::diagnose(std::ostream& out) const {
  for (const Waiting& job : jobs_) {
    out << fmt::format("  {}: queue {}, packet {}, program {:#x}: ", name(), job.packet.slot, job.packet.index, job.program);
    if (!job.begun) {
      out << (job.held ? "its queue is suspended\n" : "waits for the job before it\n");
      continue;
    }
    out << fmt::format("pass {}", pass_);
    if (bulk_ != nullptr) out << fmt::format(" in bulk, step {} of {}", current_step(), bulk_->counts.steps);
    if (pipeline_) {
      out << fmt::format(", step {} of {}, waits for {}", pipeline_->next_step(), pipeline_->steps(),
                         *pipeline_->waits_for() != '\0' ? pipeline_->waits_for() : "its end");
    }
    out << fmt::format(", {} requests in flight\n", ports_.open());
  }
}

void Accelerator::describe_statistics(StatisticsGroup& device) const {
  StatisticsGroup& group = device.group("sida");
  statistics_.describe(group);
  ports_.statistics().describe(group);
}

void SidaStatistics::describe(StatisticsGroup& group) const {
  group.add("jobs", jobs, "jobs completed", "jobs");
  group.add("failed", failed, "jobs that an error of their program has ended", "jobs");
  group.add("dropped", dropped, "jobs dropped with their queues", "jobs");
  group.add("iterations", iterations, "iterations of the programs' loops", "iterations");
  group.add("passes", passes, "passes over a matrix, or over vectors alone", "passes");
  group.add("passes_in_bulk", passes_in_bulk, "passes that took the time and the requests of an earlier one", "passes");
  group.add("time", busy, "time with a job");
  group.add("cycles", sums.cycles, "cycles of passes", "cycles");
  sida::describe_ratios(sums, group);
  sida::describe_counts(sums, group);
}

}  // namespace lacuna

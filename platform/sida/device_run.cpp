#include "platform/sida/device_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <sstream>
#include <stdexcept>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/sida/device/sida_extension.h"
#include "platform/configuration.h"
#include "platform/process_platform.h"
#include "platform/run/kernel_log.h"
#include "platform/run/log.h"
#include "platform/run/output_folder.h"
#include "platform/run/run_control.h"
#include "platform/run/run_hash.h"
#include "platform/run/run_parameters.h"
#include "platform/run/run_recorders.h"
#include "platform/run/run_report.h"
#include "platform/run/run_results.h"
#include "platform/run/terminal.h"
#include "platform/sida/device_memory.h"

namespace lacuna {
namespace {

constexpr std::uint32_t kRingPackets = 64;
constexpr int kExitJobFailed = 1;  ///< same exit code as a program whose queue was stopped

/// Writes a queue with one packet, and rings its doorbell.
struct JobQueue {
  unsigned slot;
  std::uint64_t signal;

  JobQueue(GpuDevice& gpu, DeviceMemory& memory, std::uint64_t program) {
    const std::uint64_t queue = memory.allocate(sizeof(hsa::Queue)),
                        ring = memory.allocate(kRingPackets * hsa::kPacketBytes, 4096);
    signal = memory.allocate(sizeof(hsa::Signal));
    memory.at<hsa::Signal>(signal) = {};
    memory.at<hsa::Signal>(signal).kind = memory.at<hsa::Signal>(signal).value = 1;
    memory.at<hsa::Queue>(queue) = {};
    memory.at<hsa::Queue>(queue).base_address = ring;
    memory.at<hsa::Queue>(queue).size = kRingPackets;
    memory.at<hsa::Queue>(queue).write_dispatch_id = 1;
    for (std::uint32_t i = 1; i < kRingPackets; ++i)
      memory.at<std::uint16_t>(ring + i * hsa::kPacketBytes) = static_cast<std::uint16_t>(hsa::PacketType::invalid);
    lacuna_sida_packet packet{};
    packet.header = hsa::PacketHeader::of(hsa::PacketType::vendor_specific).bits;
    packet.format = LACUNA_SIDA_PACKET_FORMAT;
    packet.program = program;
    packet.completion_signal = signal;
    memory.at<lacuna_sida_packet>(ring) = packet;
    PacketProcessor& packets = gpu.packet_processor();
    slot = packets.free_slot();
    if (packets.create_queue(slot, queue) != LACUNA_QUEUE_ERROR_NONE)
      throw std::logic_error("the packet processor refuses the queue of a SIDA job");
    packets.ring(slot, 0, kernel_time());
  }
};

/// Energy of the whole run by block.
std::vector<std::pair<std::string, double>> energy_of(GpuDevice& gpu) {
  std::vector<std::pair<std::string, double>> energy;
  if (gpu.energy() == nullptr || !gpu.energy()->begun()) return energy;
  gpu.energy()->finish(kernel_time());
  const EnergyMeter& meter = gpu.energy()->meter();
  const EnergyShare whole = gpu.energy()->ledger().whole();
  const std::vector<double> joules = meter.joules(whole.counts, whole.picoseconds);
  for (std::size_t block = 0; block < joules.size(); ++block) energy.emplace_back(meter.blocks()[block], joules[block]);
  return energy;
}

void write_files(OutputFolder& output, const RunParameters& parameters, RunSummary& summary, const KernelLog& kernels,
                 RunRecorders& recorders, const StatisticsGroup& statistics) {
  recorders.finish(summary.simulated);
  if (!recorders.energy.empty()) summary.energy = &recorders.energy;
  summary.energy_table = parameters.values().gpu.energy.table;
  summary.run_hash = run_hash(summary, {}, kernels, statistics);
  summary.output_folder = output.path().string();
  write_results(output, parameters, summary, kernels, recorders.links, statistics);
}

}  // namespace

DeviceRunResult run_on_device(const lacuna_sida_application& application, sida::SparseMatrix& matrix,
                              const ApplicationOptions& options, const std::vector<ConfigurationSource>& configuration,
                              const std::optional<std::string>& folder, const std::optional<std::string>& addresses,
                              bool with_reference) {
  const auto begin = std::chrono::steady_clock::now();
  const RunParameters parameters(configuration, Machine::process);
  ProgressLine progress(true);
  open_log(progress);
  std::unique_ptr<ProcessPlatform> platform;
  try {
    platform = std::make_unique<ProcessPlatform>("platform", parameters.values());
  } catch (const std::invalid_argument& e) {
    throw ConfigurationError(e.what());
  }
  GpuDevice& gpu = platform->gpu(0);
  auto* const sida = gpu.extension<SidaExtension>();
  if (sida == nullptr)
    throw ConfigurationError("sida.present = false: the GPU has no sparse dataflow accelerator; use --config sida, or set it");
  DeviceMemory memory = addresses ? DeviceMemory(gpu, *addresses) : DeviceMemory(gpu);
  const ApplicationImage image(application, matrix, options,
                               [&memory](std::span<const std::byte> bytes, bool) { return memory.put(bytes); });
  memory.check_all_used();
  if (!with_reference) matrix = sida::SparseMatrix();

  KernelLog kernels;
  RunRecorders recorders;
  gpu.add_observer(kernels);
  recorders.add(gpu, parameters.values().output);
  StatisticsGroup statistics("platform");
  platform->describe_statistics(statistics);
  std::optional<OutputFolder> output;
  if (folder) {
    output.emplace(OutputFolder::at(*folder));
    open_results(*output, parameters, kernels, recorders);
    spdlog::info("program {}: {} bytes of GPU memory", application.name, memory.taken());
  }

  const InterruptHandler interrupts;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const JobQueue queue(gpu, memory, image.program());
  RunObserver observer;
  observer.ended = [&] {
    return memory.at<hsa::Signal>(queue.signal).value == 0 ||
           gpu.packet_processor().queue(queue.slot).state == QueueSlot::State::failed;
  };
  observer.progress = [&] { return platform->progress(); };
  observer.timer_armed = [] { return false; };
  observer.output_failed = [&] { return output && !output->failure().empty(); };
  observer.between_slices = [&] {
    if (progress.due()) progress.show({kernel_time(), 0, 0, ""});
  };
  const RunEnd end = run_simulation(parameters.values().sim, observer);
  progress.hide();
  log_guest_mistakes();
  const bool failed = gpu.packet_processor().queue(queue.slot).state == QueueSlot::State::failed;

  RunSummary summary;
  summary.program = application.name;
  summary.end = end;
  summary.exit_code = end != RunEnd::guest ? exit_code(end) : failed ? kExitJobFailed : 0;
  summary.guest_mistakes = guest_mistakes();
  summary.simulated = kernel_time();
  summary.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  summary.peak_host_memory_bytes = peak_host_memory();
  if (output) write_files(*output, parameters, summary, kernels, recorders, statistics);
  if (end != RunEnd::guest) {
    std::ostringstream state;
    platform->diagnose(state);
    throw JobError(summary.exit_code, fmt::format("program {} has not ended: {}\n{}", application.name,
                                                  reason_of(end, parameters.values().sim), state.str()));
  }
  if (failed) throw JobError(summary.exit_code, fmt::format("program {} has failed: see the error above", application.name));

  const SidaStatistics& counted = sida->accelerator().statistics();
  DeviceRunResult run{
      .result = image.result([&memory](std::uint64_t address, std::span<std::byte> bytes) { memory.read(address, bytes); }),
      .reference = {},
      .products = lacuna_sida_products(&image.plan()),
      .fused = lacuna_sida_fused_products(&image.plan()),
      .totals = {},
      .machine = sida->parameters(),
      .energy = energy_of(gpu)};
  const hsa::Signal& signal = memory.at<hsa::Signal>(queue.signal);
  const double seconds = static_cast<double>(signal.end_timestamp - signal.start_timestamp) /
                         static_cast<double>(parameters.values().gpu.gpu.timestamp_clock.hz);
  run.totals.cycles = seconds * static_cast<double>(run.machine.clock.hz);
  run.totals.passes = counted.passes;
  run.totals.sums = counted.sums;
  run.totals.bytes = counted.sums.bytes();
  run.totals.sub_tensor = counted.sub_tensor;
  run.totals.energy = counted.energy;
  if (with_reference) run.reference = image.reference();
  return run;
}

}  // namespace lacuna

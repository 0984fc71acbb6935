#include <hsa/hsa.h>

#include <cstring>
#include <deque>

#include "include/lacuna/abi/sida.h"
#include "workloads/common/device_array.h"
#include "workloads/common/error.h"
#include "workloads/sparse_programs/application_state.h"

namespace workload {
namespace {

void require(hsa_status_t status, const char* what) {
  if (status == HSA_STATUS_SUCCESS) return;
  const char* text = nullptr;
  hsa_status_string(status, &text);
  throw Error(std::string(what) + ": " + (text != nullptr ? text : "unknown error of the HSA runtime"));
}

hsa_status_t take_gpu(hsa_agent_t agent, void* gpu) {
  hsa_device_type_t type;
  const hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (status != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU) return status;
  *static_cast<hsa_agent_t*>(gpu) = agent;
  return HSA_STATUS_INFO_BREAK;
}

/// Value of the completion signal of a rejected job.
constexpr hsa_signal_value_t refused = -1;

void on_queue_error(hsa_status_t, hsa_queue_t*, void* done) {
  hsa_signal_store_screlease(*static_cast<hsa_signal_t*>(done), refused);
}

}  // namespace

struct AcceleratorJob::State {
  std::deque<DeviceArray<std::byte>> arrays;
  std::unique_ptr<lacuna::ApplicationImage> image;
  hsa_queue_t* queue = nullptr;
  hsa_signal_t done{};
};

AcceleratorJob::AcceleratorJob(const Application& application, unsigned block_side) : state_(std::make_unique<State>()) {
  State& state = *state_;
  lacuna::ApplicationOptions options = application.state_->options;
  options.blocked = block_side != 0;
  if (options.blocked) options.block_side = block_side;
  const auto put = [&state](std::span<const std::byte> bytes, bool) {
    const std::vector<std::byte> contents(bytes.begin(), bytes.end());
    if (contents.empty()) return std::uint64_t{0};
    state.arrays.emplace_back("an array of the job", contents);
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(state.arrays.back().data()));
  };
  state.image =
      std::make_unique<lacuna::ApplicationImage>(*application.state_->application, application.state_->matrix, options, put);
  require(hsa_init(), "starting the HSA runtime");
  hsa_agent_t gpu{};
  const hsa_status_t found = hsa_iterate_agents(take_gpu, &gpu);
  if (found != HSA_STATUS_INFO_BREAK) throw Error("the HSA runtime has no GPU");
  require(hsa_signal_create(1, 0, nullptr, &state.done), "creating a signal");
  require(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, on_queue_error, &state.done, UINT32_MAX, UINT32_MAX, &state.queue),
          "creating a queue");
}

AcceleratorJob::~AcceleratorJob() {
  if (state_->queue != nullptr) (void)hsa_queue_destroy(state_->queue);
  if (state_->done.handle != 0) (void)hsa_signal_destroy(state_->done);
  (void)hsa_shut_down();
}

void AcceleratorJob::run() {
  hsa_queue_t* const queue = state_->queue;
  lacuna_sida_packet packet{};
  packet.format = LACUNA_SIDA_PACKET_FORMAT;
  packet.program = state_->image->program();
  packet.completion_signal = state_->done.handle;
  const std::uint64_t index = hsa_queue_add_write_index_scacq_screl(queue, 1);
  auto* const slot = static_cast<char*>(queue->base_address) + index % queue->size * sizeof packet;
  std::memcpy(slot + 4, reinterpret_cast<const char*>(&packet) + 4, sizeof packet - 4);
  std::uint32_t first;
  std::memcpy(&first, &packet, sizeof first);
  // Writing the header makes the packet valid, so it is written last.
  constexpr std::uint32_t header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE |
                                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(slot), (first & 0xffff0000u) | header, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
  const hsa_signal_value_t value =
      hsa_signal_wait_scacquire(state_->done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  if (value == refused) throw Error("the job was rejected; the GPU may have no accelerator (--config sida)");
}

ApplicationResult AcceleratorJob::result() const {
  lacuna::ApplicationImage::Result result = state_->image->result([](std::uint64_t address, std::span<std::byte> bytes) {
    workload::require(hipMemcpy(bytes.data(), reinterpret_cast<const void*>(address), bytes.size(), hipMemcpyDeviceToHost),
                      "copying the job's result to the host");
  });
  return {result.iterations, std::move(result.bytes)};
}

}  // namespace workload

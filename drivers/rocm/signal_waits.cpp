#include "drivers/rocm/signal_waits.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>

#include "drivers/rocm/driver.h"
#include "drivers/rocm/signal_handlers.h"

namespace lacuna::rocm {
namespace {

/// A thread that loads the same unchanged value this many times, without another load, a wait or a submission in between, waits
/// for a change; fewer loads may have other reasons.
constexpr unsigned kLoadsBeforeWait = 4;
/// Maximum simulated time that a repeated load waits for a change.
constexpr Tick kPoll{100'000'000};

/// The runtime's own functions.
struct Runtime {
  SignalLoad* load_acquire = nullptr;
  SignalLoad* load_relaxed = nullptr;
  decltype(hsa_signal_wait_scacquire)* wait = nullptr;
  decltype(hsa_queue_load_read_index_scacquire)* read_index_acquire = nullptr;
  decltype(hsa_queue_load_read_index_relaxed)* read_index_relaxed = nullptr;
  decltype(hsa_queue_load_write_index_relaxed)* write_index = nullptr;
  decltype(hsa_queue_store_write_index_relaxed)* store_write_index_relaxed = nullptr;
  decltype(hsa_queue_store_write_index_screlease)* store_write_index_release = nullptr;
  decltype(hsa_queue_cas_write_index_scacq_screl)* cas_write_index = nullptr;
  decltype(hsa_queue_cas_write_index_scacquire)* cas_write_index_acquire = nullptr;
  decltype(hsa_queue_cas_write_index_relaxed)* cas_write_index_relaxed = nullptr;
  decltype(hsa_queue_cas_write_index_screlease)* cas_write_index_release = nullptr;
  decltype(hsa_queue_add_write_index_scacq_screl)* add_write_index = nullptr;
  decltype(hsa_queue_add_write_index_scacquire)* add_write_index_acquire = nullptr;
  decltype(hsa_queue_add_write_index_relaxed)* add_write_index_relaxed = nullptr;
  decltype(hsa_queue_add_write_index_screlease)* add_write_index_release = nullptr;
  decltype(hsa_signal_create)* create = nullptr;
  decltype(hsa_signal_destroy)* destroy = nullptr;
  decltype(hsa_amd_signal_create)* amd_create = nullptr;
  decltype(hsa_amd_ipc_signal_attach)* attach = nullptr;
  decltype(hsa_amd_signal_async_handler)* async_handler = nullptr;
} runtime;

/// The last load of a thread, and the number of consecutive times that it has returned the same value.
struct Repetition {
  std::uint64_t what = 0;
  std::uint64_t value = 0;
  unsigned times = 0;
};
thread_local Repetition repetition;

hsa_signal_value_t wait(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                        std::uint64_t timeout, hsa_wait_state_t state) {
  Driver* driver = Driver::get();
  if (driver == nullptr) return runtime.wait(signal, condition, compare, timeout, state);
  HostThreads::note_call();
  repetition = {};
  return wait_asleep(driver->waits(), runtime.load_acquire, signal, condition, compare, timeout);
}

/// Waits until `changed` holds, for kPoll at most and only while a GPU has work.
void poll(Driver& driver, const HostWaits::Condition& changed) {
  HostThreads::note_call();
  driver.waits().wait(changed, {.simulated = kPoll, .only_while_active = true});
}

/// Returns load(). If the calling thread has loaded an unchanged value kLoadsBeforeWait times, waits for a change first.
template <typename Load>
auto load_repeated(std::uint64_t what, const Load& load) {
  auto value = load();
  Repetition& last = repetition;
  if (last.what != what || last.value != static_cast<std::uint64_t>(value)) {
    last = {what, static_cast<std::uint64_t>(value), 1};
    return value;
  }
  if (++last.times < kLoadsBeforeWait) return value;
  Driver* driver = Driver::get();
  if (driver == nullptr) return value;
  const auto before = value;
  poll(*driver, [&] { return (value = load()) != before; });
  return value;
}

hsa_signal_value_t load_acquire(hsa_signal_t signal) {
  return load_repeated(signal.handle, [=] { return runtime.load_acquire(signal); });
}
hsa_signal_value_t load_relaxed(hsa_signal_t signal) {
  return load_repeated(signal.handle, [=] { return runtime.load_relaxed(signal); });
}

/// Free entries that HIP requires before it submits a packet: one for the packet, and one that must stay free.
constexpr std::uint32_t kLeastRoom = 2;

/// Returns the read index; if the queue is full, waits for free entries first. Each packet that the GPU retires frees an entry,
/// but the thread sleeps until a quarter of the queue is free: otherwise GPU and program would run alternately, with two thread
/// switches per packet.
template <typename Load>
std::uint64_t read_index(const hsa_queue_t* queue, const Load& load) {
  Driver* const driver = Driver::get();
  const std::uint64_t written = runtime.write_index(queue);
  const auto leaves = [&](std::uint64_t room) { return written + room <= load() + queue->size; };
  if (driver == nullptr || leaves(kLeastRoom)) return load_repeated(reinterpret_cast<std::uint64_t>(queue), load);
  poll(*driver, [&] { return leaves(std::max(kLeastRoom, queue->size / 4)); });
  return load();
}
std::uint64_t read_index_acquire(const hsa_queue_t* queue) {
  return read_index(queue, [=] { return runtime.read_index_acquire(queue); });
}
std::uint64_t read_index_relaxed(const hsa_queue_t* queue) {
  return read_index(queue, [=] { return runtime.read_index_relaxed(queue); });
}

// Wrappers of the functions that change a write index. A thread that submits packets loads the read index before each of them;
// these loads are not a wait for a change, so every submission resets the count of repeated loads.
template <auto kFunction>
struct Submission;
template <typename Result, typename... Arguments, Result (*Runtime::*kFunction)(Arguments...)>
struct Submission<kFunction> {
  static Result call(Arguments... arguments) {
    repetition = {};
    return (runtime.*kFunction)(arguments...);
  }
};
template <auto kFunction, typename Function>
void replace_submission(Function*& function) {
  runtime.*kFunction = function;
  function = Submission<kFunction>::call;
}

hsa_status_t created(hsa_status_t status, const hsa_signal_t* signal) {
  Driver* driver = Driver::get();
  if (driver != nullptr && status == HSA_STATUS_SUCCESS) driver->runtime_packets().signal_created(signal->handle);
  return status;
}
hsa_status_t create(hsa_signal_value_t value, std::uint32_t count, const hsa_agent_t* consumers, hsa_signal_t* signal) {
  return created(runtime.create(value, count, consumers, signal), signal);
}
hsa_status_t amd_create(hsa_signal_value_t value, std::uint32_t count, const hsa_agent_t* consumers, std::uint64_t attributes,
                        hsa_signal_t* signal) {
  return created(runtime.amd_create(value, count, consumers, attributes, signal), signal);
}
hsa_status_t attach(const hsa_amd_ipc_signal_t* handle, hsa_signal_t* signal) {
  return created(runtime.attach(handle, signal), signal);
}
hsa_status_t destroy_signal(hsa_signal_t signal) {
  if (Driver* driver = Driver::get()) driver->runtime_packets().signal_destroyed(signal.handle);
  return runtime.destroy(signal);
}

std::mutex handlers_mutex;
/// Created with the first handler, destroyed only by end_signal_handlers().
SignalHandlers* handlers = nullptr;

hsa_status_t async_handler(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                           hsa_amd_signal_handler handler, void* argument) {
  Driver* driver = Driver::get();
  if (driver == nullptr || signal.handle == 0 || handler == nullptr)
    return runtime.async_handler(signal, condition, compare, handler, argument);
  HostThreads::note_call();
  const std::lock_guard lock(handlers_mutex);
  if (handlers == nullptr) handlers = new SignalHandlers(driver->waits(), runtime.load_acquire);
  handlers->add({signal, condition, compare, handler, argument});
  return HSA_STATUS_SUCCESS;
}

}  // namespace

bool holds(hsa_signal_value_t value, hsa_signal_condition_t condition, hsa_signal_value_t compare) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == compare;
    case HSA_SIGNAL_CONDITION_NE:
      return value != compare;
    case HSA_SIGNAL_CONDITION_LT:
      return value < compare;
    default:
      return value >= compare;
  }
}

hsa_signal_value_t wait_asleep(HostWaits& waits, SignalLoad* load, hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, std::uint64_t timeout) {
  hsa_signal_value_t value = 0;
  const HostWaits::Condition over = [&] { return holds(value = load(signal), condition, compare); };
  HostWaits::Limits limits;
  const bool forever = timeout >= HostWaits::kForever.ps / 1000;
  if (!forever) limits.simulated = Tick{timeout * 1000};
  while (!waits.wait(over, limits) && forever) {
  }
  return value;
}

void replace_waits(HsaApiTable& table) {
  if (table.version.major_id != HSA_API_TABLE_MAJOR_VERSION) return;
  CoreApiTable& core = *table.core_;
  if (core.version.major_id != HSA_CORE_API_TABLE_MAJOR_VERSION ||
      core.version.minor_id < offsetof(CoreApiTable, hsa_signal_wait_scacquire_fn) + sizeof(void*))
    return;
  if (core.hsa_signal_wait_scacquire_fn == wait) return;
  runtime.load_acquire = core.hsa_signal_load_scacquire_fn;
  runtime.load_relaxed = core.hsa_signal_load_relaxed_fn;
  runtime.wait = core.hsa_signal_wait_scacquire_fn;
  runtime.read_index_acquire = core.hsa_queue_load_read_index_scacquire_fn;
  runtime.read_index_relaxed = core.hsa_queue_load_read_index_relaxed_fn;
  runtime.write_index = core.hsa_queue_load_write_index_relaxed_fn;
  runtime.create = core.hsa_signal_create_fn;
  runtime.destroy = core.hsa_signal_destroy_fn;
  core.hsa_signal_create_fn = create;
  core.hsa_signal_destroy_fn = destroy_signal;
  core.hsa_signal_wait_scacquire_fn = wait;
  core.hsa_signal_wait_relaxed_fn = wait;
  core.hsa_signal_load_scacquire_fn = load_acquire;
  core.hsa_signal_load_relaxed_fn = load_relaxed;
  core.hsa_queue_load_read_index_scacquire_fn = read_index_acquire;
  core.hsa_queue_load_read_index_relaxed_fn = read_index_relaxed;
  replace_submission<&Runtime::store_write_index_relaxed>(core.hsa_queue_store_write_index_relaxed_fn);
  replace_submission<&Runtime::store_write_index_release>(core.hsa_queue_store_write_index_screlease_fn);
  replace_submission<&Runtime::cas_write_index>(core.hsa_queue_cas_write_index_scacq_screl_fn);
  replace_submission<&Runtime::cas_write_index_acquire>(core.hsa_queue_cas_write_index_scacquire_fn);
  replace_submission<&Runtime::cas_write_index_relaxed>(core.hsa_queue_cas_write_index_relaxed_fn);
  replace_submission<&Runtime::cas_write_index_release>(core.hsa_queue_cas_write_index_screlease_fn);
  replace_submission<&Runtime::add_write_index>(core.hsa_queue_add_write_index_scacq_screl_fn);
  replace_submission<&Runtime::add_write_index_acquire>(core.hsa_queue_add_write_index_scacquire_fn);
  replace_submission<&Runtime::add_write_index_relaxed>(core.hsa_queue_add_write_index_relaxed_fn);
  replace_submission<&Runtime::add_write_index_release>(core.hsa_queue_add_write_index_screlease_fn);
  AmdExtTable* amd = table.amd_ext_;
  if (amd == nullptr || amd->version.major_id != HSA_AMD_EXT_API_TABLE_MAJOR_VERSION ||
      amd->version.minor_id < offsetof(AmdExtTable, hsa_amd_ipc_signal_attach_fn) + sizeof(void*))
    return;
  runtime.async_handler = amd->hsa_amd_signal_async_handler_fn;
  amd->hsa_amd_signal_async_handler_fn = async_handler;
  runtime.amd_create = amd->hsa_amd_signal_create_fn;
  runtime.attach = amd->hsa_amd_ipc_signal_attach_fn;
  amd->hsa_amd_signal_create_fn = amd_create;
  amd->hsa_amd_ipc_signal_attach_fn = attach;
}

void end_signal_handlers() {
  const std::lock_guard lock(handlers_mutex);
  delete std::exchange(handlers, nullptr);
}

}  // namespace lacuna::rocm

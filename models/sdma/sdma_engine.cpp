#include "models/sdma/sdma_engine.h"

#include <memory>
#include <optional>

#include "models/common/time/tlm_time.h"

namespace lacuna {

SdmaEngine::SdmaEngine(sc_core::sc_module_name module_name, const SdmaParameters& parameters, const SdmaEngineContext& context)
    : sc_module(module_name),
      memory("memory"),
      parameters_(parameters),
      clock_(context.clock),
      format_(sdma::Format::of(context.target, parameters.gfx8_pitch)),
      port_(memory),
      notifier_(name(), statistics_),
      timeline_(context.clock.ticks(context.lookahead),
                [this](Tick now) {
                  mover_.retire(now);
                  data_.retire(now);
                }),
      queues_(context.vm, format_, {.first_id = context.index + 1, .stride = parameters.engines}, notifier_),
      data_(context.vm, port_, context.mode, timeline_, notifier_),
      mover_(parameters_, context.clock, data_, timeline_, statistics_),
      bulk_(parameters_, data_, mover_, timeline_),
      reader_(parameters_, format_, data_, timeline_, notifier_),
      executor_({.parameters = parameters_,
                 .format = format_,
                 .timestamp = context.timestamp,
                 .memory = data_,
                 .mover = mover_,
                 .bulk = bulk_,
                 .timeline = timeline_,
                 .queues = queues_,
                 .notifier = notifier_,
                 .statistics = statistics_}),
      work_("work") {
  SC_HAS_PROCESS(SdmaEngine);
  SC_THREAD(serve);
}

void SdmaEngine::serve() {
  server_ = sc_core::sc_get_current_process_handle();
  for (;;) {
    std::optional<Tick> next_poll;
    // Serves the queues round robin, one packet each, until no queue has a packet to execute. Queues may be created and
    // destroyed while a packet takes time.
    for (std::size_t quiet = 0; quiet < queues_.size();) {
      const std::shared_ptr<SdmaQueue> queue = queues_.next();
      timeline_.advance_to(kernel_time());
      const Tick before = timeline_.at();
      const SdmaStep result = step(*queue);
      if (result == SdmaStep::progress) {
        statistics_.busy += later(timeline_.at(), kernel_time()) - before;
        quiet = 0;
        next_poll.reset();
      } else {
        ++quiet;
        if (result == SdmaStep::poll) next_poll = earlier(next_poll.value_or(next_poll_of(*queue)), next_poll_of(*queue));
      }
    }
    if (next_poll) {
      wait(to_sc_time(*next_poll - kernel_time()), work_);
    } else {
      wait(work_);
    }
  }
}

Tick SdmaEngine::next_poll_of(const SdmaQueue& queue) const { return queue.polled + parameters_.poll_interval; }

SdmaStep SdmaEngine::step(SdmaQueue& queue) {
  if (queue.suspended || queue.stopped) return SdmaStep::idle;
  if (queue.waits_for_memory && kernel_time() < next_poll_of(queue)) return SdmaStep::poll;
  switch (reader_.fetch(queue)) {
    case SdmaRingReader::Fetched::nothing:
      return SdmaStep::idle;
    case SdmaRingReader::Fetched::stopped:
      return SdmaStep::progress;
    case SdmaRingReader::Fetched::packet:
      break;
  }
  if (!queue.waits_for_memory) {
    timeline_.advance(clock_.ticks(parameters_.packet_latency));
    if (!timeline_.keep_up(queue)) return SdmaStep::progress;
  }
  return executor_.execute(queue, reader_.words());
}

bool SdmaEngine::suspend_queue(std::uint32_t queue, bool suspended) {
  if (!queues_.suspend(queue, suspended)) return false;
  work_.notify(sc_core::SC_ZERO_TIME);
  return true;
}

bool SdmaEngine::ring(std::uint32_t queue, std::uint64_t write_pointer) {
  const SdmaQueueTable::Doorbell doorbell = queues_.ring(queue, write_pointer);
  if (doorbell == SdmaQueueTable::Doorbell::rung) work_.notify(sc_core::SC_ZERO_TIME);
  return doorbell != SdmaQueueTable::Doorbell::unknown_queue;
}

void SdmaEngine::reset() {
  queues_.clear();
  timeline_.reset();
  mover_.reset();
  data_.reset();
  executor_.reset();
  bulk_.reset();  // drops sampled costs, so that later copies do not depend on earlier ones
  work_.cancel();
  if (server_.valid()) server_.reset();  // restarts the loop, which finds no work
}

}  // namespace lacuna

#include "models/sdma/sdma_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "include/lacuna/abi/gpu_registers.h"
#include "models/common/config/guest_mistake.h"
#include "models/common/time/tlm_time.h"
#include "models/sdma/sdma_engine_state.h"

namespace lacuna {

void SdmaParameters::describe(ParameterSection& s) {
  constexpr std::string_view kAssumed = "assumption, see docs/DEVIATIONS.md";
  s.add("engines", engines, "SDMA engines", {.range = {1, 16}, .unit = "engines", .source = "Linux amdgpu: 2 on gfx803"});
  s.add("bytes_per_cycle", bytes_per_cycle, "Bytes that an engine moves in a core cycle",
        {.range = {1, 256}, .unit = "bytes", .source = "OLCF Frontier user guide: at most 50 GB/s an engine (1.7 GHz)"});
  s.add("request_bytes", request_bytes, "Bytes of a memory request",
        {.range = {32, 256},
         .power_of_two = true,
         .unit = "bytes",
         .source = "choice: 13 GB/s over PCI Express 3.0 x16, as measured for copies on GPUs of that time"});
  s.add("requests_in_flight", requests_in_flight, "Requests of an engine that may be under way",
        {.range = {1, 4096}, .unit = "requests", .source = kAssumed});
  s.add("packet_latency", packet_latency, "Core cycles to process one packet", {.range = {0, 1'000'000}, .source = kAssumed});
  s.add("poll_interval", poll_interval, "How often memory that a packet waits for is looked at again",
        {.range = {1000, 1e9}, .source = kAssumed});
  s.add("gfx8_pitch", gfx8_pitch, "Layout of the pitches of sub-window copies on gfx8",
        {{"silicon", static_cast<int>(sdma::Gfx8Pitch::silicon)}, {"rocm", static_cast<int>(sdma::Gfx8Pitch::rocm)}},
        {.source = "Linux amdgpu; ROCm runtime, see docs/DEVIATIONS.md"});
}

void SdmaStatistics::describe(StatisticsGroup& g) const {
  g.add("packets", packets, "packets carried out", "packets");
  g.add("copies", copies, "linear and sub-window copies", "packets");
  g.add("fills", fills, "constant fills", "packets");
  g.add("bytes_read", bytes_read, "data read by copies", "bytes");
  g.add("bytes_written", bytes_written, "data written by copies, fills and writes", "bytes");
  g.add("fences", fences, "fences written", "packets");
  g.add("traps", traps, "interrupts raised", "packets");
  g.add("atomics", atomics, "atomic operations done", "packets");
  g.add("polls", polls, "looks at memory that a packet waits for", "reads");
  g.add("errors", errors, "queues stopped by a bad packet or address", "events");
  g.add("busy", busy, "time during which packets were carried out");
}

SdmaEngine::SdmaEngine(sc_core::sc_module_name module_name, const SdmaParameters& parameters, unsigned index, Clock clock,
                       Clock timestamp, TimingMode mode, Cycles lookahead, isa::Target target, GpuVm& vm)
    : sc_module(module_name),
      memory("memory"),
      parameters_(parameters),
      index_(index),
      clock_(clock),
      timestamp_(timestamp),
      mode_(mode),
      lookahead_(lookahead),
      format_(sdma::Format::of(target, parameters.gfx8_pitch)),
      vm_(vm),
      in_flight_(parameters.requests_in_flight),
      work_("work") {
  SC_HAS_PROCESS(SdmaEngine);
  SC_THREAD(serve);
}

SdmaEngine::~SdmaEngine() = default;

Tick SdmaEngine::now() const { return to_tick(sc_core::sc_time_stamp()); }

// -- packets

void SdmaEngine::serve() {
  server_ = sc_core::sc_get_current_process_handle();
  for (;;) {
    bool poll = false;
    // Round robin, one packet each, until no queue has one to carry out. Queues come and go while packets take their time.
    for (std::size_t quiet = 0; quiet < queues_.size();) {
      auto next = queues_.upper_bound(served_);
      if (next == queues_.end()) next = queues_.begin();
      served_ = next->first;
      const std::shared_ptr<Queue> queue = next->second;
      at_ = later(at_, now());
      const Tick before = at_;
      const Step result = step(*queue);
      if (result == Step::progress) {
        statistics_.busy += later(at_, now()) - before;
        quiet = 0;
        poll = false;
      } else {
        ++quiet;
        poll |= result == Step::poll;
      }
    }
    if (poll) {
      wait(to_sc_time(parameters_.poll_interval), work_);
    } else {
      wait(work_);
    }
  }
}

SdmaEngine::Step SdmaEngine::step(Queue& queue) {
  if (queue.suspended || queue.stopped) return Step::idle;
  if (queue.waits_for_memory && now() < queue.next_look) return Step::poll;
  switch (fetch(queue)) {
    case Fetched::nothing:
      return Step::idle;
    case Fetched::stopped:
      return Step::progress;
    case Fetched::packet:
      break;
  }
  if (!queue.waits_for_memory) {
    at_ += clock_.ticks(parameters_.packet_latency);
    if (!keep_up(queue)) return Step::progress;
  }
  return execute(queue);
}

// The packet's words go to words_. A packet that software has not written to its end is not there yet.
SdmaEngine::Fetched SdmaEngine::fetch(Queue& queue) {
  const std::uint64_t available = queue.available_words();
  if (available == 0) {
    queue.waiting_for = "";
    return Fetched::nothing;
  }
  const SdmaQueueDescription& ring = queue.description;
  const std::uint64_t base = queue.buffer ? queue.buffer->address : ring.ring;
  const std::uint64_t bytes = queue.buffer ? queue.buffer->words * 4 : ring.ring_bytes;
  const std::byte* memory_at = vm_.pointer(base, bytes, isa::Access::read);
  if (memory_at == nullptr) {
    stop(queue, {.code = LACUNA_FAULT_NOT_MAPPED,
                 .address = base,
                 .text = fmt::format("{} at {:#x}, {} bytes, is not mapped; {}", queue.buffer ? "indirect buffer" : "ring",
                                     base, bytes, vm_.nearest(base))});
    return Fetched::stopped;
  }
  const std::uint64_t first = queue.buffer ? queue.buffer->next * 4 : queue.read;
  const auto read = [&](std::uint64_t count) {
    words_.resize(count);
    const std::uint64_t offset = first & (std::bit_ceil(bytes) - 1);
    const std::uint64_t before_end = std::min(count * 4, bytes - offset);
    std::memcpy(words_.data(), memory_at + offset, before_end);
    std::memcpy(reinterpret_cast<std::byte*>(words_.data()) + before_end, memory_at, count * 4 - before_end);
  };
  read(std::min<std::uint64_t>(available, sdma::kLongestHeader));
  const std::optional<std::uint64_t> length = sdma::words(words_, format_);
  if (length && *length <= available) {
    read(*length);
  } else if (queue.buffer || (length && *length * 4 > ring.ring_bytes)) {
    stop(queue, fmt::format("packet of {} words, the {} ends after {}", length.value_or(available + 1),
                            queue.buffer ? "indirect buffer" : "ring", available));
    return Fetched::stopped;
  } else {
    queue.waiting_for = "the rest of a packet";
    return Fetched::nothing;
  }
  // The ring is read ahead, a request at a time.
  if (!queue.buffer && queue.read + *length * 4 > queue.fetched && mode_ != TimingMode::functional) {
    const std::uint64_t line = queue.read & ~std::uint64_t{parameters_.request_bytes - 1};
    queue.fetched = line + ((*length * 4 + queue.read - line + parameters_.request_bytes - 1) &
                            ~std::uint64_t{parameters_.request_bytes - 1});
    const std::uint64_t address = base + (line & (bytes - 1));
    const std::optional<isa::MemoryWindow> mapped = window(queue, address, parameters_.request_bytes, false);
    if (!mapped) return Fetched::stopped;
    const std::optional<Tick> there = transport(queue, *mapped, address, parameters_.request_bytes, false, at_);
    if (!there) return Fetched::stopped;
    at_ = *there;
  }
  return Fetched::packet;
}

SdmaEngine::Step SdmaEngine::execute(Queue& queue) {
  const sdma::Packet packet = sdma::decode(words_, format_);
  const std::uint64_t length = words_.size();
  bool good = true;
  if (std::holds_alternative<sdma::Nop>(packet)) {
    // nothing
  } else if (const auto* copy_packet = std::get_if<sdma::Copy>(&packet)) {
    ++statistics_.copies;
    good = copy(queue, copy_packet->source, std::span(copy_packet->destination).first(copy_packet->destinations),
                copy_packet->bytes);
  } else if (const auto* window_packet = std::get_if<sdma::CopyWindow>(&packet)) {
    ++statistics_.copies;
    good = copy_window(queue, *window_packet);
  } else if (const auto* fill_packet = std::get_if<sdma::Fill>(&packet)) {
    ++statistics_.fills;
    good = fill(queue, *fill_packet);
  } else if (const auto* write_packet = std::get_if<sdma::Write>(&packet)) {
    good = write(queue, write_packet->destination, std::as_bytes(std::span(words_)).subspan(sdma::Write::kHeader * 4));
  } else if (const auto* invalid = std::get_if<sdma::Invalid>(&packet)) {
    stop(queue, invalid->why);
    good = false;
  } else if (!drain(queue)) {
    good = false;
  } else if (std::holds_alternative<sdma::Poll>(packet) || std::holds_alternative<sdma::Atomic>(packet)) {
    return look(queue);
  } else if (const auto* fence_packet = std::get_if<sdma::Fence>(&packet)) {
    good = fence(queue, *fence_packet);
  } else if (const auto* trap = std::get_if<sdma::Trap>(&packet)) {
    ++statistics_.traps;
    if (listener_ != nullptr) {
      listener_->sdma_trap(queue.id, trap->context, now());
    } else {
      guest_warning("unheard SDMA traps", "{}: queue {}: trap {:#x} that nobody listens to", name(), queue.id, trap->context);
    }
  } else if (const auto* stamp = std::get_if<sdma::Timestamp>(&packet)) {
    good = timestamp(queue, *stamp);
  } else if (const auto* conditional = std::get_if<sdma::Conditional>(&packet)) {
    if (queue.available_words() < length + conditional->words) {
      if (queue.buffer) {
        stop(queue, fmt::format("conditional execution of {} words beyond the indirect buffer's end", conditional->words));
        return Step::progress;
      }
      queue.waiting_for = "the words of a conditional packet";
      return Step::idle;
    }
    const std::byte* at = object(queue, conditional->address, 4, false, "conditional execution");
    good = at != nullptr;
    if (good && load_shared<std::uint32_t>(at) != conditional->reference) consume(queue, conditional->words);
  } else if (const auto* indirect = std::get_if<sdma::Indirect>(&packet)) {
    if (queue.buffer) {
      stop(queue, "indirect buffer in an indirect buffer");
      return Step::progress;
    }
    consume(queue, length);
    ++statistics_.packets;
    if (indirect->words != 0) queue.buffer = Queue::IndirectBuffer{.address = indirect->address, .words = indirect->words};
    return Step::progress;
  }
  if (!good || !queue.alive) return Step::progress;
  ++statistics_.packets;
  consume(queue, length);
  return Step::progress;
}

void SdmaEngine::consume(Queue& queue, std::uint64_t count) {
  if (!queue.buffer) {
    queue.read += count * 4;
    store_read_pointer(queue);
    return;
  }
  queue.buffer->next += count;
  if (queue.buffer->next == queue.buffer->words) queue.buffer.reset();
}

bool SdmaEngine::fence(Queue& queue, const sdma::Fence& packet) {
  std::byte* at = object(queue, packet.address, 4, true, "fence");
  if (at == nullptr) return false;
  store_shared(at, packet.data);
  ++statistics_.fences;
  return true;
}

bool SdmaEngine::timestamp(Queue& queue, const sdma::Timestamp& packet) {
  const std::uint64_t ticks = timestamp_.floor(now()).n;
  if (packet.kind == sdma::Timestamp::Kind::set) {
    timestamp_offset_ = static_cast<std::int64_t>(packet.value - ticks);
    return true;
  }
  const bool local = packet.kind == sdma::Timestamp::Kind::get;
  std::byte* at = object(queue, packet.value & ~std::uint64_t{7}, 8, true, "timestamp");
  if (at == nullptr) return false;
  store_shared(at, ticks + (local ? static_cast<std::uint64_t>(timestamp_offset_) : 0));
  return true;
}

// POLL_REGMEM and ATOMIC: both may have to wait for what others write.
SdmaEngine::Step SdmaEngine::look(Queue& queue) {
  const sdma::Packet packet = sdma::decode(words_, format_);
  const std::uint64_t length = words_.size();
  if (const auto* poll = std::get_if<sdma::Poll>(&packet)) {
    // Registers and HDP flushes are the host bus's affair; there is nothing to flush here.
    if (poll->memory) {
      const std::byte* at = object(queue, poll->address & ~std::uint64_t{3}, 4, false, "poll");
      if (at == nullptr) return Step::progress;
      ++statistics_.polls;
      if (!poll->satisfied(load_shared<std::uint32_t>(at))) {
        if (poll->retries == sdma::Poll::kForEver || queue.looks++ < poll->retries) return wait_for_memory(queue);
        guest_warning("abandoned SDMA polls", "{}: queue {}: poll of {:#x} gives up after {} retries", name(), queue.id,
                      poll->address, poll->retries);
      }
    }
  } else {
    const auto& atomic = std::get<sdma::Atomic>(packet);
    std::byte* at = object(queue, atomic.address, atomic.bytes, true, "atomic");
    if (at == nullptr) return Step::progress;
    // The host has threads that change the same memory.
    const auto perform = [&]<class T>(T) {
      std::atomic_ref<T> shared(*reinterpret_cast<T*>(at));
      T old = shared.load(std::memory_order_relaxed);
      while (!shared.compare_exchange_weak(old, static_cast<T>(atomic.result(old)), std::memory_order_acq_rel)) {
      }
      return old == static_cast<T>(atomic.comparand);
    };
    const bool equal = atomic.bytes == 8 ? perform(std::uint64_t{}) : perform(std::uint32_t{});
    if (atomic.loop && atomic.operation == sdma::AtomicOperation::compare_exchange && !equal) return wait_for_memory(queue);
    ++statistics_.atomics;
  }
  queue.waits_for_memory = false;
  queue.looks = 0;
  ++statistics_.packets;
  consume(queue, length);
  return Step::progress;
}

SdmaEngine::Step SdmaEngine::wait_for_memory(Queue& queue) {
  queue.waits_for_memory = true;
  queue.next_look = now() + parameters_.poll_interval;
  queue.waiting_for = "memory that a packet polls";
  return Step::poll;
}

// -- time

bool SdmaEngine::wait_until(const Queue& queue, Tick at) {
  if (at > now()) wait(to_sc_time(at - now()));
  retire(now());
  if (tlb_ != nullptr) tlb_->retire(now());
  return queue.alive;
}

bool SdmaEngine::drain(Queue& queue) {
  queue.settle(context_);
  at_ = later(at_, queue.done);
  return wait_until(queue, at_);
}

// -- errors

void SdmaEngine::stop(Queue& queue, std::string why) { stop(queue, SdmaFault{.text = std::move(why)}); }

void SdmaEngine::stop(Queue& queue, SdmaFault fault) {
  fault.queue = queue.id;
  fault.text = fmt::format("{}: SDMA queue {} ({}) stopped at byte {:#x}: {}", name(), queue.id, queue.description.name,
                           queue.read, fault.text);
  guest_error("stopped SDMA queues", "{}", fault.text);
  queue.stopped = true;
  ++statistics_.errors;
  if (listener_ != nullptr) listener_->sdma_fault(fault, now());
}

}  // namespace lacuna

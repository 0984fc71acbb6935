// Tests the pipeline with a memory that reports arrivals window by window, like a memory behind a network: the pass makes every
// request in time, moves the same bytes without eager loading, and takes about the same time as with a memory that reports
// arrivals immediately.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "models/sida/pipeline/ideal_memory.h"
#include "tests/sida/pipeline_pass.h"

namespace lacuna::sida {
namespace {

/// Holds requests until the window of their departure, and serves them in order of time. Windows end at multiples of `length`
/// cycles.
class LateMemory : public PassMemory {
 public:
  LateMemory(const PipelineParameters& p, Time length, Time start)
      : server_(p.bytes_per_cycle, p.memory_latency), length_(length), end_(start), served_(start) {}

  void start_read(const MemoryRequest& request, Time earliest, Arrival& arrival) override {
    add({request, earliest, &arrival, false});
  }
  void start_write(const MemoryRequest& request, Time earliest, Arrival& arrival) override {
    add({request, earliest, &arrival, true});
  }
  bool keeps_requests() const override { return true; }

  /// Serves windows until the pass is complete.
  void run(PassPipeline& pass) {
    while (pass.resume(end_)) {
      const auto by_time = [](const Kept& a, const Kept& b) { return a.earliest < b.earliest; };
      std::stable_sort(kept_.begin(), kept_.end(), by_time);
      if (kept_.empty() || kept_.front().earliest >= end_) {
        ASSERT_FALSE(kept_.empty()) << "the pass waits for " << pass.waits_for() << " and nothing is requested";
        served_ = end_;
        end_ = std::max(end_ + length_, kept_.front().earliest / length_ * length_ + length_);
        continue;
      }
      const Kept next = kept_.front();
      kept_.erase(kept_.begin());
      next.arrival->arrived(next.write ? server_.write(next.request, next.earliest)
                                       : server_.read(next.request, next.earliest));
    }
    EXPECT_TRUE(kept_.empty());
  }

  const IdealMemory& server() const { return server_; }
  std::uint64_t late() const { return late_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Kept {
    MemoryRequest request;
    Time earliest;
    Arrival* arrival;
    bool write;
  };
  void add(const Kept& kept) {
    late_ += kept.earliest < served_ ? 1 : 0;
    bytes_ += kept.request.bytes;
    kept_.push_back(kept);
  }

  IdealMemory server_;
  Time length_;
  Time end_, served_;
  std::vector<Kept> kept_;
  std::uint64_t late_ = 0, bytes_ = 0;
};

/// A start time of passes that is well after 0.
constexpr Time kStart = 5000;

void expect_same(const TestPass& pass, const PipelineParameters& p, const std::string& what) {
  SCOPED_TRACE(what);
  IdealMemory ideal(p.bytes_per_cycle, p.memory_latency);
  PassPipeline at_once(pass.shape, p, ideal);
  const PassCounts& expected = at_once.run();
  Time cycles = 0;
  for (const Time length : {1, 48, 1000}) {
    LateMemory late(p, length, kStart);
    PassPipeline pipeline(pass.shape, p, late, kStart);
    late.run(pipeline);
    const PassCounts& counts = pipeline.counts();
    EXPECT_EQ(late.late(), 0U) << length;
    EXPECT_EQ(counts.os_used, expected.os_used);
    EXPECT_EQ(counts.is_used, expected.is_used);
    if (p.eager == Eager::off) {
      EXPECT_EQ(counts.read_bytes, expected.read_bytes) << length;
      EXPECT_EQ(counts.written_bytes, expected.written_bytes) << length;
    }
    // Requests that depart at the same time are made in a different order, which affects eager loads and reloads.
    EXPECT_NEAR(static_cast<double>(counts.cycles), static_cast<double>(expected.cycles),
                0.05 * static_cast<double>(expected.cycles))
        << length;
    if (cycles != 0) {
      EXPECT_EQ(counts.cycles, cycles) << "windows of " << length << " cycles";
    }
    cycles = counts.cycles;
  }
}

TEST(PipelineLateMemory, MatchesAMemoryThatReportsImmediately) {
  for (const char* const kind : {"power:rows=4000,entries=50000", "road:rows=9000", "arrow:rows=1500,entries=12000"}) {
    TestPass pass(generated(kind));
    pass.make_pagerank();
    PipelineParameters p;
    p.sub_tensor = 256;
    expect_same(pass, p, kind);
    p.eager = Eager::off;
    expect_same(pass, p, std::string(kind) + ", nothing eager");
    p.prefetch = Prefetch::step;
    expect_same(pass, p, std::string(kind) + ", a step at a time");
    p.prefetch = Prefetch::stream;
    p.buffer_bytes = 80000;
    expect_same(pass, p, std::string(kind) + ", small buffer");
    p.buffer_bytes = 20000;
    expect_same(pass, p, std::string(kind) + ", lines are cached");
    p.buffer_bytes = PipelineParameters{}.buffer_bytes;
    p.os_pes = p.ewise_pes = p.is_pes = 16;
    expect_same(pass, p, std::string(kind) + ", few PEs");
  }
}

void make_odd(TestPass& pass, Random& random) {
  if (random.below(2) == 0) pass.make_pagerank();
  if (random.below(4) == 0) pass.make_os_only();
  if (random.below(4) == 0 && pass.shape.has_is) pass.make_pair();
  pass.shape.preload = random.below(4) == 0;
}

PipelineParameters parameters_for(const TestPass& pass, Random& random) {
  PipelineParameters p;
  p.sub_tensor = 1 + random.below(20);
  p.line_bytes = 16;
  p.memory_latency = random.below(200);
  p.prefetch = random.below(3) == 0 ? Prefetch::step : Prefetch::stream;
  p.os_pes = p.ewise_pes = p.is_pes = 1 + random.below(40);
  p.buffer_bytes = smallest_buffer(pass.shape, p) + random.below(3) * random.below(600);
  return p;
}

// A pass runs its first steps in bulk and the remaining steps in detail: no request is issued twice, or before the detailed
// part begins.
TEST(PipelineLateMemory, ContinuesFromAnyStep) {
  Random random(11);
  for (unsigned i = 0; i < 300; ++i) {
    TestPass pass(odd_matrix(random));
    make_odd(pass, random);
    PipelineParameters p = parameters_for(pass, random);
    p.eager = Eager::off;  // eager loading depends on times
    const Time window = 1 + random.below(100);
    LateMemory memory(p, window, kStart);
    PassPipeline whole(pass.shape, p, memory, kStart);
    memory.run(whole);
    const PassCounts& expected = whole.counts();
    const auto bytes_of = [&](std::uint64_t entries) { return entries * pass.shape.entry_bytes; };
    for (unsigned n = 0; n < 4; ++n) {
      const std::size_t steps = 1 + random.below(static_cast<Index>(whole.begins().size()));
      const Time from = whole.begins()[steps - 1] + random.below(60);
      LateMemory rest(p, window, from);
      PassPipeline pipeline(pass.shape, p, rest, kStart);
      pipeline.skip(std::span(whole.begins()).first(steps), from);
      EXPECT_EQ(pipeline.next_step(), steps - 1);
      const std::uint64_t skipped = pipeline.counts().bytes();
      rest.run(pipeline);
      ASSERT_EQ(rest.late(), 0U) << i << ", " << steps << " of " << whole.begins().size();
      EXPECT_EQ(pipeline.counts().os_used, expected.os_used);
      EXPECT_EQ(pipeline.counts().is_used, expected.is_used);
      EXPECT_EQ(skipped + rest.bytes(), pipeline.counts().bytes());
      // Evictions from a full buffer depend on times.
      EXPECT_EQ(pipeline.counts().bytes() - bytes_of(pipeline.counts().reloaded),
                expected.bytes() - bytes_of(expected.reloaded));
      EXPECT_GE(kStart + pipeline.counts().cycles, from);
      for (std::size_t step = 0; step + 1 < steps; ++step) ASSERT_EQ(pipeline.begins()[step], whole.begins()[step]);
    }
  }
}

TEST(PipelineLateMemory, NoRequestIsLateOnOddMatrices) {
  Random random(7);
  for (unsigned i = 0; i < 300; ++i) {
    TestPass pass(odd_matrix(random));
    make_odd(pass, random);
    const PipelineParameters p = parameters_for(pass, random);
    LateMemory late(p, 1 + random.below(100), kStart);
    PassPipeline pipeline(pass.shape, p, late, kStart);
    late.run(pipeline);
    ASSERT_EQ(late.late(), 0U) << i;
  }
}

}  // namespace
}  // namespace lacuna::sida

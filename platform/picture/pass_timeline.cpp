#include "platform/picture/pass_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "platform/picture/svg.h"
#include "platform/run/text_table.h"

namespace lacuna {
namespace {

constexpr double kWidth = 960, kLeft = 110, kRight = 20, kTop = 46, kLane = 22, kLaneGap = 6, kArea = 120, kAreaGap = 44,
                 kText = 12;
constexpr double kLanes = sida::kCores + 1;
constexpr std::size_t kBars = 300;

/// A layer of a stacked area: style class of the picture (see SvgWriter), and name. Arrays list layers from the bottom up.
struct Layer {
  const char* kind;
  const char* name;
};
constexpr std::size_t kByteLayers = 6, kBufferLayers = 4;
constexpr std::array<Layer, kByteLayers> kBytes{
    {{"columns", "columns"}, {"rows", "rows"}, {"x", "x"}, {"vectors", "vectors"}, {"outputs", "outputs"}, {"rest", "rest"}}};
constexpr std::array<Layer, kBufferLayers> kBuffer{
    {{"columns", "columns"}, {"rows", "rows"}, {"x", "x and w"}, {"outputs", "sums"}}};

std::size_t layer_of(sida::MemoryKind kind) {
  switch (kind) {
    case sida::MemoryKind::csc:
    case sida::MemoryKind::blocks:
      return 0;
    case sida::MemoryKind::csr_eager:
    case sida::MemoryKind::csr_reload:
      return 1;
    case sida::MemoryKind::x:
      return 2;
    case sida::MemoryKind::ewise_vectors:
      return 3;
    case sida::MemoryKind::outputs:
      return 4;
    default:
      return 5;
  }
}

/// Consecutive steps that are drawn as one bar.
struct Bar {
  std::uint64_t first = 0, last = 0;
  sida::Time begin = 0, end = 0;
  std::array<std::uint64_t, kByteLayers> bytes{};
  std::array<std::uint64_t, kBufferLayers> buffer{};
  std::array<std::uint64_t, sida::kBounds> bound{};
  std::array<std::int64_t, sida::kCores> sub_tensor{};
  std::uint64_t r_given = 0, r_used = 0;
};

std::vector<Bar> bars_of(const std::vector<sida::StepTrace>& steps) {
  std::vector<Bar> bars;
  const sida::Time all = steps.back().end - steps.front().begin, least = all / kBars;
  bool open = false;
  for (const sida::StepTrace& step : steps) {
    if (!open) {
      bars.emplace_back();
      bars.back().first = step.step;
      bars.back().begin = step.begin;
      bars.back().sub_tensor = step.sub_tensor;
    }
    Bar& bar = bars.back();
    bar.last = step.step;
    bar.end = step.end;
    for (std::size_t k = 0; k < sida::kMemoryKinds; ++k) bar.bytes[layer_of(static_cast<sida::MemoryKind>(k))] += step.bytes[k];
    bar.buffer = {step.buffer.columns + step.buffer.converted, step.buffer.rows, step.buffer.lines.x + step.buffer.lines.w,
                  step.buffer.lines.z};
    ++bar.bound[static_cast<std::size_t>(step.bound)];
    bar.r_given += step.r_given;
    bar.r_used += step.r_used;
    open = bar.end - bar.begin < least;
  }
  return bars;
}

class Picture {
 public:
  Picture(const std::vector<sida::StepTrace>& steps, std::ostream& out, const std::string& title)
      : bars_(bars_of(steps)),
        begin_(steps.front().begin),
        all_(static_cast<double>(std::max<sida::Time>(1, steps.back().end - steps.front().begin))),
        svg_(out, kWidth, kTop + kLanes * (kLane + kLaneGap) + 2 * (kArea + kAreaGap) + 34, title) {
    svg_.text(kLeft, 24, 15, title, SvgWriter::Anchor::start, "strong");
  }

  void cores() {
    constexpr const char* kNames[]{"OS", "E-wise", "IS"};
    for (std::size_t core = 0; core < sida::kCores; ++core) {
      svg_.text(kLeft - 8, y_ + kLane - 6, kText, kNames[core], SvgWriter::Anchor::end);
      for (const Bar& bar : bars_) {
        if (bar.sub_tensor[core] == sida::StepTrace::kIdle) continue;
        const bool binds = bar.bound[core + 1] != 0;
        svg_.rectangle(x(bar.begin), y_, width(bar), kLane, binds ? "use" : "lane", (bar.sub_tensor[core] & 1) != 0 ? 1 : 0.6,
                       fmt::format("{}, {}: from sub-tensor {}{}", steps_of(bar), kNames[core], bar.sub_tensor[core],
                                   binds ? ", bound by this core" : ""));
      }
      y_ += kLane + kLaneGap;
    }
  }

  /// Draws R, the entries of rows that the traffic estimator allows to be fetched ahead: light where it is not 0, dark the
  /// share that is fetched.
  void eager() {
    svg_.text(kLeft - 8, y_ + kLane - 6, kText, "R", SvgWriter::Anchor::end);
    for (const Bar& bar : bars_) {
      if (bar.r_given == 0) continue;
      const double used = kLane * std::min(1.0, static_cast<double>(bar.r_used) / static_cast<double>(bar.r_given));
      const std::string text =
          fmt::format("{}, R: {} entries, {} fetched", steps_of(bar), grouped(bar.r_given), grouped(bar.r_used));
      svg_.rectangle(x(bar.begin), y_, width(bar), kLane, "lane", 1, text);
      if (used > 0) svg_.rectangle(x(bar.begin), y_ + kLane - used, width(bar), used, "use", 1, text);
    }
    y_ += kLane + kLaneGap;
  }

  /// Draws stacked layers over time. `most`: upper end of the scale, for the sum of all layers.
  template <std::size_t kLayers, class Values>
  void area(const char* name, const std::string& top, const std::array<Layer, kLayers>& layers, double most, Values values) {
    y_ += 14;
    svg_.text(kLeft - 8, y_ + 10, kText, top, SvgWriter::Anchor::end, "faint");
    svg_.text(kLeft - 8, y_ + kArea / 2, kText, name, SvgWriter::Anchor::end);
    svg_.text(kLeft - 8, y_ + kArea, kText, "0", SvgWriter::Anchor::end, "faint");
    svg_.rectangle(kLeft, y_, kWidth - kLeft - kRight, kArea, "node");
    for (const Bar& bar : bars_) {
      const std::array<double, kLayers> heights = values(bar);
      double at = y_ + kArea;
      for (std::size_t layer = 0; layer < kLayers; ++layer) {
        const double height = std::min(kArea * heights[layer] / most, at - y_);
        if (height < 0.01) continue;
        at -= height;
        svg_.rectangle(x(bar.begin), at, width(bar), height, layers[layer].kind, 1,
                       fmt::format("{}, {}: {:.4g}", steps_of(bar), layers[layer].name, heights[layer]));
      }
    }
    y_ += kArea + 8;
    double legend = kLeft;
    for (const Layer& layer : layers) {
      svg_.rectangle(legend, y_, 10, 10, layer.kind);
      svg_.text(legend + 14, y_ + 10, kText, layer.name);
      legend += 24 + 8.0 * static_cast<double>(std::string(layer.name).size());
    }
    y_ += kAreaGap - 22;
  }

  void finish() {
    svg_.text(kLeft, y_ + 16, kText, "cycle 0", SvgWriter::Anchor::start, "faint");
    svg_.text(kWidth - kRight, y_ + 16, kText, grouped(static_cast<std::uint64_t>(all_)) + " cycles", SvgWriter::Anchor::end,
              "faint");
    svg_.finish();
  }

 private:
  double x(sida::Time time) const { return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(time - begin_) / all_; }
  double width(const Bar& bar) const { return x(bar.end) - x(bar.begin); }
  static std::string steps_of(const Bar& bar) {
    return bar.first == bar.last ? fmt::format("step {}", bar.first) : fmt::format("steps {} to {}", bar.first, bar.last);
  }

  std::vector<Bar> bars_;
  sida::Time begin_;
  double all_;
  SvgWriter svg_;
  double y_ = kTop;
};

}  // namespace

void write_pass_timeline(const std::vector<sida::StepTrace>& steps, std::uint64_t bytes_per_cycle, std::uint64_t buffer_bytes,
                         const std::string& title, std::ostream& out) {
  if (steps.empty()) return;
  Picture picture(steps, out, title);
  picture.cores();
  picture.eager();
  picture.area("bytes a cycle", grouped(bytes_per_cycle), kBytes, static_cast<double>(bytes_per_cycle), [](const Bar& bar) {
    std::array<double, kByteLayers> values{};
    const double cycles = static_cast<double>(std::max<sida::Time>(1, bar.end - bar.begin));
    for (std::size_t i = 0; i < kByteLayers; ++i) values[i] = static_cast<double>(bar.bytes[i]) / cycles;
    return values;
  });
  // The scale ends at the maximum occupancy if that is at most half of the capacity, else at the capacity.
  std::uint64_t most = 1;
  for (const sida::StepTrace& step : steps) most = std::max(most, step.buffer.all());
  const double top = static_cast<double>(2 * most > buffer_bytes ? buffer_bytes : most) / 1e6;
  picture.area("buffer, MB", fixed(top, 2), kBuffer, top, [](const Bar& bar) {
    std::array<double, kBufferLayers> values{};
    for (std::size_t i = 0; i < kBufferLayers; ++i) values[i] = static_cast<double>(bar.buffer[i]) / 1e6;
    return values;
  });
  picture.finish();
}

}  // namespace lacuna

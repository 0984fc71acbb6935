#include "tests/validation/mgpusim/workloads.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace lacuna::validation {
namespace {

using Constants = std::map<std::string, unsigned>;

template <typename T>
void write(const std::filesystem::path& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

/// Numbers in [low, high) in steps of 1/1024, the same on every machine.
std::vector<float> random_floats(std::size_t count, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(low) + static_cast<float>(random() % (1024U * (high - low))) / 1024;
  return values;
}

Constants matrix_multiplication(const Options& options, const std::filesystem::path& folder) {
  const unsigned n = options.at("x");
  if (options.at("y") != n || options.at("z") != n || n % 32 != 0) throw std::invalid_argument("not n x n, or not of 32");
  const std::vector<float> a = random_floats(std::size_t{n} * n, -1, 1, 1);
  const std::vector<float> b = random_floats(std::size_t{n} * n, -1, 1, 2);
  std::vector<float> c(std::size_t{n} * n);
  for (unsigned row = 0; row < n; ++row) {
    for (unsigned k = 0; k < n; ++k) {
      const float factor = a[std::size_t{row} * n + k];
      for (unsigned column = 0; column < n; ++column) {
        float& sum = c[std::size_t{row} * n + column];
        sum = std::fma(factor, b[std::size_t{k} * n + column], sum);
      }
    }
  }
  write(folder / "a.bin", a);
  write(folder / "b.bin", b);
  write(folder / "c.bin", c);
  return {{"n", n}};
}

Constants matvec_rows(const Options& options, const std::filesystem::path& folder) {
  const unsigned n = options.at("x");
  const std::vector<float> a = random_floats(std::size_t{n} * n, -1, 1, 10);
  const std::vector<float> x = random_floats(n, -1, 1, 11);
  std::vector<float> y(n);
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < n; ++j) y[i] = std::fma(a[std::size_t{i} * n + j], x[j], y[i]);
  }
  write(folder / "a.bin", a);
  write(folder / "x.bin", x);
  write(folder / "y.bin", y);
  return {{"n", n}};
}

Constants walsh(const Options& options, const std::filesystem::path& folder) {
  const unsigned n = options.at("length");
  std::vector<float> a = random_floats(n, 0, 1, 12);
  write(folder / "a.bin", a);
  for (unsigned step = 1; step < n; step *= 2) {
    for (unsigned i = 0; i < n / 2; ++i) {
      const unsigned low = i + i / step * step;
      const float x = a[low];
      const float y = a[low + step];
      a[low] = x + y;
      a[low + step] = x - y;
    }
  }
  write(folder / "transformed.bin", a);
  return {{"n", n}};
}

Constants fir(const Options& options, const std::filesystem::path& folder) {
  constexpr unsigned kTaps = 16;  // as in MGPUSim's benchmark
  const unsigned n = options.at("length");
  const std::vector<float> x = random_floats(n, -1, 1, 3);
  const std::vector<float> coefficients = random_floats(kTaps, -1, 1, 4);
  std::vector<float> y(n);
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned t = 0; t < kTaps; ++t) y[i] = std::fma(coefficients[t], i >= t ? x[i - t] : 0.0F, y[i]);
  }
  write(folder / "x.bin", x);
  write(folder / "coefficients.bin", coefficients);
  write(folder / "y.bin", y);
  return {{"n", n}, {"taps", kTaps}};
}

Constants relu(const Options& options, const std::filesystem::path& folder) {
  const unsigned n = options.at("length");
  const std::vector<float> x = random_floats(n, -1, 1, 5);
  std::vector<float> y(n);
  for (unsigned i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  write(folder / "x.bin", x);
  write(folder / "y.bin", y);
  return {{"n", n}};
}

Constants convolution(const Options& options, const std::filesystem::path& folder) {
  const unsigned width = options.at("width");
  const unsigned height = options.at("height");
  const unsigned size = options.at("mask-size");
  const unsigned image_width = width + size - 1;
  std::mt19937 random(6);
  std::vector<std::uint32_t> image(std::size_t{image_width} * (height + size - 1));
  for (std::uint32_t& pixel : image) pixel = static_cast<std::uint32_t>(random() % 256);
  const std::vector<float> mask = random_floats(std::size_t{size} * size, 0, 2, 7);
  std::vector<std::uint32_t> result(std::size_t{width} * height);
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) {
      float sum = 0;
      for (unsigned j = 0; j < size; ++j) {
        for (unsigned i = 0; i < size; ++i) {
          sum = std::fma(static_cast<float>(image[std::size_t{y + j} * image_width + x + i]), mask[j * size + i], sum);
        }
      }
      result[std::size_t{y} * width + x] = static_cast<std::uint32_t>(sum + 0.5F);
    }
  }
  write(folder / "image.bin", image);
  write(folder / "mask.bin", mask);
  write(folder / "result.bin", result);
  return {{"width", width}, {"height", height}, {"size", size}};
}

Constants kmeans(const Options& options, const std::filesystem::path& folder) {
  const unsigned points = options.at("points");
  const unsigned features = options.at("features");
  const unsigned clusters = options.at("clusters");
  const std::vector<float> point = random_floats(std::size_t{points} * features, 0, 1, 8);
  std::vector<float> centre(point.begin(), point.begin() + std::size_t{clusters} * features);
  std::vector<std::int32_t> nearest(points, -1);
  unsigned iterations = 0;
  for (bool moved = true; moved && iterations < options.at("max-iter"); ++iterations) {
    write(folder / ("centres" + std::to_string(iterations) + ".bin"), centre);
    moved = false;
    std::vector<float> sum(centre.size());
    std::vector<unsigned> members(clusters);
    for (unsigned i = 0; i < points; ++i) {
      const float* const mine = &point[std::size_t{i} * features];
      float shortest = std::numeric_limits<float>::infinity();
      std::int32_t best = 0;
      for (unsigned c = 0; c < clusters; ++c) {
        float distance = 0;
        for (unsigned f = 0; f < features; ++f) {
          const float difference = mine[f] - centre[c * features + f];
          distance = std::fma(difference, difference, distance);
        }
        if (distance < shortest) {
          shortest = distance;
          best = static_cast<std::int32_t>(c);
        }
      }
      moved = moved || nearest[i] != best;
      nearest[i] = best;
      ++members[static_cast<unsigned>(best)];
      for (unsigned f = 0; f < features; ++f) sum[static_cast<unsigned>(best) * features + f] += mine[f];
    }
    write(folder / ("nearest" + std::to_string(iterations) + ".bin"), nearest);
    for (unsigned c = 0; c < clusters; ++c) {
      for (unsigned f = 0; f < features && members[c] > 0; ++f) {
        centre[c * features + f] = sum[c * features + f] / static_cast<float>(members[c]);
      }
    }
  }
  write(folder / "points.bin", point);
  return {{"points", points}, {"features", features}, {"clusters", clusters}, {"iterations", iterations}};
}

Constants bfs(const Options& options, const std::filesystem::path& folder) {
  constexpr std::int32_t kNotReached = -1;
  const unsigned vertices = options.at("node");
  // MGPUSim's generator makes a path of `degree` edges from vertex 0 and leaves the other vertices without edges (the
  // instruction counts in its table are those of four levels); with -random 1 every vertex has `degree` edges.
  const unsigned degree = options.at("degree");
  const bool everywhere = options.contains("random");
  std::mt19937 random(9);
  std::vector<std::uint32_t> first_edge;
  std::vector<std::uint32_t> edge;
  for (unsigned v = 0; v < vertices; ++v) {
    first_edge.push_back(static_cast<std::uint32_t>(edge.size()));
    if (!everywhere && v < degree) edge.push_back(v + 1);
    for (unsigned i = 0; everywhere && i < degree; ++i) edge.push_back(static_cast<std::uint32_t>(random() % vertices));
  }
  first_edge.push_back(static_cast<std::uint32_t>(edge.size()));
  std::vector<std::int32_t> level(vertices, kNotReached);
  level[0] = 0;
  write(folder / "start.bin", level);
  std::vector<std::uint32_t> reached{0};
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::uint32_t v = reached[next];
    for (std::uint32_t e = first_edge[v]; e < first_edge[v + 1]; ++e) {
      if (level[edge[e]] != kNotReached) continue;
      level[edge[e]] = level[v] + 1;
      reached.push_back(edge[e]);
    }
  }
  write(folder / "first_edge.bin", first_edge);
  write(folder / "edges.bin", edge);
  write(folder / "levels.bin", level);
  return {{"vertices", vertices}};
}

}  // namespace

Options parse_options(const std::string& problem) {
  std::istringstream words(problem);
  Options options;
  std::string name;
  unsigned value = 0;
  while (words >> name) {
    if (name.size() < 2 || name[0] != '-' || !(words >> value)) throw std::invalid_argument("no list of options: " + problem);
    options[name.substr(1)] = value;
  }
  return options;
}

std::map<std::string, unsigned> write_workload(const std::string& benchmark, const Options& options,
                                               const std::filesystem::path& folder) {
  static const std::map<std::string, Constants (*)(const Options&, const std::filesystem::path&)> kWriters{
      {"matrixmultiplication", matrix_multiplication},
      {"matvec_rows", matvec_rows},
      {"walsh", walsh},
      {"fir", fir},
      {"relu", relu},
      {"simpleconvolution", convolution},
      {"kmeans", kmeans},
      {"bfs", bfs},
  };
  const auto writer = kWriters.find(benchmark);
  if (writer == kWriters.end()) throw std::invalid_argument("unknown benchmark " + benchmark);
  return writer->second(options, folder);
}

}  // namespace lacuna::validation

// Lloyd's k-means as Hetero-Mark has it: the GPU transposes the points once, so that neighbouring lanes read neighbouring
// values, and in each iteration finds the nearest centre of each point; the host moves the centres. It ends when no point
// changes its cluster, or after so many iterations. Sizes are MGPUSim's.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <limits>

#include "workloads/common/program.h"
#include "workloads/common/transpose.h"

constexpr unsigned group_size = 256;

// The centres are the same for all lanes and come by scalar loads. Up to `at_once` distances are kept while a point's values
// pass by.
__global__ void __launch_bounds__(group_size)
    assign(const float* __restrict__ values, const float* __restrict__ centres, int* __restrict__ clusters, unsigned points,
           unsigned features, unsigned count) {
  constexpr unsigned at_once = 8;
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
  float nearest = INFINITY;
  int cluster = 0;
  // The host fills the centres up to a multiple of at_once by repeating the last.
  for (unsigned first = 0; first < count; first += at_once) {
    float distances[at_once] = {};
    for (unsigned feature = 0; feature < features; ++feature) {
      const float value = values[size_t{feature} * points + point];
#pragma unroll
      for (unsigned i = 0; i < at_once; ++i) {
        const float difference = value - centres[(first + i) * features + feature];
        distances[i] += difference * difference;
      }
    }
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      if (distances[i] < nearest) nearest = distances[i], cluster = static_cast<int>(first + i);
    }
  }
  clusters[point] = cluster;
}

struct Iteration {
  std::vector<float> centres;  // those that the points were compared with
  std::vector<int> clusters;
};

// Each point's cluster must be as near as any other, but for the rounding of the distances.
static bool is_right(const Iteration& iteration, const std::vector<float>& values, size_t features, size_t clusters) {
  const double error = workload::sum_error(features + 3.0);
  for (size_t point = 0; point < iteration.clusters.size(); ++point) {
    std::vector<double> distances(clusters);
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t cluster = 0; cluster < clusters; ++cluster) {
      for (size_t i = 0; i < features; ++i) {
        const double difference = double{values[point * features + i]} - iteration.centres[cluster * features + i];
        distances[cluster] += difference * difference;
      }
      nearest = std::min(nearest, distances[cluster]);
    }
    const auto chosen = static_cast<size_t>(iteration.clusters[point]);
    if (chosen >= clusters || distances[chosen] * (1 - error) > nearest * (1 + error)) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  workload::Program program("kmeans", "k-means clustering, centres moved by the host",
                            "LazyGPU (ISCA '25), Table 3: KMeans of Hetero-Mark");
  int points = 0, features = 0, clusters = 0, iterations = 0;
  program.size(points, "points", "points", {3000, 1024, 163'840}, 1, 1 << 26);
  program.size(features, "features", "values of each point", 32, 1, 4096);
  program.size(clusters, "clusters", "clusters, at most as many as points", 5, 1, 4096);
  program.size(iterations, "iterations", "at most so many", {2, 5, 2});
  program.takes_sparsity("the values");
  return program.run(argc, argv, [&] {
    if (clusters > points) throw workload::UsageError("--clusters: there are only " + std::to_string(points) + " points");
    const size_t count = size_t(points) * features, padded_clusters = workload::groups(clusters, 8) * 8;
    const std::vector<float> values = program.sparsified(program.random().uniform_values(count, 0, 1));
    const workload::DeviceArray<float> device_values("the points", values), transposed("the transposed points", count);
    const workload::DeviceArray<float> device_centres("the centres", padded_clusters * features);
    const workload::DeviceArray<int> device_clusters("the clusters", points);
    std::vector<Iteration> done;
    program.measure([&] {
      done.clear();
      workload::launch_transpose(device_values.data(), transposed.data(), points, features);
      std::vector<float> centres(values.begin(), values.begin() + size_t(clusters) * features);
      for (int iteration = 0; iteration < iterations; ++iteration) {
        std::vector<float> padded(centres);
        while (padded.size() < padded_clusters * features) padded.push_back(padded[padded.size() - features]);
        device_centres.upload(padded);
        assign<<<workload::groups(points, group_size), group_size>>>(transposed.data(), device_centres.data(),
                                                                     device_clusters.data(), points, features, clusters);
        done.push_back({centres, device_clusters.download()});
        if (done.size() > 1 && done.back().clusters == done[done.size() - 2].clusters) break;
        std::vector<double> sums(centres.size());
        std::vector<size_t> sizes(clusters);
        for (size_t i = 0; i < count; ++i) sums[done.back().clusters[i / features] * features + i % features] += values[i];
        for (const int cluster : done.back().clusters) ++sizes[cluster];
        // A cluster that has lost all its points stays where it is.
        for (size_t i = 0; i < centres.size(); ++i) {
          if (sizes[i / features] != 0) centres[i] = static_cast<float>(sums[i] / static_cast<double>(sizes[i / features]));
        }
      }
    });
    program.report("iterations_done", done.size());
    if (!program.checks()) return;
    for (size_t i = 0; i < done.size(); ++i) {
      program.check_true("iteration " + std::to_string(i), is_right(done[i], values, features, clusters));
    }
  });
}

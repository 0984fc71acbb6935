// Lloyd's k-means as in Hetero-Mark: the GPU transposes the points once, so that adjacent lanes read adjacent values, and in
// each iteration finds the nearest centre of each point; the host moves the centres. The loop ends when no point changes its
// cluster, or after a maximum number of iterations. Sizes are MGPUSim's.
//
//   tuned       one pass over a point's values for eight centres, which are read by scalar loads; the host adds the points
//   suite       the kernels of Rodinia, for near-data computing: the distance to one centre at a time, with both operands from
//               memory. The GPU adds the points of each part of the points by cluster, in memory; the host adds the sums of the
//               parts
//   heteromark  the kernels of Hetero-Mark, for LazyGPU: the distance to one centre at a time, one element of the point per
//               step; centres are read by scalar loads. One work-item transposes a point. The host adds the points
#include <hip/hip_runtime.h>

#include <algorithm>
#include <limits>
#include <string>

#include "workloads/common/program.h"
#include "workloads/common/transpose.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_size = 256;

// The centres are the same for all lanes and are read by scalar loads. `at_once` distances are accumulated in one pass over a
// point's values.
__global__ void __launch_bounds__(group_size)
    assign(const float* __restrict__ values, const float* __restrict__ centres, int* __restrict__ clusters, unsigned points,
           unsigned features, unsigned count) {
  constexpr unsigned at_once = 8;
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
  float nearest = INFINITY;
  int cluster = 0;
  // The host pads the centres to a multiple of at_once by repeating the last centre.
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

// The loop is not unrolled, as in other code objects of MGPUSim, whose compiler unrolls no loop of an unknown length.
__global__ void __launch_bounds__(group_size)
    assign_by_centre(const float* __restrict__ values, const float* __restrict__ centres, int* __restrict__ clusters,
                     unsigned points, unsigned features, unsigned count) {
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
  float nearest = INFINITY;
  int cluster = 0;
  for (unsigned i = 0; i < count; ++i) {
    float distance = 0;
#pragma unroll 1
    for (unsigned feature = 0; feature < features; ++feature) {
      const float difference = values[size_t{feature} * points + point] - centres[i * features + feature];
      distance += difference * difference;
    }
    if (distance < nearest) nearest = distance, cluster = static_cast<int>(i);
  }
  clusters[point] = cluster;
}

__global__ void __launch_bounds__(group_size)
    transpose_points(const float* __restrict__ from, float* __restrict__ to, unsigned points, unsigned features) {
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
#pragma unroll 1
  for (unsigned feature = 0; feature < features; ++feature)
    to[size_t{feature} * points + point] = from[size_t{point} * features + feature];
}

extern "C" __global__ void __launch_bounds__(group_size)
    kmeans_point(const float* values, const float* centres, int* clusters, unsigned points, unsigned features, unsigned count) {
  const unsigned point = blockIdx.x * group_size + threadIdx.x;
  if (point >= points) return;
  float nearest = INFINITY;
  int cluster = 0;
  for (unsigned i = 0; i < count; ++i) {
    float distance = 0;
    for (unsigned feature = 0; feature < features; ++feature) {
      const float difference = values[size_t{feature} * points + point] - centres[workload::unknown(i * features + feature)];
      distance += difference * difference;
    }
    if (distance < nearest) nearest = distance, cluster = static_cast<int>(i);
  }
  clusters[point] = cluster;
}

// sums[part][cluster][feature] = sum of the values of a part's points that are in the cluster, added point by point. One
// work-item per feature of a part.
extern "C" __global__ void __launch_bounds__(group_size)
    kmeans_sums(const float* values, const int* clusters, float* sums, unsigned points, unsigned features, unsigned count,
                unsigned part_size) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x, part = i / features, feature = i % features;
  const unsigned first = part * part_size, end = min(first + part_size, points);
  for (unsigned point = first; point < end; ++point) {
    auto cluster = static_cast<unsigned>(clusters[point]);
    const size_t at = workload::unknown_after(cluster, size_t{point} * features + feature);
    float& sum = sums[(size_t{part} * count + cluster) * features + feature];
    sum = sum + values[at];
  }
}

struct Iteration {
  std::vector<float> centres;  // the centres that the points were compared with
  std::vector<int> clusters;
  std::vector<float> sums = {};  // form suite: sums of each part; empty once the centres do not move
};

// Returns whether each point is assigned to the nearest centre, within the rounding of the distances.
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

// Returns whether the sums of each part and cluster are correct, within the rounding of as many additions as a part has points.
static bool are_right(const Iteration& iteration, const std::vector<float>& values, size_t features, size_t part_size) {
  if (iteration.sums.empty()) return true;
  std::vector<double> expected(iteration.sums.size());
  const size_t clusters = iteration.centres.size() / features;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t point = i / features, row = point / part_size * clusters + static_cast<size_t>(iteration.clusters[point]);
    expected[row * features + i % features] += values[i];
  }
  // Values are not negative, so that a sum is also the sum of its terms' magnitudes.
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::fabs(iteration.sums[i] - expected[i]) <= workload::sum_error(static_cast<double>(part_size)) * expected[i]))
      return false;
  return true;
}

int main(int argc, char** argv) {
  workload::Program program("kmeans", "k-means clustering, centres moved by the host",
                            "LazyGPU (ISCA '25), Table 3: KMeans of Hetero-Mark");
  int points = 0, features = 0, clusters = 0, iterations = 0;
  std::string form;
  program.size(points, "points", "points", {3000, 1024, 163'840}, 1, 1 << 26);
  program.size(features, "features", "values of each point", 32, 1, 4096);
  program.size(clusters, "clusters", "clusters, at most as many as points", 5, 1, 4096);
  program.size(iterations, "iterations", "maximum number", {2, 5, 2});
  program.choice(form, "form", "the kernels", {"tuned", "suite", "heteromark"}, std::string("tuned"));
  program.takes_sparsity("the values");
  return program.run(argc, argv, [&] {
    if (clusters > points) throw workload::UsageError("--clusters: there are only " + std::to_string(points) + " points");
    const bool suite = form == "suite", heteromark = form == "heteromark";
    const size_t count = size_t(points) * features, padded_clusters = workload::groups(clusters, 8) * 8;
    // A part has at least as many points as there are clusters, so that sums take no more memory than the points.
    const unsigned part_size = std::max(64, clusters), parts = suite ? workload::groups(points, part_size) : 1;
    const std::vector<float> values = program.sparsified(program.random().uniform_values(count, 0, 1));
    const workload::DeviceArray<float> device_values("the points", values), transposed("the transposed points", count);
    const workload::DeviceArray<float> device_centres("the centres", padded_clusters * features);
    const workload::DeviceArray<int> device_clusters("the clusters", points);
    const workload::DeviceArray<float> device_sums("sums of points", size_t{parts} * clusters * features);
    std::vector<Iteration> done;
    const auto assign_points = [&](const std::vector<float>& centres) {
      std::vector<float> padded(centres);
      while (padded.size() < padded_clusters * features) padded.push_back(padded[padded.size() - features]);
      device_centres.upload(padded);
      (suite        ? kmeans_point
       : heteromark ? assign_by_centre
                    : assign)<<<workload::groups(points, group_size), group_size>>>(
          transposed.data(), device_centres.data(), device_clusters.data(), points, features, clusters);
      done.push_back({centres, device_clusters.download()});
    };
    // Returns the sum of the points of each cluster.
    const auto summed = [&](Iteration& iteration) {
      std::vector<double> sums(iteration.centres.size());
      if (!suite) {
        for (size_t i = 0; i < count; ++i) sums[iteration.clusters[i / features] * features + i % features] += values[i];
        return sums;
      }
      device_sums.clear();
      kmeans_sums<<<workload::groups(size_t{parts} * features, group_size), group_size>>>(
          device_values.data(), device_clusters.data(), device_sums.data(), points, features, clusters, part_size);
      iteration.sums = device_sums.download();
      for (size_t i = 0; i < iteration.sums.size(); ++i) sums[i % sums.size()] += iteration.sums[i];
      return sums;
    };
    program.measure([&] {
      done.clear();
      if (heteromark) {
        transpose_points<<<workload::groups(points, group_size), group_size>>>(device_values.data(), transposed.data(), points,
                                                                               features);
      } else {
        workload::launch_transpose(device_values.data(), transposed.data(), points, features);
      }
      std::vector<float> centres(values.begin(), values.begin() + size_t(clusters) * features);
      for (int iteration = 0; iteration < iterations; ++iteration) {
        assign_points(centres);
        if (done.size() > 1 && done.back().clusters == done[done.size() - 2].clusters) break;
        const std::vector<double> sums = summed(done.back());
        std::vector<size_t> sizes(clusters);
        for (const int cluster : done.back().clusters) ++sizes[cluster];
        // A centre without points is not moved.
        for (size_t i = 0; i < centres.size(); ++i) {
          if (sizes[i / features] != 0) centres[i] = static_cast<float>(sums[i] / static_cast<double>(sizes[i / features]));
        }
      }
    });
    program.report("iterations_done", done.size());
    if (!program.checks()) return;
    for (size_t i = 0; i < done.size(); ++i) {
      program.check_true("iteration " + std::to_string(i), is_right(done[i], values, features, clusters));
      program.check_true("sums of iteration " + std::to_string(i), are_right(done[i], values, features, part_size));
    }
  });
}

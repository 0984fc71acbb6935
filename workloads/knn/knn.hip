// k nearest neighbours: for each query, the K references of smallest Euclidean distance, by exhaustive comparison.
//
//   simt   differences, squared and summed by vector ALUs
//   sgemm  |q|^2 + |r|^2 - 2 q.r, where the scalar products are a matrix product by vector ALUs (KNN-CUDA: by cuBLAS)
//   m3xu   like sgemm, with the matrix product in M3XU's FP32; the results are bit-identical
//   simd2  differences of coordinates rounded to half, squared and summed by SIMD2's addnorm
//   published  as in the first KNN-CUDA (V. Garcia et al., CVPR workshops 2008), the baseline named in the SIMD2 thesis:
//          differences, squared and summed, one pair of points per work-item, then selection by insertion, one query per
//          work-item (insertion.h)
//
// The matrix of distances is stored in memory, and a further kernel selects the neighbours (select.h; insertion.h for
// `published`). `recall` is the share of neighbours that are also nearest for the coordinates before rounding: it shows the
// effect of half precision.
#include "lacuna/simd2.h"

#include <algorithm>
#include <numeric>

#include "workloads/common/gemm_host.h"
#include "workloads/common/gemm_products.h"
#include "workloads/knn/insertion.h"
#include "workloads/knn/select.h"

using tiled::HostMatrix;
using Half = _Float16;

__device__ inline void add_squared_differences(float& sum, tiled::Unit a, tiled::Unit b) {
  const float x = a.x - b.x, y = a.y - b.y;  // explicit components: a - b would be a packed instruction
  sum = fmaf(x, x, sum);
  sum = fmaf(y, y, sum);
}

TILED_KERNEL(distances_simt, float, tiled::Simt<float, 8, 8, add_squared_differences>)
TILED_KERNEL(products_sgemm, float, tiled::Simt<float, 8, 8>)
TILED_KERNEL(products_sgemm_64_64, float, tiled::Simt<float, 4, 4>)
TILED_MATRIX_KERNEL(products_m3xu, float, tiled::M3xu<m3xu::fp32, 4, 4>)
TILED_MATRIX_KERNEL(products_m3xu_64_64, float, tiled::M3xu<m3xu::fp32, 2, 2>)

extern "C" __global__ void __launch_bounds__(simd2::workgroup_size, simd2::wavefronts<128>)
    distances_simd2(simd2::dense_factors x, float* __restrict__ distances, unsigned ld) {
  simd2::multiply<simd2::addnorm, 128>(
      x, blockIdx.y * 128, blockIdx.x * 128, [](unsigned, unsigned, auto& values) { values = 0.0f; },
      [=](unsigned row, unsigned column, auto values) {
        simd2::store_elements<simd2::count_of<decltype(values)>>(distances + size_t{row} * ld + column, values);
      });
}

extern "C" __global__ void __launch_bounds__(64 * knn::kSelectors)
    square_norms(const float* __restrict__ points, float* __restrict__ norms, unsigned count, unsigned dimensions,
                 unsigned ld) {
  knn::square_norms(points, norms, count, dimensions, ld);
}
extern "C" __global__ void __launch_bounds__(knn::kTile* knn::kTile)
    distances_of_pairs(const float* __restrict__ queries, const float* __restrict__ references, unsigned query_count,
                       unsigned reference_count, unsigned dimensions, float* __restrict__ distances) {
  knn::distances_of_pairs(queries, references, query_count, reference_count, dimensions, distances);
}
extern "C" __global__ void __launch_bounds__(knn::kInserters)
    insert_nearest(float* __restrict__ distances, unsigned queries, unsigned references, float* __restrict__ nearest,
                   unsigned* __restrict__ indices, unsigned neighbours) {
  knn::insert(distances, queries, references, nearest, indices, neighbours);
}
extern "C" __global__ void __launch_bounds__(64 * knn::kSelectors)
    select_nearest(knn::Distances distances, float* __restrict__ nearest, unsigned* __restrict__ columns, unsigned neighbours) {
  knn::select(distances, nearest, columns, neighbours);
}

namespace {

struct Points {
  HostMatrix<float> queries, references;
};

Points rounded_to_half(Points points) {
  for (auto* matrix : {&points.queries, &points.references}) {
    for (float& value : matrix->values) value = static_cast<float>(static_cast<Half>(value));
  }
  return points;
}

/// Squared distances of a query from all references, the largest of them, and the largest sum of the magnitudes of the terms of
/// |q|^2 + |r|^2 - 2 q.r.
struct ExactDistances {
  ExactDistances(const Points& points, size_t query) : squares(points.references.rows) {
    for (size_t r = 0; r < squares.size(); ++r) {
      double magnitude = 0;
      for (size_t d = 0; d < points.queries.columns; ++d) {
        const double q = points.queries.at(query, d), other = points.references.at(r, d);
        squares[r] += (q - other) * (q - other);
        magnitude += q * q + other * other + 2 * std::fabs(q * other);
      }
      largest_magnitude = std::max(largest_magnitude, magnitude);
      largest_square = std::max(largest_square, squares[r]);
    }
  }
  std::vector<double> squares;
  double largest_magnitude = 0, largest_square = 0;
};

/// Checks that each distance is correct for its reference, that a query's references are different, and that the i-th distance
/// is the i-th smallest of all. The last check uses the same bounds, since sorting does not increase the maximum difference of
/// two sequences.
void check(workload::Program& program, const Points& points, const std::vector<float>& distances,
           const std::vector<unsigned>& indices, unsigned neighbours, bool by_norms) {
  const double share = workload::sum_error(points.queries.columns + 4.0);
  std::vector<double> of_index(distances.size()), of_rank(distances.size()), bounds(distances.size());
  bool inside = true, different = true;
  for (size_t query = 0; query < points.queries.rows; ++query) {
    const ExactDistances exact(points, query);
    std::vector<double> sorted = exact.squares;
    std::partial_sort(sorted.begin(), sorted.begin() + neighbours, sorted.end());
    const size_t first = query * neighbours;
    std::vector<unsigned> of_query(indices.begin() + first, indices.begin() + first + neighbours);
    for (size_t i = 0; i < neighbours; ++i) {
      inside = inside && of_query[i] < points.references.rows;
      if (of_query[i] < points.references.rows) of_index[first + i] = exact.squares[of_query[i]];
      of_rank[first + i] = sorted[i];
      bounds[first + i] = share * (by_norms ? exact.largest_magnitude : exact.largest_square);
    }
    std::sort(of_query.begin(), of_query.end());
    different = different && std::adjacent_find(of_query.begin(), of_query.end()) == of_query.end();
  }
  program.check_true("every neighbour is one of the references", inside);
  program.check_true("a query's neighbours are different ones", different);
  program.check_near("distances of the neighbours", distances, of_index, [&](size_t i) { return bounds[i]; });
  program.check_near("distances in ascending order", distances, of_rank, [&](size_t i) { return bounds[i]; });
}

/// Returns the share of the neighbours that are among the nearest in `points`.
double recall(const Points& points, const std::vector<unsigned>& indices, unsigned neighbours) {
  size_t found = 0;
  for (size_t query = 0; query < points.queries.rows; ++query) {
    std::vector<double> sorted = ExactDistances(points, query).squares;
    const std::vector<double> squares = sorted;
    std::nth_element(sorted.begin(), sorted.begin() + (neighbours - 1), sorted.end());
    for (size_t i = 0; i < neighbours; ++i) {
      const unsigned index = indices[query * neighbours + i];
      found += index < squares.size() && squares[index] <= sorted[neighbours - 1];
    }
  }
  return static_cast<double>(found) / static_cast<double>(indices.size());
}

/// Computes the matrix of distances (sgemm and m3xu: of -2 q.r, and the norms), and selects the nearest references.
class Search {
 public:
  Search(const Points& points, const std::string& implementation)
      : implementation_(implementation),
        queries_(points.queries.rows),
        references_(points.references.rows),
        dimensions_(points.queries.columns),
        ld_((workload::groups(references_, 16) | 1) * 16),  // an odd number of cache lines
        distances_("the distances", std::max(size_t{queries_} * ld_, size_t{references_} * queries_)) {
    if (implementation == "published") {
      // Points are stored by dimension, since adjacent work-items process adjacent points.
      const auto by_dimension = [](const HostMatrix<float>& points) {
        std::vector<float> values(points.values.size());
        for (size_t i = 0; i < values.size(); ++i) values[i] = points.at(i % points.rows, i / points.rows);
        return values;
      };
      columns_of_queries_ = std::make_unique<workload::DeviceArray<float>>("the queries", by_dimension(points.queries));
      columns_of_references_ =
          std::make_unique<workload::DeviceArray<float>>("the references", by_dimension(points.references));
      return;
    }
    if (implementation == "simd2") {
      const auto halves = [](size_t count, auto get) {
        std::vector<Half> values(count);
        for (size_t i = 0; i < count; ++i) values[i] = static_cast<Half>(get(i));
        return values;
      };
      half_queries_ = std::make_unique<workload::DeviceArray<Half>>(
          "the queries", halves(points.queries.values.size(), [&](size_t i) { return points.queries.values[i]; }));
      // Stored by dimension, as the second factor of a product.
      half_references_ = std::make_unique<workload::DeviceArray<Half>>(
          "the references", halves(points.references.values.size(),
                                   [&](size_t i) { return points.references.at(i % references_, i / references_); }));
      return;
    }
    left_ = std::make_unique<tiled::DeviceOperand<float>>(
        "the queries", queries_, dimensions_, true,
        [&](size_t query, size_t dimension) { return points.queries.at(query, dimension); });
    right_ = std::make_unique<tiled::DeviceOperand<float>>(
        "the references", references_, dimensions_, true,
        [&](size_t reference, size_t dimension) { return points.references.at(reference, dimension); });
    if (implementation == "simt") return;
    norms_of_queries_ = std::make_unique<workload::DeviceArray<float>>("the norms of the queries", queries_);
    norms_of_references_ = std::make_unique<workload::DeviceArray<float>>("the norms of the references", ld_);
  }
  void launch(float* nearest, unsigned* indices, unsigned neighbours) const {
    if (implementation_ == "published") {
      const dim3 tiles(workload::groups(queries_, knn::kTile), workload::groups(references_, knn::kTile));
      distances_of_pairs<<<tiles, dim3(knn::kTile, knn::kTile)>>>(columns_of_queries_->data(), columns_of_references_->data(),
                                                                  queries_, references_, dimensions_, distances_.data());
      insert_nearest<<<workload::groups(queries_, knn::kInserters), knn::kInserters>>>(distances_.data(), queries_, references_,
                                                                                       nearest, indices, neighbours);
      workload::require(hipGetLastError(), "launching the kernels");
      return;
    }
    if (implementation_ == "simd2") {
      const simd2::dense_factors factors{
          half_queries_->data(), half_references_->data(), queries_, references_, dimensions_, dimensions_, references_};
      distances_simd2<<<dim3(workload::groups(references_, 128), workload::groups(queries_, 128)), simd2::workgroup_size>>>(
          factors, distances_.data(), ld_);
    } else {
      const bool direct = implementation_ == "simt";
      using Kernels = std::vector<tiled::Kernel<tiled::Function<float>>>;
      const Kernels kernels = direct ? Kernels{{"simt", distances_simt, 128, 128, 0, 0}}
                                     : Kernels{{"simt", products_sgemm, 128, 128, 0, 0},
                                               {"simt", products_sgemm_64_64, 64, 64, 0, 0},
                                               {"m3xu", products_m3xu, 128, 128, 0, 0},
                                               {"m3xu", products_m3xu_64_64, 64, 64, 0, 0}};
      const std::string multiplies = implementation_ == "m3xu" ? "m3xu" : "simt";
      const auto& kernel = tiled::kernel_for(kernels, multiplies, "auto", queries_, references_);
      if (!direct) {
        launch_norms(left_->operand(), *norms_of_queries_);
        launch_norms(right_->operand(), *norms_of_references_);
      }
      const tiled::Result<float> result{distances_.data(), queries_, references_, ld_, direct ? 1.0f : -2.0f, 0.0f};
      tiled::launch(kernel, result, left_->operand(), right_->operand(), dimensions_);
    }
    const knn::Distances distances{distances_.data(),
                                   norms_of_references_ ? norms_of_references_->data() : nullptr,
                                   norms_of_queries_ ? norms_of_queries_->data() : nullptr,
                                   queries_,
                                   references_,
                                   ld_};
    select_nearest<<<workload::groups(queries_, knn::kSelectors), 64 * knn::kSelectors>>>(distances, nearest, indices,
                                                                                          neighbours);
    workload::require(hipGetLastError(), "launching the kernels");
  }

 private:
  void launch_norms(const tiled::Operand<float>& points, const workload::DeviceArray<float>& norms) const {
    square_norms<<<workload::groups(points.size, knn::kSelectors), 64 * knn::kSelectors>>>(points.data, norms.data(),
                                                                                           points.size, dimensions_, points.ld);
  }

  std::string implementation_;
  unsigned queries_, references_, dimensions_, ld_;
  workload::DeviceArray<float> distances_;
  std::unique_ptr<tiled::DeviceOperand<float>> left_, right_;
  std::unique_ptr<workload::DeviceArray<float>> norms_of_queries_, norms_of_references_, columns_of_queries_,
      columns_of_references_;
  std::unique_ptr<workload::DeviceArray<Half>> half_queries_, half_references_;
};

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("knn", "k nearest neighbours by brute force, on vector ALUs or matrix units",
                            "M3XU and SIMD2 (thesis, sections 2.6.3 and 3.6.3): KNN-CUDA");
  int queries = 0, references = 0, dimensions = 0, neighbours = 0;
  program.size(queries, "queries", "queries", {96, 1024, 2048}, 1, 1 << 16);
  program.size(references, "references", "references", {320, 2048, 2048}, 1, 1 << 16);
  program.size(dimensions, "dimensions", "coordinates of a point", {40, 256, 256}, 1, 1 << 12);
  program.size(neighbours, "neighbours", "K, neighbours of a query", 16, 1, knn::kMost);
  std::string implementation;
  program.choice(implementation, "implementation", "how distances are computed",
                 {"simt", "sgemm", "m3xu", "simd2", "published"}, std::string("simt"));
  return program.run(argc, argv, [&] {
    if (neighbours > references) throw workload::UsageError("--neighbours has to be at most --references");
    const bool matrix_units = implementation == "m3xu" || implementation == "simd2";
    if (matrix_units && !tiled::has_matrix_units()) {
      throw workload::UsageError("--implementation " + implementation + " needs matrix units, which gfx90a has");
    }
    Points points{HostMatrix<float>(queries, dimensions), HostMatrix<float>(references, dimensions)};
    points.queries.values = program.random().uniform_values(points.queries.values.size(), -1, 1);
    points.references.values = program.random().uniform_values(points.references.values.size(), -1, 1);
    const Search search(points, implementation);
    const auto results = static_cast<size_t>(queries) * neighbours;
    const workload::DeviceArray<float> nearest("the distances of neighbours", results);
    const workload::DeviceArray<unsigned> indices("the neighbours", results);
    program.measure([&] { search.launch(nearest.data(), indices.data(), neighbours); });
    if (!program.checks()) return;
    const bool halves = implementation == "simd2", by_norms = implementation == "sgemm" || implementation == "m3xu";
    check(program, halves ? rounded_to_half(points) : points, nearest.download(), indices.download(), neighbours, by_norms);
    program.report("recall", recall(points, indices.download(), neighbours));
  });
}

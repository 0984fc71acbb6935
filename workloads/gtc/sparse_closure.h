// Closure of a reflexive Boolean matrix in compressed rows by squaring, as in cuBool, the baseline that the SIMD2 thesis names
// for GTC. Implemented from the description of the algorithm, not from a program.
//
// A product computes the pattern of each row as a bitmap, and the offsets of rows from the numbers of their elements; the host
// reads the total and allocates the columns, which a third kernel writes. The last product is the one that adds no element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/common/csr.h"
#include "workloads/common/device_array.h"
#include "workloads/common/sparse_pattern.h"

namespace sparse_closure {

using workload::Csr;

/// Writes the columns of a row's bitmap of `words` words in order, one wavefront per row.
__global__ void __launch_bounds__(64) write_columns(const unsigned* __restrict__ bitmaps, unsigned words,
                                                    const unsigned* __restrict__ offsets, unsigned* __restrict__ columns) {
  __shared__ unsigned partial;
  const unsigned* const bitmap = bitmaps + static_cast<size_t>(blockIdx.x) * words;
  unsigned at = offsets[blockIdx.x];
  for (unsigned first = 0; first < words; first += 64) {
    const unsigned word = first + threadIdx.x;
    unsigned left = word < words ? bitmap[word] : 0, all = 0;
    unsigned place = at + workload::sum_before(__popc(left), &partial, all);
    for (; left != 0; left &= left - 1) columns[place++] = word * 32 + __ffs(left) - 1;
    at += all;
  }
}

/// A matrix in compressed rows on the GPU.
struct Matrix {
  explicit Matrix(unsigned rows) : offsets("the rows", rows + 1) {}
  explicit Matrix(const Csr& from) : offsets("the rows", from.offsets) {
    allocate(from.entries());
    columns->upload(from.columns);
  }
  void allocate(size_t count) {
    entries = count;
    columns.emplace("the columns", count);
  }
  sparse::CsrView view() const { return {offsets.data(), columns->data(), nullptr}; }
  size_t entries = 0;
  workload::DeviceArray<unsigned> offsets;
  std::optional<workload::DeviceArray<unsigned>> columns;
};

/// Kernels of a product, and the memory that all products share.
class Product {
 public:
  /// Products have at most `rows` rows, and `columns` columns.
  Product(unsigned rows, unsigned columns)
      : words_(workload::groups(columns, 32)),
        bitmaps_("the patterns of rows", size_t{rows} * words_),
        counts_("the lengths of rows", rows),
        total_("the length of the product", 1) {}

  /// Computes the pattern of left * right and its row offsets. Returns the number of its elements. `row`: mean number of
  /// elements of a row of both matrices.
  size_t find_pattern(const sparse::CsrView& left, const sparse::CsrView& right, unsigned rows, double row,
                      unsigned* offsets) const {
    sparse::find_pattern<<<rows, sparse::workgroup_for(row * row), (words_ + 1) * sizeof(unsigned)>>>(
        left, right, words_, sparse::lanes_for(static_cast<size_t>(row)), bitmaps_.data(), counts_.data());
    sparse::scan_counts<<<1, sparse::scan_size>>>(counts_.data(), rows, offsets, total_.data());
    return total_.download()[0].entries;
  }
  const unsigned* bitmaps() const { return bitmaps_.data(); }
  unsigned words() const { return words_; }

 private:
  unsigned words_;
  workload::DeviceArray<unsigned> bitmaps_, counts_;
  workload::DeviceArray<sparse::Total> total_;
};

/// The algorithm.
class Closure {
 public:
  explicit Closure(const Csr& edges) : edges_(edges), rows_(static_cast<unsigned>(edges.rows())), product_(rows_, rows_) {}

  void prepare() { now_ = std::make_unique<Matrix>(edges_); }
  /// Returns the number of products.
  unsigned run() {
    for (unsigned products = 1;; ++products) {
      auto next = std::make_unique<Matrix>(rows_);
      const double row = static_cast<double>(now_->entries) / rows_;
      next->allocate(product_.find_pattern(now_->view(), now_->view(), rows_, row, next->offsets.data()));
      if (next->entries == now_->entries) return products;
      write_columns<<<rows_, 64>>>(product_.bitmaps(), product_.words(), next->offsets.data(), next->columns->data());
      now_ = std::move(next);
    }
  }
  Csr result() const { return {now_->offsets.download(), now_->columns->download()}; }

 private:
  const Csr& edges_;
  unsigned rows_;
  Product product_;
  std::unique_ptr<Matrix> now_;
};

/// The host's squares of a matrix: the matrix itself, its square, the square of that, and so on, up to one that equals its
/// square.
inline std::vector<Csr> squares(const Csr& matrix) {
  const size_t rows = matrix.rows(), words = workload::groups(rows, 64);
  std::vector<Csr> all{matrix};
  for (;;) {
    const Csr& last = all.back();
    std::vector<uint64_t> bits(rows * words), square(words);
    for (size_t row = 0; row < rows; ++row) {
      for (unsigned i = last.offsets[row]; i < last.offsets[row + 1]; ++i)
        bits[row * words + last.columns[i] / 64] |= uint64_t{1} << last.columns[i] % 64;
    }
    Csr next{{0}, {}};
    for (size_t row = 0; row < rows; ++row) {
      std::fill(square.begin(), square.end(), 0);
      for (unsigned i = last.offsets[row]; i < last.offsets[row + 1]; ++i) {
        const uint64_t* const from = bits.data() + last.columns[i] * words;
        for (size_t word = 0; word < words; ++word) square[word] |= from[word];
      }
      for (size_t word = 0; word < words; ++word) {
        for (uint64_t left = square[word]; left != 0; left &= left - 1)
          next.columns.push_back(static_cast<unsigned>(word * 64 + static_cast<unsigned>(__builtin_ctzll(left))));
      }
      next.offsets.push_back(static_cast<unsigned>(next.columns.size()));
    }
    if (next.entries() == last.entries()) return all;
    all.push_back(std::move(next));
  }
}

/// Every `slices`-th row of all products. The host computes the factors, so that no product depends on rows that are left out.
class Part {
 public:
  Part(const Csr& edges, unsigned slices) : Part(squares(edges), slices) {}

  void run() {
    found_.clear();
    for (size_t i = 0; i < lefts_.size(); ++i) {
      const double row = static_cast<double>(rights_[i].entries) / all_rows_;
      found_.push_back(product_.find_pattern(lefts_[i].view(), rights_[i].view(), rows_, row, offsets_.data()));
      if (i + 1 < lefts_.size())
        write_columns<<<rows_, 64>>>(product_.bitmaps(), product_.words(), offsets_.data(), columns_.data());
    }
  }
  unsigned products() const { return static_cast<unsigned>(lefts_.size()); }
  /// Number of all rows as a multiple of those that are computed.
  double whole() const { return static_cast<double>(all_rows_) / rows_; }
  /// Number of elements of each product in these rows, by the kernels and by the host.
  const std::vector<size_t>& found() const { return found_; }
  const std::vector<size_t>& expected() const { return expected_; }

 private:
  Part(const std::vector<Csr>& matrices, unsigned slices)
      : all_rows_(static_cast<unsigned>(matrices.front().rows())),
        rows_(workload::groups(all_rows_, slices)),
        product_(rows_, all_rows_),
        offsets_("the rows", rows_ + 1),
        columns_("the columns", size_t{rows_} * all_rows_) {
    for (const Csr& matrix : matrices) {
      const Csr part = rows_of(matrix, slices);
      rights_.emplace_back(matrix), lefts_.emplace_back(part);
      if (&matrix != &matrices.front()) expected_.push_back(part.entries());
    }
    expected_.push_back(expected_.empty() ? rows_of(matrices.front(), slices).entries() : expected_.back());
  }
  static Csr rows_of(const Csr& matrix, unsigned slices) {
    Csr part{{0}, {}};
    for (size_t row = 0; row < matrix.rows(); row += slices) {
      part.columns.insert(part.columns.end(), matrix.columns.begin() + matrix.offsets[row],
                          matrix.columns.begin() + matrix.offsets[row + 1]);
      part.offsets.push_back(static_cast<unsigned>(part.columns.size()));
    }
    return part;
  }

  unsigned all_rows_, rows_;
  Product product_;
  workload::DeviceArray<unsigned> offsets_, columns_;
  std::deque<Matrix> lefts_, rights_;
  std::vector<size_t> found_, expected_;
};

}  // namespace sparse_closure

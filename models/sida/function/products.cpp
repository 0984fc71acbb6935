#include "models/sida/function/products.h"

#include <algorithm>
#include <numeric>

#include "models/sida/function/arithmetic.h"
#include "models/sida/function/matrix_lines.h"

namespace lacuna::sida {
namespace {

/// Maximum number of entries read at a time, except that a longer line is read as a whole.
constexpr std::uint64_t kEntriesAtOnce = 16384;

/// Entries of a matrix, the vector by which they are multiplied, and the sums to which their terms are added.
struct Terms {
  const std::uint32_t* from;    ///< index of each entry's element of x
  const std::uint32_t* to;      ///< index of each entry's sum; unused by line_sums
  const std::byte* values;      ///< value of each entry; null: all values are 1
  const std::byte* x;           ///< elements with their features
  const std::uint8_t* present;  ///< whether each element of x is present; null: all are
  std::uint32_t width;          ///< number of features of an element
};

/// Functions that depend on semiring and element type.
struct Kernels {
  unsigned element_bytes, sum_bytes;
  /// Computes the sums of `lines` lines; the entries of line i begin at offsets[i] - offsets[0]. All elements must be present
  /// and have one feature.
  void (*line_sums)(const std::uint64_t* offsets, std::uint64_t lines, const Terms& terms, std::byte* sums);
  /// Sets `count` sums to the identity.
  void (*clear)(std::byte* sums, std::uint64_t count);
  /// Adds the terms of entries in sequence.
  void (*add)(const Terms& terms, std::uint64_t entries, std::byte* sums);
};

/// BOOL values are as in memory: any byte except 0 counts as 1.
template <class T>
T matrix_value(const Terms& terms, std::uint64_t entry) {
  if (!terms.values) return truth<T>(true);
  const T value = reinterpret_cast<const T*>(terms.values)[entry];
  if constexpr (std::is_same_v<T, Bool>)
    return truth<T>(value.value != 0);
  else
    return value;
}

template <class T, class Ring>
void line_sums(const std::uint64_t* offsets, std::uint64_t lines, const Terms& terms, std::byte* out) {
  const T* const x = reinterpret_cast<const T*>(terms.x);
  auto* const sums = reinterpret_cast<SumOf<T>*>(out);
  for (std::uint64_t line = 0; line < lines; ++line) {
    SumOf<T> sum = Ring::Add::identity();
    for (std::uint64_t e = offsets[line] - offsets[0]; e < offsets[line + 1] - offsets[0]; ++e) {
      sum = Ring::Add::combine(sum, Ring::term(x[terms.from[e]], matrix_value<T>(terms, e)));
    }
    sums[line] = sum;
  }
}

template <class T, class Ring>
void clear(std::byte* sums, std::uint64_t count) {
  std::fill_n(reinterpret_cast<SumOf<T>*>(sums), count, Ring::Add::identity());
}

template <class T, class Ring>
void add(const Terms& terms, std::uint64_t entries, std::byte* sums) {
  const std::uint64_t width = terms.width;
  for (std::uint64_t e = 0; e < entries; ++e) {
    if (terms.present && terms.present[terms.from[e]] == 0) continue;
    const T* const x = reinterpret_cast<const T*>(terms.x) + terms.from[e] * width;
    SumOf<T>* const out = reinterpret_cast<SumOf<T>*>(sums) + terms.to[e] * width;
    const T value = matrix_value<T>(terms, e);
    for (std::uint64_t f = 0; f < width; ++f) out[f] = Ring::Add::combine(out[f], Ring::term(x[f], value));
  }
}

Kernels kernels_of(unsigned semiring, unsigned element) {
  return with_type(element, [&](auto type) {
    using T = decltype(type);
    return with_semiring<T, SumOf<T>>(semiring, [](auto ring) {
      using Ring = decltype(ring);
      return Kernels{sizeof(T), sizeof(SumOf<T>), line_sums<T, Ring>, clear<T, Ring>, add<T, Ring>};
    });
  });
}

class DualProduct : public Product {
 public:
  DualProduct(MatrixLines lines, const Kernels& kernels, const HostVector& x, std::uint32_t width)
      : lines_(std::move(lines)), kernels_(kernels), x_(x), width_(width) {}

  std::unique_ptr<Product> copy() const override { return std::make_unique<DualProduct>(*this); }
  std::uint64_t lines_together() const override { return 1; }
  std::uint64_t work_before(std::uint64_t line) const override { return lines_.offsets()[line]; }

  void sums(std::uint64_t first, std::uint64_t count, std::byte* out) override {
    const std::span<const std::uint64_t> offsets = lines_.offsets();
    for (std::uint64_t at = first; at < first + count;) {
      std::uint64_t end = at + 1;
      while (end < first + count && offsets[end + 1] - offsets[at] <= kEntriesAtOnce) ++end;
      part(at, end - at, out + (at - first) * width_ * kernels_.sum_bytes);
      at = end;
    }
  }

 private:
  void part(std::uint64_t first, std::uint64_t count, std::byte* out) {
    const MatrixLines::Entries entries = lines_.read(first, count);
    const std::uint64_t* const offsets = lines_.offsets().data() + first;
    Terms terms{entries.coordinates.data(), nullptr, entries.values, x_.values.data(), x_.present_or_null(), width_};
    if (width_ == 1 && !terms.present) {
      kernels_.line_sums(offsets, count, terms, out);
      return;
    }
    to_.resize(entries.coordinates.size());
    for (std::uint64_t line = 0; line < count; ++line) {
      std::fill(to_.begin() + static_cast<std::ptrdiff_t>(offsets[line] - offsets[0]),
                to_.begin() + static_cast<std::ptrdiff_t>(offsets[line + 1] - offsets[0]), static_cast<std::uint32_t>(line));
    }
    terms.to = to_.data();
    kernels_.clear(out, count * width_);
    kernels_.add(terms, to_.size(), out);
  }

  MatrixLines lines_;
  Kernels kernels_;
  const HostVector& x_;
  std::uint32_t width_;
  std::vector<std::uint32_t> to_;
};

/// Product over blocks. Blocks of a line are processed in ascending order, entries of a block by column, then by row. The terms
/// of each sum are therefore added in ascending order, for the matrix and for its transpose.
class BlockedProduct : public Product {
 public:
  BlockedProduct(const Memory& memory, const lacuna_sida_matrix& matrix, MatrixLines blocks, bool transposed,
                 const Kernels& kernels, const HostVector& x, std::uint32_t width)
      : memory_(memory),
        matrix_(matrix),
        blocks_(std::move(blocks)),
        transposed_(transposed),
        kernels_(kernels),
        x_(x),
        width_(width),
        copied_offsets_(std::make_shared<std::vector<std::uint64_t>>()),
        offsets_(array_in(memory, matrix.block_offsets, matrix.blocks + 1, *copied_offsets_)),
        sums_(std::size_t{matrix.block_side} * width * kernels.sum_bytes) {
    for (std::uint64_t b = 0; b < matrix.blocks; ++b) {
      if (offsets_[b + 1] < offsets_[b]) wrong_offset(b + 1);
    }
    if (offsets_[0] != 0) wrong_offset(0);
    if (offsets_[matrix.blocks] != matrix.entries) wrong_offset(matrix.blocks);
  }

  std::unique_ptr<Product> copy() const override { return std::make_unique<BlockedProduct>(*this); }
  std::uint64_t lines_together() const override { return matrix_.block_side; }
  std::uint64_t work_before(std::uint64_t line) const override {
    return blocks_.offsets()[(line + matrix_.block_side - 1) / matrix_.block_side];
  }

  void sums(std::uint64_t first, std::uint64_t count, std::byte* out) override {
    const std::uint64_t bytes = std::uint64_t{width_} * kernels_.sum_bytes;
    for (std::uint64_t line = first; line < first + count; ++line, out += bytes) {
      const std::uint64_t block_line = line / matrix_.block_side;
      if (block_line != line_) make_line(block_line);
      std::copy_n(sums_.data() + line % matrix_.block_side * bytes, bytes, out);
    }
  }

 private:
  [[noreturn]] void wrong_offset(std::uint64_t block) const {
    throw ProgramError(
        LACUNA_SIDA_ERROR_OFFSETS,
        "offset " + std::to_string(block) + " of blocks falls, or the offsets do not begin at 0 and end at the entries",
        matrix_.block_offsets + block * sizeof(std::uint64_t));
  }

  void make_line(std::uint64_t number) {
    line_ = number;
    kernels_.clear(sums_.data(), std::uint64_t{matrix_.block_side} * width_);
    const MatrixLines::Entries listed = blocks_.read(number, 1);
    const std::uint32_t* const numbers = reinterpret_cast<const std::uint32_t*>(listed.values);
    // Blocks with consecutive numbers are adjacent: lay_out() numbers the blocks of a column of blocks consecutively.
    for (std::size_t i = 0; i < listed.coordinates.size();) {
      std::size_t end = i + 1;
      while (end < listed.coordinates.size() && numbers[end] == numbers[end - 1] + 1) ++end;
      if (numbers[end - 1] >= matrix_.blocks || numbers[i] > numbers[end - 1]) {
        throw ProgramError(LACUNA_SIDA_ERROR_COORDINATE,
                           "block " + std::to_string(numbers[i]) + " or one after it does not exist; there are " +
                               std::to_string(matrix_.blocks),
                           (transposed_ ? matrix_.by_rows : matrix_.by_columns).values);
      }
      add_blocks(number, listed.coordinates.subspan(i, end - i), numbers[i]);
      i = end;
    }
  }

  /// Adds the terms of those blocks of a line that have the given coordinates and the consecutive numbers from `first` on.
  void add_blocks(std::uint64_t line, std::span<const std::uint32_t> coordinates, std::uint32_t first) {
    const std::uint64_t begin = offsets_[first], entries = offsets_[first + coordinates.size()] - begin;
    const std::uint8_t* const rows = array_in(memory_, matrix_.block_rows + begin, entries, rows_);
    const std::uint8_t* const columns = array_in(memory_, matrix_.block_columns + begin, entries, columns_);
    const std::byte* const values = matrix_.has_values != 1
                                        ? nullptr
                                        : array_in(memory_, matrix_.block_values + begin * kernels_.element_bytes,
                                                   entries * kernels_.element_bytes, values_);
    const std::uint64_t side = matrix_.block_side;
    const std::uint64_t lines = transposed_ ? matrix_.rows : matrix_.columns, xs = transposed_ ? matrix_.columns : matrix_.rows;
    const std::uint64_t lines_end = std::min(side, lines - line * side);
    from_.resize(entries);
    to_.resize(entries);
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      const std::uint64_t first_x = coordinates[b] * side, x_end = std::min(side, xs - first_x);
      const std::uint64_t block_begin = offsets_[first + b] - begin, block_end = offsets_[first + b + 1] - begin;
      for (std::uint64_t e = block_begin; e < block_end; ++e) {
        const std::uint64_t to = transposed_ ? rows[e] : columns[e], from = transposed_ ? columns[e] : rows[e];
        const bool ascends =
            e == block_begin || columns[e - 1] < columns[e] || (columns[e - 1] == columns[e] && rows[e - 1] < rows[e]);
        if (to >= lines_end || from >= x_end || !ascends) {
          throw ProgramError(LACUNA_SIDA_ERROR_COORDINATE,
                             "entry " + std::to_string(e - block_begin) + " of block " + std::to_string(first + b) +
                                 " is outside of it, or not after the one before",
                             matrix_.block_rows + begin + e);
        }
        from_[e] = static_cast<std::uint32_t>(first_x + from);
        to_[e] = static_cast<std::uint32_t>(to);
      }
    }
    kernels_.add({from_.data(), to_.data(), values, x_.values.data(), x_.present_or_null(), width_}, entries, sums_.data());
  }

  const Memory& memory_;
  const lacuna_sida_matrix& matrix_;
  MatrixLines blocks_;
  bool transposed_;
  Kernels kernels_;
  const HostVector& x_;
  std::uint32_t width_;
  std::shared_ptr<std::vector<std::uint64_t>> copied_offsets_;
  const std::uint64_t* offsets_;  ///< first entry of each block
  std::vector<std::byte> sums_, values_;
  std::uint64_t line_ = UINT64_MAX;
  std::vector<std::uint8_t> rows_, columns_;
  std::vector<std::uint32_t> from_, to_;
};

}  // namespace

std::unique_ptr<Product> make_product(const Memory& memory, const Program& program, const ProductKind& kind,
                                      const HostVector& x) {
  MatrixLines lines = matrix_lines(memory, program, kind.matrix, kind.transposed);
  const lacuna_sida_matrix& matrix = program.matrices[kind.matrix];
  const Kernels kernels = kernels_of(kind.semiring, kind.element);
  if (matrix.layout == LACUNA_SIDA_DUAL) return std::make_unique<DualProduct>(std::move(lines), kernels, x, kind.width);
  return std::make_unique<BlockedProduct>(memory, matrix, std::move(lines), kind.transposed, kernels, x, kind.width);
}

SharedProduct::SharedProduct(std::unique_ptr<Product> product, WorkerThreads* threads) : threads_(threads) {
  products_.push_back(std::move(product));
  while (threads != nullptr && products_.size() < threads->threads()) products_.push_back(products_.front()->copy());
  numbers_.resize(products_.size());
  errors_.resize(products_.size());
  std::iota(numbers_.begin(), numbers_.end(), 0U);
}

void SharedProduct::sums(std::uint64_t first, std::uint64_t count, std::byte* out, std::uint64_t line_bytes) {
  // Minimum work to be divided, in entries or blocks: smaller products take no longer than waking a thread.
  constexpr std::uint64_t kLeastWork = 2048;
  const Product& product = *products_.front();
  const std::uint64_t together = product.lines_together(), end = first + count;
  const auto up = [&](std::uint64_t line) { return std::min((line + together - 1) / together * together, end); };
  const std::uint64_t begun = product.work_before(first / together * together), work = product.work_before(end) - begun;
  if (products_.size() == 1 || work < kLeastWork) {
    products_.front()->sums(first, count, out);
    return;
  }
  // First line of a thread's part.
  const auto begin_of = [&](std::uint64_t part) {
    std::uint64_t low = first, high = end;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (product.work_before(middle / together * together) - begun < work * part / products_.size()) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return part == 0 ? first : up(low);
  };
  threads_->run(numbers_, static_cast<unsigned>(products_.size()), [&](unsigned part, unsigned) {
    const std::uint64_t from = begin_of(part), to = part + 1 == products_.size() ? end : begin_of(part + 1);
    if (from >= to) return;
    try {
      products_[part]->sums(from, to - from, out + (from - first) * line_bytes);
    } catch (const ProgramError&) {
      errors_[part] = std::current_exception();
    }
  });
  // Reports the error of the lowest part, which a single thread would have met first.
  for (const std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace lacuna::sida

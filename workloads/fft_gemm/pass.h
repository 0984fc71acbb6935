// One pass of a Fourier transform over memory: transforms of 32 to 4096 points, a power of two, in a workgroup's LDS.
//
// A workgroup processes 4096 points: one or several adjacent columns of L points. Steps are those of Stockham, with radix 16; a
// last step has the remaining radix. If l is the product of the previous steps' radices, a step of radix R reads butterfly b
// from rows n = b + row L / R, multiplies row r by exp(-2 pi i (b mod l) r / (R l)), and stores the results at n = (b / l) R l
// + b mod l + r l. Between two steps, points are exchanged through LDS, first the real parts and then the imaginary ones, so
// that three workgroups fit into LDS. Lengths and forms are compile-time constants, so that expressions that depend only on
// them cost no instructions.
#pragma once

#include <type_traits>

#include "workloads/fft_gemm/radix16.h"

namespace fft {

constexpr unsigned kWorkgroup = 256, kLogPoints = 12;

/// Addressing: point n of a column is at (column / inner) outer + (column % inner) between + n stride, inner = 2^log_inner.
struct Side {
  unsigned log_inner, outer, between, stride;
  __device__ unsigned at(unsigned column, unsigned n) const {
    return (column >> log_inner) * outer + (column & ((1u << log_inner) - 1)) * between + n * stride;
  }
  /// Distance between adjacent columns of a workgroup.
  __device__ unsigned column_step() const { return log_inner == 0 ? outer : between; }
};

struct Pass {
  const Complex* in;
  Complex* out;
  Side from, to;
  unsigned columns;
  const Complex* roots;  ///< element k: exp(-2 pi i k / L), for transforms of L points
  /// Only for a pass over Columns, where L is 256: point k of column c is multiplied by exp(-2 pi i j k / N), with j = c %
  /// 2^to.log_inner. With j k = 256 h + l, this factor is coarse[h] * fine[l].
  const Complex *coarse, *fine;
};

/// Order of a column's points in memory: contiguous (lines), or interleaved with those of other columns. A pass keeps the order
/// (Lines, Columns), or converts lines to interleaved points (Transposed). If columns are interleaved, adjacent work-items
/// process adjacent columns.
struct Lines {
  static constexpr bool kFromColumns = false, kToColumns = false;
};
struct Columns {
  static constexpr bool kFromColumns = true, kToColumns = true;
};
struct Transposed {
  static constexpr bool kFromColumns = false, kToColumns = true;
};

/// A butterfly: its column in the workgroup, and its number within the column.
struct Butterfly {
  unsigned column, index;
};
/// Butterfly `number` of the workgroup, which has 2^kLogCount per column. The mapping is additive: numbered(a + b) is the sum
/// of numbered(a) and numbered(b) if b is less than 16 and a is a multiple of 16.
template <unsigned kLogCount, unsigned kLogRadix, bool kColumnsFirst>
__device__ inline Butterfly numbered(unsigned number) {
  constexpr unsigned log_columns = kLogPoints - kLogRadix - kLogCount;
  if constexpr (kColumnsFirst) {
    return {number & ((1u << log_columns) - 1), number >> log_columns};
  } else {
    return {number >> kLogCount, number & ((1u << kLogCount) - 1)};
  }
}

/// LDS for the exchange of a workgroup's points after a step; l is the product of the radices of the steps before it. Unused
/// words spread the lanes' writes and reads over all banks.
template <class Policy, unsigned kLogLength, class Form, unsigned l>
struct Exchange {
  static constexpr bool kBySixteen = kLogLength <= 8 || Form::kToColumns;
  static constexpr unsigned kLength = 1u << kLogLength, kRest = Form::kToColumns;
  /// Number of unused words before point n.
  __device__ static constexpr unsigned free(unsigned n) {
    if constexpr (kBySixteen) return n / 16;
    if constexpr (l == 16) return n / 256 * 16;
    return n / 32 * (Policy::kOnUnits ? 2 : 1);
  }
  __device__ static unsigned at(unsigned column, unsigned n) {
    return column * (kLength + free(kLength) + kRest) + n + free(n);
  }
  static constexpr unsigned kSize = (1u << (kLogPoints - kLogLength)) * (kLength + kLength / 16 + kRest);

  /// Value v is stored at `to(v)` and replaced by the value at `from(v)`.
  template <class To, class From>
  __device__ static void run(float* lds, Complex (&x)[16], To to, From from) {
#pragma unroll
    for (auto part : {&Complex::re, &Complex::im}) {
      __syncthreads();
#pragma unroll
      for (unsigned v = 0; v < 16; ++v) lds[to(v)] = x[v].*part;
      __syncthreads();
#pragma unroll
      for (unsigned v = 0; v < 16; ++v) x[v].*part = lds[from(v)];
    }
  }
};

/// A workgroup's part of a pass of transforms of 2^kLogLength points.
template <class Policy, unsigned kLogLength, class Form>
class Transform {
 public:
  __device__ Transform(const Pass& pass, float* lds)
      : x_(pass), lds_(lds), first_column_(blockIdx.x * kColumns), policy_(pass.roots, kCount) {}

  __device__ void run() {
    if constexpr (kLoadsTransposed) {
      load([](unsigned index) { return Policy::transposed(index % 16) * (kCount / 16) + index / 16; });
      policy_.transform_transposed(values_);
    } else {
      load([](unsigned index) { return index; });
      policy_.transform(values_);
      if constexpr (kLogLength < 8) return last_step<1, kLogLength - 4>();
      move_on<1, Form::kFromColumns>();
    }
    if constexpr (kLogLength >= 8) step<16>();
    if constexpr (kLogLength == 8) return store<16>();
    if constexpr (kLogLength > 8 && kLogLength < 12) return last_step<16, kLogLength - 8>();
    if constexpr (kLogLength == 12) {
      move_on<16, Form::kToColumns>();
      step<256>();
      store<256>();
    }
  }

 private:
  static constexpr unsigned kRows = Policy::kRows, kLogCount = kLogLength - 4, kCount = 1u << kLogCount,
                            kColumns = 1u << (kLogPoints - kLogLength);
  template <unsigned l>
  using Exchanged = Exchange<Policy, kLogLength, Form, l>;
  /// The first step leaves its butterflies transposed, as required by the second step.
  static constexpr bool kLoadsTransposed =
      Policy::kOnUnits && kLogLength >= 8 && kLogLength < 12 && !Form::kFromColumns && !Form::kToColumns;
  static constexpr bool kByTwo = kLoadsTransposed && kLogLength > 8;

  /// Butterfly of value v: the sum of a part that is the same for all lanes, and a part that depends only on the lane.
  template <bool kColumnsFirst>
  __device__ static Butterfly of_value(unsigned v) {
    return numbered<kLogCount, 4, kColumnsFirst>(Policy::first(v / kRows));
  }
  template <bool kColumnsFirst>
  __device__ static Butterfly of_lane() {
    return numbered<kLogCount, 4, kColumnsFirst>(Policy::lane());
  }
  __device__ static unsigned row(unsigned v) { return Policy::row(v % kRows); }

  /// Returns global memory at a per-lane element offset from an address that is the same for all lanes.
  template <unsigned count>
  __device__ static auto& global(const Complex* first, unsigned lane) {
    using Bytes = __attribute__((address_space(1))) char;
    using Elements = unsigned __attribute__((ext_vector_type(2 * count)));
    const unsigned bytes = lane * sizeof(Complex);
    return *(__attribute__((address_space(1))) Elements*)((Bytes*)first + bytes);
  }
  __device__ static Complex from_bits(unsigned re, unsigned im) {
    return {__builtin_bit_cast(float, re), __builtin_bit_cast(float, im)};
  }
  __device__ static void keep(const Complex* first, unsigned lane, Complex x) {
    auto& to = global<1>(first, lane);
    to = {__builtin_bit_cast(unsigned, x.re), __builtin_bit_cast(unsigned, x.im)};
  }
  /// Calls visit(v, uniform, lane, there) for each value v. If `there`, value v is `uniform` + `lane` elements from the
  /// workgroup's first element; otherwise, the value does not exist, and the offsets are those of a value in the last column.
  /// Rows are `distance` points apart.
  template <bool kColumnsFirst, class Index, class Visit>
  __device__ void each_in_memory(const Side& side, unsigned distance, Index index, Visit visit) const {
    const Butterfly lane = of_lane<kColumnsFirst>();
    const unsigned last = x_.columns - 1 - first_column_, pitch = distance * side.stride;
    const unsigned of_index = __umul24(index(lane.index), side.stride);
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) {
      const Butterfly b = of_value<kColumnsFirst>(v);
      unsigned uniform = index(b.index) * side.stride, own = of_index;
      bool there = true;
      if constexpr (kColumnsFirst) {
        own += __umul24(lane.column, side.column_step());  // no check: columns are complete
      } else if constexpr (Policy::kOnUnits && kLogLength >= 8) {
        uniform += min(b.column, last) * side.column_step();
        there = b.column <= last;
      } else {
        own += __umul24(min(b.column + lane.column, last), side.column_step());
        there = b.column + lane.column <= last;
      }
      if constexpr (Policy::kUniformRows) {
        uniform += row(v) * pitch;
      } else {
        own += __umul24(row(v), pitch);
      }
      visit(v, uniform, own, there);
    }
  }
  template <class Index>
  __device__ void load(Index index) {
    const Complex* const first = x_.in + x_.from.at(first_column_, 0);
    each_in_memory<Form::kFromColumns>(x_.from, kCount, index, [&](unsigned v, unsigned uniform, unsigned lane, bool) {
      if constexpr (kByTwo) {  // one load for this value and for the adjacent value of the next tile
        if (v / kRows % 2 != 0) return;
        const auto bits = global<2>(first + uniform, lane);
        values_[v] = from_bits(bits.x, bits.y);
        values_[v + kRows] = from_bits(bits.z, bits.w);
      } else {
        const auto bits = global<1>(first + uniform, lane);
        values_[v] = from_bits(bits.x, bits.y);
      }
    });
  }
  template <unsigned l>
  __device__ void store() {
    if constexpr (Form::kFromColumns) turn_columns<l>();
    Complex* const first = x_.out + x_.to.at(first_column_, 0);
    each_in_memory<Form::kToColumns>(
        x_.to, l, [](unsigned index) { return index; },
        [&](unsigned v, unsigned uniform, unsigned lane, bool there) {
          if (there) keep(first + uniform, lane, values_[v]);
        });
  }
  /// Position of value v after a step of radix 16; l is the product of the radices of the steps before it.
  template <unsigned l, bool kColumnsFirst>
  __device__ static unsigned after(unsigned v) {
    const auto place = [](const Butterfly& b) { return Exchanged<l>::at(b.column, b.index / l * 16 * l + b.index % l); };
    return place(of_value<kColumnsFirst>(v)) + place(of_lane<kColumnsFirst>()) + row(v) * (l + Exchanged<l>::free(l));
  }
  template <unsigned l, bool kColumnsFirst>
  __device__ void move_on() {
    const auto place = [](const Butterfly& b) { return Exchanged<l>::at(b.column, b.index); };
    Exchanged<l>::run(
        lds_, values_, [](unsigned v) { return after<l, kColumnsFirst>(v); },
        [&](unsigned v) {
          return place(of_value<Form::kToColumns>(v)) + place(of_lane<Form::kToColumns>()) +
                 row(v) * (kCount + Exchanged<l>::free(kCount));
        });
  }
  /// Returns exp(-2 pi i part / (16 l)).
  template <unsigned l>
  __device__ Complex root(unsigned part) const {
    return x_.roots[part * kCount / l];
  }
  /// A step of radix 16 after the first step: multiplies row r of a butterfly by the r-th power of a root, exp(-2 pi i (index %
  /// l) r / (16 l)), and transforms the butterfly.
  template <unsigned l>
  __device__ void step() {
    const unsigned index = of_value<Form::kToColumns>(0).index + of_lane<Form::kToColumns>().index;
    if constexpr (!Policy::kOnUnits) {
      Complex powers[16];
      powers_of(powers, root<l>(index % l));
#pragma unroll
      for (unsigned r = 1; r < 16; ++r) values_[r] = values_[r] * powers[r];
    } else {
#pragma unroll
      for (unsigned s = 0; s < kRows; ++s) {
        // Distance to the next tile, in butterflies.
        constexpr unsigned next = Form::kToColumns ? 16 >> (kLogPoints - kLogLength) : 16;
        Complex turn = root<l>(index % l * row(s));
        const Complex more = root<l>(next % l * row(s));
#pragma unroll
        for (unsigned t = 0; t < Policy::kTiles; ++t) {
          values_[t * kRows + s] = values_[t * kRows + s] * turn;
          if constexpr (next % l != 0) turn = turn * more;
        }
      }
    }
    policy_.transform(values_);
  }
  /// Multiplies point k of a column by exp(-2 pi i j k / N), between two passes.
  template <unsigned l>
  __device__ void turn_columns() {
    const Butterfly lane = of_lane<Form::kToColumns>();
    const auto turn = [&](unsigned v, unsigned k) {
      const unsigned column = first_column_ + of_value<Form::kToColumns>(v).column + lane.column;
      const unsigned angle = (column & ((1u << x_.to.log_inner) - 1)) * k;
      return x_.coarse[angle / 256] * x_.fine[angle % 256];
    };
    if constexpr (!Policy::kOnUnits) {
      const Complex first = turn(0, lane.index);
      Complex powers[16];
      powers_of(powers, turn(0, l));
#pragma unroll
      for (unsigned r = 0; r < 16; ++r) values_[r] = values_[r] * (r == 0 ? first : first * powers[r]);
    } else {
      Complex of_rows[kRows];
#pragma unroll
      for (unsigned s = 0; s < kRows; ++s) of_rows[s] = turn(0, l * row(s));
#pragma unroll
      for (unsigned t = 0; t < Policy::kTiles; ++t) {
        const Complex first = turn(t * kRows, of_value<Form::kToColumns>(t * kRows).index + lane.index);
#pragma unroll
        for (unsigned s = 0; s < kRows; ++s) {
          values_[t * kRows + s] = values_[t * kRows + s] * (first * of_rows[s]);
        }
      }
    }
  }
  /// The last step, of radix 2, 4 or 8, on vector ALUs; the radices of the steps before it have the product 16 l.
  template <unsigned l, unsigned kLogRadix>
  __device__ void last_step() {
    constexpr unsigned radix = 1 << kLogRadix, count = 16 * l;
    const auto of = [](unsigned v) {
      return numbered<kLogLength - kLogRadix, kLogRadix, Form::kToColumns>(v / radix * kWorkgroup + threadIdx.x);
    };
    Exchanged<l>::run(
        lds_, values_, [](unsigned v) { return after < l, l == 1 ? Form::kFromColumns : Form::kToColumns > (v); },
        [&](unsigned v) {
          const Butterfly b = of(v);
          return Exchanged<l>::at(b.column, b.index + v % radix * count);
        });
    const Complex* const out = x_.out + x_.to.at(first_column_, 0);
#pragma unroll
    for (unsigned first = 0; first < 16; first += radix) {
      const Butterfly b = of(first);
      Complex powers[radix], *const x = values_ + first;
      powers_of(powers, x_.roots[b.index]);
#pragma unroll
      for (unsigned r = 1; r < radix; ++r) x[r] = x[r] * powers[r];
      if constexpr (kLogRadix == 1) transform_2(x[0], x[1]);
      if constexpr (kLogRadix == 2) transform_4(x[0], x[1], x[2], x[3]);
      if constexpr (kLogRadix == 3) transform_8(x);
      if (first_column_ + b.column >= x_.columns) continue;
      const unsigned own = __umul24(b.column, x_.to.column_step()) + __umul24(b.index, x_.to.stride);
#pragma unroll
      for (unsigned r = 0; r < radix; ++r) keep(out + r * count * x_.to.stride, own, x[r]);
    }
  }

  const Pass& x_;
  float* lds_;
  unsigned first_column_;
  Policy policy_;
  Complex values_[16];
};

/// Traps if Policy is void, that is, on targets that do not support it.
template <class Policy, unsigned kLogLength, class Form>
__device__ inline void transform(const Pass& pass) {
  if constexpr (std::is_void_v<Policy>) {
    (void)pass, __builtin_trap();
  } else {
    __shared__ float lds[Exchange<Policy, kLogLength, Form, 1>::kSize];
    Transform<Policy, kLogLength, Form>(pass, lds).run();
  }
}

}  // namespace fft

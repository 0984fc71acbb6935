// One pass of a Fourier transform over memory: transforms of 32 to 4096 points, a power of two, in a workgroup's LDS.
//
// A workgroup has 4096 points, of one column or of several side by side. Steps are Stockham's (of radix 16, and a last one of
// what remains): step of radix R after those of product l takes butterfly b, whose rows are n = b + row L / R, multiplies
// row r by exp(-2 pi i (b mod l) r / (R l)), and leaves them in n = (b / l) R l + b mod l + r l. Between two steps points go
// to other work-items through LDS, first the real parts and then the imaginary ones, so that three workgroups fit.
#pragma once

#include "workloads/fft_gemm/radix16.h"

namespace fft {

constexpr unsigned kWorkgroup = 256, kLogPoints = 12;

/// Where point n of a column is: (column / inner) outer + (column % inner) between + n stride, inner = 2^log_inner.
struct Side {
  unsigned log_inner, outer, between, stride;
  __device__ unsigned at(unsigned column, unsigned n) const {
    return (column >> log_inner) * outer + (column & ((1u << log_inner) - 1)) * between + n * stride;
  }
  /// Neighbouring work-items take neighbouring columns, not neighbouring points.
  __device__ __host__ bool columns_first() const { return stride != 1; }
};

struct Pass {
  const Complex* in;
  Complex* out;
  Side from, to;
  unsigned log_length, columns;
  const Complex* roots;  ///< exp(-2 pi i i / L), L = 2^log_length
  /// Unless null, L is 256 and point k of column c comes out times exp(-2 pi i j k / N), j = c % 2^to.log_inner, where
  /// `coarse` is that of 256 i and `fine` of i < 256 in place of j k.
  const Complex *coarse, *fine;
};

/// Points of a workgroup in LDS, by column and n: one left free after 16 and after a column.
class Exchange {
 public:
  static constexpr unsigned kSize = (1 << kLogPoints) + (1 << (kLogPoints - 4)) + (1 << (kLogPoints - 5));
  __device__ Exchange(float* lds, unsigned length) : lds_(lds), pitch_(length + length / 16 + 1) {}
  __device__ unsigned at(unsigned column, unsigned n) const { return column * pitch_ + n + n / 16; }
  /// Value v goes to `to(v)` and comes back as what went to `from(v)`.
  template <class To, class From>
  __device__ void run(Complex (&x)[16], To to, From from) const {
    unsigned targets[16], sources[16];
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) targets[v] = to(v), sources[v] = from(v);
    half(x, &Complex::re, targets, sources);
    half(x, &Complex::im, targets, sources);
  }

 private:
  __device__ void half(Complex (&x)[16], float Complex::*part, const unsigned (&targets)[16],
                       const unsigned (&sources)[16]) const {
    __syncthreads();
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) lds_[targets[v]] = x[v].*part;
    __syncthreads();
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) x[v].*part = lds_[sources[v]];
  }

  float* lds_;
  unsigned pitch_;
};

/// A butterfly of a step: which column, and which one in it.
struct Butterfly {
  /// Of the workgroup's butterflies, 2^log_count for each column.
  __device__ Butterfly(unsigned number, unsigned log_count, unsigned log_radix, bool columns_first) {
    const unsigned log_columns = kLogPoints - log_radix - log_count;
    column = columns_first ? number & ((1u << log_columns) - 1) : number >> log_count;
    index = columns_first ? number >> log_columns : number & ((1u << log_count) - 1);
  }
  unsigned column, index;
};

template <class Policy>
class Transform {
 public:
  __device__ Transform(const Pass& pass, float* lds)
      : x_(pass),
        log_count_(pass.log_length - 4),
        first_column_(blockIdx.x << (kLogPoints - pass.log_length)),
        policy_(pass.roots, 1u << log_count_),
        exchange_(lds, 1u << pass.log_length) {}

  __device__ void run() {
    if (!load_transposed()) {
      load([](unsigned butterfly) { return butterfly; });
      policy_.transform(values_);
      if (x_.log_length < 8) return last_of_rest<1>();
      move_on<1>();
    }
    step<16>();
    if (x_.log_length == 8) return store_16<16>();
    if (x_.log_length < 12) return last_of_rest<16>();
    move_on<16>();
    step<256>();
    store_16<256>();
  }

 private:
  __device__ Butterfly butterfly(unsigned v, bool columns_first) const {
    return {Policy::butterfly(v), log_count_, 4, columns_first};
  }
  /// Loads and makes the first step, of butterflies that leave a matrix unit as the second one needs them, if there are such.
  __device__ bool load_transposed() {
    if constexpr (Policy::kTransposes) {
      if (x_.log_length < 8 || x_.log_length == 12 || x_.from.columns_first() || x_.to.columns_first()) return false;
      load([&](unsigned butterfly) { return (butterfly % 16 << (log_count_ - 4)) + butterfly / 16; });
      policy_.transform_transposed(values_);
      return true;
    }
    return false;
  }
  /// Of each work-item the butterfly that `index` says instead of its own.
  template <class Index>
  __device__ void load(Index index) {
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) {
      const Butterfly b = butterfly(v, x_.from.columns_first());
      const unsigned column = min(first_column_ + b.column, x_.columns - 1);
      values_[v] = x_.in[x_.from.at(column, index(b.index) + (Policy::row(v) << log_count_))];
    }
  }
  __device__ void store(const Butterfly& b, unsigned n, Complex value) const {
    if (first_column_ + b.column < x_.columns) x_.out[x_.to.at(first_column_ + b.column, n)] = value;
  }
  /// Where value v is after the step of radix 16 that follows those of product l.
  template <unsigned l>
  __device__ unsigned after(unsigned v, bool columns_first) const {
    const Butterfly b = butterfly(v, columns_first);
    return exchange_.at(b.column, b.index / l * 16 * l + b.index % l + Policy::row(v) * l);
  }
  template <unsigned l>
  __device__ void move_on() {
    const bool to_columns = x_.to.columns_first();
    exchange_.run(
        values_, [&](unsigned v) { return after<l>(v, l == 1 ? x_.from.columns_first() : to_columns); },
        [&](unsigned v) {
          const Butterfly b = butterfly(v, to_columns);
          return exchange_.at(b.column, b.index + (Policy::row(v) << log_count_));
        });
  }
  template <unsigned l>
  __device__ void step() {
    const bool columns_first = x_.to.columns_first();
    policy_.turn(values_, nullptr, [&](unsigned v, unsigned r) {
      const unsigned part = butterfly(v, columns_first).index % l * r;
      return x_.roots[(part << log_count_) / l];
    });
    policy_.transform(values_);
  }
  template <unsigned l>
  __device__ void store_16() {
    const bool columns_first = x_.to.columns_first();
    if (x_.fine != nullptr) {
      const auto root = [&](unsigned v, unsigned k) {
        const unsigned column = first_column_ + butterfly(v, columns_first).column;
        const unsigned angle = (column & ((1u << x_.to.log_inner) - 1)) * k;
        return x_.coarse[angle / 256] * x_.fine[angle % 256];
      };
      policy_.turn(
          values_, [&](unsigned v) { return root(v, butterfly(v, columns_first).index); },
          [&](unsigned v, unsigned r) { return root(v, r * l); });
    }
#pragma unroll
    for (unsigned v = 0; v < 16; ++v) {
      const Butterfly b = butterfly(v, columns_first);
      store(b, b.index + Policy::row(v) * l, values_[v]);
    }
  }
  /// The last step, of radix L / (16 l) on vector ALUs.
  template <unsigned l>
  __device__ void last_of_rest() {
    const unsigned log_radix = x_.log_length - (l == 1 ? 4 : 8);
    if (log_radix == 1) {
      last<l, 1>([](Complex* x) { transform_2(x[0], x[1]); });
    } else if (log_radix == 2) {
      last<l, 2>([](Complex* x) { transform_4(x[0], x[1], x[2], x[3]); });
    } else {
      last<l, 3>([](Complex* x) { transform_8(x); });
    }
  }
  template <unsigned l, unsigned log_radix, class Small>
  __device__ void last(Small transform) {
    constexpr unsigned radix = 1 << log_radix, count = 16 * l;
    constexpr unsigned log_count = l == 1 ? 4 : 8;
    const bool columns_first = x_.to.columns_first();
    const auto of = [&](unsigned v) {
      return Butterfly(v / radix * kWorkgroup + threadIdx.x, log_count, log_radix, columns_first);
    };
    exchange_.run(
        values_, [&](unsigned v) { return after<l>(v, l == 1 ? x_.from.columns_first() : columns_first); },
        [&](unsigned v) {
          const Butterfly b = of(v);
          return exchange_.at(b.column, b.index + v % radix * count);
        });
#pragma unroll
    for (unsigned first = 0; first < 16; first += radix) {
      const Butterfly b = of(first);
      Complex powers[radix];
      powers_of(powers, x_.roots[b.index]);
#pragma unroll
      for (unsigned r = 1; r < radix; ++r) values_[first + r] = values_[first + r] * powers[r];
      transform(values_ + first);
#pragma unroll
      for (unsigned r = 0; r < radix; ++r) store(b, b.index + r * count, values_[first + r]);
    }
  }

  const Pass& x_;
  unsigned log_count_, first_column_;
  Policy policy_;
  Exchange exchange_;
  Complex values_[16];
};

template <class Policy>
__device__ inline void transform(const Pass& pass) {
  __shared__ float lds[Exchange::kSize];
  Transform<Policy>(pass, lds).run();
}

}  // namespace fft

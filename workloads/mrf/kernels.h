// Kernels of magnetic resonance fingerprinting other than matrix products.
//
// The extended phase graph of an atom, which is a pair (T1, T2), has three complex configuration states for each k = 0, 1, ...:
// F+ and F-, transverse magnetisation dephased by k gradients and by -k gradients, and Z, longitudinal magnetisation (M.
// Weigel, Extended phase graphs, J. Magn. Reson. Imaging 41, 2015). A pulse of a gradient-spoiled sequence multiplies the three
// by a 3 x 3 matrix that is the same for all k and all atoms; the coil's signal is then F+ of k = 0. Until the next pulse,
// states relax, and the gradient moves F+ to k + 1 and F- to k - 1.
#pragma once

#include <hip/hip_runtime.h>

#include "lacuna/m3xu.h"

namespace mrf {

using Complex = m3xu::complex;
constexpr unsigned kWorkgroup = 256, kRows = 8;  ///< kRows: size of a dimension of 3, padded for tiled products

/// Relaxation factors of transverse and longitudinal magnetisation between two pulses, for each atom.
struct Atoms {
  const float *transverse, *longitudinal;
  unsigned count, states;
};

/// Dictionary: an atom's signal after each pulse. The signals of successive atoms are `ld` elements apart.
struct Dictionary {
  Complex* signals;
  unsigned pulses, ld;
};

__device__ inline Complex scaled(Complex x, float factor) { return {x.re * factor, x.im * factor}; }
__device__ inline void add_product(Complex& sum, Complex a, Complex b) {
  sum.re += a.re * b.re;
  sum.re -= a.im * b.im;
  sum.im += a.re * b.im;
  sum.im += a.im * b.re;
}

/// Sets all states to equilibrium. Rows are F+, F-, Z and padding with zeros; state k of an atom is in column atom * states +
/// k.
__device__ inline void initialise(Complex* x, unsigned columns, unsigned states, unsigned ld) {
  const unsigned column = blockIdx.x * kWorkgroup + threadIdx.x, row = blockIdx.y;
  if (column < columns) x[size_t{row} * ld + column] = {row == 2 && column % states == 0 ? 1.0f : 0.0f, 0.0f};
}

/// Applies relaxation and gradient after a pulse: `in` is the result of the pulse's product, `out` the state before the next
/// pulse.
__device__ inline void evolve(const Complex* __restrict__ in, Complex* __restrict__ out, unsigned ld, const Atoms& atoms,
                              const Dictionary& dictionary, unsigned pulse) {
  const unsigned column = blockIdx.x * kWorkgroup + threadIdx.x;
  if (column >= atoms.count * atoms.states) return;
  const unsigned atom = column / atoms.states, k = column % atoms.states;
  const float transverse = atoms.transverse[atom], longitudinal = atoms.longitudinal[atom];
  const Complex *const plus = in, *const minus = in + ld, *const z = in + 2 * size_t{ld};
  Complex from_right{0, 0}, from_left, along = scaled(z[column], longitudinal);
  if (k + 1 < atoms.states) from_right = scaled(minus[column + 1], transverse);
  if (k > 0) {
    from_left = scaled(plus[column - 1], transverse);
  } else {
    from_left = {from_right.re, -from_right.im};
    along.re += 1 - longitudinal;
    dictionary.signals[size_t{atom} * dictionary.ld + pulse] = plus[column];
  }
  out[column] = from_left;
  out[ld + column] = from_right;
  out[2 * size_t{ld} + column] = along;
}

/// Returns the value of the lane to the left; 0 in the first lane.
__device__ inline float of_left_lane(float value) {
  constexpr int wave_shift_right_1 = 0x138;
  return __builtin_bit_cast(
      float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, value), wave_shift_right_1, 0xf, 0xf, false));
}
__device__ inline float of_right_lane(float value) {
  constexpr int wave_shift_left_1 = 0x130;
  return __builtin_bit_cast(float,
                            __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, value), wave_shift_left_1, 0xf, 0xf, false));
}

/// Simulates all pulses of an atom, with its states in registers, one lane for each k; `states` is a power of two, at most 64.
__device__ inline void simulate(const Complex* __restrict__ rotations, const Atoms& atoms, const Dictionary& dictionary) {
  const unsigned column = blockIdx.x * kWorkgroup + threadIdx.x, k = column & (atoms.states - 1);
  const unsigned atom = column / atoms.states;
  if (atom >= atoms.count) return;
  const float transverse = atoms.transverse[atom], longitudinal = atoms.longitudinal[atom];
  const bool first = k == 0, last = k + 1 == atoms.states;
  const float recovered = first ? 1 - longitudinal : 0;
  Complex* signal = dictionary.signals + size_t{atom} * dictionary.ld;
  Complex x[3] = {{0, 0}, {0, 0}, {first ? 1.0f : 0.0f, 0}};
  for (unsigned pulse = 0; pulse < dictionary.pulses; ++pulse) {
    const Complex* const rotation = rotations + 3 * kRows * pulse;
    Complex y[3] = {};
#pragma unroll
    for (unsigned row = 0; row < 3; ++row) {
#pragma unroll
      for (unsigned i = 0; i < 3; ++i) add_product(y[row], rotation[kRows * row + i], x[i]);
    }
    if (first) *signal = y[0];
    ++signal;
    y[0] = scaled(y[0], transverse), y[1] = scaled(y[1], transverse);
    x[2] = {y[2].re * longitudinal + recovered, y[2].im * longitudinal};
    const Complex right{of_right_lane(y[1].re), of_right_lane(y[1].im)}, left{of_left_lane(y[0].re), of_left_lane(y[0].im)};
    x[1] = last ? Complex{0, 0} : right;
    x[0] = first ? Complex{x[1].re, -x[1].im} : left;
  }
}

/// Each wavefront computes 1 / (squared 2-norm) of an atom's signal.
__device__ inline void invert_norms(const Dictionary& dictionary, float* __restrict__ inverses, unsigned atoms) {
  const unsigned lane = threadIdx.x % 64, atom = (blockIdx.x * kWorkgroup + threadIdx.x) / 64;
  if (atom >= atoms) return;
  float sum = 0;
  for (unsigned pulse = lane; pulse < dictionary.pulses; pulse += 64) {
    const Complex value = dictionary.signals[size_t{atom} * dictionary.ld + pulse];
    sum += value.re * value.re + value.im * value.im;
  }
#pragma unroll
  for (int distance = 32; distance > 0; distance /= 2) sum += __shfl_xor(sum, distance);
  if (lane == 0) inverses[atom] = 1 / sum;
}

/// Each wavefront finds the atom whose normalised inner product with a voxel's signal is largest; the first among equals.
__device__ inline void choose_best(const Complex* __restrict__ products, const float* __restrict__ inverses, unsigned voxels,
                                   unsigned atoms, unsigned ld, float* __restrict__ scores, unsigned* __restrict__ best) {
  const unsigned lane = threadIdx.x % 64, voxel = (blockIdx.x * kWorkgroup + threadIdx.x) / 64;
  if (voxel >= voxels) return;
  float largest = -1;
  unsigned where = 0;
  for (unsigned atom = lane; atom < atoms; atom += 64) {
    const Complex product = products[size_t{voxel} * ld + atom];
    const float score = (product.re * product.re + product.im * product.im) * inverses[atom];
    if (score > largest) largest = score, where = atom;
  }
#pragma unroll
  for (int distance = 32; distance > 0; distance /= 2) {
    const float other = __shfl_xor(largest, distance);
    const unsigned there = __shfl_xor(where, distance);
    if (other > largest || (other == largest && there < where)) largest = other, where = there;
  }
  if (lane == 0) scores[voxel] = largest, best[voxel] = where;
}

}  // namespace mrf

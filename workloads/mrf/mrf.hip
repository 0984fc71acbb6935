// Magnetic resonance fingerprinting: a dictionary of the signals of pairs (T1, T2) under a train of pulses, and for each voxel
// the pair with the most similar signal. As in SnapMRF, each step of the dictionary consists of kernels over all states of all
// atoms. Both the pulse and the matching are complex matrix products, for which SnapMRF uses cuBLAS.
//
//   --generation gemm      as SnapMRF: for each pulse a product of a 3 x 3 matrix with all states, and a kernel for
//                          relaxation and gradient
//   --generation fused     one kernel for the whole train, with states in registers, which a library product does not allow
//   --implementation       unit for matrix products: vector ALUs, or M3XU's FP32C
//
// The train is an inversion and pulses of varying angle and phase at equal intervals (SnapMRF allows any times). Voxels are
// signals of atoms times a complex number, with noise; `recovered` is the share of voxels whose atom is found.
#include <complex>

#include "workloads/common/gemm_host.h"
#include "workloads/common/gemm_products.h"
#include "workloads/mrf/kernels.h"

using mrf::Complex;
using Exact = std::complex<double>;

TILED_KERNEL(products_simt, Complex, tiled::Simt<Complex, 4, 4>)
TILED_MATRIX_KERNEL(products_m3xu, Complex, tiled::M3xu<m3xu::fp32c, 2, 2>)

#define MRF_KERNEL extern "C" __global__ void __launch_bounds__(mrf::kWorkgroup)
MRF_KERNEL initialise(Complex* x, unsigned columns, unsigned states, unsigned ld) { mrf::initialise(x, columns, states, ld); }
MRF_KERNEL evolve(const Complex* __restrict__ in, Complex* __restrict__ out, unsigned ld, mrf::Atoms atoms,
                  mrf::Dictionary dictionary, unsigned pulse) {
  mrf::evolve(in, out, ld, atoms, dictionary, pulse);
}
MRF_KERNEL simulate(const Complex* __restrict__ rotations, mrf::Atoms atoms, mrf::Dictionary dictionary) {
  mrf::simulate(rotations, atoms, dictionary);
}
MRF_KERNEL invert_norms(mrf::Dictionary dictionary, float* __restrict__ inverses, unsigned atoms) {
  mrf::invert_norms(dictionary, inverses, atoms);
}
MRF_KERNEL choose_best(const Complex* __restrict__ products, const float* __restrict__ inverses, unsigned voxels,
                       unsigned atoms, unsigned ld, float* __restrict__ scores, unsigned* __restrict__ best) {
  mrf::choose_best(products, inverses, voxels, atoms, ld, scores, best);
}

namespace {

constexpr double pi = 3.14159265358979323846;

struct Sequence {
  unsigned states, pulses;
  std::vector<Complex> rotations;               ///< 3 x mrf::kRows per pulse
  std::vector<float> transverse, longitudinal;  ///< relaxation factors of each atom
};

/// Appends the matrix of a pulse with angle alpha and phase phi.
void append_rotation(std::vector<Complex>& rotations, double alpha, double phi) {
  const double cosine = std::cos(alpha / 2), sine = std::sin(alpha / 2);
  const Exact i(0, 1),
      turn = std::polar(1.0, phi),
      matrix[3][3] = {{cosine * cosine, turn * turn * sine * sine, -i * turn * std::sin(alpha)},
                      {std::conj(turn * turn) * sine * sine, cosine * cosine, i * std::conj(turn) * std::sin(alpha)},
                      {-0.5 * i * std::conj(turn) * std::sin(alpha), 0.5 * i * turn * std::sin(alpha), std::cos(alpha)}};
  for (const auto& row : matrix) {
    for (const Exact& value : row) rotations.push_back({static_cast<float>(value.real()), static_cast<float>(value.imag())});
    rotations.resize(rotations.size() + mrf::kRows - 3);
  }
}

/// Returns a random sequence: T1 from 100 to 3000 ms, T2 from 20 to 1000 ms and less than T1, pulses 12 ms apart, angles up to
/// 70 degrees after an inversion of 180 degrees.
Sequence make_sequence(workload::Random& random, unsigned atoms, unsigned states, unsigned pulses) {
  Sequence sequence{states, pulses, {}, {}, {}};
  for (unsigned pulse = 0; pulse < pulses; ++pulse) {
    const double swing = std::fabs(std::sin(2 * pi * pulse / 100)) * 60 + random.uniform(0, 10);
    append_rotation(sequence.rotations, (pulse == 0 ? 180 : swing) * pi / 180, random.uniform(-1, 1) * pi);
  }
  for (unsigned atom = 0; atom < atoms; ++atom) {
    const double t1 = 100 * std::pow(30.0, random.uniform(0, 1));
    const double t2 = std::min(20 * std::pow(50.0, random.uniform(0, 1)), 0.9 * t1);
    sequence.transverse.push_back(static_cast<float>(std::exp(-12 / t2)));
    sequence.longitudinal.push_back(static_cast<float>(std::exp(-12 / t1)));
  }
  return sequence;
}

Exact exact(Complex x) { return {x.re, x.im}; }

/// Returns the signal of an atom.
std::vector<Exact> simulated(const Sequence& sequence, size_t atom) {
  const double transverse = sequence.transverse[atom], longitudinal = sequence.longitudinal[atom];
  std::vector<Exact> x[3], y[3], signal;
  for (auto& row : x) row.resize(sequence.states);
  for (auto& row : y) row.resize(sequence.states);
  x[2][0] = 1;
  for (size_t pulse = 0; pulse < sequence.pulses; ++pulse) {
    for (size_t row = 0; row < 3; ++row) {
      const Complex* const factors = &sequence.rotations[(3 * pulse + row) * mrf::kRows];
      for (size_t k = 0; k < sequence.states; ++k) {
        y[row][k] = exact(factors[0]) * x[0][k] + exact(factors[1]) * x[1][k] + exact(factors[2]) * x[2][k];
      }
    }
    signal.push_back(y[0][0]);
    for (size_t k = 0; k < sequence.states; ++k) {
      x[1][k] = k + 1 < sequence.states ? transverse * y[1][k + 1] : 0;
      x[0][k] = k > 0 ? transverse * y[0][k - 1] : std::conj(x[1][0]);
      x[2][k] = longitudinal * y[2][k] + (k == 0 ? 1 - longitudinal : 0);
    }
  }
  return signal;
}

struct Voxels {
  std::vector<unsigned> atoms;  ///< the atom of each voxel
  std::vector<Complex> signals;
};

Voxels make_voxels(workload::Random& random, const Sequence& sequence, unsigned count) {
  Voxels voxels;
  for (unsigned voxel = 0; voxel < count; ++voxel) {
    voxels.atoms.push_back(static_cast<unsigned>(random.below(sequence.transverse.size())));
    const Exact factor = std::polar(1.0 + random.uniform(-0.5, 0.5), random.uniform(-1, 1) * pi);
    for (const Exact& value : simulated(sequence, voxels.atoms.back())) {
      const Exact noisy = factor * value + 0.01 * Exact(random.uniform(-1, 1), random.uniform(-1, 1));
      voxels.signals.push_back({static_cast<float>(noisy.real()), static_cast<float>(noisy.imag())});
    }
  }
  return voxels;
}

class Reconstruction {
 public:
  Reconstruction(const Sequence& sequence, const Voxels& voxels, bool on_units, bool fused)
      : fused_(fused),
        atoms_(sequence.transverse.size()),
        states_(sequence.states),
        pulses_(sequence.pulses),
        voxels_(voxels.atoms.size()),
        ld_(pitch_of(pulses_)),
        columns_(atoms_ * states_),
        columns_ld_(pitch_of(columns_)),
        kernel_{"", on_units ? products_m3xu : products_simt, 64, 64, 0, 0},
        transverse_("the transverse relaxation factors", sequence.transverse),
        longitudinal_("the longitudinal relaxation factors", sequence.longitudinal),
        rotations_("the pulses", sequence.rotations),
        states_of_all_("the states", fused ? 1 : size_t{2} * mrf::kRows * columns_ld_),
        dictionary_("the dictionary", std::vector<Complex>(size_t{atoms_} * ld_)),
        // The voxels are conjugated, so that the product is an inner product.
        signals_("the voxels", voxels_, pulses_, true,
                 [&](size_t voxel, size_t pulse) {
                   const Complex value = voxels.signals[voxel * pulses_ + pulse];
                   return Complex{value.re, -value.im};
                 }),
        products_("the inner products", size_t{voxels_} * atoms_),
        inverses_("the norms", atoms_),
        scores_("the matches", voxels_),
        best_("the matches", voxels_) {}
  void launch() const {
    const mrf::Dictionary dictionary{dictionary_.data(), pulses_, ld_};
    const mrf::Atoms atoms{transverse_.data(), longitudinal_.data(), atoms_, states_};
    fused_ ? launch_fused(atoms, dictionary) : launch_steps(atoms, dictionary);
    // The dictionary's padding after the last pulse is zero.
    invert_norms<<<workload::groups(atoms_, mrf::kWorkgroup / 64), mrf::kWorkgroup>>>(dictionary, inverses_.data(), atoms_);
    tiled::launch(kernel_, tiled::Result<Complex>{products_.data(), voxels_, atoms_, atoms_, 1, 0}, signals_.operand(),
                  tiled::Operand<Complex>{dictionary_.data(), ld_, atoms_, true}, pulses_);
    choose_best<<<workload::groups(voxels_, mrf::kWorkgroup / 64), mrf::kWorkgroup>>>(
        products_.data(), inverses_.data(), voxels_, atoms_, atoms_, scores_.data(), best_.data());
    workload::require(hipGetLastError(), "launching the kernels");
  }
  /// Returns the signals of all atoms, one after the other.
  std::vector<Complex> dictionary() const {
    const std::vector<Complex> padded = dictionary_.download();
    std::vector<Complex> signals;
    for (size_t atom = 0; atom < atoms_; ++atom) {
      signals.insert(signals.end(), padded.begin() + atom * ld_, padded.begin() + atom * ld_ + pulses_);
    }
    return signals;
  }
  std::vector<float> scores() const { return scores_.download(); }
  std::vector<unsigned> best() const { return best_.download(); }

 private:
  /// Pitch of lines in elements: an odd number of cache lines, so that lines map to different sets of a cache.
  static unsigned pitch_of(unsigned length) { return (workload::groups(length, 8) | 1) * 8; }
  void launch_fused(const mrf::Atoms& atoms, const mrf::Dictionary& dictionary) const {
    simulate<<<workload::groups(columns_, mrf::kWorkgroup), mrf::kWorkgroup>>>(rotations_.data(), atoms, dictionary);
  }
  void launch_steps(const mrf::Atoms& atoms, const mrf::Dictionary& dictionary) const {
    const size_t size = size_t{mrf::kRows} * columns_ld_;
    Complex *in = states_of_all_.data(), *out = in + size;
    const unsigned groups = workload::groups(columns_, mrf::kWorkgroup);
    initialise<<<dim3(groups, 2 * mrf::kRows), mrf::kWorkgroup>>>(in, columns_, states_, columns_ld_);
    for (unsigned pulse = 0; pulse < pulses_; ++pulse) {
      // The product is in place: a workgroup reads its columns before it writes them.
      tiled::launch(kernel_, tiled::Result<Complex>{in, 3, columns_, columns_ld_, 1, 0},
                    tiled::Operand<Complex>{rotations_.data() + 3 * mrf::kRows * pulse, mrf::kRows, 3, true},
                    tiled::Operand<Complex>{in, columns_ld_, columns_, false}, 3);
      evolve<<<groups, mrf::kWorkgroup>>>(in, out, columns_ld_, atoms, dictionary, pulse);
      std::swap(in, out);
    }
  }

  bool fused_;
  unsigned atoms_, states_, pulses_, voxels_, ld_, columns_, columns_ld_;
  tiled::Kernel<tiled::Function<Complex>> kernel_;
  workload::DeviceArray<float> transverse_, longitudinal_;
  workload::DeviceArray<Complex> rotations_, states_of_all_, dictionary_;
  tiled::DeviceOperand<Complex> signals_;
  workload::DeviceArray<Complex> products_;
  workload::DeviceArray<float> inverses_, scores_;
  workload::DeviceArray<unsigned> best_;
};

/// Checks the dictionary. The rounding error of a state after a pulse is at most 20 u times the norm of the pulse's three input
/// states; F+ and F- are weighted by 1 / sqrt 2, so that pulses preserve this norm. The states of an atom have a norm of at
/// most 1, so that errors only accumulate linearly.
void check_dictionary(workload::Program& program, const Sequence& sequence, const std::vector<Complex>& got) {
  std::vector<double> expected;
  for (size_t atom = 0; atom < sequence.transverse.size(); ++atom) {
    for (const Exact& value : simulated(sequence, atom)) expected.push_back(value.real()), expected.push_back(value.imag());
  }
  program.check_near("the dictionary", tiled::parts_of<float>(got), expected,
                     [&](size_t i) { return 64 * 0x1p-24 * (i / 2 % sequence.pulses + 1); });
}

/// Checks matches for the dictionary as computed: the chosen atom's score must be correct, and no other score may be larger by
/// more than the error bounds of both.
void check_matches(workload::Program& program, const Sequence& sequence, const Voxels& voxels,
                   const std::vector<Complex>& dictionary, const std::vector<float>& scores,
                   const std::vector<unsigned>& best) {
  const size_t atoms = sequence.transverse.size(), pulses = sequence.pulses;
  std::vector<double> of_best(scores.size()), largest(scores.size()), bounds(scores.size());
  bool inside = true;
  for (size_t voxel = 0; voxel < scores.size(); ++voxel) {
    double norm = 0;
    for (size_t pulse = 0; pulse < pulses; ++pulse) norm += std::norm(exact(voxels.signals[voxel * pulses + pulse]));
    bounds[voxel] = norm * (8 * workload::sum_error(2.0 * static_cast<double>(pulses)) + 16 * 0x1p-24);
    inside = inside && best[voxel] < atoms;
    for (size_t atom = 0; atom < atoms; ++atom) {
      Exact product = 0;
      double of_atom = 0;
      for (size_t pulse = 0; pulse < pulses; ++pulse) {
        const Exact value = exact(dictionary[atom * pulses + pulse]);
        product += std::conj(exact(voxels.signals[voxel * pulses + pulse])) * value;
        of_atom += std::norm(value);
      }
      const double score = std::norm(product) / of_atom;
      largest[voxel] = std::max(largest[voxel], score);
      if (atom == best[voxel]) of_best[voxel] = score;
    }
  }
  program.check_true("every match is an atom", inside);
  program.check_near("scores of the matches", scores, of_best, [&](size_t i) { return bounds[i]; });
  program.check_near("largest scores", scores, largest, [&](size_t i) { return bounds[i]; });
}

}  // namespace

int main(int argc, char** argv) {
  workload::Program program("mrf", "Magnetic resonance fingerprinting: dictionary and match, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.3): SnapMRF");
  int atoms = 0, states = 0, pulses = 0, voxels = 0;
  program.size(atoms, "atoms", "pairs (T1, T2)", {90, 512, 1024}, 1, 1 << 16);
  program.size(states, "states", "orders of dephasing, a power of two", {8, 16, 32}, 2, 64);
  program.size(pulses, "pulses", "pulses of the train", {21, 30, 30}, 1, 1 << 12);
  program.size(voxels, "voxels", "voxels", {70, 512, 1024}, 1, 1 << 16);
  std::string generation, implementation;
  program.choice(generation, "generation", "how the dictionary is made: a product for each pulse, or all in registers",
                 {"gemm", "fused"}, std::string("gemm"));
  program.choice(implementation, "implementation", "unit for matrix products", {"simt", "m3xu"}, std::string("simt"));
  return program.run(argc, argv, [&] {
    if ((states & (states - 1)) != 0) throw workload::UsageError("--states has to be a power of two");
    if (implementation == "m3xu" && !tiled::has_matrix_units()) {
      throw workload::UsageError("--implementation m3xu needs matrix units, which gfx90a has");
    }
    const Sequence sequence = make_sequence(program.random(), atoms, states, pulses);
    const Voxels input = make_voxels(program.random(), sequence, voxels);
    const Reconstruction reconstruction(sequence, input, implementation == "m3xu", generation == "fused");
    program.measure([&] { reconstruction.launch(); });
    if (!program.checks()) return;
    const std::vector<Complex> dictionary = reconstruction.dictionary();
    const std::vector<unsigned> best = reconstruction.best();
    check_dictionary(program, sequence, dictionary);
    check_matches(program, sequence, input, dictionary, reconstruction.scores(), best);
    size_t recovered = 0;
    for (size_t voxel = 0; voxel < best.size(); ++voxel) recovered += best[voxel] == input.atoms[voxel];
    program.report("recovered", static_cast<double>(recovered) / static_cast<double>(best.size()));
  });
}

// Solvers of (A + shift) x = b: conjugate gradients, BiCGStab and GMRES. Products by rows are computed together with the
// subsequent dot products; vectors are updated in as few kernels as the dot products between them allow; scalars stay in GPU
// memory, except the residual, which the host uses to end the loop.
#pragma once

#include <utility>

#include "workloads/sparse_programs/product.h"
#include "workloads/sparse_programs/run.h"

namespace workload {

/// a / b, or 0 if b is 0, as in the accelerator's programs (libraries/sida/applications.c).
__device__ inline double quotient(double a, double b) { return b == 0 ? 0 : a / b; }

/// out = (A + shift) x, with dot products of the result.
template <typename Dots>
struct SolverProduct {
  using Sum = double;
  static constexpr unsigned totals = Dots::totals;
  const double *values, *x;
  double* out;
  double shift;
  Dots dots;

  __device__ double term(unsigned entry, unsigned column) const { return values[entry] * x[column]; }
  __device__ void row(unsigned row, double sum, double* totals) const {
    const double result = sum + shift * x[row];
    out[row] = result;
    dots.add(row, result, totals);
  }
};

/// Computes the dot product of the result with one vector.
struct DotWith {
  static constexpr unsigned totals = 1;
  const double* other;
  __device__ void add(unsigned row, double result, double* totals) const { totals[0] += other[row] * result; }
};

/// Data for the check of a solver's result.
class SolverCheck {
 public:
  SolverCheck(Program& program, const Application& application)
      : program_(program),
        matrix_(application.by_rows()),
        shift_(application.shift()),
        right_(application.contents<double>("right", application.rows())) {}

  /// A + shift is diagonally dominant by at least 1, so that no element of (A + shift)^-1 r exceeds the maximum of |r|: two
  /// solutions differ by at most the sum of their residuals, each of which includes the rounding errors of a row's sum.
  void operator()(const std::vector<double>& x, const std::vector<double>& expected) const {
    const double bound = residual(x) + residual(expected);
    program_.check_near("x", x, expected, [&](size_t) { return bound; });
  }

 private:
  double residual(const std::vector<double>& x) const {
    const Csr& pattern = matrix_.pattern;
    double largest = 0;
    for (size_t row = 0; row < pattern.rows(); ++row) {
      double sum = right_[row] - shift_ * x[row], magnitude = std::fabs(right_[row]) + std::fabs(shift_ * x[row]);
      for (size_t i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
        const double product = matrix_.values[i] * x[pattern.columns[i]];
        sum -= product;
        magnitude += std::fabs(product);
      }
      const double rounding = error_f64(static_cast<double>(pattern.offsets[row + 1] - pattern.offsets[row]) + 3) * magnitude;
      largest = std::fmax(largest, std::fabs(sum) + rounding);
    }
    return largest;
  }

  Program& program_;
  SparseValues matrix_;
  double shift_;
  std::vector<double> right_;
};

// -- conjugate gradients

/// Scalars of conjugate gradients and BiCGStab, in GPU memory.
struct SolverScalars {
  double rr, alpha, beta, omega, rho;
};

struct CgAlpha {
  SolverScalars* s;
  __device__ void operator()(const double* sums) const { s->alpha = quotient(s->rr, sums[0]); }
};

struct CgUpdate {
  static constexpr unsigned totals = 1;
  const SolverScalars* s;
  const double *p, *ap;
  double *x, *r;
  __device__ void element(unsigned i, double* totals) const {
    x[i] += s->alpha * p[i];
    const double rest = r[i] - s->alpha * ap[i];
    r[i] = rest;
    totals[0] += rest * rest;
  }
};

struct CgBeta {
  SolverScalars* s;
  double* for_host;
  __device__ void operator()(const double* sums) const {
    s->beta = quotient(sums[0], s->rr);
    s->rr = sums[0];
    *for_host = sums[0];
  }
};

struct CgDirection {
  static constexpr unsigned totals = 1;
  const SolverScalars* s;
  const double* r;
  double* p;
  __device__ void element(unsigned i, double*) const { p[i] = r[i] + s->beta * p[i]; }
};

/// Adds a vector's squared norm to totals[0].
struct SquareOf {
  static constexpr unsigned totals = 1;
  const double* v;
  __device__ void element(unsigned i, double* totals) const { totals[0] += v[i] * v[i]; }
};

struct StoreSquare {
  SolverScalars* s;
  __device__ void operator()(const double* sums) const { s->rr = sums[0]; }
};

inline ProgramRun run_cg(Program& program, const Application& application, const RunOptions& options) {
  const unsigned n = application.rows();
  const Product product(application.by_rows(), options.form);
  const std::vector<double> right = application.contents<double>("r", n);
  const DeviceArray<double> x("x", n), r("the residual", n), p("the direction", n), ap("the product", n);
  const DeviceArray<SolverScalars> scalars("the scalars", 1);
  Partials partials(std::max(product.groups(), Partials::most_groups));
  const HostScalars<double> rest(1);
  const double limit = application.residual_limit(), shift = application.shift();
  ProgramRun run;
  program.measure(
      [&] {
        x.clear();
        r.upload(right);
        p.upload(right);
      },
      [&] {
        SolverScalars* const s = scalars.data();
        partials.each(SquareOf{r.data()}, n);
        partials.add_up<1>(StoreSquare{s});
        run.iterations = 0;
        do {
          if (run.iterations != 0) partials.each(CgDirection{s, r.data(), p.data()}, n);
          product.run(SolverProduct<DotWith>{product.values(), p.data(), ap.data(), shift, {p.data()}}, partials);
          partials.add_up<1>(CgAlpha{s});
          partials.each(CgUpdate{s, p.data(), ap.data(), x.data(), r.data()}, n);
          partials.add_up<1>(CgBeta{s, rest.data()});
        } while (++run.iterations < application.limit() && rest[0] > limit);
      });
  run.check = [&program, &application, result = x.download()](const ApplicationResult& expected) {
    SolverCheck(program, application)(result, expected.elements<double>());
  };
  program.report("form", product.form());
  return run;
}

// -- BiCGStab

struct BgsDirection {
  static constexpr unsigned totals = 1;
  const SolverScalars* s;
  const double *r, *v;
  double* p;
  __device__ void element(unsigned i, double*) const { p[i] = r[i] + s->beta * (p[i] - s->omega * v[i]); }
};

struct BgsAlpha {
  SolverScalars* s;
  __device__ void operator()(const double* sums) const { s->alpha = quotient(s->rho, sums[0]); }
};

struct BgsHalf {
  static constexpr unsigned totals = 1;
  const SolverScalars* s;
  const double *r, *v;
  double* half;
  __device__ void element(unsigned i, double*) const { half[i] = r[i] - s->alpha * v[i]; }
};

/// Computes the dot products of t with itself and with the vector from which t was computed.
struct BgsDots {
  static constexpr unsigned totals = 2;
  const double* half;
  __device__ void add(unsigned row, double t, double* totals) const {
    totals[0] += t * half[row];
    totals[1] += t * t;
  }
};

struct BgsOmega {
  SolverScalars* s;
  __device__ void operator()(const double* sums) const { s->omega = quotient(sums[0], sums[1]); }
};

struct BgsUpdate {
  static constexpr unsigned totals = 2;  // squared norm of the residual, and the next rho
  const SolverScalars* s;
  const double *p, *half, *t, *first;
  double *x, *r;
  __device__ void element(unsigned i, double* totals) const {
    x[i] += s->alpha * p[i] + s->omega * half[i];
    const double rest = half[i] - s->omega * t[i];
    r[i] = rest;
    totals[0] += rest * rest;
    totals[1] += first[i] * rest;
  }
};

struct BgsBeta {
  SolverScalars* s;
  double* for_host;
  __device__ void operator()(const double* sums) const {
    const double growth = quotient(sums[1], s->rho);
    s->beta = growth * quotient(s->alpha, s->omega);
    s->rho = sums[1];
    *for_host = sums[0];
  }
};

/// Sets the initial scalars: rho and beta are the squared norm of r, alpha and omega are 1.
struct BgsStart {
  SolverScalars* s;
  __device__ void operator()(const double* sums) const {
    s->alpha = s->omega = 1;
    s->beta = s->rho = sums[0];
  }
};

inline ProgramRun run_bgs(Program& program, const Application& application, const RunOptions& options) {
  const unsigned n = application.rows();
  const Product product(application.by_rows(), options.form);
  const std::vector<double> right = application.contents<double>("r", n);
  const DeviceArray<double> first("the first residual", application.contents<double>("first", n));
  const DeviceArray<double> x("x", n), r("the residual", n), p("the direction", n), v("its product", n), half("half a step", n),
      t("the product of that", n);
  const DeviceArray<SolverScalars> scalars("the scalars", 1);
  Partials partials(std::max(product.groups(), Partials::most_groups));
  const HostScalars<double> rest(1);
  const double limit = application.residual_limit(), shift = application.shift();
  ProgramRun run;
  program.measure(
      [&] {
        x.clear(), p.clear(), v.clear();
        r.upload(right);
      },
      [&] {
        SolverScalars* const s = scalars.data();
        // The first residual is r, so rho is the squared norm of r.
        partials.each(SquareOf{r.data()}, n);
        partials.add_up<1>(BgsStart{s});
        run.iterations = 0;
        do {
          partials.each(BgsDirection{s, r.data(), v.data(), p.data()}, n);
          product.run(SolverProduct<DotWith>{product.values(), p.data(), v.data(), shift, {first.data()}}, partials);
          partials.add_up<1>(BgsAlpha{s});
          partials.each(BgsHalf{s, r.data(), v.data(), half.data()}, n);
          product.run(SolverProduct<BgsDots>{product.values(), half.data(), t.data(), shift, {half.data()}}, partials);
          partials.add_up<2>(BgsOmega{s});
          partials.each(BgsUpdate{s, p.data(), half.data(), t.data(), first.data(), x.data(), r.data()}, n);
          partials.add_up<2>(BgsBeta{s, rest.data()});
        } while (++run.iterations < application.limit() && rest[0] > limit);
      });
  run.check = [&program, &application, result = x.download()](const ApplicationResult& expected) {
    SolverCheck(program, application)(result, expected.elements<double>());
  };
  program.report("form", product.form());
  return run;
}

// -- GMRES

constexpr unsigned restart = 4;  // as in the accelerator's program

/// The Hessenberg matrix of one iteration, rotated as it grows, and its right-hand side.
struct GmresScalars {
  double h[restart + 1][restart], cosine[restart], sine[restart], side[restart + 1], y[restart], inverse;
};

/// Computes the dot products of a matrix-vector product with the first `count` vectors of the basis.
template <unsigned count>
struct BasisDots {
  static constexpr unsigned totals = count;
  const double* basis[count];
  __device__ void add(unsigned row, double w, double* totals) const {
#pragma unroll
    for (unsigned i = 0; i < count; ++i) totals[i] += w * basis[i][row];
  }
};

template <unsigned count>
struct StoreColumn {
  GmresScalars* s;
  __device__ void operator()(const double* sums) const {
    for (unsigned i = 0; i < count; ++i) s->h[i][count - 1] = sums[i];
  }
};

/// Replaces the product w = A x by the residual `right` - w, and sums its squared norm.
struct GmresResidual {
  static constexpr unsigned totals = 1;
  const double* right;
  double* w;
  __device__ void element(unsigned i, double* totals) const {
    const double rest = right[i] - w[i];
    w[i] = rest;
    totals[0] += rest * rest;
  }
};

struct GmresStart {
  GmresScalars* s;
  __device__ void operator()(const double* sums) const {
    s->side[0] = sqrt(sums[0]);
    s->inverse = quotient(1, s->side[0]);
  }
};

/// Normalises w to a vector of the basis.
struct Normalise {
  static constexpr unsigned totals = 1;
  const GmresScalars* s;
  const double* w;
  double* out;
  __device__ void element(unsigned i, double*) const { out[i] = w[i] * s->inverse; }
};

/// Subtracts from w its components along the basis, and sums the squared norm of the result.
template <unsigned count>
struct Orthogonalise {
  static constexpr unsigned totals = 1;
  const GmresScalars* s;
  const double* basis[count];
  double* w;
  __device__ void element(unsigned i, double* totals) const {
    double rest = w[i];
#pragma unroll
    for (unsigned k = 0; k < count; ++k) rest -= s->h[k][count - 1] * basis[k][i];
    w[i] = rest;
    totals[0] += rest * rest;
  }
};

/// Applies the rotations to column j; after the last column, solves for y.
struct Rotate {
  GmresScalars* s;
  unsigned j;
  double* for_host;

  __device__ void operator()(const double* sums) const {
    double(*const h)[restart] = s->h;
    h[j + 1][j] = sqrt(sums[0]);
    s->inverse = quotient(1, h[j + 1][j]);
    for (unsigned i = 0; i < j; ++i) {
      const double upper = s->cosine[i] * h[i][j] + s->sine[i] * h[i + 1][j];
      h[i + 1][j] = s->cosine[i] * h[i + 1][j] - s->sine[i] * h[i][j];
      h[i][j] = upper;
    }
    const double length = sqrt(h[j][j] * h[j][j] + h[j + 1][j] * h[j + 1][j]);
    s->cosine[j] = quotient(h[j][j], length);
    s->sine[j] = quotient(h[j + 1][j], length);
    h[j][j] = length;
    s->side[j + 1] = -(s->sine[j] * s->side[j]);
    s->side[j] *= s->cosine[j];
    if (j + 1 != restart) return;
    for (unsigned k = restart; k-- > 0;) {
      double rest = s->side[k];
      for (unsigned i = k + 1; i < restart; ++i) rest -= h[k][i] * s->y[i];
      s->y[k] = quotient(rest, h[k][k]);
    }
    *for_host = s->side[restart] * s->side[restart];
  }
};

struct GmresUpdate {
  static constexpr unsigned totals = 1;
  const GmresScalars* s;
  const double* basis[restart];
  double* x;
  __device__ void element(unsigned i, double*) const {
    double next = x[i];
#pragma unroll
    for (unsigned k = 0; k < restart; ++k) next += s->y[k] * basis[k][i];
    x[i] = next;
  }
};

/// Used for matrix-vector products without dot products.
struct NoDots {
  static constexpr unsigned totals = 1;
  __device__ void add(unsigned, double, double*) const {}
};

/// Vectors and scalars of GMRES in GPU memory.
class Gmres {
 public:
  Gmres(const Product& product, unsigned n, double shift)
      : product_(product), n_(n), shift_(shift), partials_(std::max(product.groups(), Partials::most_groups)) {}

  /// Performs one iteration of `restart` steps. Writes the squared norm of the residual to `rest`.
  void iterate(const double* right, double* x, double* rest) {
    times<NoDots>(x, {});
    partials_.each(GmresResidual{right, w_.data()}, n_);
    partials_.add_up<1>(GmresStart{scalars_.data()});
    normalise(0);
    step<1>(rest);
    step<2>(rest);
    step<3>(rest);
    step<4>(rest);
    partials_.each(GmresUpdate{scalars_.data(), {basis(0), basis(1), basis(2), basis(3)}, x}, n_);
  }

 private:
  double* basis(unsigned i) const { return basis_.data() + size_t(i) * n_; }
  template <typename Dots>
  void times(const double* x, const Dots& dots) {
    product_.run(SolverProduct<Dots>{product_.values(), x, w_.data(), shift_, dots}, partials_);
  }
  void normalise(unsigned i) { partials_.each(Normalise{scalars_.data(), w_.data(), basis(i)}, n_); }
  /// Performs a step with `count` vectors in the basis.
  template <unsigned count>
  void step(double* rest) {
    BasisDots<count> dots;
    Orthogonalise<count> orthogonalise{scalars_.data(), {}, w_.data()};
    for (unsigned i = 0; i < count; ++i) dots.basis[i] = orthogonalise.basis[i] = basis(i);
    times(basis(count - 1), dots);
    partials_.add_up<count>(StoreColumn<count>{scalars_.data()});
    partials_.each(orthogonalise, n_);
    partials_.add_up<1>(Rotate{scalars_.data(), count - 1, rest});
    if (count != restart) normalise(count);
  }

  const Product& product_;
  unsigned n_;
  double shift_;
  Partials partials_;
  DeviceArray<double> w_{"the product", n_}, basis_{"the basis", size_t(n_) * restart};
  DeviceArray<GmresScalars> scalars_{"the scalars", 1};
};

inline ProgramRun run_gmres(Program& program, const Application& application, const RunOptions& options) {
  const unsigned n = application.rows();
  const Product product(application.by_rows(), options.form);
  const DeviceArray<double> right("the right side", application.contents<double>("right", n)), x("x", n);
  Gmres gmres(product, n, application.shift());
  const HostScalars<double> rest(1);
  const double limit = application.residual_limit();
  ProgramRun run;
  program.measure([&] { x.clear(); },
                  [&] {
                    run.iterations = 0;
                    do gmres.iterate(right.data(), x.data(), rest.data());
                    while (++run.iterations < application.limit() && rest[0] > limit);
                  });
  run.check = [&program, &application, result = x.download()](const ApplicationResult& expected) {
    SolverCheck(program, application)(result, expected.elements<double>());
  };
  program.report("form", product.form());
  return run;
}

}  // namespace workload

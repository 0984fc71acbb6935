// D = C (+) (A (x) B) with one of the nine operators of SIMD2, on the matrix unit or on vector ALUs: the micro-benchmark of the
// SIMD2 paper. `sparse` is the unit's 2:4 form, in which A has at most two elements in each group of four; --structured uses
// the same A on the other units.
#include "lacuna/simd2.h"

#include <algorithm>

#include "workloads/common/matrix_unit.h"
#include "workloads/common/program.h"
#include "workloads/common/simd2_vector.h"

using half = _Float16;
using simd2::opcode;

constexpr const char* operators[] = {"mma", "minplus", "maxplus", "minmul", "maxmul", "minmax", "maxmin", "orand", "addnorm"};

template <opcode op>
__global__ void __launch_bounds__(simd2_vector::workgroup_size)
    vector_product(simd2_vector::Factors<half> x, const float* c, float* d) {
  constexpr unsigned tile = simd2_vector::tile;
  simd2_vector::multiply<op>(
      x, blockIdx.y * tile, blockIdx.x * tile,
      [=](unsigned row, unsigned column, unsigned count) {
        return simd2_vector::load_four(c + size_t{row} * x.n + column, count);
      },
      [=](unsigned row, unsigned column, unsigned count, float4 values) {
        simd2_vector::store_four(d + size_t{row} * x.n + column, count, values);
      });
}

struct Input {
  int m, n, k;
  std::vector<half> a, b;
  std::vector<float> c;
};

// Values are small whole numbers, so that sums of their products are exact. Operators with min or max are also tested with
// infinities and NaN.
static Input make_input(workload::Random& random, opcode op, int m, int n, int k, bool structured) {
  const bool special = simd2::takes_minimum(op) || simd2::takes_maximum(op);
  const auto number = [&] {
    const auto bits = random.bits();
    if (special && bits % 64 < 4) {
      return bits % 64 == 0 ? INFINITY : bits % 64 == 1 ? -INFINITY : bits % 64 == 2 ? NAN : 0.0f;
    }
    if (op == simd2::orand) return bits % 32 == 0 ? 1.0f : 0.0f;
    return static_cast<float>(static_cast<int>(bits >> 32 & 7) - 4);
  };
  Input input{m, n, k, std::vector<half>(size_t(m) * k), std::vector<half>(size_t(k) * n), std::vector<float>(size_t(m) * n)};
  for (half& value : input.a) value = static_cast<half>(number());
  for (half& value : input.b) value = static_cast<half>(number());
  for (float& value : input.c) value = number();
  if (!structured) return input;
  for (int row = 0; row < m; ++row) {
    for (int group = 0; group < k; group += 4) {
      // Clears all but two positions of the group.
      const auto first = random.below(4), second = (first + 1 + random.below(3)) % 4;
      for (int i = 0; i < 4 && group + i < k; ++i) {
        if (i == int(first) || i == int(second)) continue;
        input.a[size_t(row) * k + group + i] = static_cast<half>(special ? NAN : 0.0f);
      }
    }
  }
  return input;
}

// `vector`: on vector ALUs the minimum and maximum of a NaN and a number are the number. The matrix unit ignores products with
// a NaN factor.
static float combined(opcode op, bool vector, float sum, float a, float b) {
  if (op == simd2::mma) return sum + a * b;
  if (op == simd2::addnorm) return sum + (a - b) * (a - b);
  if (op == simd2::orand) return sum != 0 || (a != 0 && b != 0) ? 1.0f : 0.0f;
  const bool selects = op == simd2::minmax || op == simd2::maxmin;
  if (!(vector && selects) && (std::isnan(a) || std::isnan(b))) return sum;
  const float product = op == simd2::minplus || op == simd2::maxplus ? a + b
                        : op == simd2::minmul || op == simd2::maxmul ? a * b
                        : op == simd2::minmax                        ? std::fmax(a, b)
                                                                     : std::fmin(a, b);
  if (std::isnan(product)) return sum;
  return simd2::takes_minimum(op) ? std::min(sum, product) : std::max(sum, product);
}

static std::vector<float> reference(opcode op, bool vector, const Input& x) {
  std::vector<float> d = x.c;
  for (float& value : d) {
    if (std::isnan(value)) value = simd2::identity(op);
    if (op == simd2::orand) value = value != 0 ? 1.0f : 0.0f;
  }
  const std::vector<float> b(x.b.begin(), x.b.end());
  for (int row = 0; row < x.m; ++row) {
    for (int i = 0; i < x.k; ++i) {
      const float a = x.a[size_t(row) * x.k + i];
      for (int column = 0; column < x.n; ++column) {
        float& sum = d[size_t(row) * x.n + column];
        sum = combined(op, vector, sum, a, b[size_t(i) * x.n + column]);
      }
    }
  }
  return d;
}

struct Device {
  explicit Device(const Input& x) : a("A", x.a), b("B", x.b), c("C", x.c), d("D", x.c.size()) {}
  simd2::dense_factors factors(const Input& x) const {
    return {a.data(), b.data(), unsigned(x.m), unsigned(x.n), unsigned(x.k), unsigned(x.k), unsigned(x.n)};
  }
  workload::DeviceArray<half> a, b;
  workload::DeviceArray<float> c, d;
};

template <opcode op>
static void run(workload::Program& program, const std::string& unit, const Input& x, const Device& device) {
  if (unit == "vector") {
    const dim3 grid(workload::groups(x.n, simd2_vector::tile), workload::groups(x.m, simd2_vector::tile));
    program.measure([&] {
      const simd2::dense_factors y = device.factors(x);
      vector_product<op>
          <<<grid, simd2_vector::workgroup_size>>>({y.a, y.b, y.m, y.n, y.k, y.lda, y.ldb}, device.c.data(), device.d.data());
    });
  } else if (unit == "matrix") {
    program.measure([&] { simd2::product<op>(device.factors(x), device.c.data(), device.d.data()); });
  } else if constexpr (op != simd2::addnorm) {
    const unsigned ld = simd2::compressed_ld(x.k);
    const workload::DeviceArray<half> values("the values of A", size_t(x.m) * ld / 2);
    const workload::DeviceArray<unsigned short> positions("the positions of A", size_t(x.m) * ld / 16);
    const workload::DeviceArray<unsigned> misfits("the number of misfits", std::vector<unsigned>{0});
    const half absent = simd2::identity(op) == 0 ? half{0} : simd2::padding<op, simd2::matrixa>();
    simd2::compress<op>(device.a.data(), x.m, x.k, x.k, values.data(), positions.data(), misfits.data(), absent);
    if (misfits.download()[0] != 0) throw workload::Error("A has more than two elements in a group of four");
    const simd2::sparse_factors factors{
        values.data(), positions.data(), device.b.data(), unsigned(x.m), unsigned(x.n), unsigned(x.k), ld, unsigned(x.n)};
    program.measure([&] { simd2::product<op>(factors, device.c.data(), device.d.data()); });
  }
}

int main(int argc, char** argv) {
  workload::Program program("simd2", "A matrix operation with one of the operators of SIMD2",
                            "SIMD2 (ISCA '22): the micro-benchmark");
  int m = 0, n = 0, k = 0;
  std::string name, unit;
  bool structured = false;
  program.size(m, "m", "rows of A and D", {128, 256, 512}, 1, 1 << 15);
  program.size(n, "n", "columns of B and D", {128, 256, 512}, 1, 1 << 15);
  program.size(k, "k", "columns of A, rows of B", {128, 256, 512}, 1, 1 << 15);
  program.choice(name, "operator", "the operator", {std::begin(operators), std::end(operators)}, std::string("minplus"));
  program.choice(unit, "unit", "unit: vector ALUs, or the matrix unit of a gfx90a with mfma.extensions, dense or 2:4 sparse",
                 {"vector", "matrix", "sparse"}, std::string("vector"));
  program.flag(structured, "structured", "A has two elements in each group of four");
  return program.run(argc, argv, [&] {
    const auto op = static_cast<opcode>(std::find(std::begin(operators), std::end(operators), name) - std::begin(operators));
    if (op == simd2::addnorm && unit == "sparse") throw workload::UsageError("addnorm has no sparse form");
    if (unit != "vector") workload::require_matrix_unit("--unit " + unit);
    const Input x = make_input(program.random(), op, m, n, k, structured || unit == "sparse");
    const Device device(x);
    constexpr decltype(&run<simd2::mma>) runs[] = {run<simd2::mma>,    run<simd2::minplus>, run<simd2::maxplus>,
                                                   run<simd2::minmul>, run<simd2::maxmul>,  run<simd2::minmax>,
                                                   run<simd2::maxmin>, run<simd2::orand>,   run<simd2::addnorm>};
    runs[op](program, unit, x, device);
    if (program.checks()) program.check_equal("D", device.d.download(), reference(op, unit == "vector", x));
  });
}

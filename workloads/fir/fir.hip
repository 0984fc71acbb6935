// Finite impulse response filter, y[i] = sum over t of h[t] x[i - t], with x = 0 before the first sample. The coefficients are
// the same for all lanes and are read by scalar loads. 16 taps are Hetero-Mark's; the default length is MGPUSim's.
//
//   tuned   a work-item computes four adjacent results from registers, so that it loads taps + 4 samples, 16 bytes at a time,
//           instead of 4 x taps samples
//   suite   the kernel of Hetero-Mark: a work-item computes one result and loads a sample for each tap. Its samples before the
//           first are a separate array; here they precede the others
#include <hip/hip_runtime.h>

#include "workloads/common/program.h"

constexpr unsigned group_size = 256;

// x points to the first sample, which at least `taps` zeros precede; `taps` is a multiple of 4. x and y consist of whole
// float4.
__global__ void __launch_bounds__(group_size) fir(const float4* __restrict__ x, const float* __restrict__ coefficients,
                                                  float4* __restrict__ y, unsigned count, unsigned taps) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= count) return;
  float sums[4] = {};
  float4 later = x[i];
  for (unsigned tap = 0; tap < taps; tap += 4) {
    const float4 earlier = *(x + i - tap / 4 - 1);
    const float window[8] = {earlier.x, earlier.y, earlier.z, earlier.w, later.x, later.y, later.z, later.w};
#pragma unroll
    for (unsigned t = 0; t < 4; ++t) {
#pragma unroll
      for (unsigned out = 0; out < 4; ++out) sums[out] += coefficients[tap + t] * window[4 + out - t];
    }
    later = earlier;
  }
  y[i] = make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// As in MGPUSim's code object, the loop is not unrolled: each load is waited for before the next one is issued.
__global__ void __launch_bounds__(group_size) fir_taps(const float* __restrict__ x, const float* __restrict__ coefficients,
                                                       float* __restrict__ y, unsigned count, unsigned taps) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= count) return;
  const float* sample = x + i;
  float sum = 0;
#pragma unroll 1
  for (unsigned tap = 0; tap < taps; ++tap, --sample) sum += coefficients[tap] * *sample;
  y[i] = sum;
}

int main(int argc, char** argv) {
  workload::Program program("fir", "Finite impulse response filter in single precision",
                            "LazyGPU (ISCA '25), Table 3: FIR of Hetero-Mark");
  int length = 0, taps = 0;
  program.size(length, "length", "samples", {50'000, 4096, 1 << 20}, 1, 1 << 30);
  program.size(taps, "taps", "coefficients", 16, 1, 4096);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the samples");
  return program.run(argc, argv, [&] {
    const std::vector<float> x = program.sparsified(program.random().uniform_values(length, -1, 1));
    std::vector<float> h = program.random().uniform_values(taps, -1, 1);
    h.resize(workload::groups(taps, 4) * 4);
    const size_t history = h.size(), count = workload::groups(length, 4);
    std::vector<float> padded(history + count * 4);
    for (size_t i = 0; i < x.size(); ++i) padded[history + i] = x[i];
    const workload::DeviceArray<float> device_x("the samples", padded), device_h("the coefficients", h),
        device_y("the result", count * 4);
    program.measure([&] {
      const float* const first = device_x.data() + history;
      if (form == "suite") {
        fir_taps<<<workload::groups(length, group_size), group_size>>>(first, device_h.data(), device_y.data(), length, taps);
        return;
      }
      fir<<<workload::groups(count, group_size), group_size>>>(reinterpret_cast<const float4*>(first), device_h.data(),
                                                               reinterpret_cast<float4*>(device_y.data()), count, h.size());
    });
    if (!program.checks()) return;
    std::vector<float> y = device_y.download();
    y.resize(x.size());
    std::vector<double> expected(x.size()), magnitude(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t t = 0; t < h.size() && t <= i; ++t) {
        const double product = double{h[t]} * x[i - t];
        expected[i] += product;
        magnitude[i] += std::fabs(product);
      }
    }
    program.check_near("y", y, expected, [&](size_t i) { return workload::sum_error(h.size()) * magnitude[i]; });
  });
}

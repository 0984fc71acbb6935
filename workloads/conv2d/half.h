// Convolutions in half precision with results in single precision: kernels, their launch, and checks of results.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/common/gemm_host.h"
#include "workloads/conv2d/direct.h"
#include "workloads/conv2d/explicit.h"
#include "workloads/conv2d/implicit.h"
#include "workloads/conv2d/reference.h"
#include "workloads/conv2d/settings.h"

extern "C" __global__ void __launch_bounds__(conv::kDirectItems)
    convolution_direct(conv::Convolution c, const _Float16* x, const _Float16* weights, float* y) {
  conv::convolve_directly(c, x, weights, y);
}
/// Expands USE(FRAGMENTS) for each form of the implicit product; FRAGMENTS: dwords of a fragment per lane.
#define IMPLICIT_FORMS(USE) USE(2) USE(4)
#define IMPLICIT_KERNEL(fragments) \
  PRODUCT_KERNEL(convolution_implicit_##fragments, conv::Implicit, conv::multiply_lowered<conv::halves_of(fragments)>)
IMPLICIT_FORMS(IMPLICIT_KERNEL)

namespace conv {

#define IMPLICIT_ENTRY(fragments) {"", fragments, convolution_implicit_##fragments, &convolution_implicit_##fragments##_duplo},
inline const ProductKernel<Implicit> kImplicit[] = {IMPLICIT_FORMS(IMPLICIT_ENTRY)};

/// A convolution with f16 operands: holds x and the weights, padded in channels, runs the selected method, and checks y.
class HalfConvolution {
 public:
  HalfConvolution(workload::Program& program, const Settings& settings, const Shape& shape)
      : program_(program),
        settings_(settings),
        c_(shape.convolution),
        real_channels_(shape.real_channels),
        step_(step_columns(settings.fragments)),
        x_(c_.inputs() + 8),
        weights_(size_t{c_.filters} * c_.columns()) {
    const auto value = [&] { return static_cast<Half>(program.random().uniform(-1, 1)); };
    for (size_t i = 0; i < x_.size() - 8; ++i) x_[i] = i % c_.channels < real_channels_ ? value() : Half{};
    for (size_t i = 0; i < weights_.size(); ++i) weights_[i] = i % c_.channels < real_channels_ ? value() : Half{};
    pitch_ = settings.pitch != 0 ? static_cast<unsigned>(settings.pitch) : spread_pitch(c_.columns());
    const unsigned least = rounded_up(c_.columns(), step_);
    if (pitch_ < least || pitch_ % 8 != 0) {
      throw workload::UsageError("--pitch has to be a multiple of 8 and " + std::to_string(least) + " at least");
    }
  }

  void run() {
    const workload::DeviceArray<Half> x("x", x_);
    const workload::DeviceArray<float> y("y", size_t{c_.rows()} * c_.filters);
    if (settings_.method == "direct") {
      run_directly(x, y);
    } else if (settings_.method == "implicit") {
      run_implicitly(x, y);
    } else {
      run_explicitly(x, y);
    }
    program_.report("memory", static_cast<double>(workload::peak_memory()));
    program_.report("products", double{1} * c_.rows() * c_.filters * c_.filter_height * c_.filter_width * real_channels_);
    if (!program_.checks()) return;
    const std::vector<float> result = y.download();
    program_.report("bits", std::to_string(tiled::hash_of_bits(result)));
    check(result);
  }

 private:
  void run_directly(const workload::DeviceArray<Half>& x, const workload::DeviceArray<float>& y) {
    const unsigned filters = rounded_up(c_.filters, kDirectFilters), columns = c_.columns();
    std::vector<Half> by_column(size_t{filters} * columns);
    for (size_t filter = 0; filter < c_.filters; ++filter) {
      for (size_t k = 0; k < columns; ++k) by_column[(k / 4 * filters + filter) * 4 + k % 4] = weights_[filter * columns + k];
    }
    const workload::DeviceArray<Half> weights("weights", by_column);
    program_.measure([&] {
      const dim3 grid(filters / kDirectFilters, workload::groups(c_.output_width(), kDirectWidth),
                      c_.images * c_.output_height());
      convolution_direct<<<grid, kDirectItems>>>(c_, x.data(), weights.data(), y.data());
      workload::require(hipGetLastError(), "launching the kernel");
    });
  }

  void run_explicitly(const workload::DeviceArray<Half>& x, const workload::DeviceArray<float>& y) {
    const bool on_matrix_units = settings_.method == "explicit";
    if (!on_matrix_units && c_.images_innermost != 0) {
      throw workload::UsageError("--method gemm has its results in the order of rows: images_outermost alone");
    }
    const workload::DeviceArray<Half> weights("weights", padded_weights());
    const workload::DeviceArray<Half> workspace("workspace", left_elements(c_.rows(), pitch_));
    program_.report("workspace", 2.0 * static_cast<double>(workspace.size()));
    if (!on_matrix_units) return multiply_on_vector_units(x, weights, workspace, y);
    const ProductKernel<Product>& kernel = explicit_kernel(settings_.lds, settings_.loads, settings_.fragments);
    put_parameters(kernel.duplo, duplo_parameters(c_, pitch_, workspace.data()));
    multiply_parts(weights, y, [&](Product product, dim3 grid) {
      launch_lowering(log_, c_, x.data(), workspace.data(), pitch_, step_);
      product.a = workspace.data();
      kernel.function<<<grid, kItems>>>(product);
    });
  }

  void run_implicitly(const workload::DeviceArray<Half>& x, const workload::DeviceArray<float>& y) {
    const workload::DeviceArray<Half> weights("weights", padded_weights());
    const ProductKernel<Implicit>& kernel = kernel_for(kImplicit, settings_.method, "", settings_.fragments);
    lacuna_duplo block = duplo_parameters(c_, pitch_);
    const unsigned stride = slab_pitch(halves_of(static_cast<unsigned>(settings_.fragments)));
    block.lds.base = 0;
    block.lds.row_stride = static_cast<lacuna_duplo_u16>(stride / 8);
    block.lds.buffer_stride = static_cast<lacuna_duplo_u16>(kTileRows * stride / 8);
    block.lds.rows = kTileRows;
    block.lds.buffers = 2;
    block.form = LACUNA_DUPLO_LDS;
    put_parameters(kernel.duplo, block);
    multiply_parts(weights, y, [&](Product product, dim3 grid) {
      product.a = x.data();
      kernel.function<<<grid, kItems>>>(Implicit{product, c_, static_cast<unsigned>(c_.inputs())});
    });
  }

  /// Measures launch(product, grid), which must set `a`, followed by the addition of the parts along K.
  template <class Launch>
  void multiply_parts(const workload::DeviceArray<Half>& weights, const workload::DeviceArray<float>& y, Launch launch) {
    const PlannedProduct planned = planned_product(c_, pitch_, step_);
    Product x = planned.product;
    const unsigned parts = planned.parts();
    x.b = weights.data();
    if (settings_.k == "taps") walk_taps_innermost(x, c_, settings_.method == "implicit" ? kSlab : step_);
    program_.report("parts", std::to_string(parts));
    const workload::DeviceArray<float> sums("the parts' sums", parts > 1 ? parts * y.size() : 1);
    x.y = parts > 1 ? sums.data() : y.data();
    program_.measure([&] {
      launch(x, planned.grid);
      workload::require(hipGetLastError(), "launching the kernel");
      if (parts > 1) launch_sum_of_parts(log_, x.y, y.data(), parts, static_cast<unsigned>(y.size()), false);
    });
    parts_ = parts;
  }

  void multiply_on_vector_units(const workload::DeviceArray<Half>& x, const workload::DeviceArray<Half>& weights,
                                const workload::DeviceArray<Half>& workspace, const workload::DeviceArray<float>& y) {
    const gemm::Parts parts(c_.rows(), c_.filters, c_.columns());
    const workload::DeviceArray<float> sums("the parts' sums", parts.count > 1 ? parts.count * y.size() : 1);
    const auto scratch = [&](size_t) { return sums.data(); };
    program_.measure([&] {
      launch_lowering(log_, c_, x.data(), workspace.data(), pitch_, step_);
      launch_on_vector_units(log_, c_.rows(), c_.filters, c_.columns(), pitch_, workspace.data(), weights.data(), y.data(),
                             false, scratch);
    });
    parts_ = parts.count;
  }

  std::vector<Half> padded_weights() const {
    const size_t columns = c_.columns();
    std::vector<Half> padded(right_elements(c_.filters, pitch_));
    for (size_t filter = 0; filter < c_.filters; ++filter) {
      std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(filter * columns), columns,
                  padded.begin() + static_cast<std::ptrdiff_t>(filter * pitch_));
    }
    return padded;
  }

  void check(const std::vector<float>& y) {
    const bool on_matrix_units = settings_.method == "explicit" || settings_.method == "implicit";
    const workload::Expected expected =
        convolved(c_, real_channels_, factors(x_, on_matrix_units), factors(weights_, on_matrix_units), c_.columns(), parts_);
    program_.check_near("y", y, expected.values, [&](size_t i) { return expected.bound(i); });
  }

  workload::Program& program_;
  const Settings& settings_;
  Convolution c_;
  unsigned real_channels_, step_, pitch_ = 0, parts_ = 1;
  std::vector<Half> x_, weights_;
  workload::LayerLog log_;
};

/// Computes the convolution according to the options; checks it with --check.
inline void run_half(workload::Program& program, const Settings& settings, Shape shape) {
  if (settings.channels != 4 && settings.channels != 8 && settings.channels != 16) {
    throw workload::UsageError("--channels has to be 4, 8 or 16");
  }
  require_loads(settings.method, settings.lds, settings.loads, settings.fragments);
  apply_shape(shape, settings.shape);
  Convolution& c = shape.convolution;
  c.channels = rounded_up(c.channels, static_cast<unsigned>(settings.channels));
  c.images_innermost = settings.rows == "images_innermost" ? 1 : 0;
  require_valid(c);
  HalfConvolution(program, settings, shape).run();
}

}  // namespace conv

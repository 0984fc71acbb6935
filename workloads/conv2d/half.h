// Convolutions in half precision with the results in single precision: what runs on the GPU, and what comes out on the host.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "lacuna/duplo.h"
#include "workloads/common/gemm.h"
#include "workloads/common/gemm_host.h"
#include "workloads/common/tensor.h"
#include "workloads/conv2d/direct.h"
#include "workloads/conv2d/implicit.h"
#include "workloads/conv2d/lowering.h"
#include "workloads/conv2d/product.h"
#include "workloads/conv2d/settings.h"

LOWERING_KERNEL(convolution_lower_4, 4)
LOWERING_KERNEL(convolution_lower_8, 8)
GEMM_KERNEL(convolution_gemm, _Float16, float, false, true, lds)
extern "C" __global__ void __launch_bounds__(conv::kDirectItems)
    convolution_direct(conv::Convolution c, const _Float16* x, const _Float16* weights, float* y) {
  conv::convolve_directly(c, x, weights, y);
}
extern "C" __global__ void __launch_bounds__(256) convolution_sum_parts(gemm::PartsArguments<float> x) { gemm::sum_parts(x); }
PRODUCT_KERNEL(convolution_explicit_abc_2, conv::Product, conv::multiply_workspace<conv::Lds::abc, 4>)
PRODUCT_KERNEL(convolution_explicit_abc_4, conv::Product, conv::multiply_workspace<conv::Lds::abc, 8>)
PRODUCT_KERNEL(convolution_explicit_ac_2, conv::Product, conv::multiply_workspace<conv::Lds::ac, 4>)
PRODUCT_KERNEL(convolution_explicit_ac_4, conv::Product, conv::multiply_workspace<conv::Lds::ac, 8>)
PRODUCT_KERNEL(convolution_explicit_c_2, conv::Product, conv::multiply_workspace<conv::Lds::c, 4>)
PRODUCT_KERNEL(convolution_explicit_c_4, conv::Product, conv::multiply_workspace<conv::Lds::c, 8>)
PRODUCT_KERNEL(convolution_implicit_2, conv::Implicit, conv::multiply_lowered<4>)
PRODUCT_KERNEL(convolution_implicit_4, conv::Implicit, conv::multiply_lowered<8>)

namespace conv {

/// A kernel on matrix units, and its parameters for Duplo.
template <class Argument>
struct ProductKernel {
  const char* lds;
  int fragments;
  void (*function)(Argument);
  const void* duplo;
};
#define CONVOLUTION_PRODUCT(lds, fragments, name) \
  { lds, fragments, name, &name##_duplo }
inline const ProductKernel<Product> kExplicit[] = {
    CONVOLUTION_PRODUCT("abc", 2, convolution_explicit_abc_2), CONVOLUTION_PRODUCT("abc", 4, convolution_explicit_abc_4),
    CONVOLUTION_PRODUCT("ac", 2, convolution_explicit_ac_2),   CONVOLUTION_PRODUCT("ac", 4, convolution_explicit_ac_4),
    CONVOLUTION_PRODUCT("c", 2, convolution_explicit_c_2),     CONVOLUTION_PRODUCT("c", 4, convolution_explicit_c_4)};
inline const ProductKernel<Implicit> kImplicit[] = {CONVOLUTION_PRODUCT("", 2, convolution_implicit_2),
                                                    CONVOLUTION_PRODUCT("", 4, convolution_implicit_4)};
#undef CONVOLUTION_PRODUCT

inline unsigned rounded_up(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }

/// The convolution as Duplo's detection unit wants it, without where its workspace is.
inline lacuna_duplo duplo_parameters(const Convolution& c, unsigned pitch) {
  lacuna_duplo block{};
  block.pitch = pitch;
  block.images = static_cast<lacuna_duplo_u16>(c.images);
  block.height = static_cast<lacuna_duplo_u16>(c.lowered_height());
  block.width = static_cast<lacuna_duplo_u16>(c.lowered_width());
  block.channels = static_cast<lacuna_duplo_u16>(c.channels);
  block.filter_height = static_cast<lacuna_duplo_u8>(c.filter_height);
  block.filter_width = static_cast<lacuna_duplo_u8>(c.filter_width);
  block.stride_y = static_cast<lacuna_duplo_u8>(c.stride_y);
  block.stride_x = static_cast<lacuna_duplo_u8>(c.stride_x);
  block.padding_top = static_cast<lacuna_duplo_u8>(c.pad_top);
  block.padding_left = static_cast<lacuna_duplo_u8>(c.pad_left);
  block.padding_bottom = static_cast<lacuna_duplo_u8>(c.pad_bottom);
  block.padding_right = static_cast<lacuna_duplo_u8>(c.pad_right);
  block.row_order = c.images_innermost != 0 ? LACUNA_DUPLO_IMAGES_INNERMOST : LACUNA_DUPLO_IMAGES_OUTERMOST;
  return block;
}

/// x and weights with the channels that fill them up, and y.
class HalfConvolution {
 public:
  HalfConvolution(workload::Program& program, const Settings& settings, const Shape& shape)
      : program_(program),
        settings_(settings),
        c_(shape.convolution),
        real_channels_(shape.real_channels),
        step_(16 * static_cast<unsigned>(settings.fragments) / 2),
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
    program_.report("products", double{1} * c_.rows() * c_.filters * c_.filter_height * c_.filter_width * real_channels_);
    if (program_.checks()) check(y.download());
  }

 private:
  /// The distance of rows in units of 64 bytes has no factor 2 or 3: all workgroups read the same columns at about the same
  /// time, and rows a multiple of such numbers apart would meet in few sets of the L1 and few channels of memory.
  static unsigned spread_pitch(unsigned columns) {
    unsigned pieces = workload::groups(columns, 32);
    while (pieces % 2 == 0 || pieces % 3 == 0) ++pieces;
    return pieces * 32;
  }

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
    const workload::DeviceArray<Half> workspace("workspace", workspace_elements());
    program_.report("workspace", 2.0 * static_cast<double>(workspace.size()));
    if (!on_matrix_units) return multiply_on_vector_units(x, weights, workspace, y);
    const ProductKernel<Product>& kernel = kernel_for(kExplicit, settings_.lds);
    lacuna_duplo block = duplo_parameters(c_, pitch_);
    block.workspace = reinterpret_cast<lacuna_duplo_u64>(workspace.data());
    block.form = LACUNA_DUPLO_MEMORY;
    put_parameters(kernel.duplo, block);
    multiply_parts(weights, y, [&](Product product, dim3 grid) {
      lower(x, workspace);
      product.a = workspace.data();
      kernel.function<<<grid, kItems>>>(product);
    });
  }

  void run_implicitly(const workload::DeviceArray<Half>& x, const workload::DeviceArray<float>& y) {
    const workload::DeviceArray<Half> weights("weights", padded_weights());
    const ProductKernel<Implicit>& kernel = kernel_for(kImplicit, "");
    lacuna_duplo block = duplo_parameters(c_, pitch_);
    const unsigned stride = settings_.fragments == 2 ? kSlabPitch<4> : kSlabPitch<8>;
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

  template <class Argument, size_t count>
  const ProductKernel<Argument>& kernel_for(const ProductKernel<Argument> (&kernels)[count], const std::string& lds) const {
    if (!tiled::has_matrix_units()) {
      throw workload::UsageError("--method " + settings_.method + " needs matrix units, which gfx90a has");
    }
    for (const auto& kernel : kernels) {
      if (kernel.lds == lds && kernel.fragments == settings_.fragments) return kernel;
    }
    throw workload::UsageError("--fragments has to be 2 or 4");
  }

  static void put_parameters(const void* symbol, const lacuna_duplo& block) {
    workload::require(hipMemcpyToSymbol(symbol, &block, sizeof block), "copying the parameters of the convolution");
  }

  /// Calls launch(product, grid), which has to set `a`, and adds what parts along K give.
  template <class Launch>
  void multiply_parts(const workload::DeviceArray<Half>& weights, const workload::DeviceArray<float>& y, Launch launch) {
    Product x{};
    x.b = weights.data();
    x.m = c_.rows(), x.n = c_.filters, x.pitch = pitch_;
    x.steps = workload::groups(c_.columns(), step_);
    x.images = c_.images_innermost != 0 ? c_.images : 1;
    x.positions = c_.positions();
    set_walk(x);
    const dim3 tiles(workload::groups(x.n, kTileColumns), workload::groups(x.m, kTileRows));
    const unsigned slab_steps = kSlab / step_, slabs = workload::groups(x.steps, slab_steps);
    const unsigned wanted = std::max(1u, std::min(tiled::compute_units() / (tiles.x * tiles.y), slabs));
    x.part_steps = workload::groups(slabs, wanted) * slab_steps;
    const unsigned parts = workload::groups(x.steps, x.part_steps);
    program_.report("parts", std::to_string(parts));
    const workload::DeviceArray<float> sums("the parts' sums", parts > 1 ? parts * y.size() : 1);
    x.y = parts > 1 ? sums.data() : y.data();
    program_.measure([&] {
      launch(x, dim3(tiles.x, tiles.y, parts));
      workload::require(hipGetLastError(), "launching the kernel");
      if (parts == 1) return;
      const auto size = static_cast<unsigned>(y.size());
      convolution_sum_parts<<<workload::groups(size, 256), 256>>>({x.y, y.data(), parts, 1, size, size, false});
      workload::require(hipGetLastError(), "launching the sum of parts");
    });
    parts_ = parts;
  }

  /// Taps innermost: as many channels at a time as slabs have columns, or as divide them.
  void set_walk(Product& x) const {
    x.taps = 1, x.channels = 0;
    x.unit = rounded_up(x.steps * step_, kSlab);
    if (settings_.k != "taps") return;
    for (const unsigned unit : {64u, 32u, 16u}) {
      if (c_.channels % unit != 0 || unit < step_ || (settings_.method == "implicit" && unit != kSlab)) continue;
      x.unit = unit, x.taps = c_.filter_height * c_.filter_width, x.channels = c_.channels;
      return;
    }
  }

  void lower(const workload::DeviceArray<Half>& x, const workload::DeviceArray<Half>& workspace) const {
    const auto kernel = c_.channels % 8 == 0 ? convolution_lower_8 : convolution_lower_4;
    kernel<<<workload::groups(c_.rows(), kLoweringRows), kLoweringItems>>>(c_, x.data(), workspace.data(), pitch_,
                                                                           rounded_up(c_.columns(), step_));
    workload::require(hipGetLastError(), "launching the lowering");
  }

  void multiply_on_vector_units(const workload::DeviceArray<Half>& x, const workload::DeviceArray<Half>& weights,
                                const workload::DeviceArray<Half>& workspace, const workload::DeviceArray<float>& y) {
    const gemm::Arguments<Half, float> product{workspace.data(), weights.data(), y.data(), c_.rows(),
                                               c_.filters,       c_.columns(),   pitch_,   pitch_,
                                               c_.filters,       false,          0,        nullptr};
    const gemm::Parts parts(product.m, product.n, product.k);
    const workload::DeviceArray<float> sums("the parts' sums", parts.count > 1 ? parts.count * y.size() : 1);
    const auto scratch = [&](size_t) { return sums.data(); };
    program_.measure([&] {
      lower(x, workspace);
      workload::LayerLog log;
      gemm::multiply(log, gemm::Product<Half, float>{convolution_gemm_lds, nullptr, nullptr, false, true}, gemm::Form::kLds,
                     gemm::Helpers<Half, float>{convolution_sum_parts, nullptr}, product, scratch);
    });
    parts_ = parts.count;
  }

  /// Whole tiles of rows, and behind the last one what loads of a slab's columns reach.
  size_t workspace_elements() const { return size_t{rounded_up(c_.rows(), kTileRows)} * pitch_ + kSlab; }

  std::vector<Half> padded_weights() const {
    const size_t columns = c_.columns();
    std::vector<Half> padded(size_t{rounded_up(c_.filters, kTileColumns)} * pitch_ + kSlab);
    for (size_t filter = 0; filter < c_.filters; ++filter) {
      std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(filter * columns), columns,
                  padded.begin() + static_cast<std::ptrdiff_t>(filter * pitch_));
    }
    return padded;
  }

  /// Against direct convolution: products of halves are exact in single precision, so that sums alone are rounded.
  void check(const std::vector<float>& y) {
    const size_t filters = c_.filters, columns = c_.columns();
    std::vector<double> by_column(columns * filters);
    for (size_t filter = 0; filter < filters; ++filter) {
      for (size_t k = 0; k < columns; ++k)
        by_column[k * filters + filter] = static_cast<double>(weights_[filter * columns + k]);
    }
    workload::Expected expected(y.size());
    Convolution rows = c_;
    rows.images_innermost = 0;
    for (unsigned row = 0; row < rows.rows(); ++row) {
      const Convolution::Corner corner = rows.corner(row);
      double* const values = expected.values.data() + size_t{row} * filters;
      double* const magnitudes = expected.magnitudes.data() + size_t{row} * filters;
      for (unsigned tap = 0; tap < c_.filter_height * c_.filter_width; ++tap) {
        const int at_y = corner.y + static_cast<int>(tap / c_.filter_width),
                  at_x = corner.x + static_cast<int>(tap % c_.filter_width);
        if (!c_.inside(at_y, at_x)) continue;
        const Half* const from = x_.data() + c_.element(corner.image, at_y, at_x);
        for (unsigned channel = 0; channel < real_channels_; ++channel) {
          const auto value = static_cast<double>(from[channel]);
          const double* const weight = by_column.data() + size_t{tap * c_.channels + channel} * filters;
          for (size_t filter = 0; filter < filters; ++filter) {
            const double product = value * weight[filter];
            values[filter] += product;
            magnitudes[filter] += std::fabs(product);
          }
        }
      }
    }
    expected.factor = workload::sum_factor(double{1} * static_cast<double>(columns) + parts_);
    program_.check_near("y", y, expected.values, [&](size_t i) { return expected.bound(i); });
  }

  workload::Program& program_;
  const Settings& settings_;
  Convolution c_;
  unsigned real_channels_, step_, pitch_ = 0, parts_ = 1;
  std::vector<Half> x_, weights_;
};

/// Computes the convolution as the options say, and checks it with --check.
inline void run_half(workload::Program& program, const Settings& settings, Shape shape) {
  if (settings.channels != 4 && settings.channels != 8 && settings.channels != 16) {
    throw workload::UsageError("--channels has to be 4, 8 or 16");
  }
  apply_shape(shape, settings.shape);
  Convolution& c = shape.convolution;
  c.channels = rounded_up(c.channels, static_cast<unsigned>(settings.channels));
  c.images_innermost = settings.rows == "images_innermost" ? 1 : 0;
  require_valid(c);
  HalfConvolution(program, settings, shape).run();
}

}  // namespace conv

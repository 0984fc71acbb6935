// The products of convolutions in forward and backward pass, explicitly lowered: one kernel writes a workspace, another
// multiplies it by weights or gradients.
//
// The forward pass and the gradient with respect to data are convolutions; the latter is a convolution of the output's
// gradient, with strides and inserted zeros exchanged and filters rotated. Both products have parameters for Duplo's detection
// unit. The product for the gradient with respect to weights has none: it sums over the rows of the workspace, and therefore
// reads the workspace transposed. There, an operand is 16 columns by 16 rows, and adjacent elements in memory are those of
// adjacent output positions, which the parameters cannot describe.
#pragma once

#include <algorithm>
#include <string>

#include "workloads/common/layer_log.h"
#include "workloads/common/program.h"
#include "workloads/conv2d/explicit.h"
#include "workloads/lowered_cnn/training_kernels.h"

#define WEIGHTS_KERNEL(name, lds, fragments) \
  PLAIN_PRODUCT_KERNEL(name##_##lds##_##fragments, conv::Product, WORKSPACE_PRODUCT(lds, fragments))
PRODUCT_FORMS(WEIGHTS_KERNEL, weights_product)

namespace lowered_cnn {

#define WEIGHTS_ENTRY(name, lds, fragments) {#lds, fragments, name##_##lds##_##fragments, nullptr},
inline const conv::ProductKernel<conv::Product> kWeightsProduct[] = {PRODUCT_FORMS(WEIGHTS_ENTRY, weights_product)};

/// Options of products.
struct Form {
  std::string method, lds, loads, rows, k;
  int fragments = 0;
};

/// Returns the convolution that computes the gradient with respect to the input from the output's gradient.
inline Convolution backward_by_data(const Layer& layer) {
  const Convolution& c = layer.shape;
  Convolution back{};
  back.images = c.images;
  back.height = c.output_height(), back.width = c.output_width();
  back.channels = layer.padded;
  back.filters = layer.channels;
  back.filter_height = c.filter_height, back.filter_width = c.filter_width;
  back.spacing_shift = c.stride_y / 2;  // strides are 1 or 2
  back.stride_y = back.stride_x = 1u << c.spacing_shift;
  back.pad_top = c.filter_height - 1 - c.pad_top;
  back.pad_left = c.filter_width - 1 - c.pad_left;
  // The result has the same size as x.
  back.pad_bottom = (c.lowered_height() - 1) + c.filter_height - back.lowered_height() - back.pad_top;
  back.pad_right = (c.lowered_width() - 1) + c.filter_width - back.lowered_width() - back.pad_left;
  back.images_innermost = c.images_innermost;
  return back;
}

/// Launches products. The buffers have the sizes that the largest product requires.
class Products {
 public:
  Products(workload::LayerLog& log, const Form& form, const std::vector<Layer>& layers, bool training)
      : log_(log),
        form_(form),
        on_matrix_units_(form.method == "explicit"),
        lowered_(on_matrix_units_ ? &conv::explicit_kernel(form.lds, form.loads, form.fragments) : nullptr),
        of_weights_(on_matrix_units_ ? &conv::kernel_for(kWeightsProduct, form.method, form.lds, form.fragments) : nullptr),
        step_(conv::step_columns(form.fragments)),
        sizes_(sizes_for(layers, training)),
        workspace_("the workspace", sizes_.workspace),
        turned_("the turned gradient", sizes_.turned),
        parts_("the parts' sums", sizes_.parts) {}
  size_t workspace_bytes() const { return sizeof(Half) * workspace_.size(); }
  bool on_matrix_units() const { return on_matrix_units_; }
  static unsigned pitch_of(const Convolution& c) { return conv::spread_pitch(c.columns()); }

  /// y (+)= the convolution of x. `weights` are in lines of pitch_of(c), with zeros after the last column. Returns the number
  /// of parts added.
  unsigned convolve(const Convolution& c, const Half* x, const Half* weights, float* y, bool accumulate) {
    const unsigned pitch = pitch_of(c);
    conv::launch_lowering(log_, c, x, workspace_.data(), pitch, step_);
    if (!on_matrix_units_) return on_vector_units(c.rows(), c.filters, c.columns(), pitch, weights, y, accumulate);
    conv::PlannedProduct planned = conv::planned_product(c, pitch, step_);
    if (form_.k == "taps") conv::walk_taps_innermost(planned.product, c, step_);
    conv::put_parameters(lowered_->duplo, conv::duplo_parameters(c, pitch, workspace_.data()));
    return multiply(*lowered_, planned, workspace_.data(), weights, y, accumulate);
  }
  /// Computes the gradient with respect to weights: dw[filter][column]. `dz` has `padded` halves per pixel. Returns the number
  /// of parts added.
  unsigned convolve_for_weights(Convolution c, const Half* x, const Half* dz, unsigned padded, float* dw) {
    c.images_innermost = 0;  // the order of the rows of dz
    const unsigned rows = c.rows(), pitch = conv::spread_pitch(rows), end = conv::rounded_up(rows, step_);
    // The gradient is treated as the workspace of a 1 x 1 convolution of itself.
    Convolution gradient{};
    gradient.images = c.images, gradient.height = c.output_height(), gradient.width = c.output_width();
    gradient.channels = padded;
    gradient.filter_height = gradient.filter_width = gradient.stride_y = gradient.stride_x = 1;
    const auto lower = [&](const Convolution& from, const Half* data, Half* to) {
      log_.launch(lower_turned, dim3(workload::groups(end, kTurned), workload::groups(from.columns(), kTurned)), dim3(kItems),
                  from, data, to, pitch, end);
    };
    lower(gradient, dz, turned_.data());
    lower(c, x, workspace_.data());
    if (!on_matrix_units_) {
      const auto scratch = [&](size_t) { return parts_.data(); };
      conv::launch_on_vector_units(log_, c.filters, c.columns(), rows, pitch, turned_.data(), workspace_.data(), dw, false,
                                   scratch);
      return gemm::Parts(c.filters, c.columns(), rows).count;
    }
    return multiply(*of_weights_, conv::planned_product(c.filters, c.columns(), rows, pitch, step_), turned_.data(),
                    workspace_.data(), dw, false);
  }

 private:
  struct Elements {
    size_t workspace = 1, turned = 1, parts = 1;
  };
  Elements sizes_for(const std::vector<Layer>& layers, bool training) const {
    Elements sizes;
    const auto product = [&](unsigned m, unsigned n, unsigned k, unsigned pitch) {
      const size_t parts = on_matrix_units_ ? conv::planned_product(m, n, k, pitch, step_).parts() : gemm::Parts(m, n, k).count;
      sizes.parts = std::max(sizes.parts, parts * m * n);
    };
    const auto lowered = [&](const Convolution& c) {
      if (size_t{c.images} * c.height * c.width * c.channels > ~0u / sizeof(Half)) {
        throw workload::UsageError("the images of a layer have to fit into 4 GiB");
      }
      sizes.workspace = std::max(sizes.workspace, conv::left_elements(c.rows(), pitch_of(c)));
      product(c.rows(), c.filters, c.columns(), pitch_of(c));
    };
    for (const Layer& layer : layers) {
      if (layer.kind != Layer::Kind::kConvolution) continue;
      const Convolution& c = layer.shape;
      lowered(c);
      if (!training) continue;
      const unsigned pitch = conv::spread_pitch(c.rows());
      lowered(backward_by_data(layer));
      sizes.workspace = std::max(sizes.workspace, conv::right_elements(c.columns(), pitch));
      sizes.turned = std::max(sizes.turned, conv::left_elements(layer.padded, pitch));
      product(c.filters, c.columns(), c.rows(), pitch);
    }
    return sizes;
  }
  unsigned multiply(const conv::ProductKernel<conv::Product>& kernel, const conv::PlannedProduct& planned, const Half* a,
                    const Half* b, float* y, bool accumulate) {
    conv::Product x = planned.product;
    const unsigned parts = planned.parts();
    const bool direct = parts == 1 && !accumulate;
    x.a = a, x.b = b;
    x.y = direct ? y : parts_.data();
    log_.launch(kernel.function, planned.grid, dim3(conv::kItems), x);
    if (!direct) conv::launch_sum_of_parts(log_, x.y, y, parts, x.m * x.n, accumulate);
    return parts;
  }
  unsigned on_vector_units(unsigned m, unsigned n, unsigned k, unsigned pitch, const Half* weights, float* y, bool accumulate) {
    const auto scratch = [&](size_t) { return parts_.data(); };
    conv::launch_on_vector_units(log_, m, n, k, pitch, workspace_.data(), weights, y, accumulate, scratch);
    return gemm::Parts(m, n, k).count;
  }

  workload::LayerLog& log_;
  const Form& form_;
  bool on_matrix_units_;
  const conv::ProductKernel<conv::Product>*lowered_, *of_weights_;
  unsigned step_;
  Elements sizes_;
  workload::DeviceArray<Half> workspace_, turned_;
  workload::DeviceArray<float> parts_;
};

}  // namespace lowered_cnn

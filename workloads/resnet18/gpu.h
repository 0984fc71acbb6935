// The GPU as a backend of Network. With checks, every operation is compared with the reference for the operation's actual
// inputs, so that errors of earlier layers, and ReLUs that switch because of them, do not accumulate.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "workloads/common/layer_log.h"
#include "workloads/common/program.h"
#include "workloads/common/tensor.h"
#include "workloads/resnet18/network.h"

namespace resnet18 {

enum class Method { kGemm, kDirect };

class Gpu {
 public:
  using Array = workload::Tensor<float>;
  using ByteArray = workload::DeviceArray<unsigned char>;

  Gpu(workload::Program& program, Method method, gemm::Form form)
      : program_(program), method_(method), form_(form), checks_(program.checks()) {}
  unsigned kernels() const { return log_.kernels(); }

  std::unique_ptr<Array> make(const std::string& name, std::size_t count) {
    return std::make_unique<Array>(name, count, checks_);
  }
  std::unique_ptr<ByteArray> make_bytes(const std::string& name, std::size_t count) {
    return std::make_unique<ByteArray>(name, count);
  }
  void put(Array& array, const Floats& values) { array.put(values); }
  const Floats& get(const Array& array) const { return array.get(); }
  void begin(const std::string& layer, const char* pass) {
    log_.begin(layer, pass);
    layer_ = layer + " " + pass;
  }

  void convolution(const Shape& s, const Array& x, const Array& weights, Array& z) {
    if (method_ == Method::kDirect) {
      direct(s, x.data(), weights.data(), z.target(), false, false);
    } else {
      for_each_batch(s, [&](unsigned first, unsigned, unsigned columns) {
        im2col(s, x.data(), first, columns);
        gemm::multiply(log_, convolution_gemm_forward, form_, product_helpers,
                       {weights.data(), columns_.get(), z.target() + pixels(s, first), s.outputs, columns, s.taps(), s.taps(),
                        columns, s.out_pixels(), false, 0, nullptr},
                       parts_);
      });
    }
    if (checks_) check("convolution", z, resnet18::convolution(s, get(x), get(weights)));
  }
  void convolution_backward_data(const Shape& s, const Array& dz, const Array& weights, Array& dx, bool accumulate) {
    const Floats before = checks_ ? get(dx) : Floats();
    if (method_ == Method::kDirect) {
      direct(s, dz.data(), weights.data(), dx.target(), true, accumulate);
    } else {
      for_each_batch(s, [&](unsigned first, unsigned count, unsigned columns) {
        gemm::multiply(log_, convolution_gemm_backward_data, form_, product_helpers,
                       {weights.data(), dz.data() + pixels(s, first), columns_(static_cast<std::size_t>(s.taps()) * columns),
                        s.taps(), columns, s.outputs, s.taps(), s.out_pixels(), columns, false, 0, nullptr},
                       parts_);
        log_.launch(convolution_col2im, dim3(workload::groups(count * s.height * s.width, 256), s.inputs), dim3(256), s,
                    columns_.get(), dx.target(), first, count, accumulate);
      });
    }
    if (checks_)
      check("gradient by data", dx, resnet18::convolution_backward_data(s, get(dz), get(weights), before, accumulate));
  }
  void convolution_backward_weights(const Shape& s, const Array& dz, const Array& x, Array& dw) {
    if (method_ == Method::kDirect) {
      direct_backward_weights(s, dz, x, dw);
    } else {
      for_each_batch(s, [&](unsigned first, unsigned, unsigned columns) {
        im2col(s, x.data(), first, columns);
        gemm::multiply(log_, convolution_gemm_backward_weights, form_, product_helpers,
                       {dz.data() + pixels(s, first), columns_.get(), dw.target(), s.outputs, s.taps(), columns, s.out_pixels(),
                        columns, s.taps(), first != 0, 0, nullptr},
                       parts_);
      });
    }
    if (checks_) check("gradient by weights", dw, resnet18::convolution_backward_weights(s, get(dz), get(x)));
  }
  void statistics(const Array& x, Array& mean, Array& variance, Array& running_mean, Array& running_variance,
                  std::size_t channels, std::size_t count) {
    log_.launch(batch_norm_statistics, dim3(channels), dim3(256), x.data(), mean.target(), variance.target(),
                running_mean.target(), running_variance.target(), count);
    if (!checks_) return;
    const Statistics s = batch_norm_statistics_of(get(x), channels, count);
    check("mean", mean, s.mean);
    check("variance", variance, s.variance);
  }
  void normalise(const Array& x, const Array& mean, const Array& variance, const Array& gamma, const Array& beta,
                 const Array* residual, Array& y, std::size_t channels, std::size_t count, bool relu) {
    log_.launch(batch_norm_relu, dim3(workload::groups(count, 256 * kPixels), channels), dim3(256), x.data(), mean.data(),
                variance.data(), gamma.data(), beta.data(), residual ? residual->data() : nullptr, y.target(), count, relu);
    if (!checks_) return;
    check("output", y,
          batch_norm_relu_of(get(x), get(mean), get(variance), get(gamma), get(beta), residual ? &get(*residual) : nullptr,
                             channels, count, relu));
  }
  void normalise_backward(const Array& dy, const Array& y, const Array& x, const Array& mean, const Array& variance,
                          const Array& gamma, Array& g, Array& dgamma, Array& dbeta, Array& dx, std::size_t channels,
                          std::size_t count, bool relu) {
    const Floats dy_before = checks_ ? get(dy) : Floats();
    log_.launch(batch_norm_relu_backward_sums, dim3(channels), dim3(256), dy.data(), y.data(), x.data(), mean.data(),
                variance.data(), g.target(), dgamma.target(), dbeta.target(), count, relu);
    log_.launch(batch_norm_backward_data, dim3(workload::groups(count, 256 * kPixels), channels), dim3(256), g.data(), x.data(),
                mean.data(), variance.data(), gamma.data(), dgamma.data(), dbeta.data(), dx.target(), count);
    if (!checks_) return;
    const Floats &g_values = get(g), &x_values = get(x), &mean_values = get(mean), &variance_values = get(variance);
    program_.check_equal(layer_ + ": gradient before ReLU", g_values, relu_backward(dy_before, get(y), channels * count, relu));
    const auto sums = batch_norm_backward_sums(g_values, x_values, mean_values, variance_values, channels, count);
    check("gradient by gamma", dgamma, sums.first);
    check("gradient by beta", dbeta, sums.second);
    check("gradient by the convolution's output", dx,
          batch_norm_backward_data_of(g_values, x_values, mean_values, variance_values, get(gamma), get(dgamma), get(dbeta),
                                      channels, count));
  }
  void max_pooling(const Shape& s, const Array& x, Array& y, ByteArray& taps) {
    log_.launch(::max_pooling, dim3(workload::groups(s.out_height * s.out_width, 256), s.inputs * s.images), dim3(256),
                x.data(), y.target(), taps.data(), s.height, s.width, s.out_height, s.out_width);
    if (!checks_) return;
    Bytes expected_taps;
    program_.check_equal(layer_ + ": output", get(y), max_pooling_of(s, get(x), expected_taps));
    program_.check_equal(layer_ + ": largest of the window", taps.download(), expected_taps);
  }
  void max_pooling_backward(const Shape& s, const Array& dy, const ByteArray& taps, Array& dx) {
    log_.launch(::max_pooling_backward, dim3(workload::groups(s.height * s.width, 256), s.inputs * s.images), dim3(256),
                dy.data(), taps.data(), dx.target(), s.height, s.width, s.out_height, s.out_width);
    if (checks_) check("gradient", dx, max_pooling_backward_of(s, get(dy), taps.download()));
  }
  void average_pooling(const Shape& s, const Array& x, Array& y) {
    const unsigned planes = s.inputs * s.images, count = s.height * s.width;
    log_.launch(::average_pooling, dim3(workload::groups(planes, 4)), dim3(256), x.data(), y.target(), planes, count);
    if (checks_) check("output", y, average_pooling_of(get(x), planes, count));
  }
  void average_pooling_backward(const Shape& s, const Array& dy, Array& dx) {
    const unsigned planes = s.inputs * s.images, count = s.height * s.width;
    log_.launch(::average_pooling_backward, dim3(workload::groups(planes * count, 256)), dim3(256), dy.data(), dx.target(),
                planes, count);
    if (checks_) check("gradient", dx, average_pooling_backward_of(get(dy), planes, count));
  }
  void fully_connected(const Shape& s, const Array& weights, const Array& bias, const Array& x, Array& y) {
    log_.launch(::fully_connected, dim3(workload::groups(s.outputs, 4), workload::groups(s.images, 4)), dim3(256),
                weights.data(), bias.data(), x.data(), y.target(), s.outputs, s.inputs, s.images);
    if (!checks_) return;
    Expected expected = resnet18::convolution(s, get(x), get(weights));
    add_bias(expected, get(bias), s.images);
    check("output", y, expected);
  }
  void fully_connected_backward(const Shape& s, const Array& weights, const Array& x, const Array& dy, Array& dw, Array& dbias,
                                Array& dx) {
    gemm::multiply(
        log_, fully_connected_gemm_backward_weights, form_, product_helpers,
        {dy.data(), x.data(), dw.target(), s.outputs, s.inputs, s.images, s.images, s.images, s.inputs, false, 0, nullptr},
        parts_);
    log_.launch(fully_connected_backward_bias, dim3(workload::groups(s.outputs, 256)), dim3(256), dy.data(), dbias.target(),
                s.outputs, s.images);
    gemm::multiply(log_, fully_connected_gemm_backward_data, form_, product_helpers,
                   {weights.data(), dy.data(), dx.target(), s.inputs, s.images, s.outputs, s.inputs, s.images, s.images, false,
                    0, nullptr},
                   parts_);
    if (!checks_) return;
    check("gradient by weights", dw, resnet18::convolution_backward_weights(s, get(dy), get(x)));
    check("gradient by bias", dbias, row_sums(get(dy), s.outputs, s.images));
    check("gradient by data", dx, resnet18::convolution_backward_data(s, get(dy), get(weights), Floats(), false));
  }
  void loss(const Array& y, const std::vector<unsigned>& labels, Array& loss, Array& dy, unsigned classes) {
    const workload::DeviceArray<unsigned> device_labels("labels", labels);
    log_.launch(softmax_cross_entropy, dim3(labels.size()), dim3(256), y.data(), device_labels.data(), loss.target(),
                dy.target(), classes, labels.size());
    workload::require(hipDeviceSynchronize(), "computing the loss");
    if (!checks_) return;
    const auto both = softmax_cross_entropy_of(get(y), labels, classes);
    check("loss", loss, both.first);
    check("gradient of the loss", dy, both.second);
  }
  void descend(Array& weights, const Array& gradient, Array& velocity, float decay, bool pruned) {
    const Floats before = checks_ ? get(weights) : Floats(), velocity_before = checks_ ? get(velocity) : Floats();
    log_.launch(gradient_descent, dim3(workload::groups(weights.size(), 256)), dim3(256), weights.target(), gradient.data(),
                velocity.target(), weights.size(), decay, pruned);
    if (!checks_) return;
    const auto both = gradient_descent_of(before, get(gradient), velocity_before, decay, pruned);
    check("weights", weights, both.first);
    check("velocity", velocity, both.second);
  }

 private:
  /// Memory that grows on demand.
  class Scratch {
   public:
    explicit Scratch(std::string name) : name_(std::move(name)) {}
    float* operator()(std::size_t count) {
      if (!memory_ || memory_->size() < count) {
        memory_.reset();
        memory_ = std::make_unique<workload::DeviceArray<float>>(name_, count);
      }
      return memory_->data();
    }
    float* get() const { return memory_->data(); }

   private:
    std::string name_;
    std::unique_ptr<workload::DeviceArray<float>> memory_;
  };

  bool lds() const { return form_ == gemm::Form::kLds; }
  static std::size_t pixels(const Shape& s, unsigned images) {
    return static_cast<std::size_t>(images) * s.out_height * s.out_width;
  }

  /// Processes images in batches of at least one image, whose column matrix has at most 256 MiB if there are more.
  template <typename Use>
  void for_each_batch(const Shape& s, Use use) {
    constexpr std::size_t kMost = std::size_t{256} << 20;
    const std::size_t of_one = sizeof(float) * s.taps() * s.out_height * s.out_width;
    const auto at_once = static_cast<unsigned>(std::max<std::size_t>(1, std::min<std::size_t>(s.images, kMost / of_one)));
    for (unsigned first = 0; first < s.images; first += at_once) {
      const unsigned count = std::min(at_once, s.images - first);
      use(first, count, count * s.out_height * s.out_width);
    }
  }
  void im2col(const Shape& s, const float* x, unsigned first, unsigned columns) {
    log_.launch(convolution_im2col, dim3(workload::groups(columns, 256), s.inputs), dim3(256), s, x,
                columns_(static_cast<std::size_t>(s.taps()) * columns), first, columns);
  }

  using DirectKernel = void (*)(Shape, const float*, const float*, float*, unsigned, bool);
  DirectKernel direct_kernel(const Shape& s, bool backward) const {
    if (!backward && s.kernel == 7 && s.stride == 2) {
      return lds() ? convolution_direct_forward_7x7_stride_2_lds : convolution_direct_forward_7x7_stride_2_registers;
    }
    if (s.kernel == 3 && s.stride == 1) {
      if (backward) return lds() ? convolution_direct_backward_data_3x3_lds : convolution_direct_backward_data_3x3_registers;
      return lds() ? convolution_direct_forward_3x3_lds : convolution_direct_forward_3x3_registers;
    }
    if (s.kernel == 3 && s.stride == 2) {
      if (backward)
        return lds() ? convolution_direct_backward_data_3x3_stride_2_lds
                     : convolution_direct_backward_data_3x3_stride_2_registers;
      return lds() ? convolution_direct_forward_3x3_stride_2_lds : convolution_direct_forward_3x3_stride_2_registers;
    }
    if (s.kernel == 1 && s.stride == 2) {
      if (backward)
        return lds() ? convolution_direct_backward_data_1x1_stride_2_lds
                     : convolution_direct_backward_data_1x1_stride_2_registers;
      return lds() ? convolution_direct_forward_1x1_stride_2_lds : convolution_direct_forward_1x1_stride_2_registers;
    }
    throw std::logic_error("no direct kernel for this shape");
  }
  /// With few pixels and many channels, the input channels are split into parts, as gemm.h does along k.
  void direct(const Shape& s, const float* from, const float* weights, float* to, bool backward, bool accumulate) {
    const unsigned channels = backward ? s.inputs : s.outputs, summed = backward ? s.outputs : s.inputs;
    const unsigned height = backward ? s.height : s.out_height, width = backward ? s.width : s.out_width;
    const unsigned pixel_count = s.images * height * width;
    const unsigned tiles = workload::groups(width, kDirectTile) * workload::groups(height, kDirectTile) * s.images;
    const unsigned groups = workload::groups(channels, 4 * kDirectOutputs);
    const unsigned wanted = std::max(1u, std::min(gemm::kWorkgroups / (tiles * groups), summed / (2 * kDirectChannels)));
    const unsigned depth = workload::groups(workload::groups(summed, wanted), kDirectChannels) * kDirectChannels;
    const unsigned count = workload::groups(summed, depth);
    float* const target = count > 1 ? parts_(static_cast<std::size_t>(count) * channels * pixel_count) : to;
    log_.launch(direct_kernel(s, backward), dim3(tiles, groups, count), dim3(256), s, from, weights, target, depth,
                count == 1 && accumulate);
    if (count == 1) return;
    log_.launch(product_sum_parts, dim3(workload::groups(pixel_count, 256), channels), dim3(256),
                gemm::PartsArguments<float>{target, to, count, channels, pixel_count, pixel_count, accumulate});
  }
  void direct_backward_weights(const Shape& s, const Array& dz, const Array& x, Array& dw) {
    const gemm::Parts parts(s.outputs, s.taps(), s.out_pixels());
    gemm::Arguments<float, float> arguments{dz.data(),      x.data(), dw.target(), s.outputs, s.taps(),    s.out_pixels(),
                                            s.out_pixels(), 0,        s.taps(),    false,     parts.depth, nullptr};
    if (parts.count > 1) arguments.parts = parts_(static_cast<std::size_t>(parts.count) * s.outputs * s.taps());
    log_.launch(convolution_direct_backward_weights,
                dim3(workload::groups(s.taps(), gemm::kTile), workload::groups(s.outputs, gemm::kTile), parts.count),
                dim3(gemm::kWorkgroup), arguments, s);
    if (parts.count == 1) return;
    log_.launch(product_sum_parts, dim3(workload::groups(s.taps(), 256), s.outputs), dim3(256),
                gemm::PartsArguments<float>{arguments.parts, dw.target(), parts.count, s.outputs, s.taps(), s.taps(), false});
  }

  void check(const std::string& what, const Array& array, const Expected& expected) {
    Floats got = get(array);
    got.resize(expected.values.size());  // arrays shared by layers have the size of the largest layer
    program_.check_near(layer_ + ": " + what, got, expected.values, [&](std::size_t i) { return expected.bound(i); });
  }

  workload::Program& program_;
  Method method_;
  gemm::Form form_;
  bool checks_;
  workload::LayerLog log_;
  std::string layer_;
  Scratch columns_{"the column matrix"}, parts_{"the parts of a product"};
};

}  // namespace resnet18

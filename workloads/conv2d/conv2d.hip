// Convolutions of ResNet-50 as implicit products: y[pixel][output channel] = sum over taps and input channels. The im2col
// matrix of the inputs, with a row for each pixel of y and a column for each tap and channel, is never stored: its elements are
// read from x.
//
// x and y are NHWC, weights are [output channel][tap row][tap column][input channel]. Pixels of x are an odd multiple of 64
// bytes apart, see DeviceOperand in gemm_host.h.
//
// --method selects half precision instead, as in Duplo (MICRO '20): half.h.
#include "workloads/common/gemm_host.h"
#include "workloads/common/gemm_products.h"
#include "workloads/conv2d/half.h"

/// A layer of ResNet-50 with 224 x 224 images: K. He et al., Deep residual learning for image recognition, 2016, Table 1, the
/// three convolutions of the repeated blocks in conv2_x to conv5_x. All have stride 1, and y has as many pixels as x.
struct Layer {
  unsigned size;             // rows and columns of pixels
  unsigned inputs, outputs;  // channels
  unsigned taps;             // rows and columns of the filter
};
constexpr Layer layers[] = {{56, 256, 64, 1},   {56, 64, 64, 3},   {56, 64, 256, 1},   {28, 512, 128, 1},
                            {28, 128, 128, 3},  {28, 128, 512, 1}, {14, 1024, 256, 1}, {14, 256, 256, 3},
                            {14, 256, 1024, 1}, {7, 2048, 512, 1}, {7, 512, 512, 3},   {7, 512, 2048, 1}};

template <class Element>
struct Images {
  const Element* data;         // followed by one pixel of zeros
  unsigned pixels;             // pixels in all images
  unsigned size, taps, pitch;  // `pitch`: elements between pixels
  unsigned channels;           // a multiple of a slab's depth
};

/// A work-item's part of the im2col matrix of the inputs: see tiled::MatrixStage.
template <class Element, unsigned kTile>
class ImageStage {
 public:
  __device__ ImageStage(const Images<Element>& images, unsigned first)
      : images_(images), slab_(images.data), middle_(static_cast<int>(images.taps / 2)), place_(threadIdx.x) {
    row_ = column_ = -middle_;
    const unsigned own = place_.unit * tiled::kPerUnit<Element>;
    zeros_ = (images.pixels * images.pitch + own) * sizeof(Element);
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      // Pixels beyond the last pixel read the last pixel; their results are not stored.
      const unsigned pixel = min(first + place_.row + 64 * i, images.pixels - 1);
      const unsigned row = pixel / images.size % images.size, column = pixel % images.size;
      offset_[i] = (pixel * images.pitch + own) * sizeof(Element);
      inside_[i] = 0;
      unsigned tap = 1;
      for (int down = -middle_; down <= middle_; ++down) {
        for (int across = -middle_; across <= middle_; ++across, tap *= 2) {
          if (row + down < images.size && column + across < images.size) inside_[i] |= tap;
        }
      }
    }
  }
  __device__ void load() {
    const unsigned tap = (row_ * static_cast<int>(images_.size) + column_) * static_cast<int>(images_.pitch * sizeof(Element));
    // Keeps the address in scalar registers; the lanes' offsets are less than 4 GiB.
    asm volatile("" : "+s"(slab_));
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      using Bytes = __attribute__((address_space(1))) const char;
      using Two = __attribute__((address_space(1))) const tiled::TwoUnits;
      const unsigned at = (inside_[i] & tap_) != 0 ? offset_[i] + tap : zeros_;
      values_[i] = *(Two*)((Bytes*)slab_ + at);
    }
    slab_ += tiled::kDepth<Element>;
    channel_ += tiled::kDepth<Element>;
    if (channel_ < images_.channels) return;
    channel_ = 0;
    slab_ = images_.data;
    tap_ *= 2;
    if (++column_ <= middle_) return;
    column_ = -middle_;
    ++row_;
  }
  __device__ void keep(tiled::Unit (*tile)[kTile]) { place_.keep<kTile>(tile, values_); }

 private:
  static constexpr unsigned kLoads = kTile / 64;

  Images<Element> images_;
  const Element* slab_;
  unsigned channel_ = 0, tap_ = 1;  // position of the slab; `tap_` has one bit set, as in inside_
  int middle_, row_, column_;       // position of the tap relative to the filter's centre
  tiled::AlongK place_;
  unsigned zeros_, offset_[kLoads], inside_[kLoads];  // byte offsets; `inside_`: bits of the taps for which the pixel is inside
  tiled::TwoUnits values_[kLoads];
};

template <class Product>
__device__ inline void convolve(const tiled::Result<typename Product::Element>& y, const Images<typename Product::Element>& x,
                                const tiled::Operand<typename Product::Element>& weights, unsigned k) {
  using Element = typename Product::Element;
  const tiled::Tile tile{blockIdx.y * Product::kRows, blockIdx.x * Product::kColumns};
  tiled::multiply_staged<Product>(y, tile, ImageStage<Element, Product::kRows>(x, tile.row),
                                  tiled::MatrixStage<Element, Product::kColumns>(weights, tile.column),
                                  k / tiled::kDepth<Element>);
}

#define CONVOLUTION_HEAD(name, Element, wavefronts)                           \
  extern "C" __global__ void __launch_bounds__(tiled::kWorkgroup, wavefronts) \
      name(tiled::Result<Element> y, Images<Element> x, tiled::Operand<Element> weights, unsigned k)
#define CONVOLUTION(name, Element, ...) \
  CONVOLUTION_HEAD(name, Element, (__VA_ARGS__::kWavefronts)) { convolve<__VA_ARGS__>(y, x, weights, k); }
#if defined(__gfx90a__)
#define MATRIX_CONVOLUTION(name, Element, ...) CONVOLUTION(name, Element, __VA_ARGS__)
#else
#define MATRIX_CONVOLUTION(name, Element, ...) \
  CONVOLUTION_HEAD(name, Element, 1) {         \
    (void)y, (void)x, (void)weights, (void)k;  \
    __builtin_trap();                          \
  }
#endif

using tiled::Complex;
CONVOLUTION(convolution_simt, float, tiled::Simt<float, 8, 4>)
CONVOLUTION(convolution_simt_64, float, tiled::Simt<float, 4, 4>)
MATRIX_CONVOLUTION(convolution_tf32x3, float, tiled::Tf32x3<4, 2>)
MATRIX_CONVOLUTION(convolution_tf32x3_64, float, tiled::Tf32x3<2, 2>)
MATRIX_CONVOLUTION(convolution_m3xu, float, tiled::M3xu<m3xu::fp32, 4, 4>)
MATRIX_CONVOLUTION(convolution_m3xu_128_64, float, tiled::M3xu<m3xu::fp32, 4, 2>)
MATRIX_CONVOLUTION(convolution_m3xu_64, float, tiled::M3xu<m3xu::fp32, 2, 2>)
CONVOLUTION(convolution_complex_simt, Complex, tiled::Simt<Complex, 4, 4>)
MATRIX_CONVOLUTION(convolution_complex_tf32x3, Complex, tiled::Gemm4<2, 2>)
MATRIX_CONVOLUTION(convolution_complex_m3xu, Complex, tiled::M3xu<m3xu::fp32c, 2, 2>)

template <class Element>
using Function = void (*)(tiled::Result<Element>, Images<Element>, tiled::Operand<Element>, unsigned);

/// Computes the im2col matrix of the inputs on the host.
template <class Element>
static tiled::HostMatrix<Element> columns_of(const tiled::HostMatrix<Element>& x, const Layer& layer) {
  tiled::HostMatrix<Element> columns(x.rows, layer.taps * layer.taps * layer.inputs);
  const int size = static_cast<int>(layer.size), middle = static_cast<int>(layer.taps / 2);
  for (unsigned pixel = 0; pixel < x.rows; ++pixel) {
    unsigned column = 0;
    for (int row = -middle; row <= middle; ++row) {
      for (int across = -middle; across <= middle; ++across, column += layer.inputs) {
        const int y = static_cast<int>(pixel / layer.size % layer.size) + row;
        const int x_at = static_cast<int>(pixel % layer.size) + across;
        if (y < 0 || y >= size || x_at < 0 || x_at >= size) continue;
        const size_t from = static_cast<size_t>(static_cast<long>(pixel) + row * size + across);
        for (unsigned c = 0; c < layer.inputs; ++c) columns.at(pixel, column + c) = x.at(from, c);
      }
    }
  }
  return columns;
}

template <class Element>
static void run(workload::Program& program, const std::vector<tiled::Kernel<Function<Element>>>& kernels,
                const std::string& implementation, const Layer& layer, unsigned batch) {
  const unsigned pixels = batch * layer.size * layer.size, k = layer.taps * layer.taps * layer.inputs;
  if (size_t{1} * (pixels + 1) * (layer.inputs + 64) * sizeof(Element) > ~0u) {
    throw workload::UsageError("the images of a layer have to fit into 4 GiB");
  }
  const auto x = tiled::random_matrix<Element>(program.random(), pixels, layer.inputs);
  const auto weights = tiled::random_matrix<Element>(program.random(), k, layer.outputs);
  const auto& kernel = tiled::kernel_for(kernels, implementation, "auto", pixels, layer.outputs);
  const tiled::DeviceOperand<Element> device_x("x", pixels + 1, layer.inputs, true,
                                               [&](size_t row, size_t c) { return row < pixels ? x.at(row, c) : Element{}; });
  const auto device_weights = tiled::right_operand(weights, true);
  const workload::DeviceArray<Element> device_y("y", static_cast<size_t>(pixels) * layer.outputs);
  const Images<Element> images{device_x.operand().data, pixels, layer.size, layer.taps, device_x.operand().ld, layer.inputs};
  const tiled::Result<Element> y{device_y.data(), pixels, layer.outputs, layer.outputs, 1, 0};
  program.measure([&] {
    const dim3 grid(workload::groups(layer.outputs, kernel.columns), workload::groups(pixels, kernel.rows));
    kernel.function<<<grid, tiled::kWorkgroup>>>(y, images, device_weights.operand(), k);
    workload::require(hipGetLastError(), "launching the kernel");
  });
  program.report("products", double{1} * pixels * layer.outputs * k);
  if (!program.checks()) return;
  const tiled::HostMatrix<Element> before(pixels, layer.outputs);
  tiled::check(program, kernel, columns_of(x, layer), weights, before, device_y.download(), 1, 0);
}

static void run_single(workload::Program& program, const std::string& implementation, const Layer& layer, unsigned batch,
                       bool complex) {
  if (complex) {
    run<Complex>(program,
                 {{"simt", convolution_complex_simt, 64, 64, 0, 0},
                  {"tf32x3", convolution_complex_tf32x3, 64, 64, 6, tiled::kTf32x3Error},
                  {"m3xu", convolution_complex_m3xu, 64, 64, 0, 0}},
                 implementation, layer, batch);
  } else {
    run<float>(program,
               {{"simt", convolution_simt, 128, 64, 0, 0},
                {"simt", convolution_simt_64, 64, 64, 0, 0},
                {"tf32x3", convolution_tf32x3, 128, 64, 3, tiled::kTf32x3Error},
                {"tf32x3", convolution_tf32x3_64, 64, 64, 3, tiled::kTf32x3Error},
                {"m3xu", convolution_m3xu, 128, 128, 0, 0},
                {"m3xu", convolution_m3xu_128_64, 128, 64, 0, 0},
                {"m3xu", convolution_m3xu_64, 64, 64, 0, 0}},
               implementation, layer, batch);
  }
}

int main(int argc, char** argv) {
  workload::Program program("conv2d", "Convolution layer of ResNet-50, on vector ALUs or matrix units",
                            "M3XU (thesis, section 2.6.2, Table 2.6): Conv2D of CUTLASS; K. He et al., 2016, Table 1");
  int batch = 0, width = 0;
  std::vector<std::string> names;
  for (unsigned i = 0; i < std::size(layers); ++i) names.push_back(std::to_string(i + 1));
  for (const conv::NamedLayer& layer : conv::kTable1) names.emplace_back(layer.name);
  std::string name;
  program.choice(name, "layer",
                 "of ResNet-50, of which 1 to 3 are conv2_x's and 10 to 12 conv5_x's, or by --method of Duplo's Table I", names,
                 {"8", "2", "2"});
  program.size(batch, "batch", "images", {1, 1, 8}, 1, 1024);
  program.size(width, "width", "channels of conv2_x's 3 x 3 convolution; the others' grow with it; a multiple of 16",
               {16, 64, 64}, 16, 1024);
  std::string implementation;
  bool complex = false;
  program.choice(implementation, "implementation", "what multiplies", {"simt", "tf32x3", "m3xu"}, std::string("simt"));
  program.flag(complex, "complex", "complex images and weights");
  conv::Settings half;
  half.options(program);
  return program.run(argc, argv, [&] {
    if (width % 16 != 0) throw workload::UsageError("--width must be a multiple of 16");
    const auto images = static_cast<unsigned>(batch);
    const bool in_single = half.method == "f32";
    if (in_single && half.shape != "layer") throw workload::UsageError("--shape needs another --method than f32");
    for (const conv::NamedLayer& layer : conv::kTable1) {
      if (name != layer.name) continue;
      if (in_single) throw workload::UsageError("--layer " + name + " needs another --method than f32");
      return conv::run_half(program, half, conv::shape_of(layer, images));
    }
    Layer layer = layers[std::stoul(name) - 1];
    layer.inputs = layer.inputs / 64 * static_cast<unsigned>(width);
    layer.outputs = layer.outputs / 64 * static_cast<unsigned>(width);
    if (in_single) return run_single(program, implementation, layer, images, complex);
    const conv::NamedLayer square{"", layer.size, layer.inputs, layer.outputs, layer.taps, layer.taps / 2, 1, false};
    conv::run_half(program, half, conv::shape_of(square, images));
  });
}

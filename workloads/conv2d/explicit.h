// Explicitly lowered convolutions in half precision: kernels, and the division of products into tiles and parts. A lowering
// kernel writes the workspace, and a product multiplies it by the weights.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lacuna/duplo.h"
#include "workloads/common/gemm.h"
#include "workloads/common/gemm_host.h"
#include "workloads/conv2d/lowering.h"
#include "workloads/conv2d/product.h"

LOWERING_KERNEL(convolution_lower_4, 4)
LOWERING_KERNEL(convolution_lower_8, 8)
GEMM_KERNEL(convolution_gemm, _Float16, float, false, true, lds)
extern "C" __global__ void __launch_bounds__(256) convolution_sum_parts(gemm::PartsArguments<float> x) { gemm::sum_parts(x); }
#define EXPLICIT_KERNEL(name, lds, fragments) \
  PRODUCT_KERNEL(name##_##lds##_##fragments, conv::Product, WORKSPACE_PRODUCT(lds, fragments))
PRODUCT_FORMS(EXPLICIT_KERNEL, convolution_explicit)
PRODUCT_KERNEL(convolution_explicit_octets, conv::Product, conv::multiply_workspace<conv::Lds::c, 4, 2>)

namespace conv {

/// A product kernel that uses matrix units.
template <class Argument>
struct ProductKernel {
  const char* lds;  ///< matrices in LDS; "": the method has only one form
  int fragments;    ///< dwords of a fragment per lane
  void (*function)(Argument);
  const void* duplo;  ///< the kernel's parameters for Duplo; null: none
};
#define EXPLICIT_ENTRY(name, lds, fragments) {#lds, fragments, name##_##lds##_##fragments, &name##_##lds##_##fragments##_duplo},
inline const ProductKernel<Product> kExplicit[] = {PRODUCT_FORMS(EXPLICIT_ENTRY, convolution_explicit)};
/// Kernels with two copies of each fragment.
inline const ProductKernel<Product> kOctets[] = {{"c", 2, convolution_explicit_octets, &convolution_explicit_octets_duplo}};

/// The choices of --lds.
inline std::vector<std::string> lds_choices() {
  std::vector<std::string> choices;
  for (const auto& kernel : kExplicit) {
    if (choices.empty() || choices.back() != kernel.lds) choices.emplace_back(kernel.lds);
  }
  return choices;
}

/// Returns the kernel of a form of --method. Throws a UsageError on a GPU without matrix units, and if the form has no kernel
/// for `fragments`.
template <class Argument, size_t count>
const ProductKernel<Argument>& kernel_for(const ProductKernel<Argument> (&kernels)[count], const std::string& method,
                                          const std::string& lds, int fragments) {
  if (!tiled::has_matrix_units()) {
    throw workload::UsageError("--method " + method + " needs matrix units, which gfx90a has");
  }
  for (const auto& kernel : kernels) {
    if (kernel.lds == lds && kernel.fragments == fragments) return kernel;
  }
  throw workload::UsageError("--fragments has to be 2 or 4");
}

/// Choices of --loads.
inline std::vector<std::string> loads_choices() { return {"once", "octets"}; }
/// Throws a UsageError if --loads requests two copies of each fragment and this form does not support them.
inline void require_loads(const std::string& method, const std::string& lds, const std::string& loads, int fragments) {
  if (loads == "octets" && (method != "explicit" || lds != "c" || fragments != 2)) {
    throw workload::UsageError(
        "--loads octets needs --method explicit --lds c --fragments 2: 80 registers do not hold two copies of longer "
        "fragments");
  }
}
/// Returns the kernel of --method explicit.
inline const ProductKernel<Product>& explicit_kernel(const std::string& lds, const std::string& loads, int fragments) {
  return loads == "octets" ? kernel_for(kOctets, "explicit", lds, fragments)
                           : kernel_for(kExplicit, "explicit", lds, fragments);
}

inline unsigned rounded_up(unsigned value, unsigned unit) { return (value + unit - 1) / unit * unit; }
/// Number of columns of a step of the product.
inline unsigned step_columns(int fragments) { return 4 * halves_of(static_cast<unsigned>(fragments)); }

/// Returns a row pitch in elements of at least `columns`: 64 bytes times a number divisible by neither 2 nor 3. All workgroups
/// read the same columns at about the same time; with factors of 2 or 3, the rows would map to few sets of L1 and few memory
/// channels.
inline unsigned spread_pitch(unsigned columns) {
  unsigned pieces = workload::groups(columns, 32);
  while (pieces % 2 == 0 || pieces % 3 == 0) ++pieces;
  return pieces * 32;
}

/// Number of elements of a product's A: whole tiles of rows, followed by a slab's columns, which loads may read.
inline size_t left_elements(unsigned rows, unsigned pitch) { return size_t{rounded_up(rows, kTileRows)} * pitch + kSlab; }
/// Number of elements of a product's B, with the same padding as left_elements().
inline size_t right_elements(unsigned rows, unsigned pitch) { return size_t{rounded_up(rows, kTileColumns)} * pitch + kSlab; }

/// The convolution's parameters for Duplo's detection unit, without the location of the workspace.
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
/// The convolution's parameters for Duplo's detection unit, with a workspace in memory.
inline lacuna_duplo duplo_parameters(const Convolution& c, unsigned pitch, const Half* workspace) {
  lacuna_duplo block = duplo_parameters(c, pitch);
  block.workspace = reinterpret_cast<lacuna_duplo_u64>(workspace);
  block.form = LACUNA_DUPLO_MEMORY;
  return block;
}
inline void put_parameters(const void* symbol, const lacuna_duplo& block) {
  workload::require(hipMemcpyToSymbol(symbol, &block, sizeof block), "copying the parameters of the convolution");
}

/// A product whose operands and result are not set yet, and its grid. The grid's z is the number of parts along K.
struct PlannedProduct {
  Product product;
  dim3 grid;
  unsigned parts() const { return grid.z; }
};

/// Plans a product of m x n sums over `columns` columns in ascending order; rows of A correspond to rows of y. K is split into
/// as many parts as there are compute units per tile, at most one per slab.
inline PlannedProduct planned_product(unsigned m, unsigned n, unsigned columns, unsigned pitch, unsigned step) {
  Product x{};
  x.m = m, x.n = n, x.pitch = pitch;
  x.steps = workload::groups(columns, step);
  x.images = 1;
  x.taps = 1, x.channels = 0;
  x.unit = rounded_up(x.steps * step, kSlab);
  const dim3 tiles(workload::groups(n, kTileColumns), workload::groups(m, kTileRows));
  const unsigned slab_steps = kSlab / step, slabs = workload::groups(x.steps, slab_steps);
  const unsigned wanted = std::max(1u, std::min(tiled::compute_units() / (tiles.x * tiles.y), slabs));
  x.part_steps = workload::groups(slabs, wanted) * slab_steps;
  return {x, dim3(tiles.x, tiles.y, workload::groups(x.steps, x.part_steps))};
}

/// Plans the product of a convolution's workspace and weights.
inline PlannedProduct planned_product(const Convolution& c, unsigned pitch, unsigned step) {
  PlannedProduct planned = planned_product(c.rows(), c.filters, c.columns(), pitch, step);
  planned.product.images = c.images_innermost != 0 ? c.images : 1;
  planned.product.positions = c.positions();
  return planned;
}

/// Selects the order with taps innermost, in units of 16, 32 or 64 channels: the smallest that divides the number of channels
/// and is at least `least`, the columns of a step, which must not cross units. If there is no such unit, a step has columns of
/// several taps, and the order remains ascending.
inline void walk_taps_innermost(Product& x, const Convolution& c, unsigned least) {
  for (const unsigned unit : {16u, 32u, 64u}) {
    if (c.channels % unit != 0 || unit < least) continue;
    x.unit = unit, x.taps = c.filter_height * c.filter_width, x.channels = c.channels;
    return;
  }
}

/// Launches the kernel that writes the workspace, whose rows are padded with zeros to a multiple of `step` columns.
inline void launch_lowering(workload::LayerLog& log, const Convolution& c, const Half* x, Half* workspace, unsigned pitch,
                            unsigned step) {
  log.launch(c.channels % 8 == 0 ? convolution_lower_8 : convolution_lower_4, dim3(workload::groups(c.rows(), kLoweringRows)),
             dim3(kLoweringItems), c, x, workspace, pitch, rounded_up(c.columns(), step));
}

/// Sets y to the sum of `count` parts along K, or adds this sum to y (`accumulate`).
inline void launch_sum_of_parts(workload::LayerLog& log, const float* parts, float* y, unsigned count, unsigned size,
                                bool accumulate) {
  log.launch(convolution_sum_parts, dim3(workload::groups(size, 256)), dim3(256),
             gemm::PartsArguments<float>{parts, y, count, 1, size, size, accumulate});
}

/// Computes the product of workspace and weights on vector ALUs. `scratch(count)` returns GPU memory for `count` floats.
template <class Scratch>
void launch_on_vector_units(workload::LayerLog& log, unsigned m, unsigned n, unsigned columns, unsigned pitch, const Half* a,
                            const Half* b, float* y, bool accumulate, Scratch& scratch) {
  gemm::multiply(log, gemm::Product<Half, float>{convolution_gemm_lds, nullptr, nullptr, false, true}, gemm::Form::kLds,
                 gemm::Helpers<Half, float>{convolution_sum_parts, nullptr},
                 gemm::Arguments<Half, float>{a, b, y, m, n, columns, pitch, pitch, n, accumulate, 0, nullptr}, scratch);
}

}  // namespace conv

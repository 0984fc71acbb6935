#include "models/sida/pipeline/pass_shape.h"

#include <string>

namespace lacuna::sida {
namespace {

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw PassError(otherwise);
}

void validate_order(const LineOrder& order, const char* name) {
  require(!order.offsets.empty() && order.offsets.front() == 0 && order.offsets.back() == order.coordinates.size(),
          std::string("offsets of the ") + name + " order must run from 0 to its number of entries");
  for (std::uint64_t line = 0; line < order.lines(); ++line)
    require(order.offsets[line] <= order.offsets[line + 1],
            std::string("offsets of the ") + name + " order fall after line " + std::to_string(line));
}

void require_length(std::uint64_t length, std::uint64_t lines, const char* what) {
  require(length == lines, std::string(what) + " must be equal: " + std::to_string(length) + " and " + std::to_string(lines));
}

}  // namespace

void validate(const PassShape& shape) {
  require(shape.has_os || !shape.has_is, "a pass with a product by rows needs one by columns");
  require(shape.entry_bytes != 0 && shape.offset_bytes != 0, "entries and offsets have at least one byte");
  require(shape.x_bytes != 0 && shape.w_bytes != 0 && shape.z_bytes != 0, "elements of x, w and z have at least one byte");
  require(shape.products_per_entry != 0 && shape.products_per_pe != 0, "an entry has at least one product, a PE does one");
  require(shape.block_side <= 256, "the side of a block is at most 256, not " + std::to_string(shape.block_side));
  if (!shape.has_os) return;
  validate_order(shape.os, "OS");
  require_length(shape.y_length, shape.os.lines(), "the length of y and the lines of the OS order");
  if (!shape.has_is) return;
  if (shape.same_lines) {
    require_length(shape.z_length, shape.x_length, "the lengths of z and x of a pair (A, A^T)");
    return;
  }
  validate_order(shape.is, "IS");
  require_length(shape.is.entries(), shape.os.entries(), "entries of both orders");
  require_length(shape.x_length, shape.is.lines(), "the length of x and the lines of the IS order");
  require_length(shape.y_length, shape.x_length, "the lengths of y and x");
  require_length(shape.z_length, shape.y_length, "the lengths of z and y");
}

}  // namespace lacuna::sida

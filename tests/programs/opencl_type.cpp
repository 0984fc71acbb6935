#include "opencl_type.h"

namespace lacuna::programs {
namespace {

struct ScalarRow {
  const char* name;
  unsigned bytes;
};

constexpr std::array<ScalarRow, kScalars> kRows{{{"char", 1},
                                                 {"uchar", 1},
                                                 {"short", 2},
                                                 {"ushort", 2},
                                                 {"int", 4},
                                                 {"uint", 4},
                                                 {"long", 8},
                                                 {"ulong", 8},
                                                 {"float", 4},
                                                 {"double", 8}}};

}  // namespace

unsigned Type::element_bytes() const { return kRows[static_cast<unsigned>(scalar)].bytes; }

std::string Type::name() const {
  const std::string base = kRows[static_cast<unsigned>(scalar)].name;
  return width == 1 ? base : base + std::to_string(width);
}

Type integer_type(unsigned element_bytes, bool is_signed, unsigned width) {
  for (unsigned index = is_signed ? 0 : 1; index < kScalars; index += 2) {
    if (kRows[index].bytes == element_bytes) return {static_cast<Scalar>(index), width};
  }
  return {Scalar::int_, width};
}

Type signed_like(Type type) { return integer_type(type.element_bytes(), true, type.width); }
Type unsigned_like(Type type) { return integer_type(type.element_bytes(), false, type.width); }
Type mask_of(Type type) { return type.is_vector() ? signed_like(type) : kInt; }

std::optional<Type> narrowed(Type type) {
  if (type.is_float() || type.element_bytes() == 1) return std::nullopt;
  return integer_type(type.element_bytes() / 2, type.is_signed(), type.width);
}

}  // namespace lacuna::programs

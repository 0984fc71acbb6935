// DS instructions that move data between lanes through the LDS crossbar, without accessing memory. Semantics: GCN3 ISA manual,
// "DS instructions", and for the modes of gfx9 the Vega ISA manual.
#pragma once

#include "models/isa/wavefront.h"

namespace lacuna::isa {

void ds_swizzle(const Instruction& i, Wavefront& w);
/// ds_permute_b32: each lane names the destination lane of its datum; if several name the same lane, the datum of the last of
/// these lanes remains.
void ds_permute(const Instruction& i, Wavefront& w);
/// ds_bpermute_b32: each lane names the source lane of its datum.
void ds_permute_backward(const Instruction& i, Wavefront& w);

}  // namespace lacuna::isa

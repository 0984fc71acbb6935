// DS instructions that move data between lanes through the LDS crossbar; no memory is touched. Semantics: GCN3 ISA manual, "DS
// instructions", and for the modes of gfx9 the Vega ISA manual.
#pragma once

#include "models/isa/wavefront.h"

namespace lacuna::isa {

void ds_swizzle(const Instruction& i, Wavefront& w);
/// ds_permute_b32: each lane says where its datum goes; of several the last lane's stays.
void ds_permute(const Instruction& i, Wavefront& w);
/// ds_bpermute_b32: each lane says where its datum comes from.
void ds_permute_backward(const Instruction& i, Wavefront& w);

}  // namespace lacuna::isa

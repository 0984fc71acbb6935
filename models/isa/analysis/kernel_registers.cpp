#include "models/isa/analysis/kernel_registers.h"

namespace lacuna::isa {

KernelRegisters kernel_registers(std::uint32_t rsrc1, std::uint32_t rsrc3, Target target) {
  const TargetTraits& t = traits(target);
  const unsigned granulated_vgprs = rsrc1 & 0x3f;
  const unsigned granulated_sgprs = (rsrc1 >> 6) & 0xf;
  const unsigned accum_offset = ((rsrc3 & 0x3f) + 1) * 4;
  KernelRegisters registers;
  // gfx8 counts VGPRs in units of four; gfx90a in units of eight, with the accumulation registers in the same file.
  const unsigned unit = t.has_agprs ? 8 : 4;
  const unsigned total = (granulated_vgprs + 1) * unit;
  registers.vgprs = t.has_agprs && accum_offset < total ? accum_offset : total;
  registers.agprs = total - registers.vgprs;
  registers.sgprs = ((granulated_sgprs + 1) * 8 + t.sgpr_granule - 1) / t.sgpr_granule * t.sgpr_granule;
  return registers;
}

}  // namespace lacuna::isa

// D = A B + C of any size, for kernels in OpenCL C: lacuna_m3xu_gemm_fp16, _bf16, _tf32, _fp32, _fp32c and _fp64.
// Bit-identical to m3xu::gemm of HIP.
//
//   lacuna_m3xu_gemm_fp32(lacuna_m3xu_row_major, lacuna_m3xu_column_major, d, a, b, c, m, n, k, lda, ldb, ldc);
//
// The layouts are those of A and B; C and D are row-major, with rows `ldc` elements apart. Elements of A and B are half (fp16),
// ushort (bf16), float (tf32, fp32), float2 (fp32c) or double (fp64); C and D are float, float2 (fp32c) or double (fp64). D and
// C may be the same matrix; a null C stands for zeros. k may be 0: D is then C with the conversions of the instruction (see
// m3xu::gemm).
//
// All wavefronts of the launch, of any number of dimensions, compute tiles of 32 x 32 directly from memory. Workgroups have a
// multiple of 64 work-items, all of which call it; any other launch ends with a trap.
#pragma once

typedef enum { lacuna_m3xu_row_major, lacuna_m3xu_column_major } lacuna_m3xu_layout;

static inline uint lacuna_m3xu_lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

// lacuna_m3xu_mma_*_first multiplies only the first `depth` columns of A and rows of B. The functions of real formats ignore
// `depth`: the caller has padded A with +0 and B with -0, and the products, -0, change no sum.
#define LACUNA_M3XU_REAL(format, Operand, Sum)                                                  \
  static inline Sum lacuna_m3xu_mma_##format##_first(Operand a, Operand b, Sum c, uint depth) { \
    (void)depth;                                                                                \
    return lacuna_m3xu_mma_##format(a, b, c);                                                   \
  }
LACUNA_M3XU_REAL(fp16, half4, float4)
LACUNA_M3XU_REAL(bf16, ushort4, float4)
LACUNA_M3XU_REAL(tf32, float2, float4)
LACUNA_M3XU_REAL(fp32, float2, float4)
LACUNA_M3XU_REAL(fp64, double, double4)
#undef LACUNA_M3XU_REAL
// Complex numbers have no such padding. A lane's complex number occupies the position of fp32's elements 2 g and 2 g + 1 along
// k. With suitable signs and order of the parts in A and B, two real products form the same chains of multiply-adds. Row 4 g +
// r of the real product corresponds to row 4 r + g of fp32c, so rows of A are exchanged.
static inline float8 lacuna_m3xu_mma_fp32c_first(float2 a, float2 b, float8 c, uint depth) {
  const uint lane = lacuna_m3xu_lane();
  const bool inside = lane / 16 < depth;
  if (depth >= 4) return lacuna_m3xu_mma_fp32c(a, b, c);
  const int source = (int)(4 * (lane / 16 * 16 + lane % 4 * 4 + lane / 4 % 4));
  const float re = as_float(__builtin_amdgcn_ds_bpermute(source, as_int(inside ? a.x : 0.0f)));
  const float im = as_float(__builtin_amdgcn_ds_bpermute(source, as_int(inside ? a.y : 0.0f)));
  const float first = inside ? b.x : -0.0f, second = inside ? b.y : -0.0f;
  float8 d;
  d.even = lacuna_m3xu_mma_fp32((float2)(re, inside ? -im : 0.0f), (float2)(first, second), c.even);
  d.odd = lacuna_m3xu_mma_fp32((float2)(re, inside ? im : 0.0f), (float2)(second, first), c.odd);
  return d;
}

// Index of this wavefront, and number of wavefronts. Traps if a wavefront is incomplete: the instructions multiply the
// registers of all 64 lanes, including lanes without a work-item, which have loaded nothing.
static inline uint2 lacuna_m3xu_wavefronts(void) {
  const uint x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y(),
             z = __builtin_amdgcn_workgroup_size_z();
  const uint width = __builtin_amdgcn_grid_size_x(), height = __builtin_amdgcn_grid_size_y(),
             depth = __builtin_amdgcn_grid_size_z();
  const uint of_group = x * y * z / 64;
  if (width % x != 0 || height % y != 0 || depth % z != 0 || x * y * z % 64 != 0 || __builtin_amdgcn_read_exec() != ~0ul) {
    __builtin_trap();
  }
  const uint group = (__builtin_amdgcn_workgroup_id_z() * (height / y) + __builtin_amdgcn_workgroup_id_y()) * (width / x) +
                     __builtin_amdgcn_workgroup_id_x();
  const uint item =
      (__builtin_amdgcn_workitem_id_z() * y + __builtin_amdgcn_workitem_id_y()) * x + __builtin_amdgcn_workitem_id_x();
  return (uint2)(group * of_group + item / 64, (width / x) * (height / y) * (depth / z) * of_group);
}

// Element t of a sum of lane 16 g + i is in row 4 g + t, or in row 4 t + g if elements have eight bytes.
#define LACUNA_M3XU_GEMM(format, Element, Operand, SumElement, Sum, padding_a, padding_b)                                      \
  static inline void lacuna_m3xu_gemm_##format(lacuna_m3xu_layout layout_a, lacuna_m3xu_layout layout_b, global SumElement* d, \
                                               const global Element* a, const global Element* b, const global SumElement* c,   \
                                               uint m, uint n, uint k, uint lda, uint ldb, uint ldc) {                         \
    enum { items = sizeof(Operand) / sizeof(Element), depth = 4 * items, by_four = sizeof(SumElement) == 8 };                  \
    const uint2 wavefronts = lacuna_m3xu_wavefronts();                                                                         \
    const uint lane = lacuna_m3xu_lane(), own = lane % 16, group = lane / 16;                                                  \
    if (m == 0 || n == 0) return;                                                                                              \
    const uint across = (n - 1) / 32 + 1, tiles = ((m - 1) / 32 + 1) * across;                                                 \
    for (uint tile = wavefronts.x; tile < tiles; tile += wavefronts.y) {                                                       \
      const uint row0 = tile / across * 32, column0 = tile % across * 32;                                                      \
      union {                                                                                                                  \
        SumElement at[4];                                                                                                      \
        Sum registers;                                                                                                         \
      } sums[2][2];                                                                                                            \
      _Pragma("unroll") for (uint i = 0; i < 16; ++i) {                                                                        \
        const uint t = i % 4, row = row0 + i / 8 * 16 + (by_four ? 4 * t + group : 4 * group + t),                             \
                   column = column0 + i / 4 % 2 * 16 + own;                                                                    \
        sums[i / 8][i / 4 % 2].at[t] = c != 0 && row < m && column < n ? c[(ulong)row * ldc + column] : (SumElement)(0);       \
      }                                                                                                                        \
      uint from = 0;                                                                                                           \
      do {                                                                                                                     \
        union {                                                                                                                \
          Element at[items];                                                                                                   \
          Operand registers;                                                                                                   \
        } as[2], bs[2];                                                                                                        \
        _Pragma("unroll") for (uint i = 0; i < 2 * items; ++i) {                                                               \
          const uint t = i % items, part = i / items, at = from + group * items + t;                                           \
          const uint row = row0 + 16 * part + own, column = column0 + 16 * part + own;                                         \
          as[part].at[t] = row < m && at < k                                                                                   \
                               ? a[layout_a == lacuna_m3xu_row_major ? (ulong)row * lda + at : (ulong)at * lda + row]          \
                               : (Element)(padding_a);                                                                         \
          bs[part].at[t] = column < n && at < k                                                                                \
                               ? b[layout_b == lacuna_m3xu_row_major ? (ulong)at * ldb + column : (ulong)column * ldb + at]    \
                               : (Element)(padding_b);                                                                         \
        }                                                                                                                      \
        _Pragma("unroll") for (uint i = 0; i < 4; ++i) {                                                                       \
          sums[i / 2][i % 2].registers = lacuna_m3xu_mma_##format##_first(as[i / 2].registers, bs[i % 2].registers,            \
                                                                          sums[i / 2][i % 2].registers, k - from);             \
        }                                                                                                                      \
        from += depth;                                                                                                         \
      } while (from < k);                                                                                                      \
      _Pragma("unroll") for (uint i = 0; i < 16; ++i) {                                                                        \
        const uint t = i % 4, row = row0 + i / 8 * 16 + (by_four ? 4 * t + group : 4 * group + t),                             \
                   column = column0 + i / 4 % 2 * 16 + own;                                                                    \
        if (row < m && column < n) d[(ulong)row * ldc + column] = sums[i / 8][i / 4 % 2].at[t];                                \
      }                                                                                                                        \
    }                                                                                                                          \
  }
LACUNA_M3XU_GEMM(fp16, half, half4, float, float4, 0.0f, -0.0f)
LACUNA_M3XU_GEMM(bf16, ushort, ushort4, float, float4, 0, 0x8000)
LACUNA_M3XU_GEMM(tf32, float, float2, float, float4, 0.0f, -0.0f)
LACUNA_M3XU_GEMM(fp32, float, float2, float, float4, 0.0f, -0.0f)
LACUNA_M3XU_GEMM(fp32c, float2, float2, float2, float8, 0.0f, 0.0f)
LACUNA_M3XU_GEMM(fp64, double, double, double, double4, 0.0, -0.0)
#undef LACUNA_M3XU_GEMM

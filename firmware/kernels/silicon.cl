// Kernels of published measurements of GPUs (tests/validation/silicon), as the sources of the measurements describe them. Sums
// that are stored only if they have an impossible value keep the loads alive.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
// Kernels of a family have the same parameters.
#pragma clang diagnostic ignored "-Wunused-parameter"
// The launch determines the size of the workgroup.
#define ANY_SIZE __attribute__((amdgpu_flat_work_group_size(1, 1024)))

// Each workgroup of 256 work-items reads the same `elements` values of T (a multiple of 256) cyclically, in `steps` steps (a
// multiple of 16) of 256 values.
#define CACHE(NAME, T, FIRST)                                                                                            \
  kernel __attribute__((reqd_work_group_size(256, 1, 1))) void NAME(global const T* data, global T* sums, uint elements, \
                                                                    uint steps) {                                        \
    data += get_local_id(0);                                                                                             \
    T sum = 0;                                                                                                           \
    uint at = 0;                                                                                                         \
    for (uint n = 0; n < steps; n += 16) {                                                                               \
      _Pragma("unroll") for (uint i = 0; i < 16; ++i) {                                                                  \
        sum += data[at];                                                                                                 \
        at += 256;                                                                                                       \
        if (at >= elements) at = 0;                                                                                      \
      }                                                                                                                  \
    }                                                                                                                    \
    if (FIRST == -1) sums[get_global_id(0)] = sum;                                                                       \
  }
CACHE(cache_f4, float4, sum.x)
CACHE(cache_d, double, sum)

// A workgroup reads 32 rows of 1024 vectors, `parts` rows apart, beginning with row (workgroup number modulo `parts`).
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void parts(global const float4* data, global float4* sums,
                                                                    uint parts) {
  const uint part = get_group_id(0) % parts;
  float4 sum = 0;
#pragma unroll 32
  for (uint i = 0; i < 32; ++i) sum += data[1024 * (parts * i + part) + get_local_id(0)];
  if (sum.x == -1) sums[get_global_id(0)] = sum;
}

// One element per work-item. Kernels half_* use 32 KiB of LDS, so that two workgroups fit into a compute unit; `never` is 0.
#define HALF                         \
  local double block[4096];          \
  const uint lane = get_local_id(0); \
  if (never) block[lane] = b[lane];
#define STREAM(NAME, STATEMENT)                                                                                          \
  kernel ANY_SIZE void NAME(global double* restrict a, global const double* restrict b, global const double* restrict c, \
                            uint never) {                                                                                \
    const size_t i = get_global_id(0);                                                                                   \
    STATEMENT;                                                                                                           \
  }                                                                                                                      \
  kernel ANY_SIZE void half_##NAME(global double* restrict a, global const double* restrict b,                           \
                                   global const double* restrict c, uint never) {                                        \
    const size_t i = get_global_id(0);                                                                                   \
    HALF STATEMENT;                                                                                                      \
    if (never) a[i] = block[i & 4095];                                                                                   \
  }
STREAM(init, a[i] = 0.25)
STREAM(read, if (b[i] == -1) a[i] = 0)
STREAM(copy, a[i] = b[i])
STREAM(scale, a[i] = b[i] * 1.25)
STREAM(add, a[i] = b[i] + c[i])
STREAM(triad, a[i] = b[i] + 1.25 * c[i])

// A work-item reads eight elements, 256 apart, so a workgroup reads eight rows of 256 elements.
#define EIGHT(NAME, T, FIRST)                                                                               \
  kernel __attribute__((reqd_work_group_size(256, 1, 1))) void NAME(global const T* data, global T* sums) { \
    const size_t at = get_group_id(0) * 2048 + get_local_id(0);                                             \
    T sum = 0;                                                                                              \
    _Pragma("unroll") for (uint i = 0; i < 8; ++i) sum += data[at + 256 * i];                               \
    if (FIRST == -1) sums[get_global_id(0)] = sum;                                                          \
  }
EIGHT(eight_f, float, sum)
EIGHT(eight_f2, float2, sum.x)
EIGHT(eight_f4, float4, sum.x)
EIGHT(eight_d, double, sum)

// A workgroup loads from the L1: lanes start `stride` elements apart (stride_*), or in rows of `width` lanes that start
// `stride` elements apart (block_f). `zero` is 0.
#define STRIDES(NAME, T, PLACE)                                                                                       \
  kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void NAME(global const T* data, global T* sums, uint zero, \
                                                                     uint stride, uint width, uint steps) {           \
    const uint lane = get_local_id(0);                                                                                \
    global const T* from = data + (PLACE);                                                                            \
    T sum = 0;                                                                                                        \
    for (uint n = 0; n < steps; ++n) {                                                                                \
      from += zero;                                                                                                   \
      sum += from[0] * from[4] + from[8] * from[12] + from[20] * from[16] + from[24] * from[28];                      \
    }                                                                                                                 \
    if (sum == -1) sums[lane] = sum;                                                                                  \
  }
STRIDES(stride_f, float, (lane % 64) * stride)
STRIDES(stride_d, double, (lane % 64) * stride)
STRIDES(block_f, float, lane % width + ((lane / width) % 32 + 1) * stride)

// Chains of multiply-adds that alternate between two values.
#define CHAIN(NAME, T, OPERATION)                                                                          \
  kernel __attribute__((reqd_work_group_size(256, 1, 1))) void NAME(global T* sums, T start, uint loops) { \
    T x = start;                                                                                           \
    T y = (T)(get_local_id(0));                                                                            \
    for (uint n = 0; n < loops; ++n) {                                                                     \
      _Pragma("unroll") for (uint i = 0; i < 32; ++i) {                                                    \
        OPERATION(x, y);                                                                                   \
        OPERATION(y, x);                                                                                   \
      }                                                                                                    \
    }                                                                                                      \
    sums[get_global_id(0)] = x + y;                                                                        \
  }
#define F64(x, y) __asm__("v_fma_f64 %0, %1, %0, %1" : "+v"(x) : "v"(y))
#define I32(x, y) x = y * x + y
#define I24(x, y) __asm__("v_mad_u32_u24 %0, %1, %0, %1" : "+v"(x) : "v"(y))
#ifdef __gfx90a__
#define F32(x, y) __asm__("v_fma_f32 %0, %1, %0, %1" : "+v"(x) : "v"(y))
#define F32X2(x, y) __asm__("v_pk_fma_f32 %0, %1, %0, %1" : "+v"(x) : "v"(y))
#define F16(x, y) __asm__("v_fma_f16 %0, %1, %0, %1" : "+v"(x) : "v"(y))
#define F16X2(x, y) __asm__("v_pk_fma_f16 %0, %1, %0, %1" : "+v"(x) : "v"(y))
CHAIN(chain_f32x2, float2, F32X2)
CHAIN(chain_f16, half, F16)
CHAIN(chain_f16x2, half2, F16X2)
#else
#define F32(x, y) __asm__("v_mad_f32 %0, %1, %0, %1" : "+v"(x) : "v"(y))
#endif
CHAIN(chain_f32, float, F32)
CHAIN(chain_f64, double, F64)
CHAIN(chain_i32, uint, I32)
CHAIN(chain_i24, uint, I24)

// One wavefront loads a dword in each 64 B in order, and waits for each load: `before` loads from the start of `data`, then
// `loads` from the start again.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void walk(global const uint* data, global uint* sums, uint before,
                                                                 uint loads) {
  uint sum = 0;
  for (uint pass = 0; pass < 2; ++pass) {
    ulong at = (ulong)data;
    for (uint n = pass == 0 ? before : loads; n != 0; --n) {
      uint value;
      __asm__ volatile("flat_load_dword %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)" : "=v"(value) : "v"(at) : "memory");
      at += 64;
      sum |= value;
    }
  }
  if (sum == 1) sums[get_global_id(0)] = sum;
}

// y A x: one row per work-item; columns are `pitch` elements apart.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void yax(global const double* y, global const double* a,
                                                                global const double* x, uint rows, uint columns, uint pitch,
                                                                global double* sums) {
  double sum = 0;
  for (uint i = get_global_id(0); i < rows; i += get_global_size(0)) {
    double row = 0;
    for (uint j = 0; j < columns; ++j) row += a[(size_t)i * pitch + j] * x[j];
    sum += y[i] * row;
  }
  if (sum == -1) sums[get_global_id(0)] = sum;
}

// Seven-point Laplacian on a grid of nx * ny * nz points.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void laplace(global double* f, global const double* u, uint nx, uint ny,
                                                                     uint nz, double x, double y, double z, double centre) {
  const uint i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
  if (i == 0 || i >= nx - 1 || j == 0 || j >= ny - 1 || k == 0 || k >= nz - 1) return;
  const uint slice = nx * ny;
  const size_t at = i + nx * j + (size_t)slice * k;
  f[at] = u[at] * centre + (u[at - 1] + u[at + 1]) * x + (u[at - nx] + u[at + nx]) * y + (u[at - slice] + u[at + slice]) * z;
}

// Seven-point Laplacian with eight rows per work-item; an element that several of the rows need is loaded once.
kernel ANY_SIZE void laplace_rows(global double* f, global const double* u, uint nx, uint ny, uint nz, double x, double y,
                                  double z, double centre) {
  const uint i = get_global_id(0), first = 8 * get_global_id(1), k = get_global_id(2);
  if (i == 0 || i >= nx - 1 || k == 0 || k >= nz - 1) return;
  const uint slice = nx * ny;
  const size_t at = i + nx * first + (size_t)slice * k;
  double sums[8];
#pragma unroll
  for (uint n = 0; n < 8; ++n) sums[n] = u[at - slice + n * nx] * z;
  if (first != 0) sums[0] += u[at - nx] * y;
#pragma unroll
  for (uint n = 0; n < 8; ++n) {
    const double own = u[at + n * nx];
    sums[n] += u[at + n * nx - 1] * x + own * centre + u[at + n * nx + 1] * x;
    if (n > 0) sums[n - 1] += own * y;
    if (n < 7) sums[n + 1] += own * y;
  }
  if (first + 8 < ny) sums[7] += u[at + 8 * nx] * y;
#pragma unroll
  for (uint n = 0; n < 8; ++n) sums[n] += u[at + slice + n * nx] * z;
#pragma unroll
  for (uint n = 0; n < 8; ++n) {
    if (first + n != 0 && first + n != ny - 1) __builtin_nontemporal_store(sums[n], &f[at + n * nx]);
  }
}

// A step of Jacobi's method in two dimensions: five-point Laplacian, boundary, residual and update.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void jacobi_laplace(global const double* u, global double* au,
                                                                            uint width, uint elements, double x, double y) {
  const uint i = get_global_id(0);
  if (i < width + 1 || i + width + 1 >= elements) return;
  __builtin_nontemporal_store((2 * u[i] - u[i - 1] - u[i + 1]) * x + (2 * u[i] - u[i - width] - u[i + width]) * y, &au[i]);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void jacobi_boundary(global const double* u, global double* au,
                                                                             uint width, uint height, double x, double y) {
  const uint id = get_global_id(0);
  if (id >= 2 * width + 2 * height - 2) return;
  uint i = width - 1;
  uint j = id - 2 * width - height + 2;
  if (id < width) {
    i = id;
    j = 0;
  } else if (id < 2 * width) {
    i = id - width;
    j = height - 1;
  } else if (id < 2 * width + height - 1) {
    i = 0;
    j = id - 2 * width + 1;
  }
  if (j >= height) return;
  const uint at = i + j * width;
  const double down = j == 0 ? 0 : u[at - width];
  const double up = j == height - 1 ? 0 : u[at + width];
  const double left = i == 0 ? 0 : u[at - 1];
  const double right = i == width - 1 ? 0 : u[at + 1];
  __builtin_nontemporal_store((2 * u[at] - left - right) * x + (2 * u[at] - down - up) * y, &au[at]);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void jacobi_update(global const double* right, global const double* au,
                                                                           global double* residual, global double* u,
                                                                           uint elements, double factor) {
  for (uint i = get_global_id(0); i < elements; i += get_global_size(0)) {
    const double difference = right[i] - au[i];
    residual[i] = difference;
    u[i] += difference * factor;
  }
}

#ifdef __gfx90a__
// Matrix products that accumulate into the same registers.
typedef float float_tile __attribute__((ext_vector_type(16)));
typedef int int_tile __attribute__((ext_vector_type(16)));
typedef double double_tile __attribute__((ext_vector_type(4)));
typedef short bf16_operand __attribute__((ext_vector_type(4)));
typedef half f16_operand __attribute__((ext_vector_type(4)));

#define PRODUCTS(NAME, TILE, OPERAND, ELEMENT, BUILTIN)                                                 \
  kernel __attribute__((reqd_work_group_size(256, 1, 1))) void NAME(global ELEMENT* sums, uint loops) { \
    const OPERAND a = (OPERAND)(get_local_id(0));                                                       \
    TILE tile = 0;                                                                                      \
    for (uint n = 0; n < loops; ++n) tile = BUILTIN(a, a, tile, 0, 0, 0);                               \
    if (tile.s0 == -1) sums[get_global_id(0)] = tile.s0;                                                \
  }
PRODUCTS(mfma_bf16, float_tile, bf16_operand, float, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
PRODUCTS(mfma_f16, float_tile, f16_operand, float, __builtin_amdgcn_mfma_f32_32x32x8f16)
PRODUCTS(mfma_f32, float_tile, float, float, __builtin_amdgcn_mfma_f32_32x32x2f32)
PRODUCTS(mfma_i8, int_tile, int, int, __builtin_amdgcn_mfma_i32_32x32x8i8)
PRODUCTS(mfma_f64, double_tile, double, double, __builtin_amdgcn_mfma_f64_16x16x4f64)

// Workgroups of 1024 work-items; each wavefront executes the same instruction 1000 times.
#define THOUSAND(NAME, GUARD, INSTRUCTION, ...)                                          \
  kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void NAME(uint unused) {      \
    if (GUARD) __asm__ volatile(".rept 1000\n" INSTRUCTION "\n.endr" : : : __VA_ARGS__); \
  }
THOUSAND(thousand_vmov, true, "v_mov_b32 v0, v1", "v0")
THOUSAND(thousand_vmov_lane, get_local_id(0) % 64 == 0, "v_mov_b32 v2, v1", "v2")
THOUSAND(thousand_smov, true, "s_mov_b32 s0, s1", "s0")
THOUSAND(thousand_mfma, true, "v_mfma_f32_32x32x8bf16_1k v[0:15], v[16:17], v[18:19], v[0:15]", "v0", "v1", "v2", "v3", "v4",
         "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19")

// One lane of each wavefront reads a dword of the LDS 64 * `loops` times.
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void lds_lane(global uint* sums, uint loops) {
  local uint block[1024];
  block[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) % 64 != 0) return;
  const uint address = (uint)(local char*)&block[get_local_id(0)];
  uint value;
  for (uint n = 0; n < loops; ++n) {
    __asm__ volatile(".rept 64\nds_read_b32 %0, %1\n.endr\ns_waitcnt lgkmcnt(0)" : "=&v"(value) : "v"(address) : "memory");
  }
  if (value == 1) sums[0] = value;
}
#endif

// Kernels of published measurements of instructions, of the scalar cache, of loads of each width and of small workgroups
// (tests/validation/silicon/instructions.py), as the sources of the measurements describe them.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// Kernels of a family have the same parameters.
#pragma clang diagnostic ignored "-Wunused-parameter"
// The launch determines the size of the workgroup.
#define ANY_SIZE __attribute__((amdgpu_flat_work_group_size(1, 1024)))

kernel ANY_SIZE void nothing(void) {}

// Element e of gathers and scatters is at pattern[e % length] + delta * (e / length). `wrap`: number of periods of the pattern
// for which a scatter has separate data. Lengths are arguments, hence the divisions of 64 bits. A gather stores only an
// impossible value.
typedef struct {
  ulong sparse, dense;
} Place;
static Place place(global const ulong* pattern, ulong length, ulong delta, ulong wrap, ulong element) {
  const ulong j = element % length;
  const ulong i = element / length;
  return (Place){pattern[j] + delta * i, j + length * (i % wrap)};
}
static ulong element(void) { return (uint)get_enqueued_local_size(0) * (uint)get_group_id(0) + (uint)get_local_id(0); }

kernel ANY_SIZE void gather(global const ulong* pattern, global const double* sparse, global double* dense, ulong length,
                            ulong delta, ulong wrap, ulong count) {
  const ulong e = element();
  if (e / length >= count) return;
  const double value = sparse[place(pattern, length, delta, wrap, e).sparse];
  if (value == 0.5) dense[0] = value;
}
kernel ANY_SIZE void scatter(global const ulong* pattern, global double* sparse, global const double* dense, ulong length,
                             ulong delta, ulong wrap, ulong count) {
  const ulong e = element();
  if (e / length >= count) return;
  const Place at = place(pattern, length, delta, wrap, e);
  sparse[at.sparse] = dense[at.dense];
}

#ifdef __gfx90a__
// 256 samples of the cycles between two s_memtime around a load that hits in the scalar cache. The cache is filled by a walk
// over the table, whose element i is i. The load's offset is in an SGPR, or in the instruction.
#define SCALAR_LATENCY(NAME, LOAD)                                                                                        \
  kernel __attribute__((reqd_work_group_size(1, 1, 1))) void NAME(constant uint* table, global uint* cycles, uint last) { \
    local ulong samples[256];                                                                                             \
    uint at = 0;                                                                                                          \
    for (uint n = 0; n < 256; ++n) at = table[at] + 1;                                                                    \
    at &= 1;                                                                                                              \
    for (uint n = 0; n < 256; ++n) {                                                                                      \
      ulong begin, end;                                                                                                   \
      uint value;                                                                                                         \
      __asm__ volatile("s_waitcnt lgkmcnt(0)\ns_waitcnt vmcnt(0)\ns_memtime %[begin]\n" LOAD                              \
                       "\ns_waitcnt lgkmcnt(0)\ns_waitcnt vmcnt(0)\ns_memtime %[end]\ns_waitcnt lgkmcnt(0)\n"             \
                       : [begin] "=&s"(begin), [end] "=&s"(end), [value] "=&s"(value)                                     \
                       : [table] "s"(table), [from] "s"(table + at), [offset] "s"(4 * at)                                 \
                       : "memory");                                                                                       \
      at = value + 1;                                                                                                     \
      samples[n] = end - begin;                                                                                           \
    }                                                                                                                     \
    for (uint n = 0; n < 256; ++n) cycles[n] = samples[n];                                                                \
    if (at == last) cycles[0] = 0;                                                                                        \
  }
SCALAR_LATENCY(scalar_latency, "s_load_dword %[value], %[table], %[offset]")
SCALAR_LATENCY(scalar_latency_immediate, "s_load_dword %[value], %[from], 0")

// A workgroup of 16 wavefronts loads `lines` * 64 bytes per wavefront `rounds` times from the scalar cache, in blocks of four
// loads. No load is waited for before the end. Writes the cycles that the first wavefront measures between barriers.
typedef uint uint16_t __attribute__((ext_vector_type(16)));
static uint load_lines(global const uint16_t* data, uint lines, uint rounds, uint sum) {
  for (uint n = 0; n < rounds; ++n) {
    for (uint line = 0; line < lines; line += 4) {
      uint16_t a, b, c, d;
      __asm__ volatile(
          "s_load_dwordx16 %[a], %[from], 0\ns_load_dwordx16 %[b], %[from], 64\n"
          "s_load_dwordx16 %[c], %[from], 128\ns_load_dwordx16 %[d], %[from], 192\n"
          : [a] "=&s"(a), [b] "=&s"(b), [c] "=&s"(c), [d] "=&s"(d)
          : [from] "s"(data + line)
          : "memory");
      if (get_local_id(0) % 64 == 0) sum ^= a.s0 ^ b.s0 ^ c.s0 ^ d.s0;
    }
  }
  __asm__ volatile("s_waitcnt lgkmcnt(0)" : : : "memory");
  barrier(CLK_LOCAL_MEM_FENCE);
  return sum;
}
static ulong first_wavefront_clock(void) {
  ulong clock = 0;
  if (get_local_id(0) == 0) __asm__ volatile("s_memtime %0\ns_waitcnt lgkmcnt(0)" : "=s"(clock) : : "memory");
  return clock;
}
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void scalar_reads(global const uint16_t* data, global uint* cycles,
                                                                           uint lines, uint warm_ups, uint rounds) {
  data += __builtin_amdgcn_readfirstlane(get_local_id(0) / 64) * lines;
  uint sum = load_lines(data, lines, warm_ups, 0);
  const ulong begin = first_wavefront_clock();
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = load_lines(data, lines, rounds, sum);
  const ulong end = first_wavefront_clock();
  if (get_local_id(0) == 0) {
    cycles[0] = end - begin;
    cycles[1] = sum;
  }
}

// Each work-item loads a dword of the LDS, `stride` dwords from its neighbour's. `never` is 0.
kernel ANY_SIZE void lds_stride(global uint* values, uint stride, uint never) {
  local uint block[8192];
  const uint lane = get_local_id(0);
  if (never) block[lane] = lane;
  barrier(CLK_LOCAL_MEM_FENCE);
  values[lane] = block[stride * lane];
}
#else
// adds_N has N independent additions in straight-line code, in a page of its own.
#define ADDS(N)                                                                               \
  kernel __attribute__((reqd_work_group_size(64, 1, 1), aligned(4096))) void adds_##N(void) { \
    __asm__ volatile(".rept " #N "\nv_add_f32 v1, v2, v3\n.endr" : : : "v1", "v2", "v3");     \
  }
#define TEN_ADDS(TENS) \
  ADDS(TENS##0)        \
  ADDS(TENS##1) ADDS(TENS##2) ADDS(TENS##3) ADDS(TENS##4) ADDS(TENS##5) ADDS(TENS##6) ADDS(TENS##7) ADDS(TENS##8) ADDS(TENS##9)
TEN_ADDS()
TEN_ADDS(1)
TEN_ADDS(2)
TEN_ADDS(3)
TEN_ADDS(4)
TEN_ADDS(5)
TEN_ADDS(6)
TEN_ADDS(7)
TEN_ADDS(8)
TEN_ADDS(9)
TEN_ADDS(10)
TEN_ADDS(11)
TEN_ADDS(12)

// Kernel INSTRUCTION_LENGTH is a loop over a block of LENGTH times the same instruction and a wait for memory. Instructions
// write v2 to v5, s16 to s23 and VCC, and read other registers, so none depends on another. `address`: the lane's BYTES of the
// LDS. The difference between the two lengths of an instruction is the time of instructions only: loops are aligned to lines of
// 64 bytes, and both fetch a line after their branch, or neither does.
#define BLOCK(LENGTH, BYTES, INSTRUCTION, OPERANDS)                                                                         \
  kernel ANY_SIZE void INSTRUCTION##_##LENGTH(global const uint* data, uint loops) {                                        \
    local uint block[4096];                                                                                                 \
    __asm__ volatile(                                                                                                       \
        "s_mov_b32 m0, -1\n"                                                                                                \
        "s_branch 1f\n"                                                                                                     \
        ".p2align 6\n"                                                                                                      \
        "1:\n"                                                                                                              \
        ".rept " #LENGTH "\n" #INSTRUCTION " " OPERANDS                                                                     \
        "\n"                                                                                                                \
        ".endr\n"                                                                                                           \
        "s_waitcnt lgkmcnt(0)\n"                                                                                            \
        "s_sub_u32 %[loops], %[loops], 1\n"                                                                                 \
        "s_cmp_lg_u32 %[loops], 0\n"                                                                                        \
        "s_cbranch_scc1 1b\n"                                                                                               \
        : [loops] "+s"(loops)                                                                                               \
        : [data] "s"(data), [address] "v"((uint)(local char*)block + BYTES * (uint)get_local_id(0))                         \
        : "memory", "scc", "vcc", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "s16", "s17", "s18", "s19", \
          "s20", "s21", "s22", "s23");                                                                                      \
  }
#define ALU(INSTRUCTION, OPERANDS) BLOCK(128, 0, INSTRUCTION, OPERANDS) BLOCK(384, 0, INSTRUCTION, OPERANDS)
// Few enough for lgkmcnt, which has four bits and counts a scalar load of several dwords twice: no instruction waits for it.
#define LDS(BYTES, INSTRUCTION, OPERANDS) BLOCK(7, BYTES, INSTRUCTION, OPERANDS) BLOCK(15, BYTES, INSTRUCTION, OPERANDS)
#define SCALAR_LOAD(INSTRUCTION, OPERANDS) BLOCK(2, 0, INSTRUCTION, OPERANDS) BLOCK(6, 0, INSTRUCTION, OPERANDS)

ALU(s_mul_i32, "s16, s18, s19")
ALU(s_and_saveexec_b64, "s[16:17], -1")
ALU(v_add_f32, "v2, v6, v7")
ALU(v_exp_f32, "v2, v6")
ALU(v_log_f32, "v2, v6")
ALU(v_rcp_f32, "v2, v6")
ALU(v_rsq_f32, "v2, v6")
ALU(v_sqrt_f32, "v2, v6")
ALU(v_sin_f32, "v2, v6")
ALU(v_mul_lo_u32, "v2, v6, v7")
ALU(v_mul_hi_u32, "v2, v6, v7")
ALU(v_mad_u64_u32, "v[2:3], vcc, v6, v7, v[8:9]")
ALU(v_mad_u32_u24, "v2, v6, v7, v8")
ALU(v_div_scale_f32, "v2, vcc, v6, v6, v7")
ALU(v_div_fmas_f32, "v2, v6, v7, v8")
ALU(v_add_f64, "v[2:3], v[6:7], v[8:9]")
ALU(v_mul_f64, "v[2:3], v[6:7], v[8:9]")
ALU(v_fma_f64, "v[2:3], v[6:7], v[8:9], v[10:11]")
ALU(v_rcp_f64, "v[2:3], v[6:7]")
ALU(v_sqrt_f64, "v[2:3], v[6:7]")
ALU(v_cvt_f64_f32, "v[2:3], v6")
ALU(v_cvt_f32_f64, "v2, v[6:7]")
ALU(v_cmp_lt_f64, "vcc, v[6:7], v[8:9]")
LDS(4, ds_read_b32, "v2, %[address]")
LDS(8, ds_read_b64, "v[2:3], %[address]")
LDS(16, ds_read_b128, "v[2:5], %[address]")
LDS(8, ds_read2_b32, "v[2:3], %[address] offset0:0 offset1:1")
LDS(16, ds_read2_b64, "v[2:5], %[address] offset0:0 offset1:1")
LDS(4, ds_write_b32, "%[address], v6")
LDS(8, ds_write_b64, "%[address], v[6:7]")
LDS(16, ds_write_b128, "%[address], v[6:9]")
LDS(4, ds_swizzle_b32, "v2, v6 offset:swizzle(SWAP,1)")
LDS(4, ds_add_u32, "%[address], v6")
LDS(4, ds_add_rtn_u32, "v2, %[address], v6")
LDS(8, ds_add_u64, "%[address], v[6:7]")
LDS(4, ds_cmpst_rtn_b32, "v2, %[address], v6, v7")
LDS(8, ds_cmpst_b64, "%[address], v[6:7], v[8:9]")
SCALAR_LOAD(s_load_dword, "s16, %[data], 0x0")
SCALAR_LOAD(s_load_dwordx8, "s[16:23], %[data], 0x0")

// A work-item adds up 256 elements of WIDTH floats, beginning with element (lane * factor) & mask of the buffer, in batches of
// eight loads. The sums pass through the LDS. `never` is 0.
typedef uint uint4_t __attribute__((ext_vector_type(4)));
#define RAW(WIDTH, LOAD, ...)                                                                                            \
  kernel __attribute__((reqd_work_group_size(256, 1, 1))) void raw_##WIDTH(global const float* data, global float* sums, \
                                                                           uint factor, uint mask, uint never) {         \
    local float block[256];                                                                                              \
    const uint lane = get_local_id(0);                                                                                   \
    /* A descriptor of untyped memory (GCN3 ISA manual, buffer resource). */                                             \
    const uint4_t buffer = {(uint)(ulong)data, (uint)((ulong)data >> 32), 16384, 0x00027000u};                           \
    float sum;                                                                                                           \
    __asm__ volatile(".set raw_width, " #WIDTH                                                                           \
                     "\n"                                                                                                \
                     "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v4, 0\nv_mov_b32 v5, 0\n"                              \
                     ".set raw_offset, 0\n"                                                                              \
                     ".rept 32\n"                                                                                        \
                     ".set raw_to, 8\n"                                                                                  \
                     ".rept 8\n" LOAD                                                                                    \
                     " v[raw_to:raw_to+raw_width-1], %[start], %[buffer], 0 offen offset:raw_offset\n"                   \
                     ".set raw_offset, raw_offset+4*raw_width\n"                                                         \
                     ".set raw_to, raw_to+raw_width\n"                                                                   \
                     ".endr\n"                                                                                           \
                     "s_waitcnt vmcnt(0)\n"                                                                              \
                     ".set raw_from, 8\n"                                                                                \
                     ".rept 8\n"                                                                                         \
                     ".set raw_sum, 2\n"                                                                                 \
                     ".rept raw_width\n"                                                                                 \
                     "v_add_f32 v[raw_sum], v[raw_sum], v[raw_from]\n"                                                   \
                     ".set raw_sum, raw_sum+1\n"                                                                         \
                     ".set raw_from, raw_from+1\n"                                                                       \
                     ".endr\n"                                                                                           \
                     ".endr\n"                                                                                           \
                     ".endr\n"                                                                                           \
                     "v_add_f32 v2, v2, v3\nv_add_f32 v4, v4, v5\nv_add_f32 %[sum], v2, v4\n"                            \
                     : [sum] "=v"(sum)                                                                                   \
                     : [start] "v"(((lane * factor) & mask) * (4 * WIDTH)), [buffer] "s"(buffer)                         \
                     : "memory", "v2", "v3", "v4", "v5", __VA_ARGS__);                                                   \
    block[lane] = sum;                                                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                        \
    if (never) sums[get_global_id(0)] = block[never];                                                                    \
  }
#define V8_TO_15 "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"
#define V16_TO_23 "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"
#define V24_TO_31 "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#define V32_TO_39 "v32", "v33", "v34", "v35", "v36", "v37", "v38", "v39"
RAW(1, "buffer_load_dword", V8_TO_15)
RAW(2, "buffer_load_dwordx2", V8_TO_15, V16_TO_23)
RAW(3, "buffer_load_dwordx3", V8_TO_15, V16_TO_23, V24_TO_31)
RAW(4, "buffer_load_dwordx4", V8_TO_15, V16_TO_23, V24_TO_31, V32_TO_39)
#endif

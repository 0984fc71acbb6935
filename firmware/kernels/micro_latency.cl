// Measures latencies: one work-item follows a chain of offsets, and reads the core clock (s_memtime) before and after the
// chain. Everything that tests/validation/micro deduces about caches, DRAM and LDS is derived from these cycles.
//
// The latency of a load is the time from its issue to the issue of an instruction that uses its data, here the next load of the
// chain. In addition to the load the loop has only scalar instructions, which issue while the load is in flight. The cycles of
// a chain divided by its hops are therefore exactly that latency, rounded up to the SIMD's next turn to issue (every 4 cycles
// with 4 SIMDs, every cycle with one). A loop of 24 bytes in one instruction line fetches nothing.

typedef uint uint4_t __attribute__((ext_vector_type(4)));

// Returns a descriptor of untyped memory from `base` on (GCN3 ISA manual, buffer resource): byte offsets, no stride, no bounds.
static uint4_t untyped_buffer(global const void* base) {
  const ulong address = (ulong)base;
  return (uint4_t)((uint)address, (uint)(address >> 32), 0xffffffffu, 0x00027000u);
}

// Performs `hops` > 0 loads, each at the offset that the previous load returned; returns the duration in cycles.
static ulong follow(uint4_t table, uint offset, uint hops) {
  ulong begin, end;
  __asm__ volatile(
      "s_waitcnt vmcnt(0)\n"
      "s_memtime %[begin]\n"
      "s_waitcnt lgkmcnt(0)\n"
      "s_branch 1f\n"
      ".p2align 6\n"
      "1: s_waitcnt vmcnt(0)\n"
      "buffer_load_dword %[offset], %[offset], %[table], 0 offen\n"
      "s_sub_u32 %[hops], %[hops], 1\n"
      "s_cmp_lg_u32 %[hops], 0\n"
      "s_cbranch_scc1 1b\n"
      "s_waitcnt vmcnt(0)\n"
      "s_memtime %[end]\n"
      "s_waitcnt lgkmcnt(0)\n"
      : [begin] "=&s"(begin), [end] "=&s"(end), [offset] "+v"(offset), [hops] "+s"(hops)
      : [table] "s"(table)
      : "scc", "memory");
  return end - begin;
}

// table[from[i]] = to[i], all in bytes.
kernel void link(global uint* table, global const uint* from, global const uint* to, uint links) {
  const uint i = get_global_id(0);
  if (i < links) table[from[i] / 4] = to[i];
}

// Chain i of the `chains` starts at byte offset first[i] of the table and has hops[i] loads. Each chain is followed warm_ups
// times, then once more to measure cycles[i]. The table contains the offsets, written by link() or by the host.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void chase(global const uint* table, global const uint* first,
                                                                 global const uint* hops, global uint* cycles, uint chains,
                                                                 uint warm_ups) {
  for (uint i = 0; i < chains; ++i) {
    const uint loads = __builtin_amdgcn_readfirstlane(hops[i]);
    const uint start = first[i];
    const uint4_t memory = untyped_buffer(table);
    for (uint w = 0; w < warm_ups; ++w) follow(memory, start, loads);
    cycles[i] = (uint)follow(memory, start, loads);
  }
}

// Each of the first `lanes` lanes reads a separate dword of the LDS, `stride` dwords from its neighbour's, `hops` > 0 times;
// the dword holds the address of the next read. Writes cycles[i] for strides[i].
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void lds_chase(global const uint* strides, global uint* cycles,
                                                                      uint count, uint lanes, uint hops) {
  local uint block[64 * 128];
  const uint lane = get_local_id(0);
  for (uint i = 0; i < count; ++i) {
    const uint index = lane * __builtin_amdgcn_readfirstlane(strides[i]);
    uint address = (uint)(local char*)&block[index];
    block[index] = address;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < lanes) {
      uint loads = hops;
      ulong begin, end;
      __asm__ volatile(
          "s_mov_b32 m0, -1\n"
          "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
          "s_memtime %[begin]\n"
          "s_waitcnt lgkmcnt(0)\n"
          "s_branch 1f\n"
          ".p2align 6\n"
          "1: s_waitcnt lgkmcnt(0)\n"
          "ds_read_b32 %[address], %[address]\n"
          "s_sub_u32 %[loads], %[loads], 1\n"
          "s_cmp_lg_u32 %[loads], 0\n"
          "s_cbranch_scc1 1b\n"
          "s_waitcnt lgkmcnt(0)\n"
          "s_memtime %[end]\n"
          "s_waitcnt lgkmcnt(0)\n"
          : [begin] "=&s"(begin), [end] "=&s"(end), [address] "+v"(address), [loads] "+s"(loads)
          : [block] "s"((uint)(local char*)block)  // not referenced: makes the compiler assume that the array is read
          : "scc", "memory");
      if (lane == 0) cycles[i] = (uint)(end - begin);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

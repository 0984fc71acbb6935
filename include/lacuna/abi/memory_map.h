/* Bus addresses of the platform: the single list used by the platform, the firmware's HAL and docs/reference/memory-map.md.
 *
 * C and C++. LACUNA_MEMORY_MAP(X): X(name, base, size, description). The sizes of RAM and VRAM are parameters; the numbers
 * here are the address space reserved for them. */
#ifndef LACUNA_MEMORY_MAP_H
#define LACUNA_MEMORY_MAP_H

#define LACUNA_MEMORY_MAP(X)                                                                        \
  X(FINISHER, 0x00100000ull, 0x1000ull, "test finisher: 0x5555 = pass, code << 16 | 0x3333 = fail") \
  X(CLINT, 0x02000000ull, 0x10000ull, "core-local interruptor: msip, mtimecmp, mtime")              \
  X(PLIC, 0x0c000000ull, 0x4000000ull, "platform-level interrupt controller")                       \
  X(UART, 0x10000000ull, 0x100ull, "NS16550-compatible UART")                                       \
  X(GPU_MMIO, 0x20000000ull, 0x2000ull, "GPU registers and doorbells")                              \
  X(RAM, 0x80000000ull, 0x80000000ull, "host RAM (host.ram_size)")                                  \
  X(VRAM, 0x1000000000ull, 0x1000000000ull, "GPU memory, whole aperture visible to the hart (vram.size)")

/* PLIC sources. */
#define LACUNA_IRQ_UART 1
#define LACUNA_IRQ_GPU 2

#define LACUNA_MEMORY_MAP_BASE(name, base, size, description) LACUNA_##name##_BASE = (base),
#define LACUNA_MEMORY_MAP_SIZE(name, base, size, description) LACUNA_##name##_SIZE = (size),
#ifdef __cplusplus
enum LacunaMemoryMap : unsigned long long {
#else
enum lacuna_memory_map {
#endif
  LACUNA_MEMORY_MAP(LACUNA_MEMORY_MAP_BASE) LACUNA_MEMORY_MAP(LACUNA_MEMORY_MAP_SIZE)
};
#undef LACUNA_MEMORY_MAP_BASE
#undef LACUNA_MEMORY_MAP_SIZE

#endif

/* Reader of AMD GPU code objects (ELF64, code object version 2 to 5). The image may be damaged: every offset is checked
 * before it is followed. Nothing is allocated.
 *
 * Sources: ELF-64 Object File Format 1.5; LLVM "User Guide for AMDGPU Backend", sections ELF Code Object, Relocation Records,
 * Kernel Descriptor and Code Object V2. */
#ifndef FIRMWARE_DRIVER_CODE_OBJECT_ELF_H
#define FIRMWARE_DRIVER_CODE_OBJECT_ELF_H

#include "lacuna.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CODE_OBJECT_PAGE 4096u
#define CODE_OBJECT_MAX_SEGMENTS 16u
/* Maximum memory of a code object; larger images are considered damaged. */
#define CODE_OBJECT_MAX_SPAN (1ull << 30)

/* One PT_LOAD. */
typedef struct code_object_segment {
  uint64_t address; /* virtual address in the ELF's address space */
  uint64_t memory_bytes;
  const uint8_t* bytes;
  uint64_t file_bytes; /* readable at `bytes`; the rest of memory_bytes is zero */
  uint32_t access;     /* LACUNA_ACCESS_* */
} code_object_segment;

typedef struct code_object_view {
  unsigned version; /* code object version, 2 to 5 */
  uint32_t target;  /* as in the device's TARGET register */
  unsigned segment_count;
  code_object_segment segments[CODE_OBJECT_MAX_SEGMENTS]; /* ascending, not overlapping */
  uint64_t base;                                          /* page of the lowest segment */
  uint64_t span;                                          /* bytes from base to the end of the highest segment, whole pages */
  uint64_t alignment;                                     /* alignment of the memory to which the code object is loaded */
  uint64_t symbols;                                       /* address of the dynamic symbol table */
  uint64_t symbol_count;
  uint64_t strings; /* address of the symbols' string table */
  uint64_t string_bytes;
  /* The section .symtab, which also has symbols that are not dynamic: kernels with hidden visibility, local functions. It is
   * not part of any segment. All zero if the image has none, or a damaged one. */
  struct {
    const uint8_t* symbols;
    uint64_t count;
    const uint8_t* strings;
    uint64_t string_bytes;
  } section;
  struct {
    uint64_t address;
    uint64_t count;
  } relocations[2]; /* DT_RELA, DT_JMPREL */
} code_object_view;

typedef struct code_object_symbol {
  uint64_t address;
  uint64_t bytes;
  uint8_t type;
} code_object_symbol;

/* Checks the image and fills in `view`, which then points into the image. */
lacuna_error code_object_parse(const void* image, size_t bytes, code_object_view* view);

/* Returns `bytes` of initialised memory at `address`, or null if they do not lie in one segment. */
const uint8_t* code_object_bytes(const code_object_view* view, uint64_t address, uint64_t bytes);

/* Finds a symbol by name and ELF symbol type, in the dynamic symbol table, else in .symtab. */
bool code_object_find_symbol(const code_object_view* view, const char* name, uint8_t type, code_object_symbol* symbol);

/* Bytes of the loaded copy, in whole pages: the segments, and the data that code_object_keep_symbols() writes after them. */
uint64_t code_object_loaded_bytes(const code_object_view* view);

/* Places .symtab after the segments of the loaded copy at `memory`, lets the view read it there, and points the copy's ELF
 * header to a section table for it, so that the device finds names for its reports (models/command/loaded_code_object.h). If
 * the copy has no ELF header, clears the view's section instead. */
void code_object_keep_symbols(code_object_view* view, uint8_t* memory);

/* Applies the relocations to the loaded copy: `memory` holds `span` bytes, visible to the GPU at `gpu_address`. */
lacuna_error code_object_relocate(const code_object_view* view, uint8_t* memory, uint64_t gpu_address);

/* Reads a kernel's segment sizes; `kernel->object` becomes the descriptor's address in the ELF file's address space. */
lacuna_error code_object_kernel(const code_object_view* view, const char* name, lacuna_kernel* kernel);

/* Access of the page at `address`: the union over the segments that touch it; 0 = none does. */
uint32_t code_object_page_access(const code_object_view* view, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif

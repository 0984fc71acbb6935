/* The parts of ELF64 that the reader of code objects needs, with the values of AMD's GPUs. Sources: code_object_elf.h. */
#ifndef FIRMWARE_DRIVER_ELF_FORMAT_H
#define FIRMWARE_DRIVER_ELF_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  uint8_t e_ident[16];
  uint16_t e_type;
  uint16_t e_machine;
  uint32_t e_version;
  uint64_t e_entry;
  uint64_t e_phoff;
  uint64_t e_shoff;
  uint32_t e_flags;
  uint16_t e_ehsize;
  uint16_t e_phentsize;
  uint16_t e_phnum;
  uint16_t e_shentsize;
  uint16_t e_shnum;
  uint16_t e_shstrndx;
} elf_header;

typedef struct {
  uint32_t p_type;
  uint32_t p_flags;
  uint64_t p_offset;
  uint64_t p_vaddr;
  uint64_t p_paddr;
  uint64_t p_filesz;
  uint64_t p_memsz;
  uint64_t p_align;
} elf_program_header;

typedef struct {
  uint32_t sh_name;
  uint32_t sh_type;
  uint64_t sh_flags;
  uint64_t sh_addr;
  uint64_t sh_offset;
  uint64_t sh_size;
  uint32_t sh_link;
  uint32_t sh_info;
  uint64_t sh_addralign;
  uint64_t sh_entsize;
} elf_section_header;

typedef struct {
  uint32_t n_namesz;
  uint32_t n_descsz;
  uint32_t n_type;
} elf_note;

typedef struct {
  uint64_t d_tag;
  uint64_t d_value;
} elf_dynamic;

typedef struct {
  uint32_t st_name;
  uint8_t st_info;
  uint8_t st_other;
  uint16_t st_shndx;
  uint64_t st_value;
  uint64_t st_size;
} elf_symbol;

typedef struct {
  uint64_t r_offset;
  uint64_t r_info;
  int64_t r_addend;
} elf_relocation;

enum {
  ELF_CLASS_64 = 2,
  ELF_LITTLE_ENDIAN = 1,
  ELF_OSABI_AMDGPU_HSA = 64,
  ET_DYN = 3,
  EM_AMDGPU = 224,
  PT_LOAD = 1,
  PT_DYNAMIC = 2,
  PT_NOTE = 4,
  SHT_SYMTAB = 2,
  SHT_STRTAB = 3,
  SHF_ALLOC = 2,
  PF_X = 1,
  PF_W = 2,
  PF_R = 4,
  STB_WEAK = 2,
  STT_OBJECT = 1,
  STT_AMDGPU_HSA_KERNEL = 10,
  EF_AMDGPU_MACH = 0xff,
  NT_AMD_HSA_ISA_VERSION = 3 /* code object version 2, owner "AMD" */
};

static inline uint32_t elf_load32(const uint8_t* bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* Whether `bytes` at `offset` lie within [0, limit). */
static inline bool elf_fits(uint64_t offset, uint64_t bytes, uint64_t limit) {
  return offset <= limit && bytes <= limit - offset;
}

#endif

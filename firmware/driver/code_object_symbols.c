/* Symbols of a code object, relocations to them, and kernels. */
#include <string.h>

#include "driver/code_object_elf.h"
#include "driver/elf_format.h"
#include "driver/error.h"

enum { R_AMDGPU_NONE, R_AMDGPU_ABS32_LO, R_AMDGPU_ABS32_HI, R_AMDGPU_ABS64, R_AMDGPU_ABS32 = 6, R_AMDGPU_RELATIVE64 = 13 };

/* Offsets in the 64-byte kernel descriptor (version 3 and later) and in the 256-byte amd_kernel_code_t (version 2). */
enum {
  DESCRIPTOR_BYTES = 64,
  DESCRIPTOR_GROUP_SEGMENT = 0,
  DESCRIPTOR_PRIVATE_SEGMENT = 4,
  DESCRIPTOR_KERNARG_SEGMENT = 8,
  KERNEL_CODE_BYTES = 256,
  KERNEL_CODE_PRIVATE_SEGMENT = 60,
  KERNEL_CODE_GROUP_SEGMENT = 64,
  KERNEL_CODE_KERNARG_SEGMENT = 72,
  KERNEL_OBJECT_ALIGNMENT = 64
};

static uint64_t load64(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

typedef struct {
  const uint8_t* symbols;
  uint64_t count;
  const uint8_t* strings;
  uint64_t string_bytes;
} symbol_table;

static symbol_table dynamic_table(const code_object_view* view) {
  return (symbol_table){code_object_bytes(view, view->symbols, view->symbol_count * sizeof(elf_symbol)), view->symbol_count,
                        code_object_bytes(view, view->strings, view->string_bytes), view->string_bytes};
}

static symbol_table section_table(const code_object_view* view) {
  return (symbol_table){view->section.symbols, view->section.count, view->section.strings, view->section.string_bytes};
}

/* Reads symbol `index`. Returns its name, or null if it is outside the string table. */
static const char* read_symbol(const symbol_table* table, uint64_t index, elf_symbol* symbol) {
  memcpy(symbol, table->symbols + index * sizeof *symbol, sizeof *symbol);
  /* The loaded copy may have been changed since the end of the table was checked. */
  if (table->strings[table->string_bytes - 1] != 0 || symbol->st_name >= table->string_bytes) return NULL;
  return (const char*)table->strings + symbol->st_name;
}

static bool find_in_table(const symbol_table* table, const char* name, uint8_t type, code_object_symbol* symbol) {
  for (uint64_t i = 1; i < table->count; ++i) {
    elf_symbol entry;
    const char* entry_name = read_symbol(table, i, &entry);
    if (entry_name == NULL || entry.st_shndx == 0 || (entry.st_info & 0xf) != type || strcmp(entry_name, name) != 0) continue;
    *symbol = (code_object_symbol){entry.st_value, entry.st_size, type};
    return true;
  }
  return false;
}

bool code_object_find_symbol(const code_object_view* view, const char* name, uint8_t type, code_object_symbol* symbol) {
  const symbol_table dynamic = dynamic_table(view);
  const symbol_table section = section_table(view);
  return find_in_table(&dynamic, name, type, symbol) || find_in_table(&section, name, type, symbol);
}

/* After the segments: section table (null, symbols, strings), symbols, strings. */
enum { KEPT_SECTIONS = 3 };

static uint64_t kept_offset(const code_object_view* view) {
  const code_object_segment* last = &view->segments[view->segment_count - 1];
  return (last->address + last->memory_bytes - view->base + 15) & ~(uint64_t)15;
}

/* Whether there is a .symtab, and the ELF header is part of the loaded copy: without the header, the device could not find the
 * table. */
static bool keeps_symbols(const code_object_view* view) {
  return view->section.count != 0 && view->segments[0].address == view->base &&
         view->segments[0].file_bytes >= sizeof(elf_header);
}

uint64_t code_object_loaded_bytes(const code_object_view* view) {
  if (!keeps_symbols(view)) return view->span;
  const uint64_t end = kept_offset(view) + KEPT_SECTIONS * sizeof(elf_section_header) +
                       view->section.count * sizeof(elf_symbol) + view->section.string_bytes;
  return (end + CODE_OBJECT_PAGE - 1) & ~(uint64_t)(CODE_OBJECT_PAGE - 1);
}

void code_object_keep_symbols(code_object_view* view, uint8_t* memory) {
  elf_header header;
  memcpy(&header, memory, sizeof header);
  if (!keeps_symbols(view) || header.e_ident[0] != 0x7f) {
    memset(&view->section, 0, sizeof view->section);
    return;
  }
  const uint64_t table = kept_offset(view);
  const uint64_t symbol_bytes = view->section.count * sizeof(elf_symbol);
  elf_section_header sections[KEPT_SECTIONS] = {0};
  sections[1] = (elf_section_header){.sh_type = SHT_SYMTAB,
                                     .sh_flags = SHF_ALLOC,
                                     .sh_addr = table + sizeof sections,
                                     .sh_size = symbol_bytes,
                                     .sh_link = 2,
                                     .sh_entsize = sizeof(elf_symbol)};
  sections[2] = (elf_section_header){.sh_type = SHT_STRTAB,
                                     .sh_flags = SHF_ALLOC,
                                     .sh_addr = sections[1].sh_addr + symbol_bytes,
                                     .sh_size = view->section.string_bytes};
  memcpy(memory + table, sections, sizeof sections);
  memcpy(memory + sections[1].sh_addr, view->section.symbols, symbol_bytes);
  memcpy(memory + sections[2].sh_addr, view->section.strings, view->section.string_bytes);
  header.e_shoff = table;
  header.e_shnum = KEPT_SECTIONS;
  header.e_shstrndx = 0;
  memcpy(memory, &header, sizeof header);
  view->section.symbols = memory + sections[1].sh_addr;
  view->section.strings = memory + sections[2].sh_addr;
}

/* Value of the symbol of a relocation, in the ELF's address space; false if it is undefined and not weak. */
static bool relocation_symbol(const code_object_view* view, uint64_t index, bool* absolute, uint64_t* value) {
  elf_symbol symbol;
  const symbol_table table = dynamic_table(view);
  if (index >= table.count) return false;
  read_symbol(&table, index, &symbol);
  *absolute = symbol.st_shndx == 0;
  *value = symbol.st_shndx == 0 ? 0 : symbol.st_value;
  return symbol.st_shndx != 0 || symbol.st_info >> 4 == STB_WEAK;
}

static lacuna_error apply_relocation(const code_object_view* view, const elf_relocation* relocation, uint8_t* memory,
                                     uint64_t delta) {
  const uint32_t type = (uint32_t)relocation->r_info;
  if (type == R_AMDGPU_NONE) return LACUNA_OK;
  const uint64_t bytes = type == R_AMDGPU_ABS64 || type == R_AMDGPU_RELATIVE64 ? 8 : 4;
  if (relocation->r_offset < view->base || !elf_fits(relocation->r_offset - view->base, bytes, view->span)) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: relocation at 0x%llx lies outside the segments",
                        (unsigned long long)relocation->r_offset);
  }
  uint64_t value = delta;
  if (type != R_AMDGPU_RELATIVE64) {
    bool absolute = false;
    if (!relocation_symbol(view, relocation->r_info >> 32, &absolute, &value)) {
      return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: relocation at 0x%llx refers to an undefined symbol",
                          (unsigned long long)relocation->r_offset);
    }
    if (!absolute) value += delta;
  }
  value += (uint64_t)relocation->r_addend;
  uint8_t* place = memory + (relocation->r_offset - view->base);
  switch (type) {
    case R_AMDGPU_ABS64:
    case R_AMDGPU_RELATIVE64:
      break;
    case R_AMDGPU_ABS32:
    case R_AMDGPU_ABS32_LO:
      value &= 0xffffffffu;
      break;
    case R_AMDGPU_ABS32_HI:
      value >>= 32;
      break;
    default:
      return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "code object: relocation type %u at 0x%llx is not supported",
                          (unsigned)type, (unsigned long long)relocation->r_offset);
  }
  memcpy(place, &value, bytes);
  return LACUNA_OK;
}

lacuna_error code_object_relocate(const code_object_view* view, uint8_t* memory, uint64_t gpu_address) {
  for (unsigned table = 0; table < 2; ++table) {
    for (uint64_t i = 0; i < view->relocations[table].count; ++i) {
      elf_relocation relocation;
      memcpy(&relocation, code_object_bytes(view, view->relocations[table].address + i * sizeof relocation, sizeof relocation),
             sizeof relocation);
      const lacuna_error error = apply_relocation(view, &relocation, memory, gpu_address - view->base);
      if (error != LACUNA_OK) return error;
    }
  }
  return LACUNA_OK;
}

lacuna_error code_object_kernel(const code_object_view* view, const char* name, lacuna_kernel* kernel) {
  char descriptor_name[256];
  const size_t length = strlen(name);
  if (length == 0 || length + sizeof ".kd" > sizeof descriptor_name) {
    return driver_error(LACUNA_ERROR_NO_SUCH_KERNEL, "kernel name of %zu characters", length);
  }
  memcpy(descriptor_name, name, length + 1);
  if (view->version > 2) memcpy(descriptor_name + length, ".kd", sizeof ".kd");
  code_object_symbol symbol;
  if (!code_object_find_symbol(view, descriptor_name, view->version > 2 ? STT_OBJECT : STT_AMDGPU_HSA_KERNEL, &symbol)) {
    return driver_error(LACUNA_ERROR_NO_SUCH_KERNEL, "the code object (version %u) has no kernel \"%s\"", view->version, name);
  }
  const uint8_t* object = code_object_bytes(view, symbol.address, view->version > 2 ? DESCRIPTOR_BYTES : KERNEL_CODE_BYTES);
  if (object == NULL || symbol.address % KERNEL_OBJECT_ALIGNMENT != 0) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT,
                        "descriptor of kernel \"%s\" at 0x%llx is misaligned or outside the segments", name,
                        (unsigned long long)symbol.address);
  }
  *kernel = (lacuna_kernel){.object = symbol.address, .code_object_version = view->version};
  if (view->version > 2) {
    kernel->group_segment_bytes = elf_load32(object + DESCRIPTOR_GROUP_SEGMENT);
    kernel->private_segment_bytes = elf_load32(object + DESCRIPTOR_PRIVATE_SEGMENT);
    kernel->kernarg_segment_bytes = elf_load32(object + DESCRIPTOR_KERNARG_SEGMENT);
    return LACUNA_OK;
  }
  const uint64_t kernarg = load64(object + KERNEL_CODE_KERNARG_SEGMENT);
  if (kernarg > UINT32_MAX) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "kernel \"%s\" requires 0x%llx bytes of arguments", name,
                        (unsigned long long)kernarg);
  }
  kernel->group_segment_bytes = elf_load32(object + KERNEL_CODE_GROUP_SEGMENT);
  kernel->private_segment_bytes = elf_load32(object + KERNEL_CODE_PRIVATE_SEGMENT);
  kernel->kernarg_segment_bytes = (uint32_t)kernarg;
  return LACUNA_OK;
}

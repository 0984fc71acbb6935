#include "driver/code_object_elf.h"

#include <string.h>

#include "driver/error.h"

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

enum { DT_NULL, DT_PLTRELSZ = 2, DT_HASH = 4, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_STRSZ = 10, DT_JMPREL = 23 };

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

/* EF_AMDGPU_MACH values of the instruction sets that Lacuna models. */
static const struct {
  uint32_t machine;
  uint32_t target;
} targets[] = {{0x2a, 0x080003}, {0x3f, 0x09000a}};

static uint32_t load32(const uint8_t* bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static uint64_t load64(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* Do `bytes` at `offset` lie within [0, limit)? */
static bool fits(uint64_t offset, uint64_t bytes, uint64_t limit) { return offset <= limit && bytes <= limit - offset; }

const uint8_t* code_object_bytes(const code_object_view* view, uint64_t address, uint64_t bytes) {
  for (unsigned i = 0; i < view->segment_count; ++i) {
    const code_object_segment* segment = &view->segments[i];
    if (address >= segment->address && fits(address - segment->address, bytes, segment->file_bytes)) {
      return segment->bytes + (address - segment->address);
    }
  }
  return NULL;
}

static lacuna_error check_header(const elf_header* header, size_t bytes, code_object_view* view) {
  static const uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
  if (memcmp(header->e_ident, magic, sizeof magic) != 0) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: no ELF magic, first bytes %02x %02x %02x %02x",
                        header->e_ident[0], header->e_ident[1], header->e_ident[2], header->e_ident[3]);
  }
  if (header->e_ident[4] != ELF_CLASS_64 || header->e_ident[5] != ELF_LITTLE_ENDIAN) {
    return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "code object: ELF class %u, data %u: not 64-bit little-endian",
                        header->e_ident[4], header->e_ident[5]);
  }
  if (header->e_machine != EM_AMDGPU) {
    return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "code object: ELF machine %u is not AMDGPU (%u)",
                        header->e_machine, EM_AMDGPU);
  }
  if (header->e_ident[7] != ELF_OSABI_AMDGPU_HSA) {
    return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "code object: OS ABI %u is not AMDGPU_HSA (%u)",
                        header->e_ident[7], ELF_OSABI_AMDGPU_HSA);
  }
  if (header->e_type != ET_DYN) {
    return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT, "code object: ELF type %u: not linked (ET_DYN = %u expected)",
                        header->e_type, ET_DYN);
  }
  if (header->e_ident[8] > 3) {
    return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT,
                        "code object: ABI version %u: only code object versions 2 to 5 are known", header->e_ident[8]);
  }
  view->version = header->e_ident[8] + 2u;
  if (header->e_phentsize != sizeof(elf_program_header) ||
      !fits(header->e_phoff, (uint64_t)header->e_phnum * sizeof(elf_program_header), bytes)) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: %u program headers at 0x%llx do not fit in %zu bytes",
                        header->e_phnum, (unsigned long long)header->e_phoff, bytes);
  }
  return LACUNA_OK;
}

/* Version 2 names its processor in a note: lengths of two names (16 bits each), then major, minor and stepping (32 bits each).
 * Returns what the device's TARGET register would hold, 0 when there is no such note. */
static uint32_t note_target(const uint8_t* image, size_t bytes, const elf_program_header* header) {
  if (!fits(header->p_offset, header->p_filesz, bytes)) return 0;
  const uint8_t* notes = image + header->p_offset;
  uint64_t at = 0;
  elf_note note;
  while (fits(at, sizeof note, header->p_filesz)) {
    memcpy(&note, notes + at, sizeof note);
    const uint64_t name = at + sizeof note;
    const uint64_t description = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
    if (!fits(description, note.n_descsz, header->p_filesz)) return 0;
    if (note.n_type == NT_AMD_HSA_ISA_VERSION && note.n_namesz == 4 && memcmp(notes + name, "AMD", 4) == 0 &&
        note.n_descsz >= 16) {
      const uint8_t* version = notes + description + 4;
      return (load32(version) & 0xff) << 16 | (load32(version + 4) & 0xff) << 8 | (load32(version + 8) & 0xff);
    }
    at = description + ((uint64_t)note.n_descsz + 3) / 4 * 4;
  }
  return 0;
}

/* From version 3 on e_flags name the processor; in version 2 their bits may be features. */
static lacuna_error find_target(const uint8_t* image, size_t bytes, const elf_header* header, code_object_view* view) {
  uint32_t wanted = 0;
  for (unsigned i = 0; view->version == 2 && wanted == 0 && i < header->e_phnum; ++i) {
    elf_program_header program;
    memcpy(&program, image + header->e_phoff + i * sizeof program, sizeof program);
    if (program.p_type == PT_NOTE) wanted = note_target(image, bytes, &program);
  }
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; ++i) {
    if (wanted != 0 ? targets[i].target == wanted : targets[i].machine == (header->e_flags & EF_AMDGPU_MACH)) {
      view->target = targets[i].target;
      return LACUNA_OK;
    }
  }
  if (wanted != 0) {
    return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT,
                        "code object: its note names gfx%u%x%x, a processor other than gfx803 and gfx90a",
                        (unsigned)(wanted >> 16), (unsigned)(wanted >> 8 & 0xff), (unsigned)(wanted & 0xff));
  }
  return driver_error(LACUNA_ERROR_INCOMPATIBLE_CODE_OBJECT,
                      "code object: e_flags 0x%x name a processor other than gfx803 and gfx90a", (unsigned)header->e_flags);
}

static lacuna_error add_segment(const uint8_t* image, size_t bytes, const elf_program_header* header, code_object_view* view) {
  if (header->p_memsz == 0) return LACUNA_OK;
  if (view->segment_count == CODE_OBJECT_MAX_SEGMENTS) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: more than %u segments", CODE_OBJECT_MAX_SEGMENTS);
  }
  if (!fits(header->p_offset, header->p_filesz, bytes) || header->p_filesz > header->p_memsz) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT,
                        "code object: segment %u, 0x%llx bytes at file offset 0x%llx, lies outside the image of %zu bytes",
                        view->segment_count, (unsigned long long)header->p_filesz, (unsigned long long)header->p_offset, bytes);
  }
  if (header->p_vaddr > UINT64_MAX / 2 || header->p_memsz > CODE_OBJECT_MAX_SPAN) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: segment %u, 0x%llx bytes at 0x%llx, is out of range",
                        view->segment_count, (unsigned long long)header->p_memsz, (unsigned long long)header->p_vaddr);
  }
  const uint64_t alignment = header->p_align > CODE_OBJECT_PAGE ? header->p_align : CODE_OBJECT_PAGE;
  if ((alignment & (alignment - 1)) != 0 || alignment > (1u << 21)) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: segment %u has alignment 0x%llx", view->segment_count,
                        (unsigned long long)header->p_align);
  }
  if (view->segment_count > 0) {
    const code_object_segment* last = &view->segments[view->segment_count - 1];
    if (header->p_vaddr < last->address + last->memory_bytes) {
      return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: segment %u overlaps the one before it",
                          view->segment_count);
    }
  }
  if (alignment > view->alignment) view->alignment = alignment;
  view->segments[view->segment_count++] = (code_object_segment){.address = header->p_vaddr,
                                                                .memory_bytes = header->p_memsz,
                                                                .bytes = image + header->p_offset,
                                                                .file_bytes = header->p_filesz,
                                                                .access = (header->p_flags & PF_R ? LACUNA_ACCESS_READ : 0) |
                                                                          (header->p_flags & PF_W ? LACUNA_ACCESS_WRITE : 0) |
                                                                          (header->p_flags & PF_X ? LACUNA_ACCESS_EXECUTE : 0)};
  return LACUNA_OK;
}

static lacuna_error check_relocation_table(code_object_view* view, unsigned table, uint64_t address, uint64_t bytes) {
  if (bytes == 0) return LACUNA_OK;
  if (bytes % sizeof(elf_relocation) != 0 || code_object_bytes(view, address, bytes) == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT,
                        "code object: relocation table of 0x%llx bytes at 0x%llx lies outside the segments",
                        (unsigned long long)bytes, (unsigned long long)address);
  }
  view->relocations[table].address = address;
  view->relocations[table].count = bytes / sizeof(elf_relocation);
  return LACUNA_OK;
}

static lacuna_error read_dynamic(const uint8_t* image, size_t bytes, const elf_program_header* header, code_object_view* view) {
  if (!fits(header->p_offset, header->p_filesz, bytes)) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: dynamic section lies outside the image");
  }
  uint64_t hash = 0, rela = 0, rela_bytes = 0, plt = 0, plt_bytes = 0;
  for (uint64_t offset = 0; fits(offset, sizeof(elf_dynamic), header->p_filesz); offset += sizeof(elf_dynamic)) {
    elf_dynamic entry;
    memcpy(&entry, image + header->p_offset + offset, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    switch (entry.d_tag) {
      case DT_HASH:
        hash = entry.d_value;
        break;
      case DT_STRTAB:
        view->strings = entry.d_value;
        break;
      case DT_STRSZ:
        view->string_bytes = entry.d_value;
        break;
      case DT_SYMTAB:
        view->symbols = entry.d_value;
        break;
      case DT_RELA:
        rela = entry.d_value;
        break;
      case DT_RELASZ:
        rela_bytes = entry.d_value;
        break;
      case DT_JMPREL:
        plt = entry.d_value;
        break;
      case DT_PLTRELSZ:
        plt_bytes = entry.d_value;
        break;
      default:
        break;
    }
  }
  /* The System V hash table is what says how many symbols there are: its second word. */
  const uint8_t* hash_table = hash != 0 ? code_object_bytes(view, hash, 8) : NULL;
  if (hash_table == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: no symbol hash table (DT_HASH) inside the segments");
  }
  view->symbol_count = load32(hash_table + 4);
  if (code_object_bytes(view, view->symbols, view->symbol_count * sizeof(elf_symbol)) == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT,
                        "code object: %llu dynamic symbols at 0x%llx lie outside the segments",
                        (unsigned long long)view->symbol_count, (unsigned long long)view->symbols);
  }
  const uint8_t* strings = view->string_bytes != 0 ? code_object_bytes(view, view->strings, view->string_bytes) : NULL;
  if (strings == NULL || strings[view->string_bytes - 1] != 0) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT,
                        "code object: dynamic string table lies outside the segments or has no end");
  }
  const lacuna_error error = check_relocation_table(view, 0, rela, rela_bytes);
  return error != LACUNA_OK ? error : check_relocation_table(view, 1, plt, plt_bytes);
}

/* A file without sections, or with damaged ones, can be loaded all the same: then only dynamic symbols are known. */
static void read_symbol_section(const uint8_t* image, size_t bytes, const elf_header* header, code_object_view* view) {
  if (header->e_shoff == 0 || header->e_shentsize != sizeof(elf_section_header) ||
      !fits(header->e_shoff, (uint64_t)header->e_shnum * sizeof(elf_section_header), bytes)) {
    return;
  }
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    elf_section_header symbols, strings;
    memcpy(&symbols, image + header->e_shoff + i * sizeof symbols, sizeof symbols);
    if (symbols.sh_type != SHT_SYMTAB || symbols.sh_link >= header->e_shnum) continue;
    memcpy(&strings, image + header->e_shoff + symbols.sh_link * sizeof strings, sizeof strings);
    if (!fits(symbols.sh_offset, symbols.sh_size, bytes) || !fits(strings.sh_offset, strings.sh_size, bytes)) continue;
    if (strings.sh_size == 0 || image[strings.sh_offset + strings.sh_size - 1] != 0) continue;
    view->section.symbols = image + symbols.sh_offset;
    view->section.count = symbols.sh_size / sizeof(elf_symbol);
    view->section.strings = image + strings.sh_offset;
    view->section.string_bytes = strings.sh_size;
    return;
  }
}

lacuna_error code_object_parse(const void* image, size_t bytes, code_object_view* view) {
  const uint8_t* start = image;
  *view = (code_object_view){.alignment = CODE_OBJECT_PAGE};
  elf_header header;
  if (image == NULL || bytes < sizeof header) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: %zu bytes are too few for an ELF header", bytes);
  }
  memcpy(&header, start, sizeof header);
  lacuna_error error = check_header(&header, bytes, view);
  if (error == LACUNA_OK) error = find_target(start, bytes, &header, view);
  if (error != LACUNA_OK) return error;

  elf_program_header dynamic = {0};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    elf_program_header program;
    memcpy(&program, start + header.e_phoff + i * sizeof program, sizeof program);
    if (program.p_type == PT_DYNAMIC) dynamic = program;
    if (program.p_type != PT_LOAD) continue;
    error = add_segment(start, bytes, &program, view);
    if (error != LACUNA_OK) return error;
  }
  if (view->segment_count == 0) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: nothing to load (no PT_LOAD segment)");
  }
  const code_object_segment* last = &view->segments[view->segment_count - 1];
  view->base = view->segments[0].address & ~(view->alignment - 1);
  view->span = (last->address + last->memory_bytes - view->base + CODE_OBJECT_PAGE - 1) & ~(uint64_t)(CODE_OBJECT_PAGE - 1);
  if (view->span > CODE_OBJECT_MAX_SPAN) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: its segments span 0x%llx bytes",
                        (unsigned long long)view->span);
  }
  if (dynamic.p_type != PT_DYNAMIC) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: no dynamic section, so no symbols");
  }
  read_symbol_section(start, bytes, &header, view);
  return read_dynamic(start, bytes, &dynamic, view);
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

/* Symbol `index`; its name, or null when the name lies outside the string table. */
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

/* Behind the segments: section table (null, symbols, strings), symbols, strings. */
enum { KEPT_SECTIONS = 3 };

static uint64_t kept_offset(const code_object_view* view) {
  const code_object_segment* last = &view->segments[view->segment_count - 1];
  return (last->address + last->memory_bytes - view->base + 15) & ~(uint64_t)15;
}

/* The header must be part of the copy, or nobody would find the table. */
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

/* Value of the symbol that a relocation names, in the ELF's own space; false when it is undefined and not weak. */
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
  if (relocation->r_offset < view->base || !fits(relocation->r_offset - view->base, bytes, view->span)) {
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
    kernel->group_segment_bytes = load32(object + DESCRIPTOR_GROUP_SEGMENT);
    kernel->private_segment_bytes = load32(object + DESCRIPTOR_PRIVATE_SEGMENT);
    kernel->kernarg_segment_bytes = load32(object + DESCRIPTOR_KERNARG_SEGMENT);
    return LACUNA_OK;
  }
  const uint64_t kernarg = load64(object + KERNEL_CODE_KERNARG_SEGMENT);
  if (kernarg > UINT32_MAX) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "kernel \"%s\" asks for 0x%llx bytes of arguments", name,
                        (unsigned long long)kernarg);
  }
  kernel->group_segment_bytes = load32(object + KERNEL_CODE_GROUP_SEGMENT);
  kernel->private_segment_bytes = load32(object + KERNEL_CODE_PRIVATE_SEGMENT);
  kernel->kernarg_segment_bytes = (uint32_t)kernarg;
  return LACUNA_OK;
}

uint32_t code_object_page_access(const code_object_view* view, uint64_t address) {
  uint32_t access = 0;
  for (unsigned i = 0; i < view->segment_count; ++i) {
    const code_object_segment* segment = &view->segments[i];
    if (segment->address < address + CODE_OBJECT_PAGE && address < segment->address + segment->memory_bytes) {
      access |= segment->access;
    }
  }
  return access;
}

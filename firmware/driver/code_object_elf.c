#include "driver/code_object_elf.h"

#include <string.h>

#include "driver/elf_format.h"
#include "driver/error.h"

enum { DT_NULL, DT_PLTRELSZ = 2, DT_HASH = 4, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_STRSZ = 10, DT_JMPREL = 23 };

/* EF_AMDGPU_MACH values of the instruction sets that Lacuna models. */
static const struct {
  uint32_t machine;
  uint32_t target;
} targets[] = {{0x2a, 0x080003}, {0x3f, 0x09000a}};

const uint8_t* code_object_bytes(const code_object_view* view, uint64_t address, uint64_t bytes) {
  for (unsigned i = 0; i < view->segment_count; ++i) {
    const code_object_segment* segment = &view->segments[i];
    if (address >= segment->address && elf_fits(address - segment->address, bytes, segment->file_bytes)) {
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
      !elf_fits(header->e_phoff, (uint64_t)header->e_phnum * sizeof(elf_program_header), bytes)) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: %u program headers at 0x%llx do not fit in %zu bytes",
                        header->e_phnum, (unsigned long long)header->e_phoff, bytes);
  }
  return LACUNA_OK;
}

/* Version 2 names its processor in a note: lengths of two names (16 bits each), then major, minor and stepping (32 bits each).
 * Returns the corresponding value of the device's TARGET register; 0 if there is no such note. */
static uint32_t note_target(const uint8_t* image, size_t bytes, const elf_program_header* header) {
  if (!elf_fits(header->p_offset, header->p_filesz, bytes)) return 0;
  const uint8_t* notes = image + header->p_offset;
  uint64_t at = 0;
  elf_note note;
  while (elf_fits(at, sizeof note, header->p_filesz)) {
    memcpy(&note, notes + at, sizeof note);
    const uint64_t name = at + sizeof note;
    const uint64_t description = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
    if (!elf_fits(description, note.n_descsz, header->p_filesz)) return 0;
    if (note.n_type == NT_AMD_HSA_ISA_VERSION && note.n_namesz == 4 && memcmp(notes + name, "AMD", 4) == 0 &&
        note.n_descsz >= 16) {
      const uint8_t* version = notes + description + 4;
      return (elf_load32(version) & 0xff) << 16 | (elf_load32(version + 4) & 0xff) << 8 | (elf_load32(version + 8) & 0xff);
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
  if (!elf_fits(header->p_offset, header->p_filesz, bytes) || header->p_filesz > header->p_memsz) {
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
  if (!elf_fits(header->p_offset, header->p_filesz, bytes)) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: dynamic section lies outside the image");
  }
  uint64_t hash = 0, rela = 0, rela_bytes = 0, plt = 0, plt_bytes = 0;
  for (uint64_t offset = 0; elf_fits(offset, sizeof(elf_dynamic), header->p_filesz); offset += sizeof(elf_dynamic)) {
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
  /* The number of symbols is the second word of the System V hash table. */
  const uint8_t* hash_table = hash != 0 ? code_object_bytes(view, hash, 8) : NULL;
  if (hash_table == NULL) {
    return driver_error(LACUNA_ERROR_INVALID_CODE_OBJECT, "code object: no symbol hash table (DT_HASH) inside the segments");
  }
  view->symbol_count = elf_load32(hash_table + 4);
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

/* A file without sections, or with damaged ones, can still be loaded, but only its dynamic symbols are found. */
static void read_symbol_section(const uint8_t* image, size_t bytes, const elf_header* header, code_object_view* view) {
  if (header->e_shoff == 0 || header->e_shentsize != sizeof(elf_section_header) ||
      !elf_fits(header->e_shoff, (uint64_t)header->e_shnum * sizeof(elf_section_header), bytes)) {
    return;
  }
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    elf_section_header symbols, strings;
    memcpy(&symbols, image + header->e_shoff + i * sizeof symbols, sizeof symbols);
    if (symbols.sh_type != SHT_SYMTAB || symbols.sh_link >= header->e_shnum) continue;
    memcpy(&strings, image + header->e_shoff + symbols.sh_link * sizeof strings, sizeof strings);
    if (!elf_fits(symbols.sh_offset, symbols.sh_size, bytes) || !elf_fits(strings.sh_offset, strings.sh_size, bytes)) continue;
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

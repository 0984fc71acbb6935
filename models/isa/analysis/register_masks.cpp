#include "models/isa/analysis/register_masks.h"

#include <algorithm>

#include "models/isa/decode/table.h"
#include "models/isa/wavefront.h"

namespace lacuna::isa {
namespace {

constexpr unsigned kVectorFile = 256;
constexpr unsigned kScalarFile = 128;

unsigned registers_of(OperandKind file) { return file == OperandKind::sgpr ? kScalarFile : kVectorFile; }

/// Whether the instruction is a register move relative to M0. Other instructions that read M0 are memory instructions,
/// messages, and instructions that switch VGPR indexing.
bool moves_relatively(const Instruction& instruction) {
  const bool alu = instruction.unit == Unit::valu || instruction.unit == Unit::salu;
  return alu && (instruction.row->flags & kReadsM0) != 0 && instruction.destinations > 0;
}

}  // namespace

template <class Words, class Visit>
void RegisterSet::for_words(Words& words, RegisterRange range, Visit visit) {
  const unsigned base = range.file == OperandKind::sgpr ? 0 : range.file == OperandKind::vgpr ? kVgprs : kAgprs;
  const unsigned end = std::min<unsigned>(range.first + range.count, registers_of(range.file));
  for (unsigned at = range.first; at < end;) {
    const unsigned count = std::min(end - at, 64 - at % 64);
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - count);
    visit(words[base + at / 64], ones << at % 64);
    at += count;
  }
}

void RegisterSet::change(RegisterRange range, bool present) {
  for_words(words_, range, [present](std::uint64_t& word, std::uint64_t part) { word = present ? word | part : word & ~part; });
  scalar_fold_ = vector_fold_ = 0;
  for (unsigned i = 0; i < kSgprWords; ++i) scalar_fold_ |= words_[i];
  for (unsigned i = 0; i < kVectorWords; ++i) vector_fold_ |= words_[kVgprs + i] | std::rotl(words_[kAgprs + i], 32);
}

bool RegisterSet::contains_any(RegisterRange range) const {
  bool any = false;
  for_words(words_, range, [&any](const std::uint64_t& word, std::uint64_t part) { any = any || (word & part) != 0; });
  return any;
}

RegisterMasks::RegisterMasks(const Instruction& instruction) {
  const RegisterUse use = register_use(instruction);
  const bool relative = moves_relatively(instruction);
  // A relative move may access any register of the file. M0 and EXEC are implicit operands and are not extended.
  const auto reach = [relative](RegisterRange range) {
    const bool implicit = range.file == OperandKind::sgpr && (range.first == kM0 || range.first == kExecLo);
    if (!relative || implicit) return range;
    return RegisterRange{range.file, 0, static_cast<std::uint16_t>(registers_of(range.file))};
  };
  for (unsigned i = 0; i < use.read_count; ++i) add(reach(use.reads[i]), vector_reads_, scalar_reads_);
  reads_ = ranges_;
  for (unsigned i = 0; i < use.write_count; ++i) add(reach(use.writes[i]), vector_writes_, scalar_writes_);
  reads_scc_ = use.reads_scc;
  writes_scc_ = use.writes_scc;
}

void RegisterMasks::add(RegisterRange range, std::uint64_t& vector, std::uint64_t& scalar) {
  const unsigned file = registers_of(range.file);
  if (range.first >= file || range.count == 0) return;
  // Registers beyond the file exceed any allocation: the instruction is illegal.
  range.count = static_cast<std::uint16_t>(std::min<unsigned>(range.count, file - range.first));
  packed_.at(ranges_++) = {range.file, static_cast<std::uint8_t>(range.count - 1), range.first};
  (range.file == OperandKind::sgpr ? scalar : vector) |= fold_of(range);
}

bool RegisterMasks::find(const RegisterSet& set, unsigned begin, unsigned end) const {
  for (unsigned i = begin; i < end; ++i) {
    if (set.contains_any(range(i))) return true;
  }
  return false;
}

}  // namespace lacuna::isa

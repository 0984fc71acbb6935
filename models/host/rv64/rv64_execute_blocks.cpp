// Fetching, decoding and caching of blocks.
#include <algorithm>

#include "models/host/rv64/rv64_context.h"

namespace lacuna::rv64 {
namespace {

Handler find_handler(Operation operation) {
  for (const auto subject :
       {integer_handler, memory_handler, atomic_handler, system_handler, float_handler, float_convert_handler}) {
    if (const Handler handler = subject(operation)) return handler;
  }
  return system_handler(Operation::illegal);
}

using HandlerTable = std::array<Handler, static_cast<std::size_t>(Operation::count)>;

const HandlerTable& handlers() {
  static const HandlerTable table = [] {
    HandlerTable made{};
    for (std::size_t operation = 0; operation < made.size(); ++operation) {
      made[operation] = find_handler(static_cast<Operation>(operation));
    }
    return made;
  }();
  return table;
}

bool ends_block(Class klass) { return klass == Class::branch || klass == Class::jump || klass == Class::system; }

}  // namespace

void ExecutionContext::complete(Instruction& instruction, std::uint64_t offset) const {
  instruction.handler = handlers()[static_cast<std::size_t>(instruction.operation)];
  instruction.offset = static_cast<std::uint16_t>(offset);
  instruction.cycles = timing_.cycles[static_cast<std::size_t>(traits(instruction.operation).klass)];
}

std::optional<std::uint32_t> ExecutionContext::fetch_parcel(std::uint64_t address) {
  if (!csrs.pmp.allows(address, 2, Access::fetch, csrs.privilege)) return std::nullopt;
  std::uint16_t parcel = 0;
  if (const MemoryRegion* memory = find_region(address, 2, false, Ask::memory)) {
    std::memcpy(&parcel, memory->host + (address - memory->first), 2);
    return parcel;
  }
  if (!bus_.read(address, std::as_writable_bytes(std::span(&parcel, 1)), elapsed_ps).ok) return std::nullopt;
  return parcel;
}

bool ExecutionContext::open_fetch_window(std::uint64_t pc) {
  if (!csrs.pmp.allows(pc, 2, Access::fetch, csrs.privilege)) return false;
  const MemoryRegion* memory = find_region(pc, 2, false, Ask::memory);
  if (memory == nullptr) return false;
  const AddressRange range = csrs.pmp.homogeneous(pc, {memory->first, memory->last});
  fetch_first_ = range.first;
  fetch_end_ = range.last == ~std::uint64_t{0} ? range.last : range.last + 1;
  fetch_host_ = memory->host + (range.first - memory->first);
  return true;
}

const Block* ExecutionContext::find_block(std::uint64_t pc) {
  if ((pc < fetch_first_ || pc >= fetch_end_) && !open_fetch_window(pc)) return build_single(pc, true);
  const auto known = blocks_by_pc_.find(pc);
  const Block* found = known != blocks_by_pc_.end() ? known->second : build_block(pc);
  if (found == nullptr) return nullptr;
  if (found == &single_block_) return found;
  // The block was decoded at another privilege, at which code beyond this fetch window can be fetched.
  if (found->end > fetch_end_) return build_single(pc, true);
  slots_[pc >> 1 & (kSlots - 1)] = {pc, found};
  return found;
}

const Block* ExecutionContext::build_block(std::uint64_t pc) {
  if (instructions_.size() + kMaxBlock + 1 > kMaxInstructions || blocks_.size() == kMaxBlocks) {
    // This function is called between two blocks: nothing points into the released storage. The fetch window is dropped too.
    flush_blocks();
    if (!open_fetch_window(pc)) return nullptr;
  }
  const std::size_t start = instructions_.size();
  Block made{pc, pc, 0, 0, nullptr};
  bool ended = false;
  while (!ended && made.count < kMaxBlock) {
    const std::uint64_t available = fetch_end_ - made.end;
    const std::byte* code = fetch_host_ + (made.end - fetch_first_);
    std::uint32_t bits = 0;
    if (available < 2) break;
    std::memcpy(&bits, code, 2);
    if ((bits & 3) == 3) {
      if (available < 4) break;
      std::memcpy(&bits, code, 4);
    }
    const bool breakpoint = std::binary_search(breakpoints.begin(), breakpoints.end(), made.end);
    Instruction instruction = decode(bits, made.end);
    if (breakpoint) instruction.operation = Operation::breakpoint;
    const Class klass = traits(instruction.operation).klass;
    if (klass == Class::system && made.count != 0) break;
    complete(instruction, made.end - pc);
    instructions_.push_back(instruction);
    made.end += instruction.length;
    ended = ends_block(klass);
    if (breakpoint) break;
    ++made.count;
    made.time_ps += instruction.cycles * timing_.period_ps;
  }
  if (instructions_.size() == start) return build_single(pc, true);  // the instruction extends beyond the window's end
  if (!ended) {
    Instruction end;
    end.operation = Operation::end_of_block;
    end.immediate = made.end;
    complete(end, made.end - pc);
    instructions_.push_back(end);
  }
  made.first = &instructions_[start];
  blocks_.push_back(made);
  blocks_by_pc_.emplace(pc, &blocks_.back());
  ++statistics.blocks_decoded;
  return &blocks_.back();
}

const Block* ExecutionContext::build_single(std::uint64_t pc, bool with_breakpoints) {
  auto bits = fetch_parcel(pc);
  if (!bits) {
    fetch_fault(pc, pc);
    return nullptr;
  }
  if ((*bits & 3) == 3) {
    const auto high = fetch_parcel(pc + 2);
    if (!high) {
      fetch_fault(pc, pc + 2);
      return nullptr;
    }
    *bits |= *high << 16;
  }
  Instruction& instruction = single_[0];
  instruction = decode(*bits, pc);
  const bool breakpoint = with_breakpoints && std::binary_search(breakpoints.begin(), breakpoints.end(), pc);
  if (breakpoint) instruction.operation = Operation::breakpoint;
  complete(instruction, 0);
  Instruction& end = single_[1];
  end = Instruction{};
  end.operation = Operation::end_of_block;
  end.immediate = pc + instruction.length;
  complete(end, instruction.length);
  single_block_ = {pc, pc + instruction.length, breakpoint ? 0 : instruction.cycles * timing_.period_ps, breakpoint ? 0u : 1u,
                   single_.data()};
  return &single_block_;
}

void ExecutionContext::request_flush() {
  flush_requested_ = true;
  limit_ps = 0;
}

void ExecutionContext::flush_blocks() {
  flush_requested_ = false;
  ++statistics.block_cache_flushes;
  std::fill(slots_.begin(), slots_.end(), Slot{});
  blocks_by_pc_.clear();
  blocks_.clear();
  instructions_.clear();
  fetch_first_ = 1;
  fetch_end_ = 0;
}

bool ExecutionContext::semihosting_sequence(const Instruction* i) {
  // slli x0, x0, 0x1f; ebreak; srai x0, x0, 7, all uncompressed (RISC-V Semihosting 1.0, section 2.2).
  constexpr std::uint32_t kEntry = 0x01f01013;
  constexpr std::uint32_t kExit = 0x40705013;
  if (!semihosting_enabled || i->length != 4) return false;
  const auto word = [this](std::uint64_t address) {
    const auto low = fetch_parcel(address);
    const auto high = fetch_parcel(address + 2);
    return low && high ? *low | *high << 16 : 0;
  };
  const std::uint64_t pc = pc_of(i);
  return word(pc - 4) == kEntry && word(pc + 4) == kExit;
}

}  // namespace lacuna::rv64

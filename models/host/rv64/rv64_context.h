// The state that instruction handlers work on. Private to rv64_execute*.
//
// A handler modifies the context and tail-calls the handler of the next instruction of the block; the last handler sets pc and
// returns to the dispatcher. If a compiler does not generate tail calls, the stack grows by one frame per instruction of a
// block; kMaxBlock bounds the growth.
#pragma once

#include <cstring>
#include <optional>
#include <unordered_map>

#include "models/host/rv64/rv64_execute.h"
#include "models/host/rv64/rv64_fp.h"

namespace lacuna::rv64 {

inline constexpr unsigned kMaxBlock = 48;

/// A range of memory that is known to be accessible at the current privilege without side effects.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t starts = 0;  ///< number of addresses at which an 8-byte access fits; 0 = empty
  std::byte* host = nullptr;
  std::uint64_t latency_ps = 0;

  bool covers(std::uint64_t address) const { return address - first < starts; }
  std::byte* at(std::uint64_t address) const { return host + (address - first); }
};

class ExecutionContext {
 public:
  ExecutionContext(Bus& bus, HostServices& services, const CoreTiming& timing);

  // Members that nearly every instruction accesses.
  Registers registers;
  std::uint64_t elapsed_ps = 0;
  std::uint64_t limit_ps = 0;  ///< the dispatcher returns when elapsed_ps reaches it
  /// Two windows for loads and two for stores, because programs usually access two memories in alternation (stack and heap in
  /// one, GPU memory in the other).
  std::array<Window, 2> load_windows;
  std::array<Window, 2> store_windows;
  const Block* block = nullptr;
  std::uint64_t retired = 0;

  CsrFile csrs;
  CoreStatistics statistics;

  // Reservation of LR.
  bool reserved = false;
  std::uint64_t reserved_address = 0;
  std::uint64_t reserved_value = 0;

  // --- for handlers -------------------------------------------------------------------------------------------------------
  std::uint64_t pc_of(const Instruction* i) const { return block->pc + i->offset; }
  std::uint64_t next_pc(const Instruction* i) const { return block->pc + i->offset + i->length; }

  /// Raises an exception at instruction i: this instruction and the rest of the block have no effect. The handler must then
  /// return.
  void raise(const Instruction* i, std::uint64_t trap_cause, std::uint64_t value);
  void illegal(const Instruction* i) { raise(i, cause::illegal_instruction, i->bits); }
  /// Ends the block after instruction i, which has executed. The handler must then return.
  void leave_after(const Instruction* i);
  /// Ends the block before instruction i. The handler must then return.
  void leave_before(const Instruction* i);
  void stop(StopReason reason);
  /// Makes the dispatcher check interrupts before the next block.
  void recheck_interrupts() { limit_ps = 0; }

  /// Performs a data access outside of all windows. False: an exception has been raised. May set `leave_pending`.
  bool read_memory(const Instruction* i, std::uint64_t address, void* bytes, unsigned size, Access kind);
  bool write_memory(const Instruction* i, std::uint64_t address, const void* bytes, unsigned size);
  bool leave_pending = false;

  const Window* load_window(std::uint64_t address) const {
    if (load_windows[0].covers(address)) [[likely]]
      return &load_windows[0];
    return load_windows[1].covers(address) ? &load_windows[1] : nullptr;
  }
  const Window* store_window(std::uint64_t address) const {
    if (store_windows[0].covers(address)) [[likely]]
      return &store_windows[0];
    return store_windows[1].covers(address) ? &store_windows[1] : nullptr;
  }

  /// Drops the windows, after a change of privilege, PMP, watchpoints or memory regions.
  void forget_windows();
  /// fence.i: drops all blocks when the current block has ended.
  void request_flush();
  /// mret.
  void return_from_trap();
  /// Counter values as read by an access to CSR `number`.
  CounterValues counters(unsigned number) const;
  bool semihosting_sequence(const Instruction* i);

  // --- for Core -----------------------------------------------------------------------------------------------------------
  StopReason run(std::uint64_t limit);
  StopReason step();
  std::uint64_t base_ps = 0;
  void flush_blocks();
  void drop_regions(std::uint64_t first, std::uint64_t last);

  HostServices& services;
  bool semihosting_enabled = false;
  bool stop_at_ebreak = false;
  bool ebreak_released = false;  ///< step() over an ebreak lets it trap
  std::optional<std::uint64_t> htif_address;
  std::vector<std::uint64_t> breakpoints;  ///< sorted
  std::vector<Watchpoint> watchpoints;
  WatchpointHit watchpoint_hit;

 private:
  struct Slot {
    std::uint64_t pc = 1;
    const Block* block = nullptr;
  };
  static constexpr std::size_t kSlots = 1u << 14;
  static constexpr std::size_t kMaxInstructions = 1u << 18;
  static constexpr std::size_t kMaxBlocks = 1u << 16;

  void dispatch();
  const Block* find_block(std::uint64_t pc);
  const Block* build_block(std::uint64_t pc);
  const Block* build_single(std::uint64_t pc, bool with_breakpoints);
  void complete(Instruction& instruction, std::uint64_t offset) const;
  void begin_block(const Block* next) {
    block = next;
    elapsed_ps += next->time_ps;
    retired += next->count;
  }

  std::optional<std::uint32_t> fetch_parcel(std::uint64_t address);
  bool open_fetch_window(std::uint64_t pc);
  void fetch_fault(std::uint64_t pc, std::uint64_t address);
  void enter_trap(std::uint64_t trap_cause, std::uint64_t pc, std::uint64_t value);
  /// Calls `change`, and drops the windows if the privilege of fetches or of data accesses has changed.
  template <class Change>
  void change_privilege(Change change);
  void uncharge(const Instruction* first_without_time, const Instruction* first_not_retired);

  enum class Ask : std::uint8_t { known_only, memory };
  const MemoryRegion* find_region(std::uint64_t address, unsigned size, bool write, Ask ask);
  Window make_window(const MemoryRegion& memory, std::uint64_t address, std::uint64_t latency_ps) const;
  bool intercepted(std::uint64_t address, unsigned size) const;
  void after_access(std::uint64_t address, unsigned size, bool write);
  std::uint64_t local_time_before(const Instruction* i) const;

  Bus& bus_;
  CoreTiming timing_;
  std::vector<MemoryRegion> regions_;
  unsigned next_load_window_ = 0;
  unsigned next_store_window_ = 0;

  // Reserved at full size, so that pointers into it stay valid; the host allocates only the used part.
  std::vector<Instruction> instructions_;
  std::vector<Block> blocks_;
  std::unordered_map<std::uint64_t, const Block*> blocks_by_pc_;
  std::vector<Slot> slots_;  ///< direct-mapped cache in front of blocks_by_pc_
  std::array<Instruction, 2> single_{};
  Block single_block_;
  bool flush_requested_ = false;

  /// Range of code that is known to be fetchable at the current privilege.
  std::uint64_t fetch_first_ = 1;
  std::uint64_t fetch_end_ = 0;
  const std::byte* fetch_host_ = nullptr;

  // The last trap: address of its handler, and number of instructions retired when it was entered.
  std::uint64_t handler_ = 1;
  std::uint64_t retired_at_trap_ = 0;

  StopReason stop_reason_ = StopReason::time_limit;
};

/// Handlers by group of operations; null for operations of other groups.
Handler integer_handler(Operation operation);
Handler memory_handler(Operation operation);
Handler atomic_handler(Operation operation);
Handler system_handler(Operation operation);
Handler float_handler(Operation operation);
Handler float_convert_handler(Operation operation);

[[gnu::always_inline]] inline void next(ExecutionContext& c, const Instruction* i) { return i[1].handler(c, i + 1); }

}  // namespace lacuna::rv64

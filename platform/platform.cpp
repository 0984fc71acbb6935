#include "platform/platform.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <ostream>
#include <vector>

#include "include/lacuna/abi/memory_map.h"
#include "models/common/time/tlm_time.h"

namespace lacuna {
namespace {

constexpr unsigned kPlicSources = LACUNA_IRQ_GPU;
/// mie.MTIE (RISC-V privileged architecture 1.12, section 3.1.9).
constexpr unsigned kCsrMie = 0x304;
constexpr std::uint64_t kMachineTimerEnable = 1U << 7;

// e_flags (RISC-V ELF psABI 1.0, section 8.1).
constexpr std::uint32_t kFloatAbiMask = 6;
constexpr std::uint32_t kFloatAbiQuad = 6;
constexpr std::uint32_t kEmbeddedAbi = 8;

std::string range_text(const ElfSegment& segment) {
  return fmt::format("{:#x}..{:#x}", segment.physical_address, segment.physical_address + segment.memory_size);
}

/// Checks that the file is for an RV64GC hart.
void require_rv64gc(const ElfFile& program) {
  program.require(ElfMachine::riscv);
  if ((program.flags() & kEmbeddedAbi) != 0)
    throw ElfError(program.name() + ": is for the RV64E base (flag EF_RISCV_RVE), the hart is RV64GC");
  if ((program.flags() & kFloatAbiMask) == kFloatAbiQuad)
    throw ElfError(program.name() + ": needs quad-precision registers (flag EF_RISCV_FLOAT_ABI_QUAD), the hart is RV64GC");
  if (program.entry() % 2 != 0) throw ElfError(fmt::format("{}: entry point {:#x} is odd", program.name(), program.entry()));
}

/// The segments that occupy memory, sorted by physical address. Throws ElfError if there are none, or if segments overlap.
std::vector<ElfSegment> loaded_segments(const ElfFile& program) {
  std::vector<ElfSegment> loaded;
  for (const ElfSegment& segment : program.segments()) {
    if (segment.memory_size != 0) loaded.push_back(segment);
  }
  if (loaded.empty()) throw ElfError(program.name() + ": has nothing to load");
  std::stable_sort(loaded.begin(), loaded.end(),
                   [](const ElfSegment& a, const ElfSegment& b) { return a.physical_address < b.physical_address; });
  for (std::size_t i = 1; i < loaded.size(); ++i) {
    const ElfSegment& below = loaded[i - 1];
    if (loaded[i].physical_address - below.physical_address < below.memory_size)
      throw ElfError(program.name() + ": segments " + range_text(below) + " and " + range_text(loaded[i]) + " overlap");
  }
  return loaded;
}

}  // namespace

Platform::Platform(sc_core::sc_module_name module_name, const PlatformParameters& parameters, bool with_gpu,
                   const PlatformConsole& console)
    : sc_module(module_name),
      parameters_(parameters),
      ram_store_(parameters.host.ram_size),
      hart_("hart", parameters.hart),
      bus_("bus", parameters.bus, with_gpu ? 2 : 1),
      ram_("ram", parameters.host.ram, ram_store_, 0, parameters.host.ram_size),
      clint_("clint", parameters.clint),
      plic_("plic", parameters.plic, kPlicSources),
      uart_("uart", parameters.uart),
      finisher_("finisher", parameters.finisher),
      timer_line_("timer_line"),
      software_line_("software_line"),
      external_line_("external_line"),
      uart_line_("uart_line"),
      gpu_line_("gpu_line") {
  if (with_gpu) {
    threads_ = std::make_unique<WorkerThreads>(parameters.threads(), parameters.thread_sharing());
    gpu_ = std::make_unique<GpuDevice>("gpu", parameters.gpu, threads_.get());
    vram_aperture_ =
        std::make_unique<Ram>("vram_aperture", parameters.vram_aperture.ram, gpu_->vram(), 0, parameters.gpu.vram.size);
  }
  map_devices();
  wire_interrupts();
  connect_console(console);
  hart_.set_exit_callback([this](int code) { end(code); });
  finisher_.set_exit_callback([this](int code) { end(process_exit_code(static_cast<std::uint64_t>(code))); });
}

void Platform::map_devices() {
  hart_.bus.bind(bus_.initiators[0]);
  bus_.map("finisher", LACUNA_FINISHER_BASE, Bytes{LACUNA_FINISHER_SIZE}, finisher_.bus);
  bus_.map("clint", LACUNA_CLINT_BASE, Bytes{LACUNA_CLINT_SIZE}, clint_.bus);
  bus_.map("plic", LACUNA_PLIC_BASE, Bytes{LACUNA_PLIC_SIZE}, plic_.bus);
  bus_.map("uart", LACUNA_UART_BASE, Bytes{LACUNA_UART_SIZE}, uart_.bus);
  bus_.map("ram", LACUNA_RAM_BASE, ram_.size(), ram_.bus);
  if (!gpu_) return;
  gpu_->host().bind(bus_.initiators[1]);
  bus_.map("gpu_mmio", LACUNA_GPU_MMIO_BASE, Bytes{LACUNA_GPU_MMIO_SIZE}, gpu_->mmio());
  bus_.map("vram", LACUNA_VRAM_BASE, vram_aperture_->size(), vram_aperture_->bus);
}

void Platform::wire_interrupts() {
  clint_.timer_interrupt[0].bind(timer_line_);
  clint_.software_interrupt[0].bind(software_line_);
  hart_.machine_timer_interrupt.bind(timer_line_);
  hart_.machine_software_interrupt.bind(software_line_);
  plic_.source(LACUNA_IRQ_UART).bind(uart_line_);
  plic_.source(LACUNA_IRQ_GPU).bind(gpu_line_);
  plic_.interrupt[0].bind(external_line_);
  hart_.machine_external_interrupt.bind(external_line_);
  uart_.interrupt.bind(uart_line_);
  if (gpu_) gpu_->interrupt().bind(gpu_line_);
  hart_.set_time_source([this](Tick at) { return clint_.mtime(at); });
  // The forecast excludes the GPU's interrupt line, whose changes cannot be predicted.
  hart_.set_line_forecast([this](Tick now) { return earlier(clint_.next_line_change(0, now), uart_.next_line_change(now)); });
}

void Platform::connect_console(const PlatformConsole& console) {
  hart_.set_console({console.write, console.read});
  uart_.set_output([write = console.write](char character) { write({&character, 1}); });
  uart_.set_input(console.read);
}

void Platform::end(int code) {
  if (ended_) return;
  ended_ = true;
  exit_code_ = code;
  sc_core::sc_stop();
}

void Platform::load(const ElfFile& program, const std::string& command_line, const GuestFileProvider& files) {
  require_rv64gc(program);
  const std::uint64_t ram_end = LACUNA_RAM_BASE + ram_.size().n;
  const auto in_ram = [&](std::uint64_t address, std::uint64_t size) {
    return address >= LACUNA_RAM_BASE && address <= ram_end && size <= ram_end - address;
  };
  const std::string ram_range = fmt::format("RAM ({:#x}..{:#x}, host.ram_size)", LACUNA_RAM_BASE, ram_end);
  for (const ElfSegment& segment : loaded_segments(program)) {
    if (!in_ram(segment.physical_address, segment.memory_size))
      throw ElfError(program.name() + ": segment " + range_text(segment) + " is not in " + ram_range);
    // The rest of the segment must be zero; newly allocated RAM already is.
    std::memcpy(ram_store_.data() + (segment.physical_address - LACUNA_RAM_BASE), segment.bytes.data(), segment.bytes.size());
  }
  if (!in_ram(program.entry(), 2))
    throw ElfError(fmt::format("{}: entry point {:#x} is not in {}", program.name(), program.entry(), ram_range));
  hart_.set_reset_pc(program.entry());

  SemihostingParameters semihosting;
  semihosting.command_line = command_line;
  semihosting.provided = files;
  hart_.attach_semihosting(semihosting);
  if (const auto tohost = program.symbol("tohost")) hart_.attach_htif(*tohost, program.symbol("fromhost").value_or(0));
}

std::uint64_t Platform::progress() const {
  std::uint64_t total = hart_.statistics().instructions;
  if (gpu_) total += gpu_->progress();
  return total;
}

bool Platform::timer_armed() const {
  std::uint64_t mie = 0;
  if (!hart_.read_csr(kCsrMie, mie) || (mie & kMachineTimerEnable) == 0) return false;
  return clint_.timer_armed(0, kernel_time());
}

void Platform::diagnose(std::ostream& out) const {
  out << "  hart: " << (hart_.waiting_for_interrupt() ? "waits for an interrupt" : "runs")
      << fmt::format(" at pc {:#x}, ", hart_.pc()) << hart_.statistics().instructions << " instructions so far\n";
  if (const std::string trap = hart_.last_trap(); !trap.empty()) {
    out << "  last trap: " << trap << " (" << hart_.statistics().exceptions << " exceptions, " << hart_.statistics().interrupts
        << " interrupts so far)\n";
  }
  if (hart_.waiting_for_interrupt()) {
    out << "  interrupt lines: timer " << timer_line_.read() << ", software " << software_line_.read() << ", external "
        << external_line_.read() << " (UART " << uart_line_.read() << ", GPU " << gpu_line_.read() << ")\n";
    out << "  timer: " << (clint_.timer_armed(0, kernel_time()) ? "armed, mtimecmp lies ahead" : "not armed") << '\n';
  }
  if (gpu_) gpu_->diagnose(out);
}

void Platform::describe_statistics(StatisticsGroup& root) const {
  hart_.statistics().describe(root.group("hart"));
  bus_.statistics().describe(root.group("bus"));
  ram_.statistics().describe(root.group("ram"));
  uart_.statistics().describe(root.group("uart"));
  if (!gpu_) return;
  vram_aperture_->statistics().describe(root.group("vram_aperture"));
  gpu_->describe_statistics(root.group("gpu"));
}

}  // namespace lacuna

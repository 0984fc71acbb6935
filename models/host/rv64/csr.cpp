#include "models/host/rv64/csr.h"

#include <array>

namespace lacuna::rv64 {
namespace {

// MXL = 64 bits; A, C, D, F, I, M, U.
constexpr std::uint64_t kMisa = std::uint64_t{2} << 62 | 1u << 0 | 1u << 2 | 1u << 3 | 1u << 5 | 1u << 8 | 1u << 12 | 1u << 20;
constexpr std::uint64_t kMcounterenMask = 0xffffffff;
constexpr std::uint64_t kMcountinhibitMask = 5;  // CY, IR; the event counters do not count
constexpr std::uint64_t kMenvcfgMask = 1;        // FIOM

constexpr bool between(unsigned number, unsigned first, unsigned last) { return number >= first && number <= last; }

constexpr bool is_read_only(unsigned number) { return (number >> 10 & 3) == 3; }

constexpr Privilege required_privilege(unsigned number) {
  return (number >> 8 & 3) == 0 ? Privilege::user : Privilege::machine;
}

bool float_register(unsigned number) { return number == csr::fflags || number == csr::frm || number == csr::fcsr; }

}  // namespace

std::string_view trap_name(std::uint64_t mcause) {
  static constexpr std::array<std::string_view, 12> kExceptions = {"instruction address misaligned",
                                                                   "instruction access fault",
                                                                   "illegal instruction",
                                                                   "breakpoint",
                                                                   "load address misaligned",
                                                                   "load access fault",
                                                                   "store/AMO address misaligned",
                                                                   "store/AMO access fault",
                                                                   "environment call from U-mode",
                                                                   "environment call from S-mode",
                                                                   "reserved exception",
                                                                   "environment call from M-mode"};
  const std::uint64_t code = mcause & ~cause::interrupt;
  if (code == mcause) return code < kExceptions.size() ? kExceptions[code] : "reserved exception";
  switch (code) {
    case interrupt::software:
      return "machine software interrupt";
    case interrupt::timer:
      return "machine timer interrupt";
    case interrupt::external:
      return "machine external interrupt";
    default:
      return "reserved interrupt";
  }
}

bool CsrFile::counter_readable(unsigned number, Privilege from) const {
  return from == Privilege::machine || (mcounteren >> (number - csr::cycle) & 1) != 0;
}

std::optional<std::uint64_t> CsrFile::read(unsigned number, Privilege from, const CounterValues& now) const {
  if (from < required_privilege(number)) return std::nullopt;
  if (float_register(number) && (mstatus & mstatus::fs) == 0) return std::nullopt;
  if (between(number, csr::cycle, csr::hpmcounter31) && !counter_readable(number, from)) return std::nullopt;
  switch (number) {
    case csr::fflags:
      return fflags;
    case csr::frm:
      return frm;
    case csr::fcsr:
      return frm << 5 | fflags;
    case csr::mstatus:
      return (mstatus & mstatus::fs) == mstatus::fs ? mstatus | mstatus::sd : mstatus;
    case csr::misa:
      return kMisa;
    case csr::mie:
      return mie;
    case csr::mtvec:
      return mtvec;
    case csr::mcounteren:
      return mcounteren;
    case csr::menvcfg:
      return menvcfg;
    case csr::mcountinhibit:
      return mcountinhibit;
    case csr::mscratch:
      return mscratch;
    case csr::mepc:
      return mepc;
    case csr::mcause:
      return mcause;
    case csr::mtval:
      return mtval;
    case csr::mip:
      return mip;
    case csr::cycle:
    case csr::mcycle:
      return mcycle.read(now.cycle);
    case csr::time:
      return now.time;
    case csr::instret:
    case csr::minstret:
      return minstret.read(now.instret);
    case csr::mvendorid:
    case csr::marchid:
    case csr::mimpid:
    case csr::mconfigptr:
      return 0;
    case csr::mhartid:
      return mhartid;
    default:
      break;
  }
  // Event counters are not implemented: read-only zero is legal.
  if (between(number, csr::mhpmcounter3, csr::mhpmcounter31) || between(number, csr::mhpmevent3, csr::mhpmevent31)) return 0;
  if (between(number, csr::hpmcounter3, csr::hpmcounter31)) return 0;
  // RV64 has only the even-numbered pmpcfg registers.
  if (between(number, csr::pmpcfg0, csr::pmpcfg15) && number % 2 == 0) return pmp.read_configuration(number - csr::pmpcfg0);
  if (between(number, csr::pmpaddr0, csr::pmpaddr63)) return pmp.read_address(number - csr::pmpaddr0);
  return std::nullopt;
}

bool CsrFile::write(unsigned number, std::uint64_t value, Privilege from, const CounterValues& now, CsrEffect& effect) {
  if (is_read_only(number) || !read(number, from, now)) return false;
  switch (number) {
    case csr::fflags:
      fflags = value & 31;
      mstatus |= mstatus::fs;
      return true;
    case csr::frm:
      frm = value & 7;
      mstatus |= mstatus::fs;
      return true;
    case csr::fcsr:
      fflags = value & 31;
      frm = value >> 5 & 7;
      mstatus |= mstatus::fs;
      return true;
    case csr::mstatus: {
      std::uint64_t next = (mstatus & ~mstatus::writable) | (value & mstatus::writable);
      // Only M and U exist: a reserved MPP keeps its old value.
      const std::uint64_t mpp = next & mstatus::mpp;
      if (mpp != 0 && mpp != mstatus::mpp) next = (next & ~mstatus::mpp) | (mstatus & mstatus::mpp);
      effect.protection = ((next ^ mstatus) & (mstatus::mprv | mstatus::mpp)) != 0;
      effect.interrupts = true;
      mstatus = next;
      return true;
    }
    case csr::mie:
      mie = value & interrupt::mask;
      effect.interrupts = true;
      return true;
    case csr::mtvec:
      mtvec = value & ~std::uint64_t{2};
      return true;
    case csr::mcounteren:
      mcounteren = value & kMcounterenMask;
      return true;
    case csr::menvcfg:
      menvcfg = value & kMenvcfgMask;
      return true;
    case csr::mcountinhibit:
      mcountinhibit = value & kMcountinhibitMask;
      mcycle.set_stopped((mcountinhibit & 1) != 0, now.cycle);
      minstret.set_stopped((mcountinhibit & 4) != 0, now.instret + 1);
      return true;
    case csr::mscratch:
      mscratch = value;
      return true;
    case csr::mepc:
      mepc = value & ~std::uint64_t{1};
      return true;
    case csr::mcause:
      mcause = value;
      return true;
    case csr::mtval:
      mtval = value;
      return true;
    case csr::mcycle:
      mcycle.write(value, now.cycle);
      return true;
    // The instruction that writes the counter does not increment the written value.
    case csr::minstret:
      minstret.write(value, now.instret + 1);
      return true;
    default:
      break;
  }
  if (between(number, csr::pmpcfg0, csr::pmpcfg15)) {
    pmp.write_configuration(number - csr::pmpcfg0, value);
    effect.protection = true;
  } else if (between(number, csr::pmpaddr0, csr::pmpaddr63)) {
    pmp.write_address(number - csr::pmpaddr0, value);
    effect.protection = true;
  }
  return true;
}

Privilege CsrFile::data_privilege() const {
  if ((mstatus & mstatus::mprv) == 0) return privilege;
  return (mstatus & mstatus::mpp) == 0 ? Privilege::user : Privilege::machine;
}

std::optional<unsigned> CsrFile::pending_interrupt() const {
  const std::uint64_t ready = mip & mie;
  if (ready == 0) return std::nullopt;
  if (privilege == Privilege::machine && (mstatus & mstatus::mie) == 0) return std::nullopt;
  for (const unsigned number : {interrupt::external, interrupt::software, interrupt::timer}) {
    if ((ready >> number & 1) != 0) return number;
  }
  return std::nullopt;
}

std::uint64_t CsrFile::enter_trap(std::uint64_t trap_cause, std::uint64_t pc, std::uint64_t value) {
  mepc = pc;
  mcause = trap_cause;
  mtval = value;
  const bool enabled = (mstatus & mstatus::mie) != 0;
  mstatus &= ~(mstatus::mie | mstatus::mpie | mstatus::mpp);
  if (enabled) mstatus |= mstatus::mpie;
  mstatus |= static_cast<std::uint64_t>(privilege) << mstatus::mpp_shift;
  privilege = Privilege::machine;
  const std::uint64_t base = mtvec & ~std::uint64_t{3};
  const bool vectored = (mtvec & 1) != 0 && (trap_cause & cause::interrupt) != 0;
  return vectored ? base + 4 * (trap_cause & ~cause::interrupt) : base;
}

std::uint64_t CsrFile::leave_trap() {
  privilege = (mstatus & mstatus::mpp) == 0 ? Privilege::user : Privilege::machine;
  const bool enabled = (mstatus & mstatus::mpie) != 0;
  mstatus &= ~(mstatus::mie | mstatus::mpp);
  mstatus |= mstatus::mpie;
  if (enabled) mstatus |= mstatus::mie;
  if (privilege != Privilege::machine) mstatus &= ~mstatus::mprv;
  return mepc;
}

}  // namespace lacuna::rv64

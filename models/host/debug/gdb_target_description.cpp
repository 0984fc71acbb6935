#include <array>
#include <string_view>

#include "models/host/debug/gdb_stub.h"
#include "models/host/rv64/csr_numbers.h"

namespace lacuna {
namespace {

constexpr unsigned kFloatBase = 33;
constexpr unsigned kCsrBase = 65;

constexpr std::array<std::string_view, 32> kIntegerNames = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr std::array<std::string_view, 32> kFloatNames = {
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0",  "fa1",  "fa2", "fa3", "fa4",  "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

struct NamedCsr {
  std::string_view name;
  unsigned number;
};
constexpr std::array kCsrs = {
#define LACUNA_RV64_NAMED_CSR(name, number) NamedCsr{#name, number},
    LACUNA_RV64_CSRS(LACUNA_RV64_NAMED_CSR)
#undef LACUNA_RV64_NAMED_CSR
};

void add_register(std::string& xml, std::string_view name, unsigned number, std::string_view type) {
  xml += "<reg name=\"";
  xml += name;
  xml += "\" bitsize=\"64\" type=\"";
  xml += type;
  xml += "\" regnum=\"" + std::to_string(number) + "\"/>";
}

bool belongs_to_float(unsigned number) { return number <= rv64::csr::fcsr; }

std::string make_description() {
  std::string xml =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
      "<architecture>riscv:rv64</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">";
  for (unsigned i = 0; i < kIntegerNames.size(); ++i) {
    add_register(xml, kIntegerNames[i], i, i == 1 ? "code_ptr" : i == 2 || i == 8 ? "data_ptr" : "int");
  }
  add_register(xml, "pc", 32, "code_ptr");
  xml += "</feature><feature name=\"org.gnu.gdb.riscv.fpu\">";
  for (unsigned i = 0; i < kFloatNames.size(); ++i) add_register(xml, kFloatNames[i], kFloatBase + i, "ieee_double");
  for (const NamedCsr& csr : kCsrs) {
    if (belongs_to_float(csr.number)) add_register(xml, csr.name, kCsrBase + csr.number, "int");
  }
  xml += "</feature><feature name=\"org.gnu.gdb.riscv.csr\">";
  for (const NamedCsr& csr : kCsrs) {
    if (!belongs_to_float(csr.number)) add_register(xml, csr.name, kCsrBase + csr.number, "int");
  }
  xml += "</feature></target>";
  return xml;
}

}  // namespace

const std::string& gdb_target_description() {
  static const std::string description = make_description();
  return description;
}

}  // namespace lacuna

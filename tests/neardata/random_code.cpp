#include "tests/neardata/random_code.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "tests/isa/llvm_oracle.h"
#include "tests/neardata/assembled_kernel.h"

namespace lacuna::test {
namespace {

std::string hexadecimal(unsigned value) {
  std::ostringstream text;
  text << "0x" << std::hex << value;
  return text.str();
}
std::string vgpr(unsigned number) { return "v" + std::to_string(number); }

}  // namespace

std::vector<std::string> RandomCode::lines() {
  const unsigned blocks = 1 + pick(3);
  for (unsigned b = 0; b < blocks; ++b) {
    const unsigned statements = 6 + pick(20);
    for (unsigned i = 0; i < statements; ++i) statement();
    if (b + 1 < blocks) lines_.emplace_back(pick(2) == 0 ? "s_branch 0" : "s_cbranch_scc0 0");
  }
  lines_.emplace_back("s_waitcnt vmcnt(0) lgkmcnt(0)");
  lines_.emplace_back("s_mov_b64 exec, s[14:15]");
  for (unsigned r = 0; r < kDataRegisters; ++r) {
    lines_.push_back("ADD_co_u32 v16, " + hexadecimal(0x4000 + 0x100 * r) + ", v0");
    lines_.emplace_back("ADDC_co_u32 v17, 0, v1");
    lines_.push_back("STORE v[16:17], " + vgpr(kFirstData + r));
  }
  return std::move(lines_);
}

std::string RandomCode::data() { return vgpr(kFirstData + pick(kDataRegisters)); }

std::string RandomCode::uniform() {
  switch (pick(4)) {
    case 0:
      return "s3";
    case 1:
      return "s10";
    case 2:
      return "2.0";
    default:
      return "s" + std::to_string(12 + pick(2));
  }
}

// Appends waits for the accesses that write the registers.
void RandomCode::need(const std::vector<std::string>& registers) {
  unsigned vm = ~0U;
  bool lgkm = false;
  for (std::size_t i = 0; i < outstanding_.size(); ++i) {
    const Operation& operation = outstanding_[i];
    const bool touched = std::any_of(registers.begin(), registers.end(), [&](const std::string& r) {
      return std::find(operation.registers.begin(), operation.registers.end(), r) != operation.registers.end();
    });
    if (!touched) continue;
    if (operation.vm) {
      unsigned later = 0;
      for (std::size_t k = i + 1; k < outstanding_.size(); ++k) later += outstanding_[k].vm ? 1 : 0;
      vm = std::min(vm, later);
    } else {
      lgkm = true;
    }
  }
  const unsigned limit = gfx8_ ? 14 : 62;
  if (vm == ~0U && !lgkm) return;
  if (vm != ~0U) vm = std::min(vm, limit);
  lines_.push_back("s_waitcnt" + (vm != ~0U ? " vmcnt(" + std::to_string(vm) + ')' : "") + (lgkm ? " lgkmcnt(0)" : ""));
  unsigned left = 0;
  for (const Operation& operation : outstanding_) left += operation.vm ? 1 : 0;
  std::vector<Operation> kept;
  for (Operation& operation : outstanding_) {
    if (operation.vm && vm != ~0U && left-- > vm) continue;
    if (!operation.vm && lgkm) continue;
    kept.push_back(std::move(operation));
  }
  outstanding_ = std::move(kept);
}

void RandomCode::statement() {
  switch (pick(16)) {
    case 0:
    case 1:
    case 2:
      load(data());
      break;
    case 3:
      load_scalar();
      break;
    case 4:
    case 5:
      store(data());
      break;
    case 6:
      compare();
      break;
    case 7:
    case 8:
    case 9:
    case 10:
      chain();
      break;
    case 11:
      mask();
      break;
    default:
      operate();
  }
}

// Appends the computation of an address in v[2:3], v[4:5] or v[6:7], and returns the name of that register pair. v18 or v19 may
// hold the high half of the offset.
std::string RandomCode::address() {
  const unsigned pair = 2 + 2 * pick(3);
  const std::string low = vgpr(pair);
  const std::string high = vgpr(pair + 1);
  need({low, high});
  const unsigned offset = 4 + 2 * pick(2);
  const unsigned base = pick(4) == 0 ? 20 : 0;
  const std::string temporary = pick(2) == 0 ? high : vgpr(18 + pick(2));
  lines_.push_back("v_mov_b32 " + temporary + ", s" + std::to_string(offset + 1));
  lines_.push_back("ADD_co_u32 " + low + ", s" + std::to_string(offset) + ", " + vgpr(base));
  lines_.push_back("ADDC_co_u32 " + high + ", " + temporary + ", " + vgpr(base + 1));
  return "v[" + std::to_string(pair) + ':' + std::to_string(pair + 1) + ']';
}

void RandomCode::load(const std::string& to, const char* name) {
  const std::string from = address();
  need({to});
  lines_.push_back(std::string(name) + ' ' + to + ", " + from);
  outstanding_.push_back({{to}, true, gfx8_});
}

void RandomCode::load_scalar() {
  const std::string to = "s" + std::to_string(12 + pick(2));
  need({to});
  lines_.push_back("s_load_dword " + to + ", s[8:9], " + hexadecimal(4 * pick(8)));
  outstanding_.push_back({{to}, false, true});
}

void RandomCode::store(const std::string& what, const char* name) {
  const std::string to = address();
  need({what});
  lines_.push_back(std::string(name) + ' ' + to + ", " + what);
  outstanding_.push_back({{}, true, gfx8_});
}

void RandomCode::compare() {
  const std::string a = data();
  const std::string b = data();
  need({a, b});
  lines_.push_back("v_cmp_lt_f32 vcc, " + a + ", " + b);
  lines_.push_back("v_cndmask_b32 " + a + ", " + a + ", " + b + ", vcc");
}

void RandomCode::operate() {
  const std::string to = data();
  const std::string a = data();
  const std::string b = pick(4) == 0 ? uniform() : data();
  need({to, a, b});
  static const std::vector<std::string> kNames{"v_add_f32", "v_mul_f32", "v_mac_f32", "v_xor_b32", "ADD_u32"};
  lines_.push_back(kNames[pick(5)] + ' ' + to + ", " + b + ", " + a);
}

// Sets EXEC to all lanes or to consecutive lanes, possibly to none.
void RandomCode::mask() {
  if (pick(2) == 0) {
    lines_.emplace_back("s_mov_b64 exec, s[14:15]");
    return;
  }
  lines_.push_back("s_bfm_b64 s[16:17], " + std::to_string(pick(64)) + ", " + std::to_string(pick(48)));
  lines_.emplace_back("s_and_b64 exec, s[14:15], s[16:17]");
}

// Appends instructions that a compiler's scheduler may put between those of a chain.
void RandomCode::gap() {
  switch (pick(6)) {
    case 0:
      operate();
      break;
    case 1:
      load(data());
      break;
    case 2:
      load_scalar();
      break;
    default:
      break;
  }
}

// Appends instructions that match a row of Table 1, or no row. Surrounding code may prevent a chain by reading the values later
// or writing to the same lines.
void RandomCode::chain() {
  static constexpr std::array kElements{Element{"LOAD", "STORE"}, Element{"LOAD", "STORE"}, Element{"LOAD", "STORE"},
                                        Element{"LOAD_ubyte", "STORE_byte"}, Element{"LOAD_ushort", "STORE_short"}};
  const Element element = kElements.at(pick(kElements.size()));
  const std::string a = data();
  std::string b = data();
  const unsigned shape = pick(8);
  const bool second = shape != 3 && shape != 4 && shape != 5;
  load(a, element.load);
  gap();
  if (second && a != b) load(b, element.load);
  if (!second) b = uniform();
  gap();
  need({a, b});
  static const std::vector<std::string> kNames{"v_add_f32", "v_mul_f32", "v_min_f32", "v_xor_b32", "v_max_u32"};
  const std::string& name = kNames[pick(5)];
  switch (shape) {
    case 0:  // pattern 1, or 4 if the store has an operand's address
    case 5:  // pattern 7
      lines_.push_back(name + ' ' + a + ", " + b + ", " + a);
      gap();
      store(a, element.store);
      break;
    case 1: {  // pattern 2
      const std::string sum = data();
      need({sum});
      lines_.push_back("v_mac_f32 " + sum + ", " + a + ", " + b);
      break;
    }
    case 2:  // pattern 5
    case 3:  // pattern 6
      lines_.push_back("v_cmp_gt_f32 vcc, " + b + ", " + a);
      lines_.push_back("v_cndmask_b32 v18, 0, v0, vcc");
      break;
    case 4:  // pattern 3
      store(a, element.store);
      break;
    case 6:  // pattern 8, or 9 if the result is stored
      lines_.push_back("v_mul_f32 " + b + ", s3, " + b);
      lines_.push_back("v_add_f32 " + a + ", " + a + ", " + b);
      if (pick(2) == 0) store(a, element.store);
      break;
    default:  // two operations on one value
      lines_.push_back("v_mul_f32 " + a + ", s10, " + a);
      lines_.push_back("v_add_f32 " + a + ", s3, " + a);
      store(a, element.store);
  }
  // In three of four cases, overwrites the registers, so that no later instruction reads the values. Otherwise, later reads
  // may prevent a chain.
  if (pick(4) == 0) return;
  need({a});
  lines_.push_back("v_cvt_f32_u32 " + a + ", v0");
  if (!second) return;
  need({b});
  lines_.push_back("v_cvt_f32_u32 " + b + ", v2");
}

std::vector<std::vector<std::uint32_t>> assembled(const std::vector<std::vector<std::string>>& programs, isa::Target target) {
  std::vector<std::string> lines;
  for (const std::vector<std::string>& program : programs) {
    for (const std::string& line : program) lines.push_back(translated(line, target));
    lines.emplace_back("s_endpgm");
  }
  const auto words = isa::test::assemble_by_llvm(lines, target);
  std::vector<std::vector<std::uint32_t>> codes;
  std::size_t next = 0;
  for (const std::vector<std::string>& program : programs) {
    codes.emplace_back();
    for (std::size_t i = 0; i <= program.size(); ++i, ++next)
      codes.back().insert(codes.back().end(), words[next].begin(), words[next].end());
  }
  return codes;
}

}  // namespace lacuna::test

#include "tests/isa/llvm_oracle.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/isa/llvm_assembler.h"

namespace lacuna::isa::test {
namespace {

// Words of a case and its padding. No instruction of gfx8 and gfx9 has more than two words, so an instruction that begins in
// the case's last word ends before the next case. Padding is short, because LLVM prints it, too.
constexpr unsigned kStride = 4;
constexpr std::uint32_t kNop = 0xbf800000;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lacuna-isa-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string run(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run: " + command);
  std::string output;
  std::array<char, 65536> buffer;
  std::size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) output.append(buffer.data(), count);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + output.substr(0, 2000));
  return output;
}

std::string cpu(Target target) { return std::string(traits(target).name); }

void assemble(const std::string& source, const std::string& object, Target target) {
  run(std::string(LACUNA_LLVM_MC) + " -arch=amdgcn -mcpu=" + cpu(target) + " -filetype=obj -o " + object + " " + source +
      " 2>&1");
}

std::vector<ListingLine> list(const std::string& object, Target target) {
  const std::string listing =
      run(std::string(LACUNA_LLVM_OBJDUMP) + " -d -z --mcpu=" + cpu(target) + " " + object + " 2>/dev/null");
  std::vector<ListingLine> lines;
  std::istringstream in(listing);
  for (std::string line; std::getline(in, line);) {
    const std::size_t comment = line.rfind("// ");
    if (line.empty() || line[0] != '\t' || comment == std::string::npos) continue;
    ListingLine entry;
    std::string text = line.substr(1, comment - 1);
    text.erase(text.find_last_not_of(" \t") + 1);
    std::istringstream fields(line.substr(comment + 3));
    std::string field;
    fields >> field;
    entry.address = std::stoull(field, nullptr, 16);
    while (fields >> field && field.size() == 8 && field[0] != '<') {
      entry.words.push_back(static_cast<std::uint32_t>(std::stoul(field, nullptr, 16)));
    }
    // Unknown encodings are listed as data; "v_illegal" is LLVM's name for some of them.
    if (text.rfind(".long", 0) != 0 && text.find("v_illegal") == std::string::npos) entry.text = text;
    lines.push_back(std::move(entry));
  }
  return lines;
}

}  // namespace

std::vector<OracleText> disassemble_by_llvm(const std::vector<Words>& cases, Target target) {
  const TemporaryFolder folder;
  std::ofstream source(folder.file("cases.s"));
  for (const Words& words : cases) {
    source << ".long ";
    for (const std::uint32_t word : words) source << word << ",";
    for (unsigned k = static_cast<unsigned>(words.size()); k < kStride; ++k) source << kNop << (k + 1 < kStride ? "," : "\n");
  }
  source.close();
  assemble(folder.file("cases.s"), folder.file("cases.o"), target);
  std::vector<OracleText> result(cases.size());
  std::size_t found = 0;
  for (ListingLine& line : list(folder.file("cases.o"), target)) {
    if (line.address % (kStride * 4) != 0) continue;
    result.at(line.address / (kStride * 4)) = {std::move(line.text), static_cast<unsigned>(line.words.size() * 4)};
    ++found;
  }
  if (found != cases.size()) throw std::runtime_error("an instruction reaches into the next case");
  return result;
}

std::vector<std::vector<std::uint32_t>> assemble_by_llvm(const std::vector<std::string>& lines, Target target) {
  std::string source;
  for (const std::string& line : lines) source += line + '\n';
  return assembled_words(source, target);
}

std::vector<ListingLine> list_code_object(const std::string& path, Target target) { return list(path, target); }

}  // namespace lacuna::isa::test

#include "tests/isa/llvm_assembler.h"

#include <dlfcn.h>
#include <elf.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>

namespace lacuna::isa::test {
namespace {

constexpr const char* kTriple = "amdgcn";
constexpr int kNoOptimisation = 0;  // LLVMCodeGenLevelNone
constexpr int kDefault = 0;         // LLVMRelocDefault, LLVMCodeModelDefault
constexpr int kObjectFile = 1;      // LLVMObjectFile
constexpr int kError = 0;           // LLVMDSError

/// The functions of LLVM's C interface that are used here, from the library that CMake has found. The library's objects are
/// opaque.
class Llvm {
 public:
  static const Llvm& instance() {
    static const Llvm llvm;
    return llvm;
  }

  using DiagnosticHandler = void (*)(void* info, void* messages);
  void* (*context_create)() = function("LLVMContextCreate");
  void (*context_dispose)(void*) = function("LLVMContextDispose");
  void (*set_diagnostic_handler)(void* context, DiagnosticHandler,
                                 void* messages) = function("LLVMContextSetDiagnosticHandler");
  char* (*diagnostic_description)(void* info) = function("LLVMGetDiagInfoDescription");
  int (*diagnostic_severity)(void* info) = function("LLVMGetDiagInfoSeverity");
  void (*dispose_message)(char*) = function("LLVMDisposeMessage");
  void* (*module_create)(const char* name, void* context) = function("LLVMModuleCreateWithNameInContext");
  void (*module_dispose)(void*) = function("LLVMDisposeModule");
  void (*set_target)(void* module, const char* triple) = function("LLVMSetTarget");
  void (*set_assembly)(void* module, const char* text, std::size_t size) = function("LLVMSetModuleInlineAsm2");
  int (*target_from_triple)(const char* triple, void** target, char** error) = function("LLVMGetTargetFromTriple");
  void* (*machine_create)(void* target, const char* triple, const char* cpu, const char* features, int level, int relocation,
                          int code_model) = function("LLVMCreateTargetMachine");
  void (*machine_dispose)(void*) = function("LLVMDisposeTargetMachine");
  int (*emit)(void* machine, void* module, int type, char** error,
              void** buffer) = function("LLVMTargetMachineEmitToMemoryBuffer");
  const char* (*buffer_start)(void*) = function("LLVMGetBufferStart");
  std::size_t (*buffer_size)(void*) = function("LLVMGetBufferSize");
  void (*buffer_dispose)(void*) = function("LLVMDisposeMemoryBuffer");
  void* (*disassembler_create)(const char* triple, const char* cpu, const char* features, void*, int, void*,
                               void*) = function("LLVMCreateDisasmCPUFeatures");
  void (*disassembler_dispose)(void*) = function("LLVMDisasmDispose");
  std::size_t (*disassemble)(void*, const std::uint8_t* bytes, std::uint64_t size, std::uint64_t pc, char* text,
                             std::size_t text_size) = function("LLVMDisasmInstruction");

 private:
  /// Address of a function, which converts to the function pointer type of the variable that it initialises.
  struct Function {
    void* address;
    template <class Pointer>
    operator Pointer() const {  // NOLINT: the implicit conversion is intended
      return reinterpret_cast<Pointer>(address);
    }
  };

  Llvm() {
    for (const char* part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser", "Disassembler"}) {
      void (*initialise)() = function((std::string("LLVMInitializeAMDGPU") + part).c_str());
      initialise();
    }
  }
  Function function(const char* name) {
    if (library_ == nullptr) library_ = ::dlopen(LACUNA_LLVM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void* address = library_ != nullptr ? ::dlsym(library_, name) : nullptr;
    if (address == nullptr) throw std::runtime_error(std::string(LACUNA_LLVM_LIBRARY) + ": " + ::dlerror());
    return {address};
  }

  static inline void* library_ = nullptr;
};

std::string cpu(Target target) { return std::string(traits(target).name); }

void collect(void* info, void* messages) {
  const Llvm& llvm = Llvm::instance();
  if (llvm.diagnostic_severity(info) != kError) return;
  char* text = llvm.diagnostic_description(info);
  *static_cast<std::string*>(messages) += std::string(text) + '\n';
  llvm.dispose_message(text);
}

/// The contents of the section .text.
std::vector<std::uint8_t> text_of(std::span<const char> object) {
  const auto at = [&]<class T>(T, std::size_t offset) {
    T value;
    if (offset + sizeof value > object.size()) throw std::runtime_error("LLVM's object file is cut off");
    std::memcpy(&value, object.data() + offset, sizeof value);
    return value;
  };
  const Elf64_Ehdr header = at(Elf64_Ehdr{}, 0);
  const auto section = [&](std::size_t index) { return at(Elf64_Shdr{}, header.e_shoff + index * sizeof(Elf64_Shdr)); };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (std::size_t index = 0; index < header.e_shnum; ++index) {
    const Elf64_Shdr one = section(index);
    if (std::string(object.data() + names.sh_offset + one.sh_name) == ".text")
      return {object.begin() + static_cast<std::ptrdiff_t>(one.sh_offset),
              object.begin() + static_cast<std::ptrdiff_t>(one.sh_offset + one.sh_size)};
  }
  return {};
}

std::vector<std::uint8_t> assemble(const std::string& source, Target target) {
  const Llvm& llvm = Llvm::instance();
  std::string messages;
  char* error = nullptr;
  const auto complain = [&](const std::string& what) {
    if (error != nullptr) {
      messages += error;
      llvm.dispose_message(error);
    }
    throw std::runtime_error(what + ": " + messages + "\n" + source.substr(0, 2000));
  };
  const std::unique_ptr<void, void (*)(void*)> context(llvm.context_create(), llvm.context_dispose);
  llvm.set_diagnostic_handler(context.get(), collect, &messages);
  const std::unique_ptr<void, void (*)(void*)> module(llvm.module_create("source", context.get()), llvm.module_dispose);
  llvm.set_target(module.get(), kTriple);
  llvm.set_assembly(module.get(), source.data(), source.size());
  void* known = nullptr;
  if (llvm.target_from_triple(kTriple, &known, &error) != 0) complain("no target");
  const std::unique_ptr<void, void (*)(void*)> machine(
      llvm.machine_create(known, kTriple, cpu(target).c_str(), "", kNoOptimisation, kDefault, kDefault), llvm.machine_dispose);
  void* buffer = nullptr;
  if (llvm.emit(machine.get(), module.get(), kObjectFile, &error, &buffer) != 0) complain("not assembled");
  const std::unique_ptr<void, void (*)(void*)> object(buffer, llvm.buffer_dispose);
  if (!messages.empty()) complain("not assembled");
  return text_of({llvm.buffer_start(buffer), llvm.buffer_size(buffer)});
}

}  // namespace

std::vector<std::vector<std::uint32_t>> assembled_words(const std::string& source, Target target) {
  const Llvm& llvm = Llvm::instance();
  const std::vector<std::uint8_t> code = assemble(source, target);
  const std::unique_ptr<void, void (*)(void*)> disassembler(
      llvm.disassembler_create(kTriple, cpu(target).c_str(), "", nullptr, 0, nullptr, nullptr), llvm.disassembler_dispose);
  std::vector<std::vector<std::uint32_t>> instructions;
  for (std::size_t at = 0; at < code.size();) {
    std::array<char, 256> text;
    const std::size_t known =
        llvm.disassemble(disassembler.get(), code.data() + at, code.size() - at, at, text.data(), text.size());
    // Data, which .long declares, is listed word by word.
    std::vector<std::uint32_t> words((known != 0 ? known : sizeof(std::uint32_t)) / sizeof(std::uint32_t));
    std::memcpy(words.data(), code.data() + at, words.size() * sizeof(std::uint32_t));
    at += words.size() * sizeof(std::uint32_t);
    instructions.push_back(std::move(words));
  }
  return instructions;
}

}  // namespace lacuna::isa::test

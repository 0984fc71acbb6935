// What each statement of a launch program does.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "models/common/config/nearest_name.h"
#include "platform/launch/launch_error.h"
#include "platform/launch/launch_plan.h"
#include "platform/launch/launch_session.h"
#include "platform/launch/saved_file.h"
#include "platform/launch/text.h"
#include "platform/loaders/offload_bundle.h"

namespace lacuna {
namespace {

using Kind = LaunchStatement::Kind;

/// Private memory of a work-item for callees that the compiler does not know: what LLVM assumes up to code object version 4
/// (-amdgpu-assume-external-call-stack-size).
constexpr std::uint32_t kUnknownStack = 16384;
constexpr std::uint64_t kLargestStack = 1 << 24;
constexpr std::int64_t kLargestWorkgroup = 1024;  // of the packet processor
/// The buffer that a kernel with printf gets: its header says that there is no room, so that nothing is printed.
constexpr std::string_view kPrintfBuffer = "printf buffer";
constexpr std::uint64_t kPrintfBytes = 64;

/// Bytes in memory as a file for reading.
class MemoryFile final : public GuestFile {
 public:
  explicit MemoryFile(std::shared_ptr<const CodeObject> object) : object_(std::move(object)) {}
  std::int64_t read(std::span<std::byte> bytes) override {
    const auto all = object_->elf().bytes();
    const std::size_t count = std::min(bytes.size(), all.size() - position_);
    std::memcpy(bytes.data(), all.data() + position_, count);
    position_ += count;
    return static_cast<std::int64_t>(count);
  }
  std::int64_t write(std::span<const std::byte>) override { return errno = EBADF, -1; }
  bool seek(std::uint64_t) override { return errno = ESPIPE, false; }
  std::int64_t length() override { return static_cast<std::int64_t>(object_->elf().bytes().size()); }

 private:
  std::shared_ptr<const CodeObject> object_;
  std::size_t position_ = 0;
};

}  // namespace

void LaunchSession::execute_constants(const LaunchStatement& statement) {
  // Executed again when an element has to be fetched first: nothing may have changed by then.
  auto variables = state_.scope.variables;
  for (const LaunchKey& key : statement.keys) {
    line_ = key.line;
    std::string text = key.value;
    if (statement.kind == Kind::constants)
      for (const LaunchKey& definition : program_.definitions)
        if (definition.name == key.name) text = definition.value;
    try {
      state_.scope.variables[key.name] = evaluate(text, state_.scope);
    } catch (const ElementWanted&) {
      state_.scope.variables = std::move(variables);
      throw;
    }
    // What follows depends on a guess.
    if (rehearsing_ && guessed_) lenient_until_ = program_.statements.size();
  }
}

std::shared_ptr<const CodeObject> LaunchSession::read_code(const std::filesystem::path& file) {
  std::vector<CodeObject> objects = read_code_objects(file);
  inputs_.insert(file);
  const auto chosen = std::find_if(objects.begin(), objects.end(),
                                   [&](const CodeObject& o) { return isa::traits(o.target()).name == wanted_target_; });
  auto object = std::make_shared<const CodeObject>(std::move(chosen != objects.end() ? *chosen : objects.front()));
  if (wanted_target_.empty()) wanted_target_ = isa::traits(object->target()).name;
  code_objects_[file.string()] = object;
  return object;
}

void LaunchSession::execute_code(const LaunchStatement& statement) {
  const LaunchKey& key = *statement.key("file");
  line_ = key.line;
  for (const Code& code : state_.codes)
    if (code.name == statement.name) throw LaunchError("code object " + statement.name + " is loaded twice");
  const std::filesystem::path file = program_.folder / value(key.value);
  const auto known = code_objects_.find(file.string());
  const std::shared_ptr<const CodeObject> object = known != code_objects_.end() ? known->second : read_code(file);
  if (object->target() != target())
    throw LaunchError(file.string() + ": is for " + std::string(isa::traits(object->target()).name) +
                      ", the first code object is for " + std::string(isa::traits(target()).name));
  state_.codes.push_back({statement.name, object});
  emit(LAUNCH_LOAD, launch_load{.header = {},
                                .code = static_cast<std::uint32_t>(state_.codes.size() - 1),
                                .stream = add_stream([object] { return std::make_unique<MemoryFile>(object); }),
                                .bytes = object->elf().bytes().size()});
}

void LaunchSession::add_printf_buffer() {
  Buffer made;
  made.bytes = kPrintfBytes;
  add_buffer(std::string(kPrintfBuffer), made);
}

void LaunchSession::execute_buffer(const LaunchStatement& statement) {
  const auto existing = state_.buffers.find(statement.name);
  if (existing != state_.buffers.end()) {
    if (statement.in_place && existing->second.line == statement.line) return;
    throw LaunchError("buffer " + statement.name + " exists already" +
                      (existing->second.line != 0 ? ", since line " + std::to_string(existing->second.line) : ""));
  }
  const LaunchKey& key = *statement.key("contents");
  line_ = key.line;
  const BufferSpec spec = parse_buffer(value(key.value), context());
  Buffer made;
  made.bytes = spec.contents.bytes;
  made.line = statement.line;
  made.type = spec.type;
  made.save = spec.save;
  if (const LaunchKey* type = statement.key("type")) made.type = require_element_type(type->value);
  if (const LaunchKey* save = statement.key("save")) {
    made.save = program_.folder / value(save->value);
    require_writable(*made.save);
  }
  if (const LaunchKey* compare = statement.key("compare")) made.compare = program_.folder / value(compare->value);
  if (const LaunchKey* tolerance = statement.key("tolerance")) made.tolerance = parse_tolerance(tolerance->value, state_.scope);
  add_buffer(statement.name, made);
  if (spec.contents.kind != Contents::Kind::zero) upload(buffer(statement.name), spec.contents);
}

void LaunchSession::execute_write(const LaunchStatement& statement) {
  const Buffer& to = buffer(value(statement.name));
  const LaunchKey& key = *statement.key("contents");
  line_ = key.line;
  const BufferSpec spec = parse_buffer(value(key.value), context());
  if (spec.save) throw LaunchError("[write] cannot save: use [save " + statement.name + ']');
  if (spec.contents.bytes > to.bytes)
    throw LaunchError(std::to_string(spec.contents.bytes) + " bytes of contents for buffer " + statement.name + ", which has " +
                      std::to_string(to.bytes));
  upload(to, spec.contents);
}

void LaunchSession::execute_save(const LaunchStatement& statement) {
  const Buffer& from = buffer(value(statement.name));
  const LaunchKey& key = *statement.key("file");
  line_ = key.line;
  const std::filesystem::path file = program_.folder / value(key.value);
  require_writable(file);
  download(from, 0, from.bytes, [this, file, bytes = from.bytes] { return open_saved_file(file, bytes, lost_); });
}

void LaunchSession::execute_compare(const LaunchStatement& statement) {
  const std::string name = value(statement.name);
  const Buffer& compared = buffer(name);
  const LaunchKey* const tolerance = statement.key("tolerance");
  compare_buffer(name, compared, program_.folder / value(statement.key("file")->value),
                 tolerance != nullptr ? parse_tolerance(tolerance->value, state_.scope) : compared.tolerance);
}

void LaunchSession::compare_buffer(const std::string& name, const Buffer& compared, const std::filesystem::path& reference,
                                   const Tolerance& tolerance) {
  check_comparison(reference, compared.bytes, tolerance, compared.type);
  inputs_.insert(reference);
  if (rehearsing_) return;
  ComparisonResult& result = comparisons_.emplace_back();
  result.buffer = name;
  result.reference = reference.string();
  download(compared, 0, compared.bytes, [reference, tolerance, type = compared.type, &result] {
    return open_comparison(reference, tolerance, type, result);
  });
}

void LaunchSession::execute_condition(const LaunchStatement& statement) {
  if (statement.kind == Kind::loop)
    state_.scope.variables[statement.first.name] = evaluate(statement.first.value, state_.scope);
  const bool enters = evaluate(statement.condition, state_.scope).truth();
  if (rehearsing_) {
    // The body is rehearsed in any case, but with values that it may not have been written for.
    if (!enters) lenient_until_ = std::max(lenient_until_, statement.partner);
  } else if (!enters) {
    state_.next = statement.partner + 1;
  }
}

void LaunchSession::execute_end(const LaunchStatement& statement) {
  if (rehearsing_) return;
  const LaunchStatement& opener = program_.statements[statement.partner];
  line_ = opener.line;
  if (opener.kind == Kind::while_loop) state_.next = statement.partner;
  if (opener.kind != Kind::loop) return;
  // The condition may have to wait for the GPU: the variable must not count twice.
  Number& variable = state_.scope.variables[opener.next.name];
  const Number before = variable;
  const Number after = evaluate(opener.next.value, state_.scope);
  variable = after;
  try {
    if (evaluate(opener.condition, state_.scope).truth()) state_.next = statement.partner + 1;
  } catch (...) {
    variable = before;
    throw;
  }
}

const LaunchSession::Code& LaunchSession::code_of(const LaunchStatement& statement) const {
  if (state_.codes.empty()) throw LaunchError("no [code] stands before the dispatch");
  const LaunchKey* const key = statement.key("code");
  if (key == nullptr) return state_.codes.front();
  std::vector<std::string> names;
  for (const Code& code : state_.codes) {
    if (code.name == key->value) return code;
    names.push_back(code.name);
  }
  throw LaunchError("unknown code object " + key->value + did_you_mean(nearest_name(names, key->value)));
}

KernelCall LaunchSession::read_call(const LaunchStatement& statement, const KernelMetadata& kernel) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto read = [&](const char* name, auto& size, std::int64_t least) {
    const LaunchKey* const key = statement.key(name);
    if (key == nullptr) return false;
    line_ = key->line;
    const std::vector<std::string> parts = split_outside(value(key->value), ',');
    if (parts.size() > 3) throw LaunchError(std::string(name) + " has more than three dimensions");
    for (std::size_t d = 0; d < parts.size(); ++d)
      size[d] = static_cast<std::uint32_t>(evaluate_integer(parts[d], state_.scope, least, kMost));
    return true;
  };
  KernelCall call;
  if (!read("block", call.block, 1)) {
    const bool required = kernel.required_workgroup_size[0] != 0;
    call.block = required ? kernel.required_workgroup_size : std::array<std::uint32_t, 3>{isa::kLanes, 1, 1};
  }
  read("offset", call.offset, 0);
  if (!read("grid", call.grid, 1)) {
    read("blocks", call.grid, 1);
    for (unsigned d = 0; d < 3; ++d) {
      const std::uint64_t items = std::uint64_t{call.grid[d]} * call.block[d];
      if (items > static_cast<std::uint64_t>(kMost))
        throw LaunchError("the grid has more than 2^32 - 1 work-items in a dimension");
      call.grid[d] = static_cast<std::uint32_t>(items);
    }
  }
  if (const LaunchKey* key = statement.key("max_block")) {
    line_ = key->line;
    call.max_block = static_cast<std::uint32_t>(evaluate_integer(value(key->value), state_.scope, 1, kLargestWorkgroup));
  }
  for (const LaunchKey& key : statement.keys) {
    if (key.name != "arg") continue;
    line_ = key.line;
    call.arguments.push_back(parse_argument(value(key.value), context()));
  }
  line_ = statement.line;
  return call;
}

void LaunchSession::warn_of_services(const KernelMetadata& kernel) {
  if (!rehearsing_ || !warned_.insert(kernel.name).second) return;
  if (kernel.argument("hidden_printf_buffer") != nullptr)
    warnings_.push_back("kernel " + kernel.name + " can print: what it prints is dropped");
  if (kernel.argument("hidden_hostcall_buffer") != nullptr)
    warnings_.push_back("kernel " + kernel.name + " can call the host (printf, assert, malloc): it will fault when it does");
}

void LaunchSession::warn_of_block(const KernelMetadata& kernel, const KernelCall& call) {
  const std::uint64_t items = std::uint64_t{call.block[0]} * call.block[1] * call.block[2];
  if (!rehearsing_ || kernel.max_workgroup_size == 0 || items <= kernel.max_workgroup_size) return;
  if (!warned_.insert(kernel.name + " block").second) return;
  warnings_.push_back("kernel " + kernel.name + " gets blocks of " + std::to_string(items) +
                      " work-items by max_block; it was compiled for at most " + std::to_string(kernel.max_workgroup_size));
}

std::uint32_t LaunchSession::kernel_number(const Code& code, const KernelMetadata& kernel, std::uint32_t stack) {
  const auto code_index = static_cast<std::uint32_t>(&code - state_.codes.data());
  const auto number = static_cast<std::uint32_t>(state_.kernels.size());
  const auto [entry, is_new] = state_.kernels.try_emplace({std::to_string(code_index) + '/' + kernel.name, stack}, number);
  if (is_new) {
    const std::string name = record_text(kernel.name);
    emit(LAUNCH_KERNEL,
         launch_kernel{.header = {},
                       .kernel = number,
                       .code = code_index,
                       .private_segment_bytes = stack,
                       .name_bytes = static_cast<std::uint32_t>(name.size())},
         std::as_bytes(std::span(name)));
  }
  return entry->second;
}

void LaunchSession::execute_dispatch(const LaunchStatement& statement) {
  const Code& code = code_of(statement);
  const KernelMetadata& kernel = code.object->kernel(statement.name);
  const std::vector<KernelEntry>& entries = code.object->entries();
  if (std::none_of(entries.begin(), entries.end(), [&](const KernelEntry& entry) { return entry.name == kernel.name; }))
    throw LaunchError(code.object->name() + ": the metadata list kernel " + kernel.name + ", but no symbol says where it is");
  std::uint32_t stack = kernel.private_segment_size;
  if (const LaunchKey* key = statement.key("stack")) {
    line_ = key->line;
    stack = std::max(stack, static_cast<std::uint32_t>(parse_size(value(key->value), state_.scope, kLargestStack)));
  } else if (kernel.dynamic_stack) {
    stack = std::max(stack, kUnknownStack);
  }
  if (rehearsing_) {
    private_bytes_ = std::max(private_bytes_, stack);
    kernarg_bytes_ = std::max(kernarg_bytes_, kernel.kernarg_size);
    warn_of_services(kernel);
  } else if (stack > private_bytes_) {
    throw LaunchError("stack = " + std::to_string(stack) + ": a stack must not grow during a loop");
  }
  std::uint32_t repeat = 1;
  if (const LaunchKey* key = statement.key("repeat")) {
    line_ = key->line;
    repeat = static_cast<std::uint32_t>(
        evaluate_integer(value(key->value), state_.scope, 0, std::numeric_limits<std::uint32_t>::max()));
  }
  const KernelCall call = read_call(statement, kernel);
  const ArgumentSegment segment = lay_out_arguments(kernel, call, [&](const std::string& name) -> BufferPlace {
    if (name == kPrintfBuffer && state_.buffers.find(name) == state_.buffers.end()) add_printf_buffer();
    const Buffer& found = buffer(name);
    return {found.index, found.bytes};
  });
  warn_of_block(kernel, call);
  // A buffer's elements are what the first kernel that gets it says.
  std::size_t number = 0;
  for (const ArgumentValue& argument : call.arguments) {
    const KernelArgument* const parameter = parameter_of(kernel, number++);
    if (argument.kind != ArgumentValue::Kind::buffer || parameter == nullptr) continue;
    Buffer& bound = buffer(argument.buffer);
    if (!bound.type) bound.type = element_type_of_source(parameter->type_name);
  }
  launch_dispatch record{};
  record.kernel = kernel_number(code, kernel, stack);
  record.repeat = repeat;
  for (unsigned d = 0; d < 3; ++d) {
    record.grid[d] = call.grid[d];
    record.workgroup[d] = static_cast<std::uint16_t>(call.block[d]);
  }
  record.dynamic_group_bytes = segment.dynamic_group_bytes;
  record.patches = static_cast<std::uint32_t>(segment.patches.size());
  record.argument_bytes = static_cast<std::uint32_t>(segment.bytes.size());
  emit(LAUNCH_DISPATCH, record, std::as_bytes(std::span(segment.patches)), segment.bytes);
}

}  // namespace lacuna

#include "platform/launch/launch_interpreter.h"

#include <algorithm>
#include <array>
#include <limits>

#include "platform/launch/launch_error.h"
#include "platform/launch/launch_plan.h"
#include "platform/launch/text.h"

namespace lacuna {
namespace {

using Kind = LaunchStatement::Kind;

constexpr std::uint32_t kQueuePackets = 1024;
/// Private memory in bytes per work-item that is assumed for callees unknown to the compiler, as in LLVM up to code object
/// version 4 (-amdgpu-assume-external-call-stack-size).
constexpr std::uint32_t kUnknownStack = 16384;
constexpr std::uint64_t kLargestStack = 1 << 24;
constexpr std::int64_t kLargestWorkgroup = 1024;  // limit of the packet processor
/// Name of the buffer for kernels with printf. Its header is all zero, which means that it has no room, so nothing is printed.
constexpr std::string_view kPrintfBuffer = "printf buffer";
constexpr std::uint64_t kPrintfBytes = 64;

}  // namespace

LaunchInterpreter::LaunchInterpreter(LaunchProgram program, std::string wanted_target, PlanStream& plan)
    : program_(std::move(program)),
      plan_(plan),
      codes_(plan, std::move(wanted_target)),
      buffers_(plan),
      inputs_{program_.file} {}

void LaunchInterpreter::begin(bool rehearsing) {
  rehearsing_ = rehearsing;
  plan_.begin(rehearsing);
  codes_.begin();
  buffers_.begin();
  scope_ = {};
  scope_.element = [this](const std::string& name, std::int64_t index) { return buffers_.element(name, index); };
  next_ = 0;
  finished_ = false;
}

void LaunchInterpreter::rehearse() {
  begin(true);
  while (!finished_) step();
  if (codes_.empty()) throw LaunchError(program_.file + ": no code object is loaded");
  begin(false);
  plan_.emit(LAUNCH_QUEUE, launch_queue{.header = {},
                                        .packets = kQueuePackets,
                                        .kernarg_bytes = std::max<std::uint32_t>((kernarg_bytes_ + 63) / 64 * 64, 64),
                                        .private_segment_bytes = private_bytes_,
                                        .reserved = 0});
}

void LaunchInterpreter::step() {
  buffers_.take_element();
  if (next_ == program_.statements.size()) {
    plan_.set_line(0);
    finish();
    return;
  }
  const std::size_t index = next_;
  const LaunchStatement& statement = program_.statements[index];
  plan_.set_line(statement.line);
  buffers_.reset_guess();
  try {
    ++next_;  // a statement that jumps overwrites it
    execute(statement);
    buffers_.drop_elements();
  } catch (const LaunchBuffers::ElementWanted&) {
    next_ = index;
  } catch (const std::runtime_error& e) {
    const bool tentative = rehearsing_ && (buffers_.has_guessed() || index < lenient_until_);
    if (!tentative) throw LaunchError(program_.location(plan_.line()) + e.what());
  }
}

void LaunchInterpreter::execute(const LaunchStatement& statement) {
  switch (statement.kind) {
    case Kind::constants:
    case Kind::set:
      return execute_constants(statement);
    case Kind::code:
      return execute_code(statement);
    case Kind::buffer:
      return execute_buffer(statement);
    case Kind::dispatch:
      return execute_dispatch(statement);
    case Kind::loop:
    case Kind::while_loop:
    case Kind::branch:
      return execute_condition(statement);
    case Kind::end:
      return execute_end(statement);
    case Kind::write:
      return execute_write(statement);
    case Kind::save:
      return execute_save(statement);
    case Kind::compare:
      return execute_compare(statement);
  }
}

void LaunchInterpreter::execute_constants(const LaunchStatement& statement) {
  // The statement is executed again if an element has to be fetched, so it must not leave partial effects.
  auto variables = scope_.variables;
  for (const LaunchKey& key : statement.keys) {
    plan_.set_line(key.line);
    std::string text = key.value;
    if (statement.kind == Kind::constants)
      for (const LaunchKey& definition : program_.definitions)
        if (definition.name == key.name) text = definition.value;
    try {
      scope_.variables[key.name] = evaluate(text, scope_);
    } catch (const LaunchBuffers::ElementWanted&) {
      scope_.variables = std::move(variables);
      throw;
    }
    // Ignore errors of all following statements, which may depend on the guessed value.
    if (rehearsing_ && buffers_.has_guessed()) lenient_until_ = program_.statements.size();
  }
}

void LaunchInterpreter::execute_code(const LaunchStatement& statement) {
  const LaunchKey& key = *statement.key("file");
  plan_.set_line(key.line);
  codes_.load(statement.name, program_.folder / value(key.value), inputs_);
}

void LaunchInterpreter::execute_buffer(const LaunchStatement& statement) {
  if (const LaunchBuffer* const existing = buffers_.lookup(statement.name)) {
    if (statement.in_place && existing->line == statement.line) return;
    throw LaunchError("buffer " + statement.name + " exists already" +
                      (existing->line != 0 ? ", since line " + std::to_string(existing->line) : ""));
  }
  const LaunchKey& key = *statement.key("contents");
  plan_.set_line(key.line);
  const BufferSpec spec = parse_buffer(value(key.value), context());
  LaunchBuffer made;
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
  if (const LaunchKey* tolerance = statement.key("tolerance")) made.tolerance = parse_tolerance(tolerance->value, scope_);
  const LaunchBuffer& added = buffers_.add(statement.name, made);
  if (spec.contents.kind != Contents::Kind::zero) buffers_.upload(added, spec.contents);
}

void LaunchInterpreter::execute_write(const LaunchStatement& statement) {
  const LaunchBuffer& to = buffers_.find(value(statement.name));
  const LaunchKey& key = *statement.key("contents");
  plan_.set_line(key.line);
  const BufferSpec spec = parse_buffer(value(key.value), context());
  if (spec.save) throw LaunchError("[write] cannot save: use [save " + statement.name + ']');
  if (spec.contents.bytes > to.bytes)
    throw LaunchError(std::to_string(spec.contents.bytes) + " bytes of contents for buffer " + statement.name + ", which has " +
                      std::to_string(to.bytes));
  buffers_.upload(to, spec.contents);
}

void LaunchInterpreter::execute_save(const LaunchStatement& statement) {
  const LaunchBuffer& from = buffers_.find(value(statement.name));
  const LaunchKey& key = *statement.key("file");
  plan_.set_line(key.line);
  const std::filesystem::path file = program_.folder / value(key.value);
  require_writable(file);
  buffers_.save(from, file);
}

void LaunchInterpreter::execute_compare(const LaunchStatement& statement) {
  const std::string name = value(statement.name);
  const LaunchBuffer& compared = buffers_.find(name);
  const LaunchKey* const tolerance = statement.key("tolerance");
  compare_buffer(name, compared, program_.folder / value(statement.key("file")->value),
                 tolerance != nullptr ? parse_tolerance(tolerance->value, scope_) : compared.tolerance);
}

void LaunchInterpreter::compare_buffer(const std::string& name, const LaunchBuffer& compared,
                                       const std::filesystem::path& reference, const Tolerance& tolerance) {
  buffers_.compare(name, compared, reference, tolerance);
  inputs_.insert(reference);
}

void LaunchInterpreter::execute_condition(const LaunchStatement& statement) {
  if (statement.kind == Kind::loop) scope_.variables[statement.first.name] = evaluate(statement.first.value, scope_);
  const bool enters = evaluate(statement.condition, scope_).truth();
  if (rehearsing_) {
    // The body is rehearsed even if the run would not enter it. Errors in such a body are ignored, because values may be
    // outside of the intended range.
    if (!enters) lenient_until_ = std::max(lenient_until_, statement.partner);
  } else if (!enters) {
    next_ = statement.partner + 1;
  }
}

void LaunchInterpreter::execute_end(const LaunchStatement& statement) {
  if (rehearsing_) return;
  const LaunchStatement& opener = program_.statements[statement.partner];
  plan_.set_line(opener.line);
  if (opener.kind == Kind::while_loop) next_ = statement.partner;
  if (opener.kind != Kind::loop) return;
  // If the condition has to wait for an element, this statement is executed again, so the variable is restored.
  Number& variable = scope_.variables[opener.next.name];
  const Number before = variable;
  const Number after = evaluate(opener.next.value, scope_);
  variable = after;
  try {
    if (evaluate(opener.condition, scope_).truth()) next_ = statement.partner + 1;
  } catch (...) {
    variable = before;
    throw;
  }
}

KernelCall LaunchInterpreter::read_call(const LaunchStatement& statement, const KernelMetadata& kernel) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto read = [&](const char* name, auto& size, std::int64_t least) {
    const LaunchKey* const key = statement.key(name);
    if (key == nullptr) return false;
    plan_.set_line(key->line);
    const std::vector<std::string> parts = split_outside(value(key->value), ',');
    if (parts.size() > 3) throw LaunchError(std::string(name) + " has more than three dimensions");
    for (std::size_t d = 0; d < parts.size(); ++d)
      size[d] = static_cast<std::uint32_t>(evaluate_integer(parts[d], scope_, least, kMost));
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
    plan_.set_line(key->line);
    call.max_block = static_cast<std::uint32_t>(evaluate_integer(value(key->value), scope_, 1, kLargestWorkgroup));
  }
  for (const LaunchKey& key : statement.keys) {
    if (key.name != "arg") continue;
    plan_.set_line(key.line);
    call.arguments.push_back(parse_argument(value(key.value), context()));
  }
  plan_.set_line(statement.line);
  return call;
}

std::uint32_t LaunchInterpreter::read_stack(const LaunchStatement& statement, const KernelMetadata& kernel) {
  std::uint32_t stack = kernel.private_segment_size;
  if (const LaunchKey* key = statement.key("stack")) {
    plan_.set_line(key->line);
    stack = std::max(stack, static_cast<std::uint32_t>(parse_size(value(key->value), scope_, kLargestStack)));
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
  return stack;
}

void LaunchInterpreter::warn_of_services(const KernelMetadata& kernel) {
  if (!rehearsing_ || !warned_.insert(kernel.name).second) return;
  if (kernel.argument("hidden_printf_buffer") != nullptr)
    warnings_.push_back("kernel " + kernel.name + " can print: its output is dropped");
  if (kernel.argument("hidden_hostcall_buffer") != nullptr)
    warnings_.push_back("kernel " + kernel.name + " can call the host (printf, assert, malloc): it will fault when it does");
}

void LaunchInterpreter::warn_of_block(const KernelMetadata& kernel, const KernelCall& call) {
  const std::uint64_t items = std::uint64_t{call.block[0]} * call.block[1] * call.block[2];
  if (!rehearsing_ || kernel.max_workgroup_size == 0 || items <= kernel.max_workgroup_size) return;
  if (!warned_.insert(kernel.name + " block").second) return;
  warnings_.push_back("kernel " + kernel.name + " gets blocks of " + std::to_string(items) +
                      " work-items by max_block; it was compiled for at most " + std::to_string(kernel.max_workgroup_size));
}

void LaunchInterpreter::execute_dispatch(const LaunchStatement& statement) {
  const LaunchKey* const code_key = statement.key("code");
  const LaunchCode& code = codes_.find(code_key != nullptr ? &code_key->value : nullptr);
  const KernelMetadata& kernel = code.object->kernel(statement.name);
  const std::vector<KernelEntry>& entries = code.object->entries();
  if (std::none_of(entries.begin(), entries.end(), [&](const KernelEntry& entry) { return entry.name == kernel.name; }))
    throw LaunchError(code.object->name() + ": the metadata list kernel " + kernel.name + ", but no symbol says where it is");
  const std::uint32_t stack = read_stack(statement, kernel);
  std::uint32_t repeat = 1;
  if (const LaunchKey* key = statement.key("repeat")) {
    plan_.set_line(key->line);
    repeat =
        static_cast<std::uint32_t>(evaluate_integer(value(key->value), scope_, 0, std::numeric_limits<std::uint32_t>::max()));
  }
  const KernelCall call = read_call(statement, kernel);
  const ArgumentSegment segment = lay_out_arguments(kernel, call, [&](const std::string& name) -> BufferPlace {
    if (name == kPrintfBuffer && buffers_.lookup(name) == nullptr) {
      LaunchBuffer printf_buffer;
      printf_buffer.bytes = kPrintfBytes;
      buffers_.add(name, printf_buffer);
    }
    const LaunchBuffer& found = buffers_.find(name);
    return {found.index, found.bytes};
  });
  warn_of_block(kernel, call);
  // The first kernel to which a buffer without an element type is passed determines this type.
  std::size_t number = 0;
  for (const ArgumentValue& argument : call.arguments) {
    const KernelArgument* const parameter = parameter_of(kernel, number++);
    if (argument.kind != ArgumentValue::Kind::buffer || parameter == nullptr) continue;
    LaunchBuffer& bound = buffers_.find(argument.buffer);
    if (!bound.type) bound.type = element_type_of_source(parameter->type_name);
  }
  launch_dispatch record{};
  record.kernel = codes_.kernel_number(code, kernel, stack);
  record.repeat = repeat;
  for (unsigned d = 0; d < 3; ++d) {
    record.grid[d] = call.grid[d];
    record.workgroup[d] = static_cast<std::uint16_t>(call.block[d]);
  }
  record.dynamic_group_bytes = segment.dynamic_group_bytes;
  record.patches = static_cast<std::uint32_t>(segment.patches.size());
  record.argument_bytes = static_cast<std::uint32_t>(segment.bytes.size());
  plan_.emit(LAUNCH_DISPATCH, record, std::as_bytes(std::span(segment.patches)), segment.bytes);
}

void LaunchInterpreter::finish() {
  for (const std::string& name : buffers_.names()) {
    const LaunchBuffer& made = buffers_.find(name);
    plan_.set_line(made.line);
    try {
      if (made.compare) compare_buffer(name, made, *made.compare, made.tolerance);
    } catch (const LaunchError& e) {
      throw LaunchError(program_.location(made.line) + "buffer " + name + ": " + e.what());
    }
    if (made.save) buffers_.save(made, *made.save);
  }
  plan_.set_line(0);
  plan_.emit(LAUNCH_END, launch_header{});
  finished_ = true;
}

}  // namespace lacuna

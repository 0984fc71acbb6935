#include "models/host/devices/plic.h"

#include <algorithm>
#include <string>

namespace lacuna {
namespace {

std::uint32_t bit(unsigned source) { return std::uint32_t{1} << (source % 32); }

}  // namespace

void PlicParameters::describe(ParameterSection& section) {
  bus.describe(section);
  section.add("max_priority", max_priority, "Highest priority of a source", {.range = {1, 0xffffffff}});
}

Plic::Plic(sc_core::sc_module_name module_name, const PlicParameters& parameters, unsigned sources, unsigned contexts)
    : MmioPeripheral(module_name, parameters.bus, Bytes{0x4000000}),
      source_lines("source", sources),
      interrupt("interrupt", contexts),
      max_priority_(parameters.max_priority),
      sources_(sources),
      priority_(sources + 1, 0),
      pending_(sources / 32 + 1, 0),
      in_service_(sources + 1, false),
      contexts_(contexts, Context{std::vector<std::uint32_t>(sources / 32 + 1, 0), 0}),
      levels_(contexts, false) {
  const auto words = static_cast<unsigned>(pending_.size());
  add_register({.name = "priority", .offset = 0, .width = 4, .count = sources + 1});
  add_register({.name = "pending", .offset = 0x1000, .width = 4, .mode = RegisterMode::read_only, .count = words});
  for (unsigned c = 0; c < contexts; ++c) {
    const std::string number = std::to_string(c);
    add_register({.name = "enable" + number, .offset = 0x2000 + 0x80 * std::uint64_t{c}, .width = 4, .count = words});
    add_register({.name = "threshold" + number, .offset = 0x200000 + 0x1000 * std::uint64_t{c}, .width = 4});
    add_register({.name = "claim" + number, .offset = 0x200004 + 0x1000 * std::uint64_t{c}, .width = 4});
  }
  SC_HAS_PROCESS(Plic);
  SC_METHOD(sample_sources);
  for (unsigned i = 0; i < sources; ++i) sensitive << source_lines[i];
  SC_METHOD(update_lines);
  sensitive << update_;
}

void Plic::reset() {
  std::fill(priority_.begin(), priority_.end(), 0);
  std::fill(pending_.begin(), pending_.end(), 0);
  std::fill(in_service_.begin(), in_service_.end(), false);
  for (Context& context : contexts_) {
    std::fill(context.enable.begin(), context.enable.end(), 0);
    context.threshold = 0;
  }
  sample_sources();
}

void Plic::sample_sources() {
  for (unsigned s = 1; s <= sources_; ++s) {
    if (source_lines[s - 1].read() && !in_service_[s]) pending_[s / 32] |= bit(s);
  }
  follow_requests();
}

unsigned Plic::best(const Context& context, std::uint32_t threshold) const {
  unsigned winner = 0;
  std::uint32_t highest = threshold;
  for (unsigned s = 1; s <= sources_; ++s) {
    if ((pending_[s / 32] & context.enable[s / 32] & bit(s)) == 0 || priority_[s] <= highest) continue;
    highest = priority_[s];
    winner = s;
  }
  return winner;
}

void Plic::follow_requests() {
  for (unsigned c = 0; c < contexts_.size(); ++c) {
    const bool level = best(contexts_[c], contexts_[c].threshold) != 0;
    if (level == levels_[c]) continue;
    levels_[c] = level;
    update_.notify(sc_core::SC_ZERO_TIME);
    report_line_change();
  }
}

void Plic::update_lines() {
  for (unsigned c = 0; c < contexts_.size(); ++c) interrupt[c].write(levels_[c]);
}

std::uint64_t Plic::read_register(const RegisterAccess& access) {
  if (access.reg.id == kPriority) return priority_[access.index];
  if (access.reg.id == kPending) return pending_[access.index];
  Context& context = contexts_[(access.reg.id - kFirstContext) / 3];
  switch ((access.reg.id - kFirstContext) % 3) {
    case 0:
      return context.enable[access.index];
    case 1:
      return context.threshold;
    default:
      break;
  }
  // The threshold masks the notification, not the claim (PLIC specification, chapter 7).
  const unsigned source = best(context, 0);
  if (!access.debug && source != 0) {
    pending_[source / 32] &= ~bit(source);
    in_service_[source] = true;
    follow_requests();
  }
  return source;
}

void Plic::write_register(const RegisterAccess& access, std::uint64_t value) {
  const auto word = static_cast<std::uint32_t>(value);
  if (access.reg.id == kPriority) {
    if (access.index != 0) priority_[access.index] = std::min(word, max_priority_);
  } else {
    Context& context = contexts_[(access.reg.id - kFirstContext) / 3];
    switch ((access.reg.id - kFirstContext) % 3) {
      case 0: {
        std::uint32_t existing = ~std::uint32_t{0};
        if (access.index == 0) existing &= ~std::uint32_t{1};
        if (access.index == sources_ / 32 && sources_ % 32 != 31) existing &= bit(sources_ + 1) - 1;
        context.enable[access.index] = word & existing;
        break;
      }
      case 1:
        context.threshold = std::min(word, max_priority_);
        break;
      default:
        if (access.debug || word == 0 || word > sources_ || (context.enable[word / 32] & bit(word)) == 0) return;
        in_service_[word] = false;
        if (source_lines[word - 1].read()) pending_[word / 32] |= bit(word);
        break;
    }
  }
  follow_requests();
}

}  // namespace lacuna

#include "models/common/config/extension_texts.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace lacuna {
namespace {

std::vector<ExtensionTexts>& registered_texts() {
  static std::vector<ExtensionTexts> all;
  return all;
}

}  // namespace

ExtensionSlots register_extension(const ExtensionTexts& machine) {
  ExtensionSlots next;
  for (const ExtensionTexts& other : registered_texts()) {
    if (other.name == machine.name) return next;
    next.first_cause += other.causes.size();
    next.first_count += other.counts.size();
  }
  if (next.first_cause + machine.causes.size() > kMostExtensionCauses ||
      next.first_count + machine.counts.size() > kMostExtensionCounts)
    throw std::length_error("no room for the columns of research machine " + std::string(machine.name));
  registered_texts().push_back(machine);
  return next;
}

std::span<const ExtensionTexts> extension_texts() { return registered_texts(); }

const StallText* extension_cause(std::size_t number) {
  for (const ExtensionTexts& machine : registered_texts()) {
    if (number < machine.causes.size()) return &machine.causes[number];
    number -= machine.causes.size();
  }
  return nullptr;
}

}  // namespace lacuna

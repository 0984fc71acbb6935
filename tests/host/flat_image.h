// Flat memory images of test programs and benchmarks (objcopy -O binary).
#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace lacuna::test {

/// Copies the file to the start of `memory`. Throws std::runtime_error if it cannot be read or does not fit.
inline void load_flat_image(const std::string& path, std::span<std::byte> memory) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  const auto size = static_cast<std::size_t>(file.tellg());
  if (size > memory.size()) throw std::runtime_error(path + " does not fit into memory");
  file.seekg(0).read(reinterpret_cast<char*>(memory.data()), static_cast<std::streamsize>(size));
}

}  // namespace lacuna::test

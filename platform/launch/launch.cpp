#include "platform/launch/launch.h"

#include <iostream>
#include <string>

#include "platform/launch/launch_plan.h"
#include "platform/launch/launch_request.h"
#include "platform/launch/launcher_image.h"
#include "platform/run/simulate.h"

namespace lacuna {

int launch(const CommandLine& line) {
  LaunchSession session = requested_launch(line);
  session.rehearse();

  CommandLine configured = line;
  configured.configuration = launch_configuration(line, session);
  const auto conclude = [&](int code, std::ostream* out) {
    if (const std::string& lost = session.lost_output(); !lost.empty()) {
      std::cerr << "lacuna: " << lost << '\n';
      return kExitOutput;
    }
    if (const std::string error = session.error(); !error.empty()) std::cerr << "lacuna: " << error << '\n';
    if (code != 0) return code;
    for (const ComparisonResult& comparison : session.comparisons()) {
      if (!comparison.equal()) code = kExitDifferent;
      if (!comparison.equal()) {
        std::cout << comparison.text();
      } else if (out != nullptr) {
        *out << comparison.text();
      }
    }
    return code;
  };
  return simulate(configured, {.elf = ElfFile(launcher_image(), "launcher"),
                               .name = line.input,
                               .warnings = session.warnings(),
                               .files = [&](const std::string& name) { return session.open(name); },
                               .code = [&] { return session.code_images(); },
                               .conclude = conclude});
}

}  // namespace lacuna

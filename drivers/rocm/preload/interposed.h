// For preloaded libraries: marks a function that replaces the C library's function of the same name.
#pragma once

#define LACUNA_INTERPOSED extern "C" __attribute__((visibility("default")))

// For libraries that are preloaded: a function that takes the place of the C library's.
#pragma once

#define LACUNA_INTERPOSED extern "C" __attribute__((visibility("default")))

#include "driver/error.h"

#include <stdarg.h>
#include <stdio.h>

static char last_error[512];

lacuna_error driver_error(lacuna_error error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return error;
}

const char* lacuna_last_error(void) { return last_error; }

const char* lacuna_error_string(lacuna_error error) {
#define LACUNA_ERROR_TEXT(name, text) text,
  static const char* const texts[] = {LACUNA_ERRORS(LACUNA_ERROR_TEXT)};
#undef LACUNA_ERROR_TEXT
  return (unsigned)error < LACUNA_ERROR_COUNT ? texts[error] : "unknown error";
}

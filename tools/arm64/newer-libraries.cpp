// Part of the program for arm64. Debian unstable compiled the Swift runtime against newer libraries (glibc 2.38,
// libstdc++ 13). These are the functions that the runtime needs and Debian 12 does not have.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

extern "C" {
// In C23, these functions also accept binary numbers (0b1). The functions of Debian 12 do not; the runtime can do
// without.
long __isoc23_strtol(const char *text, char **end, int base) { return std::strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return std::strtoll(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return std::strtoul(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  int count = std::vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

std::size_t strlcpy(char *target, const char *source, std::size_t size) {
  std::size_t length = std::strlen(source);
  if (size > 0) {
    std::size_t copied = length < size ? length : size - 1;
    std::memcpy(target, source, copied);
    target[copied] = 0;
  }
  return length;
}

std::size_t strlcat(char *target, const char *source, std::size_t size) {
  std::size_t used = strnlen(target, size);
  return used + strlcpy(target + used, source, size - used);
}
}

namespace std {
// Sources compiled for libstdc++ 13 refer to this function, so that they link only with a library that initializes its
// streams. With libstdc++ 12, the header <iostream> in this file initializes them.
void ios_base_library_init() {}
}  // namespace std

// The part of toml++ that the project file needs, for Swift.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The kind of a value. Numbers and booleans are passed as their text.
enum otaflash_toml_kind { OTAFLASH_TOML_SCALAR, OTAFLASH_TOML_OTHER };

// Receives each value in the order of the file. `table` is the path of its table, with '\n' between the keys.
// `line` and `column` are those of the key, and `table_line` is the line where its table begins; all from 1.
typedef void (*otaflash_toml_visitor)(
    void *context, const char *table, const char *key, enum otaflash_toml_kind kind, const char *value,
    uint32_t line, uint32_t column, uint32_t table_line);

// The first error of a document.
struct otaflash_toml_fault {
  char message[200];
  uint32_t line;
  uint32_t column;
};

// Parses `text`, which must be UTF-8. Returns false and sets `fault` if it is not a TOML document.
bool otaflash_toml_read(
    const char *text, size_t size, void *context, otaflash_toml_visitor visit,
    struct otaflash_toml_fault *fault);

#ifdef __cplusplus
}
#endif

#include "otaflash_toml.h"

// The plain build does not require the library; a build without it refuses project files.
#if __has_include(<toml++/toml.h>)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Visit {
  void *context;
  otaflash_toml_visitor visitor;

  void table(const std::string &path, const toml::table &table) const {
    // A table sorts its keys; the file's order is that of their positions.
    std::vector<std::pair<const toml::key *, const toml::node *>> entries;
    for (auto &&[key, node] : table) entries.emplace_back(&key, &node);
    std::sort(entries.begin(), entries.end(), [](const auto &left, const auto &right) {
      return left.first->source().begin < right.first->source().begin;
    });
    for (auto [key, node] : entries) entry(path, *key, *node, table.source().begin.line);
  }

  void entry(
      const std::string &path, const toml::key &key, const toml::node &node, uint32_t table_line) const {
    const std::string name(key.str());
    if (auto *inner = node.as_table()) {
      table(path.empty() ? name : path + "\n" + name, *inner);
      return;
    }
    std::string text;
    auto kind = OTAFLASH_TOML_SCALAR;
    if (auto *string = node.as_string()) {
      text = string->get();
    } else if (auto *number = node.as_integer()) {
      text = std::to_string(number->get());
    } else if (auto *flag = node.as_boolean()) {
      text = flag->get() ? "true" : "false";
    } else {
      kind = OTAFLASH_TOML_OTHER;
    }
    const auto place = key.source().begin;
    visitor(
        context, path.c_str(), name.c_str(), kind, text.c_str(), place.line, place.column, table_line);
  }
};

}  // namespace

bool otaflash_toml_read(
    const char *text, size_t size, void *context, otaflash_toml_visitor visit,
    struct otaflash_toml_fault *fault) {
  auto result = toml::parse(std::string_view(text, size));
  if (!result) {
    const auto &error = result.error();
    const auto message = error.description();
    const auto count = std::min(message.size(), sizeof fault->message - 1);
    std::memcpy(fault->message, message.data(), count);
    fault->message[count] = 0;
    fault->line = error.source().begin.line;
    fault->column = error.source().begin.column;
    return false;
  }
  Visit{context, visit}.table("", result.table());
  return true;
}
#else
#include <cstdio>

bool otaflash_toml_read(
    const char *, size_t, void *, otaflash_toml_visitor, struct otaflash_toml_fault *fault) {
  std::snprintf(
      fault->message, sizeof fault->message,
      "this program was built without toml++; install libtomlplusplus-dev, and build it again");
  fault->line = fault->column = 1;
  return false;
}
#endif

#include <stdbool.h>
#include <string.h>

#include "images.h"
#include "ota_receiver.h"

static void put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

/// Writes a number as in docs/delta.md, 1. Returns its size.
static uint32_t put_number(uint8_t *to, uint32_t value) {
  uint32_t size = 0, byte = value & 0x3F;
  for (value >>= 6; value > 0; value >>= 7) {
    to[size++] = (uint8_t)(byte | 0x80);
    byte = value & 0x7F;
  }
  to[size++] = (uint8_t)byte;
  return size;
}

static uint32_t run_at(const uint8_t *bytes, uint32_t size) {
  uint32_t run = 1;
  while (run < size && bytes[run] == bytes[0]) run++;
  return run;
}

static uint32_t put_crle(uint8_t *to, const uint8_t *bytes, uint32_t size) {
  enum { SHORTEST = 4 };
  uint32_t written = 0;
  for (uint32_t at = 0; at < size;) {
    uint32_t count = run_at(bytes + at, size - at);
    bool repeats = count >= SHORTEST;
    while (!repeats && at + count < size && run_at(bytes + at + count, size - at - count) < SHORTEST)
      count++;
    to[written++] = repeats;
    for (uint32_t rest = count;; rest >>= 7) {
      to[written++] = (uint8_t)((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
      if (rest <= 0x7F) break;
    }
    memcpy(to + written, bytes + at, repeats ? 1 : count);
    written += repeats ? 1 : count;
    at += count;
  }
  return written;
}

/// Writes a step without extra bytes: the difference from `old`, and the distance to the next
/// offset in the old image. Returns its size.
static uint32_t put_step(
    uint8_t *to, const uint8_t *new, const uint8_t *old, uint32_t size, uint32_t distance) {
  uint32_t written = put_number(to, size);
  for (uint32_t i = 0; i < size; i++) to[written++] = (uint8_t)(new[i] - old[i]);
  written += put_number(to + written, 0);
  return written + put_number(to + written, distance);
}

uint32_t make_stream(
    uint8_t *to, const uint8_t *old, const uint8_t *new, uint32_t image_size, uint32_t part) {
  enum { SHIFTED = 500, SHIFT = 3 };
  static uint8_t plain[1 << 16];
  uint32_t written = 0;
  for (uint32_t start = 0; start < image_size; start += part) {
    uint32_t end = image_size - start < part ? image_size : start + part, plain_size = 0;
    // The last bytes of each part come from an odd offset of the old image, as after an insertion.
    uint32_t moved = end - SHIFTED;
    plain_size += put_number(plain, 0);
    plain_size += put_step(plain + plain_size, NULL, NULL, 0, start);
    plain_size += put_step(plain + plain_size, new + start, old + start, moved - start, SHIFT);
    plain_size += put_step(plain + plain_size, new + moved, old + moved + SHIFT, SHIFTED - SHIFT, 0);
    plain_size += put_number(plain + plain_size, 0);
    plain_size += put_number(plain + plain_size, SHIFT);
    memcpy(plain + plain_size, new + end - SHIFT, SHIFT);
    plain_size += SHIFT;
    plain_size += put_number(plain + plain_size, 0);

    uint8_t *header = to + written, *patch = header + 16;
    uint32_t patch_size = 0;
    patch[patch_size++] = 2;  // CRLE
    patch_size += put_number(patch + patch_size, end - start);
    patch_size += put_crle(patch + patch_size, plain, plain_size);
    put32(header, start);
    put32(header + 4, end - start);
    put32(header + 8, patch_size);
    put32(header + 12, ota_crc32(0, new, end));
    written += 16 + patch_size;
  }
  return written;
}

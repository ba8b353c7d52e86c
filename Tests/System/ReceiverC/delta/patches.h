/// Random patches and the images that they create, from an encoder that was written only from the
/// format.
#ifndef PATCHES_H
#define PATCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "ota_delta.h"

/// The page size; parts start at its multiples.
#ifndef PATCH_PAGE
#define PATCH_PAGE 256
#endif

enum {
  BASE_MAXIMUM = 4096,
  IMAGE_MAXIMUM = 16 * PATCH_PAGE,
  STREAM_MAXIMUM = 8 * IMAGE_MAXIMUM,
  PARTS = 16
};

typedef struct {
  uint8_t base[BASE_MAXIMUM];
  uint32_t base_size;
  uint8_t image[IMAGE_MAXIMUM];
  uint32_t image_size;
  uint8_t stream[STREAM_MAXIMUM];
  uint32_t stream_size;
  /// The offsets at which parts start in the stream.
  uint32_t parts[PARTS];
  uint32_t part_count;
} patched;

enum {
  CODEC_NONE = 0,
  CODEC_CRLE = 2,
  CODEC_HEATSHRINK = 4,
  /// Format 2.
  CODEC_MAPPED = 0x44,
  CODEC_RANGE = 0x48
};

uint32_t random_number(uint64_t *seed, uint32_t limit);
void put_word(uint8_t *to, uint32_t value);
/// Writes a number as in docs/delta.md, 1; returns its size.
uint32_t write_number(uint8_t *to, uint32_t magnitude, bool negative);

/// A base and an image in several parts, each with its own codec.
void make_patched(patched *p, uint64_t seed);
/// The base with the 64 bytes 00...3F, and the image with AA at 10 and 4E 45 57 before 32; `patch`
/// is the only part.
void make_example(patched *p, const uint8_t *patch, uint32_t size);
/// Like `make_patched` with these sizes, in parts of `part` bytes, which is a multiple of the page
/// size.
void make_parts(patched *p, uint64_t seed, uint32_t base_size, uint32_t image_size, uint32_t part);
/// A complete image whose only part is `patch`.
void make_part(patched *p, const uint8_t *patch, uint32_t size);

#endif

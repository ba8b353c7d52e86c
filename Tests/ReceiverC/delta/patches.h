/// Patches made at random, and what they make: an encoder that knows the format alone.
#ifndef PATCHES_H
#define PATCHES_H

#include <stdbool.h>
#include <stdint.h>

/// Parts begin at its multiples.
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
  /// Where parts begin in the stream.
  uint32_t parts[PARTS];
  uint32_t part_count;
} patched;

enum { CODEC_NONE = 0, CODEC_CRLE = 2, CODEC_HEATSHRINK = 4 };

uint32_t random_number(uint64_t *seed, uint32_t limit);
void put_word(uint8_t *to, uint32_t value);

/// A base and an image of several parts, each with a codec of its own.
void make_patched(patched *p, uint64_t seed);
/// The 64 bytes 00...3F, and the image that has AA at 10 and 4E 45 57 before 32; one part with `patch`.
void make_example(patched *p, const uint8_t *patch, uint32_t size);
/// The same of so many bytes, in parts of `part` bytes; `part` is a multiple of the page.
void make_parts(patched *p, uint64_t seed, uint32_t base_size, uint32_t image_size, uint32_t part);
/// One part of a whole image.
void make_part(patched *p, const uint8_t *patch, uint32_t size);

#endif

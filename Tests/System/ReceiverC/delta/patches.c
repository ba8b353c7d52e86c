#include "patches.h"

#include <string.h>

#include "format2.h"
#include "ota_receiver.h"

/// The random number generator SplitMix64.
uint32_t random_number(uint64_t *seed, uint32_t limit) {
  uint64_t z = *seed += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((z ^ (z >> 31)) % limit);
}

void put_word(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static void append(patched *p, uint32_t byte) {
  if (p->stream_size < STREAM_MAXIMUM) p->stream[p->stream_size++] = (uint8_t)byte;
}

/// The content of a patch before compression.
typedef struct {
  uint8_t bytes[4 * IMAGE_MAXIMUM];
  uint32_t size;
} plain;

uint32_t write_number(uint8_t *to, uint32_t magnitude, bool negative) {
  uint32_t size = 0;
  uint32_t byte = (magnitude & 0x3F) | (negative ? 0x40 : 0);
  for (magnitude >>= 6; magnitude > 0; magnitude >>= 7) {
    to[size++] = (uint8_t)(byte | 0x80);
    byte = magnitude & 0x7F;
  }
  to[size++] = (uint8_t)byte;
  return size;
}

static void add_number(plain *s, uint32_t magnitude, bool negative) {
  s->size += write_number(s->bytes + s->size, magnitude, negative);
}

/// Returns a random byte, which is often 0, so that sequences of these bytes are compressible.
static uint8_t byte_of(uint64_t *seed) {
  return random_number(seed, 4) > 0 ? 0 : (uint8_t)random_number(seed, 256);
}

static void make_steps(patched *p, uint64_t *seed, plain *s, uint32_t end) {
  uint32_t from = 0;
  add_number(s, 0, false);
  while (p->image_size < end) {
    uint32_t left = end - p->image_size;
    uint32_t most = left < p->base_size - from ? left : p->base_size - from;
    uint32_t difference = random_number(seed, most + 1);
    uint32_t extra = random_number(seed, 3) == 0 ? 0 : random_number(seed, left - difference + 1);
    add_number(s, difference, false);
    for (uint32_t i = 0; i < difference; i++) {
      uint8_t byte = byte_of(seed);
      s->bytes[s->size++] = byte;
      p->image[p->image_size++] = (uint8_t)(byte + p->base[from++]);
    }
    add_number(s, extra, false);
    for (uint32_t i = 0; i < extra; i++) {
      uint8_t byte = byte_of(seed);
      s->bytes[s->size++] = byte;
      p->image[p->image_size++] = byte;
    }
    uint32_t target = random_number(seed, p->base_size + 1);
    add_number(s, target > from ? target - from : from - target, target < from);
    from = target;
  }
}

static void write_runs(patched *p, uint64_t *seed, const plain *s) {
  for (uint32_t at = 0; at < s->size;) {
    uint32_t run = 1;
    while (at + run < s->size && s->bytes[at + run] == s->bytes[at]) run++;
    bool repeat = random_number(seed, 2) == 0;
    uint32_t size = repeat ? 1 + random_number(seed, run) : random_number(seed, s->size - at + 1);
    append(p, repeat);
    for (uint32_t rest = size;; rest >>= 7) {
      append(p, (rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
      if (rest <= 0x7F) break;
    }
    for (uint32_t i = 0; i < (repeat ? 1 : size); i++) append(p, s->bytes[at + i]);
    at += size;
  }
}

static void write_heatshrink(patched *p, uint64_t *seed, const plain *s) {
  uint32_t window = 4 + random_number(seed, 7);
  uint32_t lookahead = 3 + random_number(seed, window - 3);
  uint32_t bits = 0, count = 0;
  append(p, (window - 4) << 4 | (lookahead - 3));
  for (uint32_t at = 0; at < s->size;) {
    uint32_t distance = 1 + random_number(seed, 1u << window);
    if (random_number(seed, 3) == 0) distance = 1;
    uint32_t most = random_number(seed, 1u << lookahead) + 1, length = 0;
    while (length < most && at + length < s->size &&
           s->bytes[at + length] == (at + length < distance ? 0 : s->bytes[at + length - distance]))
      length++;
    uint32_t token = 0x100 | s->bytes[at], size = 9;
    if (length > 0) {
      token = (distance - 1) << lookahead | (length - 1);
      size = 1 + window + lookahead;
    }
    at += length > 0 ? length : 1;
    for (; size > 0; size--) {
      bits = bits << 1 | (token >> (size - 1) & 1);
      if (++count % 8 == 0) append(p, bits & 0xFF);
    }
  }
  if (count % 8 != 0) append(p, (bits << (8 - count % 8)) & 0xFF);
}

static void finish_part(patched *p, uint32_t start, uint32_t image_start) {
  uint8_t *header = p->stream + start;
  put_word(header, image_start);
  put_word(header + 4, p->image_size - image_start);
  put_word(header + 8, p->stream_size - start - 16);
  put_word(header + 12, ota_crc32(0, p->image, p->image_size));
}

static void make_random_part(patched *p, uint64_t *seed, uint32_t size) {
  static plain s;
  static const uint8_t codecs[] = {CODEC_NONE,   CODEC_CRLE,   CODEC_HEATSHRINK, CODEC_HEATSHRINK,
                                   CODEC_MAPPED, CODEC_MAPPED, CODEC_RANGE,      CODEC_RANGE};
  uint8_t codec = codecs[random_number(seed, 2 + 2 * OTA_DELTA_LEVEL)];
  uint32_t start = p->stream_size, image_start = p->image_size;
  p->parts[p->part_count++] = start;
  p->stream_size += 16;
  s.size = 0;
  append(p, codec);
  p->stream_size += write_number(p->stream + p->stream_size, size, false);
  if (codec == CODEC_MAPPED) s.size = make_format2(p, seed, s.bytes, image_start + size);
  else if (codec == CODEC_RANGE) make_format2(p, seed, NULL, image_start + size);
  else make_steps(p, seed, &s, image_start + size);
  if (codec == CODEC_CRLE) write_runs(p, seed, &s);
  if (codec == CODEC_HEATSHRINK || codec == CODEC_MAPPED) write_heatshrink(p, seed, &s);
  for (uint32_t i = 0; codec == CODEC_NONE && i < s.size; i++) append(p, s.bytes[i]);
  finish_part(p, start, image_start);
}

/// Random bytes; some of them are branches.
static void make_base(patched *p, uint64_t *seed) {
  for (uint32_t i = 0; i < p->base_size; i++) p->base[i] = (uint8_t)random_number(seed, 256);
  for (uint32_t i = 0; i + 4 <= p->base_size; i += 2) {
    if (random_number(seed, 8) > 0) continue;
    p->base[i + 1] = (uint8_t)(0xF0 | (p->base[i + 1] & 7));
    p->base[i + 3] |= 0x90;
  }
}

void make_patched(patched *p, uint64_t seed) {
  memset(p, 0, sizeof *p);
  p->base_size = random_number(&seed, 4) == 0 ? 0 : random_number(&seed, 700);
  make_base(p, &seed);
  for (uint32_t pages = random_number(&seed, 3); pages > 0; pages--)
    make_random_part(p, &seed, PATCH_PAGE * (1 + random_number(&seed, 2)));
  make_random_part(p, &seed, 1 + random_number(&seed, 2 * PATCH_PAGE));
}

void make_parts(patched *p, uint64_t seed, uint32_t base_size, uint32_t image_size, uint32_t part) {
  memset(p, 0, sizeof *p);
  p->base_size = base_size;
  make_base(p, &seed);
  while (p->image_size < image_size) {
    uint32_t left = image_size - p->image_size;
    make_random_part(p, &seed, left < part ? left : part);
  }
}

void make_part(patched *p, const uint8_t *patch, uint32_t size) {
  p->part_count = 1;
  p->parts[0] = 0;
  memcpy(p->stream + 16, patch, size);
  p->stream_size = 16 + size;
  finish_part(p, 0, 0);
}

void make_example(patched *p, const uint8_t *patch, uint32_t size) {
  memset(p, 0, sizeof *p);
  p->base_size = 64;
  for (uint32_t i = 0; i < 64; i++) p->base[i] = (uint8_t)i;
  for (uint32_t i = 0; i < 32; i++) p->image[i] = (uint8_t)(i == 10 ? 0xAA : i);
  memcpy(p->image + 32, "NEW", 3);
  for (uint32_t i = 32; i < 64; i++) p->image[i + 3] = (uint8_t)i;
  p->image_size = 67;
  make_part(p, patch, size);
}

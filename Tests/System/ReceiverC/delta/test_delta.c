/// Tests the patch decoder against docs/delta.md. Prints one line per failure, and the totals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ota_delta.h"
#include "ota_receiver.h"
#include "patches.h"

static unsigned passed, failed;
static const char *subject = "";

static void check(bool ok, const char *what, int line) {
  if (ok) passed++;
  else failed++;
  if (!ok && failed < 40) printf("line %d: %s: %s\n", line, subject, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static patched p;

/// A user of the decoder, which records the results.
typedef struct {
  ota_delta delta;
  uint8_t made[IMAGE_MAXIMUM];
  uint32_t size;
  /// The maximum number of bytes that `write` accepts at a time; 0 = no limit.
  uint32_t takes;
  uint64_t seed;
  uint32_t in_this_call;
  bool unreadable;
  ota_delta_point points[PARTS];
  uint32_t point_count;
} runner;

static bool read_base(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  runner *r = context;
  CHECK(size > 0 && size <= OTA_DELTA_PIECE);
  CHECK(offset <= p.base_size && size <= p.base_size - offset);
  if (r->unreadable || offset > p.base_size || size > p.base_size - offset) return false;
  memcpy(to, p.base + offset, size);
  return true;
}

static uint32_t take_image(void *context, const uint8_t *bytes, uint32_t size) {
  runner *r = context;
  CHECK(size > 0 && size <= OTA_DELTA_PIECE);
  CHECK(r->size + size <= p.image_size);
  if (r->size + size > p.image_size) return 0;
  if (r->takes > 0) size = random_number(&r->seed, r->takes < size ? r->takes + 1 : size + 1);
  memcpy(r->made + r->size, bytes, size);
  r->size += size;
  r->in_this_call += size;
  return size;
}

static ota_delta_config config = {.base_read = read_base, .write = take_image, .page_size = PATCH_PAGE};
static runner r;

static bool start(const ota_delta_point *point) {
  ota_delta_sizes sizes = {p.base_size, p.image_size, p.stream_size};
  uint64_t seed = r.seed;
  uint32_t takes = r.takes;
  bool unreadable = r.unreadable;
  memset(&r, 0, sizeof r);
  r.seed = seed;
  r.takes = takes;
  r.unreadable = unreadable;
  r.size = point->image_offset;
  memcpy(r.made, p.image, r.size);
  config.context = &r;
  return ota_delta_start(&r.delta, &config, &sizes, point);
}

/// Feeds bytes until all are used or the decoder has ended. The copy has the exact size, so the
/// sanitizer detects every read beyond its end.
static ota_delta_result feed(const uint8_t *bytes, uint32_t size) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  uint32_t at = 0;
  ota_delta_result result = OTA_DELTA_MORE;
  if (copy == NULL) abort();
  memcpy(copy, bytes, size);
  for (uint32_t calls = 0;; calls++) {
    uint32_t used = 0;
    r.in_this_call = 0;
    result = ota_delta_run(&r.delta, copy + at, size - at, &used);
    CHECK(used <= size - at);
    CHECK(r.in_this_call <= OTA_DELTA_STEPS + OTA_DELTA_PIECE);
    CHECK(calls < 4 * (STREAM_MAXIMUM + IMAGE_MAXIMUM));
    at += used;
    if (result == OTA_DELTA_PART && r.point_count < PARTS)
      r.points[r.point_count++] = r.delta.point;
    if (result == OTA_DELTA_MORE) CHECK(at == size);
    if (result != OTA_DELTA_AGAIN && result != OTA_DELTA_FULL && result != OTA_DELTA_PART) break;
    if (calls > 4 * (STREAM_MAXIMUM + IMAGE_MAXIMUM)) break;
  }
  free(copy);
  return result;
}

static const ota_delta_point beginning;

static ota_delta_result run_whole(void) {
  if (!start(&beginning)) return OTA_DELTA_REFUSED;
  return feed(p.stream, p.stream_size);
}

static bool is_image(void) {
  return r.size == p.image_size && memcmp(r.made, p.image, p.image_size) == 0;
}

/// The example patches of the document.
static const struct {
  const char *name;
  uint8_t bytes[90];
  uint32_t size;
} examples[] = {
    {"none", {0, 0x83, 0x01, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xA0, 0, 0, 0, 0, 0, 0, 0, 0,
              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x03, 0x4E, 0x45, 0x57, 0, 0x20, 0, 0, 0, 0,
              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
              0, 0x60},
     77},
    {"CRLE", {2, 0x83, 1, 0, 2, 0, 0x20, 1, 10, 0, 0, 1, 0xA0, 1, 0x15, 0, 0, 6, 3, 0x4E, 0x45, 0x57, 0,
              0x20, 1, 0x21, 0, 0, 1, 0x60},
     30},
    {"heatshrink 8,7", {4, 0x83, 1, 0x44, 0x80, 0x48, 1, 0x42, 0x74, 2, 2, 0x90, 0x3A, 0x75, 0x16, 0xAE,
                        0x25, 0x16, 0, 0x2D, 0x60},
     21},
    {"heatshrink 10,8", {4, 0x83, 1, 0x65, 0x80, 0x48, 0, 0x50, 0x4E, 0x80, 0x10, 10, 0x40, 0xE9, 0xD4,
                         0x5A, 0xB8, 0x25, 0x0B, 0, 2, 0xD6, 0},
     23},
};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

static void test_examples(void) {
  for (uint32_t i = 0; i < EXAMPLES; i++) {
    subject = examples[i].name;
    make_example(&p, examples[i].bytes, examples[i].size);
    CHECK(ota_crc32(0, p.base, 64) == 0x100ECE8C && ota_crc32(0, p.image, 67) == 0x74BAF88F);
    CHECK(run_whole() == OTA_DELTA_DONE && is_image());
  }
}

/// The example of format 2.
static const uint8_t mapped_base[] = {
    0x00, 0x04, 0x00, 0x20, 0x11, 0x00, 0x00, 0x08, 0x21, 0x00, 0x00, 0x08, 0x2D, 0x00, 0x00, 0x08,
    0x10, 0xB5, 0x00, 0xF0, 0x05, 0xF8, 0x00, 0xF0, 0x09, 0xF8, 0x10, 0xBD, 0x21, 0x00, 0x00, 0x08,
    0x01, 0x20, 0x70, 0x47, 0x00, 0xF0, 0x02, 0xB8, 0x11, 0x00, 0x00, 0x08, 0x02, 0x20, 0x70, 0x47,
    0x00, 0x04, 0x00, 0x20};
static const uint8_t mapped_image[] = {
    0x00, 0x04, 0x00, 0x20, 0x11, 0x00, 0x00, 0x08, 0x25, 0x00, 0x00, 0x08, 0x31, 0x00, 0x00, 0x08,
    0x10, 0xB5, 0x00, 0xF0, 0x07, 0xF8, 0x00, 0xF0, 0x0B, 0xF8, 0x10, 0xBD, 0x25, 0x00, 0x00, 0x08,
    0x00, 0xBF, 0x00, 0xBF, 0x01, 0x20, 0x70, 0x47, 0x00, 0xF0, 0x02, 0xB8, 0x11, 0x00, 0x00, 0x08,
    0x02, 0x20, 0x70, 0x47, 0x00, 0x04, 0x00, 0x20};
static const uint8_t mapped_heatshrink[] = {
    0x44, 0x38, 0x41, 0x81, 0x60, 0x00, 0x05, 0x01, 0xC8, 0x00, 0xC6, 0x81, 0x04, 0x85, 0x51, 0x20,
    0x12, 0x00, 0xF7, 0x80, 0x3E, 0x09, 0x00, 0xDF, 0x80, 0x46, 0x89, 0x14, 0x0B, 0x78, 0x01, 0x00};
static const uint8_t mapped_range[] = {
    0x48, 0x38, 0xBF, 0xFF, 0xF7, 0xFC, 0x00, 0x00, 0x00, 0x5F, 0xFF, 0xFF, 0xFB, 0x8D, 0x80, 0x09,
    0xE3, 0xF2, 0x40, 0x6A, 0x6B, 0x1B, 0x88, 0x9D, 0x7F, 0x19, 0x10, 0x66, 0xD9, 0x50, 0x00};

static void make_mapped_example(bool range) {
  memset(&p, 0, sizeof p);
  memcpy(p.base, mapped_base, sizeof mapped_base);
  memcpy(p.image, mapped_image, sizeof mapped_image);
  p.base_size = sizeof mapped_base;
  p.image_size = sizeof mapped_image;
  if (range) make_part(&p, mapped_range, sizeof mapped_range);
  else make_part(&p, mapped_heatshrink, sizeof mapped_heatshrink);
}

/// Splits the stream into three pieces, at all pairs of offsets if it has at most 100 bytes and at
/// some pairs otherwise, and then into single bytes.
static void split_everywhere(void) {
  for (uint32_t a = 0; a <= p.stream_size; a++) {
    for (uint32_t b = a; b <= p.stream_size; b += p.stream_size > 100 ? 97 : 1) {
      CHECK(start(&beginning));
      ota_delta_result result = feed(p.stream, a);
      if (result == OTA_DELTA_MORE) result = feed(p.stream + a, b - a);
      if (result == OTA_DELTA_MORE) result = feed(p.stream + b, p.stream_size - b);
      CHECK(result == OTA_DELTA_DONE && is_image());
    }
  }
  CHECK(start(&beginning));
  for (uint32_t i = 0; i + 1 < p.stream_size; i++) CHECK(feed(p.stream + i, 1) == OTA_DELTA_MORE);
  CHECK(feed(p.stream + p.stream_size - 1, 1) == OTA_DELTA_DONE && is_image());
}

static void cut_everywhere(void) {
  for (uint32_t size = 0; size < p.stream_size; size++) {
    CHECK(start(&beginning));
    CHECK(feed(p.stream, size) == OTA_DELTA_MORE);
  }
}

/// Flips every bit, one at a time. If the decoder accepts the stream, it must create the correct
/// image.
static void flip_everywhere(void) {
  for (uint32_t bit = 0; bit < 8 * p.stream_size; bit++) {
    p.stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
    ota_delta_result result = run_whole();
    CHECK(result != OTA_DELTA_DONE || is_image());
    CHECK(result != OTA_DELTA_BASE_FAULT && result != OTA_DELTA_AGAIN);
    p.stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
}

static void resume_everywhere(void) {
  ota_delta_point points[PARTS];
  CHECK(run_whole() == OTA_DELTA_DONE);
  uint32_t count = r.point_count;
  CHECK(count == p.part_count - 1);
  memcpy(points, r.points, sizeof points);
  for (uint32_t i = 0; i < count; i++) {
    CHECK(points[i].stream_offset == p.parts[i + 1]);
    CHECK(start(&points[i]));
    uint32_t offset = points[i].stream_offset;
    CHECK(feed(p.stream + offset, p.stream_size - offset) == OTA_DELTA_DONE && is_image());
  }
}

static void test_small_patches(void) {
  for (uint32_t i = 0; i < EXAMPLES; i++) {
    subject = examples[i].name;
    make_example(&p, examples[i].bytes, examples[i].size);
    split_everywhere();
    cut_everywhere();
    flip_everywhere();
  }
}

static void test_mapped_examples(void) {
  for (int level = 2; level <= 3; level++) {
    subject = level == 2 ? "format 2, heatshrink" : "format 2, range coder";
    make_mapped_example(level > 2);
    if (OTA_DELTA_LEVEL < level) {
      CHECK(run_whole() == OTA_DELTA_REFUSED);
      continue;
    }
    CHECK(run_whole() == OTA_DELTA_DONE && is_image());
    split_everywhere();
    cut_everywhere();
    flip_everywhere();
    p.stream[p.stream_size++] = 0;
    put_word(p.stream + 8, p.stream_size - 16);
    CHECK(run_whole() == OTA_DELTA_REFUSED);
    p.stream_size -= 2;
    put_word(p.stream + 8, p.stream_size - 16);
    CHECK(run_whole() == OTA_DELTA_REFUSED);
  }
}

static void test_random_patches(void) {
  char name[40];
  subject = name;
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    snprintf(name, sizeof name, "seed %u", (unsigned)seed);
    make_patched(&p, seed);
    r.seed = seed;
    r.takes = 0;
    CHECK(run_whole() == OTA_DELTA_DONE && is_image());
    resume_everywhere();
    r.takes = 1 + seed % 70;
    CHECK(run_whole() == OTA_DELTA_DONE && is_image());
    r.takes = 0;
    if (seed > 12) continue;
    split_everywhere();
    cut_everywhere();
    flip_everywhere();
  }
}

/// If a changed byte of the base changes the image, the decoder must report this. The range coder
/// may also decode sizes that are not possible.
static void test_other_base(void) {
  subject = "another base";
  for (uint64_t seed = 1; seed <= 300; seed++) {
    make_patched(&p, seed);
    for (uint32_t i = 0; i < p.base_size; i += 7) {
      p.base[i] ^= 0x10;
      ota_delta_result result = run_whole();
      CHECK(
          result == OTA_DELTA_MISMATCH || (result == OTA_DELTA_DONE && is_image()) ||
          (OTA_DELTA_LEVEL > 2 && result == OTA_DELTA_REFUSED));
      p.base[i] ^= 0x10;
    }
  }
  make_example(&p, examples[0].bytes, examples[0].size);
  r.unreadable = true;
  CHECK(run_whole() == OTA_DELTA_BASE_FAULT);
  CHECK(feed(p.stream, 0) == OTA_DELTA_BASE_FAULT);
  r.unreadable = false;
}

static void refused(const char *name, const uint8_t *patch, uint32_t size) {
  subject = name;
  make_example(&p, patch, size);
  CHECK(run_whole() == OTA_DELTA_REFUSED);
  CHECK(feed(p.stream, 0) == OTA_DELTA_REFUSED);
}
#define REFUSED(name, ...) \
  refused(name, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_refusals(void) {
  REFUSED("bit 7 of the head", 0x80, 0x83, 1, 0, 0, 0x83, 1);
  REFUSED("an in-place patch", 0x10, 0x83, 1, 0, 0, 0x83, 1);
  REFUSED("LZMA", 0x01, 0x83, 1, 0x5D, 0, 0);
  REFUSED("LZ4", 0x06, 0x83, 1, 0x5D, 0, 0);
  REFUSED("another size than the header's", 0x00, 0x84, 1, 0, 0x20, 0);
  REFUSED("a negative size", 0x00, 0xC3, 1, 0, 0x20, 0);
  REFUSED("a window of 11 bits", 0x04, 0x83, 1, 0x75, 0x80, 0x48);
  REFUSED("a lookahead as long as the window", 0x04, 0x83, 1, 0x45 | 7, 0x80, 0x48);
  REFUSED("a lookahead of 11 bits", 0x04, 0x83, 1, 0x68, 0x80, 0x48);
  REFUSED("a data format", 0x00, 0x83, 1, 1, 0x20, 0);
  REFUSED("a negative difference", 0x00, 0x83, 1, 0, 0x44, 0);
  REFUSED("a difference beyond the image", 0x00, 0x83, 1, 0, 0x84, 1);
  REFUSED("a difference beyond the base", 0x00, 0x83, 1, 0, 0x81, 1);
  REFUSED("a difference of 2^31", 0x00, 0x83, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x10);
  REFUSED("a difference of 2^32", 0x00, 0x83, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x20);
  REFUSED("a number without end", 0x00, 0x83, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80);
  REFUSED("negative new bytes", 0x00, 0x83, 1, 0, 0, 0x41, 0);
  REFUSED("new bytes beyond the image", 0x00, 0x83, 1, 0, 0, 0x84, 1);
  REFUSED("a seek before the base", 0x00, 0x83, 1, 0, 1, 0, 0, 0x42);
  REFUSED("a seek after the base", 0x00, 0x83, 1, 0, 1, 0, 0, 0x80, 1);
  REFUSED("empty triples out of 2^31 zeros", 0x02, 0x83, 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 7, 0);
  REFUSED("a block of kind 2", 0x02, 0x83, 1, 2, 1, 0);
  REFUSED("a block of 2^31 bytes", 0x02, 0x83, 1, 1, 0x80, 0x80, 0x80, 0x80, 8, 0);
  REFUSED("a block size without end", 0x02, 0x83, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80);
}

/// Other encodings of the same image, which no encoder writes. detools 0.53.0 reads them as this
/// decoder does. The CRC32 of the image is compared as for any patch.
static void other_words(const char *name, const uint8_t *head, uint32_t head_size, const uint8_t *tail,
                        uint32_t tail_size) {
  uint8_t patch[160];
  subject = name;
  make_example(&p, head, head_size);
  memcpy(patch, head, head_size);
  memcpy(patch + head_size, p.image, 67);
  memcpy(patch + head_size + 67, tail, tail_size);
  make_example(&p, patch, head_size + 67 + tail_size);
  CHECK(run_whole() == OTA_DELTA_DONE && is_image());
}
#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static void test_other_words(void) {
  // Each patch consists of the header and the size, the data format, a difference of 0 bytes, extra
  // bytes, and the last seek.
  other_words("a last seek before the base", BYTES(0, 0x83, 1, 0, 0, 0x83, 1), BYTES(0x60));
  other_words("a last seek after the base", BYTES(0, 0x83, 1, 0, 0, 0x83, 1),
              BYTES(0xBF, 0xFF, 0xFF, 0xFF, 0x0F));
  other_words("a seek of -0", BYTES(0, 0x83, 1, 0, 0, 0x83, 1), BYTES(0x40));
  other_words("a data format of -0", BYTES(0, 0x83, 1, 0x40, 0, 0x83, 1), BYTES(0));
  other_words("a size with more bytes than it needs", BYTES(0, 0x83, 0x81, 0, 0, 0, 0x83, 1),
              BYTES(0));
  other_words("a difference with more bytes than it needs", BYTES(0, 0x83, 1, 0, 0x80, 0, 0x83, 1),
              BYTES(0));
  other_words("two empty triples", BYTES(0, 0x83, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x83, 1), BYTES(0));
  other_words("a block of no bytes", BYTES(2, 0x83, 1, 0, 0, 0, 72, 0, 0, 0x83, 1), BYTES(0));
  other_words("a block that repeats a byte no times",
              BYTES(2, 0x83, 1, 1, 0, 0xEE, 0, 72, 0, 0, 0x83, 1), BYTES(0));
  other_words("a block's size with more bytes than it needs",
              BYTES(2, 0x83, 1, 0, 0xC8, 0, 0, 0, 0x83, 1), BYTES(0));
}

/// Similar encodings that are not permitted.
static void test_sizes_of_minus_zero(void) {
  REFUSED("a size of -0", 0, 0x40, 0, 0, 0x83, 1);
  REFUSED("a difference of -0", 0, 0x83, 1, 0, 0x40, 0x83, 1);
  REFUSED("new bytes of -0", 0, 0x83, 1, 0, 1, 0, 0x40, 0);
  REFUSED("a block size of six bytes", 2, 0x83, 1, 1, 0x81, 0x80, 0x80, 0x80, 0x80, 0, 0);
}

/// The maximum number of empty triples before a triple with the complete image, and then one empty
/// triple too many.
static void test_empty_triples(void) {
  uint8_t patch[3 * (OTA_DELTA_EMPTY_MAXIMUM + 1) + 80] = {0, 0x83, 1, 0};
  subject = "empty triples";
  for (uint32_t count = OTA_DELTA_EMPTY_MAXIMUM; count <= OTA_DELTA_EMPTY_MAXIMUM + 1; count++) {
    uint32_t size = 4 + 3 * count;
    make_example(&p, patch, 4);
    memcpy(patch + size, (const uint8_t[]){0, 0x83, 1}, 3);
    memcpy(patch + size + 3, p.image, 67);
    patch[size + 70] = 0;
    make_example(&p, patch, size + 71);
    bool permitted = count == OTA_DELTA_EMPTY_MAXIMUM;
    CHECK(run_whole() == (permitted ? OTA_DELTA_DONE : OTA_DELTA_REFUSED));
    CHECK(is_image() == permitted);
    memset(patch + 4, 0, sizeof patch - 4);
  }
}

/// Patches that a decoder would accept if it did not check the sign of one size.
static void test_negative_sizes(void) {
  static const uint8_t places[] = {1, 4, 5};
  for (uint32_t i = 0; i <= sizeof places; i++) {
    bool difference = i == 1;
    uint8_t patch[80] = {0, 0x83, 1, 0};
    uint8_t *to = patch + 4;
    subject = "a size that is negative";
    make_example(&p, patch, 4);
    if (!difference) *to++ = 0;
    memcpy(to, difference ? (uint8_t[]){32, 0} : (uint8_t[]){0x83, 1}, 2);
    if (difference) {
      // 32 bytes of the base, one of them changed, and 35 extra bytes.
      memset(to + 1, 0, 32);
      to[11] = 0xA0;
      to[33] = 35;
      memcpy(to + 34, p.image + 32, 35);
      to[69] = 0;
      make_example(&p, patch, (uint32_t)(to + 70 - patch));
    } else {
      memcpy(to + 2, p.image, 67);
      to[69] = 0;
      make_example(&p, patch, (uint32_t)(to + 70 - patch));
    }
    CHECK(run_whole() == OTA_DELTA_DONE && is_image());
    if (i == sizeof places) break;
    p.stream[16 + places[i]] |= 0x40;
    CHECK(run_whole() == OTA_DELTA_REFUSED);
  }
}

/// At the end of a part, no bytes may be left over or missing.
static void test_ends(void) {
  uint8_t longer[100];
  for (uint32_t i = 0; i < EXAMPLES; i++) {
    subject = examples[i].name;
    memcpy(longer, examples[i].bytes, examples[i].size);
    longer[examples[i].size] = 0;
    make_example(&p, longer, examples[i].size + 1);
    CHECK(run_whole() == OTA_DELTA_REFUSED);
    make_example(&p, longer, examples[i].size - 1);
    CHECK(run_whole() == OTA_DELTA_REFUSED);
  }
  subject = "padding that is not zero";
  memcpy(longer, examples[3].bytes, examples[3].size);
  longer[examples[3].size - 1] |= 1;
  make_example(&p, longer, examples[3].size);
  CHECK(run_whole() == OTA_DELTA_REFUSED);
  subject = "a run that does not end";
  memcpy(longer, examples[1].bytes, examples[1].size);
  memcpy(longer + 27, (const uint8_t[]){1, 2, 0}, 3);
  make_example(&p, longer, 30);
  CHECK(run_whole() == OTA_DELTA_REFUSED);
}

static void header_refused(const char *name, uint32_t field, uint32_t value) {
  subject = name;
  make_patched(&p, 4);
  while (p.part_count < 3) make_patched(&p, p.stream[0] + p.stream_size);
  put_word(p.stream + p.parts[1] + 4 * field, value);
  CHECK(run_whole() == OTA_DELTA_REFUSED);
  CHECK(r.point_count == 1);
}

static void test_headers(void) {
  header_refused("a part that starts before the end of the previous one", 0, 0);
  header_refused("a part that starts too late", 0, 4 * PATCH_PAGE);
  header_refused("a part of no bytes", 1, 0);
  header_refused("a part beyond the image", 1, 0xFFFFFF00);
  header_refused("a part that ends within a page", 1, PATCH_PAGE - 1);
  header_refused("a patch beyond the stream", 2, 0xFFFFFFFF);
  header_refused("a patch of no bytes", 2, 0);
  subject = "a wrong CRC32";
  make_patched(&p, 4);
  p.stream[12] ^= 1;
  CHECK(run_whole() == OTA_DELTA_MISMATCH);
  CHECK(feed(p.stream, 0) == OTA_DELTA_MISMATCH);
  subject = "a stream beyond the end of the image";
  make_patched(&p, 4);
  p.stream_size++;
  CHECK(run_whole() == OTA_DELTA_REFUSED);
}

static void test_starts(void) {
  subject = "start";
  make_patched(&p, 4);
  CHECK(!start(&(ota_delta_point){1, 1, 0}));
  CHECK(!start(&(ota_delta_point){p.stream_size, 0, 0}));
  p.base_size = 0x80000000;
  CHECK(!start(&beginning));
  CHECK(feed(p.stream, 0) == OTA_DELTA_REFUSED);
  p.base_size = 0;
  p.image_size = 0;
  CHECK(!start(&beginning));
}

int main(void) {
  test_examples();
  test_small_patches();
  test_mapped_examples();
  test_random_patches();
  test_other_base();
  test_refusals();
  test_other_words();
  test_sizes_of_minus_zero();
  test_empty_triples();
  test_negative_sizes();
  test_ends();
  test_headers();
  test_starts();
  printf("patches: %u checks passed, %u failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

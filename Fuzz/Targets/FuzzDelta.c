/// Any bytes are a stream of parts, or are rejected: no access is outside of the base or the image,
/// and the sizes of the pieces affect neither result nor image.
///
/// An input starts with the sizes of base and image and the size of the pieces less one, one byte
/// each; the rest is the stream. If only a part's CRC32 is wrong, it is corrected, so that the
/// following parts are reached.
#include <stdlib.h>
#include <string.h>

#include "ota_delta.h"
#include "ota_receiver.h"

enum { PAGE = 16, CORRECTIONS = 4 };

typedef struct {
  uint8_t *base;
  uint32_t base_size;
  uint8_t *image;
  uint32_t image_size;
  uint32_t made;
  uint32_t takes;
} host;

static bool base_read(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  const host *h = context;
  if (size == 0 || size > OTA_DELTA_PIECE) abort();
  if (offset > h->base_size || size > h->base_size - offset) abort();
  memcpy(to, h->base + offset, size);
  return true;
}

static uint32_t take_image(void *context, const uint8_t *bytes, uint32_t size) {
  host *h = context;
  if (size == 0 || size > OTA_DELTA_PIECE || size > h->image_size - h->made) abort();
  if (h->takes > 0 && size > h->takes) size = h->takes;
  memcpy(h->image + h->made, bytes, size);
  h->made += size;
  return size;
}

/// Runs a stream in pieces of `piece` bytes; `delta` contains the final state.
static ota_delta_result run(
    ota_delta *delta, host *h, const uint8_t *stream, uint32_t size, uint32_t piece) {
  const ota_delta_config config = {h, base_read, take_image, PAGE};
  const ota_delta_sizes sizes = {h->base_size, h->image_size, size};
  const ota_delta_point beginning = {0, 0, 0};
  ota_delta_result result = OTA_DELTA_REFUSED;
  uint32_t at = 0;
  h->made = 0;
  h->takes = piece % 7;
  if (!ota_delta_start(delta, &config, &sizes, &beginning)) return result;
  for (uint32_t calls = 0;; calls++) {
    uint32_t given = piece < size - at ? piece : size - at;
    uint32_t used = 0;
    if (calls > 20000) abort();
    result = ota_delta_run(delta, stream + at, given, &used);
    if (used > given) abort();
    at += used;
    if (result == OTA_DELTA_MORE && at < size) continue;
    if (result == OTA_DELTA_AGAIN || result == OTA_DELTA_FULL || result == OTA_DELTA_PART) continue;
    break;
  }
  if (result == OTA_DELTA_DONE && (at != size || h->made != h->image_size)) abort();
  if (result == OTA_DELTA_DONE && delta->point.image_crc32 != ota_crc32(0, h->image, h->made)) abort();
  return result;
}

static void put_crc32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static ota_delta delta;
  if (size < 3) return 0;
  host h = {.base_size = data[0], .image_size = data[1]};
  uint32_t piece = 1 + data[2];
  uint32_t stream_size = (uint32_t)size - 3;
  uint8_t *stream = malloc(stream_size + 1);
  uint8_t *first = malloc(h.image_size + 1u);
  h.base = malloc(h.base_size + 1u);
  h.image = malloc(h.image_size + 1u);
  memcpy(stream, data + 3, stream_size);
  for (uint32_t i = 0; i < h.base_size; i++) h.base[i] = (uint8_t)(i * 7 % 64);

  for (int correction = 0; correction <= CORRECTIONS; correction++) {
    ota_delta_result result = run(&delta, &h, stream, stream_size, stream_size > 0 ? stream_size : 1);
    uint32_t made = h.made;
    memcpy(first, h.image, made);
    uint32_t part = delta.point.stream_offset;
    uint32_t crc32 = ota_crc32(0, h.image, h.made);
    if (run(&delta, &h, stream, stream_size, piece) != result) abort();
    if (h.made != made || memcmp(first, h.image, made) != 0) abort();
    if (result != OTA_DELTA_MISMATCH) break;
    put_crc32(stream + part + 12, crc32);
  }
  free(stream);
  free(first);
  free(h.base);
  free(h.image);
  return 0;
}

/// Applies a stream of parts with the decoder of the receiver: apply OLD STREAM NEW PIECE, or, to
/// check damaged streams, apply OLD STREAM NEW PIECE FLIPS SEED. With FLIPS, as many copies of the
/// stream with one to four damaged bits are applied; none of them may be accepted as another image.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ota_delta.h"

typedef struct {
  uint8_t *bytes;
  uint32_t size;
} file;

static file base, image, stream;
static uint8_t *made;
static uint32_t made_size;

static file read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) exit(66);
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  file result = {malloc((size_t)size + 1), (uint32_t)size};
  if (result.bytes == NULL || fread(result.bytes, 1, result.size, f) != result.size) exit(66);
  fclose(f);
  return result;
}

static bool read_base(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  (void)context;
  if (size == 0 || size > OTA_DELTA_PIECE || offset > base.size || size > base.size - offset) abort();
  memcpy(to, base.bytes + offset, size);
  return true;
}

static uint32_t take(void *context, const uint8_t *bytes, uint32_t size) {
  (void)context;
  if (size > image.size - made_size) abort();
  memcpy(made + made_size, bytes, size);
  made_size += size;
  return size;
}

static ota_delta_result apply(uint32_t piece) {
  const ota_delta_config config = {NULL, read_base, take, 4096};
  const ota_delta_sizes sizes = {base.size, image.size, stream.size};
  const ota_delta_point start = {0, 0, 0};
  static ota_delta delta;
  uint32_t at = 0, used;
  made_size = 0;
  if (!ota_delta_start(&delta, &config, &sizes, &start)) return OTA_DELTA_REFUSED;
  for (;;) {
    uint32_t size = stream.size - at < piece ? stream.size - at : piece;
    ota_delta_result result = ota_delta_run(&delta, stream.bytes + at, size, &used);
    at += used;
    bool ended = result == OTA_DELTA_MORE && at == stream.size;
    if (result >= OTA_DELTA_DONE || ended) return ended ? OTA_DELTA_REFUSED : result;
  }
}

static bool is_image(void) {
  return made_size == image.size && memcmp(made, image.bytes, made_size) == 0;
}

int main(int count, char **words) {
  if (count < 5) return 64;
  base = read_file(words[1]);
  stream = read_file(words[2]);
  image = read_file(words[3]);
  made = malloc(image.size + 1u);
  if (apply((uint32_t)atoi(words[4])) != OTA_DELTA_DONE || !is_image()) {
    puts("the image differs");
    return 1;
  }
  uint32_t flips = count > 5 ? (uint32_t)atoi(words[5]) : 0, accepted = 0;
  srand(count > 6 ? (unsigned)atoi(words[6]) : 1);
  for (uint32_t i = 0; i < flips; i++) {
    uint32_t places[4], bits = 1 + (uint32_t)rand() % 4;
    for (uint32_t b = 0; b < bits; b++) {
      places[b] = ((uint32_t)rand() << 8 ^ (uint32_t)rand()) % (8 * stream.size);
      stream.bytes[places[b] / 8] ^= (uint8_t)(1 << places[b] % 8);
    }
    if (apply(4096) == OTA_DELTA_DONE && !is_image()) accepted++;
    for (uint32_t b = 0; b < bits; b++)
      stream.bytes[places[b] / 8] ^= (uint8_t)(1 << places[b] % 8);
  }
  printf("ok %u damaged streams, %u accepted\n", (unsigned)flips, (unsigned)accepted);
  free(base.bytes);
  free(stream.bytes);
  free(image.bytes);
  free(made);
  return accepted > 0;
}

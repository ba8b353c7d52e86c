#include "refusals.h"

#include <string.h>

#include "ota_delta.h"
#include "session.h"

void check_refused(void) {
  uint32_t made;
  CHECK(d.errors[OTA_ERROR_PATCH_REFUSED] == 1 && device_state() == OTA_STATE_IDLE);
  CHECK(device_error() == OTA_ERROR_PATCH_REFUSED);
  CHECK(patch_point(&made) == 0 && made == 0);
  CHECK(request_op(&d, OTA_OP_VERIFY) == OTA_RESULT_WRONG_STATE);
  CHECK(plain_update() && device_error() == 0);
}

bool send_anyhow(void) {
  for (int tries = 0; tries < 3; tries++) {
    if (!send_stream(p.stream_size) && device_state() != OTA_STATE_RECEIVING) return false;
    if (next_offset() < p.stream_size) continue;
    uint32_t result = request_op(&d, OTA_OP_VERIFY);
    if (result == 0 || device_state() != OTA_STATE_RECEIVING) return result == 0;
  }
  return false;
}

static void refused(const char *name, const uint8_t *patch, uint32_t size) {
  subject = name;
  make_example(&p, patch, size);
  make_device(1, 8);
  CHECK(begin_stream(0) == 0 && !send_anyhow());
  check_refused();
}
#define REFUSED(name, ...) \
  refused(name, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_refused_streams(void) {
  REFUSED("an in-place patch", 0x10, 0x83, 1, 0, 0, 0x83, 1);
  REFUSED("bit 7 of the head", 0x80, 0x83, 1, 0, 0, 0x83, 1);
  REFUSED("LZMA", 0x01, 0x83, 1, 0x5D, 0, 0);
  REFUSED("LZ4", 0x06, 0x83, 1, 0x5D, 0, 0);
  REFUSED("a window of 11 bits", 0x04, 0x83, 1, 0x75, 0x80, 0x48);
  REFUSED("a lookahead of 11 bits", 0x04, 0x83, 1, 0x68, 0x80, 0x48);
  REFUSED("a data format", 0x00, 0x83, 1, 1, 0x20, 0);
  REFUSED("another size than the header's", 0x00, 0x84, 1, 0, 0x20, 0);
  REFUSED("a negative difference", 0x00, 0x83, 1, 0, 0x44, 0);
  REFUSED("a difference beyond the base", 0x00, 0x83, 1, 0, 0x81, 1);
  REFUSED("a difference beyond the image", 0x00, 0x83, 1, 0, 0x84, 1);
  REFUSED("a difference of 2^31", 0x00, 0x83, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x10);
  REFUSED("a difference of 2^32", 0x00, 0x83, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x20);
  REFUSED("negative new bytes", 0x00, 0x83, 1, 0, 0, 0x41, 0);
  REFUSED("new bytes beyond the image", 0x00, 0x83, 1, 0, 0, 0x84, 1);
  REFUSED("a negative size", 0x00, 0xC3, 1, 0, 0x20, 0);
  REFUSED("a lookahead as long as the window", 0x04, 0x83, 1, 0x45 | 7, 0x80, 0x48);
  REFUSED("a block of kind 2", 0x02, 0x83, 1, 2, 1, 0);
  REFUSED("a block of 2^31 bytes", 0x02, 0x83, 1, 1, 0x80, 0x80, 0x80, 0x80, 8, 0);
  REFUSED("a block size without end", 0x02, 0x83, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80);
  REFUSED("a seek before the base", 0x00, 0x83, 1, 0, 1, 0, 0, 0x42);
  REFUSED("a seek after the base", 0x00, 0x83, 1, 0, 1, 0, 0, 0x80, 1);
  REFUSED("a number without end", 0x00, 0x83, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80);
  REFUSED("empty triples out of 2^31 zeros", 0x02, 0x83, 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 7, 0);
  REFUSED("a patch that is too short", 0x00, 0x83, 1, 0, 1, 0);
  uint8_t longer[sizeof example + 1] = {0};
  memcpy(longer, example, sizeof example);
  refused("bytes after the end", longer, sizeof longer);
  // The number of consecutive empty triples is one more than permitted.
  uint8_t empty[4 + 3 * (OTA_DELTA_EMPTY_MAXIMUM + 1) + 1] = {0, 0x83, 1, 0};
  refused("empty triples", empty, sizeof empty);
}

static void header_refused(const char *name, uint32_t part, uint32_t field, uint32_t value) {
  subject = name;
  make_parts(&p, 4, 300, 5000, PAGE);
  put_word(p.stream + p.parts[part] + 4 * field, value);
  make_device(1, 8);
  CHECK(begin_stream(0) == 0 && !send_anyhow());
  check_refused();
}

static void test_refused_headers(void) {
  header_refused("a part that starts before the end of the previous one", 1, 0, 0);
  header_refused("a part that starts too late", 1, 0, 2 * PAGE);
  header_refused("a part of no bytes", 1, 1, 0);
  header_refused("a part beyond the image", 1, 1, 0xFFFFFC00);
  header_refused("a part that ends within a page", 1, 1, PAGE - 1);
  header_refused("a patch beyond the stream", 1, 2, 0xFFFFFFFF);
  header_refused("a patch of no bytes", 0, 2, 0);
  subject = "a stream shorter than a header";
  make_parts(&p, 4, 300, 5000, PAGE);
  p.stream_size = 9;
  make_device(1, 8);
  CHECK(begin_stream(0) == 0 && !send_anyhow());
  check_refused();
  subject = "a stream that ends too early";
  make_parts(&p, 4, 300, 5000, PAGE);
  make_device(1, 8);
  CHECK(begin_stream(0) == 0 && send_stream(p.stream_size - 1));
  CHECK(request_op(&d, OTA_OP_VERIFY) == OTA_RESULT_WRONG_STATE);
  CHECK(device_state() == OTA_STATE_RECEIVING && send_stream(p.stream_size));
  CHECK(request_op(&d, OTA_OP_VERIFY) == 0 && slot_is_image());
}

/// Sends a part in which one bit of the stream is damaged. The device must request the part again.
static void send_damaged(const char *name, uint32_t field, uint8_t bit) {
  subject = name;
  make_parts(&p, 4, 300, 5000, PAGE);
  make_device(1, 8);
  CHECK(begin_stream(0) == 0 && send_stream(p.parts[2] + 3));
  p.stream[p.parts[2] + field] ^= bit;  // the host sends a wrong bit once
  uint32_t before = d.errors[OTA_ERROR_GAP];
  for (uint32_t at = p.parts[2] + 3; at < p.parts[3] && d.errors[OTA_ERROR_GAP] == before;) {
    uint32_t size = p.parts[3] - at < CHUNK ? p.parts[3] - at : CHUNK;
    if (data(&d, p.stream, at, size, false) != 0) break;
    at += size;
  }
  p.stream[p.parts[2] + field] ^= bit;
  CHECK(d.errors[OTA_ERROR_GAP] == before + 1 && next_offset() == p.parts[2]);
  CHECK(send_stream(p.stream_size) && request_op(&d, OTA_OP_VERIFY) == 0 && slot_is_image());
  CHECK(d.errors[OTA_ERROR_PATCH_REFUSED] == 0);
}

/// A part with a wrong CRC32 is requested once more, and is refused the second time.
static void test_mismatch(void) {
  subject = "a part of another CRC32";
  make_parts(&p, 4, 300, 5000, PAGE);
  put_word(p.stream + p.parts[2] + 12, 0x12345678);
  make_device(1, 8);
  CHECK(begin_stream(0) == 0);
  CHECK(!send_stream(p.parts[3]) && d.errors[OTA_ERROR_GAP] == 1);
  check_refused();
  send_damaged("a CRC32 damaged in transfer", 12, 1);
  send_damaged("a size damaged in transfer", 5, 0x80);
  send_damaged("a codec damaged in transfer", 16, 0x40);
}

/// Every part is correct, but the image is not the image that BEGIN announced. VERIFY detects this,
/// and the session is discarded.
static void test_other_image(void) {
  subject = "an image of another CRC32 from correct parts";
  for (int kind = 0; kind < 2; kind++) {
    uint32_t made;
    make_parts(&p, 4, 300, 5000, PAGE);
    make_device(1, 8);
    p.image[4321] ^= 1;
    CHECK(begin_stream(0) == 0);
    p.image[4321] ^= 1;
    CHECK(send_stream(p.stream_size));
    if (kind == 1) {
      device_boot(&d);
      device_connect(&d);
      p.image[4321] ^= 1;
      CHECK(begin_stream(0) == 0 && get32(d.answer + 2) == p.stream_size);
      p.image[4321] ^= 1;
    }
    CHECK(request_op(&d, OTA_OP_ACTIVATE) == OTA_RESULT_WRONG_STATE);
    CHECK(request_op(&d, OTA_OP_VERIFY) == OTA_RESULT_CRC_MISMATCH);
    CHECK(get32(d.answer + 2) == ota_crc32(0, p.image, p.image_size));
    CHECK(device_state() == OTA_STATE_IDLE && patch_point(&made) == 0 && made == 0);
    CHECK(request_op(&d, OTA_OP_ACTIVATE) == OTA_RESULT_WRONG_STATE && !d.activated);
    device_boot(&d);
    device_connect(&d);
    CHECK(patch_point(&made) == 0 && patch_update());
  }
}

void test_refusals(void) {
  test_refused_streams();
  test_refused_headers();
  test_mismatch();
  test_other_image();
}

/// Patches under power failures: whatever operation of the flash is interrupted, the device resumes
/// from its record and creates the same image as a decoder that was never interrupted. A stream that
/// this decoder rejects is never verified, and the device then still accepts the complete image.
///
/// An input selects the device, a valid stream in all codecs, changes to this stream, and a list of
/// events. If only a part's CRC32 is wrong after the changes, it is corrected, so that the following
/// parts are reached; the changed stream then has another image, which the device must create.
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "patches.h"

enum { CORRECTIONS = 6, EVENTS_MAXIMUM = 120, DECODER_CALLS_MAXIMUM = 100000 };

typedef struct {
  const uint8_t *at, *end;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

static device d;
static patched p;
static uint8_t page_buffer[PAGE];
/// The image that the stream creates; if the stream is rejected, the image that BEGIN announces.
static uint8_t image[IMAGE_MAXIMUM];
static bool is_valid;

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The decoder that is not interrupted.

static uint8_t made[IMAGE_MAXIMUM];
static uint32_t made_size;

static bool read_base(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  (void)context;
  if (offset > p.base_size || size > p.base_size - offset) abort();
  memcpy(to, p.base + offset, size);
  return true;
}

static uint32_t take_image(void *context, const uint8_t *bytes, uint32_t size) {
  (void)context;
  if (size > p.image_size - made_size) abort();
  memcpy(made + made_size, bytes, size);
  made_size += size;
  return size;
}

static ota_delta_result decode(ota_delta *delta) {
  const ota_delta_config config = {NULL, read_base, take_image, d.config.page_size};
  const ota_delta_sizes sizes = {p.base_size, p.image_size, p.stream_size};
  const ota_delta_point start = {0, 0, 0};
  uint32_t at = 0, used;
  made_size = 0;
  if (!ota_delta_start(delta, &config, &sizes, &start)) return OTA_DELTA_REFUSED;
  for (uint32_t calls = 0; calls < DECODER_CALLS_MAXIMUM; calls++) {
    ota_delta_result result = ota_delta_run(delta, p.stream + at, p.stream_size - at, &used);
    at += used;
    if (result == OTA_DELTA_MORE && at == p.stream_size) return OTA_DELTA_REFUSED;
    if (result >= OTA_DELTA_DONE) return result;
  }
  abort();
}

/// Whether the header of each part states the CRC32 of the image up to its end.
static bool has_right_crcs(void) {
  uint32_t end = 0;
  for (uint32_t at = 0; at < p.stream_size;) {
    const uint8_t *header = p.stream + at;
    end += get32(header + 4);
    if (end > made_size || get32(header + 12) != ota_crc32(0, made, end)) return false;
    at += 16 + get32(header + 8);
  }
  return end == made_size;
}

/// Determines the image of the stream, and corrects the CRC32 of its parts.
static void judge_stream(void) {
  static ota_delta delta;
  ota_delta_result result = decode(&delta);
  for (int i = 0; i < CORRECTIONS && result == OTA_DELTA_MISMATCH; i++) {
    put_word(p.stream + delta.point.stream_offset + 12, ota_crc32(0, made, made_size));
    result = decode(&delta);
  }
  is_valid = result == OTA_DELTA_DONE;
  if (is_valid && (made_size != p.image_size || !has_right_crcs())) abort();
  memcpy(image, is_valid ? made : p.image, p.image_size);
}

static void change_stream(input *in) {
  for (uint8_t changes = byte(in) % 8; changes > 0; changes--) {
    uint32_t at = (byte(in) | (uint32_t)byte(in) << 8) % p.stream_size, size = byte(in) % 64;
    if (size == 0) p.stream[at] ^= byte(in);
    for (uint32_t i = 0; i < size && at + i < p.stream_size; i++) p.stream[at + i] = byte(in);
  }
  p.stream_size -= least(byte(in) % 16, p.stream_size - 1);
}

// The device.

/// Small rows and pages cross more boundaries; parts consist of pages of 256 bytes.
static void make_device(input *in) {
  static const uint8_t alignments[] = {1, 4, 8, 16};
  static const uint32_t pages[] = {256, 128, 256, 64}, rows[] = {64, 32, 256, 64};
  uint8_t kind = byte(in);
  device_make(&d, 1 + byte(in), alignments[kind & 3]);
  d.config.page_size = pages[kind >> 2 & 3];
  d.config.row_size = rows[kind >> 2 & 3];
  // Two marks must fit a page of the record.
  if (d.config.page_size < 128) d.config.write_alignment = (uint8_t)(d.flash.alignment = 1);
  if (d.config.page_size < 128) d.config.page_size = 128;
  d.flash.slow = kind & 0x10;
  d.config.erase_ahead = kind & 0x20;
  d.may_erase = kind & 0x40;
  if (!d.config.erase_ahead && kind & 0x80) d.config.page_buffer = page_buffer;
}

/// Writes the new image to the slot, with at most two changed bytes, as after a swap.
static void fill_slot(input *in) {
  memcpy(d.flash.bytes, image, p.image_size);
  d.flash.bytes[byte(in) * 16u % p.image_size] ^= 0x10;
  d.flash.bytes[byte(in) * 16u % p.image_size] ^= 0x01;
}

static uint32_t announce(void) {
  uint8_t bytes[17] = {OTA_OP_PATCH};
  put32(bytes + 1, p.base_size);
  put32(bytes + 5, ota_crc32(0, p.base, p.base_size));
  put32(bytes + 9, p.stream_size);
  put32(bytes + 13, ota_crc32(0, p.stream, p.stream_size));
  return request(&d, bytes, sizeof bytes);
}

/// PATCH and BEGIN; the stream is restarted if the device holds bytes of another stream.
static bool resume(void) {
  if (announce() != 0 || begin(&d, image, p.image_size, OTA_BEGIN_PATCH) != 0) return false;
  uint32_t next = get32(d.answer + 2);
  if (next > p.stream_size) abort();
  if (get32(d.answer + 6) == ota_crc32(0, p.stream, next)) return true;
  return announce() == 0 &&
         begin(&d, image, p.image_size, OTA_BEGIN_PATCH | OTA_BEGIN_RESTART) == 0;
}

/// Sends bytes at the offset that the device expects, with one bit damaged if `damage` is not 0.
static void send_some(uint32_t size, uint8_t damage) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d.receiver, status);
  uint32_t next = get32(status + 4);
  if (next >= p.stream_size) return;
  size = least(size, p.stream_size - next);
  if (damage != 0) p.stream[next] ^= damage;
  data(&d, p.stream, next, size, size & 1);
  if (damage != 0) p.stream[next] ^= damage;
}

static void rewind_to(uint32_t offset) {
  uint8_t bytes[5] = {OTA_OP_REWIND};
  put32(bytes + 1, offset);
  request(&d, bytes, sizeof bytes);
}

static void restart(void) {
  device_boot(&d);
  device_run(&d);
  device_connect(&d);
}

static void reconnect(void) {
  ota_receiver_disconnected(&d.receiver);
  device_run(&d);
  device_connect(&d);
}

static void spoil(uint8_t how) {
  uint32_t count = 1 + (how >> 2) % 3;
  switch (how & 3) {
    case 0: d.flash.bad_rows = count; break;
    case 1: d.flash.failed_rows = count; break;
    case 2: d.flash.failed_erases = count; break;
    default: d.flash.bad_records = count;
  }
}

static void happen(input *in) {
  switch (byte(in) % 16) {
    case 0:
    case 1:
    case 2: d.flash.cut_at = d.flash.operations + 1 + byte(in) % 32; break;
    case 3: restart(); break;
    case 4: reconnect(); break;
    case 5: send_some(1 + byte(in) % CHUNK, byte(in)); break;
    case 6: rewind_to(byte(in) * 8u); break;
    case 7: request_op(&d, OTA_OP_VERIFY); break;
    case 8: spoil(byte(in)); break;
    case 9: request(&d, (const uint8_t[]){OTA_OP_ABORT, byte(in) & 1}, 2); break;
    case 10: resume(); break;
    case 11: d.flash.slow = !d.flash.slow; break;
    case 12: for (int i = 0; i < 40; i++) send_some(CHUNK, 0); break;
    default: send_some(1 + byte(in) % CHUNK, 0); break;
  }
}

static void check_state(void) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d.receiver, status);
  if (status[0] == OTA_STATE_VERIFIED && memcmp(d.flash.bytes, image, p.image_size) != 0) abort();
}

/// Completes the update without faults. Returns whether it succeeds and the slot holds the image.
static bool complete(void) {
  return resume() && send_to(&d, p.stream, p.stream_size) && request_op(&d, OTA_OP_VERIFY) == 0 &&
         memcmp(d.flash.bytes, image, p.image_size) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  input in = {bytes, bytes + size};
  make_device(&in);
  make_patched(&p, byte(&in) | (uint64_t)byte(&in) << 8);
  // Without a base, any running image will do.
  if (p.base_size == 0) p.base[0] = 7;
  change_stream(&in);
  judge_stream();
  if (d.config.page_buffer != NULL) fill_slot(&in);
  device_take_patches(&d, p.base, p.base_size == 0 ? 1 : p.base_size);
  device_run(&d);
  device_connect(&d);
  resume();
  for (int events = 0; events < EVENTS_MAXIMUM && in.at < in.end; events++) {
    happen(&in);
    if (d.flash.dead) {
      restart();
      resume();
    }
    check_state();
  }
  d.flash.bad_rows = d.flash.failed_rows = d.flash.failed_erases = d.flash.bad_records = 0;
  d.flash.cut_at = 0;
  if (size & 1) restart();
  else reconnect();
  if (complete() != is_valid) abort();
  check_state();
  if (!is_valid && !update(&d, image, p.image_size)) abort();
  if (d.flash.violations != 0) abort();
  return 0;
}

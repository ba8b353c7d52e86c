/// The device side in C: any sequence of writes, polls, disconnections, resets, power failures and
/// flash faults causes no undefined behavior, violates no rule of flash, and leaves a device that
/// still accepts an update.
#include "device.h"

#include <stdlib.h>
#include <string.h>

/// Small pages make an execution cheaper and cross more page boundaries.
enum { FUZZ_PAGE = 256, FUZZ_ROW = 64, IMAGE = 5 * FUZZ_PAGE + 77, STEPS_MAXIMUM = 400 };

typedef struct {
  const uint8_t *at, *end;
} input;

static uint8_t byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

static void pick_random(void *context, uint8_t *to) {
  for (int i = 0; i < OTA_CHALLENGE_SIZE; i++) to[i] = (uint8_t)random_below(context, 256);
}

/// The proof for this device is the challenge itself.
static bool check_proof(void *context, const uint8_t *challenge, const uint8_t *proof) {
  (void)context;
  return memcmp(challenge, proof, OTA_PROOF_SIZE) == 0;
}

static void authorize(device *d) {
  uint8_t bytes[1 + OTA_PROOF_SIZE] = {OTA_OP_AUTHORIZE};
  if (request_op(d, OTA_OP_CHALLENGE) != 0) return;
  memcpy(bytes + 1, d->answer + 2, OTA_PROOF_SIZE);
  request(d, bytes, sizeof bytes);
}

/// Writes bytes of the input unchanged.
static void write_raw(device *d, input *in, bool control) {
  uint8_t bytes[255], size = byte(in);
  for (uint8_t i = 0; i < size; i++) bytes[i] = byte(in);
  if (control) ota_receiver_control_write(&d->receiver, bytes, size);
  else ota_receiver_data_write(&d->receiver, bytes, size, byte(in) & 1);
}

/// Writes data at the offset that the device expects, up to the end of the image.
static void write_wanted(device *d, const uint8_t *image, uint8_t size) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d->receiver, status);
  uint32_t next = get32(status + 4);
  if (next >= IMAGE) return;
  uint32_t count = 1 + size % CHUNK;
  data(d, image, next, count < IMAGE - next ? count : IMAGE - next, size & 1);
}

static void spoil(device *d, uint8_t how) {
  uint32_t count = 1 + (how >> 4 & 3);
  switch (how & 3) {
    case 0: d->flash.bad_rows = count; break;
    case 1: d->flash.failed_rows = count; break;
    case 2: d->flash.failed_erases = count; break;
    default: d->flash.bad_records = count;
  }
}

static void begin_some(device *d, input *in, const uint8_t *image) {
  uint32_t size = 1 + byte(in) * 6;
  begin(d, image, size < IMAGE ? size : IMAGE, byte(in));
}

/// The base of a device that supports patches, and a stream that creates the image with one page
/// per part.
static uint8_t base[300];
static uint8_t stream[4096];
static uint32_t stream_size;

/// Each part consists of zero differences to the base, and of new bytes.
static void make_stream(const uint8_t *image, uint32_t page) {
  stream_size = 0;
  for (uint32_t at = 0; at < IMAGE; at += page) {
    uint8_t *header = stream + stream_size, *to = header + 16;
    uint32_t size = IMAGE - at < page ? IMAGE - at : page;
    const uint8_t numbers[] = {(uint8_t)((size & 0x3F) | 0x80), (uint8_t)(size >> 6 & 0x7F)};
    memcpy(to, (const uint8_t[]){0, numbers[0], numbers[1], 0, 0, numbers[0], numbers[1]}, 7);
    memcpy(to + 7, image + at, size);
    to[7 + size] = 0;
    put32(header, at);
    put32(header + 4, size);
    put32(header + 8, 8 + size);
    put32(header + 12, ota_crc32(0, image, at + size));
    stream_size += 24 + size;
  }
}

static void announce(device *d, uint8_t how) {
  uint8_t bytes[17] = {OTA_OP_PATCH};
  uint32_t size = how & 1 ? 0 : d->config.running.size;
  put32(bytes + 1, size);
  put32(bytes + 5, size == 0 ? 0 : d->config.running.crc32);
  put32(bytes + 9, stream_size + (how & 2));
  put32(bytes + 13, how >> 2);
  request(d, bytes, sizeof bytes);
}

/// Writes bytes of the input at the offset that the device expects.
static void write_bytes(device *d, input *in) {
  uint8_t bytes[4 + 64], count = byte(in) % 64;
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d->receiver, status);
  memcpy(bytes, status + 4, 4);
  for (uint8_t i = 0; i < count; i++) bytes[4 + i] = byte(in);
  ota_receiver_data_write(&d->receiver, bytes, 4u + count, count & 1);
  device_run(d);
}

static void write_stream(device *d, uint8_t size) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d->receiver, status);
  uint32_t next = get32(status + 4), count = 1 + size % CHUNK;
  if (next >= stream_size) return;
  data(d, stream, next, count < stream_size - next ? count : stream_size - next, size & 1);
}

static void step(device *d, input *in, const uint8_t *image, bool *is_tampered) {
  switch (byte(in) % 20) {
    case 0: write_raw(d, in, true); break;
    case 1: write_raw(d, in, false); break;
    case 2: write_wanted(d, image, byte(in)); break;
    case 3: device_run(d); break;
    case 4: ota_receiver_poll(&d->receiver, d->now++); break;
    case 5: ota_receiver_disconnected(&d->receiver); break;
    case 6: device_connect(d); break;
    case 7: device_boot(d); break;
    case 8: d->flash.cut_at = d->flash.operations + 1 + byte(in) % 16; break;
    case 9: spoil(d, byte(in)); break;
    case 10: begin_some(d, in, image); break;
    case 11: request_op(d, byte(in)); break;
    case 12: d->stack_full = byte(in) & 1; break;
    case 13: ota_receiver_indication_confirmed(&d->receiver); break;
    case 14: authorize(d); break;
    case 16: announce(d, byte(in)); break;
    case 17: begin(d, image, IMAGE, byte(in) | OTA_BEGIN_PATCH); break;
    case 18: write_bytes(d, in); break;
    case 19: write_stream(d, byte(in)); break;
    default: {
      // Another program writes to the record: the sanitizers still check, the rules of flash do not
      // apply.
      uint32_t address = META + (byte(in) & 1) * PAGE + byte(in);
      d->flash.bytes[address] ^= byte(in);
      *is_tampered = true;
    }
  }
}

/// Selects one of four geometries: small pages of four rows, the two geometries of the tests, and
/// pages of one row.
static void choose_geometry(device *d, uint8_t kind) {
  static const uint32_t pages[] = {FUZZ_PAGE, SMALL_PAGE, PAGE, FUZZ_PAGE};
  static const uint32_t rows[] = {FUZZ_ROW, SMALL_ROW, ROW, FUZZ_PAGE};
  d->config.page_size = pages[kind >> 4 & 3];
  d->config.row_size = rows[kind >> 4 & 3];
}

/// Removes all faults.
static void clear_faults(device *d) {
  d->flash.bad_rows = d->flash.failed_rows = d->flash.failed_erases = d->flash.bad_records = 0;
  d->flash.slow = d->stack_full = false;
  device_boot(d);
  device_run(d);
  device_connect(d);
  authorize(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const uint8_t alignments[] = {1, 4, 8, 16};
  static device d;
  static uint8_t image[IMAGE];
  for (uint32_t i = 0; i < IMAGE; i++) image[i] = (uint8_t)(i * 7 + i / 256);
  input in = {bytes, bytes + size};
  uint8_t kind = byte(&in);
  bool is_tampered = false;
  device_make(&d, 1 + byte(&in), alignments[kind & 3]);
  if (kind & 4) {
    d.config.random = pick_random;
    d.config.check_proof = check_proof;
  }
  d.flash.slow = kind & 8;
  choose_geometry(&d, kind);
  d.config.erase_ahead = kind & 0x80;
  d.may_erase = kind & 2;
  make_stream(image, d.config.page_size);
  if (kind & 0x40 && d.config.page_size > SMALL_PAGE) device_take_patches(&d, base, sizeof base);
  else device_boot(&d);
  for (int steps = 0; steps < STEPS_MAXIMUM && in.at < in.end; steps++)
    step(&d, &in, image, &is_tampered);
  if (d.flash.violations != 0 && !is_tampered) abort();
  d.flash.violations = 0;
  clear_faults(&d);
  if (update(&d, image, IMAGE)) return 0;
  // A forged record may contain a false first part, or mark pages as erased that are not: VERIFY
  // detects this, or the programmed bytes do not read back, and the next update succeeds.
  d.flash.violations = 0;
  if (!is_tampered || !update(&d, image, IMAGE)) abort();
  return 0;
}

/// Tests the receiver against docs/ota-service.md. Prints one line per failure, and the totals.
#include <stdio.h>
#include <string.h>

#include "device.h"

static unsigned passed, failed;
static const char *subject = "";

static void check(bool ok, const char *what, int line) {
  if (ok) passed++;
  else failed++;
  if (!ok) printf("line %d: %s: %s\n", line, subject, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static device d;
static uint8_t image[SLOT];

/// An image without runs of 0xFF, except in the middle, where a blank row is the difficult case.
static void make_image(uint64_t seed) {
  device source = {.seed = seed};
  for (uint32_t i = 0; i < SLOT; i++) image[i] = (uint8_t)random_below(&source, 256);
  memset(image + 5 * ROW, 0xFF, ROW);
}

static void make(uint64_t seed, uint8_t alignment) {
  device_make(&d, seed, alignment);
  device_connect(&d);
}

static uint32_t status_state(void) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d.receiver, status);
  return status[0];
}

static uint32_t next_offset(void) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_receiver_status_read(&d.receiver, status);
  return get32(status + 4);
}

static uint32_t rewind_to(uint32_t offset) {
  uint8_t bytes[5] = {OTA_OP_REWIND};
  put32(bytes + 1, offset);
  return request(&d, bytes, 5);
}

static uint32_t abort_with(uint8_t flags) {
  uint8_t bytes[2] = {OTA_OP_ABORT, flags};
  return request(&d, bytes, 2);
}

static void test_crc32(void) {
  subject = "CRC32";
  CHECK(ota_crc32(0, (const uint8_t *)"123456789", 9) == 0xCBF43926);
  uint32_t half = ota_crc32(0, (const uint8_t *)"1234", 4);
  CHECK(ota_crc32(half, (const uint8_t *)"56789", 5) == 0xCBF43926);
}

static void test_happy_path(void) {
  subject = "happy path";
  for (uint8_t alignment = 1; alignment <= 16; alignment *= 2) {
    for (uint32_t size = 1; size <= SLOT; size = size * 3 + 1) {
      make(size, alignment);
      d.flash.slow = size & 1;
      CHECK(update(&d, image, size));
      CHECK(status_state() == OTA_STATE_VERIFIED);
      CHECK(d.answer_size == 6 && get32(d.answer + 2) == ota_crc32(0, image, size));
      CHECK(request_op(&d, OTA_OP_ACTIVATE) == 0);
      CHECK(d.activated);
    }
  }
  make(1, 8);
  CHECK(update(&d, image, SLOT));
  ota_receiver_disconnected(&d.receiver);
  CHECK(!d.activated);
}

/// An answer belongs to the connection that sent the request, so the next connection receives no
/// answer. The reset still happens.
static void test_activation_outlives_its_connection(void) {
  subject = "an activation that outlives its connection";
  const uint8_t activate = OTA_OP_ACTIVATE;
  for (int subscribes = 0; subscribes < 2; subscribes++) {
    make(1, 8);
    CHECK(update(&d, image, 3000));
    d.flash.slow = true;
    d.answer_size = 0;
    CHECK(ota_receiver_control_write(&d.receiver, &activate, 1) == 0);
    ota_receiver_poll(&d.receiver, d.now);
    CHECK(d.flash.pending > 0);
    ota_receiver_disconnected(&d.receiver);
    ota_receiver_connected(&d.receiver);
    if (subscribes) ota_receiver_control_cccd(&d.receiver, 2);
    device_run(&d);
    CHECK(d.answer_size == 0 && d.activated);
  }
}

static void test_activation_deadline(void) {
  subject = "activation without a confirmation";
  const uint8_t activate = OTA_OP_ACTIVATE;
  for (int lost = 0; lost < 2; lost++) {
    make(1, 8);
    CHECK(update(&d, image, 3000));
    CHECK(ota_receiver_control_write(&d.receiver, &activate, 1) == 0);
    device_run(&d);
    CHECK(d.answer[0] == 0x89 && !d.activated);
    CHECK(ota_receiver_poll(&d.receiver, d.now) <= OTA_ACTIVATE_WAIT_MS);
    if (lost) ota_receiver_disconnected(&d.receiver);
    else d.now += OTA_ACTIVATE_WAIT_MS;
    device_run(&d);
    CHECK(d.activated);
  }
}

static void test_information(void) {
  subject = "INFO, RUNNING, CONFIRM";
  static const uint8_t info[] = {0x81, 0, 1, 4, 0x01, 0xA0, 0, 0, 0, 0x40, 0, 0, 0, 4, 0, 0, 100, 0, 0, 4};
  static const uint8_t running[] = {0x82, 0, 1, 2, 3, 0, 0xE8, 3, 0, 0, 0x44, 0x33, 0x22, 0x11, 1, 1};
  device_make(&d, 1, 8);
  d.config.boot_outcome = OTA_BOOT_ACTIVATED;
  d.config.trial = true;
  device_boot(&d);
  device_connect(&d);
  CHECK(request(&d, (const uint8_t[]){1, 9}, 2) == 0);
  CHECK(d.answer_size == sizeof info && memcmp(d.answer, info, sizeof info) == 0);
  CHECK(request(&d, (const uint8_t[]){1, 0}, 2) == OTA_RESULT_VERSION_NOT_SUPPORTED);
  CHECK(d.answer_size == 4 && d.answer[2] == 1 && d.answer[3] == 1);
  CHECK(request_op(&d, OTA_OP_RUNNING) == 0);
  CHECK(d.answer_size == sizeof running && memcmp(d.answer, running, sizeof running) == 0);
  CHECK(request_op(&d, OTA_OP_CONFIRM) == 0 && d.confirmed);
  CHECK(request_op(&d, OTA_OP_CONFIRM) == OTA_RESULT_NOTHING_TO_CONFIRM);
  CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 2) == 0);
}

/// The slot holds the image that the bootloader would revert to.
static void test_begin_on_trial(void) {
  subject = "BEGIN while an image is on trial";
  for (int stored = 0; stored < 2; stored++) {
    device_make(&d, 1, 8);
    d.config.trial = true;
    d.refuses_confirm = !stored;
    device_boot(&d);
    device_connect(&d);
    CHECK(begin(&d, image, 3000, OTA_BEGIN_SINK) == 0 && !d.confirmed);
    d.vetoed = true;
    CHECK(begin(&d, image, 3000, 0) == OTA_RESULT_REFUSED_BY_APPLICATION && !d.confirmed);
    d.vetoed = false;
    CHECK(begin(&d, image, 3000, 0) == (stored ? 0 : OTA_RESULT_FLASH_FAULT));
    CHECK(d.confirmed == stored);
    CHECK(request_op(&d, OTA_OP_CONFIRM) == (stored ? OTA_RESULT_NOTHING_TO_CONFIRM : OTA_RESULT_FLASH_FAULT));
  }
}

static void test_refusals(void) {
  subject = "refusals of Control";
  make(1, 8);
  uint8_t long_request[19] = {OTA_OP_BEGIN};
  CHECK(request_op(&d, 0x0C) == OTA_RESULT_UNKNOWN_OPCODE);
  CHECK(request_op(&d, 0x00) == OTA_RESULT_UNKNOWN_OPCODE);
  CHECK(request(&d, long_request, 0) == (0x100 | OTA_ATT_INVALID_LENGTH));
  CHECK(request(&d, long_request, 19) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(request(&d, long_request, 17) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(request_op(&d, OTA_OP_CHALLENGE) == OTA_RESULT_WRONG_STATE);
  CHECK(request_op(&d, OTA_OP_VERIFY) == OTA_RESULT_WRONG_STATE);
  CHECK(request_op(&d, OTA_OP_ACTIVATE) == OTA_RESULT_WRONG_STATE);
  CHECK(rewind_to(0) == OTA_RESULT_WRONG_STATE);
  CHECK(begin(&d, image, 100, 0x10) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(abort_with(2) == OTA_RESULT_MALFORMED_REQUEST);
  uint8_t bytes[18] = {OTA_OP_BEGIN};
  CHECK(request(&d, bytes, 18) == OTA_RESULT_DOES_NOT_FIT);
  put32(bytes + 2, SLOT + 1);
  CHECK(request(&d, bytes, 18) == OTA_RESULT_DOES_NOT_FIT);
  put32(bytes + 2, SLOT);
  CHECK(request(&d, bytes, 18) == OTA_RESULT_WRONG_HARDWARE);
  bytes[1] = OTA_BEGIN_ALLOW_OTHER_HARDWARE;
  bytes[10] = 1, bytes[11] = 2, bytes[12] = 2;
  CHECK(request(&d, bytes, 18) == OTA_RESULT_DOWNGRADE);
  d.vetoed = true;
  bytes[1] |= OTA_BEGIN_ALLOW_DOWNGRADE;
  CHECK(request(&d, bytes, 18) == OTA_RESULT_REFUSED_BY_APPLICATION);
  CHECK(status_state() == OTA_STATE_IDLE);
  d.vetoed = false;
  CHECK(request(&d, bytes, 18) == 0);
  CHECK(rewind_to(1) == OTA_RESULT_MALFORMED_REQUEST);
  ota_receiver_control_cccd(&d.receiver, 1);
  CHECK(request_op(&d, OTA_OP_RUNNING) == (0x100 | OTA_ATT_CCCD_IMPROPER));
  ota_receiver_control_cccd(&d.receiver, 2);
  const uint8_t running = OTA_OP_RUNNING;
  CHECK(ota_receiver_control_write(&d.receiver, &running, 1) == 0);
  CHECK(ota_receiver_control_write(&d.receiver, &running, 1) == OTA_ATT_BUSY);
  device_run(&d);
  CHECK(ota_receiver_control_write(&d.receiver, &running, 1) == OTA_ATT_BUSY);
  ota_receiver_indication_confirmed(&d.receiver);
  CHECK(ota_receiver_control_write(&d.receiver, &running, 1) == 0);
}

static void fixed_random(void *context, uint8_t *to) {
  (void)context;
  for (uint8_t i = 0; i < OTA_CHALLENGE_SIZE; i++) to[i] = i;
}

static bool proof_is_complement(void *context, const uint8_t *challenge, const uint8_t *proof) {
  (void)context;
  for (int i = 0; i < OTA_PROOF_SIZE; i++)
    if ((proof[i] ^ challenge[i]) != 0xFF) return false;
  return true;
}

static void test_authorization(void) {
  subject = "authorization";
  device_make(&d, 1, 8);
  d.config.random = fixed_random;
  d.config.check_proof = proof_is_complement;
  device_boot(&d);
  device_connect(&d);
  uint8_t proof[17] = {OTA_OP_AUTHORIZE}, wrong[17] = {OTA_OP_AUTHORIZE};
  for (int i = 0; i < 16; i++) proof[1 + i] = (uint8_t)~i;
  CHECK(begin(&d, image, 500, 0) == OTA_RESULT_NOT_AUTHORIZED);
  // Length and flags are checked before the authorization.
  CHECK(begin(&d, image, 500, 0x10) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(request(&d, (const uint8_t[]){OTA_OP_ABORT, 2}, 2) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(request_op(&d, OTA_OP_VERIFY) == OTA_RESULT_NOT_AUTHORIZED);
  CHECK(request_op(&d, OTA_OP_CONFIRM) == OTA_RESULT_NOT_AUTHORIZED);
  CHECK(data(&d, image, 0, 50, true) == OTA_ATT_NOT_AUTHORIZED && d.errors[5] == 0);
  data(&d, image, 0, 50, false);
  data(&d, image, 0, 50, false);
  CHECK(d.errors[OTA_ERROR_NOT_AUTHORIZED] == 1);
  CHECK(request(&d, proof, 17) == OTA_RESULT_WRONG_STATE);
  CHECK(request_op(&d, OTA_OP_CHALLENGE) == 0 && d.answer_size == 18 && d.answer[17] == 15);
  CHECK(request(&d, proof, 17) == 0);
  CHECK(request(&d, proof, 17) == OTA_RESULT_WRONG_STATE);
  CHECK(request(&d, (const uint8_t[]){1, 1}, 2) == 0 && d.answer[3] == 7);
  // A wrong proof uses up its challenge, but an earlier authorization stays valid.
  CHECK(request_op(&d, OTA_OP_CHALLENGE) == 0);
  CHECK(request(&d, wrong, 17) == OTA_RESULT_WRONG_PROOF);
  CHECK(request(&d, proof, 17) == OTA_RESULT_WRONG_STATE);
  CHECK(request(&d, (const uint8_t[]){1, 1}, 2) == 0 && d.answer[3] == 7);
  CHECK(request_op(&d, OTA_OP_CHALLENGE) == 0 && request(&d, proof, 17) == 0);
  CHECK(update(&d, image, 500));
  ota_receiver_disconnected(&d.receiver);
  device_connect(&d);
  CHECK(request_op(&d, OTA_OP_ACTIVATE) == OTA_RESULT_NOT_AUTHORIZED);
  for (int i = 0; i < OTA_WRONG_PROOF_MAXIMUM; i++) {
    CHECK(request_op(&d, OTA_OP_CHALLENGE) == 0);
    CHECK(request(&d, wrong, 17) == OTA_RESULT_WRONG_PROOF);
  }
  CHECK(request_op(&d, OTA_OP_CHALLENGE) == OTA_RESULT_LOCKED);
  CHECK(request(&d, proof, 17) == OTA_RESULT_LOCKED);
  device_boot(&d);
  device_connect(&d);
  CHECK(request_op(&d, OTA_OP_CHALLENGE) == 0 && request(&d, proof, 17) == 0);
}

static void test_data_refusals(void) {
  subject = "refusals of Data";
  make(1, 8);
  CHECK(data(&d, image, 0, 10, true) == OTA_ATT_NO_SESSION);
  CHECK(data(&d, image, 0, 10, false) == OTA_ATT_NO_SESSION && d.errors[4] == 1);
  CHECK(begin(&d, image, 5000, 0) == 0);
  CHECK(data(&d, image, 0, 0, true) == OTA_ATT_INVALID_LENGTH);
  CHECK(data(&d, image, 0, CHUNK + 1, true) == OTA_ATT_INVALID_LENGTH);
  CHECK(data(&d, image, 0, CHUNK, false) == 0 && next_offset() == CHUNK);
  CHECK(data(&d, image, 0, CHUNK, true) == OTA_ATT_GAP && d.errors[1] == 0);
  CHECK(data(&d, image, 0, CHUNK, false) == OTA_ATT_GAP && d.errors[1] == 1);
  CHECK(data(&d, image, 200, CHUNK, false) == OTA_ATT_GAP && d.errors[1] == 1);
  CHECK(get32(d.status + 4) == CHUNK);
  CHECK(data(&d, image, CHUNK, 50, false) == 0);
  CHECK(data(&d, image, 300, 10, false) == OTA_ATT_GAP && d.errors[1] == 2);
  CHECK(rewind_to(150) == 0 && get32(d.answer + 2) == 0);
  CHECK(data(&d, image, 300, 10, false) == OTA_ATT_GAP && d.errors[1] == 3);
  CHECK(send_to(&d, image, 4990));
  CHECK(data(&d, image, 4990, 11, true) == OTA_ATT_INVALID_LENGTH && d.errors[2] == 0);
  CHECK(data(&d, image, 4990, 11, false) == OTA_ATT_INVALID_LENGTH && d.errors[2] == 1);
  CHECK(data(&d, image, 4990, 10, false) == 0);
  CHECK(request_op(&d, OTA_OP_VERIFY) == 0);
  CHECK(data(&d, image, 0, 10, true) == OTA_ATT_NO_SESSION);
}

static void test_overrun(void) {
  subject = "window and overrun";
  make(1, 8);
  d.flash.slow = true;
  CHECK(begin(&d, image, 5000, 0) == 0);
  uint8_t bytes[4 + CHUNK];
  uint32_t taken = 0, refused = 0;
  for (uint32_t i = 0; i < 2 * RING / CHUNK; i++) {
    put32(bytes, taken);
    memcpy(bytes + 4, image + taken, CHUNK);
    uint8_t error = ota_receiver_data_write(&d.receiver, bytes, sizeof bytes, false);
    if (error == 0) taken += CHUNK;
    else CHECK(error == OTA_ATT_BUSY && ++refused);
  }
  CHECK(taken == RING / CHUNK * CHUNK && refused > 0);
  CHECK(ota_receiver_data_write(&d.receiver, bytes, sizeof bytes, true) == OTA_ATT_BUSY);
  ota_receiver_poll(&d.receiver, d.now);
  CHECK(d.errors[OTA_ERROR_OVERRUN] == 1);
  CHECK((d.status[2] | d.status[3] << 8) < CHUNK);
  uint32_t before = d.statuses;
  ota_receiver_flash_done(&d.receiver, true);
  d.flash.pending = 0;
  device_run(&d);
  CHECK(d.statuses > before && (d.status[2] | d.status[3] << 8) >= CHUNK);
  CHECK(update(&d, image, 5000));
}

/// The sizes of row and chunk do not divide each other, and two chunks plus a row do not fit the
/// buffer.
static void test_small_buffer(void) {
  subject = "a host that waits until a complete chunk fits";
  device_make(&d, 1, 8);
  d.config.ring_size = 3 * ROW;
  d.config.largest_chunk = OTA_CHUNK_MAXIMUM;
  device_boot(&d);
  device_connect(&d);
  CHECK(begin(&d, image, 5000, 0) == 0);
  uint32_t sent = 0, size = OTA_CHUNK_MAXIMUM;
  while (sent < 5000 && sent + size <= get32(d.status + 4) + (d.status[2] | d.status[3] << 8u)) {
    CHECK(data(&d, image, sent, size, false) == 0);
    sent += size;
    if (size > 5000 - sent) size = 5000 - sent;
  }
  CHECK(sent == 5000);
  CHECK(request_op(&d, OTA_OP_VERIFY) == 0);
}

static void test_full_stack(void) {
  subject = "a stack without buffers";
  make(1, 8);
  d.stack_full = true;
  const uint8_t running = OTA_OP_RUNNING;
  CHECK(ota_receiver_control_write(&d.receiver, &running, 1) == 0);
  d.answer_size = 0;
  device_run(&d);
  CHECK(ota_receiver_poll(&d.receiver, d.now) == OTA_SEND_RETRY_MS && d.answer_size == 0);
  d.stack_full = false;
  device_run(&d);
  CHECK(d.answer_size == 16);

  // The error that ended the session is reported before errors of later data.
  make(1, 8);
  CHECK(begin(&d, image, 9000, 0) == 0 && send_to(&d, image, 2200));
  d.flash.failed_erases = OTA_FLASH_RETRY_MAXIMUM + 1;
  d.stack_full = true;
  for (uint32_t at = 2200; at < 4000; at += CHUNK) data(&d, image, at, CHUNK, false);
  CHECK(status_state() == OTA_STATE_IDLE && d.errors[OTA_ERROR_FLASH_FAULT] == 0);
  d.stack_full = false;
  device_run(&d);
  CHECK(d.errors[OTA_ERROR_FLASH_FAULT] == 1 && d.errors[OTA_ERROR_NO_SESSION] == 1);
  CHECK(d.status[1] == OTA_ERROR_NO_SESSION);
}

static void test_resume(void) {
  subject = "resume after a disconnection, an ABORT and a reset";
  for (uint32_t at = 0; at < 9000; at += 217) {
    make(at, 8);
    CHECK(begin(&d, image, 9000, 0) == 0 && send_to(&d, image, at));
    if (at % 2) {
      ota_receiver_disconnected(&d.receiver);
      device_run(&d);
      device_connect(&d);
    } else {
      CHECK(abort_with(0) == 0 && status_state() == OTA_STATE_IDLE);
    }
    CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 10) == at);
    CHECK(begin(&d, image, 9000, 0) == 0 && get32(d.answer + 2) == at);
    CHECK(send_to(&d, image, at));
    device_boot(&d);
    device_connect(&d);
    CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0);
    CHECK(get32(d.answer + 10) == at - at % ROW);
    CHECK(update(&d, image, 9000));
  }
}

static void test_discard(void) {
  subject = "discarded sessions";
  make(1, 8);
  CHECK(begin(&d, image, 9000, 0) == 0 && send_to(&d, image, 5000));
  CHECK(begin(&d, image, 8000, 0) == 0 && get32(d.answer + 2) == 0);
  CHECK(send_to(&d, image, 5000) && begin(&d, image, 8000, OTA_BEGIN_RESTART) == 0);
  CHECK(get32(d.answer + 2) == 0 && send_to(&d, image, 5000));
  CHECK(abort_with(OTA_ABORT_DISCARD) == 0);
  for (int boots = 0; boots < 2; boots++) {
    CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 2) == 0);
    device_boot(&d);
    device_connect(&d);
  }
  CHECK(update(&d, image, 8000) && request_op(&d, OTA_OP_ACTIVATE) == 0);
  device_boot(&d);
  device_connect(&d);
  CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 2) == 0);
}

static void test_mismatch(void) {
  subject = "VERIFY finds another CRC32";
  make(1, 8);
  CHECK(begin(&d, image, 3000, 0) == 0 && send_to(&d, image, 3000));
  d.flash.bytes[1234] ^= 4;
  uint32_t found = ota_crc32(0, d.flash.bytes, 3000);
  CHECK(request_op(&d, OTA_OP_VERIFY) == OTA_RESULT_CRC_MISMATCH);
  CHECK(d.answer_size == 6 && get32(d.answer + 2) == found && status_state() == OTA_STATE_IDLE);
  CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 2) == 0);
}

static void test_rewind(void) {
  subject = "REWIND";
  for (uint32_t to = 0; to <= 7000; to += 333) {
    make(to, 16);
    d.flash.slow = to & 1;
    CHECK(begin(&d, image, 9000, 0) == 0 && send_to(&d, image, 7000));
    CHECK(rewind_to(to) == 0 && get32(d.answer + 2) == to - to % PAGE);
    CHECK(get32(d.answer + 6) == ota_crc32(0, image, to - to % PAGE));
    if (to % 3 == 0) {
      device_boot(&d);
      device_connect(&d);
      CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 10) <= to);
    }
    CHECK(update(&d, image, 9000));
  }
}

static void test_sink(void) {
  subject = "sink session";
  make(1, 8);
  CHECK(begin(&d, image, 9000, 0) == 0 && send_to(&d, image, 2222));
  uint32_t operations = d.flash.operations;
  CHECK(begin(&d, image, 5000, OTA_BEGIN_SINK) == 0 && send_to(&d, image, 1500));
  CHECK(rewind_to(1200) == 0 && get32(d.answer + 2) == 0);
  CHECK(send_to(&d, image, 5000) && request_op(&d, OTA_OP_VERIFY) == 0);
  CHECK(request_op(&d, OTA_OP_ACTIVATE) == OTA_RESULT_WRONG_STATE);
  CHECK(abort_with(OTA_ABORT_DISCARD) == 0 && d.flash.operations == operations);
  CHECK(begin(&d, image, 9000, 0) == 0 && get32(d.answer + 2) == 2222);
  CHECK(update(&d, image, 9000));
}

static void test_flash_faults(void) {
  subject = "flash faults";
  for (uint32_t faults = 1; faults <= 4; faults++) {
    for (int kind = 0; kind < 4; kind++) {
      make(faults, 8);
      CHECK(begin(&d, image, 9000, 0) == 0 && send_to(&d, image, 2200));
      if (kind == 0) d.flash.bad_rows = faults;
      if (kind == 1) d.flash.failed_rows = faults;
      if (kind == 2) d.flash.failed_erases = faults;
      if (kind == 3) d.flash.bad_records = faults;
      bool ends = faults > OTA_FLASH_RETRY_MAXIMUM;
      CHECK(send_to(&d, image, 9000) == !ends);
      CHECK(d.errors[OTA_ERROR_FLASH_FAULT] == (uint32_t)ends);
      if (kind < 2) CHECK(d.errors[OTA_ERROR_GAP] == (ends ? faults - 1 : faults));
      if (ends) CHECK(status_state() == OTA_STATE_IDLE);
      CHECK(update(&d, image, 9000));
    }
  }
}

static void test_worn_page(void) {
  subject = "a page that never holds its data";
  make(1, 8);
  d.flash.worn = 5 * PAGE;
  CHECK(begin(&d, image, 9000, 0) == 0 && !send_to(&d, image, 9000));
  CHECK(d.errors[OTA_ERROR_GAP] == OTA_FLASH_RETRY_MAXIMUM && d.errors[OTA_ERROR_FLASH_FAULT] == 1);
  CHECK(status_state() == OTA_STATE_IDLE);
  d.flash.worn = 0;
  CHECK(update(&d, image, 9000));
}

/// Runs an update during which power fails in flash operation `cut`, another one during which it fails
/// in operation `second_cut` (0: it does not fail), and then an update that must succeed. False: the
/// first update ended before `cut`.
static bool cut_and_resume(uint64_t seed, uint32_t size, uint32_t cut, uint32_t second_cut) {
  device_make(&d, seed, 8);
  if (seed % 3 == 0) {
    d.config.page_size = SMALL_PAGE;
    d.config.row_size = SMALL_ROW;
    device_boot(&d);
  }
  device_connect(&d);
  d.flash.slow = seed & 1;
  d.flash.cut_at = cut;
  bool ended = begin(&d, image, size, 0) == 0 && send_to(&d, image, size * 2 / 3);
  d.flash.bad_rows = seed % 2;
  ended = ended && send_to(&d, image, size * 3 / 4) && rewind_to(size / 2) == 0 && send_to(&d, image, size) &&
               request_op(&d, OTA_OP_VERIFY) == 0;
  if (ended) return false;
  for (int boots = 0; boots < 2; boots++) {
    device_boot(&d);
    d.flash.operations = d.flash.bad_rows = 0;
    d.flash.cut_at = boots == 0 ? second_cut : 0;
    device_connect(&d);
    CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0);
    uint32_t held = get32(d.answer + 10);
    CHECK(get32(d.answer + 14) == ota_crc32(0, d.flash.bytes, held));
    CHECK(held == 0 || ota_crc32(0, image, held) == get32(d.answer + 14));
    if (boots == 0 && second_cut != 0 && !update(&d, image, size)) continue;
    if (boots == 0 && second_cut == 0) continue;
    if (status_state() != OTA_STATE_VERIFIED) CHECK(update(&d, image, size));
  }
  CHECK(d.flash.violations == 0 && memcmp(d.flash.bytes, image, size) == 0);
  return true;
}

static void test_power_cuts(void) {
  subject = "power cuts";
  uint32_t cuts = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    for (uint32_t cut = 1; cut_and_resume(seed, 3900, cut, (uint32_t)(seed % 4) * 5 + cut % 7); cut++)
      cuts++;
  }
  CHECK(cuts > 300);
  printf("power cuts: %u\n", cuts);
}

/// Applies random events in any order. The device must access only its flash, and must then accept
/// an update.
static void fuzz(uint64_t seed) {
  make(seed, (uint8_t)(1u << seed % 5));
  d.flash.slow = seed & 1;
  for (int step = 0; step < 150; step++) {
    uint8_t bytes[24];
    uint32_t size = random_below(&d, sizeof bytes);
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_below(&d, 256);
    bytes[0] %= 14;
    switch (random_below(&d, 12)) {
      case 0: request(&d, bytes, size); break;
      case 1: ota_receiver_data_write(&d.receiver, bytes, size, bytes[1] & 1); break;
      case 2: begin(&d, image, 6000 + 100 * random_below(&d, 2), bytes[1] & 9); break;
      case 3: rewind_to(random_below(&d, 6000)); break;
      case 4: request_op(&d, OTA_OP_VERIFY); break;
      case 5: abort_with(bytes[1] & 1); break;
      case 6: ota_receiver_disconnected(&d.receiver); device_connect(&d); break;
      case 7: d.flash.cut_at = d.flash.operations + 1 + random_below(&d, 9); break;
      case 8: d.flash.bad_rows = random_below(&d, 3); break;
      case 9: d.flash.bad_records = random_below(&d, 2); break;
      default: send_to(&d, image, random_below(&d, 6000)); break;
    }
    if (d.flash.dead) {
      device_boot(&d);
      device_connect(&d);
    }
  }
  d.flash.cut_at = d.flash.bad_rows = d.flash.bad_records = 0;
  ota_receiver_disconnected(&d.receiver);
  device_connect(&d);
  if (!update(&d, image, 6000)) {
    printf("seed %llu\n", (unsigned long long)seed);
    CHECK(!"the update after the fuzzing");
  }
  CHECK(d.flash.violations == 0);
}

/// The test vectors of docs/ota-service.md, 11, that need no key.
static void test_vectors(void) {
  subject = "test vectors";
  const uint8_t *nine = (const uint8_t *)"123456789";
  static const uint8_t begun[18] = {6, 0, 9, 0, 0, 0, 0x26, 0x39, 0xF4, 0xCB, 1, 3, 0, 0, 1, 0xA0};
  static const uint8_t fresh[16] = {1, 0, 0, 4};
  static const uint8_t four[16] = {1, 0, 0xFC, 3, 4, 0, 0, 0, 0xA3, 0xE0, 0xE3, 0x9B};
  static const uint8_t gap[16] = {1, 1, 0xFC, 3, 4, 0, 0, 0, 0xA3, 0xE0, 0xE3, 0x9B};
  static const uint8_t verified[6] = {0x88, 0, 0x26, 0x39, 0xF4, 0xCB};
  make(1, 8);
  CHECK(request(&d, begun, 18) == 0 && d.answer_size == 10);
  CHECK(memcmp(d.status, fresh, 16) == 0);
  CHECK(data(&d, nine, 0, 4, false) == 0);
  uint8_t status[16];
  ota_receiver_status_read(&d.receiver, status);
  CHECK(memcmp(status, four, 16) == 0);
  CHECK(data(&d, nine, 5, 4, false) == OTA_ATT_GAP && memcmp(d.status, gap, 16) == 0);
  CHECK(data(&d, nine, 4, 5, false) == 0 && request_op(&d, OTA_OP_VERIFY) == 0);
  CHECK(d.answer_size == 6 && memcmp(d.answer, verified, 6) == 0);
}

static void test_fuzz(void) {
  subject = "fuzz";
  for (uint64_t seed = 1; seed <= 1000; seed++) fuzz(seed);
}

static void test_configuration(void) {
  subject = "configuration";
  device_make(&d, 1, 8);
  ota_receiver receiver;
  ota_receiver_config config = d.config;
  CHECK(ota_receiver_init(&receiver, &config));
  config.write_alignment = 3;
  CHECK(!ota_receiver_init(&receiver, &config));
  config = d.config, config.row_size = 300;
  CHECK(!ota_receiver_init(&receiver, &config));
  config = d.config, config.ring_size = ROW;
  CHECK(!ota_receiver_init(&receiver, &config));
  config = d.config, config.largest_chunk = OTA_CHUNK_MAXIMUM + 1;
  CHECK(!ota_receiver_init(&receiver, &config));
  config = d.config, config.check_proof = proof_is_complement;
  CHECK(!ota_receiver_init(&receiver, &config));
  // The metadata pages must be two different pages, at page boundaries, outside the slot.
  static const uint32_t bad[][2] = {{META, META},           {META + PAGE, 0},
                                    {SLOT - PAGE, META},    {META, META + PAGE / 2},
                                    {META, META + PAGE + 1}};
  for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    config = d.config;
    memcpy(config.metadata_address, bad[i], sizeof bad[i]);
    CHECK(!ota_receiver_init(&receiver, &config));
  }
  config = d.config, config.slot_address = PAGE;  // reaches into the first of the metadata pages
  CHECK(!ota_receiver_init(&receiver, &config));
  config = d.config, config.slot_address = PAGE / 2;
  CHECK(!ota_receiver_init(&receiver, &config));
  config = d.config, config.slot_address = 0u - PAGE;  // ends beyond the address space
  CHECK(!ota_receiver_init(&receiver, &config));
}

int main(void) {
  make_image(7);
  test_crc32();
  test_configuration();
  test_information();
  test_begin_on_trial();
  test_refusals();
  test_authorization();
  test_data_refusals();
  test_overrun();
  test_small_buffer();
  test_full_stack();
  test_happy_path();
  test_activation_deadline();
  test_activation_outlives_its_connection();
  test_resume();
  test_discard();
  test_mismatch();
  test_rewind();
  test_sink();
  test_flash_faults();
  test_worn_page();
  test_power_cuts();
  test_vectors();
  test_fuzz();
  printf("%u passed, %u failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

/// Tests patch sessions against docs/ota-service.md, 13, and delta.md, 3. Prints one line per
/// failure, and the totals.
#include <stdio.h>
#include <string.h>

#include "erase_ahead.h"
#include "kept_pages.h"
#include "refusals.h"
#include "session.h"

const char *subject = "";
static unsigned passed, failed;

void check(bool ok, const char *what, int line) {
  if (ok) passed++;
  else failed++;
  if (!ok && failed < 40) printf("line %d: %s: %s\n", line, subject, what);
}

static void make_documents_device(void) {
  make_example(&p, example, sizeof example);
  make_device(1, 8);
  d.config.erase_ahead = true;
  device_boot(&d);
  device_connect(&d);
}

#define ANSWERED(...)                                                       \
  (d.answer_size == sizeof((const uint8_t[]){__VA_ARGS__}) &&               \
   memcmp(d.answer, (const uint8_t[]){__VA_ARGS__}, d.answer_size) == 0)
#define ZEROS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

static void test_vectors(void) {
  subject = "test vectors";
  make_documents_device();
  const uint8_t info[] = {1, 1};
  request(&d, info, 2);
  CHECK(ANSWERED(0x81, 0, 1, 0x1C, 1, 0xA0, 0, 0, 0, 0x40, 0, 0, 0, 4, 0, 0, 0x64, 0, 0, 4));
  request_op(&d, OTA_OP_PATCH_INFO);
  CHECK(ANSWERED(0x8D, 0, 6, 0x15, 1, 10, 10, 0, 4, 0, 0, 0x40, 0, 0, 0, 0x8C, 0xCE, 14, 0x10, 0));
  request_op(&d, OTA_OP_PATCH_POINT);
  CHECK(ANSWERED(0x8F, 0, ZEROS));
  CHECK(begin_patch(0) == OTA_RESULT_WRONG_STATE && d.answer_size == 2);
  CHECK(announce_stream(64, 0x100ECE8D, 46, 0xDF24A08C) == OTA_RESULT_OTHER_BASE);
  CHECK(ANSWERED(0x8E, 15, 0x40, 0, 0, 0, 0x8C, 0xCE, 14, 0x10));
  CHECK(begin_patch(0) == OTA_RESULT_WRONG_STATE);
  CHECK(announce_stream(64, 0x100ECE8C, 46, 0xDF24A08C) == 0 && ANSWERED(0x8E, 0));
  CHECK(begin_patch(0) == 0 && ANSWERED(0x86, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  CHECK(data(&d, p.stream, 0, 20, false) == 0);
  request_op(&d, OTA_OP_PATCH_POINT);
  CHECK(ANSWERED(0x8F, 0, 0x2E, 0, 0, 0, 0x8C, 0xA0, 0x24, 0xDF, 20, 0, 0, 0, 0, 0, 0, 0));
  request_op(&d, OTA_OP_RESUME_POINT);
  CHECK(ANSWERED(0x83, 0, ZEROS));
  CHECK(data(&d, p.stream, 20, 26, false) == 0);
  request_op(&d, OTA_OP_VERIFY);
  CHECK(ANSWERED(0x88, 0, 0x8F, 0xF8, 0xBA, 0x74));
  CHECK(slot_is_image() && request_op(&d, OTA_OP_ACTIVATE) == 0);
  device_run(&d);
  CHECK(d.activated && d.flash.violations == 0);
}

/// A device with patch sessions disabled behaves like a device without the option.
static void test_without(void) {
  subject = "a device without patches";
  make_example(&p, example, sizeof example);
  device_make(&d, 1, 8);
  device_connect(&d);
  const uint8_t info[] = {1, 1};
  request(&d, info, 2);
  CHECK(d.answer[3] == 4);
  for (uint8_t op = OTA_OP_PATCH_INFO; op <= OTA_OP_PATCH_POINT; op++)
    CHECK(request_op(&d, op) == OTA_RESULT_UNKNOWN_OPCODE);
  CHECK(announce() == OTA_RESULT_UNKNOWN_OPCODE);
  CHECK(begin_patch(0) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(plain_update());
}

static void test_requests(void) {
  subject = "requests";
  make_documents_device();
  CHECK(request_op(&d, OTA_OP_PATCH) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(announce_stream(64, 0x100ECE8C, 0, 0) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(announce_stream(64, 0x100ECE8C, 0x80000000, 0) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(announce_stream(0, 1, 46, 0) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(announce_stream(63, 0x100ECE8C, 46, 0) == OTA_RESULT_OTHER_BASE);
  CHECK(announce() == 0 && begin_patch(OTA_BEGIN_SINK) == OTA_RESULT_MALFORMED_REQUEST);
  CHECK(begin(&d, p.image, p.image_size, 0x20) == OTA_RESULT_MALFORMED_REQUEST);
  d.vetoed = true;
  CHECK(begin_patch(0) == OTA_RESULT_REFUSED_BY_APPLICATION);
  d.vetoed = false;
  // Refused requests keep the announcement; a successful BEGIN or another connection ends it.
  CHECK(begin_patch(0) == 0 && begin_patch(0) == OTA_RESULT_WRONG_STATE);
  CHECK(announce() == 0 && announce_stream(1, 2, 3, 4) == OTA_RESULT_OTHER_BASE);
  CHECK(begin_patch(0) == OTA_RESULT_WRONG_STATE);
  CHECK(announce() == 0 && begin(&d, p.image, p.image_size, 0) == 0);
  CHECK(begin_patch(0) == OTA_RESULT_WRONG_STATE);
  CHECK(announce() == 0);
  reconnect();
  CHECK(begin_patch(0) == OTA_RESULT_WRONG_STATE);
  CHECK(patch_update() && request_op(&d, OTA_OP_ACTIVATE) == 0);
}

static uint32_t begin_for(uint32_t size, uint8_t minor, uint32_t hardware) {
  uint8_t bytes[18] = {OTA_OP_BEGIN, OTA_BEGIN_PATCH};
  put32(bytes + 2, size);
  bytes[10] = 1;
  bytes[11] = minor;
  put32(bytes + 14, hardware);
  return request(&d, bytes, sizeof bytes);
}

static void test_begin_checks_the_image(void) {
  subject = "BEGIN checks the new image";
  make_documents_device();
  CHECK(announce() == 0);
  CHECK(begin_for(SLOT + 1, 3, BOARD) == OTA_RESULT_DOES_NOT_FIT);
  CHECK(begin_for(0, 3, BOARD) == OTA_RESULT_DOES_NOT_FIT);
  CHECK(begin_for(67, 3, BOARD + 1) == OTA_RESULT_WRONG_HARDWARE);
  CHECK(begin_for(67, 1, BOARD) == OTA_RESULT_DOWNGRADE);
  CHECK(begin_patch(0) == 0);
}

static void draw(uint64_t seed) {
  static const uint32_t parts[] = {PAGE, 4 * PAGE, 64 * PAGE};
  uint32_t base = seed % 5 == 0 ? 0 : 300 + (uint32_t)(seed * 37 % 3000);
  make_parts(&p, seed, base, 3000 + (uint32_t)(seed * 101 % 5000), parts[seed % 3]);
}

static void test_updates(void) {
  subject = "complete updates";
  for (uint64_t seed = 1; seed <= 300; seed++) {
    draw(seed);
    make_device(seed, (uint8_t)(1u << seed % 5));
    d.flash.slow = seed & 1;
    CHECK(patch_update());
    CHECK(durable_offset() == p.stream_size && next_offset() == p.stream_size);
    CHECK(request_op(&d, OTA_OP_ACTIVATE) == 0);
    device_run(&d);
    CHECK(d.activated);
    CHECK(d.errors[OTA_ERROR_PATCH_REFUSED] == 0 && d.flash.violations == 0);
    // PATCH reads one page per poll; a call of the decoder reads less.
    CHECK(d.base_reads_most <= PAGE);
  }
}

/// When a page has no room for another mark, a new record copies the last mark.
static void test_many_parts(void) {
  subject = "more parts than marks";
  for (uint64_t seed = 1; seed <= 20; seed++) {
    make_parts(&p, seed, 500, 12 * PAGE, PAGE);
    device_make(&d, seed, 8);
    d.config.page_size = 128;
    d.config.row_size = 32;
    device_take_patches(&d, p.base, p.base_size);
    device_connect(&d);
    uint32_t made;
    CHECK(begin_stream(0) == 0 && send_stream(p.parts[9]));
    CHECK(patch_point(&made) == p.parts[9] && made == 9 * PAGE);
    device_boot(&d);
    device_connect(&d);
    CHECK(patch_point(&made) == p.parts[9] && made == 9 * PAGE);
    CHECK(patch_update());
  }
}

/// Loses the link at offset `at`; no byte may be sent again.
static void lose_link(uint64_t seed, uint32_t at) {
  uint32_t made;
  make_device(seed, 8);
  d.flash.slow = at & 1;
  CHECK(begin_stream(0) == 0 && send_stream(at));
  if (at % 3 == 0) CHECK(request(&d, (const uint8_t[]){OTA_OP_ABORT, 0}, 2) == 0);
  reconnect();
  if (at > 0) CHECK(patch_point(&made) == at);
  CHECK(begin_stream(0) == 0 && get32(d.answer + 2) == at);
  CHECK(get32(d.answer + 6) == ota_crc32(0, p.stream, at));
  CHECK(send_stream(p.stream_size) && request_op(&d, OTA_OP_VERIFY) == 0 && slot_is_image());
  CHECK(d.flash.violations == 0);
}

/// Loses the link at every write of ATT_MTU 23, and at offsets between two writes. The parts have
/// one page, four pages, or the size of the complete image.
static void test_lost_links(void) {
  subject = "a link lost at every write";
  uint32_t cuts = 0;
  for (uint64_t seed = 3; seed <= 8; seed++) {
    draw(seed);
    for (uint32_t at = 0; at <= p.stream_size; at += 16, cuts++) lose_link(seed, at);
    for (uint32_t at = 1; at <= p.stream_size; at += 97, cuts++) lose_link(seed, at);
  }
  CHECK(cuts > 500);
  printf("links lost in patch sessions: %u\n", cuts);
}

/// After a reset the device reports a boundary between two parts, with a correct CRC32.
static void check_point(uint32_t durable_before) {
  uint32_t made, next = patch_point(&made);
  CHECK(next != UINT32_MAX);
  bool boundary = next == p.stream_size;
  for (uint32_t i = 0; i < p.part_count; i++) boundary = boundary || p.parts[i] == next;
  CHECK(boundary && next >= durable_before);
  CHECK(memcmp(d.flash.bytes, p.image, made) == 0);
}

static bool cut_and_resume(uint64_t seed, uint32_t cut, uint32_t second_cut) {
  make_device(seed, 8);
  d.config.erase_ahead = seed & 2;
  d.flash.slow = seed & 1;
  d.flash.cut_at = d.flash.operations + cut;
  uint32_t durable = 0;
  bool ended = begin_stream(0) == 0;
  for (uint32_t end = 0; ended && end < p.stream_size;) {
    end = end + 200 < p.stream_size ? end + 200 : p.stream_size;
    ended = send_stream(end);
    if (ended) durable = durable_offset();
  }
  d.flash.bad_rows = seed % 2;
  ended = ended && rewind_to(p.stream_size / 2) == 0;
  if (ended || get32(d.answer + 2) < durable) durable = 0;
  ended = ended && send_stream(p.stream_size) && request_op(&d, OTA_OP_VERIFY) == 0;
  if (ended) return false;
  // A REWIND may have been in progress.
  if (d.flash.dead && d.receiver.operation.opcode == OTA_OP_REWIND) durable = 0;
  for (int boots = 0; boots < 3; boots++) {
    device_boot(&d);
    d.flash.operations = d.flash.bad_rows = 0;
    d.flash.cut_at = boots == 0 ? second_cut : 0;
    device_connect(&d);
    check_point(boots == 0 ? durable : 0);
    if (boots == 0 && second_cut == 0) continue;
    if (patch_update()) break;
    CHECK(boots == 0);
  }
  CHECK(device_state() == OTA_STATE_VERIFIED && slot_is_image() && d.flash.violations == 0);
  return true;
}

static void test_power_cuts(void) {
  uint32_t cuts = 0;
  char name[40];
  subject = name;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    draw(seed);
    for (uint32_t cut = 1;; cut++) {
      snprintf(name, sizeof name, "seed %u, power cut %u", (unsigned)seed, (unsigned)cut);
      if (!cut_and_resume(seed, cut, (uint32_t)(seed % 4) * 5 + cut % 7)) break;
      cuts++;
    }
  }
  CHECK(cuts > 1000);
  printf("power cuts of patch sessions: %u\n", cuts);
}

static void test_bases(void) {
  subject = "the base";
  draw(4);
  for (int kind = 0; kind < 4; kind++) {
    make_device(1, 8);
    if (kind == 0) d.base_is_unreadable = true;
    if (kind == 1) d.config.base_read = NULL;
    if (kind == 2) p.base[17] ^= 1;  // the running image has changed
    if (kind == 3) d.config.running.crc32 ^= 1;
    uint32_t size = d.config.running.size, crc32 = d.config.running.crc32;
    uint32_t stream = ota_crc32(0, p.stream, p.stream_size);
    CHECK(announce_stream(size, crc32, p.stream_size, stream) == OTA_RESULT_OTHER_BASE);
    CHECK(ANSWERED(0x8E, 15, 0, 0, 0, 0, 0, 0, 0, 0));
    request_op(&d, OTA_OP_PATCH_INFO);
    CHECK(get32(d.answer + 11) == 0 && get32(d.answer + 15) == 0);
    if (kind == 2) p.base[17] ^= 1;
    // The device does not repeat the check before a restart.
    CHECK(announce_stream(size, crc32, p.stream_size, stream) == OTA_RESULT_OTHER_BASE);
    CHECK(plain_update());
  }
  subject = "a base that changes after PATCH";
  for (uint32_t at = 0; at < p.base_size; at += 7) {
    make_device(1, 8);
    CHECK(begin_stream(0) == 0);
    p.base[at] ^= 0x20;
    CHECK(!send_anyhow() || slot_is_image());
    if (device_state() == OTA_STATE_IDLE) check_refused();
    p.base[at] ^= 0x20;
  }
  subject = "a base that can no longer be read";
  make_device(1, 8);
  CHECK(begin_stream(0) == 0);
  d.base_is_unreadable = true;
  CHECK(!send_anyhow());
  check_refused();
  subject = "a base that is read once";
  make_device(1, 8);
  CHECK(announce() == 0 && d.base_reads == p.base_size);
  CHECK(announce() == 0 && d.base_reads == p.base_size);
}

/// One wrong bit anywhere in the stream: the device must create the correct image or no image.
static void test_mutations(void) {
  uint32_t verified = 0, count = 0;
  char name[40];
  subject = name;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    draw(seed);
    if (seed > 3) make_example(&p, example, sizeof example);
    for (uint32_t bit = 0; bit < 8 * p.stream_size; bit += seed > 3 ? 1 : 5 + bit % 7) {
      snprintf(name, sizeof name, "seed %u, wrong bit %u", (unsigned)seed, (unsigned)bit);
      make_device(seed, 8);
      p.stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
      CHECK(begin_stream(0) == 0);
      if (send_anyhow()) {
        CHECK(slot_is_image());
        CHECK(request_op(&d, OTA_OP_ACTIVATE) == 0);
        device_run(&d);
        CHECK(d.activated);
        verified++;
      }
      CHECK(d.flash.violations == 0);
      p.stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
      count++;
    }
  }
  CHECK(verified < count / 4);
  printf("wrong bits in the stream: %u, of which %u changed nothing\n", count, verified);
}

/// One wrong bit of flash between two boots, in the slot or in the resume record.
static void test_damaged_flash(void) {
  subject = "a wrong bit in flash";
  draw(6);
  for (uint32_t bit = 0; bit < 8 * FLASH; bit += bit < 8 * META ? 311 : 3) {
    if (bit >= 8 * META && bit % (8 * PAGE) > 8 * 200) continue;
    make_device(6, 8);
    CHECK(begin_stream(0) == 0 && send_stream(p.parts[p.part_count - 1] + 5));
    d.flash.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    device_boot(&d);
    device_connect(&d);
    uint32_t violations = d.flash.violations;  // caused by a row that is no longer blank
    bool done = begin_stream(0) == 0 && send_anyhow();
    CHECK(!done || slot_is_image());
    d.flash.violations = violations;
    if (!done) CHECK(patch_update());
  }
}

static void test_rewinds(void) {
  subject = "REWIND";
  for (uint64_t seed = 1; seed <= 9; seed++) {
    draw(seed);
    for (uint32_t to = 0; to <= p.stream_size; to += 97) {
      make_device(seed, 16);
      d.flash.slow = to & 1;
      CHECK(begin_stream(0) == 0 && send_stream(p.stream_size * 3 / 4));
      uint32_t durable = durable_offset(), next = next_offset();
      CHECK(rewind_to(next + 1) == OTA_RESULT_MALFORMED_REQUEST);
      if (to > next) continue;
      CHECK(rewind_to(to) == 0);
      CHECK(get32(d.answer + 2) == (to < durable ? 0 : durable));
      CHECK(get32(d.answer + 6) == ota_crc32(0, p.stream, get32(d.answer + 2)));
      if (to % 3 == 0) {
        device_boot(&d);
        device_connect(&d);
        check_point(0);
      }
      CHECK(patch_update());
    }
  }
}

/// Sessions with other streams, without patches, and with a sink between them.
static void test_other_sessions(void) {
  subject = "other sessions between";
  draw(7);
  static patched other;
  make_parts(&other, 8, 0, 4000, PAGE);
  memcpy(other.base, p.base, p.base_size);
  uint32_t made, at = p.stream_size / 2;
  make_device(1, 8);
  CHECK(begin_stream(0) == 0 && send_stream(at));
  CHECK(begin(&d, p.image, p.image_size, OTA_BEGIN_SINK) == 0 && send_to(&d, p.image, 1000));
  CHECK(request(&d, (const uint8_t[]){OTA_OP_ABORT, 1}, 2) == 0);
  CHECK(patch_point(&made) == at && begin_stream(0) == 0 && get32(d.answer + 2) == at);
  // The session of another stream starts at 0, and so does the next session of this stream.
  uint32_t base = ota_crc32(0, p.base, p.base_size);
  CHECK(announce_stream(p.base_size, base, p.stream_size + 1, 7) == 0);
  CHECK(begin_patch(0) == 0 && get32(d.answer + 2) == 0);
  CHECK(begin_stream(0) == 0 && get32(d.answer + 2) == 0 && send_stream(at));
  CHECK(begin_stream(OTA_BEGIN_RESTART) == 0 && get32(d.answer + 2) == 0 && send_stream(at));
  // A session without patches does not continue a patch session, and a patch session does not
  // continue one without patches.
  CHECK(begin(&d, p.image, p.image_size, 0) == 0 && get32(d.answer + 2) == 0);
  CHECK(patch_point(&made) == 0 && send_to(&d, p.image, 2000));
  CHECK(begin_stream(0) == 0 && get32(d.answer + 2) == 0);
  CHECK(request_op(&d, OTA_OP_RESUME_POINT) == 0 && get32(d.answer + 2) == 0);
  CHECK(send_stream(at) && plain_update());
  CHECK(patch_update());
  CHECK(request(&d, (const uint8_t[]){OTA_OP_ABORT, 1}, 2) == 0);
  for (int boots = 0; boots < 2; boots++) {
    CHECK(patch_point(&made) == 0 && made == 0);
    device_boot(&d);
    device_connect(&d);
  }
  CHECK(d.flash.violations == 0);
}

static void test_flash_faults(void) {
  subject = "flash faults";
  for (uint32_t faults = 1; faults <= 4; faults++) {
    for (int kind = 0; kind < 4; kind++) {
      draw(6);
      make_device(faults, 8);
      CHECK(begin_stream(0) == 0 && send_stream(p.parts[1] + 40));
      if (kind == 0) d.flash.bad_rows = faults;
      if (kind == 1) d.flash.failed_rows = faults;
      if (kind == 2) d.flash.failed_erases = faults;
      if (kind == 3) d.flash.bad_records = faults;
      bool ends = faults > OTA_FLASH_RETRY_MAXIMUM;
      CHECK(send_anyhow() == !ends);
      CHECK(d.errors[OTA_ERROR_FLASH_FAULT] == (uint32_t)ends);
      if (ends) CHECK(device_state() == OTA_STATE_IDLE);
      CHECK(d.errors[OTA_ERROR_PATCH_REFUSED] == 0);
      CHECK(patch_update());
    }
  }
}

/// A part is repeated from its start, so each repetition also writes the good pages before the bad
/// page.
static void test_worn_pages(void) {
  subject = "a page that never holds its data";
  const uint32_t parts[] = {PAGE, 3 * PAGE, 8 * PAGE};
  for (uint64_t seed = 1; seed <= 24; seed++) {
    make_parts(&p, seed, 500, 8 * PAGE, parts[seed % 3]);
    make_device(seed, 8);
    d.flash.slow = seed & 1;
    d.flash.worn = seed % 8 * PAGE + 1;
    CHECK(begin_stream(0) == 0 && !send_anyhow());
    CHECK(d.errors[OTA_ERROR_GAP] == OTA_FLASH_RETRY_MAXIMUM);
    CHECK(d.errors[OTA_ERROR_FLASH_FAULT] == 1 && device_state() == OTA_STATE_IDLE);
    CHECK(d.flash.slot_erases <= 8 * (2 + OTA_FLASH_RETRY_MAXIMUM));
    d.flash.worn = 0;
    CHECK(patch_update());
  }
}

/// Applies random events in any order. The device must access only its flash, and must then accept
/// a patch.
static void fuzz(uint64_t seed) {
  draw(seed % 60 + 1);
  make_device(seed, (uint8_t)(1u << seed % 5));
  d.config.erase_ahead = seed & 2;
  d.may_erase = seed & 4;
  d.flash.slow = seed & 1;
  for (int step = 0; step < 150; step++) {
    uint8_t bytes[24];
    uint32_t size = random_below(&d, sizeof bytes), at = random_below(&d, p.stream_size);
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)random_below(&d, 256);
    bytes[0] %= 18;
    switch (random_below(&d, 18)) {
      case 0: request(&d, bytes, size); break;
      case 1: ota_receiver_data_write(&d.receiver, bytes, size, bytes[1] & 1); break;
      case 2: begin(&d, p.image, p.image_size, bytes[1] & 0x19); break;
      case 3: rewind_to(at); break;
      case 4: request_op(&d, OTA_OP_VERIFY); break;
      case 5: request(&d, (const uint8_t[]){OTA_OP_ABORT, bytes[1] & 1}, 2); break;
      case 6: reconnect(); break;
      case 7: d.flash.cut_at = d.flash.operations + 1 + random_below(&d, 9); break;
      case 8: d.flash.bad_rows = random_below(&d, 3); break;
      case 9: d.flash.bad_records = random_below(&d, 2); break;
      case 10: announce(); break;
      case 11: announce_stream(0, 0, p.stream_size, bytes[3]); break;
      case 12: begin_stream(bytes[1] & 1); break;
      case 13:
        p.stream[at] ^= 4;
        send_stream(p.stream_size);
        p.stream[at] ^= 4;
        break;
      case 14: send_to(&d, p.image, random_below(&d, p.image_size)); break;
      default: send_stream(at); break;
    }
    if (d.flash.dead) {
      device_boot(&d);
      device_connect(&d);
    }
    if (device_state() == OTA_STATE_VERIFIED && !d.receiver.sinking) CHECK(slot_is_image());
  }
  d.flash.cut_at = d.flash.bad_rows = d.flash.bad_records = 0;
  reconnect();
  CHECK(seed & 8 ? patch_update() : plain_update());
  CHECK(d.flash.violations == 0);
}

static void test_fuzz(void) {
  char name[40];
  subject = name;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    snprintf(name, sizeof name, "fuzz, seed %u", (unsigned)seed);
    fuzz(seed);
  }
}

int main(void) {
  test_vectors();
  test_without();
  test_requests();
  test_begin_checks_the_image();
  test_updates();
  test_many_parts();
  test_lost_links();
  test_power_cuts();
  test_refusals();
  test_bases();
  test_mutations();
  test_damaged_flash();
  test_rewinds();
  test_other_sessions();
  test_flash_faults();
  test_worn_pages();
  test_erase_ahead();
  test_kept_pages();
  test_fuzz();
  printf("patch sessions: %u passed, %u failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

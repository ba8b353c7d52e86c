/// Pages that already hold their data (`page_buffer`).
#include "kept_pages.h"

#include <stdio.h>
#include <string.h>

#include "session.h"

enum { SIZE = 9 * PAGE + 100, LAST = 9 };
static uint8_t image[SLOT], buffer[PAGE];

/// A device whose slot holds `image`, as a bootloader leaves it.
static void make(uint64_t seed) {
  make_parts(&p, seed, 400, 3 * PAGE, PAGE);
  device_make(&d, seed, 8);
  for (uint32_t i = 0; i < SLOT; i++) image[i] = (uint8_t)random_below(&d, 256);
  memcpy(d.flash.bytes, image, SLOT);
  memset(d.flash.bytes + SIZE, 0xFF, 8);
  memset(d.flash.weak, 0, sizeof d.flash.weak);
  d.config.page_buffer = buffer;
  device_take_patches(&d, p.base, p.base_size);
  device_connect(&d);
}

static void test_equal_pages(void) {
  subject = "pages that hold their data";
  make(1);
  request(&d, (const uint8_t[]){OTA_OP_INFO, 1}, 2);
  CHECK(d.answer[3] == 0x2C);
  CHECK(update(&d, image, SIZE) && d.flash.slot_erases == 0);
  subject = "a row that differs";
  // The first and the last row of a page, a middle row, and the last byte of the image.
  static const uint32_t places[] = {PAGE, 3 * PAGE - 1, 5 * PAGE + 2 * ROW, SIZE - 1};
  for (uint32_t i = 0; i < 4; i++) {
    make(2 + i);
    image[places[i]] ^= 1;
    CHECK(update(&d, image, SIZE) && d.flash.slot_erases == 1);
    CHECK(memcmp(d.flash.bytes, image, SIZE) == 0);
  }
  subject = "a patch";
  make(7);
  memcpy(d.flash.bytes, p.image, p.image_size);
  d.flash.bytes[PAGE + ROW] ^= 1;
  CHECK(patch_update() && d.flash.slot_erases == 1);
  subject = "erasing ahead excludes the comparison";
  d.config.erase_ahead = true;
  CHECK(!ota_receiver_init(&d.receiver, &d.config));
}

static void test_rewind(void) {
  subject = "a rewind within an undecided page";
  for (uint32_t end = 1; end < 2 * PAGE; end += 37) {
    make(end);
    image[PAGE + 2 * ROW + 5] ^= 1;
    CHECK(begin(&d, image, SIZE, 0) == 0 && send_to(&d, image, end));
    uint8_t rewind[5] = {OTA_OP_REWIND};
    put32(rewind + 1, end / 2);
    CHECK(request(&d, rewind, 5) == 0);
    CHECK(update(&d, image, SIZE) && d.flash.slot_erases <= 2);
  }
}

static void test_faults(void) {
  subject = "rows that are not restored";
  for (uint32_t kind = 0; kind < 3; kind++) {
    make(20 + kind);
    image[4 * PAGE + 3 * ROW] ^= 1;
    if (kind == 0) d.flash.bad_rows = 1;
    if (kind == 1) d.flash.failed_rows = 2;
    if (kind == 2) d.flash.failed_erases = 1;
    CHECK(update(&d, image, SIZE) && d.flash.slot_erases >= 1);
  }
}

/// Power fails in each operation of an update in which some pages differ. A page that was in
/// progress is never taken as it is.
static void test_cuts(void) {
  char name[40];
  uint32_t cuts = 0;
  subject = name;
  for (uint32_t cut = 1; cut < 40; cut++) {
    for (int slow = 0; slow < 2; slow++) {
      snprintf(name, sizeof name, "kept pages, power cut %u", (unsigned)cut);
      make(100 + cut);
      for (uint32_t page = 1; page < LAST; page += 3) image[page * PAGE + 3 * ROW + 9] ^= 1;
      d.flash.slow = slow;
      d.flash.cut_at = d.flash.operations + cut;
      update(&d, image, SIZE);
      cuts += d.flash.dead;
      device_boot(&d);
      device_connect(&d);
      CHECK(cut % 3 ? update(&d, image, SIZE) : patch_update());
      CHECK(d.flash.violations == 0);
    }
  }
  CHECK(cuts > 40);
}

void test_kept_pages(void) {
  test_equal_pages();
  test_rewind();
  test_faults();
  test_cuts();
}

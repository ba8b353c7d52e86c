#include "erase_ahead.h"

#include <stdio.h>
#include <string.h>

#include "session.h"

enum { SIZE = 9 * PAGE + 100 };
static uint8_t image[SLOT];

static void make(uint64_t seed) {
  make_parts(&p, seed, 400, 2000, 64 * PAGE);
  device_make(&d, seed, 8);
  for (uint32_t i = 0; i < SLOT; i++) image[i] = (uint8_t)random_below(&d, 256);
  d.config.erase_ahead = true;
  device_take_patches(&d, p.base, p.base_size);
  device_connect(&d);
}

static uint32_t info_flags(void) {
  request(&d, (const uint8_t[]){OTA_OP_INFO, 1}, 2);
  return d.answer[3];
}

static void test_waiting(void) {
  subject = "pages erased while the device waits for data";
  make(1);
  CHECK(info_flags() == 0x1C);
  CHECK(begin(&d, image, SIZE, 0) == 0 && d.flash.slot_erases == 10);
  CHECK(update(&d, image, SIZE) && d.flash.slot_erases == 10);
  // For another image, only programmed pages are erased again.
  image[0] ^= 1;
  CHECK(begin(&d, image, SIZE, 0) == 0 && d.flash.slot_erases == 20);
  image[0] ^= 1;
  CHECK(begin(&d, image, SIZE, 0) == 0 && d.flash.slot_erases == 20);
  CHECK(update(&d, image, SIZE) && d.flash.slot_erases == 20);
  make(1);
  CHECK(begin_stream(0) == 0 && d.flash.slot_erases == 2);
  CHECK(patch_update() && d.flash.slot_erases == 2);
  d.config.erase_ahead = false;
  CHECK(info_flags() == 0x0C);
  CHECK(begin(&d, image, SIZE, 0) == 0 && d.flash.slot_erases == 3);
}

static void test_idle(void) {
  subject = "a slot erased while no session is held";
  make(2);
  memset(d.flash.bytes, 0, SLOT);
  device_run(&d);
  CHECK(d.flash.slot_erases == 0);
  d.may_erase = true;
  device_run(&d);
  CHECK(d.flash.slot_erases == SLOT / PAGE);
  for (int boots = 0; boots < 3; boots++) {
    device_boot(&d);
    device_connect(&d);
    CHECK(d.flash.slot_erases == SLOT / PAGE);
  }
  CHECK(update(&d, image, SIZE) && d.flash.slot_erases == SLOT / PAGE);
  CHECK(request(&d, (const uint8_t[]){OTA_OP_ABORT, 1}, 2) == 0);
  CHECK(d.flash.slot_erases == 2 * SLOT / PAGE);
  CHECK(patch_update() && d.flash.slot_erases == 2 * SLOT / PAGE);
  device_boot(&d);
  device_connect(&d);
  CHECK(update(&d, image, SIZE) && d.flash.slot_erases > 2 * SLOT / PAGE);
  subject = "a slot that must not be erased";
  make(2);
  d.config.trial = true;
  d.may_erase = true;
  device_boot(&d);
  device_connect(&d);
  CHECK(d.flash.slot_erases == 0 && request_op(&d, OTA_OP_CONFIRM) == 0);
  CHECK(d.flash.slot_erases == SLOT / PAGE);
  // The bootloader has used the slot in the meantime.
  d.config.trial = false;
  d.config.boot_outcome = OTA_BOOT_ACTIVATED;
  device_boot(&d);
  device_run(&d);
  CHECK(d.flash.slot_erases == 2 * SLOT / PAGE);
  make(2);
  CHECK(begin(&d, image, SIZE, 0) == 0 && send_to(&d, image, 3000));
  d.may_erase = true;
  device_boot(&d);
  device_connect(&d);
  CHECK(d.flash.slot_erases == 10 && request_op(&d, OTA_OP_RESUME_POINT) == 0);
  CHECK(get32(d.answer + 10) > 2000 && update(&d, image, SIZE));
}

static void test_faults(void) {
  subject = "flash that fails while no session is held";
  for (int kind = 0; kind < 2; kind++) {
    make(3);
    d.may_erase = true;
    if (kind == 0) d.flash.failed_erases = 1;
    if (kind == 1) d.flash.bad_records = 9;
    device_run(&d);
    CHECK(device_error() == 0 && d.errors[OTA_ERROR_FLASH_FAULT] == 0);
    CHECK(d.flash.slot_erases <= SLOT / PAGE);
    d.flash.bad_records = 0;
    CHECK(update(&d, image, SIZE));
  }
}

static void test_cuts(void) {
  char name[40];
  uint32_t cuts = 0;
  subject = name;
  for (uint32_t cut = 1; cut < 60; cut++) {
    snprintf(name, sizeof name, "erasing ahead, power cut %u", (unsigned)cut);
    for (int slow = 0; slow < 2; slow++) {
      make(cut);
      memset(d.flash.bytes, 0x5A, SLOT);
      d.may_erase = true;
      d.flash.slow = slow;
      d.flash.cut_at = d.flash.operations + cut;
      device_run(&d);
      bool idle = d.flash.dead;
      if (!idle) update(&d, image, SIZE);
      cuts += d.flash.dead;
      device_boot(&d);
      device_connect(&d);
      CHECK(cut % 2 ? patch_update() : update(&d, image, SIZE));
      CHECK(d.flash.violations == 0);
    }
  }
  CHECK(cuts > 80);
}

void test_erase_ahead(void) {
  test_waiting();
  test_idle();
  test_faults();
  test_cuts();
}

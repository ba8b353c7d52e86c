/// Tests of the bootloader in Examples/Firmware/bootloader, on a flash with stricter rules than
/// hardware, with a power loss in every flash operation of the application and of the bootloader.
#include "boot.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "otaflash_descriptor.h"

enum {
  PAGE = 2048,
  PAGES = 4,
  AREA = PAGES * PAGE,
  RUNNING = PAGE,
  SLOT = RUNNING + AREA,
  SCRATCH = SLOT + AREA,
  JOURNAL = SCRATCH + PAGE,
  FLASH = JOURNAL + PAGE,
  BOARD = 0x0000A001,
  DESCRIPTOR = 0x100,
  FOREVER = 100
};

static struct {
  uint8_t bytes[FLASH];
  /// Pages that were not completely erased. They may read as blank, but must not be programmed.
  bool weak[FLASH / PAGE];
  uint32_t operations, cut_at;
  uint32_t bad_writes;
  jmp_buf power_loss;
} flash;
static boot_device board;
static bool unsigned_images;
static uint32_t passed, failed, power_losses, violations;
static uint64_t seed;

static void check(bool ok, const char *what, int line) {
  ok ? passed++ : failed++;
  if (!ok && failed <= 20)
    printf("FAILED line %d: %s (unit %d, cut at %d)\n", line, what, board.write_unit, flash.cut_at);
}
#define CHECK(condition) check(condition, #condition, __LINE__)

static uint32_t random_below(uint32_t bound) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % bound;
}

// Flash

static void flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  (void)context;
  violations += address > FLASH || size > FLASH - address;
  memcpy(to, flash.bytes + address, size);
}

/// Whether power fails during this operation.
static bool fails(void) {
  bool now = ++flash.operations == flash.cut_at;
  power_losses += now;
  return now;
}

static bool flash_write(void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  (void)context;
  uint8_t *to = flash.bytes + address;
  violations += address % board.write_unit != 0 || size % board.write_unit != 0 || size == 0 ||
                address < RUNNING || address / PAGE != (address + size - 1) / PAGE ||
                flash.weak[address / PAGE];
  for (uint32_t i = 0; i < size; i++) violations += to[i] != 0xFF;
  if (fails()) {
    uint32_t written = random_below(size + 1);
    for (uint32_t i = 0; i < written; i++) to[i] &= from[i] | (uint8_t)random_below(256);
    longjmp(flash.power_loss, 1);
  }
  memcpy(to, from, size);
  if (flash.bad_writes > 0 && from[0] != 0xFF && --flash.bad_writes == 0) to[0] ^= 1;
  return true;
}

static bool flash_erase(void *context, uint32_t address) {
  (void)context;
  violations += address % PAGE != 0 || address < RUNNING || address >= FLASH;
  if (fails()) {
    flash.weak[address / PAGE] = true;
    uint32_t kind = random_below(3);
    for (uint32_t i = 0; i < PAGE && kind > 0; i++) {
      if (kind == 1 || random_below(2)) flash.bytes[address + i] = 0xFF;
    }
    longjmp(flash.power_loss, 1);
  }
  memset(flash.bytes + address, 0xFF, PAGE);
  flash.weak[address / PAGE] = false;
  return true;
}

static bool is_signed(void *context, uint32_t address, uint32_t size) {
  (void)context, (void)size;
  violations += address != SLOT;
  return !unsigned_images;
}

// Images

typedef struct {
  uint8_t bytes[AREA + PAGE];
  uint32_t size, crc32;
} image;

OTAFLASH_DESCRIPTOR(BOARD, 1, 2, 3);

static void put(image *i, uint32_t at, uint32_t hardware_id, uint8_t minor) {
  struct otaflash_descriptor d = otaflash_descriptor;
  d.hardware = hardware_id;
  d.minor = minor;
  d.crc32 = ota_crc32(0, (const uint8_t *)&d, 28);
  memcpy(i->bytes + at, &d, sizeof d);
  i->crc32 = ota_crc32(0, i->bytes, i->size);
}

static void make(image *i, uint32_t size, uint8_t minor) {
  i->size = size;
  for (uint32_t at = 0; at < sizeof i->bytes; at++) i->bytes[at] = (uint8_t)random_below(256);
  put(i, DESCRIPTOR, BOARD, minor);
}

static image old, new;

static bool holds(uint32_t address, const image *i) {
  return memcmp(flash.bytes + address, i->bytes, i->size) == 0;
}

// The device

static void make_board(uint32_t write_unit) {
  board = (boot_device){
      NULL,    flash_read, flash_write, flash_erase, is_signed, RUNNING, SLOT,
      AREA,    SCRATCH,    JOURNAL,     PAGE,        write_unit, BOARD};
  unsigned_images = false;
  flash.cut_at = flash.operations = 0;
  memset(flash.bytes, 0xFF, FLASH);
  memset(flash.weak, 0, sizeof flash.weak);
  memcpy(flash.bytes + RUNNING, old.bytes, old.size);
  memcpy(flash.bytes + SLOT, new.bytes, new.size);
}

static ota_image running(void) { return (ota_image){old.size, old.crc32, 0, BOARD}; }

static bool request(uint32_t previous_size) {
  ota_image now = running();
  now.size = previous_size;
  boot_request bytes = boot_make_request(&now, new.size, new.crc32);
  flash_erase(NULL, JOURNAL);
  return flash_write(NULL, JOURNAL, (const uint8_t *)&bytes, sizeof bytes);
}

static bool activate(void) { return request(old.size); }

static bool confirm(void) {
  static const uint8_t zeros[16];
  return flash_write(NULL, boot_mark_address(&board, BOOT_CONFIRMED), zeros, board.write_unit);
}

/// Returns the result of `work`, or false if power fails.
static bool result_of(bool (*work)(void)) { return setjmp(flash.power_loss) == 0 && work(); }

static bool start(void) { return boot_run(&board); }

/// Starts the bootloader until it starts the application. False: it never starts the application.
static bool boot(void) {
  for (int attempts = 0; attempts < FOREVER; attempts++) {
    if (result_of(start)) return true;
  }
  return false;
}

static bool reports(const image *i, uint8_t minor, uint8_t outcome, bool trial, bool is_free) {
  boot_status s = boot_read_status(&board);
  return holds(RUNNING, i) && s.running.size == i->size && s.running.crc32 == i->crc32 &&
         s.running.version == ota_version(1, minor, 3) && s.running.hardware_id == BOARD &&
         s.outcome == outcome && s.trial == trial && boot_slot_is_free(&board) == is_free;
}

static bool runs_old(uint8_t outcome) { return reports(&old, 2, outcome, false, true); }
static bool is_on_trial(void) { return reports(&new, 3, OTA_BOOT_ACTIVATED, true, false); }
static bool runs_new(void) { return reports(&new, 3, OTA_BOOT_NORMAL, false, true); }

// An activation

/// An activation that the application confirms, with a power loss during operation `cut`. Returns
/// whether the power failed.
static bool activation(uint32_t cut) {
  make_board(board.write_unit);
  flash.cut_at = cut;
  // The request may be incomplete or complete; a complete request is executed.
  result_of(activate);
  uint32_t of_request = flash.operations;
  CHECK(boot());
  if (cut > 0 && cut <= of_request && !is_on_trial()) {
    boot_status s = boot_read_status(&board);
    CHECK(holds(RUNNING, &old) && !s.trial && s.outcome == OTA_BOOT_NORMAL);
    CHECK(boot_slot_is_free(&board));
    return true;
  }
  // A power loss may be a reset on trial, which reverts the image.
  bool is_reverted = !is_on_trial();
  CHECK(is_reverted ? cut > 0 && holds(SLOT, &new) : holds(SLOT, &old));
  if (!is_reverted) result_of(confirm);
  CHECK(boot());
  if (is_reverted || !runs_new()) {
    CHECK(cut > 0);
    CHECK(runs_old(OTA_BOOT_NORMAL) || runs_old(OTA_BOOT_REVERTED));
  } else {
    CHECK(holds(SLOT, &old));
    CHECK(boot() && runs_new());
  }
  return flash.operations >= cut && cut > 0;
}

/// An activation that is not confirmed.
static bool reversal(uint32_t cut) {
  make_board(board.write_unit);
  activate();
  flash.operations = 0;
  flash.cut_at = cut;
  CHECK(boot());
  // After a power loss during the mark of the start, the trial may already be over.
  if (is_on_trial()) CHECK(boot());
  CHECK(holds(SLOT, &new));
  boot_status s = boot_read_status(&board);
  CHECK(runs_old(s.outcome) && (s.outcome == OTA_BOOT_REVERTED || cut > 0));
  CHECK(boot() && runs_old(OTA_BOOT_NORMAL));
  CHECK(boot() && runs_old(OTA_BOOT_NORMAL));
  return flash.operations >= cut && cut > 0;
}

static void test_power_losses(void) {
  static const uint32_t units[] = {4, 16}, sizes[] = {PAGE - 4, PAGE + 300, AREA};
  for (uint32_t u = 0; u < 2; u++) {
    for (uint32_t s = 0; s < 9; s++) {
      make(&old, sizes[s / 3], 2);
      make(&new, sizes[s % 3], 3);
      make_board(units[u]);
      CHECK(boot_fits(&board));
      activation(0);
      CHECK(runs_new());
      for (uint32_t cut = 1; activation(cut); cut++) continue;
      reversal(0);
      for (uint32_t cut = 1; reversal(cut); cut++) continue;
    }
  }
}

/// Power fails repeatedly, after a random number of operations.
static void test_repeated_power_losses(void) {
  for (int round = 0; round < 300; round++) {
    make(&old, 2 * PAGE + random_below(PAGE), 2);
    make(&new, PAGE + random_below(3 * PAGE), 3);
    make_board(1u << round % 5);
    activate();
    for (int losses = 0; losses < 20; losses++) {
      flash.operations = 0;
      flash.cut_at = 1 + random_below(400);
      if (result_of(start)) break;
    }
    flash.cut_at = 0;
    CHECK(boot());
    CHECK(is_on_trial() || runs_old(OTA_BOOT_REVERTED) || runs_old(OTA_BOOT_NORMAL));
    if (is_on_trial()) CHECK(boot());
    CHECK(boot() && runs_old(OTA_BOOT_NORMAL) && holds(SLOT, &new));
  }
}

// Refusals

static void expect_rejection(void) {
  CHECK(boot() && runs_old(OTA_BOOT_REVERTED));
  CHECK(boot() && runs_old(OTA_BOOT_NORMAL));
  CHECK(memcmp(flash.bytes + SCRATCH, flash.bytes + SCRATCH + 1, PAGE - 1) == 0);
}

static void reject(void) {
  make_board(4);
  activate();
  expect_rejection();
}

static void test_rejections(void) {
  make(&old, 3 * PAGE, 2);
  make(&new, 3 * PAGE, 3);
  new.crc32 ^= 1;
  reject();
  make(&new, 3 * PAGE, 3);
  put(&new, DESCRIPTOR, BOARD + 1, 3);
  reject();
  put(&new, DESCRIPTOR, 0, 3);
  make_board(4);
  activate();
  CHECK(boot() && is_on_trial());
  make(&new, 3 * PAGE, 3);
  new.bytes[DESCRIPTOR + 20] ^= 1;
  new.crc32 = ota_crc32(0, new.bytes, new.size);
  reject();
  memset(new.bytes + DESCRIPTOR, 0, sizeof otaflash_descriptor);
  new.crc32 = ota_crc32(0, new.bytes, new.size);
  reject();
  put(&new, DESCRIPTOR + 2, BOARD, 3);  // not aligned
  reject();
  make(&new, 3 * PAGE, 3);
  put(&new, 2 * DESCRIPTOR, BOARD, 3);  // twice the same
  make_board(4);
  activate();
  CHECK(boot() && is_on_trial());
  put(&new, 2 * DESCRIPTOR, BOARD, 4);
  reject();
  make(&new, DESCRIPTOR + 31, 3);  // the descriptor does not end within the image
  reject();
  make(&new, 3 * PAGE, 3);
  make_board(4);
  new.size = 0;
  new.crc32 = 0;
  activate();
  expect_rejection();
  make_board(4);
  new.size = AREA + 4;
  activate();
  expect_rejection();
  make(&new, 3 * PAGE, 3);
  make_board(4);
  unsigned_images = true;
  activate();
  expect_rejection();
}

static void test_factory_state(void) {
  make(&old, 3 * PAGE, 2);
  make(&new, PAGE, 3);
  make_board(8);
  CHECK(boot());
  boot_status s = boot_read_status(&board);
  CHECK(s.running.size == 0 && s.running.version == ota_version(1, 2, 3) && !s.trial);
  CHECK(s.outcome == OTA_BOOT_NORMAL && boot_slot_is_free(&board));
  request(0);  // the size of the previous image is unknown
  CHECK(!boot_slot_is_free(&board));
  CHECK(boot() && is_on_trial() && holds(SLOT, &old));
  CHECK(boot() && holds(RUNNING, &old) && holds(SLOT, &new));
  // Production may write a confirmed request, so that the host knows the first image.
  make_board(8);
  ota_image none = {0, 0, 0, 0};
  boot_request first = boot_make_request(&none, old.size, old.crc32);
  flash_write(NULL, JOURNAL, (const uint8_t *)&first, sizeof first);
  confirm();
  CHECK(boot() && runs_old(OTA_BOOT_NORMAL));
}

static void test_bad_writes(void) {
  make(&old, 3 * PAGE, 2);
  make(&new, 3 * PAGE, 3);
  for (uint32_t bad = 1; bad < 200; bad += 7) {
    make_board(4);
    activate();
    flash.bad_writes = bad;
    CHECK(boot() && is_on_trial());
  }
  flash.bad_writes = 0;
}

static void test_layouts(void) {
  make_board(16);
  board.slot_size = 21 * PAGE;  // 32 + (4 + 6 * 21) * 16 > 2048
  CHECK(!boot_fits(&board));
  board.slot_size = AREA + 1;
  CHECK(!boot_fits(&board));
  make_board(4);
  CHECK(boot_fits(&board));
}

int main(void) {
  seed = 28;
  test_power_losses();
  test_repeated_power_losses();
  test_rejections();
  test_factory_state();
  test_bad_writes();
  test_layouts();
  CHECK(violations == 0);
  printf("power losses of the bootloader: %u\n", power_losses);
  printf("bootloader: %u passed, %u failed\n", passed, failed);
  return failed != 0;
}

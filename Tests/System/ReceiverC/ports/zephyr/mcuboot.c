/// The flash of the Zephyr stub, with stricter rules than hardware; MCUboot, which swaps the slots
/// by the rules of its trailers (boot/bootutil/src/bootutil_public.c, loader.c); Zephyr's boot API;
/// and the upload command of Zephyr's SMP server (subsys/mgmt/mcumgr/grp/img_mgmt).
#include "zephyr.h"

#include "port.h"

enum { PAGE = PORT_PAGE, SLOT = SIZE_slot1_partition, RECORD_PAGES = 2 };
/// The offsets of the fields of a trailer: 16 bytes of magic, and 8 bytes for each of the others.
enum { MAGIC = SLOT - 16, IMAGE_OK = MAGIC - 8, COPY_DONE = IMAGE_OK - 8, SWAP_INFO = COPY_DONE - 8 };
enum { SET = 1, UNSET = 0xFF };

uint8_t *port_flash;
const uint32_t port_flash_size = 2 * SLOT;
const uint32_t port_image_maximum = SLOT - PAGE - RECORD_PAGES * PAGE;
const bool port_reports_reversals = false;
void (*port_flash_works)(uint32_t size);

extern struct k_mutex receiver_lock;

static const struct flash_area areas[2] = {
    {ID_slot0_partition, 0, SLOT}, {ID_slot1_partition, SLOT, SLOT}};

static uint8_t *slot0(void) { return port_flash; }
static uint8_t *slot1(void) { return port_flash + SLOT; }

// Flash

int flash_area_open(uint8_t id, const struct flash_area **area) {
  *area = &areas[id];
  return 0;
}

static bool is_within(const struct flash_area *area, off_t offset, size_t size) {
  bool fits = offset >= 0 && (size_t)offset <= area->fa_size && size <= area->fa_size - (size_t)offset;
  seen.violations += !fits;
  return fits;
}

int flash_area_read(const struct flash_area *area, off_t offset, void *to, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  memcpy(to, port_flash + area->fa_off + offset, size);
  return 0;
}

int flash_area_write(const struct flash_area *area, off_t offset, const void *from, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  uint8_t *to = port_flash + area->fa_off + offset;
  // A flash operation while the mutex is held would block Bluetooth.
  seen.violations += receiver_lock.depth != 0;
  // The module writes only slot 1, and leaves the trailer to the boot API.
  seen.violations += area->fa_id != ID_slot1_partition || offset + (off_t)size > SLOT - PAGE;
  seen.violations += offset % 4 != 0 || size % 4 != 0 || (uintptr_t)from % 4 != 0;
  for (size_t i = 0; i < size; i++) seen.violations += to[i] != 0xFF;
  memcpy(to, from, size);
  if (port_flash_works) port_flash_works((uint32_t)size);
  return 0;
}

int flash_area_erase(const struct flash_area *area, off_t offset, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  bool is_trailer = offset == SLOT - PAGE;
  seen.violations += area->fa_id != ID_slot1_partition || offset % PAGE != 0 || size % PAGE != 0;
  seen.violations += receiver_lock.depth != 0 && !is_trailer;
  // An image that MCUboot may start or restore is not erased.
  seen.violations += mcuboot_swap_type() != BOOT_SWAP_TYPE_NONE && !is_trailer;
  memset(port_flash + area->fa_off + offset, 0xFF, size);
  if (port_flash_works) port_flash_works(0);
  return 0;
}

// Trailers

typedef enum { FIELD_UNSET, FIELD_GOOD, FIELD_BAD } field;

static const uint8_t magic[16] = {0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F,
                                  0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80};

static field magic_of(const uint8_t *slot) {
  static const uint8_t erased[16] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                     0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  if (memcmp(slot + MAGIC, erased, sizeof erased) == 0) return FIELD_UNSET;
  return memcmp(slot + MAGIC, magic, sizeof magic) == 0 ? FIELD_GOOD : FIELD_BAD;
}

static field flag_of(const uint8_t *slot, uint32_t offset) {
  return slot[offset] == UNSET ? FIELD_UNSET : slot[offset] == SET ? FIELD_GOOD : FIELD_BAD;
}

/// MCUboot writes a field only once.
static void set_field(uint8_t *slot, uint32_t offset, uint8_t value) {
  seen.violations += slot[offset] != UNSET;
  slot[offset] = value;
}

/// The first matching row of MCUboot's table determines the swap; `ANY` matches each value.
int mcuboot_swap_type(void) {
  enum { ANY = -1 };
  static const struct {
    int magic0, magic1, ok0, ok1, copy_done0, type;
  } table[] = {
      {ANY, FIELD_GOOD, ANY, FIELD_UNSET, ANY, BOOT_SWAP_TYPE_TEST},
      {ANY, FIELD_GOOD, ANY, FIELD_GOOD, ANY, BOOT_SWAP_TYPE_PERM},
      {FIELD_GOOD, ANY, FIELD_UNSET, ANY, FIELD_GOOD, BOOT_SWAP_TYPE_REVERT},
  };
#define MATCHES(wanted, found) ((wanted) == ANY || (wanted) == (int)(found))
  for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
    if (MATCHES(table[i].magic0, magic_of(slot0())) && MATCHES(table[i].magic1, magic_of(slot1())) &&
        MATCHES(table[i].ok0, flag_of(slot0(), IMAGE_OK)) &&
        MATCHES(table[i].ok1, flag_of(slot1(), IMAGE_OK)) &&
        MATCHES(table[i].copy_done0, flag_of(slot0(), COPY_DONE)))
      return table[i].type;
  }
  return BOOT_SWAP_TYPE_NONE;
}

// The boot API

int boot_request_upgrade(int permanent) {
  for (uint32_t i = SLOT - PAGE; i < SLOT; i++) seen.violations += slot1()[i] != 0xFF;
  seen.violations += permanent != BOOT_UPGRADE_TEST;
  if (magic_of(slot1()) != FIELD_UNSET) return -EFAULT;
  memcpy(slot1() + MAGIC, magic, sizeof magic);
  set_field(slot1(), SWAP_INFO, BOOT_SWAP_TYPE_TEST);
  return 0;
}

bool boot_is_img_confirmed(void) {
  // The first image, which MCUboot has not swapped, cannot be reverted.
  return magic_of(slot0()) == FIELD_UNSET || flag_of(slot0(), IMAGE_OK) == FIELD_GOOD;
}

int boot_write_img_confirmed(void) {
  if (magic_of(slot0()) == FIELD_BAD) return -EIO;
  if (magic_of(slot0()) == FIELD_GOOD && flag_of(slot0(), IMAGE_OK) == FIELD_UNSET)
    set_field(slot0(), IMAGE_OK, SET);
  return 0;
}

// MCUboot

/// Exchanges the slots without their trailers. The trailer of slot 1 is then erased, and the trailer
/// of slot 0 states the swap.
static void swap(int type) {
  for (uint32_t i = 0; i < SLOT - PAGE; i++) {
    uint8_t byte = slot0()[i];
    slot0()[i] = slot1()[i];
    slot1()[i] = byte;
  }
  memset(slot0() + SLOT - PAGE, 0xFF, PAGE);
  memset(slot1() + SLOT - PAGE, 0xFF, PAGE);
  memcpy(slot0() + MAGIC, magic, sizeof magic);
  set_field(slot0(), SWAP_INFO, (uint8_t)type);
  // A permanent image and a restored image are not reverted.
  if (type != BOOT_SWAP_TYPE_TEST) set_field(slot0(), IMAGE_OK, SET);
  set_field(slot0(), COPY_DONE, SET);
}

/// MCUboot after a reset.
static void start_mcuboot(void) {
  static const uint8_t header[4] = {0x3D, 0xB8, 0xF3, 0x96};
  int type = mcuboot_swap_type();
  if (type == BOOT_SWAP_TYPE_NONE) return;
  if (memcmp(slot1(), header, sizeof header) == 0) {
    swap(type);
    return;
  }
  // An invalid image is erased, and the running image is not reverted.
  memset(slot1(), 0xFF, PAGE);
  memset(slot1() + SLOT - PAGE, 0xFF, PAGE);
  if (flag_of(slot0(), IMAGE_OK) == FIELD_UNSET) set_field(slot0(), IMAGE_OK, SET);
}

// The device

void port_install(const uint8_t *image, uint32_t size) {
  memset(port_flash, 0xFF, port_flash_size);
  memcpy(port_flash, image, size);
  // The remains of an earlier update in the slot.
  memset(slot1(), 0x5A, SLOT);
}

bool port_boot(void) {
  start_mcuboot();
  return port_start();
}

bool port_slot_is_erased(void) {
  for (uint32_t i = 0; i < SLOT - PAGE - RECORD_PAGES * PAGE; i++) {
    if (slot1()[i] != 0xFF) return false;
  }
  return true;
}

// SMP

#if ZEPHYR_STUB_SMP
static struct {
  struct mgmt_callback *callback;
  size_t offset;
} smp;

void mgmt_callback_register(struct mgmt_callback *callback) { smp.callback = callback; }

void img_mgmt_reset_upload(void) {
  // A thread that holds the lock of the SMP server may wait for the mutex, in the callback of the
  // module.
  seen.violations += receiver_lock.depth != 0;
  smp.offset = 0;
}

/// One request of an upload, on the thread of the SMP server. Returns the next offset.
static size_t smp_upload(const uint8_t *image, size_t size, size_t offset) {
  enum { CHUNK = 1024 };
  if (offset != smp.offset && offset != 0) return smp.offset;
  int swap = mcuboot_swap_type();
  if (swap != BOOT_SWAP_TYPE_NONE) return SIZE_MAX;  // no free slot
  struct img_mgmt_upload_req request = {.image = 0, .off = offset, .size = size};
  struct img_mgmt_upload_check check = {NULL, &request};
  int32_t rc = 0;
  uint16_t group = 0;
  bool aborts = false;
  if (smp.callback->callback(
          smp.callback->event_id, MGMT_CB_OK, &rc, &group, &aborts, &check, sizeof check) !=
      MGMT_CB_OK)
    return SIZE_MAX;
  if (offset == 0) {
    memset(slot1(), 0xFF, (size + PAGE - 1) / PAGE * PAGE);
    memset(slot1() + SLOT - PAGE, 0xFF, PAGE);
  }
  size_t end = MIN(offset + CHUNK, size);
  for (size_t i = offset; i < end; i++) {
    seen.violations += slot1()[i] != 0xFF;
    slot1()[i] = image[i];
  }
  smp.offset = end == size ? 0 : end;
  return end;
}

static uint32_t upload(const uint8_t *image, uint32_t size, uint32_t from, uint32_t end) {
  size_t offset = from;
  while (offset < end) {
    size_t next = smp_upload(image, size, offset);
    if (next == SIZE_MAX || next <= offset) return (uint32_t)next;
    offset = next;
    port_run();
  }
  return (uint32_t)offset;
}

static bool mark(void) { return boot_request_upgrade(BOOT_UPGRADE_TEST) == 0; }

static const port_smp server = {upload, mark};
const port_smp *const port_smp_server = &server;
#else
const port_smp *const port_smp_server = NULL;
#endif

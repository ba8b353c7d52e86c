#include "device.h"

#include <string.h>

uint32_t get32(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

uint32_t random_below(device *d, uint32_t bound) {
  d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(d->seed >> 33) % bound;
}

static bool dies(device *d) {
  flash_model *f = &d->flash;
  f->dead = f->dead || ++f->operations == f->cut_at;
  return f->dead;
}

static bool model_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  device *d = context;
  if (address > FLASH || size > FLASH - address) {
    d->flash.violations++;
    return false;
  }
  memcpy(to, d->flash.bytes + address, size);
  return true;
}

static ota_flash_result ended(device *d) {
  if (!d->flash.slow) return OTA_FLASH_DONE;
  d->flash.pending = 1 + random_below(d, 3);
  return OTA_FLASH_PENDING;
}

static void tear_write(device *d, uint8_t *to, const uint8_t *from, uint32_t size) {
  uint32_t whole = random_below(d, size + 1);
  bool scattered = random_below(d, 2);
  for (uint32_t i = 0; i < size; i++) {
    if (!scattered && i < whole) to[i] &= from[i];
    else if (scattered || i < whole + 16) to[i] &= from[i] | (uint8_t)random_below(d, 256);
  }
}

static ota_flash_result model_write(
    void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  device *d = context;
  flash_model *f = &d->flash;
  uint32_t page = d->config.page_size, unit = address < META ? d->config.row_size : page;
  bool fits = size > 0 && address < FLASH && size <= FLASH - address &&
              address % f->alignment == 0 && size % f->alignment == 0 &&
              address / unit == (address + size - 1) / unit && f->pending == 0;
  if (!fits) {
    f->violations++;
    return OTA_FLASH_FAILED;
  }
  if (f->weak[address / page]) f->violations++;
  for (uint32_t i = 0; i < size; i++) f->violations += f->bytes[address + i] != 0xFF;
  if (dies(d)) {
    if (f->operations == f->cut_at) tear_write(d, f->bytes + address, from, size);
    return OTA_FLASH_PENDING;
  }
  uint32_t *bad = address < META ? &f->bad_rows : &f->bad_records;
  if (address < META && f->failed_rows > 0) {
    f->failed_rows--;
    tear_write(d, f->bytes + address, from, size);
    return OTA_FLASH_FAILED;
  }
  memcpy(f->bytes + address, from, size);
  if (f->worn != 0 && address / page == f->worn / page) f->bytes[address] ^= 1;
  if (*bad > 0) {
    --*bad;
    f->bytes[address] ^= 1;
  }
  return ended(d);
}

static ota_flash_result model_erase(void *context, uint32_t address) {
  device *d = context;
  flash_model *f = &d->flash;
  f->slot_erases += address < META;
  uint32_t page = d->config.page_size;
  if (address % page != 0 || address >= FLASH || f->pending != 0) {
    f->violations++;
    return OTA_FLASH_FAILED;
  }
  if (dies(d)) {
    if (f->operations != f->cut_at) return OTA_FLASH_PENDING;
    uint32_t kind = random_below(d, 3);
    f->weak[address / page] = true;
    for (uint32_t i = 0; i < page; i++) {
      if (kind == 0 || (kind == 1 && random_below(d, 2))) f->bytes[address + i] = 0xFF;
      else if (kind == 2) f->bytes[address + i] |= (uint8_t)random_below(d, 256);
    }
    return OTA_FLASH_PENDING;
  }
  if (address < META && f->failed_erases > 0) {
    f->failed_erases--;
    return OTA_FLASH_FAILED;
  }
  memset(f->bytes + address, 0xFF, page);
  f->weak[address / page] = false;
  return ended(d);
}

static bool model_may_erase(void *context) { return ((device *)context)->may_erase; }

#if OTA_PATCHES
static bool model_base_read(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  device *d = context;
  uint32_t has = d->config.running.size;
  // The running image is in the same flash, which cannot be read while the flash is busy.
  if (offset > has || size > has - offset || size > OTA_READ_STEP || d->flash.pending != 0) {
    d->flash.violations++;
    return false;
  }
  d->base_reads += size;
  if (d->base_is_unreadable) return false;
  memcpy(to, d->base + offset, size);
  return true;
}

void device_take_patches(device *d, const uint8_t *base, uint32_t size) {
  d->base = base;
  d->config.patches = true;
  d->config.base_read = model_base_read;
  d->config.running.size = size;
  d->config.running.crc32 = ota_crc32(0, base, size);
  device_boot(d);
}
#endif

static bool model_indicate(void *context, const uint8_t *bytes, uint32_t size) {
  device *d = context;
  if (d->stack_full) return false;
  memcpy(d->answer, bytes, size);
  d->answer_size = size;
  return true;
}

static bool model_notify(void *context, const uint8_t *bytes) {
  device *d = context;
  if (d->stack_full) return false;
  memcpy(d->status, bytes, OTA_STATUS_SIZE);
  d->statuses++;
  d->errors[bytes[1]]++;
  return true;
}

static void model_activate(void *context, uint32_t size, uint32_t crc32) {
  device *d = context;
  d->activated = ota_crc32(0, d->flash.bytes, size) == crc32;
}

static bool model_confirm(void *context) {
  device *d = context;
  d->confirmed = !d->refuses_confirm;
  return d->confirmed;
}

static bool model_may_begin(void *context, uint32_t size, uint32_t version, uint32_t hardware) {
  (void)size, (void)version, (void)hardware;
  return !((device *)context)->vetoed;
}

void device_make(device *d, uint64_t seed, uint8_t alignment) {
  memset(d, 0, sizeof *d);
  d->seed = seed;
  d->flash.alignment = alignment;
  memset(d->flash.bytes, 0xFF, FLASH);
  ota_receiver_config config = {
      .context = d,
      .flash_read = model_read,
      .flash_write = model_write,
      .flash_erase = model_erase,
      .indicate_control = model_indicate,
      .notify_status = model_notify,
      .activate = model_activate,
      .confirm = model_confirm,
      .may_begin = model_may_begin,
      .may_erase = model_may_erase,
      .running = {1000, 0x11223344, ota_version(1, 2, 3), BOARD},
      .ring = d->ring,
      .ring_size = RING,
      .largest_chunk = CHUNK,
      .slot_size = SLOT,
      .page_size = PAGE,
      .row_size = ROW,
      .write_alignment = alignment,
      .metadata_address = {META, META + PAGE},
  };
  d->config = config;
  device_boot(d);
}

void device_boot(device *d) {
  d->flash.dead = false;
  d->flash.cut_at = 0;
  d->flash.pending = 0;
  memset(d->ring, 0xA5, RING);
  d->flash.violations += !ota_receiver_init(&d->receiver, &d->config);
}

void device_run(device *d) {
  for (uint32_t bound = 100000; bound > 0 && !d->flash.dead; bound--) {
    uint32_t before = d->base_reads;
    uint32_t wait = ota_receiver_poll(&d->receiver, d->now);
    d->now++;
    if (d->base_reads - before > d->base_reads_most) d->base_reads_most = d->base_reads - before;
    if (d->flash.dead) return;
    if (d->flash.pending > 0) {
      if (--d->flash.pending == 0) ota_receiver_flash_done(&d->receiver, true);
    } else if (wait != 0) {
      return;
    }
  }
  d->flash.violations += !d->flash.dead;
}

void device_connect(device *d) {
  ota_receiver_connected(&d->receiver);
  ota_receiver_control_cccd(&d->receiver, 2);
  ota_receiver_status_cccd(&d->receiver, 1);
  device_run(d);
}

uint32_t request(device *d, const uint8_t *bytes, uint32_t size) {
  d->answer_size = 0;
  uint8_t error = ota_receiver_control_write(&d->receiver, bytes, size);
  if (error != 0) return 0x100 | error;
  device_run(d);
  if (d->answer_size < 2 || d->answer[0] != (bytes[0] | 0x80)) return 0xFFF;
  ota_receiver_indication_confirmed(&d->receiver);
  uint8_t result = d->answer[1];
  device_run(d);
  return result;
}

uint32_t request_op(device *d, uint8_t op) { return request(d, &op, 1); }

uint32_t begin(device *d, const uint8_t *image, uint32_t size, uint8_t flags) {
  uint8_t bytes[18] = {OTA_OP_BEGIN, flags};
  put32(bytes + 2, size);
  put32(bytes + 6, ota_crc32(0, image, size));
  bytes[10] = 1;
  bytes[11] = 3;
  put32(bytes + 14, BOARD);
  return request(d, bytes, sizeof bytes);
}

uint8_t data(device *d, const uint8_t *image, uint32_t offset, uint32_t size, bool with_response) {
  uint8_t bytes[4 + OTA_CHUNK_MAXIMUM + 1];
  put32(bytes, offset);
  memcpy(bytes + 4, image + offset, size);
  uint8_t error = ota_receiver_data_write(&d->receiver, bytes, 4 + size, with_response);
  device_run(d);
  return error;
}

bool send_to(device *d, const uint8_t *image, uint32_t end) {
  for (uint32_t bound = 10000; bound > 0 && !d->flash.dead; bound--) {
    uint8_t status[OTA_STATUS_SIZE];
    ota_receiver_status_read(&d->receiver, status);
    uint32_t next = get32(status + 4), window = status[2] | (uint32_t)status[3] << 8;
    if (status[0] != OTA_STATE_RECEIVING) return false;
    if (get32(status + 8) != ota_crc32(0, image, next)) return false;
    if (next >= end) return true;
    uint32_t size = 1 + random_below(d, CHUNK);
    if (size > end - next) size = end - next;
    if (size > window) return false;
    if (data(d, image, next, size, random_below(d, 2)) != 0) return false;
  }
  return false;
}

bool update(device *d, const uint8_t *image, uint32_t size) {
  if (request_op(d, OTA_OP_RESUME_POINT) != 0) return false;
  uint32_t held = get32(d->answer + 10);
  bool matches = get32(d->answer + 2) == size && held <= size &&
                 get32(d->answer + 14) == ota_crc32(0, image, held);
  if (begin(d, image, size, matches ? 0 : OTA_BEGIN_RESTART) != 0) return false;
  if (!send_to(d, image, size)) return false;
  if (request_op(d, OTA_OP_VERIFY) != 0) return false;
  for (uint32_t i = size; i % d->config.write_alignment != 0; i++)
    d->flash.violations += d->flash.bytes[i] != 0xFF;
  return memcmp(d->flash.bytes, image, size) == 0 && d->flash.violations == 0;
}

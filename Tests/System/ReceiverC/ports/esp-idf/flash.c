/// The flash of the chip with its partitions, NVS with one blob, and the bootloader of ESP-IDF with
/// its OTA data (bootloader_utility.c, esp_ota_ops.c, partition_target.c). The rules for writes are
/// stricter than those of flash.
#include "esp.h"

#include "esp_image.h"
#include "ota_receiver.h"
#include "port.h"
#include "stub.h"

#ifndef ESP_STUB_ENCRYPTED
#define ESP_STUB_ENCRYPTED 0
#endif

enum { SECTOR = 4096, NVS = 0, OTADATA = SECTOR, RUNNING = 3 * SECTOR, APPS = 4 * SECTOR };
enum { APP_SIZE = 0x60000, RECORD_SIZE = 2 * SECTOR, ENCRYPTION_BLOCK = 16 };

static const esp_partition_t partitions[2] = {
    {APPS, APP_SIZE, SECTOR, "ota_0", ESP_STUB_ENCRYPTED, false},
    {APPS + APP_SIZE, APP_SIZE, SECTOR, "ota_1", ESP_STUB_ENCRYPTED, false}};

uint8_t *port_flash;
const uint32_t port_flash_size = APPS + 2 * APP_SIZE;
const uint32_t port_image_maximum = APP_SIZE - RECORD_SIZE;
const bool port_reports_reversals = true;
const port_smp *const port_smp_server = NULL;
void (*port_flash_works)(uint32_t size);
bool nvs_is_ready;

// Partitions -------------------------------------------------------------------------------------

/// The cipher of the stub: erased bytes do not read as 0xFF.
static uint8_t key_at(const esp_partition_t *p, uint32_t offset) {
  return p->encrypted ? (uint8_t)(((p->address + offset) * 31 >> 3 ^ 0xA5) | 1) : 0;
}

static esp_err_t check(const esp_partition_t *p, size_t offset, size_t size) {
  if (offset > p->size) return ESP_ERR_INVALID_ARG;
  return size > p->size - offset ? ESP_ERR_INVALID_SIZE : ESP_OK;
}

esp_err_t esp_partition_read(const esp_partition_t *p, size_t offset, void *to, size_t size) {
  esp_err_t error = check(p, offset, size);
  seen.violations += error != ESP_OK;
  for (size_t i = 0; error == ESP_OK && i < size; i++)
    ((uint8_t *)to)[i] = port_flash[p->address + offset + i] ^ key_at(p, (uint32_t)(offset + i));
  return error;
}

/// Whether the caller may change the partition. ESP-IDF aborts a program that writes its running
/// partition (SPI_FLASH_DANGEROUS_WRITE). The functions return only after the operation, so only the
/// flash task may call them.
static bool may_change(const esp_partition_t *p) {
  bool may = p != esp_ota_get_running_partition() && is_flash_task;
  seen.violations += !may;
  return may;
}

esp_err_t esp_partition_write(
    const esp_partition_t *p, size_t offset, const void *from, size_t size) {
  esp_err_t error = check(p, offset, size);
  bool is_aligned = offset % ENCRYPTION_BLOCK == 0 && size % ENCRYPTION_BLOCK == 0;
  seen.violations += error != ESP_OK || !is_aligned || size == 0;
  if (error == ESP_OK && !is_aligned) error = ESP_ERR_INVALID_SIZE;
  if (error != ESP_OK || !may_change(p)) return error != ESP_OK ? error : ESP_FAIL;
  for (size_t i = 0; i < size; i++) {
    uint8_t *at = port_flash + p->address + offset + i;
    seen.violations += *at != 0xFF;
    *at &= ((const uint8_t *)from)[i] ^ key_at(p, (uint32_t)(offset + i));
  }
  if (port_flash_works) port_flash_works((uint32_t)size);
  return ESP_OK;
}

esp_err_t esp_partition_erase_range(const esp_partition_t *p, size_t offset, size_t size) {
  esp_err_t error = check(p, offset, size);
  if (error == ESP_OK && size % SECTOR != 0) error = ESP_ERR_INVALID_SIZE;
  if (error == ESP_OK && offset % SECTOR != 0) error = ESP_ERR_INVALID_ARG;
  seen.violations += error != ESP_OK;
  if (error != ESP_OK || !may_change(p)) return error != ESP_OK ? error : ESP_FAIL;
  memset(port_flash + p->address + offset, 0xFF, size);
  for (size_t i = 0; port_flash_works && i < size; i += SECTOR) port_flash_works(0);
  return ESP_OK;
}

/// Decrypts the start of a partition. Returns a buffer that the next call overwrites.
static const uint8_t *content(const esp_partition_t *p) {
  static uint8_t bytes[APP_SIZE];
  esp_partition_read(p, 0, bytes, APP_SIZE);
  return bytes;
}

esp_err_t esp_image_get_metadata(const esp_partition_pos_t *part, esp_image_metadata_t *metadata) {
  for (int i = 0; i < 2; i++) {
    if (partitions[i].address != part->offset) continue;
    metadata->start_addr = part->offset;
    metadata->image_len = esp_image_length(content(&partitions[i]), part->size);
    return metadata->image_len > 0 ? ESP_OK : ESP_FAIL;
  }
  return ESP_ERR_INVALID_ARG;
}

// OTA data ---------------------------------------------------------------------------------------

typedef struct { uint32_t seq; uint8_t label[20]; uint32_t state, crc; } entry;

static uint32_t check_of(const entry *e) { return ota_crc32(0, (const uint8_t *)&e->seq, 4); }

static entry *entry_at(int sector) {
  return (entry *)(void *)(port_flash + OTADATA + sector * SECTOR);
}

static bool is_valid(int sector) {
  const entry *e = entry_at(sector);
  return e->seq != UINT32_MAX && e->state != ESP_OTA_IMG_INVALID &&
         e->state != ESP_OTA_IMG_ABORTED && e->crc == check_of(e);
}

static int active_entry(void) {
  if (is_valid(0) && is_valid(1)) return entry_at(1)->seq > entry_at(0)->seq;
  return is_valid(0) ? 0 : is_valid(1) ? 1 : -1;
}

static void write_entry(int sector, uint32_t seq, uint32_t state) {
  entry *e = entry_at(sector);
  memset(e, 0xFF, SECTOR);
  e->seq = seq;
  e->state = state;
  e->crc = check_of(e);
}

const esp_partition_t *esp_ota_get_running_partition(void) {
  return &partitions[port_flash[RUNNING] != 0];
}

const esp_partition_t *esp_ota_get_boot_partition(void) {
  int active = active_entry();
  return &partitions[active < 0 ? 0 : (entry_at(active)->seq - 1) % 2];
}

const esp_partition_t *esp_ota_get_next_update_partition(const esp_partition_t *start_from) {
  if (start_from == NULL) start_from = esp_ota_get_running_partition();
  return &partitions[start_from == &partitions[0]];
}

esp_err_t esp_ota_get_partition_description(
    const esp_partition_t *p, esp_app_desc_t *description) {
  esp_partition_read(p, ESP_DESCRIPTION, description, sizeof *description);
  return description->magic_word == 0xABCD5432 ? ESP_OK : ESP_ERR_NOT_FOUND;
}

esp_err_t esp_ota_get_state_partition(const esp_partition_t *p, esp_ota_img_states_t *state) {
  for (int i = 0; i < 2; i++) {
    const entry *e = entry_at(i);
    if (e->seq == UINT32_MAX || e->crc != check_of(e) || p != &partitions[(e->seq - 1) % 2])
      continue;
    *state = (esp_ota_img_states_t)e->state;
    return ESP_OK;
  }
  return ESP_ERR_NOT_FOUND;
}

esp_err_t esp_ota_set_boot_partition(const esp_partition_t *p) {
  if (p == NULL) return ESP_ERR_INVALID_ARG;
  if (esp_image_verified_length(content(p), APP_SIZE) == 0) return ESP_ERR_OTA_VALIDATE_FAILED;
  uint32_t index = p == &partitions[1];
  int active = active_entry();
  uint32_t seq = active < 0 ? index + 1 : entry_at(active)->seq;
  while ((seq - 1) % 2 != index) seq++;
  write_entry(active < 0 ? 0 : !active, seq, ESP_OTA_IMG_NEW);
  return ESP_OK;
}

esp_err_t esp_ota_mark_app_valid_cancel_rollback(void) {
  int active = active_entry();
  if (active < 0) return ESP_FAIL;
  if (entry_at(active)->state != ESP_OTA_IMG_VALID)
    write_entry(active, entry_at(active)->seq, ESP_OTA_IMG_VALID);
  return ESP_OK;
}

void esp_restart(void) { seen.reset = true; }

// NVS --------------------------------------------------------------------------------------------

enum { NVS_HANDLE = 7, NVS_MAXIMUM = 64 };
static uint8_t uncommitted[1 + NVS_MAXIMUM];
static nvs_open_mode_t nvs_mode;

esp_err_t nvs_flash_init(void) {
  nvs_is_ready = true;
  return ESP_OK;
}

esp_err_t nvs_flash_erase(void) {
  memset(port_flash + NVS, 0xFF, SECTOR);
  return ESP_OK;
}

esp_err_t nvs_open(const char *name, nvs_open_mode_t mode, nvs_handle_t *handle) {
  seen.violations += strlen(name) > 15 || !nvs_is_ready;
  if (mode == NVS_READONLY && port_flash[NVS] == 0xFF) return ESP_ERR_NVS_NOT_FOUND;
  *handle = NVS_HANDLE;
  nvs_mode = mode;
  uncommitted[0] = 0xFF;
  return ESP_OK;
}

esp_err_t nvs_get_blob(nvs_handle_t handle, const char *key, void *to, size_t *size) {
  seen.violations += handle != NVS_HANDLE || strlen(key) > 15;
  if (port_flash[NVS] == 0xFF) return ESP_ERR_NVS_NOT_FOUND;
  if (*size < port_flash[NVS]) return ESP_ERR_NVS_INVALID_LENGTH;
  *size = port_flash[NVS];
  memcpy(to, port_flash + NVS + 1, *size);
  return ESP_OK;
}

esp_err_t nvs_set_blob(nvs_handle_t handle, const char *key, const void *from, size_t size) {
  seen.violations += handle != NVS_HANDLE || strlen(key) > 15 || size > NVS_MAXIMUM;
  if (nvs_mode != NVS_READWRITE) return ESP_ERR_NVS_READ_ONLY;
  uncommitted[0] = (uint8_t)size;
  memcpy(uncommitted + 1, from, size);
  return ESP_OK;
}

esp_err_t nvs_commit(nvs_handle_t handle) {
  seen.violations += handle != NVS_HANDLE;
  if (uncommitted[0] != 0xFF) memcpy(port_flash + NVS, uncommitted, sizeof uncommitted);
  return ESP_OK;
}

void nvs_close(nvs_handle_t handle) { seen.violations += handle != NVS_HANDLE; }

// The device -------------------------------------------------------------------------------------

void port_install(const uint8_t *image, uint32_t size) {
  memset(port_flash, 0xFF, port_flash_size);
  for (uint32_t i = 0; i < size; i++)
    port_flash[APPS + i] = image[i] ^ key_at(&partitions[0], i);
  // The remains of an earlier update in the slot.
  memset(port_flash + partitions[1].address, 0x5A, APP_SIZE);
  port_flash[RUNNING] = 0;
}

/// The bootloader. An image that was started once without being confirmed is aborted, a new image
/// is started on trial, and an image that is not valid is not started.
bool port_boot(void) {
  for (int i = 0; i < 2; i++)
    if (entry_at(i)->state == ESP_OTA_IMG_PENDING_VERIFY)
      write_entry(i, entry_at(i)->seq, ESP_OTA_IMG_ABORTED);
  int active = active_entry();
  uint32_t index = active < 0 ? 0 : (entry_at(active)->seq - 1) % 2;
  if (active >= 0 && entry_at(active)->state == ESP_OTA_IMG_NEW)
    write_entry(active, entry_at(active)->seq, ESP_OTA_IMG_PENDING_VERIFY);
  if (esp_image_verified_length(content(&partitions[index]), APP_SIZE) == 0) index = !index;
  port_flash[RUNNING] = (uint8_t)index;
  return port_start();
}

bool port_slot_is_erased(void) {
  const esp_partition_t *slot = esp_ota_get_next_update_partition(NULL);
  for (uint32_t i = 0; i < APP_SIZE - RECORD_SIZE; i++) {
    if (port_flash[slot->address + i] != 0xFF) return false;
  }
  return true;
}

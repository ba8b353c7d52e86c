/// The bootloader of ESP-IDF keeps only the state of each partition, so the last activation is also
/// stored in NVS: it states whether an image was reverted, and the size of a signed image.
#include "ota_boot.h"

#include "esp_image_format.h"
#include "esp_ota_ops.h"
#include "esp_system.h"
#include "nvs.h"

/// REQUESTED: the bootloader has not reported an outcome yet. ON_TRIAL: the image was started once.
/// ENDED: the image is permanent, or was reverted or rejected.
enum { REQUESTED = 1, ON_TRIAL, ENDED };

typedef struct {
  uint32_t state;
  /// The address of the partition that holds the image.
  uint32_t address;
  uint32_t size, crc32;
  /// The image that ran at the time of the request.
  uint32_t previous_size, previous_crc32;
} request;

static const char nvs_namespace[] = "otaflash", nvs_key[] = "request";

static bool load(request *stored) {
  nvs_handle_t nvs;
  size_t size = sizeof *stored;
  if (nvs_open(nvs_namespace, NVS_READONLY, &nvs) != ESP_OK) return false;
  bool found = nvs_get_blob(nvs, nvs_key, stored, &size) == ESP_OK && size == sizeof *stored;
  nvs_close(nvs);
  return found;
}

static bool store(const request *stored) {
  nvs_handle_t nvs;
  if (nvs_open(nvs_namespace, NVS_READWRITE, &nvs) != ESP_OK) return false;
  bool done = nvs_set_blob(nvs, nvs_key, stored, sizeof *stored) == ESP_OK &&
              nvs_commit(nvs) == ESP_OK;
  nvs_close(nvs);
  return done;
}

static esp_ota_img_states_t state_of(const esp_partition_t *partition) {
  esp_ota_img_states_t state;
  // A factory partition, and a partition that no update has used, have no state.
  return esp_ota_get_state_partition(partition, &state) == ESP_OK ? state : ESP_OTA_IMG_UNDEFINED;
}

// The running image ------------------------------------------------------------------------------

static bool read_crc32(
    const esp_partition_t *partition, uint32_t size, uint8_t *buffer, uint32_t buffer_size,
    uint32_t *crc32) {
  *crc32 = 0;
  if (size == 0 || size > partition->size) return false;
  for (uint32_t at = 0; at < size; at += buffer_size) {
    uint32_t count = size - at < buffer_size ? size - at : buffer_size;
    if (esp_partition_read(partition, at, buffer, count) != ESP_OK) return false;
    *crc32 = ota_crc32(*crc32, buffer, count);
  }
  return true;
}

/// Whether the running partition starts with this image. Stores the size and the CRC32 that was
/// read in `boot->image`.
static bool holds(
    ota_boot *boot, uint32_t size, uint32_t crc32, uint8_t *buffer, uint32_t buffer_size) {
  if (!read_crc32(boot->running, size, buffer, buffer_size, &boot->image.crc32)) return false;
  boot->image.size = size;
  return boot->image.crc32 == crc32;
}

/// Reads the size of the running image from the headers of its segments. This size excludes a
/// signature block, so a device with a signed image that was installed by cable accepts no patches.
static void measure(ota_boot *boot, uint8_t *buffer, uint32_t buffer_size) {
  const esp_partition_pos_t place = {
      .offset = boot->running->address, .size = boot->running->size};
  esp_image_metadata_t image;
  boot->image.size = 0;
  if (esp_image_get_metadata(&place, &image) == ESP_OK &&
      read_crc32(boot->running, image.image_len, buffer, buffer_size, &boot->image.crc32))
    boot->image.size = image.image_len;
}

/// The version at the start of a text such as `v1.2.3-dirty`; 0 if there is no version.
static uint32_t version_in(const char *text, uint32_t length) {
  static const uint32_t maximum[3] = {UINT8_MAX, UINT8_MAX, UINT16_MAX};
  uint32_t numbers[3] = {0}, at = length > 0 && text[0] == 'v';
  for (int i = 0; i < 3; i++) {
    uint32_t first = at;
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
      numbers[i] = numbers[i] * 10 + (uint32_t)(text[at] - '0');
      if (numbers[i] > maximum[i]) return 0;
    }
    if (at == first || (i < 2 && (at == length || text[at++] != '.'))) return 0;
  }
  return ota_version((uint8_t)numbers[0], (uint8_t)numbers[1], (uint16_t)numbers[2]);
}

// ------------------------------------------------------------------------------------------------

/// Determines the outcome of the last activation, and stores that it is reported.
static void judge(ota_boot *boot, request *last) {
  bool runs = boot->running->address == last->address;
  uint32_t state = last->state;
  // The bootloader has not handled the request yet.
  if (!runs && state == REQUESTED && state_of(boot->slot) == ESP_OTA_IMG_NEW) return;
  if (state == REQUESTED && runs) boot->outcome = OTA_BOOT_ACTIVATED;
  if (state != ENDED && !runs) boot->outcome = OTA_BOOT_REVERTED;
  last->state = runs && boot->trial ? ON_TRIAL : ENDED;
  if (last->state != state) store(last);
}

bool ota_boot_read(ota_boot *boot, uint8_t *buffer, uint32_t buffer_size) {
  esp_app_desc_t description;
  request last;
  boot->running = esp_ota_get_running_partition();
  boot->slot = esp_ota_get_next_update_partition(NULL);
  if (boot->slot == NULL || boot->slot == boot->running) return false;
  boot->outcome = OTA_BOOT_NORMAL;
  boot->trial = state_of(boot->running) == ESP_OTA_IMG_PENDING_VERIFY;
  bool is_known = load(&last);
  if (is_known) judge(boot, &last);
  bool is_new = is_known && boot->running->address == last.address;
  uint32_t size = is_new ? last.size : last.previous_size;
  uint32_t crc32 = is_new ? last.crc32 : last.previous_crc32;
  if (!is_known || !holds(boot, size, crc32, buffer, buffer_size))
    measure(boot, buffer, buffer_size);
  boot->image.version = 0;
  if (esp_ota_get_partition_description(boot->running, &description) == ESP_OK)
    boot->image.version = version_in(description.version, sizeof description.version);
  boot->image.hardware_id = CONFIG_OTAFLASH_HARDWARE_ID;
  return true;
}

bool ota_boot_slot_is_free(const ota_boot *boot) {
  return state_of(boot->running) != ESP_OTA_IMG_PENDING_VERIFY &&
         esp_ota_get_boot_partition() == boot->running;
}

void ota_boot_activate(const ota_boot *boot, uint32_t size, uint32_t crc32) {
  const request new = {
      REQUESTED, boot->slot->address, size, crc32, boot->image.size, boot->image.crc32};
  // ESP-IDF verifies the image, with its signature if there is one. If a step fails, the old image
  // starts again, and the host reports it.
  if (store(&new)) esp_ota_set_boot_partition(boot->slot);
  esp_restart();
}

bool ota_boot_confirm(void) { return esp_ota_mark_app_valid_cancel_rollback() == ESP_OK; }

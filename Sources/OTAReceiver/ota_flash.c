/// Access to flash: starts one operation at a time, whose end `ota_engine_finish` handles, and
/// compares contents.
#include "ota_internal.h"

void ota_flash_write(
    ota_receiver *r, uint8_t work, uint32_t address, const uint8_t *from, uint32_t size) {
  r->flash.work = work;
  r->flash.size = size;
  r->flash.outcome = (uint8_t)r->config->flash_write(r->config->context, address, from, size);
}

void ota_flash_erase(ota_receiver *r, uint8_t work, uint32_t page_address) {
  r->flash.work = work;
  r->flash.outcome = (uint8_t)r->config->flash_erase(r->config->context, page_address);
}

bool ota_flash_equals(const ota_receiver *r, uint32_t address, const uint8_t *want, uint32_t size) {
  uint8_t found[OTA_READ_STEP];
  for (uint32_t at = 0; at < size; at++) {
    uint32_t i = at % OTA_READ_STEP;
    uint32_t count = ota_least(OTA_READ_STEP, size - at);
    if (i == 0 && !r->config->flash_read(r->config->context, address + at, found, count))
      return false;
    if (found[i] != (want != NULL ? want[at] : 0xFF)) return false;
  }
  return true;
}

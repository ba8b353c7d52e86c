/// The bootloader of the nRF5 port (nRF5 SDK 17): `boot_run` with blocking flash operations. Build
/// it as its own program with ../bootloader/boot.c and the receiver's ota_crc32.c.
#include <string.h>

#include "nrf_bootloader_app_start.h"
#include "nrf_fstorage.h"
#include "nrf_fstorage_nvmc.h"
#include "nrf_soc.h"

#include "flash_layout.h"

NRF_FSTORAGE_DEF(nrf_fstorage_t boot_storage) = {
    .start_addr = APPLICATION_ADDRESS,
    .end_addr = LAYOUT_END,
};

static void flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  (void)context;
  nrf_fstorage_read(&boot_storage, address, to, size);
}

// The operations of nrf_fstorage_nvmc have ended when they return.
static bool flash_write(void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  (void)context;
  uint32_t words[64 / 4];  // aligned; boot_run writes at most 64 bytes
  memcpy(words, from, size);
  return nrf_fstorage_write(&boot_storage, address, words, size, NULL) == NRF_SUCCESS;
}

static bool flash_erase(void *context, uint32_t page_address) {
  (void)context;
  return nrf_fstorage_erase(&boot_storage, page_address, 1, NULL) == NRF_SUCCESS;
}

int main(void) {
  boot_device device = boot_layout(flash_read);
  device.write = flash_write;
  device.erase = flash_erase;
  // Check a signature here: device.is_signed = ...
  if (!boot_fits(&device)) return 1;
  if (nrf_fstorage_init(&boot_storage, &nrf_fstorage_nvmc, NULL) != NRF_SUCCESS ||
      !boot_run(&device))
    NVIC_SystemReset();
  nrf_bootloader_app_start();
  return 0;
}

/// The OTA service on a SoftDevice (nRF5 SDK 17, S132 or S140), with the bootloader of
/// ../bootloader.
///
/// All code runs in the main loop: with NRF_SDH_DISPATCH_MODEL 1 the scheduler delivers the events
/// of Bluetooth and flash there, so no lock is needed.
#include <string.h>

#include "app_timer.h"
#include "ble.h"
#include "ble_srv_common.h"
#include "nrf_fstorage.h"
#include "nrf_fstorage_sd.h"
#include "nrf_sdh_ble.h"
#include "nrf_soc.h"

#include "flash_layout.h"
#include "ota.h"
#include "ota_receiver.h"

enum {
  ROW = 256,
  // The data that arrives while a page is erased (85 ms at 60 kB/s), plus a row.
  RING = 24 * ROW,
  // The ATT_MTU minus the 3-byte ATT header and the 4-byte offset.
  CHUNK = NRF_SDH_BLE_GATT_MAX_MTU_SIZE - 3 - 4,
  // The range coder needs 157 instructions per byte, at 64 MHz and about 1.5 cycles each.
  DECODE_RATE = 64000000 * 2 / 3 / 157 / OTA_DECODE_UNIT
};

static ota_receiver receiver;
static ota_receiver_config config;
// An array of words, as sd_flash_write requires.
static uint32_t ring[RING / 4];
static uint16_t host = BLE_CONN_HANDLE_INVALID;
static ble_gatts_char_handles_t control, data, status;

// Flash ------------------------------------------------------------------------------------------

static boot_request request;
static uint32_t confirmation[WRITE_UNIT / 4];  // zeros

static void storage_event(nrf_fstorage_evt_t *event) {
  if (event->p_param == confirmation) return;
  if (event->p_param != &request)
    ota_receiver_flash_done(&receiver, event->result == NRF_SUCCESS);
  else if (event->id == NRF_FSTORAGE_EVT_WRITE_RESULT)
    sd_nvic_SystemReset();  // after a failed write the old image starts, and the host reports it
}

NRF_FSTORAGE_DEF(nrf_fstorage_t storage) = {
    .evt_handler = storage_event,
    .start_addr = APPLICATION_ADDRESS,
    .end_addr = LAYOUT_END,
};

static bool flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  (void)context;
  return nrf_fstorage_read(&storage, address, to, size) == NRF_SUCCESS;
}

static ota_flash_result flash_write(
    void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  (void)context;
  return nrf_fstorage_write(&storage, address, from, size, NULL) == NRF_SUCCESS
             ? OTA_FLASH_PENDING
             : OTA_FLASH_FAILED;
}

static ota_flash_result flash_erase(void *context, uint32_t page_address) {
  (void)context;
  return nrf_fstorage_erase(&storage, page_address, 1, NULL) == NRF_SUCCESS ? OTA_FLASH_PENDING
                                                                            : OTA_FLASH_FAILED;
}

#if OTA_PATCHES
/// Reads the running image, the base of patches, at any offset; nrf_fstorage_read requires an
/// address that is a multiple of 4.
static bool base_read(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  uint8_t bytes[OTA_READ_STEP + 3];
  uint32_t skipped = offset % 4;
  if (!flash_read(context, APPLICATION_ADDRESS + offset - skipped, bytes, skipped + size))
    return false;
  memcpy(to, bytes + skipped, size);
  return true;
}
#endif

// Bootloader -------------------------------------------------------------------------------------

static void read_for_boot(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  flash_read(context, address, to, size);
}

/// Permits erasing the slot before an update, unless the bootloader is requested to start it or may
/// revert to it.
static bool may_erase(void *context) {
  (void)context;
  boot_device device = boot_layout(read_for_boot);
  return boot_slot_is_free(&device);
}

static void activate(void *context, uint32_t size, uint32_t crc32) {
  (void)context;
  request = boot_make_request(&config.running, size, crc32);
  // nrf_fstorage queues both; storage_event resets after the second has ended.
  if (nrf_fstorage_erase(&storage, JOURNAL_ADDRESS, 1, &request) != NRF_SUCCESS ||
      nrf_fstorage_write(&storage, JOURNAL_ADDRESS, &request, sizeof request, &request) !=
          NRF_SUCCESS)
    sd_nvic_SystemReset();
}

/// Makes the image on trial permanent. nrf_fstorage executes its operations in order, so the mark
/// is written before anything that the receiver writes or erases later.
static bool confirm(void *context) {
  (void)context;
  boot_device device = boot_layout(read_for_boot);
  uint32_t address = boot_mark_address(&device, BOOT_CONFIRMED);
  return nrf_fstorage_write(
             &storage, address, confirmation, sizeof confirmation, confirmation) == NRF_SUCCESS;
}

// GATT -------------------------------------------------------------------------------------------

static bool send(
    const ble_gatts_char_handles_t *from, uint8_t type, const uint8_t *bytes, uint32_t size) {
  uint16_t length = (uint16_t)size;
  ble_gatts_hvx_params_t value = {
      .handle = from->value_handle, .type = type, .p_len = &length, .p_data = bytes};
  // NRF_ERROR_BUSY and NRF_ERROR_RESOURCES are temporary: the receiver retries.
  return sd_ble_gatts_hvx(host, &value) == NRF_SUCCESS;
}

static bool indicate_control(void *context, const uint8_t *bytes, uint32_t size) {
  (void)context;
  return send(&control, BLE_GATT_HVX_INDICATION, bytes, size);
}

static bool notify_status(void *context, const uint8_t *bytes) {
  (void)context;
  return send(&status, BLE_GATT_HVX_NOTIFICATION, bytes, OTA_STATUS_SIZE);
}

/// Handles Write Commands, and writes of the CCCDs, which the SoftDevice has already answered.
static void written(const ble_gatts_evt_write_t *write) {
  uint16_t value = write->len == 2 ? (uint16_t)(write->data[0] | write->data[1] << 8) : 0;
  if (write->handle == data.value_handle)
    ota_receiver_data_write(&receiver, write->data, write->len, false);
  else if (write->handle == control.cccd_handle)
    ota_receiver_control_cccd(&receiver, value);
  else if (write->handle == status.cccd_handle)
    ota_receiver_status_cccd(&receiver, value);
}

/// Answers Write Requests to Control and Data with the receiver's result.
static void authorize_write(const ble_gatts_evt_write_t *write) {
  // No value is longer than the ATT_MTU, so a host does not need queued writes.
  uint8_t error = 0x06;  // Request Not Supported
  if (write->op == BLE_GATTS_OP_WRITE_REQ && write->handle == control.value_handle)
    error = ota_receiver_control_write(&receiver, write->data, write->len);
  else if (write->op == BLE_GATTS_OP_WRITE_REQ && write->handle == data.value_handle)
    error = ota_receiver_data_write(&receiver, write->data, write->len, true);
  ble_gatts_rw_authorize_reply_params_t reply = {.type = BLE_GATTS_AUTHORIZE_TYPE_WRITE};
  reply.params.write.gatt_status = error ? 0x0100 | error : BLE_GATT_STATUS_SUCCESS;
  if (error == 0) {
    reply.params.write.update = 1;
    reply.params.write.len = write->len;
    reply.params.write.p_data = write->data;
  }
  sd_ble_gatts_rw_authorize_reply(host, &reply);
}

static void authorize_read(void) {
  uint8_t bytes[OTA_STATUS_SIZE];
  ota_receiver_status_read(&receiver, bytes);
  ble_gatts_rw_authorize_reply_params_t reply = {.type = BLE_GATTS_AUTHORIZE_TYPE_READ};
  reply.params.read.gatt_status = BLE_GATT_STATUS_SUCCESS;
  reply.params.read.update = 1;
  reply.params.read.len = sizeof bytes;
  reply.params.read.p_data = bytes;
  sd_ble_gatts_rw_authorize_reply(host, &reply);
}

static bool is_ours(uint16_t handle) {
  return handle == control.value_handle || handle == data.value_handle;
}

static void bluetooth_event(ble_evt_t const *event, void *context) {
  (void)context;
  const ble_gatts_evt_t *gatts = &event->evt.gatts_evt;
  switch (event->header.evt_id) {
    case BLE_GAP_EVT_CONNECTED:
      host = event->evt.gap_evt.conn_handle;
      ota_receiver_connected(&receiver);
      break;
    case BLE_GAP_EVT_DISCONNECTED:
      host = BLE_CONN_HANDLE_INVALID;
      ota_receiver_disconnected(&receiver);
      break;
    case BLE_GATTS_EVT_SYS_ATTR_MISSING:
      // Without bonds. With bonds, the Peer Manager restores the CCCDs.
      sd_ble_gatts_sys_attr_set(host, NULL, 0, 0);
      break;
    case BLE_GATTS_EVT_WRITE:
      written(&gatts->params.write);
      break;
    case BLE_GATTS_EVT_RW_AUTHORIZE_REQUEST: {
      const ble_gatts_evt_rw_authorize_request_t *asked = &gatts->params.authorize_request;
      if (asked->type == BLE_GATTS_AUTHORIZE_TYPE_WRITE && is_ours(asked->request.write.handle))
        authorize_write(&asked->request.write);
      else if (asked->type == BLE_GATTS_AUTHORIZE_TYPE_READ &&
               asked->request.read.handle == status.value_handle)
        authorize_read();
      break;
    }
    case BLE_GATTS_EVT_HVC:
      if (gatts->params.hvc.handle == control.value_handle)
        ota_receiver_indication_confirmed(&receiver);
      break;
    default:
      break;
  }
}

NRF_SDH_BLE_OBSERVER(ota_observer, 3, bluetooth_event, NULL);

static uint32_t add_service(void) {
  // 2f3e....-21b4-4807-8bdc-74db56699529; bytes 12 and 13 differ for each attribute.
  static const ble_uuid128_t base = {
      {0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B, 0x07, 0x48, 0xB4, 0x21, 0, 0, 0x3E, 0x2F}};
  ble_uuid_t uuid = {.uuid = 1};
  uint16_t service;
  uint32_t error = sd_ble_uuid_vs_add(&base, &uuid.type);
  if (error == NRF_SUCCESS)
    error = sd_ble_gatts_service_add(BLE_GATTS_SRVC_TYPE_PRIMARY, &uuid, &service);
  if (error != NRF_SUCCESS) return error;

  // To permit updates by paired hosts only, use SEC_JUST_WORKS or SEC_MITM here.
  ble_add_char_params_t plain = {
      .uuid_type = uuid.type,
      .is_var_len = true,
      .read_access = SEC_OPEN,
      .write_access = SEC_OPEN,
      .cccd_write_access = SEC_OPEN};

  ble_add_char_params_t added = plain;
  added.uuid = 2;
  added.max_len = OTA_REQUEST_MAXIMUM + 2;  // the receiver refuses requests that are too long
  added.char_props.write = 1;
  added.char_props.indicate = 1;
  added.is_defered_write = true;
  error = characteristic_add(service, &added, &control);
  if (error != NRF_SUCCESS) return error;

  added = plain;
  added.uuid = 3;
  added.max_len = NRF_SDH_BLE_GATT_MAX_MTU_SIZE - 3;
  added.char_props.write = 1;
  added.char_props.write_wo_resp = 1;
  added.is_defered_write = true;
  error = characteristic_add(service, &added, &data);
  if (error != NRF_SUCCESS) return error;

  added = plain;
  added.uuid = 4;
  added.max_len = OTA_STATUS_SIZE;
  added.init_len = OTA_STATUS_SIZE;
  added.char_props.read = 1;
  added.char_props.notify = 1;
  added.is_defered_read = true;
  return characteristic_add(service, &added, &status);
}

// Time -------------------------------------------------------------------------------------------

APP_TIMER_DEF(wake_timer);

/// Does nothing: the interrupt already wakes the main loop.
static void wake(void *context) { (void)context; }

/// Returns the time, summed up from call to call. The RTC wraps after 512 s. Wraps are lost only if
/// nothing is due for longer than that, and then have no effect.
static uint32_t now_ms(void) {
  static uint32_t last;
  static uint64_t ticks;
  uint32_t now = app_timer_cnt_get();
  ticks += app_timer_cnt_diff_compute(now, last);
  last = now;
  return (uint32_t)(ticks * 1000 / APP_TIMER_CLOCK_FREQ);
}

bool ota_poll(void) {
  uint32_t wait = ota_receiver_poll(&receiver, now_ms());
  app_timer_stop(wake_timer);
  if (wait == 0 || wait == OTA_POLL_IDLE) return wait == 0;
  // The maximum of a timer is half the range of the RTC.
  app_timer_start(wake_timer, APP_TIMER_TICKS(wait < 200000 ? wait : 200000), NULL);
  return false;
}

// ------------------------------------------------------------------------------------------------

uint32_t ota_start(void) {
  config = (ota_receiver_config){
      .flash_read = flash_read,
      .flash_write = flash_write,
      .flash_erase = flash_erase,
      .indicate_control = indicate_control,
      .notify_status = notify_status,
      .activate = activate,
      .confirm = confirm,
      .ring = (uint8_t *)ring,
      .ring_size = RING,
      .largest_chunk = CHUNK,
      .slot_address = SLOT_ADDRESS,
      .slot_size = SLOT_SIZE,
      .page_size = PAGE,
      .row_size = ROW,
      .write_alignment = WRITE_UNIT,
      .metadata_address = {RECORD_ADDRESS, RECORD_ADDRESS + PAGE},
      .erase_ahead = true,
      .may_erase = may_erase,
#if OTA_PATCHES
      .patches = true,
      .base_read = base_read,
      .decode_rate = DECODE_RATE,
#endif
  };
  uint32_t error = nrf_fstorage_init(&storage, &nrf_fstorage_sd, NULL);
  if (error != NRF_SUCCESS) return error;
  boot_device device = boot_layout(read_for_boot);
  boot_status boot = boot_read_status(&device);
  config.running = boot.running;
  config.boot_outcome = boot.outcome;
  config.trial = boot.trial;
  if (!ota_receiver_init(&receiver, &config)) return NRF_ERROR_INVALID_PARAM;
  error = app_timer_create(&wake_timer, APP_TIMER_MODE_SINGLE_SHOT, wake);
  return error == NRF_SUCCESS ? add_service() : error;
}

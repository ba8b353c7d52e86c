/// The OTA service in an ESP-IDF application with NimBLE: the partition that does not run receives
/// images, and the running partition is the base of patches. The resume record is in the last two
/// sectors of the partition that receives images, so that a device in the field receives this
/// component by an ordinary update: its partition table does not change.
///
/// All calls of the receiver are made on the host task of NimBLE, as callbacks or as events of its
/// queue, so no lock is needed. Flash is erased and written on another task, because these functions
/// return only after the operation.
#include "ota.h"

#include <string.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "host/ble_hs.h"
#include "nimble/nimble_port.h"

#include "ota_boot.h"
#include "ota_receiver.h"

enum {
  SECTOR = 4096,
  ROW = 256,
  // Encrypted flash is written in units of 16 bytes.
  WRITE_UNIT = 16,
  // The ATT_MTU minus the 3-byte ATT header and the 4-byte offset.
  PAYLOAD = CONFIG_BT_NIMBLE_ATT_PREFERRED_MTU - 3 - 4,
  CHUNK = PAYLOAD < OTA_CHUNK_MAXIMUM ? PAYLOAD : OTA_CHUNK_MAXIMUM,
  FLASH_STACK = 3072,
  FLASH_PRIORITY = 5
};

static ota_receiver receiver;
static ota_receiver_config config;
static ota_boot boot;
static uint8_t ring[CONFIG_OTAFLASH_RING_SIZE] __attribute__((aligned(16)));
/// The connection that uses the service: the first that writes to it.
static uint16_t host = BLE_HS_CONN_HANDLE_NONE;
/// The handles of the values.
static uint16_t control, data, status;

// Time -------------------------------------------------------------------------------------------

static struct ble_npl_event poll_event;
static struct ble_npl_callout poll_timer;

/// Called after each event of the receiver. An event that is queued already is not queued again.
static void poll_soon(void) { ble_npl_eventq_put(nimble_port_get_dflt_eventq(), &poll_event); }

static void poll_receiver(struct ble_npl_event *event) {
  (void)event;
  uint32_t wait = ota_receiver_poll(&receiver, (uint32_t)(esp_timer_get_time() / 1000));
  ble_npl_callout_stop(&poll_timer);
  if (wait == 0)
    poll_soon();
  else if (wait != OTA_POLL_IDLE)
    // A tick may be longer than the wait.
    ble_npl_callout_reset(&poll_timer, ble_npl_time_ms_to_ticks32(wait) + 1);
}

// Flash ------------------------------------------------------------------------------------------

static TaskHandle_t flash_task;
static struct ble_npl_event flash_event;
static struct {
  uint32_t address, size;
  const uint8_t *from;  // null: erase
  bool succeeded;
} flash_job;

static bool flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  (void)context;
  return esp_partition_read(boot.slot, address, to, size) == ESP_OK;
}

#if OTA_PATCHES
/// The running partition starts with the running image, the base of patches.
static bool base_read(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  (void)context;
  return esp_partition_read(boot.running, offset, to, size) == ESP_OK;
}
#endif

static esp_err_t do_flash_job(void) {
  uint32_t address = flash_job.address, size = flash_job.size;
  return flash_job.from != NULL ? esp_partition_write(boot.slot, address, flash_job.from, size)
                                : esp_partition_erase_range(boot.slot, address, size);
}

static void run_flash_jobs(void *argument) {
  (void)argument;
  for (;;) {
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    flash_job.succeeded = do_flash_job() == ESP_OK;
    ble_npl_eventq_put(nimble_port_get_dflt_eventq(), &flash_event);
  }
}

static void flash_job_ended(struct ble_npl_event *event) {
  (void)event;
  ota_receiver_flash_done(&receiver, flash_job.succeeded);
  poll_soon();
}

static ota_flash_result flash_write(
    void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  (void)context;
  flash_job.address = address;
  flash_job.from = from;
  flash_job.size = size;
  xTaskNotifyGive(flash_task);
  return OTA_FLASH_PENDING;
}

static ota_flash_result flash_erase(void *context, uint32_t page_address) {
  return flash_write(context, page_address, NULL, SECTOR);
}

// Bootloader -------------------------------------------------------------------------------------

static void activate(void *context, uint32_t size, uint32_t crc32) {
  (void)context;
  ota_boot_activate(&boot, size, crc32);
}

static bool confirm(void *context) {
  (void)context;
  return ota_boot_confirm();
}

/// Permits erasing the slot before an update, unless the bootloader is requested to start it or may
/// restore it.
static bool may_erase(void *context) {
  (void)context;
  return ota_boot_slot_is_free(&boot);
}

// GATT -------------------------------------------------------------------------------------------

/// Claims the service for this connection if no connection uses it. False: another connection uses
/// the service.
static bool claim(uint16_t connection) {
  if (host == BLE_HS_CONN_HANDLE_NONE) host = connection;
  return host == connection;
}

/// Sends a value. The stack frees the buffer, also if it returns an error, such as BLE_HS_ENOMEM.
static bool notify_status(void *context, const uint8_t *bytes) {
  (void)context;
  struct os_mbuf *value = ble_hs_mbuf_from_flat(bytes, OTA_STATUS_SIZE);
  return value != NULL && ble_gatts_notify_custom(host, status, value) == 0;
}

static bool indicate_control(void *context, const uint8_t *bytes, uint32_t size) {
  (void)context;
  struct os_mbuf *value = ble_hs_mbuf_from_flat(bytes, (uint16_t)size);
  return value != NULL && ble_gatts_indicate_custom(host, control, value) == 0;
}

static int write_control(const struct os_mbuf *value) {
  uint8_t bytes[OTA_REQUEST_MAXIMUM];
  // Of a longer request, the receiver needs only the size.
  ble_hs_mbuf_to_flat(value, bytes, sizeof bytes, NULL);
  return ota_receiver_control_write(&receiver, bytes, OS_MBUF_PKTLEN(value));
}

/// Whether the value was written with a Write Request. NimBLE passes the same arguments for both
/// kinds of writes, but leaves the start of the PDU (opcode and handle) in the buffer before the
/// value (ble_att.c and ble_att_svr.c). If the start of the PDU is missing, the write counts as a
/// Write Command, so Status also reports its errors.
static bool is_request(struct os_mbuf *value, uint16_t handle) {
  if (OS_MBUF_LEADINGSPACE(value) < 3) return false;
  const uint8_t *pdu = value->om_data - 3;
  return pdu[0] == BLE_ATT_OP_WRITE_REQ && (pdu[1] | pdu[2] << 8) == handle;
}

static int write_data(struct os_mbuf *value, uint16_t handle) {
  static uint8_t bytes[4 + CHUNK];
  // The receiver refuses a longer value without reading it.
  ble_hs_mbuf_to_flat(value, bytes, sizeof bytes, NULL);
  return ota_receiver_data_write(
      &receiver, bytes, OS_MBUF_PKTLEN(value), is_request(value, handle));
}

static int read_status(struct os_mbuf *value) {
  uint8_t bytes[OTA_STATUS_SIZE];
  ota_receiver_status_read(&receiver, bytes);
  return os_mbuf_append(value, bytes, sizeof bytes) == 0 ? 0 : BLE_ATT_ERR_INSUFFICIENT_RES;
}

/// Returns an ATT error, or 0.
static int access_value(
    uint16_t connection, uint16_t handle, struct ble_gatt_access_ctxt *context, void *argument) {
  (void)argument;
  if (context->op == BLE_GATT_ACCESS_OP_READ_CHR) return read_status(context->om);
  if (!claim(connection)) return OTA_ATT_BUSY;
  int error = handle == data ? write_data(context->om, handle) : write_control(context->om);
  poll_soon();
  return error;
}

/// NimBLE has already checked and answered the write of a CCCD.
static void subscribed(uint16_t connection, uint16_t handle, bool notifies, bool indicates) {
  if (handle != control && handle != status) return;
  if (!claim(connection)) return;
  if (handle == control) ota_receiver_control_cccd(&receiver, indicates ? 2 : 0);
  if (handle == status) ota_receiver_status_cccd(&receiver, notifies ? 1 : 0);
  poll_soon();
}

static void disconnected(uint16_t connection) {
  if (connection != host) return;
  host = BLE_HS_CONN_HANDLE_NONE;
  ota_receiver_disconnected(&receiver);
  poll_soon();
}

static int gap_event(struct ble_gap_event *event, void *argument) {
  (void)argument;
  switch (event->type) {
    case BLE_GAP_EVENT_SUBSCRIBE:
      // At the end of a connection, NimBLE clears its CCCDs before it reports the end.
      if (event->subscribe.reason != BLE_GAP_SUBSCRIBE_REASON_TERM)
        subscribed(
            event->subscribe.conn_handle, event->subscribe.attr_handle,
            event->subscribe.cur_notify, event->subscribe.cur_indicate);
      break;
    case BLE_GAP_EVENT_NOTIFY_TX:
      // With another status, the event occurs within ble_gatts_indicate_custom.
      if (event->notify_tx.status == BLE_HS_EDONE && event->notify_tx.attr_handle == control) {
        ota_receiver_indication_confirmed(&receiver);
        poll_soon();
      }
      break;
    case BLE_GAP_EVENT_DISCONNECT:
      disconnected(event->disconnect.conn.conn_handle);
      break;
    default:
      break;
  }
  return 0;
}

// 2f3e....-21b4-4807-8bdc-74db56699529, least significant byte first.
#define OTA_UUID(n) \
  BLE_UUID128_DECLARE( \
      0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B, 0x07, 0x48, 0xB4, 0x21, n, 0, 0x3E, 0x2F)

#if defined(CONFIG_OTAFLASH_PERMISSION_AUTHEN)
enum {
  READ = BLE_GATT_CHR_F_READ_ENC | BLE_GATT_CHR_F_READ_AUTHEN,
  WRITE = BLE_GATT_CHR_F_WRITE_ENC | BLE_GATT_CHR_F_WRITE_AUTHEN
};
#elif defined(CONFIG_OTAFLASH_PERMISSION_ENCRYPT)
enum { READ = BLE_GATT_CHR_F_READ_ENC, WRITE = BLE_GATT_CHR_F_WRITE_ENC };
#else
enum { READ = 0, WRITE = 0 };
#endif

static const struct ble_gatt_svc_def services[] = {
    {.type = BLE_GATT_SVC_TYPE_PRIMARY,
     .uuid = OTA_UUID(1),
     .characteristics =
         (struct ble_gatt_chr_def[]){
             {.uuid = OTA_UUID(2),
              .access_cb = access_value,
              .flags = BLE_GATT_CHR_F_WRITE | BLE_GATT_CHR_F_INDICATE | WRITE,
              .val_handle = &control},
             {.uuid = OTA_UUID(3),
              .access_cb = access_value,
              .flags = BLE_GATT_CHR_F_WRITE | BLE_GATT_CHR_F_WRITE_NO_RSP | WRITE,
              .val_handle = &data},
             {.uuid = OTA_UUID(4),
              .access_cb = access_value,
              .flags = BLE_GATT_CHR_F_READ | BLE_GATT_CHR_F_NOTIFY | READ,
              .val_handle = &status},
             {0}}},
    {0}};

// ------------------------------------------------------------------------------------------------

static void configure(void) {
  uint32_t record = boot.slot->size - 2 * SECTOR;
  config = (ota_receiver_config){
      .flash_read = flash_read,
      .flash_write = flash_write,
      .flash_erase = flash_erase,
      .indicate_control = indicate_control,
      .notify_status = notify_status,
      .activate = activate,
      .confirm = confirm,
      .running = boot.image,
      .boot_outcome = boot.outcome,
      .trial = boot.trial,
      .ring = ring,
      .ring_size = sizeof ring,
      .largest_chunk = CHUNK,
      .slot_size = record,
      .page_size = SECTOR,
      .row_size = ROW,
      .write_alignment = WRITE_UNIT,
      .metadata_address = {record, record + SECTOR},
      .may_erase = may_erase,
#if defined(CONFIG_OTAFLASH_ERASE_AHEAD)
      .erase_ahead = true,
#endif
#if OTA_PATCHES
      .patches = true,
      .base_read = base_read,
      .decode_rate = CONFIG_OTAFLASH_DECODE_RATE,
#endif
  };
}

esp_err_t ota_start(void) {
  static struct ble_gap_event_listener listener;
  if (!ota_boot_read(&boot, ring, sizeof ring)) return ESP_ERR_NOT_FOUND;
  configure();
  if (!ota_receiver_init(&receiver, &config)) return ESP_ERR_INVALID_SIZE;
  ble_npl_event_init(&poll_event, poll_receiver, NULL);
  ble_npl_event_init(&flash_event, flash_job_ended, NULL);
  ble_npl_callout_init(&poll_timer, nimble_port_get_dflt_eventq(), poll_receiver, NULL);
  if (xTaskCreate(run_flash_jobs, "ota_flash", FLASH_STACK, NULL, FLASH_PRIORITY, &flash_task) !=
      pdPASS)
    return ESP_ERR_NO_MEM;
  int error = ble_gatts_count_cfg(services);
  if (error == 0) error = ble_gatts_add_svcs(services);
  if (error == 0) error = ble_gap_event_listener_register(&listener, gap_event, NULL);
  poll_soon();
  return error == 0 ? ESP_OK : ESP_FAIL;
}

/// The OTA service in a Zephyr application that MCUboot starts.
///
/// Four contexts share the receiver: the Bluetooth callbacks, a queue that polls the receiver, a
/// queue that waits for flash, and a queue that waits for buffers of the host stack. A mutex admits
/// one of them at a time. It is not held while flash is erased or written, or while
/// `bt_gatt_notify` and `bt_gatt_indicate` wait for a buffer: the receive thread of Bluetooth,
/// which has to release that buffer, may be waiting for the mutex.
#include <zephyr/bluetooth/bluetooth.h>
#include <zephyr/bluetooth/conn.h>
#include <zephyr/bluetooth/gatt.h>
#include <zephyr/bluetooth/uuid.h>
#include <zephyr/dfu/mcuboot.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>
#include <zephyr/sys/reboot.h>

#include "ota.h"
#include "ota_receiver.h"

enum {
  BOARD = 0x0000A001,
  PAGE = 4096,
  ROW = 256,
  // The data that arrives while a page is erased (85 ms at 60 kB/s), plus a row.
  RING = 24 * ROW,
  // The ATT_MTU minus the 3-byte ATT header and the 4-byte offset.
  CHUNK = CONFIG_BT_L2CAP_TX_MTU - 3 - 4
};

// The last page of the slot holds MCUboot's trailer; the receiver does not use it.
#define SLOT_SIZE (FIXED_PARTITION_SIZE(slot1_partition) - PAGE)
// The receiver uses one address range: the slot, followed by the two pages of its record.
#define RECORD_ADDRESS SLOT_SIZE

static ota_receiver receiver;
static uint8_t ring[RING] __aligned(4);
static const struct flash_area *slot, *record, *running;
static struct bt_conn *host;
K_MUTEX_DEFINE(receiver_lock);

static struct k_work_q poll_queue, flash_queue, send_queue;
static K_THREAD_STACK_DEFINE(poll_stack, 2048);
static K_THREAD_STACK_DEFINE(send_stack, 1024);
static K_THREAD_STACK_DEFINE(flash_stack, 1024);

static void poll_receiver(struct k_work *work);
static K_WORK_DELAYABLE_DEFINE(poll_work, poll_receiver);

static void poll_receiver(struct k_work *work) {
  ARG_UNUSED(work);
  k_mutex_lock(&receiver_lock, K_FOREVER);
  uint32_t wait = ota_receiver_poll(&receiver, k_uptime_get_32());
  k_mutex_unlock(&receiver_lock);
  // An event may have set an earlier time in this period, which k_work_schedule does not change.
  if (wait != OTA_POLL_IDLE) k_work_schedule_for_queue(&poll_queue, &poll_work, K_MSEC(wait));
}

/// Every call of the receiver is enclosed by begin_event and end_event.
static void begin_event(void) { k_mutex_lock(&receiver_lock, K_FOREVER); }

static void end_event(void) {
  k_mutex_unlock(&receiver_lock);
  k_work_reschedule_for_queue(&poll_queue, &poll_work, K_NO_WAIT);
}

// Flash ------------------------------------------------------------------------------------------

static struct {
  struct k_work work;
  uint32_t address, size;
  const uint8_t *from;  // null: erase
} flash_job;

static const struct flash_area *area_at(uint32_t *address) {
  if (*address < RECORD_ADDRESS) return slot;
  *address -= RECORD_ADDRESS;
  return record;
}

static bool flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  ARG_UNUSED(context);
  const struct flash_area *area = area_at(&address);
  return flash_area_read(area, address, to, size) == 0;
}

#if OTA_PATCHES
/// Slot 0 starts with the running image, the base of patches.
static bool base_read(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  ARG_UNUSED(context);
  return flash_area_read(running, offset, to, size) == 0;
}
#endif

static void do_flash_job(struct k_work *work) {
  ARG_UNUSED(work);
  uint32_t address = flash_job.address;
  const struct flash_area *area = area_at(&address);
  int error = flash_job.from ? flash_area_write(area, address, flash_job.from, flash_job.size)
                             : flash_area_erase(area, address, flash_job.size);
  begin_event();
  ota_receiver_flash_done(&receiver, error == 0);
  end_event();
}

static ota_flash_result flash_write(
    void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  ARG_UNUSED(context);
  flash_job.address = address;
  flash_job.from = from;
  flash_job.size = size;
  k_work_submit_to_queue(&flash_queue, &flash_job.work);
  return OTA_FLASH_PENDING;
}

static ota_flash_result flash_erase(void *context, uint32_t page_address) {
  return flash_write(context, page_address, NULL, PAGE);
}

// GATT -------------------------------------------------------------------------------------------

#define OTA_UUID(n) \
  BT_UUID_DECLARE_128(BT_UUID_128_ENCODE(0x2f3e0000 + (n), 0x21b4, 0x4807, 0x8bdc, 0x74db56699529))

static ssize_t write_control(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *bytes, uint16_t size,
    uint16_t offset, uint8_t flags) {
  ARG_UNUSED(conn), ARG_UNUSED(attr), ARG_UNUSED(offset), ARG_UNUSED(flags);
  begin_event();
  uint8_t error = ota_receiver_control_write(&receiver, bytes, size);
  end_event();
  return error ? BT_GATT_ERR(error) : size;
}

static ssize_t write_data(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *bytes, uint16_t size,
    uint16_t offset, uint8_t flags) {
  ARG_UNUSED(conn), ARG_UNUSED(attr), ARG_UNUSED(offset);
  begin_event();
  uint8_t error =
      ota_receiver_data_write(&receiver, bytes, size, !(flags & BT_GATT_WRITE_FLAG_CMD));
  end_event();
  return error ? BT_GATT_ERR(error) : size;
}

static ssize_t read_status(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, void *to, uint16_t size,
    uint16_t offset) {
  uint8_t status[OTA_STATUS_SIZE];
  begin_event();
  ota_receiver_status_read(&receiver, status);
  end_event();
  return bt_gatt_attr_read(conn, attr, to, size, offset, status, sizeof status);
}

static ssize_t judge_cccd(uint16_t value, uint16_t allowed) {
  return value == 0 || value == allowed ? (ssize_t)sizeof value
                                        : BT_GATT_ERR(BT_ATT_ERR_VALUE_NOT_ALLOWED);
}

static ssize_t judge_control_cccd(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(conn), ARG_UNUSED(attr);
  return judge_cccd(value, BT_GATT_CCC_INDICATE);
}

static ssize_t judge_status_cccd(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(conn), ARG_UNUSED(attr);
  return judge_cccd(value, BT_GATT_CCC_NOTIFY);
}

static void control_cccd_changed(const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(attr);
  begin_event();
  ota_receiver_control_cccd(&receiver, value);
  end_event();
}

static void status_cccd_changed(const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(attr);
  begin_event();
  ota_receiver_status_cccd(&receiver, value);
  end_event();
}

// To permit updates by paired hosts only, use BT_GATT_PERM_WRITE_ENCRYPT here.
BT_GATT_SERVICE_DEFINE(
    ota_service, BT_GATT_PRIMARY_SERVICE(OTA_UUID(1)),
    BT_GATT_CHARACTERISTIC(
        OTA_UUID(2), BT_GATT_CHRC_WRITE | BT_GATT_CHRC_INDICATE, BT_GATT_PERM_WRITE, NULL,
        write_control, NULL),
    BT_GATT_CCC_WITH_WRITE_CB(
        control_cccd_changed, judge_control_cccd, BT_GATT_PERM_READ | BT_GATT_PERM_WRITE),
    BT_GATT_CHARACTERISTIC(
        OTA_UUID(3), BT_GATT_CHRC_WRITE | BT_GATT_CHRC_WRITE_WITHOUT_RESP, BT_GATT_PERM_WRITE,
        NULL, write_data, NULL),
    BT_GATT_CHARACTERISTIC(
        OTA_UUID(4), BT_GATT_CHRC_READ | BT_GATT_CHRC_NOTIFY, BT_GATT_PERM_READ, read_status, NULL,
        NULL),
    BT_GATT_CCC_WITH_WRITE_CB(
        status_cccd_changed, judge_status_cccd, BT_GATT_PERM_READ | BT_GATT_PERM_WRITE));

/// The indexes of the values among the attributes of the service.
enum { CONTROL_VALUE = 2, STATUS_VALUE = 7 };

static void control_confirmed(
    struct bt_conn *conn, struct bt_gatt_indicate_params *params, uint8_t error) {
  ARG_UNUSED(conn), ARG_UNUSED(params);
  if (error != 0) return;  // the link is lost, which `disconnected` reports
  begin_event();
  ota_receiver_indication_confirmed(&receiver);
  end_event();
}

/// One value that is being sent to the host. While `to` is set, the receiver must wait.
struct message {
  struct k_work work;
  struct bt_conn *to;
  uint8_t bytes[OTA_ANSWER_MAXIMUM];
  uint16_t size;
};
static struct message notification, indication;
static struct bt_gatt_indicate_params indication_params;

/// Accepts a value from the receiver, with the mutex held. False: the last value is not sent yet.
static bool submit(struct message *message, const uint8_t *bytes, uint32_t size) {
  if (message->to || !host) return false;
  message->to = bt_conn_ref(host);
  message->size = (uint16_t)size;
  memcpy(message->bytes, bytes, size);
  k_work_submit_to_queue(&send_queue, &message->work);
  return true;
}

static void sent(struct message *message) {
  begin_event();
  struct bt_conn *to = message->to;
  message->to = NULL;
  end_event();
  bt_conn_unref(to);
}

static bool notify_status(void *context, const uint8_t *bytes) {
  ARG_UNUSED(context);
  return submit(&notification, bytes, OTA_STATUS_SIZE);
}

static bool indicate_control(void *context, const uint8_t *bytes, uint32_t size) {
  ARG_UNUSED(context);
  return submit(&indication, bytes, size);
}

/// Sends a notification. Without a buffer the call fails with -ENOMEM and is repeated; without a
/// connection it fails with another error, which ends the repetition.
static void send_notification(struct k_work *work) {
  ARG_UNUSED(work);
  while (bt_gatt_notify(
             notification.to, &ota_service.attrs[STATUS_VALUE], notification.bytes,
             notification.size) == -ENOMEM)
    k_msleep(5);
  sent(&notification);
}

static void indication_ended(struct bt_gatt_indicate_params *params) {
  ARG_UNUSED(params);
  sent(&indication);
}

static void send_indication(struct k_work *work) {
  ARG_UNUSED(work);
  // The host stack owns the parameters until it calls `destroy`.
  indication_params = (struct bt_gatt_indicate_params){
      .attr = &ota_service.attrs[CONTROL_VALUE],
      .func = control_confirmed,
      .destroy = indication_ended,
      .data = indication.bytes,
      .len = indication.size};
  int error;
  while ((error = bt_gatt_indicate(indication.to, &indication_params)) == -ENOMEM) k_msleep(5);
  if (error != 0) sent(&indication);
}

static void connected(struct bt_conn *conn, uint8_t error) {
  if (error != 0) return;
  begin_event();
  host = bt_conn_ref(conn);
  ota_receiver_connected(&receiver);
  end_event();
}

static void disconnected(struct bt_conn *conn, uint8_t reason) {
  ARG_UNUSED(conn), ARG_UNUSED(reason);
  begin_event();
  ota_receiver_disconnected(&receiver);
  bt_conn_unref(host);
  host = NULL;
  end_event();
}

BT_CONN_CB_DEFINE(connection_callbacks) = {.connected = connected, .disconnected = disconnected};

// MCUboot ----------------------------------------------------------------------------------------

static void activate(void *context, uint32_t size, uint32_t crc32) {
  ARG_UNUSED(context), ARG_UNUSED(size), ARG_UNUSED(crc32);
  // The request is written to the trailer, which must be blank. If either step fails, the old image
  // starts again, and the host reports it.
  if (flash_area_erase(slot, SLOT_SIZE, PAGE) == 0) boot_request_upgrade(BOOT_UPGRADE_TEST);
  sys_reboot(SYS_REBOOT_COLD);
}

/// Permits erasing slot 1 before an update, unless MCUboot is requested to start it or may revert
/// to it.
static bool may_erase(void *context) {
  ARG_UNUSED(context);
  return boot_is_img_confirmed() && mcuboot_swap_type() == BOOT_SWAP_TYPE_NONE;
}

static bool confirm(void *context) {
  ARG_UNUSED(context);
  return boot_write_img_confirmed() == 0;
}

static uint32_t number(const uint8_t *from, int bytes) {
  uint32_t value = 0;
  while (bytes-- > 0) value = value << 8 | from[bytes];
  return value;
}

/// The image in slot 0 as the host compares it: from MCUboot's header to the end of its TLVs.
static ota_image running_image(void) {
  enum { MAGIC = 0, HEADER_SIZE = 8, PROTECTED_SIZE = 10, IMAGE_SIZE = 12, VERSION = 20 };
  ota_image image = {.hardware_id = BOARD};
  uint8_t header[32], tlvs[4];
  if (flash_area_read(running, 0, header, sizeof header) == 0 &&
      number(header + MAGIC, 4) == 0x96F3B83D) {
    image.version = ota_version(
        header[VERSION], header[VERSION + 1], (uint16_t)number(header + VERSION + 2, 2));
    uint32_t end = number(header + HEADER_SIZE, 2) + number(header + IMAGE_SIZE, 4) +
                   number(header + PROTECTED_SIZE, 2);
    if (flash_area_read(running, end, tlvs, sizeof tlvs) == 0) end += number(tlvs + 2, 2);
    if (end <= running->fa_size) image.size = end;
  }
  for (uint32_t at = 0; at < image.size;) {
    uint8_t piece[64];
    uint32_t size = MIN(sizeof piece, image.size - at);
    if (flash_area_read(running, at, piece, size) != 0) break;
    image.crc32 = ota_crc32(image.crc32, piece, size);
    at += size;
  }
  return image;
}

// ------------------------------------------------------------------------------------------------

int ota_start(void) {
  static ota_receiver_config config = {
      .flash_read = flash_read,
      .flash_write = flash_write,
      .flash_erase = flash_erase,
      .indicate_control = indicate_control,
      .notify_status = notify_status,
      .activate = activate,
      .confirm = confirm,
      .ring = ring,
      .ring_size = RING,
      .largest_chunk = CHUNK,
      .slot_size = SLOT_SIZE,
      .page_size = PAGE,
      .row_size = ROW,
      .write_alignment = 4,
      .metadata_address = {RECORD_ADDRESS, RECORD_ADDRESS + PAGE},
      .erase_ahead = true,
      .may_erase = may_erase,
#if OTA_PATCHES
      .patches = true,
      .base_read = base_read,
#endif
  };
  int error = flash_area_open(FIXED_PARTITION_ID(slot1_partition), &slot);
  if (error == 0) error = flash_area_open(FIXED_PARTITION_ID(ota_record_partition), &record);
  if (error == 0) error = flash_area_open(FIXED_PARTITION_ID(slot0_partition), &running);
  if (error != 0) return error;
  config.running = running_image();
  config.trial = !boot_is_img_confirmed();
  config.boot_outcome = config.trial ? OTA_BOOT_ACTIVATED : OTA_BOOT_NORMAL;
  if (!ota_receiver_init(&receiver, &config)) return -EINVAL;

  k_work_init(&flash_job.work, do_flash_job);
  k_work_init(&notification.work, send_notification);
  k_work_init(&indication.work, send_indication);
  // A preemptible priority below the priority of Bluetooth, so its Write Response is queued before
  // the indication.
  k_work_queue_start(
      &poll_queue, poll_stack, K_THREAD_STACK_SIZEOF(poll_stack), K_PRIO_PREEMPT(8), NULL);
  k_work_queue_start(
      &send_queue, send_stack, K_THREAD_STACK_SIZEOF(send_stack), K_PRIO_PREEMPT(8), NULL);
  k_work_queue_start(
      &flash_queue, flash_stack, K_THREAD_STACK_SIZEOF(flash_stack), K_PRIO_PREEMPT(9), NULL);
  k_work_schedule_for_queue(&poll_queue, &poll_work, K_NO_WAIT);
  return 0;
}

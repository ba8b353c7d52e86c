/// The OTA service in a Zephyr application that MCUboot starts: slot 0 is the base of patches, and
/// slot 1 receives images. The resume record is in slot 1, before MCUboot's trailer, so that a device
/// in the field receives this module by an ordinary update: its partitions do not change.
///
/// Four contexts share the receiver: the Bluetooth callbacks, a queue that polls the receiver, a
/// queue that waits for flash, and a queue that waits for buffers of the host stack. An application
/// with SMP has a fifth: the SMP server. A mutex admits one of them at a time. It is not held while
/// flash is erased or written, or while `bt_gatt_notify` and `bt_gatt_indicate` wait for a buffer:
/// the receive thread of Bluetooth, which has to release that buffer, may be waiting for the mutex.
#include <zephyr/bluetooth/bluetooth.h>
#include <zephyr/bluetooth/conn.h>
#include <zephyr/bluetooth/gatt.h>
#include <zephyr/bluetooth/uuid.h>
#include <zephyr/dfu/mcuboot.h>
#include <zephyr/kernel.h>
#include <zephyr/storage/flash_map.h>
#include <zephyr/sys/reboot.h>
#if defined(CONFIG_MCUMGR_GRP_IMG)
#include <zephyr/mgmt/mcumgr/grp/img_mgmt/img_mgmt.h>
#include <zephyr/mgmt/mcumgr/mgmt/callbacks.h>
#endif

#include "ota.h"
#include "ota_mcuboot.h"
#include "ota_receiver.h"

enum {
  PAGE = CONFIG_OTAFLASH_PAGE_SIZE,
  // The ATT_MTU minus the 3-byte ATT header and the 4-byte offset.
  CHUNK = CONFIG_BT_L2CAP_TX_MTU - 3 - 4,
  // In this mode, MCUboot expects an update at the second page of slot 1.
  IMAGE_ADDRESS = IS_ENABLED(CONFIG_MCUBOOT_BOOTLOADER_MODE_SWAP_USING_OFFSET) ? PAGE : 0,
  TRAILER_SIZE = CONFIG_OTAFLASH_TRAILER_PAGES * PAGE,
  TRAILER_ADDRESS = FIXED_PARTITION_SIZE(slot1_partition) - TRAILER_SIZE,
  RECORD_SIZE = 2 * PAGE,
  RECORD_ADDRESS = TRAILER_ADDRESS - RECORD_SIZE
};

static ota_receiver receiver;
static uint8_t ring[CONFIG_OTAFLASH_RING_SIZE] __aligned(16);
#if defined(CONFIG_OTAFLASH_KEEP_PAGES)
static uint8_t page_buffer[CONFIG_OTAFLASH_PAGE_SIZE] __aligned(16);
#endif
static const struct flash_area *slot, *running;
/// The connection that uses the service: the first that writes to it.
static struct bt_conn *host;
/// The CCCDs of this connection.
static uint16_t control_cccd, status_cccd;
/// Whether an upload over SMP is about to write the slot, so that the receiver must not write it.
static bool is_slot_taken;
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

/// After `ota_start`, every call of the receiver except the poll is enclosed by begin_event and
/// end_event.
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

static bool flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  ARG_UNUSED(context);
  return flash_area_read(slot, address, to, size) == 0;
}

/// Slot 0 starts with the running image, the base of patches.
static bool base_read(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  ARG_UNUSED(context);
  return flash_area_read(running, offset, to, size) == 0;
}

static void do_flash_job(struct k_work *work) {
  ARG_UNUSED(work);
  uint32_t address = flash_job.address;
  int error = flash_job.from ? flash_area_write(slot, address, flash_job.from, flash_job.size)
                             : flash_area_erase(slot, address, flash_job.size);
  begin_event();
  ota_receiver_flash_done(&receiver, error == 0);
  end_event();
}

static ota_flash_result flash_write(
    void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  ARG_UNUSED(context);
  if (is_slot_taken) return OTA_FLASH_FAILED;
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

#if defined(CONFIG_OTAFLASH_PERMISSION_AUTHEN)
enum { READ = BT_GATT_PERM_READ_AUTHEN, WRITE = BT_GATT_PERM_WRITE_AUTHEN };
#elif defined(CONFIG_OTAFLASH_PERMISSION_ENCRYPT)
enum { READ = BT_GATT_PERM_READ_ENCRYPT, WRITE = BT_GATT_PERM_WRITE_ENCRYPT };
#else
enum { READ = BT_GATT_PERM_READ, WRITE = BT_GATT_PERM_WRITE };
#endif

/// Claims the service for this connection if no connection uses it. False: another connection uses
/// the service.
static bool claim(struct bt_conn *conn) {
  if (!host) host = bt_conn_ref(conn);
  return host == conn;
}

static ssize_t write_control(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *bytes, uint16_t size,
    uint16_t offset, uint8_t flags) {
  ARG_UNUSED(attr), ARG_UNUSED(offset), ARG_UNUSED(flags);
  begin_event();
  uint8_t error =
      claim(conn) ? ota_receiver_control_write(&receiver, bytes, size) : OTA_ATT_BUSY;
  end_event();
  return error ? BT_GATT_ERR(error) : size;
}

static ssize_t write_data(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *bytes, uint16_t size,
    uint16_t offset, uint8_t flags) {
  ARG_UNUSED(attr), ARG_UNUSED(offset);
  bool with_response = !(flags & BT_GATT_WRITE_FLAG_CMD);
  begin_event();
  uint8_t error =
      claim(conn) ? ota_receiver_data_write(&receiver, bytes, size, with_response) : OTA_ATT_BUSY;
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

static ssize_t judge_cccd(struct bt_conn *conn, uint16_t value, uint16_t allowed) {
  if (value != 0 && value != allowed) return BT_GATT_ERR(BT_ATT_ERR_VALUE_NOT_ALLOWED);
  begin_event();
  bool is_host = claim(conn);
  end_event();
  return is_host ? (ssize_t)sizeof value : BT_GATT_ERR(OTA_ATT_BUSY);
}

static ssize_t judge_control_cccd(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(attr);
  return judge_cccd(conn, value, BT_GATT_CCC_INDICATE);
}

static ssize_t judge_status_cccd(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(attr);
  return judge_cccd(conn, value, BT_GATT_CCC_NOTIFY);
}

static void control_cccd_changed(const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(attr);
  begin_event();
  control_cccd = value;
  ota_receiver_control_cccd(&receiver, value);
  end_event();
}

static void status_cccd_changed(const struct bt_gatt_attr *attr, uint16_t value) {
  ARG_UNUSED(attr);
  begin_event();
  status_cccd = value;
  ota_receiver_status_cccd(&receiver, value);
  end_event();
}

BT_GATT_SERVICE_DEFINE(
    ota_service, BT_GATT_PRIMARY_SERVICE(OTA_UUID(1)),
    BT_GATT_CHARACTERISTIC(
        OTA_UUID(2), BT_GATT_CHRC_WRITE | BT_GATT_CHRC_INDICATE, WRITE, NULL, write_control, NULL),
    BT_GATT_CCC_WITH_WRITE_CB(control_cccd_changed, judge_control_cccd, READ | WRITE),
    BT_GATT_CHARACTERISTIC(
        OTA_UUID(3), BT_GATT_CHRC_WRITE | BT_GATT_CHRC_WRITE_WITHOUT_RESP, WRITE, NULL, write_data,
        NULL),
    BT_GATT_CHARACTERISTIC(
        OTA_UUID(4), BT_GATT_CHRC_READ | BT_GATT_CHRC_NOTIFY, READ, read_status, NULL, NULL),
    BT_GATT_CCC_WITH_WRITE_CB(status_cccd_changed, judge_status_cccd, READ | WRITE));

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

/// Accepts a value from the receiver, with the mutex held. False: the last value is not sent yet, or
/// no host is connected.
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

static void disconnected(struct bt_conn *conn, uint8_t reason) {
  ARG_UNUSED(reason);
  begin_event();
  bool is_host = host == conn;
  if (is_host) {
    ota_receiver_disconnected(&receiver);
    control_cccd = status_cccd = 0;
    host = NULL;
  }
  end_event();
  if (is_host) bt_conn_unref(conn);
}

BT_CONN_CB_DEFINE(connection_callbacks) = {.disconnected = disconnected};

// MCUboot ----------------------------------------------------------------------------------------

static void activate(void *context, uint32_t size, uint32_t crc32) {
  ARG_UNUSED(context), ARG_UNUSED(size), ARG_UNUSED(crc32);
  // The request is written to the trailer, which must be blank. If either step fails, the old image
  // starts again, and the host reports it.
  if (flash_area_erase(slot, TRAILER_ADDRESS, TRAILER_SIZE) == 0)
    boot_request_upgrade(BOOT_UPGRADE_TEST);
  sys_reboot(SYS_REBOOT_COLD);
}

#if defined(CONFIG_OTAFLASH_ERASE_AHEAD)
/// Permits erasing slot 1 before an update, unless MCUboot is requested to start it or may revert
/// to it.
static bool may_erase(void *context) {
  ARG_UNUSED(context);
  return boot_is_img_confirmed() && mcuboot_swap_type() == BOOT_SWAP_TYPE_NONE;
}
#endif

static bool confirm(void *context) {
  ARG_UNUSED(context);
  return boot_write_img_confirmed() == 0;
}

// SMP ---------------------------------------------------------------------------------------------

#if defined(CONFIG_MCUMGR_GRP_IMG)
static struct k_work smp_work;

/// Discards an upload over SMP, whose data the receiver is about to overwrite. The function needs
/// the lock of the SMP server, so it must not be called while the mutex is held.
static void reset_smp_upload(struct k_work *work) {
  ARG_UNUSED(work);
  img_mgmt_reset_upload();
}
#endif

/// Refuses an update while MCUboot is requested to start the image in slot 1.
static bool may_begin(void *context, uint32_t size, uint32_t version, uint32_t hardware_id) {
  ARG_UNUSED(context), ARG_UNUSED(size), ARG_UNUSED(version), ARG_UNUSED(hardware_id);
  int swap = mcuboot_swap_type();
  if (swap == BOOT_SWAP_TYPE_TEST || swap == BOOT_SWAP_TYPE_PERM) return false;
#if defined(CONFIG_MCUMGR_GRP_IMG)
  k_work_submit_to_queue(&send_queue, &smp_work);
#endif
  return true;
}

static ota_receiver_config config = {
    .flash_read = flash_read,
    .flash_write = flash_write,
    .flash_erase = flash_erase,
    .indicate_control = indicate_control,
    .notify_status = notify_status,
    .activate = activate,
    .confirm = confirm,
    .may_begin = may_begin,
    .ring = ring,
    .ring_size = CONFIG_OTAFLASH_RING_SIZE,
    .largest_chunk = CHUNK,
    .slot_address = IMAGE_ADDRESS,
    .slot_size = RECORD_ADDRESS - IMAGE_ADDRESS,
    .page_size = PAGE,
    .row_size = CONFIG_OTAFLASH_ROW_SIZE,
    .write_alignment = CONFIG_OTAFLASH_WRITE_ALIGNMENT,
    .metadata_address = {RECORD_ADDRESS, RECORD_ADDRESS + PAGE},
#if defined(CONFIG_OTAFLASH_ERASE_AHEAD)
    .erase_ahead = true,
    .may_erase = may_erase,
#endif
#if defined(CONFIG_OTAFLASH_KEEP_PAGES)
    .page_buffer = page_buffer,
#endif
#if OTA_PATCHES
    .patches = true,
    .base_read = base_read,
    .decode_rate = CONFIG_OTAFLASH_DECODE_RATE,
#endif
};

#if defined(CONFIG_MCUMGR_GRP_IMG)
/// Makes the receiver discard its session, because an upload over SMP is about to write slot 1.
/// Waits until the flash operation of the receiver has ended.
static void give_up_slot(void) {
  struct k_work_sync sync;
  begin_event();
  is_slot_taken = true;
  end_event();
  k_work_flush(&flash_job.work, &sync);
  flash_area_erase(slot, RECORD_ADDRESS, RECORD_SIZE);
  begin_event();
  is_slot_taken = false;
  config.trial = !boot_is_img_confirmed();
  ota_receiver_init(&receiver, &config);
  ota_receiver_control_cccd(&receiver, control_cccd);
  ota_receiver_status_cccd(&receiver, status_cccd);
  end_event();
}

/// Called before each request of an upload over SMP is accepted.
static enum mgmt_cb_return smp_upload(
    uint32_t event, enum mgmt_cb_return previous, int32_t *rc, uint16_t *group, bool *abort_more,
    void *data, size_t size) {
  ARG_UNUSED(event), ARG_UNUSED(previous), ARG_UNUSED(rc), ARG_UNUSED(group);
  ARG_UNUSED(abort_more), ARG_UNUSED(size);
  const struct img_mgmt_upload_check *check = data;
  // Images of other cores have other slots.
  if (check->req->off == 0 && check->req->image == 0) give_up_slot();
  return MGMT_CB_OK;
}

static struct mgmt_callback smp_callback = {
    .callback = smp_upload, .event_id = MGMT_EVT_OP_IMG_MGMT_DFU_CHUNK};
#endif

// ------------------------------------------------------------------------------------------------

int ota_start(void) {
  int error = flash_area_open(FIXED_PARTITION_ID(slot1_partition), &slot);
  if (error == 0) error = flash_area_open(FIXED_PARTITION_ID(slot0_partition), &running);
  if (error != 0) return error;
  config.running =
      ota_mcuboot_image(base_read, NULL, running->fa_size, CONFIG_OTAFLASH_HARDWARE_ID);
  config.trial = !boot_is_img_confirmed();
  config.boot_outcome = config.trial ? OTA_BOOT_ACTIVATED : OTA_BOOT_NORMAL;
  if (!ota_receiver_init(&receiver, &config)) return -EINVAL;

  k_work_init(&flash_job.work, do_flash_job);
  k_work_init(&notification.work, send_notification);
  k_work_init(&indication.work, send_indication);
#if defined(CONFIG_MCUMGR_GRP_IMG)
  k_work_init(&smp_work, reset_smp_upload);
  mgmt_callback_register(&smp_callback);
#endif
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

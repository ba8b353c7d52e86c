/// Zephyr for one host: its work queues run one after the other, and its flash has stricter rules
/// than hardware.
#include "zephyr.h"

#include "ota.h"
#include "ota_receiver.h"
#include "port.h"

enum { PAGE = 4096, CONTROL = 2, CONTROL_CCC = 3, DATA = 5, STATUS = 7, STATUS_CCC = 8 };

port_seen seen;

extern const struct bt_gatt_service_static ota_service;
extern const struct bt_conn_cb connection_callbacks, advertising_callbacks;
int app_main(void);
extern struct k_mutex receiver_lock;

static uint8_t flash[3][SIZE_slot1_partition];
static const struct flash_area areas[3] = {
    {ID_slot0_partition, 0, SIZE_slot1_partition},
    {ID_slot1_partition, 0, SIZE_slot1_partition},
    {ID_ota_record_partition, 0, 2 * PAGE},
};
static struct bt_conn connection;
// The work items in the order of their submission. The system work queue is the first queue.
enum { WORK_MAXIMUM = 8, DELAYED_MAXIMUM = 2 };
static struct k_work *submitted[WORK_MAXIMUM];
static uint32_t submitted_count;
static struct k_work_delayable *delayed[DELAYED_MAXIMUM];
static bool is_connected, is_advertising, is_recycling;
// The number of times that the host stack reports no free buffer before it reports one.
static uint32_t full_buffers;
static struct bt_gatt_indicate_params *indicated;
static bool upgrade;
static uint32_t now;

// Queues

int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout) {
  seen.violations += timeout.ms != -1 || mutex->depth++ != 0;
  return 0;
}

int k_mutex_unlock(struct k_mutex *mutex) {
  seen.violations += --mutex->depth != 0;
  return 0;
}

void k_work_init(struct k_work *work, k_work_handler_t handler) { work->handler = handler; }

void k_work_queue_start(
    struct k_work_q *queue, k_thread_stack_t *stack, size_t stack_size, int priority,
    const struct k_work_queue_config *config) {
  (void)stack, (void)stack_size, (void)priority, (void)config;
  queue->started = true;
}

int k_work_submit_to_queue(struct k_work_q *queue, struct k_work *work) {
  seen.violations += !queue->started || submitted_count == WORK_MAXIMUM;
  for (uint32_t i = 0; i < submitted_count; i++) {
    if (submitted[i] == work) return 0;
  }
  submitted[submitted_count++ % WORK_MAXIMUM] = work;
  return 1;
}

static struct k_work_q system_queue = {true};

int k_work_reschedule_for_queue(
    struct k_work_q *queue, struct k_work_delayable *work, k_timeout_t delay) {
  seen.violations += !queue->started;
  uint32_t place = 0;
  while (place < DELAYED_MAXIMUM && delayed[place] && delayed[place] != work) place++;
  seen.violations += place == DELAYED_MAXIMUM;
  delayed[place % DELAYED_MAXIMUM] = work;
  work->scheduled = true;
  work->due = now + (uint32_t)delay.ms;
  return 1;
}

int k_work_schedule_for_queue(
    struct k_work_q *queue, struct k_work_delayable *work, k_timeout_t delay) {
  return work->scheduled ? 0 : k_work_reschedule_for_queue(queue, work, delay);
}

int k_work_schedule(struct k_work_delayable *work, k_timeout_t delay) {
  return k_work_schedule_for_queue(&system_queue, work, delay);
}

uint32_t k_uptime_get_32(void) { return now; }

int32_t k_msleep(int32_t ms) {
  // A sleep while the mutex is held would block Bluetooth.
  seen.violations += receiver_lock.depth != 0 || ms <= 0;
  now += (uint32_t)ms;
  return 0;
}

static struct k_work_delayable *next_delayed(void) {
  struct k_work_delayable *next = NULL;
  for (uint32_t i = 0; i < DELAYED_MAXIMUM; i++) {
    struct k_work_delayable *work = delayed[i];
    if (work && work->scheduled && (!next || work->due < next->due)) next = work;
  }
  return next;
}

static bool run_one(void) {
  struct k_work_delayable *due = next_delayed();
  if (submitted_count > 0) {
    struct k_work *work = submitted[0];
    memmove(submitted, submitted + 1, --submitted_count * sizeof submitted[0]);
    work->handler(work);
  } else if (indicated) {
    struct bt_gatt_indicate_params *params = indicated;
    indicated = NULL;
    params->func(&connection, params, 0);
    if (params->destroy) params->destroy(params);
  } else if (due) {
    if (due->due > now) now = due->due;
    due->scheduled = false;
    due->work.handler(&due->work);
  } else {
    return false;
  }
  return !seen.reset;
}

void port_run(void) {
  uint32_t bound = 100000;
  while (bound > 0 && run_one()) bound--;
  seen.violations += bound == 0;
}

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
  memcpy(to, flash[area->fa_id] + offset, size);
  return 0;
}

int flash_area_write(const struct flash_area *area, off_t offset, const void *from, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  uint8_t *to = flash[area->fa_id] + offset;
  // A flash operation while the mutex is held would block Bluetooth.
  seen.violations += receiver_lock.depth != 0;
  seen.violations += offset % 4 != 0 || size % 4 != 0 || (uintptr_t)from % 4 != 0;
  for (size_t i = 0; i < size; i++) seen.violations += to[i] != 0xFF;
  memcpy(to, from, size);
  return 0;
}

int flash_area_erase(const struct flash_area *area, off_t offset, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  bool is_trailer = area->fa_id == ID_slot1_partition && offset == SIZE_slot1_partition - PAGE;
  seen.violations += offset % PAGE != 0 || size % PAGE != 0;
  seen.violations += receiver_lock.depth != 0 && !is_trailer;
  memset(flash[area->fa_id] + offset, 0xFF, size);
  return 0;
}

// MCUboot

int boot_request_upgrade(int permanent) {
  const uint8_t *trailer = flash[ID_slot1_partition] + SIZE_slot1_partition - PAGE;
  for (uint32_t i = 0; i < PAGE; i++) seen.violations += trailer[i] != 0xFF;
  upgrade = permanent == BOOT_UPGRADE_TEST;
  return 0;
}

bool boot_is_img_confirmed(void) { return true; }

int mcuboot_swap_type(void) { return upgrade ? BOOT_SWAP_TYPE_TEST : BOOT_SWAP_TYPE_NONE; }

int boot_write_img_confirmed(void) { return 0; }

void sys_reboot(int type) { seen.reset = type == SYS_REBOOT_COLD; }

// Bluetooth

int bt_enable(bt_ready_cb_t ready) {
  (void)ready;
  return 0;
}

int bt_le_adv_start(
    const struct bt_le_adv_param *param, const struct bt_data *ad, size_t ad_len,
    const struct bt_data *sd, size_t sd_len) {
  (void)ad, (void)ad_len, (void)sd, (void)sd_len;
  seen.violations += !(param->options & 1) || is_recycling;
  // Only one connection is possible, and its object is not free yet.
  if (connection.references > 0) return -ENOMEM;
  if (is_advertising) return -EALREADY;
  is_advertising = true;
  return 0;
}

struct bt_conn *bt_conn_ref(struct bt_conn *conn) {
  conn->references++;
  return conn;
}

void bt_conn_unref(struct bt_conn *conn) {
  seen.violations += conn->references == 0;
  if (--conn->references > 0) return;
  is_recycling = true;
  if (advertising_callbacks.recycled) advertising_callbacks.recycled();
  is_recycling = false;
}

/// A call that may wait for a buffer. During the wait, no callback may wait for the caller.
static int take_buffer(struct bt_conn *conn) {
  seen.violations += receiver_lock.depth != 0 || conn != &connection;
  if (!is_connected) return -ENOTCONN;
  if (full_buffers > 0) {
    full_buffers--;
    return -ENOMEM;
  }
  full_buffers = seen.statuses % 3;
  return 0;
}

ssize_t bt_gatt_attr_read(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, void *to, uint16_t size,
    uint16_t offset, const void *value, uint16_t value_size) {
  (void)conn, (void)attr;
  if (offset > value_size) return -7;
  uint16_t left = value_size - offset;
  memcpy(to, (const uint8_t *)value + offset, left < size ? left : size);
  return left < size ? left : size;
}

int bt_gatt_indicate(struct bt_conn *conn, struct bt_gatt_indicate_params *params) {
  seen.violations += params->attr != &ota_service.attrs[CONTROL] || indicated != NULL;
  int error = take_buffer(conn);
  if (error != 0) return error;
  memcpy(seen.answer, params->data, params->len);
  seen.answer_size = params->len;
  indicated = params;
  return 0;
}

int bt_gatt_notify(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *data, uint16_t size) {
  seen.violations += attr != &ota_service.attrs[STATUS] || size != 16;
  int error = take_buffer(conn);
  if (error != 0) return error;
  memcpy(seen.status, data, 16);
  seen.statuses++;
  return 0;
}

// The host

uint32_t port_running_crc32(void) { return ota_crc32(0, flash[0], PORT_RUNNING_SIZE); }

bool port_boot(void) {
  // An MCUboot header of 32 bytes, an image of 100 bytes, and TLVs of 8 bytes.
  static const uint8_t header[32] = {0x3D, 0xB8, 0xF3, 0x96, [8] = 32, [12] = 100, [20] = 1, 2, 3};
  static const uint8_t tlvs[4] = {0x07, 0x69, 8};
  memset(flash, 0xFF, sizeof flash);
  memcpy(flash[0], header, sizeof header);
  memcpy(flash[0] + 132, tlvs, sizeof tlvs);
  // The remains of an earlier update in the slot.
  memset(flash[ID_slot1_partition], 0x5A, SIZE_slot1_partition);
  return app_main() == 0;
}

bool port_slot_is_erased(void) {
  const uint8_t *bytes = flash[ID_slot1_partition];
  // The last page belongs to MCUboot.
  for (uint32_t i = 0; i < SIZE_slot1_partition - PAGE; i++) {
    if (bytes[i] != 0xFF) return false;
  }
  return true;
}

bool port_is_advertising(void) { return is_advertising; }

void port_connect(void) {
  seen.violations += !is_advertising || connection.references != 0;
  is_advertising = false;
  is_connected = true;
  connection.references = 1;  // the stack still holds the object
  connection_callbacks.connected(&connection, 0);
}

void port_disconnect(void) {
  struct bt_gatt_indicate_params *params = indicated;
  indicated = NULL;
  is_connected = false;
  if (params) {
    params->func(&connection, params, 0x0E);
    if (params->destroy) params->destroy(params);
  }
  connection_callbacks.disconnected(&connection, 0x08);
  bt_conn_unref(&connection);
}

uint8_t port_write(port_value value, const uint8_t *bytes, uint32_t size, bool with_response) {
  const struct bt_gatt_attr *attr = &ota_service.attrs[value == PORT_CONTROL ? CONTROL : DATA];
  ssize_t result = attr->write(
      &connection, attr, bytes, (uint16_t)size, 0, with_response ? 0 : BT_GATT_WRITE_FLAG_CMD);
  seen.violations += result >= 0 && result != (ssize_t)size;
  return result < 0 ? (uint8_t)-result : 0;
}

static void subscribe(uint32_t place, uint16_t value) {
  const struct bt_gatt_attr *attr = &ota_service.attrs[place];
  const struct bt_gatt_ccc_managed_user_data *ccc = attr->user_data;
  seen.violations += ccc->cfg_write(&connection, attr, 3) != -BT_ATT_ERR_VALUE_NOT_ALLOWED;
  seen.violations += ccc->cfg_write(&connection, attr, value) != 2;
  ccc->cfg_changed(attr, value);
}

void port_subscribe(void) {
  subscribe(CONTROL_CCC, BT_GATT_CCC_INDICATE);
  subscribe(STATUS_CCC, BT_GATT_CCC_NOTIFY);
  port_run();
}

void port_read_status(uint8_t *to) {
  const struct bt_gatt_attr *attr = &ota_service.attrs[STATUS];
  seen.violations += attr->read(&connection, attr, to, 16, 0) != 16;
}

bool port_asked_for(const uint8_t *image, uint32_t size, uint32_t crc32) {
  (void)crc32;
  return upgrade && memcmp(flash[ID_slot1_partition], image, size) == 0;
}

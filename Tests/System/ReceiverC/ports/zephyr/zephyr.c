/// Zephyr for one host. Its work queues run one after the other; while one of them waits for a
/// buffer, the others and the receive thread of Bluetooth run. Its flash has stricter rules than
/// hardware, and its MCUboot swaps images.
#include "zephyr.h"

#include "ota.h"
#include "ota_receiver.h"
#include "port.h"

enum { PAGE = PORT_PAGE, CONTROL = 2, CONTROL_CCC = 3, DATA = 5, STATUS = 7, STATUS_CCC = 8 };
enum { SLOT = SIZE_slot1_partition, RECORD = 2 * SLOT, STATE = RECORD + 2 * PAGE };
enum { WAIT_MS = 100 };

/// The state of MCUboot, which is stored after the areas.
typedef struct {
  uint32_t is_requested, is_on_trial;
} boot_state;

port_seen seen;
uint8_t *port_flash;
const uint32_t port_flash_size = STATE + PAGE;
const bool port_reports_reversals = false;
void (*port_sent)(port_value value, const uint8_t *bytes, uint32_t size);
void (*port_waits_for_buffer)(void);
void (*port_flash_works)(uint32_t size);

extern const struct bt_gatt_service_static ota_service;
extern const struct bt_conn_cb connection_callbacks, advertising_callbacks;
int app_main(void);
extern struct k_mutex receiver_lock;

static const struct flash_area areas[3] = {
    {ID_slot0_partition, 0, SLOT},
    {ID_slot1_partition, SLOT, SLOT},
    {ID_ota_record_partition, RECORD, 2 * PAGE},
};
static struct bt_conn connection;
static struct k_work_q system_queue = {.started = true};
// The work items in the order of their submission.
enum { WORK_MAXIMUM = 8, DELAYED_MAXIMUM = 2 };
static struct {
  struct k_work_q *queue;
  struct k_work *work;
} submitted[WORK_MAXIMUM];
static uint32_t submitted_count;
static struct k_work_delayable *delayed[DELAYED_MAXIMUM];
/// The queue whose thread runs; null = the receive thread of Bluetooth.
static struct k_work_q *current;
static bool is_connected, is_advertising, is_recycling, has_no_buffers;
// The number of times that the host stack fails to allocate a buffer before it succeeds.
static uint32_t failures;
static struct bt_gatt_indicate_params *indicated;
static uint32_t now, schedules;

static boot_state *state(void) { return (boot_state *)(port_flash + STATE); }

// Queues

/// A mutex that is locked while another thread waits is never unlocked here: a deadlock.
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
    if (submitted[i].work == work) return 0;
  }
  uint32_t place = submitted_count++ % WORK_MAXIMUM;
  submitted[place].queue = queue;
  submitted[place].work = work;
  return 1;
}

int k_work_reschedule_for_queue(
    struct k_work_q *queue, struct k_work_delayable *work, k_timeout_t delay) {
  seen.violations += !queue->started;
  uint32_t place = 0;
  while (place < DELAYED_MAXIMUM && delayed[place] && delayed[place] != work) place++;
  seen.violations += place == DELAYED_MAXIMUM;
  delayed[place % DELAYED_MAXIMUM] = work;
  work->queue = queue;
  work->scheduled = true;
  work->due = now + (uint32_t)delay.ms;
  work->order = ++schedules;
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
    if (!work || !work->scheduled || work->queue->busy) continue;
    bool is_earlier = !next || work->due < next->due ||
                      (work->due == next->due && work->order < next->order);
    if (is_earlier) next = work;
  }
  return next;
}

static void run(struct k_work_q *queue, struct k_work *work) {
  struct k_work_q *before = current;
  current = queue;
  queue->busy = true;
  work->handler(work);
  queue->busy = false;
  current = before;
}

static bool run_submitted(void) {
  for (uint32_t i = 0; i < submitted_count; i++) {
    struct k_work_q *queue = submitted[i].queue;
    struct k_work *work = submitted[i].work;
    if (queue->busy) continue;
    memmove(submitted + i, submitted + i + 1, (--submitted_count - i) * sizeof submitted[0]);
    run(queue, work);
    return true;
  }
  return false;
}

void port_confirm(void) {
  struct bt_gatt_indicate_params *params = indicated;
  struct k_work_q *before = current;
  if (!params) return;
  indicated = NULL;
  current = NULL;
  params->func(&connection, params, 0);
  if (params->destroy) params->destroy(params);
  current = before;
}

/// Performs one work item of a queue that is not busy.
static bool run_one(void) {
  if (seen.reset) return false;
  if (run_submitted()) return true;
  struct k_work_delayable *due = next_delayed();
  if (indicated && !port_sent) {
    port_confirm();
  } else if (due) {
    if (due->due > now) now = due->due;
    due->scheduled = false;
    run(due->queue, &due->work);
  } else {
    return false;
  }
  return true;
}

bool port_step(void) { return run_one(); }

void port_run(void) {
  uint32_t bound = 100000, start = now;
  while (bound > 0 && (!has_no_buffers || now - start < WAIT_MS) && run_one()) bound--;
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
  memcpy(to, port_flash + area->fa_off + offset, size);
  return 0;
}

int flash_area_write(const struct flash_area *area, off_t offset, const void *from, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  uint8_t *to = port_flash + area->fa_off + offset;
  // A flash operation while the mutex is held would block Bluetooth.
  seen.violations += receiver_lock.depth != 0;
  seen.violations += offset % 4 != 0 || size % 4 != 0 || (uintptr_t)from % 4 != 0;
  for (size_t i = 0; i < size; i++) seen.violations += to[i] != 0xFF;
  memcpy(to, from, size);
  if (port_flash_works) port_flash_works((uint32_t)size);
  return 0;
}

int flash_area_erase(const struct flash_area *area, off_t offset, size_t size) {
  if (!is_within(area, offset, size)) return -EINVAL;
  bool is_trailer = area->fa_id == ID_slot1_partition && offset == SLOT - PAGE;
  seen.violations += offset % PAGE != 0 || size % PAGE != 0;
  seen.violations += receiver_lock.depth != 0 && !is_trailer;
  memset(port_flash + area->fa_off + offset, 0xFF, size);
  if (port_flash_works) port_flash_works(0);
  return 0;
}

// MCUboot

int boot_request_upgrade(int permanent) {
  uint8_t *trailer = port_flash + 2 * SLOT - PAGE;
  for (uint32_t i = 0; i < PAGE; i++) seen.violations += trailer[i] != 0xFF;
  trailer[PAGE - 1] = 0;
  state()->is_requested = permanent == BOOT_UPGRADE_TEST;
  return 0;
}

bool boot_is_img_confirmed(void) { return !state()->is_on_trial; }

int mcuboot_swap_type(void) {
  if (state()->is_requested) return BOOT_SWAP_TYPE_TEST;
  return state()->is_on_trial ? BOOT_SWAP_TYPE_REVERT : BOOT_SWAP_TYPE_NONE;
}

int boot_write_img_confirmed(void) {
  state()->is_on_trial = false;
  return 0;
}

static void swap(void) {
  for (uint32_t i = 0; i < SLOT - PAGE; i++) {
    uint8_t byte = port_flash[i];
    port_flash[i] = port_flash[SLOT + i];
    port_flash[SLOT + i] = byte;
  }
}

/// MCUboot after a reset: it starts a requested image on trial, and reverts an unconfirmed image.
static void start_mcuboot(void) {
  static const uint8_t magic[4] = {0x3D, 0xB8, 0xF3, 0x96};
  bool is_requested = state()->is_requested && memcmp(port_flash + SLOT, magic, 4) == 0;
  if (is_requested || state()->is_on_trial) swap();
  *state() = (boot_state){.is_on_trial = is_requested};
  memset(port_flash + 2 * SLOT - PAGE, 0xFF, PAGE);
}

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
  seen.violations += param->options != BT_LE_ADV_OPT_CONN || is_recycling;
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

/// Takes a buffer of the host stack. As in Zephyr's att.c, the call waits for a buffer without a
/// time limit, except on the system work queue and on the receive thread, where it fails. During
/// the wait, all other threads run, and none of them may need the mutex of the caller.
static int take_buffer(struct bt_conn *conn) {
  seen.violations += receiver_lock.depth != 0 || conn != &connection || current == NULL;
  uint32_t start = now;
  while (is_connected && has_no_buffers) {
    if (current == NULL || current == &system_queue) return -ENOMEM;
    if (now - start < WAIT_MS && run_one()) continue;
    void (*notify)(void) = port_waits_for_buffer;
    struct k_work_q *before = current;
    seen.violations += notify == NULL;
    if (!notify) return -EIO;
    port_waits_for_buffer = NULL;
    current = NULL;
    notify();
    current = before;
  }
  if (!is_connected) return -ENOTCONN;
  if (failures > 0) {
    failures--;
    return -ENOMEM;
  }
  failures = seen.statuses % 3;
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
  if (port_sent) port_sent(PORT_CONTROL, params->data, params->len);
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
  if (port_sent) port_sent(PORT_STATUS, data, size);
  return 0;
}

// The device

void port_install(const uint8_t *image, uint32_t size) {
  memset(port_flash, 0xFF, port_flash_size);
  memcpy(port_flash, image, size);
  // The remains of an earlier update in the slot.
  memset(port_flash + SLOT, 0x5A, SLOT);
  *state() = (boot_state){0};
}

bool port_boot(void) {
  start_mcuboot();
  return port_start();
}

bool port_start(void) { return app_main() == 0; }

bool port_slot_is_erased(void) {
  // The last page belongs to MCUboot.
  for (uint32_t i = SLOT; i < 2 * SLOT - PAGE; i++) {
    if (port_flash[i] != 0xFF) return false;
  }
  return true;
}

// The host

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

void port_set_buffers(bool are_free) { has_no_buffers = !are_free; }

uint8_t port_write_cccd(port_value value, uint16_t bits) {
  const struct bt_gatt_attr *attr =
      &ota_service.attrs[value == PORT_CONTROL ? CONTROL_CCC : STATUS_CCC];
  const struct bt_gatt_ccc_managed_user_data *ccc = attr->user_data;
  seen.violations += ccc->cfg_write(&connection, attr, 3) != -BT_ATT_ERR_VALUE_NOT_ALLOWED;
  ssize_t result = ccc->cfg_write(&connection, attr, bits);
  if (result < 0) return (uint8_t)-result;
  ccc->cfg_changed(attr, bits);
  return 0;
}

void port_read_status(uint8_t *to) {
  const struct bt_gatt_attr *attr = &ota_service.attrs[STATUS];
  seen.violations += attr->read(&connection, attr, to, 16, 0) != 16;
}

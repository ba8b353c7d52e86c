/// Zephyr for one host. Its work queues run one after the other; while one of them waits for a
/// buffer, the others and the receive thread of Bluetooth run.
#include "zephyr.h"

#include "ota.h"
#include "ota_receiver.h"
#include "port.h"

enum { CONTROL = 2, CONTROL_CCC = 3, DATA = 5, STATUS = 7, STATUS_CCC = 8, WAIT_MS = 100 };

port_seen seen;
void (*port_sent)(port_value value, const uint8_t *bytes, uint32_t size);
void (*port_waits_for_buffer)(void);

extern const struct bt_gatt_service_static ota_service;
extern const struct bt_conn_cb connection_callbacks, advertising_callbacks;
int app_main(void);
extern struct k_mutex receiver_lock;

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

// Queues

static void run(struct k_work_q *queue, struct k_work *work);

/// The threads of the stub run one at a time, so a wait for a locked mutex would never end. A call
/// with a locked mutex counts as a violation.
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

/// Waits on the calling thread, which must not hold the mutex, until the work item has ended.
bool k_work_flush(struct k_work *work, struct k_work_sync *sync) {
  (void)sync;
  seen.violations += receiver_lock.depth != 0;
  for (uint32_t i = 0; i < submitted_count; i++) {
    if (submitted[i].work != work) continue;
    struct k_work_q *queue = submitted[i].queue;
    memmove(submitted + i, submitted + i + 1, (--submitted_count - i) * sizeof submitted[0]);
    run(queue, work);
    return true;
  }
  return false;
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

bool port_start(void) { return app_main() == 0; }

// The host

bool port_is_advertising(void) { return is_advertising; }

void port_connect(void) {
  seen.violations += !is_advertising || connection.references != 0;
  is_advertising = false;
  is_connected = true;
  connection.references = 1;  // the stack still holds the object
  if (connection_callbacks.connected) connection_callbacks.connected(&connection, 0);
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

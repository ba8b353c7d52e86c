/// NimBLE for one host, and FreeRTOS with two tasks: the host task, which runs the events of its
/// queue, and the task that the port creates. A task that waits is started again at its beginning.
#include "esp.h"

#include <setjmp.h>

#include "ota.h"
#include "ota_receiver.h"
#include "port.h"
#include "stub.h"

enum { HOST = 1, FIRST_HANDLE = 16, CHARACTERISTICS = 3, QUEUE = 8, WAIT_MS = 100, TICK_MS = 10 };

port_seen seen;
void (*port_sent)(port_value value, const uint8_t *bytes, uint32_t size);
void (*port_waits_for_buffer)(void);
bool is_flash_task;
void app_main(void);

// FreeRTOS ---------------------------------------------------------------------------------------

static TaskFunction_t task;
static void *task_argument;
static bool is_notified;
static jmp_buf task_waits;
// esp_timer_get_time has 64 bits; its milliseconds wrap early here.
static uint32_t ticks = UINT32_MAX / TICK_MS - 20;

int xTaskCreate(
    TaskFunction_t code, const char *name, uint32_t stack_size, void *argument, unsigned priority,
    TaskHandle_t *handle) {
  seen.violations += task != NULL || strlen(name) > 15 || stack_size < 2048 || priority > 20;
  task = code;
  task_argument = argument;
  *handle = &task;
  return pdPASS;
}

uint32_t ulTaskNotifyTake(int clears, uint32_t wait) {
  seen.violations += !is_flash_task || clears != pdTRUE || wait != portMAX_DELAY;
  if (!is_notified) longjmp(task_waits, 1);
  is_notified = false;
  return 1;
}

int xTaskNotifyGive(TaskHandle_t handle) {
  seen.violations += handle != &task || is_notified;
  is_notified = true;
  return pdPASS;
}

static void run_task(void) {
  is_flash_task = true;
  if (setjmp(task_waits) == 0) task(task_argument);
  is_flash_task = false;
}

int64_t esp_timer_get_time(void) { return (int64_t)ticks * TICK_MS * 1000; }

// Events -----------------------------------------------------------------------------------------

static struct ble_npl_eventq queue;
static struct ble_npl_event *queued[QUEUE];
static uint32_t queued_count;
static struct ble_npl_callout *timer;

struct ble_npl_eventq *nimble_port_get_dflt_eventq(void) { return &queue; }

void ble_npl_event_init(struct ble_npl_event *event, ble_npl_event_fn *fn, void *arg) {
  *event = (struct ble_npl_event){fn, arg, false};
}

void ble_npl_eventq_put(struct ble_npl_eventq *to, struct ble_npl_event *event) {
  seen.violations += to != &queue || event->fn == NULL || queued_count == QUEUE;
  if (event->queued) return;
  event->queued = true;
  queued[queued_count++ % QUEUE] = event;
}

int ble_npl_callout_init(
    struct ble_npl_callout *callout, struct ble_npl_eventq *to, ble_npl_event_fn *fn, void *arg) {
  seen.violations += to != &queue || timer != NULL;
  ble_npl_event_init(&callout->event, fn, arg);
  timer = callout;
  return 0;
}

int ble_npl_callout_reset(struct ble_npl_callout *callout, uint32_t wait) {
  callout->active = true;
  callout->due = ticks + (wait > 0 ? wait : 1);
  return 0;
}

void ble_npl_callout_stop(struct ble_npl_callout *callout) { callout->active = false; }

uint32_t ble_npl_time_ms_to_ticks32(uint32_t ms) { return ms / TICK_MS; }

// Buffers ----------------------------------------------------------------------------------------

enum { BUFFER = 520 };
static bool has_no_buffers;
static int buffers;
// The number of times that the stack fails to send before it succeeds.
static uint32_t failures;

uint16_t os_mbuf_packet_size(const struct os_mbuf *om) {
  return (uint16_t)(om->om_len + (om->next ? om->next->om_len : 0));
}

static struct os_mbuf *new_mbuf(uint32_t leading) {
  struct os_mbuf *om = calloc(1, sizeof *om + BUFFER);
  om->om_databuf = (uint8_t *)(om + 1);
  om->om_data = om->om_databuf + leading;
  buffers++;
  return om;
}

static void free_mbuf(struct os_mbuf *om) {
  for (struct os_mbuf *next; om; om = next) {
    next = om->next;
    free(om);
    buffers--;
  }
}

int os_mbuf_append(struct os_mbuf *om, const void *from, uint16_t size) {
  memcpy(om->om_data + om->om_len, from, size);
  om->om_len = (uint16_t)(om->om_len + size);
  return 0;
}

struct os_mbuf *ble_hs_mbuf_from_flat(const void *from, uint16_t size) {
  if (has_no_buffers) return NULL;
  struct os_mbuf *om = new_mbuf(8);
  os_mbuf_append(om, from, size);
  return om;
}

int ble_hs_mbuf_to_flat(const struct os_mbuf *om, void *to, uint16_t maximum, uint16_t *copied) {
  uint16_t size = 0;
  for (; om; om = om->next)
    for (uint16_t i = 0; i < om->om_len && size < maximum; i++)
      ((uint8_t *)to)[size++] = om->om_data[i];
  if (copied) *copied = size;
  return 0;
}

// GAP --------------------------------------------------------------------------------------------

struct ble_hs_cfg ble_hs_cfg;
static struct ble_gap_event_listener *listener;
static ble_gap_event_fn *application;
static bool is_ready, is_connected, is_advertising, has_fields;

int ble_hs_util_ensure_addr(int prefer_random) { return prefer_random; }

int ble_hs_id_infer_auto(int privacy, uint8_t *type) {
  *type = 0;
  return privacy;
}

int ble_gap_event_listener_register(
    struct ble_gap_event_listener *added, ble_gap_event_fn *fn, void *arg) {
  seen.violations += listener != NULL;
  *added = (struct ble_gap_event_listener){fn, arg};
  listener = added;
  return 0;
}

static void report(struct ble_gap_event event) {
  listener->fn(&event, listener->arg);
  if (application) application(&event, NULL);
}

int ble_gap_adv_set_fields(const struct ble_hs_adv_fields *fields) {
  has_fields = fields->flags != 0;
  return 3 + 2 + fields->name_len <= 31 ? 0 : BLE_HS_EINVAL;
}

int ble_gap_adv_start(
    uint8_t own_address_type, const void *direct_address, int32_t duration_ms,
    const struct ble_gap_adv_params *params, ble_gap_event_fn *fn, void *arg) {
  (void)own_address_type, (void)arg;
  seen.violations += direct_address != NULL || duration_ms != BLE_HS_FOREVER || !is_ready ||
                     params->conn_mode != BLE_GAP_CONN_MODE_UND || !has_fields;
  if (is_advertising) return BLE_HS_EALREADY;
  if (is_connected) return BLE_HS_ENOMEM;  // BT_NIMBLE_MAX_CONNECTIONS is 1
  application = fn;
  is_advertising = true;
  return 0;
}

// GATT -------------------------------------------------------------------------------------------

static const struct ble_gatt_chr_def *characteristics;
static uint8_t cccds[CHARACTERISTICS];
static bool unconfirmed, is_counted;

static uint16_t handle_of(port_value value) { return *characteristics[value].val_handle; }

/// A CCCD permits the bits of the properties of its characteristic.
static uint8_t permitted(port_value value) {
  uint16_t flags = characteristics[value].flags;
  return (flags & BLE_GATT_CHR_F_NOTIFY ? 1 : 0) | (flags & BLE_GATT_CHR_F_INDICATE ? 2 : 0);
}

int ble_gatts_count_cfg(const struct ble_gatt_svc_def *services) {
  is_counted = services[0].type == BLE_GATT_SVC_TYPE_PRIMARY && services[1].type == 0;
  return is_counted ? 0 : BLE_HS_EINVAL;
}

int ble_gatts_add_svcs(const struct ble_gatt_svc_def *services) {
  static const uint8_t base[16] = {0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B,
                                   0x07, 0x48, 0xB4, 0x21, 0x00, 0x00, 0x3E, 0x2F};
  static const uint16_t flags[CHARACTERISTICS] = {0x28, 0x0C, 0x12};
  characteristics = services[0].characteristics;
  seen.violations += !is_counted || is_ready || characteristics[CHARACTERISTICS].uuid != NULL;
  for (int i = -1; i < CHARACTERISTICS; i++) {
    const ble_uuid_t *uuid = i < 0 ? services[0].uuid : characteristics[i].uuid;
    uint8_t bytes[16];
    memcpy(bytes, ((const ble_uuid128_t *)(const void *)uuid)->value, 16);
    seen.violations += uuid->type != BLE_UUID_TYPE_128 || bytes[12] != i + 2;
    bytes[12] = 0;
    seen.violations += memcmp(bytes, base, 16) != 0 || (i >= 0 && characteristics[i].flags != flags[i]);
  }
  return 0;
}

static int send(port_value value, uint16_t connection, struct os_mbuf *om, bool is_indication) {
  int error = 0;
  uint8_t bytes[20];
  uint16_t size = om ? os_mbuf_packet_size(om) : 0;
  seen.violations += om == NULL || size > sizeof bytes || is_flash_task;
  if (om) ble_hs_mbuf_to_flat(om, bytes, sizeof bytes, NULL);
  free_mbuf(om);
  if (!is_connected || connection != HOST) {
    error = BLE_HS_ENOTCONN;
  } else if (failures > 0) {
    failures--;
    error = BLE_HS_ENOMEM;
  } else if (is_indication) {
    // NimBLE asserts that the last indication is confirmed.
    seen.violations += unconfirmed;
    unconfirmed = true;
    memcpy(seen.answer, bytes, size);
    seen.answer_size = size;
  } else {
    memcpy(seen.status, bytes, 16);
    failures = seen.statuses++ % 3;
  }
  report((struct ble_gap_event){
      BLE_GAP_EVENT_NOTIFY_TX,
      .notify_tx = {error, connection, handle_of(value), is_indication}});
  if (error == 0 && port_sent) port_sent(value, bytes, size);
  return error;
}

int ble_gatts_notify_custom(uint16_t connection, uint16_t handle, struct os_mbuf *om) {
  seen.violations += handle != handle_of(PORT_STATUS);
  return send(PORT_STATUS, connection, om, false);
}

int ble_gatts_indicate_custom(uint16_t connection, uint16_t handle, struct os_mbuf *om) {
  seen.violations += handle != handle_of(PORT_CONTROL);
  return send(PORT_CONTROL, connection, om, true);
}

static void subscribe(port_value value, uint8_t bits, uint8_t reason) {
  uint8_t before = cccds[value];
  if (before == bits) return;
  cccds[value] = bits;
  report((struct ble_gap_event){
      BLE_GAP_EVENT_SUBSCRIBE,
      .subscribe = {
          HOST, handle_of(value), reason, before & 1, bits & 1, before >> 1 & 1, bits >> 1 & 1}});
}

void port_confirm(void) {
  if (!unconfirmed) return;
  unconfirmed = false;
  report((struct ble_gap_event){
      BLE_GAP_EVENT_NOTIFY_TX,
      .notify_tx = {BLE_HS_EDONE, HOST, handle_of(PORT_CONTROL), 1}});
}

// The host task ----------------------------------------------------------------------------------

esp_err_t nimble_port_init(void) {
  seen.violations += !nvs_is_ready;
  return ESP_OK;
}

void ble_svc_gap_init(void) {}
void ble_svc_gatt_init(void) {}
int ble_svc_gap_device_name_set(const char *name) { return strlen(name) > 31; }
void nimble_port_freertos_init(TaskFunction_t host_task) { host_task(NULL); }
void nimble_port_freertos_deinit(void) {}

/// Registers the attributes, and connects to the controller. port_step runs the rest.
void nimble_port_run(void) {
  for (int i = 0; i < CHARACTERISTICS; i++)
    *characteristics[i].val_handle = (uint16_t)(FIRST_HANDLE + 3 * i + 2);
  is_ready = true;
  ble_hs_cfg.sync_cb();
}

static bool run_one(void) {
  if (seen.reset) return false;
  if (unconfirmed && !port_sent) {
    port_confirm();
  } else if (is_notified) {
    run_task();
  } else if (queued_count > 0) {
    struct ble_npl_event *event = queued[0];
    memmove(queued, queued + 1, --queued_count * sizeof queued[0]);
    event->queued = false;
    event->fn(event);
  } else {
    return false;
  }
  return true;
}

bool port_step(void) {
  if (run_one()) return true;
  if (seen.reset || !timer->active) return false;
  ticks = timer->due;
  timer->active = false;
  ble_npl_eventq_put(&queue, &timer->event);
  return true;
}

void port_run(void) {
  uint32_t start = ticks;
  for (uint32_t bound = 100000; bound > 0 && !seen.reset; bound--) {
    if (run_one()) continue;
    if (has_no_buffers && (ticks - start) * TICK_MS >= WAIT_MS) {
      void (*notify)(void) = port_waits_for_buffer;
      if (!notify) return;
      port_waits_for_buffer = NULL;
      notify();
    }
    if (!port_step()) return;
  }
  seen.violations += !seen.reset;
}

// The device and the host ------------------------------------------------------------------------

bool port_start(void) {
  app_main();
  return is_ready;
}

bool port_is_advertising(void) { return is_advertising; }

void port_connect(void) {
  seen.violations += !is_advertising;
  is_advertising = false;
  is_connected = true;
  report((struct ble_gap_event){BLE_GAP_EVENT_CONNECT, .connect = {0, HOST}});
}

void port_disconnect(void) {
  subscribe(PORT_CONTROL, 0, BLE_GAP_SUBSCRIBE_REASON_TERM);
  subscribe(PORT_STATUS, 0, BLE_GAP_SUBSCRIBE_REASON_TERM);
  unconfirmed = is_connected = false;
  report((struct ble_gap_event){BLE_GAP_EVENT_DISCONNECT, .disconnect = {0x208, {HOST}}});
  seen.violations += buffers != 0;
}

void port_set_buffers(bool are_free) { has_no_buffers = !are_free; }

static int access_value(port_value value, uint8_t op, struct os_mbuf *om) {
  struct ble_gatt_access_ctxt context = {op, om};
  const struct ble_gatt_chr_def *accessed = &characteristics[value];
  return accessed->access_cb(HOST, handle_of(value), &context, accessed->arg);
}

uint8_t port_write(port_value value, const uint8_t *bytes, uint32_t size, bool with_response) {
  uint16_t handle = handle_of(value);
  uint8_t pdu[3] = {
      with_response ? BLE_ATT_OP_WRITE_REQ : BLE_ATT_OP_WRITE_CMD, (uint8_t)handle,
      (uint8_t)(handle >> 8)};
  // The value is in two buffers, the first of which contains the PDU.
  uint16_t first = (uint16_t)(size < 7 ? size : 7);
  struct os_mbuf *om = new_mbuf(sizeof pdu);
  memcpy(om->om_databuf, pdu, sizeof pdu);
  os_mbuf_append(om, bytes, first);
  om->next = new_mbuf(0);
  os_mbuf_append(om->next, bytes + first, (uint16_t)(size - first));
  int error = access_value(value, BLE_GATT_ACCESS_OP_WRITE_CHR, om);
  free_mbuf(om);
  seen.violations += error < 0 || error > 0xFF;
  return with_response ? (uint8_t)error : 0;
}

uint8_t port_write_cccd(port_value value, uint16_t bits) {
  if (bits & ~permitted(value)) return BLE_ATT_ERR_REQ_NOT_SUPPORTED;
  subscribe(value, (uint8_t)bits, BLE_GAP_SUBSCRIBE_REASON_WRITE);
  return 0;
}

void port_read_status(uint8_t *to) {
  struct os_mbuf *om = new_mbuf(8);
  seen.violations += access_value(PORT_STATUS, BLE_GATT_ACCESS_OP_READ_CHR, om) != 0;
  ble_hs_mbuf_to_flat(om, to, 16, NULL);
  free_mbuf(om);
}

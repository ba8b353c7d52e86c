/// A SoftDevice for one host: its events wait for the main loop, and its flash has stricter rules
/// than hardware. A reset starts the port's bootloader.
#include "sdk.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "flash_layout.h"
#include "ota.h"
#include "ota_receiver.h"
#include "port.h"

enum { FIRST = APPLICATION_ADDRESS, QUEUE = 4, HOST = 0, WAIT_MS = 100 };

port_seen seen;
uint8_t *port_flash;
const uint32_t port_flash_size = LAYOUT_END - APPLICATION_ADDRESS;
const uint32_t port_image_maximum = SLOT_SIZE;
const bool port_reports_reversals = true;
const port_smp *const port_smp_server = NULL;
void (*port_sent)(port_value value, const uint8_t *bytes, uint32_t size);
void (*port_waits_for_buffer)(void);
void (*port_flash_works)(uint32_t size);

extern const nrf_sdh_ble_evt_observer_t ota_observer, main_observer;
int app_main(void);
int boot_main(void);

static nrf_fstorage_t *storage;
static nrf_fstorage_evt_t queued[QUEUE];
static uint32_t queue_size;
static ble_gatts_char_handles_t control, data, status;
static ble_add_char_params_t properties[5];
static bool unconfirmed;
static uint8_t authorized_error, authorized_value[16];
static app_timer_t *timer;
static uint32_t ticks;
static bool is_configured, is_connected, is_advertising, has_no_buffers;
static jmp_buf application_sleeps, bootloader_ends;

nrf_fstorage_api_t nrf_fstorage_sd = {0}, nrf_fstorage_nvmc = {1};

uint32_t sd_nvic_SystemReset(void) {
  seen.reset = true;
  return NRF_SUCCESS;
}

enum { STARTS = 1, RESETS };
void NVIC_SystemReset(void) { longjmp(bootloader_ends, RESETS); }
void nrf_bootloader_app_start(void) { longjmp(bootloader_ends, STARTS); }

// The application

ret_code_t app_timer_init(void) { return NRF_SUCCESS; }
ret_code_t nrf_pwr_mgmt_init(void) { return NRF_SUCCESS; }
ret_code_t nrf_sdh_enable_request(void) { return NRF_SUCCESS; }
ret_code_t nrf_sdh_ble_default_cfg_set(uint8_t tag, uint32_t *ram_start) {
  (void)tag, (void)ram_start;
  return NRF_SUCCESS;
}
ret_code_t nrf_sdh_ble_enable(uint32_t *ram_start) {
  (void)ram_start;
  return NRF_SUCCESS;
}
ret_code_t nrf_ble_gatt_init(nrf_ble_gatt_t *gatt, void *handler) {
  (void)gatt, (void)handler;
  return NRF_SUCCESS;
}
void app_sched_execute(void) {}
// port_run performs the rest of the main loop.
void nrf_pwr_mgmt_run(void) { longjmp(application_sleeps, 1); }

ret_code_t ble_advdata_encode(ble_advdata_t const *content, uint8_t *to, uint16_t *size) {
  (void)content, (void)to;
  *size = 12;
  return NRF_SUCCESS;
}

uint32_t sd_ble_gap_adv_set_configure(
    uint8_t *handle, ble_gap_adv_data_t const *data, ble_gap_adv_params_t const *params) {
  seen.violations += data->adv_data.len == 0 || params->interval < 32;
  *handle = 0;
  is_configured = true;
  return NRF_SUCCESS;
}

uint32_t sd_ble_gap_adv_start(uint8_t handle, uint8_t tag) {
  (void)tag;
  seen.violations += handle != 0 || !is_configured || is_connected || is_advertising;
  is_advertising = true;
  return NRF_SUCCESS;
}

// Time

ret_code_t app_timer_create(
    app_timer_id_t const *id, app_timer_mode_t mode, app_timer_timeout_handler_t handler) {
  (void)handler;
  seen.violations += mode != APP_TIMER_MODE_SINGLE_SHOT;
  timer = *id;
  return NRF_SUCCESS;
}

ret_code_t app_timer_start(app_timer_id_t id, uint32_t count, void *context) {
  (void)context;
  seen.violations += count < 5 || count >= 1 << 23;
  id->running = true;
  id->due = ticks + count;
  return NRF_SUCCESS;
}

ret_code_t app_timer_stop(app_timer_id_t id) {
  id->running = false;
  return NRF_SUCCESS;
}

uint32_t app_timer_cnt_get(void) { return ticks & 0xFFFFFF; }

uint32_t app_timer_cnt_diff_compute(uint32_t to, uint32_t from) { return (to - from) & 0xFFFFFF; }

// Flash

ret_code_t nrf_fstorage_init(nrf_fstorage_t *instance, nrf_fstorage_api_t *api, void *param) {
  (void)param;
  instance->p_api = api;
  if (api == &nrf_fstorage_sd) storage = instance;
  return NRF_SUCCESS;
}

static bool is_within(nrf_fstorage_t const *instance, uint32_t address, uint32_t size) {
  bool fits = address >= instance->start_addr && address <= instance->end_addr &&
              size <= instance->end_addr - address && instance->p_api != NULL;
  seen.violations += !fits;
  return fits;
}

ret_code_t nrf_fstorage_read(
    nrf_fstorage_t const *instance, uint32_t address, void *to, uint32_t size) {
  if (!is_within(instance, address, size)) return NRF_ERROR_INVALID_ADDR;
  // nrf_fstorage.c requires an aligned address, but not an aligned size.
  seen.violations += address % 4 != 0 || size == 0;
  memcpy(to, port_flash + address - FIRST, size);
  return NRF_SUCCESS;
}

static ret_code_t queue(
    nrf_fstorage_t const *instance, nrf_fstorage_evt_id_t id, uint32_t address, uint32_t size,
    void *param) {
  if (instance->p_api == &nrf_fstorage_nvmc) return NRF_SUCCESS;
  if (port_flash_works) port_flash_works(id == NRF_FSTORAGE_EVT_WRITE_RESULT ? size : 0);
  seen.violations += queue_size == QUEUE;
  queued[queue_size++ % QUEUE] =
      (nrf_fstorage_evt_t){id, NRF_SUCCESS, address, size, param};
  return NRF_SUCCESS;
}

ret_code_t nrf_fstorage_write(
    nrf_fstorage_t const *instance, uint32_t address, void const *from, uint32_t size,
    void *param) {
  if (!is_within(instance, address, size)) return NRF_ERROR_INVALID_ADDR;
  seen.violations += address % 4 != 0 || size % 4 != 0 || (uintptr_t)from % 4 != 0;
  // This stub erases at the time of the request, so an erase that was queued earlier has already
  // ended.
  for (uint32_t i = 0; i < size; i++) seen.violations += port_flash[address - FIRST + i] != 0xFF;
  memcpy(port_flash + address - FIRST, from, size);
  return queue(instance, NRF_FSTORAGE_EVT_WRITE_RESULT, address, size, param);
}

ret_code_t nrf_fstorage_erase(
    nrf_fstorage_t const *instance, uint32_t address, uint32_t pages, void *param) {
  if (!is_within(instance, address, pages * PAGE)) return NRF_ERROR_INVALID_ADDR;
  seen.violations += address % PAGE != 0 ||
                     (address < SLOT_ADDRESS && instance->p_api == &nrf_fstorage_sd);
  memset(port_flash + address - FIRST, 0xFF, pages * PAGE);
  return queue(instance, NRF_FSTORAGE_EVT_ERASE_RESULT, address, pages, param);
}

// Attributes

uint32_t sd_ble_uuid_vs_add(ble_uuid128_t const *uuid, uint8_t *type) {
  // The UUID 2f3e0000-21b4-4807-8bdc-74db56699529, least significant byte first.
  static const uint8_t base[16] = {0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B,
                                   0x07, 0x48, 0xB4, 0x21, 0x00, 0x00, 0x3E, 0x2F};
  seen.violations += memcmp(uuid->uuid128, base, sizeof base) != 0;
  *type = 2;
  return NRF_SUCCESS;
}

uint32_t sd_ble_gatts_service_add(uint8_t type, ble_uuid_t const *uuid, uint16_t *handle) {
  seen.violations += type != BLE_GATTS_SRVC_TYPE_PRIMARY || uuid->uuid != 1 || uuid->type != 2;
  *handle = 16;
  return NRF_SUCCESS;
}

uint32_t characteristic_add(
    uint16_t service, ble_add_char_params_t *params, ble_gatts_char_handles_t *handles) {
  seen.violations += service != 16 || params->uuid_type != 2 || params->max_len == 0;
  bool has_cccd = params->char_props.notify || params->char_props.indicate;
  uint16_t first = (uint16_t)(16 + 4 * params->uuid);
  *handles = (ble_gatts_char_handles_t){
      .value_handle = first, .cccd_handle = has_cccd ? (uint16_t)(first + 1) : 0};
  properties[params->uuid] = *params;
  if (params->uuid == 2) control = *handles;
  if (params->uuid == 3) data = *handles;
  if (params->uuid == 4) status = *handles;
  return NRF_SUCCESS;
}

uint32_t sd_ble_gatts_sys_attr_set(
    uint16_t connection, uint8_t const *bytes, uint16_t size, uint32_t flags) {
  seen.violations += connection != HOST || bytes != NULL || size != 0 || flags != 0;
  return NRF_SUCCESS;
}

uint32_t sd_ble_gatts_hvx(uint16_t connection, ble_gatts_hvx_params_t const *params) {
  seen.violations += connection != HOST;
  if (has_no_buffers) return NRF_ERROR_RESOURCES;
  if (params->type == BLE_GATT_HVX_NOTIFICATION) {
    seen.violations += params->handle != status.value_handle || *params->p_len != 16;
    memcpy(seen.status, params->p_data, 16);
    seen.statuses++;
    if (port_sent) port_sent(PORT_STATUS, params->p_data, 16);
    return NRF_SUCCESS;
  }
  seen.violations += params->handle != control.value_handle;
  if (unconfirmed) return NRF_ERROR_BUSY;
  unconfirmed = true;
  memcpy(seen.answer, params->p_data, *params->p_len);
  seen.answer_size = *params->p_len;
  if (port_sent) port_sent(PORT_CONTROL, params->p_data, *params->p_len);
  return NRF_SUCCESS;
}

uint32_t sd_ble_gatts_rw_authorize_reply(
    uint16_t connection, ble_gatts_rw_authorize_reply_params_t const *reply) {
  seen.violations += connection != HOST;
  bool is_read = reply->type == BLE_GATTS_AUTHORIZE_TYPE_READ;
  const ble_gatts_authorize_params_t *params = is_read ? &reply->params.read : &reply->params.write;
  if (params->gatt_status == BLE_GATT_STATUS_SUCCESS) {
    seen.violations += !params->update || params->offset != 0;
    if (is_read) memcpy(authorized_value, params->p_data, params->len);
  } else {
    seen.violations += params->gatt_status >> 8 != 1;
  }
  authorized_error = (uint8_t)params->gatt_status;
  return NRF_SUCCESS;
}

// The main loop

static void dispatch(ble_evt_t *event, uint16_t id) {
  event->header.evt_id = id;
  ota_observer.handler(event, NULL);
  main_observer.handler(event, NULL);
}

void port_confirm(void) {
  ble_evt_t event = {0};
  if (!unconfirmed) return;
  unconfirmed = false;
  event.evt.gatts_evt.params.hvc.handle = control.value_handle;
  dispatch(&event, BLE_GATTS_EVT_HVC);
}

/// One step of the main loop. False: the processor sleeps until the next event.
static bool run_one(void) {
  if (unconfirmed && !port_sent) {
    port_confirm();
  } else if (queue_size > 0) {
    nrf_fstorage_evt_t event = queued[0];
    memmove(queued, queued + 1, --queue_size * sizeof queued[0]);
    storage->evt_handler(&event);
  }
  bool again = ota_poll();
  return again || queue_size > 0 || (unconfirmed && !port_sent);
}

bool port_step(void) {
  if (seen.reset) return false;
  if (run_one()) return true;
  if (timer->running) ticks = timer->due;
  return timer->running;
}

void port_run(void) {
  uint32_t start = ticks, wait = APP_TIMER_TICKS(WAIT_MS);
  for (uint32_t bound = 100000; bound > 0 && !seen.reset; bound--) {
    if (run_one()) continue;
    if (!timer->running) return;
    ticks = timer->due;
    if (!has_no_buffers || ticks - start < wait) continue;
    void (*notify)(void) = port_waits_for_buffer;
    if (!notify) return;
    port_waits_for_buffer = NULL;
    notify();
  }
  seen.violations += !seen.reset;
}

// The device

void port_install(const uint8_t *image, uint32_t size) {
  memset(port_flash, 0xFF, port_flash_size);
  memcpy(port_flash, image, size);
  // The remains of an earlier update in the slot.
  memset(port_flash + SLOT_ADDRESS - FIRST, 0x5A, SLOT_SIZE);
  // Production stores the size and the CRC32 of the first image.
  ota_image none = {0, 0, 0, 0};
  boot_request first = boot_make_request(&none, size, ota_crc32(0, image, size));
  boot_device device = boot_layout(NULL);
  memcpy(port_flash + JOURNAL_ADDRESS - FIRST, &first, sizeof first);
  memset(port_flash + boot_mark_address(&device, BOOT_CONFIRMED) - FIRST, 0, WRITE_UNIT);
}

bool port_boot(void) {
  int end = setjmp(bootloader_ends);
  if (end == 0) boot_main();
  seen.violations += end != STARTS;
  return port_start();
}

bool port_start(void) {
  ticks = 0xFFFF00;  // the counter wraps early
  if (setjmp(application_sleeps) == 0) app_main();
  seen.violations += !properties[2].is_defered_write || !properties[3].is_defered_write ||
                     !properties[4].is_defered_read || !properties[2].char_props.indicate ||
                     !properties[3].char_props.write_wo_resp || !properties[4].char_props.notify;
  return is_configured;
}

bool port_slot_is_erased(void) {
  for (uint32_t i = 0; i < SLOT_SIZE; i++) {
    if (port_flash[SLOT_ADDRESS - FIRST + i] != 0xFF) return false;
  }
  return true;
}

// The host

bool port_is_advertising(void) { return is_advertising; }

void port_connect(void) {
  ble_evt_t event = {0};
  seen.violations += !is_advertising;
  is_advertising = false;
  is_connected = true;
  event.evt.gap_evt.conn_handle = HOST;
  dispatch(&event, BLE_GAP_EVT_CONNECTED);
  dispatch(&event, BLE_GATTS_EVT_SYS_ATTR_MISSING);
}

void port_disconnect(void) {
  ble_evt_t event = {0};
  unconfirmed = false;
  is_connected = false;
  dispatch(&event, BLE_GAP_EVT_DISCONNECTED);
}

/// Creates an event with a value of `size` bytes at its end.
static ble_evt_t *write_event(
    uint16_t handle, uint8_t op, const uint8_t *bytes, uint32_t size) {
  ble_evt_t *event = calloc(1, sizeof *event + size);
  bool is_request = op == BLE_GATTS_OP_WRITE_REQ;
  ble_gatts_evt_t *gatts = &event->evt.gatts_evt;
  ble_gatts_evt_write_t *write =
      is_request ? &gatts->params.authorize_request.request.write : &gatts->params.write;
  gatts->params.authorize_request.type = is_request ? BLE_GATTS_AUTHORIZE_TYPE_WRITE : 0;
  write->handle = handle;
  write->op = op;
  write->len = (uint16_t)size;
  memcpy((uint8_t *)write + offsetof(ble_gatts_evt_write_t, data), bytes, size);
  return event;
}

uint8_t port_write(port_value value, const uint8_t *bytes, uint32_t size, bool with_response) {
  uint16_t handle = value == PORT_CONTROL ? control.value_handle : data.value_handle;
  ble_evt_t *event =
      write_event(handle, with_response ? BLE_GATTS_OP_WRITE_REQ : BLE_GATTS_OP_WRITE_CMD, bytes, size);
  authorized_error = 0xEE;
  dispatch(event, with_response ? BLE_GATTS_EVT_RW_AUTHORIZE_REQUEST : BLE_GATTS_EVT_WRITE);
  free(event);
  return with_response ? authorized_error : 0;
}

void port_set_buffers(bool are_free) { has_no_buffers = !are_free; }

uint8_t port_write_cccd(port_value value, uint16_t bits) {
  // The SoftDevice knows the properties of the characteristic.
  if (bits & ~(value == PORT_CONTROL ? 2u : 1u)) return 0x13;
  uint8_t bytes[2] = {(uint8_t)bits};
  uint16_t handle = value == PORT_CONTROL ? control.cccd_handle : status.cccd_handle;
  ble_evt_t *event = write_event(handle, 0, bytes, sizeof bytes);
  dispatch(event, BLE_GATTS_EVT_WRITE);
  free(event);
  return 0;
}

void port_read_status(uint8_t *to) {
  ble_evt_t event = {0};
  ble_gatts_evt_rw_authorize_request_t *asked = &event.evt.gatts_evt.params.authorize_request;
  asked->type = BLE_GATTS_AUTHORIZE_TYPE_READ;
  asked->request.read.handle = status.value_handle;
  dispatch(&event, BLE_GATTS_EVT_RW_AUTHORIZE_REQUEST);
  memcpy(to, authorized_value, 16);
}

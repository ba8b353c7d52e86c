/// The declarations of nRF5 SDK 17 and its SoftDevice that the port uses, according to their
/// documentation. Names, parameters and semantics are Nordic's; sdk.c is the implementation.
#ifndef NRF5_STUB_H
#define NRF5_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NRF_SDH_BLE_GATT_MAX_MTU_SIZE 247
#define NRF_SUCCESS 0
#define NRF_ERROR_INVALID_PARAM 7
#define NRF_ERROR_INVALID_ADDR 16
#define NRF_ERROR_BUSY 17
#define NRF_ERROR_RESOURCES 19
typedef uint32_t ret_code_t;
#define APP_ERROR_CHECK(code) ((void)(code))

// nrf_soc.h
uint32_t sd_nvic_SystemReset(void);
void NVIC_SystemReset(void);

// nrf_bootloader_app_start.h
void nrf_bootloader_app_start(void);

// app_timer.h
typedef struct { bool running; uint32_t due; } app_timer_t;
typedef app_timer_t *app_timer_id_t;
typedef void (*app_timer_timeout_handler_t)(void *context);
typedef enum { APP_TIMER_MODE_SINGLE_SHOT, APP_TIMER_MODE_REPEATED } app_timer_mode_t;
#define APP_TIMER_CLOCK_FREQ 32768
#define APP_TIMER_SCHED_EVENT_DATA_SIZE 12
#define APP_TIMER_TICKS(ms) ((uint32_t)((uint64_t)(ms)*APP_TIMER_CLOCK_FREQ / 1000))
#define APP_TIMER_DEF(id) static app_timer_t id##_data; static const app_timer_id_t id = &id##_data
ret_code_t app_timer_init(void);
ret_code_t app_timer_create(
    app_timer_id_t const *id, app_timer_mode_t mode, app_timer_timeout_handler_t handler);
ret_code_t app_timer_start(app_timer_id_t id, uint32_t ticks, void *context);
ret_code_t app_timer_stop(app_timer_id_t id);
uint32_t app_timer_cnt_get(void);
uint32_t app_timer_cnt_diff_compute(uint32_t to, uint32_t from);

// nrf_fstorage.h, nrf_fstorage_sd.h
typedef enum {
  NRF_FSTORAGE_EVT_READ_RESULT,
  NRF_FSTORAGE_EVT_WRITE_RESULT,
  NRF_FSTORAGE_EVT_ERASE_RESULT
} nrf_fstorage_evt_id_t;
typedef struct {
  nrf_fstorage_evt_id_t id;
  ret_code_t result;
  uint32_t addr;
  uint32_t len;
  void *p_param;
} nrf_fstorage_evt_t;
typedef struct { int unused; } const nrf_fstorage_api_t;
typedef struct {
  nrf_fstorage_api_t *p_api;
  void (*evt_handler)(nrf_fstorage_evt_t *event);
  uint32_t start_addr;
  uint32_t end_addr;
} nrf_fstorage_t;
// Operations of nrf_fstorage_nvmc have ended when they return.
extern nrf_fstorage_api_t nrf_fstorage_sd, nrf_fstorage_nvmc;
#define NRF_FSTORAGE_DEF(instance) instance
ret_code_t nrf_fstorage_init(nrf_fstorage_t *storage, nrf_fstorage_api_t *api, void *param);
ret_code_t nrf_fstorage_read(
    nrf_fstorage_t const *storage, uint32_t address, void *to, uint32_t size);
ret_code_t nrf_fstorage_write(
    nrf_fstorage_t const *storage, uint32_t address, void const *from, uint32_t size, void *param);
ret_code_t nrf_fstorage_erase(
    nrf_fstorage_t const *storage, uint32_t address, uint32_t pages, void *param);

// ble_types.h, ble.h
#define BLE_CONN_HANDLE_INVALID 0xFFFF
typedef struct { uint8_t uuid128[16]; } ble_uuid128_t;
typedef struct { uint16_t uuid; uint8_t type; } ble_uuid_t;
uint32_t sd_ble_uuid_vs_add(ble_uuid128_t const *uuid, uint8_t *type);

// ble_gatt.h, ble_gatts.h
#define BLE_GATT_HVX_NOTIFICATION 1
#define BLE_GATT_HVX_INDICATION 2
#define BLE_GATT_STATUS_SUCCESS 0
#define BLE_GATTS_SRVC_TYPE_PRIMARY 1
#define BLE_GATTS_AUTHORIZE_TYPE_READ 1
#define BLE_GATTS_AUTHORIZE_TYPE_WRITE 2
#define BLE_GATTS_OP_WRITE_REQ 1
#define BLE_GATTS_OP_WRITE_CMD 2
enum {
  BLE_GAP_EVT_CONNECTED = 0x10,
  BLE_GAP_EVT_DISCONNECTED = 0x11,
  BLE_GATTS_EVT_WRITE = 0x50,
  BLE_GATTS_EVT_RW_AUTHORIZE_REQUEST,
  BLE_GATTS_EVT_SYS_ATTR_MISSING,
  BLE_GATTS_EVT_HVC
};
typedef struct {
  uint8_t broadcast : 1, read : 1, write_wo_resp : 1, write : 1, notify : 1, indicate : 1,
      auth_signed_wr : 1;
} ble_gatt_char_props_t;
typedef struct {
  uint16_t value_handle, user_desc_handle, cccd_handle, sccd_handle;
} ble_gatts_char_handles_t;
typedef struct {
  uint16_t handle;
  uint8_t type;
  uint16_t offset;
  uint16_t *p_len;
  uint8_t const *p_data;
} ble_gatts_hvx_params_t;
typedef struct {
  uint16_t gatt_status;
  uint8_t update : 1;
  uint16_t offset;
  uint16_t len;
  uint8_t const *p_data;
} ble_gatts_authorize_params_t;
typedef struct {
  uint8_t type;
  union { ble_gatts_authorize_params_t read, write; } params;
} ble_gatts_rw_authorize_reply_params_t;
typedef struct {
  uint16_t handle;
  ble_uuid_t uuid;
  uint8_t op;
  uint8_t auth_required;
  uint16_t offset;
  uint16_t len;
  uint8_t data[1];  // variable length
} ble_gatts_evt_write_t;
typedef struct { uint16_t handle; ble_uuid_t uuid; uint16_t offset; } ble_gatts_evt_read_t;
typedef struct {
  uint8_t type;
  union { ble_gatts_evt_read_t read; ble_gatts_evt_write_t write; } request;
} ble_gatts_evt_rw_authorize_request_t;
typedef struct { uint16_t handle; } ble_gatts_evt_hvc_t;
typedef struct {
  uint16_t conn_handle;
  union {
    ble_gatts_evt_write_t write;
    ble_gatts_evt_rw_authorize_request_t authorize_request;
    ble_gatts_evt_hvc_t hvc;
  } params;
} ble_gatts_evt_t;
typedef struct { uint16_t conn_handle; } ble_gap_evt_t;
typedef struct {
  struct { uint16_t evt_id, evt_len; } header;
  union { ble_gap_evt_t gap_evt; ble_gatts_evt_t gatts_evt; } evt;
} ble_evt_t;
uint32_t sd_ble_gatts_service_add(uint8_t type, ble_uuid_t const *uuid, uint16_t *handle);
uint32_t sd_ble_gatts_hvx(uint16_t connection, ble_gatts_hvx_params_t const *params);
uint32_t sd_ble_gatts_sys_attr_set(
    uint16_t connection, uint8_t const *data, uint16_t size, uint32_t flags);
uint32_t sd_ble_gatts_rw_authorize_reply(
    uint16_t connection, ble_gatts_rw_authorize_reply_params_t const *reply);

// ble_srv_common.h
typedef enum { SEC_NO_ACCESS, SEC_OPEN, SEC_JUST_WORKS, SEC_MITM } security_req_t;
typedef struct {
  uint16_t uuid;
  uint8_t uuid_type;
  uint16_t max_len;
  uint16_t init_len;
  uint8_t *p_init_value;
  bool is_var_len;
  ble_gatt_char_props_t char_props;
  bool is_defered_read;
  bool is_defered_write;
  security_req_t read_access;
  security_req_t write_access;
  security_req_t cccd_write_access;
} ble_add_char_params_t;
uint32_t characteristic_add(
    uint16_t service, ble_add_char_params_t *params, ble_gatts_char_handles_t *handles);

// nrf_sdh.h, nrf_sdh_ble.h, app_scheduler.h, nrf_pwr_mgmt.h, nrf_ble_gatt.h
typedef struct { void (*handler)(ble_evt_t const *event, void *context); } nrf_sdh_ble_evt_observer_t;
#define NRF_SDH_BLE_OBSERVER(name, priority, function, context) \
  const nrf_sdh_ble_evt_observer_t name = {function}
ret_code_t nrf_sdh_enable_request(void);
ret_code_t nrf_sdh_ble_default_cfg_set(uint8_t tag, uint32_t *ram_start);
ret_code_t nrf_sdh_ble_enable(uint32_t *ram_start);
#define APP_SCHED_INIT(size, count) ((void)(size), (void)(count))
void app_sched_execute(void);
ret_code_t nrf_pwr_mgmt_init(void);
void nrf_pwr_mgmt_run(void);
typedef struct { int unused; } nrf_ble_gatt_t;
#define NRF_BLE_GATT_DEF(name) static nrf_ble_gatt_t name
ret_code_t nrf_ble_gatt_init(nrf_ble_gatt_t *gatt, void *handler);

// ble_gap.h, ble_advdata.h
#define BLE_GAP_ADV_SET_HANDLE_NOT_SET 0xFF
#define BLE_GAP_ADV_SET_DATA_SIZE_MAX 31
#define BLE_GAP_ADV_TYPE_CONNECTABLE_SCANNABLE_UNDIRECTED 1
#define BLE_GAP_ADV_FLAGS_LE_ONLY_GENERAL_DISC_MODE 6
#define BLE_GAP_PHY_1MBPS 1
typedef struct { uint8_t *p_data; uint16_t len; } ble_data_t;
typedef struct { ble_data_t adv_data, scan_rsp_data; } ble_gap_adv_data_t;
typedef struct { uint8_t type; } ble_gap_adv_properties_t;
typedef struct {
  ble_gap_adv_properties_t properties;
  uint32_t interval;
  uint8_t primary_phy;
} ble_gap_adv_params_t;
typedef enum { BLE_ADVDATA_NO_NAME, BLE_ADVDATA_SHORT_NAME, BLE_ADVDATA_FULL_NAME } ble_advdata_name_type_t;
typedef struct { ble_advdata_name_type_t name_type; uint8_t flags; } ble_advdata_t;
ret_code_t ble_advdata_encode(ble_advdata_t const *content, uint8_t *to, uint16_t *size);
uint32_t sd_ble_gap_adv_set_configure(
    uint8_t *handle, ble_gap_adv_data_t const *data, ble_gap_adv_params_t const *params);
uint32_t sd_ble_gap_adv_start(uint8_t handle, uint8_t tag);

#endif

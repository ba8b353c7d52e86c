/// The declarations of ESP-IDF 5 and of NimBLE that the port uses, according to their documentation
/// and headers. Names, parameters and semantics are theirs; nimble.c and flash.c are the
/// implementation.
#ifndef ESP_STUB_H
#define ESP_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// sdkconfig.defaults of the example, and the defaults of Kconfig
#define CONFIG_BT_NIMBLE_ATT_PREFERRED_MTU 247
#define CONFIG_OTAFLASH_HARDWARE_ID 0x0000A001
#define CONFIG_OTAFLASH_RING_SIZE 8192
#define CONFIG_OTAFLASH_DECODE_RATE 66
#define CONFIG_OTAFLASH_ERASE_AHEAD 1

// esp_err.h
typedef int esp_err_t;
#define ESP_OK 0
#define ESP_FAIL -1
#define ESP_ERR_NO_MEM 0x101
#define ESP_ERR_INVALID_ARG 0x102
#define ESP_ERR_INVALID_SIZE 0x104
#define ESP_ERR_NOT_FOUND 0x105
#define ESP_ERR_NOT_SUPPORTED 0x106
#define ESP_ERROR_CHECK(x) do { if ((x) != ESP_OK) abort(); } while (0)

// esp_partition.h
typedef struct {
  uint32_t address, size, erase_size;
  char label[17];
  bool encrypted, readonly;
} esp_partition_t;
esp_err_t esp_partition_read(const esp_partition_t *p, size_t offset, void *to, size_t size);
esp_err_t esp_partition_write(const esp_partition_t *p, size_t offset, const void *from, size_t size);
esp_err_t esp_partition_erase_range(const esp_partition_t *p, size_t offset, size_t size);

// esp_image_format.h
typedef struct { uint32_t offset, size; } esp_partition_pos_t;
typedef struct { uint32_t start_addr, image_len; } esp_image_metadata_t;
esp_err_t esp_image_get_metadata(const esp_partition_pos_t *part, esp_image_metadata_t *metadata);

// esp_ota_ops.h, esp_app_desc.h
#define ESP_ERR_OTA_VALIDATE_FAILED 0x1503
typedef enum {
  ESP_OTA_IMG_NEW = 0,
  ESP_OTA_IMG_PENDING_VERIFY = 1,
  ESP_OTA_IMG_VALID = 2,
  ESP_OTA_IMG_INVALID = 3,
  ESP_OTA_IMG_ABORTED = 4,
  ESP_OTA_IMG_UNDEFINED = 0xFFFFFFFF
} esp_ota_img_states_t;
typedef struct {
  uint32_t magic_word, secure_version, reserv1[2];
  char version[32], project_name[32], time[16], date[16], idf_ver[32];
  uint8_t app_elf_sha256[32];
  uint32_t reserv2[20];
} esp_app_desc_t;
const esp_partition_t *esp_ota_get_running_partition(void);
const esp_partition_t *esp_ota_get_boot_partition(void);
const esp_partition_t *esp_ota_get_next_update_partition(const esp_partition_t *start_from);
esp_err_t esp_ota_get_partition_description(const esp_partition_t *p, esp_app_desc_t *description);
esp_err_t esp_ota_get_state_partition(const esp_partition_t *p, esp_ota_img_states_t *state);
esp_err_t esp_ota_set_boot_partition(const esp_partition_t *p);
esp_err_t esp_ota_mark_app_valid_cancel_rollback(void);

// esp_system.h, esp_timer.h
void esp_restart(void);
int64_t esp_timer_get_time(void);

// nvs.h, nvs_flash.h
typedef uint32_t nvs_handle_t;
typedef enum { NVS_READONLY, NVS_READWRITE } nvs_open_mode_t;
#define ESP_ERR_NVS_NOT_INITIALIZED 0x1101
#define ESP_ERR_NVS_NOT_FOUND 0x1102
#define ESP_ERR_NVS_READ_ONLY 0x1104
#define ESP_ERR_NVS_INVALID_LENGTH 0x110C
#define ESP_ERR_NVS_NO_FREE_PAGES 0x110D
#define ESP_ERR_NVS_NEW_VERSION_FOUND 0x1110
esp_err_t nvs_flash_init(void);
esp_err_t nvs_flash_erase(void);
esp_err_t nvs_open(const char *name, nvs_open_mode_t mode, nvs_handle_t *handle);
esp_err_t nvs_get_blob(nvs_handle_t handle, const char *key, void *to, size_t *size);
esp_err_t nvs_set_blob(nvs_handle_t handle, const char *key, const void *from, size_t size);
esp_err_t nvs_commit(nvs_handle_t handle);
void nvs_close(nvs_handle_t handle);

// freertos
typedef void *TaskHandle_t;
typedef void (*TaskFunction_t)(void *);
#define pdTRUE 1
#define pdPASS 1
#define portMAX_DELAY 0xFFFFFFFFu
int xTaskCreate(
    TaskFunction_t code, const char *name, uint32_t stack_size, void *argument,
    unsigned priority, TaskHandle_t *task);
uint32_t ulTaskNotifyTake(int clears, uint32_t ticks);
int xTaskNotifyGive(TaskHandle_t task);

// nimble_npl.h, nimble_port.h, nimble_port_freertos.h
struct ble_npl_event;
typedef void ble_npl_event_fn(struct ble_npl_event *event);
struct ble_npl_event { ble_npl_event_fn *fn; void *arg; bool queued; };
struct ble_npl_eventq { int unused; };
struct ble_npl_callout { struct ble_npl_event event; bool active; uint32_t due; };
void ble_npl_event_init(struct ble_npl_event *event, ble_npl_event_fn *fn, void *arg);
void ble_npl_eventq_put(struct ble_npl_eventq *queue, struct ble_npl_event *event);
int ble_npl_callout_init(
    struct ble_npl_callout *callout, struct ble_npl_eventq *queue, ble_npl_event_fn *fn, void *arg);
int ble_npl_callout_reset(struct ble_npl_callout *callout, uint32_t ticks);
void ble_npl_callout_stop(struct ble_npl_callout *callout);
uint32_t ble_npl_time_ms_to_ticks32(uint32_t ms);
struct ble_npl_eventq *nimble_port_get_dflt_eventq(void);
esp_err_t nimble_port_init(void);
void nimble_port_run(void);
void nimble_port_freertos_init(TaskFunction_t host_task);
void nimble_port_freertos_deinit(void);

// os_mbuf.h, ble_hs_mbuf.h: a chain of two buffers
struct os_mbuf { uint8_t *om_data; uint16_t om_len; struct os_mbuf *next; uint8_t *om_databuf; };
uint16_t os_mbuf_packet_size(const struct os_mbuf *om);
#define OS_MBUF_PKTLEN(om) os_mbuf_packet_size(om)
#define OS_MBUF_LEADINGSPACE(om) ((om)->om_data - (om)->om_databuf)
int os_mbuf_append(struct os_mbuf *om, const void *from, uint16_t size);
struct os_mbuf *ble_hs_mbuf_from_flat(const void *from, uint16_t size);
int ble_hs_mbuf_to_flat(const struct os_mbuf *om, void *to, uint16_t maximum, uint16_t *copied);

// ble_hs.h, ble_hs_id.h, ble_hs_util.h, ble_att.h
#define BLE_HS_FOREVER INT32_MAX
#define BLE_HS_CONN_HANDLE_NONE 0xFFFF
#define BLE_HS_EALREADY 2
#define BLE_HS_EINVAL 3
#define BLE_HS_ENOMEM 6
#define BLE_HS_ENOTCONN 7
#define BLE_HS_EDONE 14
#define BLE_ATT_ERR_REQ_NOT_SUPPORTED 0x06
#define BLE_ATT_ERR_INSUFFICIENT_RES 0x11
#define BLE_ATT_OP_WRITE_REQ 0x12
#define BLE_ATT_OP_WRITE_CMD 0x52
extern struct ble_hs_cfg { void (*sync_cb)(void); } ble_hs_cfg;
int ble_hs_util_ensure_addr(int prefer_random);
int ble_hs_id_infer_auto(int privacy, uint8_t *type);

// ble_uuid.h
#define BLE_UUID_TYPE_128 128
typedef struct { uint8_t type; } ble_uuid_t;
typedef struct { ble_uuid_t u; uint8_t value[16]; } ble_uuid128_t;
#define BLE_UUID128_DECLARE(...) \
  ((ble_uuid_t *)(&(ble_uuid128_t){.u = {.type = BLE_UUID_TYPE_128}, .value = {__VA_ARGS__}}))

// ble_gatt.h
struct ble_gatt_access_ctxt;
typedef int ble_gatt_access_fn(
    uint16_t connection, uint16_t attribute, struct ble_gatt_access_ctxt *context, void *arg);
struct ble_gatt_chr_def {
  const ble_uuid_t *uuid;
  ble_gatt_access_fn *access_cb;
  void *arg;
  void *descriptors;
  uint16_t flags;
  uint8_t min_key_size;
  uint16_t *val_handle;
};
struct ble_gatt_svc_def {
  uint8_t type;
  const ble_uuid_t *uuid;
  const struct ble_gatt_svc_def **includes;
  const struct ble_gatt_chr_def *characteristics;
};
struct ble_gatt_access_ctxt { uint8_t op; struct os_mbuf *om; };
enum { BLE_GATT_SVC_TYPE_PRIMARY = 1 };
enum { BLE_GATT_ACCESS_OP_READ_CHR = 0, BLE_GATT_ACCESS_OP_WRITE_CHR = 1 };
enum {
  BLE_GATT_CHR_F_READ = 0x0002,
  BLE_GATT_CHR_F_WRITE_NO_RSP = 0x0004,
  BLE_GATT_CHR_F_WRITE = 0x0008,
  BLE_GATT_CHR_F_NOTIFY = 0x0010,
  BLE_GATT_CHR_F_INDICATE = 0x0020
};
int ble_gatts_count_cfg(const struct ble_gatt_svc_def *services);
int ble_gatts_add_svcs(const struct ble_gatt_svc_def *services);
int ble_gatts_notify_custom(uint16_t connection, uint16_t value_handle, struct os_mbuf *om);
int ble_gatts_indicate_custom(uint16_t connection, uint16_t value_handle, struct os_mbuf *om);

// ble_gap.h, ble_hs_adv.h
enum {
  BLE_GAP_EVENT_CONNECT = 0,
  BLE_GAP_EVENT_DISCONNECT = 1,
  BLE_GAP_EVENT_NOTIFY_TX = 13,
  BLE_GAP_EVENT_SUBSCRIBE = 14
};
enum { BLE_GAP_SUBSCRIBE_REASON_WRITE = 1, BLE_GAP_SUBSCRIBE_REASON_TERM = 2 };
struct ble_gap_event {
  uint8_t type;
  union {
    struct { int status; uint16_t conn_handle; } connect;
    struct { int reason; struct { uint16_t conn_handle; } conn; } disconnect;
    struct { int status; uint16_t conn_handle, attr_handle; uint8_t indication : 1; } notify_tx;
    struct {
      uint16_t conn_handle, attr_handle;
      uint8_t reason, prev_notify : 1, cur_notify : 1, prev_indicate : 1, cur_indicate : 1;
    } subscribe;
  };
};
typedef int ble_gap_event_fn(struct ble_gap_event *event, void *arg);
struct ble_gap_event_listener { ble_gap_event_fn *fn; void *arg; };
int ble_gap_event_listener_register(
    struct ble_gap_event_listener *listener, ble_gap_event_fn *fn, void *arg);
enum { BLE_GAP_CONN_MODE_UND = 2, BLE_GAP_DISC_MODE_GEN = 2 };
enum { BLE_HS_ADV_F_DISC_GEN = 2, BLE_HS_ADV_F_BREDR_UNSUP = 4 };
struct ble_gap_adv_params { uint8_t conn_mode, disc_mode; uint16_t itvl_min, itvl_max; };
struct ble_hs_adv_fields {
  uint8_t flags;
  const uint8_t *name;
  uint8_t name_len;
  unsigned name_is_complete : 1;
};
int ble_gap_adv_set_fields(const struct ble_hs_adv_fields *fields);
int ble_gap_adv_start(
    uint8_t own_address_type, const void *direct_address, int32_t duration_ms,
    const struct ble_gap_adv_params *params, ble_gap_event_fn *fn, void *arg);

// services
void ble_svc_gap_init(void);
void ble_svc_gatt_init(void);
int ble_svc_gap_device_name_set(const char *name);

#endif

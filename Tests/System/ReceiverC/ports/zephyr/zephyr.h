/// The declarations of Zephyr that the port uses, according to its documentation (4.x). Names,
/// parameters and semantics are Zephyr's; zephyr.c is the implementation.
#ifndef ZEPHYR_STUB_H
#define ZEPHYR_STUB_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

// prj.conf of the example, and the defaults of zephyr/Kconfig
#define CONFIG_BT_DEVICE_NAME "door-01"
#define CONFIG_BT_L2CAP_TX_MTU 247
#define CONFIG_OTAFLASH_HARDWARE_ID 0x0000A001
#define CONFIG_OTAFLASH_PAGE_SIZE 4096
#define CONFIG_OTAFLASH_TRAILER_PAGES 1
#define CONFIG_OTAFLASH_WRITE_ALIGNMENT 4
#define CONFIG_OTAFLASH_ROW_SIZE 256
#define CONFIG_OTAFLASH_RING_SIZE 6144
#define CONFIG_OTAFLASH_DECODE_RATE 66
#if ZEPHYR_STUB_SMP
#define CONFIG_MCUMGR_GRP_IMG 1
#define CONFIG_OTAFLASH_KEEP_PAGES 1
#else
#define CONFIG_OTAFLASH_ERASE_AHEAD 1
#endif

#define ARG_UNUSED(x) (void)(x)
// As in Zephyr: 1 if the option is defined as 1, otherwise 0.
#define IS_ENABLED(option) STUB_IS_ONE(option)
#define STUB_IS_ONE(value) STUB_IS_PAIR(STUB_PAIR_##value)
#define STUB_PAIR_1 unused,
#define STUB_IS_PAIR(pair) STUB_SECOND(pair 1, 0)
#define STUB_SECOND(first, second, ...) second
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#undef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#undef __aligned
#define __aligned(x) __attribute__((aligned(x)))

// kernel.h
typedef struct { int64_t ms; } k_timeout_t;
#define K_NO_WAIT ((k_timeout_t){0})
#define K_FOREVER ((k_timeout_t){-1})
#define K_MSEC(t) ((k_timeout_t){(int64_t)(t)})
#define K_SECONDS(t) K_MSEC((t) * 1000)
#define K_PRIO_PREEMPT(x) (x)

struct k_mutex { int depth; };
#define K_MUTEX_DEFINE(name) struct k_mutex name
int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout);
int k_mutex_unlock(struct k_mutex *mutex);

struct k_work;
typedef void (*k_work_handler_t)(struct k_work *work);
struct k_work { k_work_handler_t handler; bool queued; };
struct k_work_q { bool started, busy; };
struct k_work_delayable {
  struct k_work work;
  struct k_work_q *queue;
  bool scheduled;
  uint32_t due, order;
};
struct k_work_queue_config;
struct k_work_sync { int unused; };
bool k_work_flush(struct k_work *work, struct k_work_sync *sync);
typedef struct { char bytes[1]; } k_thread_stack_t;
#define K_THREAD_STACK_DEFINE(name, size) k_thread_stack_t name[size]
#define K_THREAD_STACK_SIZEOF(name) sizeof(name)
#define K_WORK_DELAYABLE_DEFINE(name, function) \
  struct k_work_delayable name = {.work = {.handler = function}}
void k_work_init(struct k_work *work, k_work_handler_t handler);
void k_work_queue_start(
    struct k_work_q *queue, k_thread_stack_t *stack, size_t stack_size, int priority,
    const struct k_work_queue_config *config);
int k_work_submit_to_queue(struct k_work_q *queue, struct k_work *work);
int k_work_schedule_for_queue(
    struct k_work_q *queue, struct k_work_delayable *work, k_timeout_t delay);
int k_work_reschedule_for_queue(
    struct k_work_q *queue, struct k_work_delayable *work, k_timeout_t delay);
int k_work_schedule(struct k_work_delayable *work, k_timeout_t delay);
uint32_t k_uptime_get_32(void);
int32_t k_msleep(int32_t ms);

// storage/flash_map.h
struct flash_area { uint8_t fa_id; off_t fa_off; size_t fa_size; };
enum { ID_slot0_partition, ID_slot1_partition };
enum { SIZE_slot1_partition = 0x60000 };
#define FIXED_PARTITION_ID(label) ID_##label
#define FIXED_PARTITION_SIZE(label) SIZE_##label
int flash_area_open(uint8_t id, const struct flash_area **area);
int flash_area_read(const struct flash_area *area, off_t offset, void *to, size_t size);
int flash_area_write(const struct flash_area *area, off_t offset, const void *from, size_t size);
int flash_area_erase(const struct flash_area *area, off_t offset, size_t size);

// dfu/mcuboot.h, sys/reboot.h
#define BOOT_UPGRADE_TEST 0
#define BOOT_SWAP_TYPE_NONE 1
#define BOOT_SWAP_TYPE_TEST 2
#define BOOT_SWAP_TYPE_PERM 3
#define BOOT_SWAP_TYPE_REVERT 4
#define SYS_REBOOT_COLD 1
int boot_request_upgrade(int permanent);
bool boot_is_img_confirmed(void);
int mcuboot_swap_type(void);
int boot_write_img_confirmed(void);
void sys_reboot(int type);

// mgmt/mcumgr/mgmt/callbacks.h, mgmt/mcumgr/grp/img_mgmt/img_mgmt.h
enum mgmt_cb_return { MGMT_CB_OK, MGMT_CB_ERROR_RC, MGMT_CB_ERROR_ERR };
#define MGMT_EVT_OP_IMG_MGMT_DFU_CHUNK 0x00030001
typedef enum mgmt_cb_return (*mgmt_cb)(
    uint32_t event, enum mgmt_cb_return prev_status, int32_t *rc, uint16_t *group,
    bool *abort_more, void *data, size_t data_size);
struct mgmt_callback {
  mgmt_cb callback;
  uint32_t event_id;
};
void mgmt_callback_register(struct mgmt_callback *callback);
struct img_mgmt_upload_req { uint32_t image; size_t off, size; };
struct img_mgmt_upload_action;
struct img_mgmt_upload_check {
  struct img_mgmt_upload_action *action;
  struct img_mgmt_upload_req *req;
};
void img_mgmt_reset_upload(void);

// bluetooth/uuid.h
struct bt_uuid { uint8_t type; };
struct bt_uuid_128 { struct bt_uuid uuid; uint8_t val[16]; };
#define BT_UUID_128_ENCODE(w32, w1, w2, w3, w48)                                               \
  (((w48) >> 0) & 0xFF), (((w48) >> 8) & 0xFF), (((w48) >> 16) & 0xFF), (((w48) >> 24) & 0xFF), \
      (((w48) >> 32) & 0xFF), (((w48) >> 40) & 0xFF), ((w3)&0xFF), (((w3) >> 8) & 0xFF),        \
      ((w2)&0xFF), (((w2) >> 8) & 0xFF), ((w1)&0xFF), (((w1) >> 8) & 0xFF), ((w32)&0xFF),       \
      (((w32) >> 8) & 0xFF), (((w32) >> 16) & 0xFF), (((w32) >> 24) & 0xFF)
#define BT_UUID_DECLARE_128(...) \
  ((const struct bt_uuid *)((const struct bt_uuid_128[]){{.uuid = {2}, .val = {__VA_ARGS__}}}))

// bluetooth/bluetooth.h
struct bt_data { uint8_t type; uint8_t data_len; const uint8_t *data; };
#define BT_DATA(t, bytes, length) {.type = (t), .data_len = (length), .data = (const uint8_t *)(bytes)}
#define BT_DATA_BYTES(t, ...) \
  BT_DATA(t, ((uint8_t[]){__VA_ARGS__}), sizeof((uint8_t[]){__VA_ARGS__}))
#define BT_DATA_FLAGS 0x01
#define BT_DATA_NAME_COMPLETE 0x09
#define BT_LE_AD_GENERAL 0x02
#define BT_LE_AD_NO_BREDR 0x04
struct bt_le_adv_param { uint32_t options; };
// Connectable until a connection is created: Zephyr 4 does not resume advertising (zephyr issue
// 72567).
enum { BT_LE_ADV_OPT_CONN = 3 };
#define BT_LE_ADV_CONN_FAST_1 (&(const struct bt_le_adv_param){BT_LE_ADV_OPT_CONN})
typedef void (*bt_ready_cb_t)(int error);
int bt_enable(bt_ready_cb_t ready);
int bt_le_adv_start(
    const struct bt_le_adv_param *param, const struct bt_data *ad, size_t ad_len,
    const struct bt_data *sd, size_t sd_len);

// bluetooth/conn.h
struct bt_conn { int references; };
struct bt_conn *bt_conn_ref(struct bt_conn *conn);
void bt_conn_unref(struct bt_conn *conn);
struct bt_conn_cb {
  void (*connected)(struct bt_conn *conn, uint8_t error);
  void (*disconnected)(struct bt_conn *conn, uint8_t reason);
  void (*recycled)(void);
};
#define BT_CONN_CB_DEFINE(name) const struct bt_conn_cb name

// bluetooth/att.h, bluetooth/gatt.h
#define BT_ATT_ERR_VALUE_NOT_ALLOWED 0x13
#define BT_GATT_ERR(error) (-(error))
enum { BT_GATT_PERM_READ = 1, BT_GATT_PERM_WRITE = 2 };
enum { BT_GATT_WRITE_FLAG_PREPARE = 1, BT_GATT_WRITE_FLAG_CMD = 2 };
#define BT_GATT_CHRC_READ 0x02
#define BT_GATT_CHRC_WRITE_WITHOUT_RESP 0x04
#define BT_GATT_CHRC_WRITE 0x08
#define BT_GATT_CHRC_NOTIFY 0x10
#define BT_GATT_CHRC_INDICATE 0x20
#define BT_GATT_CCC_NOTIFY 0x0001
#define BT_GATT_CCC_INDICATE 0x0002
struct bt_gatt_attr;
typedef ssize_t (*bt_gatt_attr_read_func_t)(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, void *to, uint16_t size,
    uint16_t offset);
typedef ssize_t (*bt_gatt_attr_write_func_t)(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *bytes, uint16_t size,
    uint16_t offset, uint8_t flags);
struct bt_gatt_attr {
  const struct bt_uuid *uuid;
  bt_gatt_attr_read_func_t read;
  bt_gatt_attr_write_func_t write;
  void *user_data;
  uint16_t handle;
  uint16_t perm;
};
struct bt_gatt_service_static { const struct bt_gatt_attr *attrs; size_t attr_count; };
struct bt_gatt_ccc_managed_user_data {
  void (*cfg_changed)(const struct bt_gatt_attr *attr, uint16_t value);
  ssize_t (*cfg_write)(struct bt_conn *conn, const struct bt_gatt_attr *attr, uint16_t value);
};
#define BT_GATT_ATTRIBUTE(u, p, r, w, d) \
  {.uuid = (u), .read = (r), .write = (w), .user_data = (void *)(d), .perm = (p)}
#define BT_GATT_PRIMARY_SERVICE(u) BT_GATT_ATTRIBUTE(NULL, BT_GATT_PERM_READ, NULL, NULL, u)
#define BT_GATT_CHARACTERISTIC(u, props, p, r, w, d)                                   \
  BT_GATT_ATTRIBUTE(NULL, BT_GATT_PERM_READ, NULL, NULL, ((uint8_t[]){(props)})), \
      BT_GATT_ATTRIBUTE(u, p, r, w, d)
#define BT_GATT_CCC_WITH_WRITE_CB(changed, judge, p) \
  BT_GATT_ATTRIBUTE(                                 \
      NULL, p, NULL, NULL, ((struct bt_gatt_ccc_managed_user_data[]){{changed, judge}}))
// In Zephyr, the linker collects the services; here the test finds the service by its name.
#define BT_GATT_SERVICE_DEFINE(name, ...)                     \
  static const struct bt_gatt_attr attr_##name[] = {__VA_ARGS__}; \
  const struct bt_gatt_service_static name = {attr_##name, ARRAY_SIZE(attr_##name)}
ssize_t bt_gatt_attr_read(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, void *to, uint16_t size,
    uint16_t offset, const void *value, uint16_t value_size);
struct bt_gatt_indicate_params;
typedef void (*bt_gatt_indicate_func_t)(
    struct bt_conn *conn, struct bt_gatt_indicate_params *params, uint8_t error);
struct bt_gatt_indicate_params {
  const struct bt_uuid *uuid;
  const struct bt_gatt_attr *attr;
  bt_gatt_indicate_func_t func;
  void (*destroy)(struct bt_gatt_indicate_params *params);
  const void *data;
  uint16_t len;
};
int bt_gatt_indicate(struct bt_conn *conn, struct bt_gatt_indicate_params *params);
int bt_gatt_notify(
    struct bt_conn *conn, const struct bt_gatt_attr *attr, const void *data, uint16_t size);

#endif

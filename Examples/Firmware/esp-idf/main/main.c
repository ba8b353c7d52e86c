/// A minimal application with the OTA service: it advertises, and can be updated.
#include <assert.h>
#include <string.h>

#include "host/ble_hs.h"
#include "host/util/util.h"
#include "nimble/nimble_port.h"
#include "nimble/nimble_port_freertos.h"
#include "nvs_flash.h"
#include "services/gap/ble_svc_gap.h"
#include "services/gatt/ble_svc_gatt.h"

#include "ota.h"

static const char name[] = "door-01";

static void advertise(void);

/// Starts advertising again: a connection ends it.
static int gap_event(struct ble_gap_event *event, void *argument) {
  (void)argument;
  bool has_failed = event->type == BLE_GAP_EVENT_CONNECT && event->connect.status != 0;
  if (has_failed || event->type == BLE_GAP_EVENT_DISCONNECT) advertise();
  return 0;
}

/// The host stack calls this function when it has connected to the controller, also after a reset
/// of the controller.
static void advertise(void) {
  uint8_t address_type;
  struct ble_hs_adv_fields fields = {
      .flags = BLE_HS_ADV_F_DISC_GEN | BLE_HS_ADV_F_BREDR_UNSUP,
      .name = (const uint8_t *)name,
      .name_len = sizeof name - 1,
      .name_is_complete = 1};
  struct ble_gap_adv_params params = {
      .conn_mode = BLE_GAP_CONN_MODE_UND, .disc_mode = BLE_GAP_DISC_MODE_GEN};
  int error = ble_hs_util_ensure_addr(0);
  if (error == 0) error = ble_hs_id_infer_auto(0, &address_type);
  if (error == 0) error = ble_gap_adv_set_fields(&fields);
  if (error == 0)
    error = ble_gap_adv_start(address_type, NULL, BLE_HS_FOREVER, &params, gap_event, NULL);
  // Without advertising, no host finds the device again.
  assert(error == 0 || error == BLE_HS_EALREADY);
}

static void host_task(void *argument) {
  (void)argument;
  nimble_port_run();
  nimble_port_freertos_deinit();
}

void app_main(void) {
  esp_err_t error = nvs_flash_init();
  if (error == ESP_ERR_NVS_NO_FREE_PAGES || error == ESP_ERR_NVS_NEW_VERSION_FOUND) {
    ESP_ERROR_CHECK(nvs_flash_erase());
    error = nvs_flash_init();
  }
  ESP_ERROR_CHECK(error);
  ESP_ERROR_CHECK(nimble_port_init());
  ble_svc_gap_init();
  ble_svc_gatt_init();
  assert(ble_svc_gap_device_name_set(name) == 0);
  ESP_ERROR_CHECK(ota_start());
  ble_hs_cfg.sync_cb = advertise;
  nimble_port_freertos_init(host_task);
}

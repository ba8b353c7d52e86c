/// A minimal application with the OTA service: it advertises, sleeps, and can be updated.
#include <string.h>

#include "app_error.h"
#include "app_scheduler.h"
#include "app_timer.h"
#include "ble_advdata.h"
#include "nrf_ble_gatt.h"
#include "nrf_pwr_mgmt.h"
#include "nrf_sdh.h"
#include "nrf_sdh_ble.h"

#include "ota.h"

enum { CONNECTIONS = 1 };  // the tag of the SoftDevice's configuration

NRF_BLE_GATT_DEF(gatt);  // negotiates ATT_MTU and packet length
static uint8_t advertising = BLE_GAP_ADV_SET_HANDLE_NOT_SET;
static uint8_t encoded[BLE_GAP_ADV_SET_DATA_SIZE_MAX];

static void advertise(void) {
  APP_ERROR_CHECK(sd_ble_gap_adv_start(advertising, CONNECTIONS));
}

static void bluetooth_event(ble_evt_t const *event, void *context) {
  (void)context;
  if (event->header.evt_id == BLE_GAP_EVT_DISCONNECTED) advertise();
}

NRF_SDH_BLE_OBSERVER(main_observer, 3, bluetooth_event, NULL);

static void start_bluetooth(void) {
  uint32_t ram_start = 0;
  APP_ERROR_CHECK(nrf_sdh_enable_request());
  APP_ERROR_CHECK(nrf_sdh_ble_default_cfg_set(CONNECTIONS, &ram_start));
  APP_ERROR_CHECK(nrf_sdh_ble_enable(&ram_start));
  APP_ERROR_CHECK(nrf_ble_gatt_init(&gatt, NULL));
}

static void configure_advertising(void) {
  ble_advdata_t content = {
      .name_type = BLE_ADVDATA_FULL_NAME, .flags = BLE_GAP_ADV_FLAGS_LE_ONLY_GENERAL_DISC_MODE};
  ble_gap_adv_data_t bytes = {.adv_data = {.p_data = encoded, .len = sizeof encoded}};
  APP_ERROR_CHECK(ble_advdata_encode(&content, bytes.adv_data.p_data, &bytes.adv_data.len));
  ble_gap_adv_params_t params = {
      .properties = {.type = BLE_GAP_ADV_TYPE_CONNECTABLE_SCANNABLE_UNDIRECTED},
      .interval = 160,  // 100 ms
      .primary_phy = BLE_GAP_PHY_1MBPS};
  APP_ERROR_CHECK(sd_ble_gap_adv_set_configure(&advertising, &bytes, &params));
}

int main(void) {
  APP_SCHED_INIT(APP_TIMER_SCHED_EVENT_DATA_SIZE, 20);
  APP_ERROR_CHECK(app_timer_init());
  APP_ERROR_CHECK(nrf_pwr_mgmt_init());
  start_bluetooth();
  APP_ERROR_CHECK(ota_start());
  configure_advertising();
  advertise();
  for (;;) {
    do app_sched_execute();
    while (ota_poll());
    nrf_pwr_mgmt_run();
  }
}

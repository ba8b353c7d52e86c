#include <zephyr/bluetooth/bluetooth.h>
#include <zephyr/bluetooth/conn.h>
#include <zephyr/kernel.h>

#include "ota.h"

static const struct bt_data advertisement[] = {
    BT_DATA_BYTES(BT_DATA_FLAGS, BT_LE_AD_GENERAL | BT_LE_AD_NO_BREDR),
    BT_DATA(BT_DATA_NAME_COMPLETE, CONFIG_BT_DEVICE_NAME, sizeof(CONFIG_BT_DEVICE_NAME) - 1),
};

static void advertise(struct k_work *work);
static K_WORK_DELAYABLE_DEFINE(advertising_work, advertise);

/// Advertises until a host connects; Zephyr 4 does not resume advertising after a connection.
static void advertise(struct k_work *work) {
  ARG_UNUSED(work);
  int error =
      bt_le_adv_start(BT_LE_ADV_CONN_FAST_1, advertisement, ARRAY_SIZE(advertisement), NULL, 0);
  // Without advertising, no host finds the device again.
  if (error != 0 && error != -EALREADY) k_work_schedule(&advertising_work, K_SECONDS(1));
}

/// Restarts advertising. In contrast to `disconnected`, the connection object is free again here.
/// Advertising starts on the system work queue, because the lock of the host may be held here.
static void recycled(void) { k_work_schedule(&advertising_work, K_NO_WAIT); }

BT_CONN_CB_DEFINE(advertising_callbacks) = {.recycled = recycled};

int main(void) {
  int error = ota_start();
  if (error == 0) error = bt_enable(NULL);
  if (error == 0) k_work_schedule(&advertising_work, K_NO_WAIT);
  return error;
}

#include <zephyr/bluetooth/bluetooth.h>

#include "ota.h"

static const struct bt_data advertisement[] = {
    BT_DATA_BYTES(BT_DATA_FLAGS, BT_LE_AD_GENERAL | BT_LE_AD_NO_BREDR),
    BT_DATA(BT_DATA_NAME_COMPLETE, CONFIG_BT_DEVICE_NAME, sizeof(CONFIG_BT_DEVICE_NAME) - 1),
};

int main(void) {
  int error = ota_start();
  if (error == 0) error = bt_enable(NULL);
  if (error == 0)
    error = bt_le_adv_start(BT_LE_ADV_CONN_FAST_1, advertisement, ARRAY_SIZE(advertisement), NULL, 0);
  return error;
}

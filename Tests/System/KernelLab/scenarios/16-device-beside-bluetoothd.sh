# The simulated device on an adapter that bluetoothd also uses: Linux accepts both listeners on the
# attribute channel, and hosts reach the one that started last.
# limit: 120
. "$LAB/guest/expect.sh"
image image-3 20003
mkdir -p /run/dbus
dbus-daemon --system --fork --nopidfile
/usr/libexec/bluetooth/bluetoothd -n >bluetoothd 2>&1 &
listens() { grep -qi '^00:aa:01:01:00:01 (1) .* 0x0004 ' /sys/kernel/debug/bluetooth/l2cap; }
within 20 listens || { cat bluetoothd; fail "bluetoothd listens on the attribute channel"; }

device_up --profile fast
[[ $(grep -ci '^00:aa:01:01:00:01 (1) .* 0x0004 ' /sys/kernel/debug/bluetooth/l2cap) = 2 ]] ||
  fail "two listen on the attribute channel"
expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'model +simulated board'
expect 0 otaflash flash image-3 --image-version 1.3.0 --allow-unknown -d "$DEVICE_ADDRESS"
says 'running 1\.3\.0, verified'
flash_holds image-3

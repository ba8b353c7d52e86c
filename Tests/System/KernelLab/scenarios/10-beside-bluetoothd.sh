# Concurrently with bluetoothd: scan and flash work, and a conflict with bluetoothd is explained.
# limit: 450
. "$LAB/guest/expect.sh"
image image-3 20003
mkdir bumble-flash

# The device has its own controller and is started before bluetoothd, because bluetoothd opens every
# adapter.
hciconfig hci1 down
"$BUMBLE" "$LAB/peers/ota_device.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/bumble-flash" >peer 2>&1 &
within 60 grep -q '^advertising' peer || { cat peer; fail "the Bumble device advertises"; }

mkdir -p /run/dbus
dbus-daemon --system --fork --nopidfile
/usr/libexec/bluetooth/bluetoothd -n >bluetoothd 2>&1 &
control() { timeout 20 bluetoothctl "$@" </dev/null 2>&1 | sed 's/\x1b\[[0-9;]*m//g'; }
knows_adapter() { control list | grep -q 'Controller 00:AA:01:00:00:00'; }
within 20 knows_adapter || { cat bluetoothd; fail "bluetoothd has the adapter"; }

echo "== no conflict: everything works"
expect 0 otaflash doctor
says 'bluetoothd +bluetoothd is running'
discovered() { try otaflash scan --timeout 3s && grep -q "$DEVICE_ADDRESS" out; }
within 20 discovered || fail "scan finds the device"
expect 0 otaflash flash image-3 --image-version 1.3.0 --allow-unknown --mode without-response \
  -d "$DEVICE_ADDRESS"
says 'running 1\.3\.0, verified'
cmp image-3 bumble-flash/image || fail "the device has image-3 byte for byte"

echo "== bluetoothd holds the link: the printed remedy frees it"
# bluetoothd connects only to devices that it has discovered.
link_ends
is_found() { control --timeout 4 scan on | grep -q "$DEVICE_ADDRESS" || control devices | grep -q "$DEVICE_ADDRESS"; }
within 20 is_found || fail "bluetoothd discovers the device"
control --timeout 10 connect "$DEVICE_ADDRESS"
hcitool -i hci0 con
expect 69 otaflash --timeout 4s info -d "$DEVICE_ADDRESS"
says 'error\[E-DEVICE-BUSY\]'
says 'Another program, usually bluetoothd, holds the link'
remedy=$(sed -n 's/.*Run `bluetoothctl \([^`]*\)`.*/\1/p' out)
echo "remedy: bluetoothctl $remedy"
# shellcheck disable=SC2086
control --timeout 5 $remedy
within 10 grep -q '^advertising' peer
expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +1\.3\.0'

echo "== bluetoothd discovers: a second discovery is refused, a link is not"
link_ends
stdbuf -oL bluetoothctl --timeout 60 scan on >discovery 2>&1 </dev/null &
discovering=$!
within 10 grep -q 'Discovery started' discovery
expect 69 otaflash scan --timeout 3s
says 'error\[E-NO-ADAPTER\]: the adapter is in use'
says 'Another program is scanning'
expect 0 otaflash info -d "$DEVICE_ADDRESS"
kill "$discovering"
wait "$discovering" || true
within 20 discovered || fail "scan works again after the end of bluetoothd's discovery"

echo "== bluetoothd listens on the attribute channel: simulate reports this, or the kernel accepts both"
# Linux 6.12 accepts both listeners (bind does not check for another listener on a fixed channel).
try timeout 6 "$OTAFLASH" --adapter hci0 simulate
case $status in
  124) says '^listening 00:AA:01:00:00:00' ;;
  69)
    says 'error\[E-DEVICE-BUSY\]'
    says 'listens on the attribute channel'
    says 'systemctl stop bluetooth'
    ;;
  *) fail "the peripheral listens, or ends with 69" ;;
esac

# Errors of the kernel are explained, with a remedy and the exit code of the command line.
# limit: 300
. "$LAB/guest/expect.sh"
image image-3 90000
flash() {
  otaflash --timeout 4s flash image-3 --image-version 1.3.0 --allow-unknown -d "$DEVICE_ADDRESS" "$@"
}

echo "== no such adapter"
expect 69 "$OTAFLASH" --adapter hci7 info -d "$DEVICE_ADDRESS"
says 'error\[E-NO-ADAPTER\]'
says 'btmgmt info'

echo "== no device advertises"
expect 69 otaflash --timeout 3s info -d "$DEVICE_ADDRESS"
says 'error\[E-DEVICE-NOT-FOUND\]'
says 'did not advertise within the time limit'
says 'otaflash scan'

device_up
echo "== the address is of the other type"
expect 69 otaflash --timeout 3s info -d "$DEVICE_ADDRESS/random"
says 'error\[E-DEVICE-NOT-FOUND\]'
says '/public'

echo "== no capability: scanning is refused, a device is reached by its address"
unprivileged=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all
  env "XDG_STATE_HOME=$WORK/other" "XDG_RUNTIME_DIR=$WORK/other" "$OTAFLASH")
mkdir other && chmod 777 . other
expect 77 "${unprivileged[@]}" scan --timeout 2s
says 'setcap cap_net_raw,cap_net_admin\+ep'
expect 0 "${unprivileged[@]}" info -d "$DEVICE_ADDRESS"
says 'running +1\.2\.0'

echo "== another process holds the link"
gatttool -i hci0 -b "$DEVICE_ADDRESS" --char-read --listen -a 0x0003 >gatttool 2>&1 &
holder=$!
within 10 grep -q 'value' gatttool
expect 69 otaflash --timeout 3s info -d "$DEVICE_ADDRESS"
says 'error\[E-(DEVICE-)?BUSY\]'
says 'bluetoothctl disconnect'
kill "$holder"
link_ends

echo "== the adapter is off"
mgmt 0 power off
expect 69 otaflash info -d "$DEVICE_ADDRESS"
says 'btmgmt power on'
expect 69 otaflash scan --timeout 2s
says 'switched off'
expect 69 otaflash doctor
says 'hci0 .* is off'
mgmt 0 power on

echo "== the device vanishes permanently in the middle"
flash --json --time-limit 15s >events 2>&1 </dev/null &
flasher=$!
within 30 grep -q '"done":[1-9]' events
kill -KILL "$device"
status=0
wait "$flasher" || status=$?
tail -n 3 events
[[ $status = 75 ]] || fail "a lost device with a resume point is exit 75, not $status"

echo "== no adapter at all"
air_down
expect 69 "$OTAFLASH" info -d "$DEVICE_ADDRESS"
says 'error\[E-NO-ADAPTER\]'

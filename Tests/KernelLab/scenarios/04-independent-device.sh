# An OTA device that was written from docs/ota-service.md alone, on Bumble: flash and resume.
# limit: 240
. "$LAB/guest/expect.sh"
image image-3 30000
image image-4 60000
mkdir bumble-flash

peer_up() {
  : >peer
  hciconfig hci1 down
  "$BUMBLE" "$LAB/peers/ota_device.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/bumble-flash" \
    >>peer 2>&1 &
  device=$!
  within 60 grep -q '^advertising' peer || { cat peer; fail "the Bumble device advertises"; }
}

flash() { otaflash flash "$@" --allow-unknown -d "$DEVICE_ADDRESS"; }

peer_up
expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +1\.2\.0'
says '2f3e0004-21b4-4807-8bdc-74db56699529'
expect 0 flash image-3 --image-version 1.3.0 --mode without-response
says 'running 1\.3\.0, verified'
cmp image-3 bumble-flash/image || fail "the device has image-3 byte for byte"

echo "== the device is killed in the middle, and goes on from what was durable"
"$OTAFLASH" --adapter hci0 --json flash image-4 --image-version 1.4.0 --allow-unknown --mtu 185 \
  -d "$DEVICE_ADDRESS" >events 2>&1 </dev/null &
flasher=$!
within 30 grep -qE '"done":[1-9][0-9]{4}' events
kill -KILL "$flasher"
wait "$flasher" || true
# A virtual controller that is reset with a link up leaves its peer's end hanging; the kernel ends
# the link of a dead process after 2 s.
sleep 4
kill -KILL "$device"
wait "$device" || true
peer_up
expect 0 otaflash --json flash image-4 --image-version 1.4.0 --allow-unknown -d "$DEVICE_ADDRESS"
says '"resumed":true'
cmp image-4 bumble-flash/image || { cat peer; fail "the device has image-4 byte for byte"; }

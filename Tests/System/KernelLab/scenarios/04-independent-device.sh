# An OTA device written only from docs/ota-service.md, on Bumble: flash and resume.
# limit: 300
. "$LAB/guest/expect.sh"
readonly PAGE=4096
image image-3 30000
image image-4 50000
image image-5 70000
mkdir bumble-flash
head -c 32 /dev/zero | tr '\0' k >key
chmod 600 key

# peer_up [OPTIONS...]: starts the Bumble device, with its flash and images in ./bumble-flash.
peer_up() {
  : >peer
  hciconfig hci1 down
  "$BUMBLE" "$LAB/peers/ota_device.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/bumble-flash" "$@" \
    >>peer 2>&1 &
  device=$!
  within 60 grep -q '^advertising' peer || { cat peer; fail "the Bumble device advertises"; }
}

# flash MINOR OPTIONS...: flashes image-MINOR as version 1.MINOR.0. EXEC=exec replaces the shell.
flash() {
  local minor=$1
  shift
  # shellcheck disable=SC2086  # no word if empty
  ${EXEC:-} "$OTAFLASH" --adapter hci0 --json flash "image-$minor" --image-version "1.$minor.0" --allow-unknown \
    -d "$DEVICE_ADDRESS" "$@"
}

device_runs() {
  cmp "image-$1" bumble-flash/image || { cat peer; fail "the device has image-$1 byte for byte"; }
}

# kill_flasher MINOR OPTIONS...: kills an update after some progress; $acknowledged contains the
# progress.
kill_flasher() {
  EXEC="exec" flash "$@" >events 2>&1 </dev/null &
  flasher=$!
  within 30 grep -qE '"done":[1-9][0-9]{4}' events || { cat events; fail "the update makes progress"; }
  kill -KILL "$flasher"
  wait "$flasher" || true
  acknowledged=$(sed -n 's/.*"task_progress".*"done":\([0-9]*\).*/\1/p' events | tail -n 1)
  link_ends
}

# Prints the offset at which the update in ./out resumed.
offset() { sed -n 's/.*"task":"upload".*"offset":\([0-9]*\),"resumed":true.*/\1/p' out | head -n 1; }

peer_up
expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +1\.2\.0'
says '2f3e0004-21b4-4807-8bdc-74db56699529'
link_ends
expect 0 flash 3 --mode without-response
says '"outcome":"flashed".*"to":"1\.3\.0","verified":true'
device_runs 3

echo "== the host is killed: no acknowledged data is sent again"
kill_flasher 4 --mode without-response
expect 0 flash 4 --mode without-response
(($(offset) >= acknowledged)) || fail "resumes at $acknowledged or later"
device_runs 4

echo "== host and device are killed: the update resumes at the durable offset, now with a key"
kill_flasher 5 --mode with-response --mtu 185
kill -KILL "$device"
wait "$device" || true
peer_up --key-file key
expect 77 flash 5 --mode with-response
expect 0 flash 5 --mode with-response --key-file key
(($(offset) > 0 && $(offset) % PAGE == 0)) || fail "resumes at a durable page"
device_runs 5

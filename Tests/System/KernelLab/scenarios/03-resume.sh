# An interrupted update resumes at its offset, and ends with the new version verified.
# limit: 300
. "$LAB/guest/expect.sh"
readonly BYTES=80000
# The complete image is sent one write at a time, so that there is time to interrupt the update.
readonly SLOWLY=(--mode with-response --delta never)
device_up --profile 'plain?erase=100ms'

# start MINOR: starts an update to version 1.MINOR.0, and returns when a fifth of the image is
# acknowledged.
start() {
  minor=$1
  image "image-$minor" "$((BYTES + minor))"
  "$OTAFLASH" --adapter hci0 --timeout 6s --json flash "image-$minor" --image-version "1.$minor.0" \
    --allow-unknown "${SLOWLY[@]}" -d "$DEVICE_ADDRESS" >events 2>&1 </dev/null &
  flasher=$!
  within 30 acknowledged "$((BYTES / 5))" || { cat events; fail "the update makes progress"; }
}

acknowledged() {
  sed -n 's/.*"task_progress".*"done":\([0-9]*\).*/\1/p' events | tail -n 1 |
    awk -v least="$1" '$1 >= least { found = 1 } END { exit !found }'
}

# Waits for the end of the running update. If it was killed or ended with a resume point, resumes it
# with the same command.
finish() {
  status=0
  wait "$flasher" || status=$?
  grep -E '"type":"(link|error|result)"' events | sed 's/^/  /' || true
  case $status in
    0) grep -q '"resumes":[1-9]' events || fail "the update resumed automatically after a loss" ;;
    75 | 137) expect 0 otaflash --timeout 6s --json flash "image-$minor" --image-version "1.$minor.0" \
      --allow-unknown "${SLOWLY[@]}" -d "$DEVICE_ADDRESS"
      says '"resumed":true' ;;
    *) cat events; fail "the update ends with 0, or with 75 and a resume point, not $status" ;;
  esac
  expect 0 otaflash info -d "$DEVICE_ADDRESS"
  says "running +1\.$minor\.0"
  flash_holds "image-$minor"
}

echo "== the flasher is killed"
start 3
kill -KILL "$flasher"
finish

echo "== the device is killed and restarted"
start 4
kill -KILL "$device"
wait "$device" || true
device_up --profile 'plain?erase=100ms'
finish

echo "== the adapter is switched off and on"
start 5
mgmt 0 power off
sleep 1
mgmt 0 power on
finish

echo "== the link is lost by supervision timeout"
start 6
# A virtual controller passes on the reason of the disconnection, so the kernel receives HCI error
# 0x08.
handle=$(hcitool -i hci1 con | sed -n 's/.*handle \([0-9]*\).*/\1/p')
hcitool -i hci1 cmd 0x01 0x0006 "$(printf '0x%02x' "$((handle & 255))")" \
  "$(printf '0x%02x' "$((handle >> 8))")" 0x08
finish
grep -q 'supervision timeout' events || fail "the reported reason is a supervision timeout"

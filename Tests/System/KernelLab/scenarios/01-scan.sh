# scan filters advertisers by name, by service and by strength, and ends at its time limit or by a signal.
# limit: 300
. "$LAB/guest/expect.sh"
readonly SERVICE=2f3e0001-21b4-4807-8bdc-74db56699529
device_up --name lab-device

# A virtual controller reports an advertiser once per scan, at its start, and a kernel that has not yet
# noted the start of the discovery drops the report. A real radio would repeat it.
finds() {
  local pattern=$1 tries=3
  shift
  until expect 0 otaflash scan --timeout 2s "$@" && grep -qE -- "$pattern" out; do
    ((--tries > 0)) || fail "a scan finds '$pattern'"
  done
}

finds "$DEVICE_ADDRESS .*lab-device .*otaflash"
finds "$DEVICE_ADDRESS" --name '^lab-d'
finds "$DEVICE_ADDRESS" --service "$SERVICE"
# Virtual controllers report an unknown strength (127), which the kernel's filter never passes.
expect 0 otaflash scan --timeout 1s --rssi -90
says 'no device found'
expect 0 otaflash scan --timeout 1s --name other
says 'no device found'
expect 0 otaflash scan --timeout 1s --service 180D
says 'no device found'

# The command keeps its time limit, and the discovery ends with the command.
started=$(date +%s%N)
expect 0 otaflash scan --timeout 2s --name other
took=$((($(date +%s%N) - started) / 1000000))
((took < 8000)) || fail "2 s of scanning take less than 8 s, start of the program included; took $took ms"

# Ctrl-C: the signal ends the scan, the discovery stops, and the next scan works immediately.
# Background jobs of a shell ignore SIGINT by default.
env --default-signal=INT "$OTAFLASH" -v --adapter hci0 scan --watch --timeout 60s >watch 2>&1 &
scanner=$!
within 10 grep -q scanning watch
sleep 1
kill -INT "$scanner"
status=0
wait "$scanner" || status=$?
[[ $status = 130 ]] || { cat watch; fail "an interrupted scan ends by SIGINT, not with $status"; }
finds lab-device

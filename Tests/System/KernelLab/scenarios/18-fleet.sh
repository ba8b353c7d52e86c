# Eight devices, updated by one campaign over two adapters, one of which is switched off in the middle.
# limit: 120
# controllers: 10
. "$LAB/guest/expect.sh"
readonly DEVICES=8
# hci0 and the last controller belong to the host.
readonly OTHER=hci9

addresses=()
for ((number = 1; number <= DEVICES; number++)); do
  "$OTAFLASH" simulate --adapter "hci$number" --profile fast --flash-file "flash-$number" \
    >"device-$number" 2>&1 &
  addresses+=("$(printf '00:AA:01:%02X:00:%02X' "$number" "$number")")
done
for ((number = 1; number <= DEVICES; number++)); do
  within 30 grep -q "^listening ${addresses[number - 1]}" "device-$number" ||
    { cat "device-$number"; fail "device $number listens"; }
done

# The image is so large, and the packets so small, that links exist when the adapter is switched
# off.
cp "$LAB/../../../firmware-samples/app-1.3.0.bin" image-3
{
  printf '%s\n' 'campaign: eight doors' 'image: image-3' 'devices:'
  printf '  - "%s"\n' "${addresses[@]}"
  printf '%s\n' 'retries: {link: 3, first-delay: 1s, longest-delay: 2s}' 'parallel: 2' \
    'flash: {mtu: 64}'
} >campaign.yaml

# Prints how often the run has reported a pattern.
reported() { grep -cE -- "$1" events || true; }
# Checks that both adapters have links, and that data was sent over them.
is_under_way() {
  local adapter
  for adapter in hci0 "$OTHER"; do
    grep -q "\"event\":\"placed\".*\"adapter\":\"$adapter\"" events &&
      hcitool -i "$adapter" con | grep -q handle || return 1
  done
  (($(reported '"type":"task_progress","task":"upload"') > 8))
}

echo "== one run, two adapters, one of which vanishes"
started=$(date +%s%N)
"$OTAFLASH" --json fleet run --adapters "hci0,$OTHER" campaign.yaml >events 2>messages &
run=$!
within 60 is_under_way || { cat messages events; fail "the run uses both adapters"; }
mgmt 9 power off
within 20 grep -q "\"event\":\"lost\",\"adapter\":\"$OTHER\"" events ||
  { cat messages; fail "the run reports that $OTHER vanished"; }
# The other adapter continues one of its devices after it has finished its own devices.
has_moved() {
  local device
  for device in $(sed -n 's/.*"event":"ended","device":"\([^"]*\)".*"code":"adapter-lost".*/\1/p' events); do
    grep -q "\"event\":\"placed\",\"device\":\"$device\",.*\"adapter\":\"hci0\"" events && return
  done
  return 1
}
within 60 has_moved || { cat messages events; fail "hci0 continues a device of $OTHER"; }
mgmt 9 power on
within 20 grep -q "\"event\":\"back\",\"adapter\":\"$OTHER\"" events ||
  { cat messages; fail "the run reports that $OTHER is back"; }
status=0
wait "$run" || status=$?
sed 's/^/  /' messages
# The events of the run, without the progress events of each device.
grep -E '"event":"(placed|ended|settled|lost|back)"' events | sed 's/^/  /'
took=$((($(date +%s%N) - started) / 1000000))
[[ $status = 0 ]] || { tail -n 5 events; fail "exit 0, not $status"; }

[[ $(reported '"event":"settled".*"outcome":"flashed"') = "$DEVICES" ]] || fail "each device is flashed"
[[ $(reported '"event":"ended".*"outcome":"failed"') = 0 ]] || fail "a vanished adapter is not a failure"
grep -q '"event":"paused"' events && fail "the run continues with one adapter"
for ((number = 1; number <= DEVICES; number++)); do flash_holds image-3 "flash-$number"; done
expect 0 "$OTAFLASH" fleet report --verify
says 'unchanged; the last has the hash'
link_ends
for address in "${addresses[@]}"; do
  expect 0 otaflash info -d "$address"
  says 'running +1\.3\.0'
done
figure "one run $took ms, $(reported '"code":"adapter-lost"') devices moved"

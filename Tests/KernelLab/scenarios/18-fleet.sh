# Eight devices, updated by one campaign over two adapters, of which one is switched off in the middle.
# limit: 120
# controllers: 10
. "$LAB/guest/expect.sh"
readonly DEVICES=8
# hci0 and the last one are the host's.
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

# Large enough, in small packets, that links stand when the adapter is switched off.
cp "$LAB/../../firmware-samples/app-1.3.0.bin" image-3
{
  printf '%s\n' 'campaign: eight doors' 'image: image-3' 'devices:'
  printf '  - "%s"\n' "${addresses[@]}"
  printf '%s\n' 'retries: {link: 3, first-delay: 1s, longest-delay: 2s}' 'parallel: 2' \
    'flash: {mtu: 64}'
} >campaign.yaml

# How often the run has told of something.
told() { grep -cE -- "$1" events || true; }
# Links stand on both adapters, and data has gone over them.
is_under_way() {
  local adapter
  for adapter in hci0 "$OTHER"; do
    grep -q "\"event\":\"placed\".*\"adapter\":\"$adapter\"" events &&
      hcitool -i "$adapter" con | grep -q handle || return 1
  done
  (($(told '"type":"task_progress","task":"upload"') > 8))
}

echo "== one run, two adapters, and one of them goes"
started=$(date +%s%N)
"$OTAFLASH" --json fleet run --adapters "hci0,$OTHER" campaign.yaml >events 2>words &
run=$!
within 60 is_under_way || { cat words events; fail "the run is under way on both adapters"; }
mgmt 9 power off
within 20 grep -q "\"event\":\"lost\",\"adapter\":\"$OTHER\"" events ||
  { cat words; fail "the run tells that $OTHER is gone"; }
# One that it had is taken up by the other adapter, which had its own devices to finish first.
has_moved() {
  local device
  for device in $(sed -n 's/.*"event":"ended","device":"\([^"]*\)".*"code":"adapter-lost".*/\1/p' events); do
    grep -q "\"event\":\"placed\",\"device\":\"$device\",.*\"adapter\":\"hci0\"" events && return
  done
  return 1
}
within 60 has_moved || { cat words events; fail "a device of $OTHER is taken up by hci0"; }
mgmt 9 power on
within 20 grep -q "\"event\":\"back\",\"adapter\":\"$OTHER\"" events ||
  { cat words; fail "the run tells that $OTHER is back"; }
status=0
wait "$run" || status=$?
sed 's/^/  /' words
# What the run told, without each device's progress.
grep -E '"event":"(placed|ended|settled|lost|back)"' events | sed 's/^/  /'
took=$((($(date +%s%N) - started) / 1000000))
[[ $status = 0 ]] || { tail -n 5 events; fail "exit 0, not $status"; }

[[ $(told '"event":"settled".*"outcome":"flashed"') = "$DEVICES" ]] || fail "each device is flashed"
[[ $(told '"event":"ended".*"outcome":"failed"') = 0 ]] || fail "an adapter that goes is no failure"
grep -q '"event":"paused"' events && fail "one adapter is enough to go on"
for ((number = 1; number <= DEVICES; number++)); do flash_holds image-3 "flash-$number"; done
expect 0 "$OTAFLASH" fleet report --verify
says 'none changed'
link_ends
for address in "${addresses[@]}"; do
  expect 0 otaflash info -d "$address"
  says 'running +1\.3\.0'
done
figure "one run $took ms, $(told '"code":"adapter-lost"') devices moved"

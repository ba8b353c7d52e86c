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

# Large enough that links stand when the adapter is switched off.
image image-4 120004
{
  printf '%s\n' 'campaign: eight doors' 'image: image-4' 'devices:'
  printf '  - "%s"\n' "${addresses[@]}"
  printf '%s\n' 'retries: {link: 3, first-delay: 1s, longest-delay: 2s}' 'parallel: 4' \
    'flash: {allow-unknown: true}'
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
sleep 3
mgmt 9 power on
status=0
wait "$run" || status=$?
sed 's/^/  /' words
grep -E '"event":"(placed|ended|settled|lost|back)"' events | sed 's/^/  /'
took=$((($(date +%s%N) - started) / 1000000))
[[ $status = 0 ]] || { tail -n 5 events; fail "exit 0, not $status"; }

[[ $(told '"event":"settled".*"outcome":"flashed"') = "$DEVICES" ]] || fail "each device is flashed"
[[ $(told '"event":"ended".*"outcome":"failed"') = 0 ]] || fail "an adapter that goes is no failure"
(($(told '"event":"ended".*"code":"adapter-lost"') > 0)) || fail "$OTHER had devices when it went"
# shellcheck disable=SC2010
for ((number = 1; number <= DEVICES; number++)); do flash_holds image-4 "flash-$number"; done
expect 0 "$OTAFLASH" fleet report --verify
says 'none changed'
link_ends
for address in "${addresses[@]}"; do
  expect 0 otaflash info -d "$address"
  says 'running'
done
figure "one run $took ms, $(told '"code":"adapter-lost"') devices moved"

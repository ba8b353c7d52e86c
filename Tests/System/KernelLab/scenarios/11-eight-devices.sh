# Eight devices at the same time from one adapter: one process each, then one process for all.
# limit: 300
# controllers: 9
. "$LAB/guest/expect.sh"
readonly DEVICES=8
# The address that btvirt gives to hci0.
readonly ADAPTER_ADDRESS=00:AA:01:00:00:00

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

each_flash_holds() {
  for ((number = 1; number <= DEVICES; number++)); do flash_holds "$1" "flash-$number"; done
}

# Records the number of links of hci0 repeatedly, until links_end is called; $links is then the
# maximum.
links_begin() {
  : >links
  while hcitool -i hci0 con | grep -c handle >>links || true; do sleep 0.1; done &
  watcher=$!
}
links_end() {
  kill "$watcher"
  wait "$watcher" || true
  links=$(sort -n links | tail -n 1)
}

echo "== a process for each device"
image image-3 20003
started=$(date +%s%N)
links_begin
try env OTAFLASH="$OTAFLASH" OTAFLASH_ADAPTER=hci0 "$LAB/../../../Examples/fleet-update.sh" \
  -j "$DEVICES" -o streams image-3 "${addresses[@]}" -- --image-version 1.3.0 --allow-unknown
links_end
grep -h '"type":"error"' streams/* || true
[[ $status = 0 ]] || fail "exit 0"
says "$DEVICES of $DEVICES devices done"
[[ $(grep -c ' flashed .* 1\.3\.0 ' out) = "$DEVICES" ]] || fail "each device runs 1.3.0"
[[ $(grep -l '"to":"1\.3\.0","verified":true' streams/* | wc -l) = "$DEVICES" ]] ||
  fail "each device reports 1.3.0 after the update"
each_flash_holds image-3
first=$((($(date +%s%N) - started) / 1000000))
figure "$DEVICES processes $first ms, $links concurrent links"

echo "== one process, with a link to each device"
# The image is so large that the first link still exists when the last one starts.
image image-4 80004
link_ends
started=$(date +%s%N)
links_begin
expect 0 "$FLEET_FLASH" image-4 1.4.0 "$ADAPTER_ADDRESS" "${addresses[@]}"
links_end
[[ $(grep -c '1\.3\.0 -> 1\.4\.0, verified' out) = "$DEVICES" ]] || fail "each device runs 1.4.0"
((links == DEVICES)) || fail "there were $DEVICES concurrent links, not $links"
each_flash_holds image-4
second=$((($(date +%s%N) - started) / 1000000))
figure "one process $second ms, $links concurrent links"

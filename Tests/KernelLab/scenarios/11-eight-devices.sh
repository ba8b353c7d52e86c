# Eight devices at once from one adapter: one process each, then one process for all.
# limit: 240
# controllers: 9
. "$LAB/guest/expect.sh"
readonly DEVICES=8
# What btvirt calls hci0.
readonly ADAPTER_ADDRESS=00:AA:01:00:00:00
image image-3 6003
image image-4 6004

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

echo "== a process for each device"
started=$(date +%s%N)
try env OTAFLASH="$OTAFLASH" OTAFLASH_ADAPTER=hci0 "$LAB/../../Examples/fleet-update.sh" \
  -j "$DEVICES" -o streams image-3 "${addresses[@]}" -- --image-version 1.3.0 --allow-unknown
grep -h '"type":"error"' streams/* || true
[[ $status = 0 ]] || fail "exit 0"
says "$DEVICES of $DEVICES devices done"
[[ $(grep -c ' flashed .* 1\.3\.0 ' out) = "$DEVICES" ]] || fail "each device runs 1.3.0"
each_flash_holds image-3
first=$((($(date +%s%N) - started) / 1000000))

echo "== one process, with a link to each device"
started=$(date +%s%N)
expect 0 "$FLEET_FLASH" image-4 1.4.0 "$ADAPTER_ADDRESS" "${addresses[@]}"
[[ $(grep -c '1\.3\.0 -> 1\.4\.0, verified' out) = "$DEVICES" ]] || fail "each device runs 1.4.0"
each_flash_holds image-4
second=$((($(date +%s%N) - started) / 1000000))
figure "$DEVICES devices: $DEVICES processes $first ms, one process $second ms"

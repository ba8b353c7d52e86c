# The throughput over the kernel, compared with Bumble as a client: the same writes to the same device.
# limit: 150
. "$LAB/guest/expect.sh"
readonly BYTES=24000
# The address that btvirt gives to hci0.
readonly ADAPTER_ADDRESS=00:AA:01:00:00:00
device_up --profile fast

expect 0 otaflash bench -d "$DEVICE_ADDRESS" --mtu 247,512 --repeat 1 --size "$BYTES" --json
# MODE MTU CHUNK BYTES_PER_SECOND
sed -n 's/.*"mode":"\([^"]*\)","mtu":\([0-9]*\),.*"chunk":\([0-9]*\),.*"median_bytes_per_second":\([0-9]*\).*/\1 \2 \3 \4/p' \
  out >ours
[[ $(wc -l <ours) = 4 ]] || fail "four settings are measured"
says_not '"effective_mtu":23'

link_ends
hciconfig hci0 down
# shellcheck disable=SC2046
expect 0 "$BUMBLE" "$LAB/peers/ota_writer.py" hci-socket:0 "$ADAPTER_ADDRESS" "$DEVICE_ADDRESS" \
  "$BYTES" $(awk '{ print $1 "/" $2 "/" $3 }' ours)
cp out theirs
[[ $(wc -l <theirs) = 4 ]] || fail "Bumble measures the same four"

while read -r mode mtu _ rate; do
  other=$(awk -v mode="$mode" -v mtu="$mtu" '$1 == mode && $2 == mtu { print $3 }' theirs)
  # A host stack in the kernel and a compiled program must not be slower than an interpreted one.
  ((rate > other)) || fail "$mode at $mtu: $rate B/s, and Bumble $other B/s"
  figure "$mtu $mode $(awk -v a="$rate" -v b="$other" \
    'BEGIN { printf "%.0f kB/s, %.1f x Bumble", a / 1000, a / b }')"
done <ours

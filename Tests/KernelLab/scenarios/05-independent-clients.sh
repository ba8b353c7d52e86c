# gatttool and Bumble see exactly the table that our GATT server declares.
# limit: 150
. "$LAB/guest/expect.sh"
device_up --profile fast
gatt() { gatttool -i hci0 -b "$DEVICE_ADDRESS" "$@"; }

cat >services <<'END'
attr handle = 0x0001, end grp handle = 0x0005 uuid: 00001800-0000-1000-8000-00805f9b34fb
attr handle = 0x0006, end grp handle = 0x0012 uuid: 0000180a-0000-1000-8000-00805f9b34fb
attr handle = 0x0013, end grp handle = 0x001b uuid: 2f3e0001-21b4-4807-8bdc-74db56699529
END
expect 0 gatt --primary
sed 's/ *$//' out | diff services - || fail "gatttool finds the three services"

# Properties: Control write 08 + indicate 20, Data write 08 + command 04, Status read 02 + notify 10.
cat >characteristics <<'END'
0x28 0x0015 2f3e0002-21b4-4807-8bdc-74db56699529
0x0c 0x0018 2f3e0003-21b4-4807-8bdc-74db56699529
0x12 0x001a 2f3e0004-21b4-4807-8bdc-74db56699529
END
expect 0 gatt --characteristics --start 0x0013 --end 0x001b
sed -n 's/.*char properties = \(0x..\), char value handle = \(0x....\), uuid = \(.*\)/\1 \2 \3/p' out |
  sed 's/ *$//' | diff characteristics - || fail "gatttool finds the three characteristics"

expect 0 gatt --char-desc --start 0x0013 --end 0x001b
[[ $(grep -c '00002902' out) = 2 ]] || fail "Control and Status have a CCCD each"

# The model number, and Status of an idle device.
expect 0 gatt --char-read --uuid 2a24
says '73 69 6d 75 6c 61 74 65 64 20 62 6f 61 72 64'
expect 0 gatt --char-read --handle 0x001a
says 'descriptor: 00( 00){15}'

echo "== a request without the CCCD is refused, with it there is an indication"
try gatt --char-write-req --handle 0x0015 --value 0101
says 'Characteristic Write Request failed'
# gatttool writes one handle a run and stays for what comes: the CCCD, then listens.
gatt --char-write-req --handle 0x0016 --value 0200 --listen >listening 2>&1 &
listener=$!
within 10 grep -q 'written successfully' listening || { cat listening; fail "the CCCD is written"; }
kill "$listener"
wait "$listener" || true

echo "== Bumble reads the same table"
sleep 3
hciconfig hci0 down
try timeout 90 "${BUMBLE%/*}/bumble-gatt-dump" hci-socket:0 "$DEVICE_ADDRESS/P"
grep -iq '2f3e0004-21b4-4807-8bdc-74db56699529' out || fail "Bumble finds Status"
for uuid in 1 2 3; do
  grep -iq "2f3e000$uuid-21b4-4807-8bdc-74db56699529" out || fail "Bumble finds 2f3e000$uuid"
done

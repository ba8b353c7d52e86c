# gatttool, BlueZ's btgatt-client and Bumble see exactly the table and the PDUs of the simulated GATT server;
# and otaflash supports a device that requests the MTU and then disconnects.
# limit: 200
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

# The values are the model number, and Status of an idle device.
expect 0 gatt --char-read --uuid 2a24
says '73 69 6d 75 6c 61 74 65 64 20 62 6f 61 72 64'
expect 0 gatt --char-read --handle 0x001a
says 'descriptor: 00( 00){15}'

echo "== a request without the CCCD is refused"
expect 0 gatt --char-write-req --handle 0x0015 --value 0101
says 'Characteristic Write Request failed'

# dialogue NAME COMMAND...: runs an interactive client and stores its output in ./NAME.
dialogue() {
  output=$1
  shift
  rm -f input
  mkfifo input
  # Create the output file before the client opens it.
  : >"$output"
  stdbuf -oL "$@" <input >"$output" 2>&1 &
  client=$!
  exec 3>input
  read_so_far=0
}
printed() { tail -c "+$((read_so_far + 1))" "$output" | grep -qE -- "$1"; }
# say LINE PATTERN: sends a line to the client, and waits for its output.
say() {
  read_so_far=$(wc -c <"$output")
  echo "$1" >&3
  prints "$2"
}
prints() { within 10 printed "$1" || { cat "$output"; fail "$output contains '$1'"; }; }
# The kernel keeps the link of an ended process for 2 s, and a server keeps the settings of the
# client.
dialogue_ends() {
  exec 3>&-
  kill "$client" 2>/dev/null || true
  wait "$client" || true
  sed 's/\x1b\[[0-9;]*m//g; s/^/  /' "$output"
  link_ends
}

echo "== gatttool receives the indication and the notification after a BEGIN"
# BEGIN of a sink session of 4096 bytes, CRC32 0x78563412, version 1.3.0, hardware 0x0000A001.
readonly BEGIN=060800100000123456780103000001a00000
dialogue gatttool-words gatttool -i hci0 -b "$DEVICE_ADDRESS" -I
say connect 'Connection successful'
say 'char-write-req 0x0016 0200' 'written successfully'
say 'char-write-req 0x001b 0100' 'written successfully'
say "char-write-req 0x0015 $BEGIN" 'written successfully'
prints 'Indication +handle = 0x0015 value: 86 00( 00){8}'
prints 'Notification handle = 0x001a value: 01 00 00 20( 00){12}'
dialogue_ends

echo "== btgatt-client makes long and prepared writes"
dialogue btgatt-words "$LAB_CACHE/btgatt-client" -i hci0 -d "$DEVICE_ADDRESS" -t public -m 64
prints 'GATT discovery procedures complete'
say 'register-notify 0x0015' 'Registered notify handler'
say "write-long-value 0x0015 0$(sed 's/../ 0x&/g' <<<"$BEGIN")" 'Write successful'
prints 'Not/Ind: 0x0015 - \(10 bytes\): 86 00( 00){8}'
# A data write with 4 bytes of offset and 96 bytes of the image is longer than one PDU at this MTU.
say "write-long-value -r 0x0018 0$(printf ' 0x%02x' 0 0 0 0 {1..96})" 'Write successful'
say 'read-value 0x001a' 'Read value \(16 bytes\): 01 00 00 20 60 00 00 00'
say "write-long-value 0x0018 0$(printf ' 0x%02x' 0 0 0 0 {1..96})" 'Write failed: .*\(0x81\)'
# One value is written in two parts and executed; another value is cancelled.
say 'write-prepare 0x001b 0 0x01' 'Session id'
session=$(sed -n 's/.*Session id: \([0-9]*\).*/\1/p' btgatt-words | tail -n 1)
say "write-prepare -s $session 0x001b 1 0x00" 'Prepare write success'
say "write-execute $session 1" 'Write successful'
say 'read-value 0x001b' 'Read value \(2 bytes\): 01 00'
say 'write-prepare 0x001b 0 0x00 0x00' 'Session id'
session=$(sed -n 's/.*Session id: \([0-9]*\).*/\1/p' btgatt-words | tail -n 1)
say "write-execute $session 0" '#'
say 'read-value 0x001b' 'Read value \(2 bytes\): 01 00'
dialogue_ends

echo "== Bumble reads the same table"
hciconfig hci0 down
try timeout 90 "${BUMBLE%/*}/bumble-gatt-dump" hci-socket:0 "$DEVICE_ADDRESS/P"
for uuid in 1 2 3 4; do
  grep -iq "2f3e000$uuid-21b4-4807-8bdc-74db56699529" out || fail "Bumble finds 2f3e000$uuid"
done
device_down
sleep 1
hciconfig hci0 up

echo "== a device requests the MTU, and its last PDUs are received after its disconnection"
hciconfig hci1 down
"$BUMBLE" "$LAB/peers/parting.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/leave" >peer 2>&1 &
within 60 grep -q '^advertising' peer || { cat peer; fail "the peripheral advertises"; }
"$OTAFLASH" -vvv --adapter hci0 --timeout 10s info -d "$DEVICE_ADDRESS" >traced 2>&1 </dev/null &
listener=$!
within 20 grep -q 'the central accepts 512' peer ||
  { cat peer traced; fail "an Exchange MTU Request from the device is answered"; }
# While the process is stopped, all PDUs of the device are queued before the end of the link.
kill -STOP "$listener"
touch leave
within 10 grep -q gone peer
sleep 1
kill -CONT "$listener"
status=0
wait "$listener" || status=$?
cat traced
[[ $status = 7[45] ]] || fail "a disconnected device is a lost link (74 or 75), not $status"
[[ $(grep -c 'HandleValueNotification 0x0042' traced) = 10 ]] ||
  fail "all ten notifications are read from the closed link"

# Servers on Bumble that follow the specification but are difficult for a client: peers/awkward.py.
# limit: 600
. "$LAB/guest/expect.sh"
image small 4000
image large 40000
mkdir awkward

mkfifo cases
"$BUMBLE" "$LAB/peers/awkward.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/awkward" <cases >>peer 2>&1 &
exec 3>cases

# become CASE: starts the server for CASE, with its output in ./peer.
become() {
  echo "== $1"
  : >peer
  echo "$1" >&3
  within 60 advertises "$1" || { cat peer; fail "the server is '$1'"; }
}
# The previous server also advertises again after the end of its link.
advertises() {
  awk -v name="case $1" '$0 == name { is_up = 1 } is_up && /^advertising/ { found = 1 } END { exit !found }' peer
}

info() { otaflash --json info -d "$DEVICE_ADDRESS" "$@"; }
flash() {
  otaflash --json flash "$@" --image-version 1.3.0 --allow-unknown -d "$DEVICE_ADDRESS"
}
device_says() { grep -qE -- "$1" peer || { cat peer; fail "the server says '$1'"; }; }
device_says_not() { ! grep -qE -- "$1" peer || { cat peer; fail "the server does not say '$1'"; }; }
device_has() { cmp "$2" "awkward/$1/image" || { cat peer; fail "the device has $2 byte for byte"; }; }

hciconfig hci1 down
become crowd
expect 0 info
cat >expected <<'END_OF_TABLE'
1800 2A00 2A01
1801 2A05 2B29 2B2A
180A 2A29 2A24 2A25 2A26 2A28
5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b10 2A01 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b11 2A19 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b12 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b13
180F 2A19
2f3e0001-21b4-4807-8bdc-74db56699529
180F 2A19
2f3e0001-21b4-4807-8bdc-74db56699529 2f3e0002-21b4-4807-8bdc-74db56699529
2f3e0001-21b4-4807-8bdc-74db56699529 2f3e0002-21b4-4807-8bdc-74db56699529 2f3e0003-21b4-4807-8bdc-74db56699529 2f3e0004-21b4-4807-8bdc-74db56699529
180F 2A19
5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b20 2A01 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b21 2A19 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b22 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b23
5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b20 2A01 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b21 2A19 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b22 5a0e0000-6b1f-4f3c-9d57-2f1d6f0c4b23
manufacturer=512 bytes, md5 LONGEST
model=22 bytes: MTU less one
serial number=44 bytes: two parts, nothing in a third part
software=
END_OF_TABLE
# The table in the form in which info prints it. A string that the server refuses is omitted.
/usr/bin/python3 - >found <<'END_OF_SCRIPT'
import json
longest = "".join(f"{number:04d} " for number in range(103))[:512]
for line in open("out"):
    event = json.loads(line)
    if event["type"] == "service":
        print(event["uuid"], *event["characteristics"])
    elif event["type"] == "information":
        value = "512 bytes, md5 LONGEST" if event["value"] == longest else event["value"]
        print(f"{event['name']}={value}")
END_OF_SCRIPT
diff <(sort expected) <(sort found) || fail "info prints the complete table"
diff <(grep -v = expected) <(grep -v = found) || fail "info prints the services in their order"
says '"mtu":23'
expect 0 flash small
says '"outcome":"flashed".*"verified":true'
device_has crowd small

become asking
expect 0 flash large --mtu 185
says '"outcome":"flashed".*"verified":true'
says '"mtu":185'
device_has asking large
# The MTU is the same in both directions (Core 5.4, Vol 3, Part F, 3.4.2.2), and the host has no
# attributes to discover or read.
device_says '^asked MTU: 03b900$'
device_says '^asked information: 010401000a$'
device_says '^asked by type value: 010601000a$'
device_says '^asked device name: 010801000a$'
device_says '^asked services: 011001000a$'
device_says '^asked read: 010a030001$'
device_says '^asked blob: 010c000006$'
device_says '^asked write: 0112000006$'
device_says '^asked prepared write: 0116000006$'
device_says '^asked unknown: 012e000006$'
device_says '^asked everything$'
device_says_not '^a confirmation of nothing$'

become flooding
expect 0 flash large --mode without-response
says '"outcome":"flashed".*"verified":true'
device_has flooding large

become moving
expect 0 flash small
says '"outcome":"flashed".*"verified":true'
device_says '^the change is confirmed$'
device_has moving small

become late
started=$SECONDS
expect 0 info
((SECONDS - started >= 27)) || fail "info waits for the answer"

become silent
started=$SECONDS
expect 74 info --transaction-limit 5s
((SECONDS - started >= 5 && SECONDS - started < 20)) || fail "5 s is the limit, not $((SECONDS - started))"
device_says '^said nothing$'
# No PDU may be sent on a bearer after a timeout (3.3.3), so the link is closed.
within 10 grep -q '^disconnected' peer || fail "the link is closed"

become indicating
expect 76 info
says '2f3e0004-21b4-4807-8bdc-74db56699529'

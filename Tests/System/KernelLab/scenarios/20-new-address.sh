# A device that uses a new static random address at each start is found again if it was selected by its name.
# limit: 120
. "$LAB/guest/expect.sh"
bootable image-2 1.2.0 4000
bootable image-3 1.3.0 6000
mkdir board
cp image-2 board/image
: >peer
hciconfig hci1 down
"$BUMBLE" "$LAB/peers/smp_server.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/board" --new-address >>peer 2>&1 &
within 60 grep -q '^advertising' peer || { cat peer; fail "the device advertises"; }

expect 0 otaflash --timeout 3s flash image-3 -d name:bumble-smp
says 'the device has a new address'
says '^done +running 1\.3\.0, verified'
cmp image-3 board/image || fail "the device runs image-3 byte for byte"
addresses=$(sed -n 's/^address //p' peer | sort -u | wc -l)
((addresses == 2)) || { cat peer; fail "it drew 2 addresses, not $addresses"; }
link_ends
expect 0 otaflash --timeout 3s slots list -d name:bumble-smp
says '1\.3\.0 +runs, confirmed'
figure "found under its new address"

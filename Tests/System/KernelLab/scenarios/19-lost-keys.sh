# A device that loses its keys at its restart: one error reports this; after unpair the same command
# confirms. A device that requests a pairing but does not require one: no keys are kept.
# limit: 150
. "$LAB/guest/expect.sh"
bootable image-2 1.2.0 4000
bootable image-3 1.3.0 6000
bootable image-4 1.4.0 6000
mkdir board
cp image-2 board/image
bonds() { find state/otaflash/bonds -name '*.json'; }

# peer_up [OPTIONS...]: starts the device, with its running image in ./board.
peer_up() {
  : >peer
  hciconfig hci1 down
  "$BUMBLE" "$LAB/peers/smp_server.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/board" "$@" >>peer 2>&1 &
  device=$!
  within 60 grep -q '^advertising' peer || { cat peer; fail "the device advertises"; }
}

# Only an adapter that was switched on by the management interface has a Security Manager.
mgmt 0 power off
mgmt 0 power on

echo "== a device that requests a pairing, but does not require it"
peer_up --asks
expect 0 otaflash flash image-3 -d "$DEVICE_ADDRESS"
says 'running 1\.3\.0, verified'
[[ -z $(bonds) ]] || fail "no pairing is stored for a device that does not require one"
link_ends
kill -KILL "$device"
wait "$device" || true

echo "== a device that requires a pairing, and loses its keys at its restart"
peer_up --encrypted --asks --forgetful
expect 77 otaflash flash image-4 -d "$DEVICE_ADDRESS"
says 'paired \(Just Works\) with'
says 'error\[E-BOND-FORGOTTEN\]'
says 'The complete image was sent and activated\.'
says 'otaflash --adapter hci0 unpair -d .* && .*otaflash --adapter hci0 flash image-4'
(($(grep -c 'connecting again' out) <= 1)) || fail "the first refusal ends the update"
link_ends
expect 77 otaflash info -d "$DEVICE_ADDRESS"
says 'error\[E-BOND-FORGOTTEN\]'
link_ends
expect 0 otaflash unpair -d "$DEVICE_ADDRESS"
expect 0 otaflash flash image-4 -d "$DEVICE_ADDRESS"
says 'already running 1\.4\.0'
expect 0 otaflash slots list -d "$DEVICE_ADDRESS"
says '1\.4\.0 +runs, confirmed'
figure "lost keys at the first connection, then confirmed"

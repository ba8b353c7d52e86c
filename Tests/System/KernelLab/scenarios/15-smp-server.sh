# An independent device with MCUboot: SMP by PyPI's smp on Bumble's GATT server, its images by imgtool. Upload,
# trial, reset, confirmation; a killed host; a device that serves only paired hosts.
# limit: 450
. "$LAB/guest/expect.sh"
bootable image-2 1.2.0 20000
bootable image-3 1.3.0 60000
bootable image-4 1.4.0 240000
mkdir board
cp image-2 board/image

# peer_up [OPTIONS...]: starts the device, with its running image in ./board.
peer_up() {
  : >peer
  hciconfig hci1 down
  "$BUMBLE" "$LAB/peers/smp_server.py" hci-socket:1 "$DEVICE_ADDRESS" "$WORK/board" "$@" >>peer 2>&1 &
  device=$!
  within 60 grep -q '^advertising' peer || { cat peer; fail "the device advertises"; }
}
device_runs() {
  cmp "image-$1" board/image || { cat peer; fail "the device runs image-$1 byte for byte"; }
}

peer_up
expect 0 otaflash flash image-3 --key public.pem -d "$DEVICE_ADDRESS"
says 'running 1\.3\.0, verified'
device_runs 3
link_ends
expect 0 otaflash slots list -d "$DEVICE_ADDRESS"
says '1\.3\.0 +runs, confirmed'
says '1\.2\.0 '
link_ends
expect 0 otaflash reset -d "$DEVICE_ADDRESS"
within 10 bash -c 'grep "^runs" peer | tail -n 1 | grep -q 1.3.0'
link_ends

echo "== the host is killed: the update resumes at the device's offset"
"$OTAFLASH" --adapter hci0 --json flash image-4 -d "$DEVICE_ADDRESS" >events 2>&1 </dev/null &
flasher=$!
within 30 grep -qE '"done":[1-9][0-9]{4}' events || { cat events; fail "the update makes progress"; }
kill -KILL "$flasher"
wait "$flasher" || true
acknowledged=$(sed -n 's/.*"task_progress".*"done":\([0-9]*\).*/\1/p' events | tail -n 1)
link_ends
expect 0 otaflash --json flash image-4 -d "$DEVICE_ADDRESS"
says '"to":"1\.4\.0".*"verified":true'
offset=$(sed -n 's/.*"task":"upload".*"offset":\([0-9]*\),"resumed":true.*/\1/p' out | head -n 1)
((${offset:-0} >= acknowledged)) || fail "resumes at $acknowledged or later"
device_runs 4
figure "resumed at $offset of $(stat -c %s image-4)"
kill -KILL "$device"
wait "$device" || true
link_ends

echo "== a device that serves only paired hosts, and shows a passkey"
# Only an adapter that was switched on by the management interface has a Security Manager.
mgmt 0 power off
mgmt 0 power on
cp image-2 board/image
peer_up --authenticated
expect 77 otaflash info -d "$DEVICE_ADDRESS"
says 'ATT error 0x05'
link_ends
answer() {
  within 30 grep -q '^passkey' peer
  sed -n 's/^passkey //p' peer | tail -n 1
}
status=0
answer | otaflash pair --authenticated -d "$DEVICE_ADDRESS" >out 2>&1 || status=$?
cat out
[[ $status = 0 ]] || { cat peer; fail "pairing with the passkey, not exit $status"; }
says '^paired .*encrypted and authenticated'
link_ends
expect 0 otaflash --no-input flash image-3 -d "$DEVICE_ADDRESS"
says 'running 1\.3\.0, verified'
device_runs 3

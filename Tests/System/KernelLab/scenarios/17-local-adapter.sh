# The library's own adapter in a short program: it lists advertising devices, connects to one of them, waits
# while the adapter is off, and reconnects.
# limit: 300
. "$LAB/guest/expect.sh"
device_up --name lab-device

# A report may be dropped when the discovery starts (see 01-scan).
tries=3
until stdbuf -oL "$NEARBY" lab-device 3 >nearby 2>&1 & nearby=$! && within 20 grep -q '^1: ' nearby; do
  wait "$nearby" || true
  ((--tries > 0)) || { cat nearby; fail "the device is discovered and read"; }
done
grep -q '^lab-device' nearby || { cat nearby; fail "the list names lab-device"; }
within 20 grep -q '^3: 1.2.0' nearby
wait "$nearby" || fail "consecutive readings succeed"

stdbuf -oL "$NEARBY" lab-device 12 >nearby 2>&1 &
nearby=$!
within 30 grep -q '^2: ' nearby || { cat nearby; fail "the readings start"; }
mgmt 0 power off
within 30 grep -q '^waiting for the adapter' nearby || { cat nearby; fail "the program waits for the adapter"; }
sleep 2
kill -0 "$nearby" || { cat nearby; fail "it waits without a time limit"; }
mgmt 0 power on
within 60 grep -q '^connected again' nearby || { cat nearby; fail "it connects again"; }
within 60 grep -q '^12: 1.2.0' nearby || { cat nearby; fail "it continues to read"; }
wait "$nearby" || fail "it ends with success"
sed 's/^/  /' nearby

echo "== at the start, the wait for an adapter has a limit"
mgmt 0 power off
expect 1 stdbuf -oL "$NEARBY" lab-device 1
says 'was not switched on within'
mgmt 0 power on

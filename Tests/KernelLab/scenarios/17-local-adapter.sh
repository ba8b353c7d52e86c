# The library's own adapter in a program of a page: it lists what is in the air, connects to what it
# heard, waits while the adapter is off, and comes back.
# limit: 300
. "$LAB/guest/expect.sh"
device_up --name lab-device

# A report may be dropped when the discovery begins (see 01-scan).
tries=3
until stdbuf -oL "$NEARBY" lab-device 3 >nearby 2>&1 & nearby=$! && within 20 grep -q '^1: ' nearby; do
  wait "$nearby" || true
  ((--tries > 0)) || { cat nearby; fail "the device is heard and read"; }
done
grep -q '^lab-device' nearby || { cat nearby; fail "the list names lab-device"; }
within 20 grep -q '^3: 1.2.0' nearby
wait "$nearby" || fail "readings in a row end well"

stdbuf -oL "$NEARBY" lab-device 12 >nearby 2>&1 &
nearby=$!
within 30 grep -q '^2: ' nearby || { cat nearby; fail "readings are made"; }
mgmt 0 power off
within 30 grep -q '^waiting for the adapter' nearby || { cat nearby; fail "the adapter is waited for"; }
sleep 2
kill -0 "$nearby" || { cat nearby; fail "it waits for as long as that takes"; }
mgmt 0 power on
within 60 grep -q '^connected again' nearby || { cat nearby; fail "it connects again"; }
within 60 grep -q '^12: 1.2.0' nearby || { cat nearby; fail "it goes on reading"; }
wait "$nearby" || fail "it ends well"
sed 's/^/  /' nearby

echo "== an adapter that is off is waited for at the start, with a bound"
mgmt 0 power off
expect 1 stdbuf -oL "$NEARBY" lab-device 1
says 'was not switched on within'
mgmt 0 power on

# Interval, supervision timeout, PHY and packet length: requested, read back, restored, or reported as refused.
# limit: 400
. "$LAB/guest/expect.sh"
image image-3 6000
# Otherwise the device's kernel would request its own 30 to 50 ms at some moment after a faster
# connection.
echo 6 >/sys/kernel/debug/bluetooth/hci1/conn_min_interval
device_up --profile fast

info() { otaflash -v info -d "$DEVICE_ADDRESS" "$@"; }

# The kernel's defaults are an interval of 30 to 50 ms and a timeout of 420 ms.
echo "== no request: the link has its defaults"
expect 0 info
says '^link +MTU 512[^0-9]+1M[^0-9]+50 ms'
says 'lost after +0\.42 s'
says_not 'asked'

echo "== for flash, the kernel connects with the shortest interval"
link_ends
trace_begins
expect 0 otaflash -v flash image-3 --image-version 1.3.0 --allow-unknown -d "$DEVICE_ADDRESS"
says 'interval 7\.5…15 ms requested, granted: (7\.5|15) ms'
says 'MTU 512.*(7\.5|15) ms'
# The virtual controllers do not support either command.
says 'PHY 2M requested, not granted: unknown command \(HCI error 0x01\)'
says 'packet 251 B requested, not granted: unknown command \(HCI error 0x01\)'
trace_ends
grep -A 14 'LE Create Connection\|LE Extended Create Connection' trace |
  grep -q 'Max connection interval: 15.00 msec' || { head -n 80 trace; fail "the kernel asked for 15 ms"; }
grep -q 'Supervision timeout: 2000 msec' trace || fail "the kernel asked for 2 s"

echo "== and the interval is restored"
link_ends
expect 0 info
says '50 ms'
says 'lost after +0\.42 s'

echo "== requested values are read back"
link_ends
expect 0 info --interval 30ms --supervision 5s
says 'interval 30 ms requested, granted: 30 ms'
says '^link .* 30 ms'
says 'lost after +5 s'
link_ends
expect 0 info --phy 2M
says 'PHY 2M requested, not granted'
expect 64 info --interval 5ms
expect 64 info --interval 100ms --supervision 150ms
expect 64 otaflash info -d sim: --phy 2M

echo "== with only CAP_NET_RAW the existing link is updated"
link_ends
mkdir other && chmod 777 . other
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
paths=("XDG_STATE_HOME=$WORK/other" "XDG_RUNTIME_DIR=$WORK/other")
trace_begins
expect 0 "${as_nobody[@]}" --inh-caps=-all,+net_raw --ambient-caps=-all,+net_raw \
  env "${paths[@]}" "$OTAFLASH" --adapter hci0 -v info -d "$DEVICE_ADDRESS" --interval 15ms
says 'interval 15 ms requested, granted: 15 ms'
says '^link .* 15 ms'
trace_ends
grep -A 10 'LE Connection Update (0x08|0x0013)' trace >update || { tail -n 60 trace; fail "the link was updated"; }
# With 0.625 ms here, some controllers would send one packet per event.
grep -q 'Max connection length: 0.000 msec' update || { cat update; fail "no hint about the length of events"; }

echo "== without a capability the reason is reported"
link_ends
expect 0 "${as_nobody[@]}" --inh-caps=-all env "${paths[@]}" \
  "$OTAFLASH" --adapter hci0 -v info -d "$DEVICE_ADDRESS" --interval 15ms
says 'interval 15 ms requested, not granted: it requires CAP_NET_RAW'

echo "== each interval of a benchmark is measured"
link_ends
expect 0 otaflash --json bench -d "$DEVICE_ADDRESS" --mtu 247 --mode with-response --size 2K \
  --repeat 1 --interval 15ms,50ms
says '"interval_ms":15'
says '"interval_ms":50'

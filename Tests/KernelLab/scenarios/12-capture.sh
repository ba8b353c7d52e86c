# --capture writes what btmon and tshark read, and the same PDUs that the kernel's own trace shows.
# limit: 200
. "$LAB/guest/expect.sh"
image image-3 6000
device_up --profile fast

trace_begins
expect 0 otaflash flash image-3 --image-version 1.3.0 --allow-unknown --mode without-response \
  --mtu 185 --capture own.btsnoop -d "$DEVICE_ADDRESS"
trace_ends

# attributes FILE: opcode, handle and value of every ATT PDU of the link on hci0, in order.
attributes() {
  tshark -r "$1" -Y "btatt ${2:-}" -T fields -e btatt.opcode -e btatt.handle -e btatt.value 2>tshark.log
}

echo "== the capture holds what the kernel saw"
attributes own.btsnoop >own
# The kernel's trace has both adapters, and so each PDU twice.
attributes trace.btsnoop "&& hci_mon.adapter_id == 0" >kernel
head -n 5 own
(($(wc -l <own) > 40)) || fail "the capture has more than 40 PDUs"
# What is sent is told before the kernel has it, so the two directions may pass each other.
readonly RECEIVED='^0x(01|03|05|07|09|0b|0d|0f|11|13|1b|1d)'
for file in own kernel; do
  grep -E "$RECEIVED" "$file" >"$file.received"
  grep -vE "$RECEIVED" "$file" >"$file.sent"
done
# A connection is closed when its last subscription has been let go of, or the device restarts meanwhile.
# The kernel may drop that last request of each, which it had taken, with the socket; or it alone sees the
# answer. Anything else is a difference.
for way in received sent; do
  diff "own.$way" "kernel.$way" >difference || true
  case $way in
    received) rest=$(grep '^[<>]' difference | grep -vc '^> 0x13') || true ;;
    sent) rest=$(grep '^[<>]' difference | grep -vc '^< 0x12') || true ;;
  esac
  ((rest == 0 && $(grep -c '^[<>]' difference) <= 2)) ||
    { head difference; fail "the kernel saw the same PDUs $way"; }
done
figure "$(wc -l <own) PDUs"

echo "== a reader sees names instead of handles"
tshark -r own.btsnoop -Y 'btatt.opcode == 0x52' -V >dissected 2>tshark.log
grep -q 'Service UUID: 2f3e000121b448078bdc74db56699529' dissected ||
  { head -n 60 dissected; fail "tshark names the service of the data characteristic"; }
grep -q 'UUID: 2f3e000321b448078bdc74db56699529' dissected ||
  { head -n 60 dissected; fail "tshark names the data characteristic"; }
try btmon -r own.btsnoop
says 'Value UUID: Vendor specific \(2f3e0003-21b4-4807-8bdc-74db56699529\)'
says 'ATT: Write Command \(0x52\)'

echo "== a capture that cannot be written is an error, before and after"
expect 73 otaflash info --capture "$PWD/none/file" -d "$DEVICE_ADDRESS"
says "error\\[E-OUTPUT\\]: $PWD/none/file cannot be written"
expect 73 otaflash info --capture /dev/full -d "$DEVICE_ADDRESS"
says 'running +1\.3\.0'
says 'error\[E-OUTPUT\]: /dev/full cannot be written: No space left'

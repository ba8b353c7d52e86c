# --capture writes a file that btmon and tshark read, with the same PDUs as the kernel's own trace.
# limit: 200
. "$LAB/guest/expect.sh"
image image-3 6000
device_up --profile fast

trace_begins
expect 0 otaflash flash image-3 --image-version 1.3.0 --allow-unknown --mode without-response \
  --mtu 185 --capture own.btsnoop -d "$DEVICE_ADDRESS"
trace_ends

# attributes FILE: prints opcode, handle and value of every ATT PDU of the link on hci0, in order.
attributes() {
  tshark -r "$1" -Y "btatt ${2:-}" -T fields -e btatt.opcode -e btatt.handle -e btatt.value 2>tshark.log
}

echo "== the capture equals the kernel's trace"
attributes own.btsnoop >own
# The kernel's trace covers both adapters, so it contains each PDU twice.
attributes trace.btsnoop "&& hci_mon.adapter_id == 0" >kernel
head -n 5 own
(($(wc -l <own) > 40)) || fail "the capture has more than 40 PDUs"
# A sent PDU is recorded before the kernel receives it, so the order between the two directions may
# differ.
readonly RECEIVED='^0x(01|03|05|07|09|0b|0d|0f|11|13|1b|1d)'
for file in own kernel; do
  grep -E "$RECEIVED" "$file" >"$file.received"
  grep -vE "$RECEIVED" "$file" >"$file.sent"
done
# At the end of a connection (after its last subscription, or at a restart of the device), the
# kernel may drop the last request, which it had accepted, together with the socket; or the answer
# reaches only the kernel. Any other difference is an error.
for way in received sent; do
  diff "own.$way" "kernel.$way" >difference || true
  case $way in
    received) rest=$(grep '^[<>]' difference | grep -vc '^> 0x13') || true ;;
    sent) rest=$(grep '^[<>]' difference | grep -vc '^< 0x12') || true ;;
  esac
  ((rest == 0 && $(grep -c '^[<>]' difference) <= 2)) ||
    { head difference; fail "the kernel's trace has the same PDUs $way"; }
done
figure "$(wc -l <own) PDUs"

echo "== readers show names instead of handles"
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

# Devices that require a paired host: Just Works, a passkey, stored keys, a forgotten bond, no capability.
# limit: 400
. "$LAB/guest/expect.sh"
# The address that btvirt gives to hci0.
readonly HOST_ADDRESS=00:AA:01:00:00:00
image image-3 6000
flash() { otaflash flash image-3 --image-version 1.3.0 --allow-unknown -d "$DEVICE_ADDRESS" "$@"; }
# Prints the pairings of hci0 on disk.
bonds() { find state/otaflash/bonds -name '*.json'; }
# Deletes the keys from the kernel's memory, as a restart of the computer does, but not from disk.
forget_in_kernel() { mgmt 0 power off; mgmt 0 ltks; mgmt 0 irks; mgmt 0 power on; }

echo "== an adapter that was switched on without the management interface has no Security Manager"
device_up --profile 'fast?security=encrypted'
expect 77 otaflash pair -d "$DEVICE_ADDRESS"
says 'error\[E-PAIRING-FAILED\]'
says 'btmgmt power on'
device_down
for index in 0 1; do
  mgmt "$index" power off
  mgmt "$index" power on
done

echo "== a device that requires an encrypted link: info reports this, flash pairs automatically"
device_up --profile 'fast?security=encrypted'
expect 77 otaflash info -d "$DEVICE_ADDRESS"
says 'error\[E-NOT-PAIRED\]'
says 'ATT error 0x0f'
says 'otaflash --adapter hci0 pair -d'
[[ -z $(bonds) ]] || fail "info does not pair"
expect 0 flash
says 'running 1\.3\.0, verified'
[[ $(bonds | wc -l) = 1 ]] || fail "one pairing is stored"
[[ $(stat -c %a "$(bonds)") = 600 ]] || fail "only the owner may read the keys"
grep -q '"kind" : "secure-connections"' "$(bonds)" || { cat "$(bonds)"; fail "it is LE Secure Connections"; }

echo "== the keys on disk are sufficient: no second pairing"
before=$(md5sum "$(bonds)")
forget_in_kernel
trace_begins
expect 0 otaflash info -d "$DEVICE_ADDRESS"
says 'running +1\.3\.0'
trace_ends
grep -q 'LE Start Encryption' trace || fail "the link was encrypted"
! grep -q 'SMP: Pairing Request' trace || fail "there was no pairing"
[[ $(md5sum "$(bonds)") = "$before" ]] || fail "the keys are the same"

echo "== a device that has forgotten the pairing"
expect 0 "$OTAFLASH" --adapter hci1 unpair -d "$HOST_ADDRESS"
says 'forgotten'
expect 77 otaflash info -d "$DEVICE_ADDRESS"
says 'error\[E-BOND-FORGOTTEN\]'
says 'otaflash --adapter hci0 unpair -d .* && .*otaflash --adapter hci0 pair -d'
expect 0 otaflash unpair -d "$DEVICE_ADDRESS"
says 'forgotten'
[[ -z $(bonds) ]] || fail "the keys are deleted"
expect 0 otaflash unpair -d "$DEVICE_ADDRESS"
says 'not paired'
expect 0 otaflash pair -d "$DEVICE_ADDRESS"
says '^paired .*Just Works'
expect 0 otaflash pair -d "$DEVICE_ADDRESS"
says 'already paired'
expect 0 otaflash info -d "$DEVICE_ADDRESS"
device_down
"$OTAFLASH" --adapter hci1 unpair -d "$HOST_ADDRESS"
expect 0 otaflash unpair -d "$DEVICE_ADDRESS"
link_ends

echo "== a passkey that the device shows"
device_up --profile 'fast?security=authenticated'
# Answers with the passkey of the device, or with the passkey in the argument.
answer() {
  local passkey
  within 30 grep -q '^passkey' device
  passkey=$(sed -n 's/^passkey //p' device | tail -n 1)
  echo "${1:-$passkey}"
}
: >device
status=0
# The process runs with a higher priority than the kernel's threads, so that it pairs immediately
# after the connection, before the kernel's Security Manager is ready.
answer | chrt --fifo 50 "$OTAFLASH" --adapter hci0 pair --authenticated -d "$DEVICE_ADDRESS" >out 2>&1 ||
  status=$?
cat out
[[ $status = 0 ]] || fail "pairing with the passkey, not exit $status"
says 'passkey that .* shows'
says '^paired .*encrypted and authenticated'
grep -q 'secure-connections-authenticated' "$(bonds)" || fail "the key is an authenticated one"
expect 0 otaflash flash image-3 --image-version 1.4.0 --allow-unknown --force -d "$DEVICE_ADDRESS"
says 'verified'
"$OTAFLASH" --adapter hci1 unpair -d "$HOST_ADDRESS"
expect 0 otaflash unpair -d "$DEVICE_ADDRESS"
link_ends

echo "== a wrong passkey, and no operator to ask"
: >device
status=0
answer 000000 | otaflash pair -d "$DEVICE_ADDRESS" >out 2>&1 || status=$?
cat out
[[ $status = 77 ]] || fail "a wrong passkey is exit 77, not $status"
says 'error\[E-PAIRING-FAILED\]'
link_ends
expect 77 otaflash --no-input pair --authenticated -d "$DEVICE_ADDRESS"
says 'error\[E-PAIRING-FAILED\]'
device_down
link_ends

echo "== without CAP_NET_ADMIN"
device_up --profile 'fast?security=encrypted'
mkdir other && chmod 777 . other
expect 77 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
  env "XDG_STATE_HOME=$WORK/other" "XDG_RUNTIME_DIR=$WORK/other" \
  "$OTAFLASH" --adapter hci0 info -d "$DEVICE_ADDRESS"
says 'error\[E-PERMISSION\]'
says 'CAP_NET_ADMIN'
says 'setcap cap_net_raw,cap_net_admin\+ep'

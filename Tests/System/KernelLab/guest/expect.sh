# shellcheck shell=bash
# The common functions of the scenarios. A scenario ends at its first expectation that is not met.
set -euo pipefail
# shellcheck source=air.sh
. "$LAB/guest/air.sh"
cd "$WORK"
# The state of previous runs must not affect the next one.
export XDG_STATE_HOME=$WORK/state XDG_RUNTIME_DIR=$WORK/runtime
mkdir -p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"

# The address that btvirt gives to hci1.
# shellcheck disable=SC2034
readonly DEVICE_ADDRESS=00:AA:01:01:00:01

fail() { echo "expectation not met: $*"; exit 1; }

# Runs a command, and prints the command and its output. The output is stored in ./out, the exit
# status in $status. The seconds are those since the start of the scenario.
try() {
  echo "+ $*"
  status=0
  "$@" >out 2>&1 </dev/null || status=$?
  sed 's/^/  /' out
  echo "  (exit $status at $SECONDS s)"
}

# expect CODE COMMAND...: runs a command that must exit with CODE.
expect() {
  local code=$1
  shift
  try "$@"
  [[ $status = "$code" ]] || fail "exit $code"
}

says() { grep -qE -- "$1" out || fail "the output says '$1'"; }
says_not() { ! grep -qE -- "$1" out || fail "the output does not say '$1'"; }

otaflash() { "$OTAFLASH" --adapter hci0 "$@"; }

# image FILE BYTES: creates an image that compresses badly, is the same in every run, and has
# nothing in common with an image of another size.
image() {
  head -c "$2" /dev/zero |
    openssl enc -aes-128-ctr -K "$(printf '%032d' 7)" -iv "$(printf '%032d' "$2")" >"$1"
}

# bootable FILE VERSION BYTES: creates an MCUboot image that contains BYTES bytes, signed with
# ./key.pem. The key is created together with ./public.pem if it is missing.
bootable() {
  [[ -e key.pem ]] || {
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
    openssl pkey -in key.pem -pubout -out public.pem
  }
  image body "$3"
  "$LAB_CACHE/bumble/bin/imgtool" sign --key key.pem --version "$2" --align 4 --header-size 0x200 \
    --pad-header --slot-size 0x40000 body "$1" >/dev/null
}

# device_up [OPTIONS...]: starts the simulated device on hci1, with its flash in ./flash and its
# output in ./device.
device_up() {
  "$OTAFLASH" simulate -v --adapter hci1 --flash-file "$WORK/flash" "$@" >>device 2>&1 &
  device=$!
  within 15 grep -q '^listening' device || { cat device; fail "the device listens"; }
}

device_down() {
  kill "$device"
  wait "$device" || true
  : >device
}

# flash_holds FILE [FLASH]: checks that the device's flash contains the complete image in FILE.
flash_holds() {
  /usr/bin/python3 -S -E - "${2:-$WORK/flash}" "$1" <<'END' || fail "the flash holds $1 byte for byte"
import sys
flash, image = (open(path, 'rb').read() for path in sys.argv[1:])
sys.exit(image not in flash)
END
}

# The kernel keeps a link for 2 s after its last use, and would reuse it for the next command.
link_ends() {
  sleep 2
  within 10 has_no_link
}
has_no_link() { ! hcitool -i hci0 con | grep -q handle; }

# trace_begins, trace_ends: record the kernel's Bluetooth trace between the two calls, in ./trace (text) and
# ./trace.btsnoop. Call trace_begins before the start of a link: otherwise btmon 5.66 ends with a segmentation fault.
# The socket buffer is enlarged, because the kernel drops packets that do not fit the buffer. trace_ends waits until
# the file stops growing, because btmon discards unwritten packets when it ends.
trace_begins() {
  local room
  room=$(cat /proc/sys/net/core/rmem_default)
  rm -f trace.btsnoop
  echo 8000000 >/proc/sys/net/core/rmem_default
  btmon -w trace.btsnoop >trace 2>&1 &
  monitor=$!
  within 30 trace_holds_adapters
  echo "$room" >/proc/sys/net/core/rmem_default
}
trace_holds_adapters() { [[ $(stat -c %s trace.btsnoop) -gt 200 ]]; }
trace_stands_still() {
  local size
  size=$(stat -c %s trace.btsnoop)
  sleep 0.5
  [[ $(stat -c %s trace.btsnoop) = "$size" ]]
}
trace_ends() {
  within 30 trace_stands_still
  kill -INT "$monitor"
  wait "$monitor" || true
}

# Bumble in its server releases a controller a moment after the caller was killed.
hciconfig() {
  if [[ ${2:-} = down ]]; then within 5 command hciconfig "$@"; else command hciconfig "$@"; fi
}

figure() { echo "figure: $*"; }

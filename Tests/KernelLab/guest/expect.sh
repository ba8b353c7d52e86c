# shellcheck shell=bash
# What the scenarios have in common. A scenario ends at its first expectation that is not met.
set -euo pipefail
# shellcheck source=air.sh
. "$LAB/guest/air.sh"
cd "$WORK"
# Records of former runs must not reach the next one.
export XDG_STATE_HOME=$WORK/state XDG_RUNTIME_DIR=$WORK/runtime
mkdir -p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR"

# What btvirt calls hci1.
# shellcheck disable=SC2034
readonly DEVICE_ADDRESS=00:AA:01:01:00:01

fail() { echo "expectation not met: $*"; exit 1; }

# Runs a command and shows it with its output, which stays in ./out; its exit status in $status.
# The seconds are those of the scenario so far.
try() {
  echo "+ $*"
  status=0
  "$@" >out 2>&1 </dev/null || status=$?
  sed 's/^/  /' out
  echo "  (exit $status at $SECONDS s)"
}

# expect CODE COMMAND...
expect() {
  local code=$1
  shift
  try "$@"
  [[ $status = "$code" ]] || fail "exit $code"
}

says() { grep -qE -- "$1" out || fail "the output says '$1'"; }
says_not() { ! grep -qE -- "$1" out || fail "the output does not say '$1'"; }

otaflash() { "$OTAFLASH" --adapter hci0 "$@"; }

# image FILE OCTETS: an image that compresses badly, is the same in every run, and shares nothing with
# one of another size.
image() {
  head -c "$2" /dev/zero |
    openssl enc -aes-128-ctr -K "$(printf '%032d' 7)" -iv "$(printf '%032d' "$2")" >"$1"
}

# bootable FILE VERSION OCTETS: an MCUboot image with so much in it, signed with ./key.pem, which is made
# with ./public.pem where there is none.
bootable() {
  [[ -e key.pem ]] || {
    openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem
    openssl pkey -in key.pem -pubout -out public.pem
  }
  image body "$3"
  "$LAB_CACHE/bumble/bin/imgtool" sign --key key.pem --version "$2" --align 4 --header-size 0x200 \
    --pad-header --slot-size 0x40000 body "$1" >/dev/null
}

# device_up [OPTIONS...]: our simulated device on hci1, its flash in ./flash, its words in ./device.
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

# flash_holds FILE [FLASH]: whether the image in FILE lies whole in the device's flash.
flash_holds() {
  /usr/bin/python3 -S -E - "${2:-$WORK/flash}" "$1" <<'END' || fail "the flash holds $1 byte for byte"
import sys
flash, image = (open(path, 'rb').read() for path in sys.argv[1:])
sys.exit(image not in flash)
END
}

# The kernel keeps a link for 2 s after its last user, and would hand it to the next one.
link_ends() {
  sleep 2
  within 10 has_no_link
}
has_no_link() { ! hcitool -i hci0 con | grep -q handle; }

# trace_begins, trace_ends: what the kernel saw in between, in ./trace as text and in ./trace.btsnoop.
# btmon 5.66 ends with a segmentation fault when it meets a link whose beginning it has missed; the
# kernel drops what has no room in its socket; and what it has not written when it ends is lost.
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

# Bumble in its server lets go of a controller a moment after its caller was killed.
hciconfig() {
  if [[ ${2:-} = down ]]; then within 5 command hciconfig "$@"; else command hciconfig "$@"; fi
}

figure() { echo "figure: $*"; }

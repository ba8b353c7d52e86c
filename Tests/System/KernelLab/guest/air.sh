# shellcheck shell=bash
# The radio of a scenario: virtual controllers, hci0 for the host and the others for devices.

# Waits until a command succeeds: within SECONDS COMMAND...
within() {
  local tries=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    ((--tries > 0)) || { echo "not within the limit: $*"; return 1; }
    sleep 0.1
  done
}

# Runs one settings command of mgmt. btmgmt ends only if its standard input stays open.
mgmt() {
  local index=$1
  shift
  timeout 10 btmgmt --index "$index" "$@" < <(sleep 10) | sed 's/\x1b\[[0-9;]*m//g'
}

# A controller whose first answers were too late still starts, but without mgmt.
mgmt_knows() { mgmt "$1" info | grep -q 'addr '; }

adapter_exists() { [[ -d /sys/class/bluetooth/hci$1 ]]; }

# air_up [CONTROLLERS]: starts LE controllers on one simulated radio, all of them switched on. The
# kernel gives a controller 2 s to answer its first commands, and a busy host occasionally exceeds
# this limit.
air_up() {
  local count=${1:-2} try
  for try in 1 2 3; do
    "$LAB_CACHE/btvirt" -L "-l$count" >/tmp/btvirt.log 2>&1 &
    echo $! >/tmp/btvirt.pid
    adapters_up "$count" && return 0
    echo "attempt $try to bring the adapters up failed"
    air_down
  done
  return 1
}

adapters_up() {
  local index
  for ((index = 0; index < $1; index++)); do
    within 5 adapter_exists "$index" && within 8 hciconfig "hci$index" up && mgmt_knows "$index" ||
      return 1
  done
}

# Prints the processes that a scenario may leave running.
stray_processes() {
  ps -e -o pid=,comm= | awk '$2 ~ /^(otaflash|FleetFlash|Nearby|gatttool|btgatt-client|btmgmt|btmon|bluetoothctl|bluetoothd|dbus-daemon)$/ { print $1 }'
  # The server with Bumble loaded keeps running; a program in the server ends with its caller.
  pgrep -f "$LAB/peers/|$LAB_CACHE/bumble/" | grep -vxF "$(pgrep -f 'loaded.py serve')"
}

# The virtual controllers disappear with their process, so the remaining processes of the scenario
# are ended first.
air_down() {
  local pid
  for pid in $(stray_processes); do kill -KILL "$pid"; done 2>/dev/null
  [[ -e /tmp/btvirt.pid ]] && kill "$(cat /tmp/btvirt.pid)" 2>/dev/null
  rm -f /tmp/btvirt.pid
  local tries=50
  while [[ -n $(ls /sys/class/bluetooth 2>/dev/null) ]] && ((--tries > 0)); do sleep 0.1; done
}

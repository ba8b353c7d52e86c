#!/usr/bin/env bash
# Flashes a sample image onto a simulated device, and kills the process in the middle (kill -9). The same command then
# resumes and verifies the new version. Leaves no files.
set -euo pipefail
cd "$(dirname "$0")/.."

otaflash=${OTAFLASH:-.build/debug/otaflash}
image=firmware-samples/app-1.3.0.bin
export XDG_STATE_HOME XDG_RUNTIME_DIR
XDG_STATE_HOME=$(mktemp -d)
XDG_RUNTIME_DIR=$XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT
log=$XDG_STATE_HOME/first-run

# The time limit for the first 30 %, in tenths of a second.
patience=600

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "\$ otaflash flash $image -d sim: --delta never"
"$otaflash" flash "$image" -d sim: --delta never --progress plain >"$log" 2>&1 &
flasher=$!
disown "$flasher" # the shell prints no message about the killed process
until grep -q ' [3-9][0-9]%' "$log"; do
  if ((patience-- == 0)) || ! kill -0 "$flasher" 2>/dev/null; then
    cat "$log"
    echo "the first run did not reach 30 %" >&2
    exit 1
  fi
  sleep 0.1
done
kill -9 "$flasher"
while kill -0 "$flasher" 2>/dev/null; do sleep 0.1; done
cat "$log"

say "The run was killed (kill -9). The same command again:"
"$otaflash" flash "$image" -d sim: --delta never

say "\$ otaflash info -d sim:"
"$otaflash" info -d sim: | sed -n '/^protocol/,/^slot/p'

#!/usr/bin/env bash
# Demonstrates a campaign over forty simulated boards: the forecast, the run, which is killed twice (kill -9) and
# resumed with the same command, and an HTML report. Only the report remains.
set -euo pipefail
cd "$(dirname "$0")/.."

otaflash=${OTAFLASH:-.build/release/otaflash}
campaign=Examples/campaign-sim.yaml
report=${REPORT:-.build/demo-fleet.html}
export XDG_STATE_HOME XDG_RUNTIME_DIR
XDG_STATE_HOME=$(mktemp -d)
XDG_RUNTIME_DIR=$XDG_STATE_HOME
trap 'rm -rf "$XDG_STATE_HOME"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# Runs the campaign for a number of seconds, and kills it.
run_and_kill() {
  local runner
  "$otaflash" fleet run "$campaign" --progress plain &
  runner=$!
  disown "$runner" # the shell prints no message about the killed process
  sleep "$1"
  if ! kill -9 "$runner" 2>/dev/null; then
    echo "the run ended before it was killed" >&2
    exit 1
  fi
  while kill -0 "$runner" 2>/dev/null; do sleep 0.1; done
}

say "\$ otaflash fleet plan $campaign --forecast --seeds 1"
"$otaflash" fleet plan "$campaign" --forecast --seeds 1

say "\$ otaflash fleet run $campaign"
run_and_kill 10

say "The run was killed (kill -9). The same command again:"
run_and_kill 10

say "Killed again. The same command again:"
# By design, two boards are absent and one reverts the image: exit code 3 means that some did not succeed.
status=0
"$otaflash" fleet run "$campaign" --progress plain || status=$?
if ((status != 3)); then
  echo "the campaign ended with $status instead of 3" >&2
  exit 1
fi

say "\$ otaflash fleet status"
"$otaflash" fleet status

mkdir -p "$(dirname "$report")"
rm -f "$report"
say "\$ otaflash fleet report --verify --html $report"
"$otaflash" fleet report --verify --html "$report"
say "The report is $(realpath "$report"): open it in a browser."

#!/usr/bin/env bash
# Sends one image to many devices, several at a time, and prints a table of the outcomes.
#
#   fleet-update.sh [-j JOBS] [-r RETRIES] [-f FILE] [-o DIRECTORY] IMAGE [DEVICE...] [-- OPTION...]
#
#   -j  number of devices updated at the same time (4)
#   -r  number of further attempts for a device that lost its link and can resume (3)
#   -f  a file with one DEVICE per line; blank lines and lines that start with # are skipped
#   -o  a folder for the event stream (JSON Lines) of each device; by default none
#   --  further options for `otaflash flash`, such as --mtu 247
#
# OTAFLASH names the program (otaflash). Exit codes: 0 all devices done, 3 some failed, 64 usage,
# 66 FILE cannot be read, 73 DIRECTORY or a temporary folder cannot be written.
# Needs only bash and POSIX tools; jq is used if available.
set -u

usage() {
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 64
}

OTAFLASH=${OTAFLASH:-otaflash}
RETRY_PAUSE=${RETRY_PAUSE:-1}
jobs_maximum=4
retries=3
list=
keep=
while getopts 'j:r:f:o:h' option; do
  case $option in
    j) jobs_maximum=$OPTARG ;;
    r) retries=$OPTARG ;;
    f) list=$OPTARG ;;
    o) keep=$OPTARG ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
case $jobs_maximum$retries in *[!0-9]*) usage ;; esac
if [ "$jobs_maximum" -lt 1 ] || [ $# -lt 1 ]; then usage; fi

image=$1
shift
devices=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  devices+=("$1")
  shift
done
[ $# -eq 0 ] || shift
options=("$@")
if [ -n "$list" ]; then
  [ -r "$list" ] || { echo "fleet-update: $list cannot be read" >&2; exit 66; }
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in '' | '#'*) ;; *) devices+=("$line") ;; esac
  done <"$list"
fi
[ ${#devices[@]} -gt 0 ] || usage

work=$(mktemp -d) || exit 73
children=()
# Passes the first signal to every otaflash process, each of which keeps its resume point. Stores and prints the
# results so far.
stop() {
  trap - INT TERM HUP
  for child in "${children[@]}"; do kill -TERM "$child" 2>/dev/null; done
  wait
  keep_streams
  table
  rm -rf "$work"
  kill -"$1" $$
}
trap 'stop INT' INT
trap 'stop TERM' TERM
trap 'stop HUP' HUP
trap 'rm -rf "$work"' EXIT

# field TYPE NAME FILE: a member of the last event of that type in the stream. Events are one line each,
# and these members are flat and contain no escaped quotes, so sed is sufficient without jq.
field() {
  if command -v jq >/dev/null 2>&1; then
    jq -r --arg type "$1" --arg name "$2" -s '
      map(select(.type == $type)) | last // {}
      | if .type == "result" and (.devices | length) > 0 then .devices[0] + . else . end
      | .[$name] // "" | tostring' "$3"
  else
    grep "\"type\":\"$1\"" "$3" | tail -n 1 |
      sed -n "s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p"
  fi
}

# Updates one device, from its first attempt to its last. Writes its row of the table.
update() {
  local number=$1 device=$2 stream=$work/$1.jsonl attempt=0 status child=
  trap '[ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM
  : >"$stream"
  while :; do
    "$OTAFLASH" flash --json --no-input "${options[@]}" -d "$device" -- "$image" \
      >"$work/$number.last" 2>"$work/$number.stderr" &
    child=$!
    wait "$child"
    status=$?
    # A signal ends the wait before the program has ended.
    while kill -0 "$child" 2>/dev/null; do
      wait "$child"
      status=$?
    done
    cat "$work/$number.last" >>"$stream"
    # 75: the link was lost and the device can resume; the same command continues from there.
    if [ "$status" -ne 75 ] || [ "$attempt" -ge "$retries" ]; then break; fi
    attempt=$((attempt + 1))
    sleep "$RETRY_PAUSE"
  done
  local outcome from to why
  outcome=$(field result outcome "$stream")
  from=$(field result from "$stream")
  to=$(field result to "$stream")
  why=
  [ "$status" -eq 0 ] || why=$(field error code "$stream")
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$device" "$status" "${outcome:-crashed}" "${from:--}" \
    "${to:--}" "$((attempt + 1))" "$why" >"$work/$number.row"
  echo "$device: ${outcome:-crashed}${why:+ ($why)}" >&2
}

# Copies the event streams to the directory of -o.
keep_streams() {
  [ -n "$keep" ] || return 0
  mkdir -p "$keep" || return 73
  local number name
  for number in "${!devices[@]}"; do
    [ -f "$work/$number.jsonl" ] || continue
    name=$(printf '%s' "${devices[$number]}" | tr -c 'A-Za-z0-9._-' '_')
    cp "$work/$number.jsonl" "$keep/$name.jsonl" || return 73
  done
}

# Prints a row for each device; a device whose update has not ended has the outcome not-done.
table() {
  local number
  {
    printf 'DEVICE\tEXIT\tOUTCOME\tFROM\tTO\tRUNS\tERROR\n'
    for number in "${!devices[@]}"; do
      cat "$work/$number.row" 2>/dev/null ||
        printf '%s\t-\tnot-done\t-\t-\t0\t\n' "${devices[$number]}"
    done
  } | awk -F '\t' '
    { for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) } }
    END {
      for (row = 1; row <= NR; row++) {
        line = ""
        for (i = 1; i <= 7; i++) line = line sprintf("%-" width[i] "s  ", cell[row, i])
        sub(/ +$/, "", line)
        print line
      }
    }'
}

running=0
for number in "${!devices[@]}"; do
  if [ "$running" -ge "$jobs_maximum" ]; then
    wait -n
    running=$((running - 1))
  fi
  update "$number" "${devices[$number]}" &
  children+=($!)
  running=$((running + 1))
done
wait

keep_streams || exit 73
table

failed=0
for number in "${!devices[@]}"; do
  [ "$(cut -f 2 "$work/$number.row")" = 0 ] || failed=$((failed + 1))
done
echo "$((${#devices[@]} - failed)) of ${#devices[@]} devices done" >&2
[ "$failed" -eq 0 ] || exit 3

#!/usr/bin/env bash
# What the page of a run costs: the time of processors that ten open pages take of the
# process that serves it, against what the run takes. The run is one of its own, made and
# removed here; the page is served beside it (selfplay dash DIR), where its time can be told
# from that of the games: on a busy machine games an hour differ by far more from minute
# to minute than the page could make. Intervals with pages and without alternate, and each
# is measured by the system's count of processor time, which other programs do not change.
#
#   scripts/page-cost.sh [PAGES [SECONDS [ROUNDS]]]     default 10 pages, 20 s, 3 rounds
#
# Every page keeps the stream of states open, and asks again for what its view shows
# whenever the state says that it has changed, as a browser does: the views of pages are
# Overview, Learning, Games, Nets and Actors in turn. Needs Node.js 20 or newer, as the
# page's build does, and Linux.
set -euo pipefail
cd "$(dirname "$0")/.."
pages=${1:-10} seconds=${2:-20} rounds=${3:-3} preset=${PRESET:-laptop}
bin=bin/selfplay dir=$(mktemp -d)
run=; served=
trap 'kill ${run:-} ${served:-} 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT

"$bin" --preset "$preset" --dir "$dir/run" >"$dir/run.log" 2>&1 & run=$!
until [ -e "$dir/run/config.yaml" ]; do sleep 0.2; done
"$bin" dash "$dir/run" --listen 127.0.0.1:0 >"$dir/dash.log" & served=$!
until grep -q http "$dir/dash.log"; do sleep 0.2; done
url=$(grep -o 'http://[0-9.:]*' "$dir/dash.log")

# Seconds of processors that a process has taken.
ticks=$(getconf CLK_TCK)
used() { awk -v t="$ticks" '{ sub(/.*\) /, ""); print ($12 + $13) / t }' "/proc/$1/stat"; }
interval() { # PAGES
  local page run0 watch=
  if [ "$1" -gt 0 ]; then node scripts/page-cost.mjs "$url" "$1" & watch=$!; sleep 2; fi
  page=$(used "$served") run0=$(used "$run")
  sleep "$seconds"
  awk -v p="$1" -v a="$page" -v b="$(used "$served")" -v c="$run0" -v d="$(used "$run")" -v s="$seconds" \
    'BEGIN { printf "%d %.4f %.4f\n", p, (b - a) / s, (d - c) / s }'
  if [ -n "$watch" ]; then kill "$watch" 2>/dev/null || true; wait "$watch" 2>/dev/null || true; fi
}
echo "pages  page, CPU s a second  run, CPU s a second"
sleep "${WARM:-60}"
for _ in $(seq "$rounds"); do
  for n in 0 "$pages"; do interval "$n"; done
done | tee "$dir/figures" | awk '{ printf "%5d  %21s  %20s\n", $1, $2, $3 }'
awk '{ n[$1 > 0]++; page[$1 > 0] += $2; run += $3 }
  END { printf "mean: without pages %.4f, with %.4f; the run %.4f: the pages take %.2f %% of it\n",
    page[0] / n[0], page[1] / n[1], run / (n[0] + n[1]), 100 * (page[1] / n[1] - page[0] / n[0]) / (run / (n[0] + n[1])) }' "$dir/figures"

#!/usr/bin/env bash
# What the page of a run costs: with ten pages open and with none, the processors' time that
# the process takes that serves them, and the games an hour that the run plays meanwhile.
# The run is one of its own, made and removed here; the page is served beside it
# (selfplay dash DIR), where its time can be told from that of the games.
#
#   scripts/page-cost.sh [PAGES [SECONDS [ROUNDS]]]     default 10 pages, 20 s, 2 rounds
#
# The run learns for three minutes (WARM, in seconds), so that there are nets, matches and games
# to show, and is then resumed with a trainer that waits for ever (train.samples_per_row):
# its net stays, and with it the rate of its games. So there is little that is new to show.
# With LEARNS=1 it goes on learning: then the page's share of the time of processors is that
# with new nets, matches and pictures, and the games an hour do not compare.
#
# A round has four intervals: without pages, with them, with them, without; the next round
# has them the other way round. So whatever changes steadily favours neither, and a round's
# difference is that of neighbours. Times of processors are counted by the system, and other
# programs do not change them. Games an hour do change with whatever else the machine does,
# and with the work of who watches, which is shown as "clients" and in use is done by a
# browser, elsewhere or not. The last lines are means with the standard error of the
# difference over rounds. To see 1 % of the games an hour takes a quiet machine and
# three quarters of an hour, such as 10 60 10: games of different lengths alone
# make an interval of 60 s uncertain by half a percent.
# Who watches can be put on a processor of its own, as it is in use: CLIENTS is put before
# its command.
#
#   CLIENTS='taskset -c 0' taskset -c 1 scripts/page-cost.sh 10 30 12
#
# Every page keeps the stream of states open, and asks again for what its view shows
# whenever the state says that it has changed, as a browser does: the views of pages are
# Overview, Learning, Games, Nets and Actors in turn, Nets with the picture of a neuron.
# Boards of games under way are not measured: the run itself serves no page. Needs Node.js 20
# or newer, as the page's build does, and Linux.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
most 3 $#
pages=${1:-10} seconds=${2:-20} rounds=${3:-2} preset=${PRESET:-laptop} metrics=127.0.0.1:${PORT:-9179}
whole pages "$pages"
whole seconds "$seconds"
whole rounds "$rounds"
whole WARM "${WARM:-180}"
whole SETTLE "${SETTLE:-20}" 0
whole PORT "${PORT:-9179}"
cd "$(dirname "$0")/.."
command -v node >/dev/null || { echo "page-cost: found no node, expected Node.js 20 or newer" >&2; exit 1; }
dir=$(mktemp -d)
bin=$dir/selfplay
run='' served='' watch=''
trap 'kill ${run:-} ${served:-} ${watch:-} 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$dir"' EXIT

go build -o "$bin" ./cmd/selfplay
"$bin" --preset "$preset" --dir "$dir/run" --for "${WARM:-180}s" >"$dir/run.log" 2>&1 & run=$!
wait "$run" || { tail -3 "$dir/run.log" >&2; exit 1; }
run=''
stays=(--set train.samples_per_row=1e-9)
[ -z "${LEARNS:-}" ] || stays=()
"$bin" --preset "$preset" --dir "$dir/run" --metrics "$metrics" "${stays[@]}" >>"$dir/run.log" 2>&1 & run=$!
"$bin" dash "$dir/run" --listen 127.0.0.1:0 >"$dir/dash.log" & served=$!
until grep -qs http "$dir/dash.log"; do
  kill -0 "$served" 2>/dev/null || { echo "page-cost: the server of the page ended by itself" >&2; exit 1; }
  sleep 0.2
done
url=$(grep -o 'http://[0-9.:]*' "$dir/dash.log")

# Seconds of processors that a process has taken.
ticks=$(getconf CLK_TCK)
used() { awk -v t="$ticks" '{ sub(/.*\) /, ""); print ($12 + $13) / t }' "/proc/$1/stat"; }
# Games finished so far, their positions, and the time in seconds.
games() {
  node -e 'fetch(process.argv[1]).then(r => r.text()).then(t => {
    const of = name => t.match(new RegExp(`^selfplay_actor_${name}_total (.*)`, "m"))[1]
    console.log(of("games"), of("positions"), Date.now() / 1000) })' "http://$metrics/metrics"
}
# The net that the run plays with.
net() { cat "$dir/run/nets/current" 2>/dev/null || echo none; }
interval() { # PAGES; not in a subshell, or the script would not know whom to end
  local before after page run0 client=0 client0=0 page1 run1
  watch=''
  if [ "$1" -gt 0 ]; then ${CLIENTS:-} node scripts/page-cost.mjs "$url" "$1" & watch=$!; fi
  sleep 2
  before=$(games)
  page=$(used "$served") run0=$(used "$run")
  [ -z "$watch" ] || client0=$(used "$watch")
  sleep "$seconds"
  after=$(games)
  page1=$(used "$served") run1=$(used "$run")
  [ -z "$watch" ] || client=$(used "$watch")
  awk -v p="$1" -v s="$seconds" -v page="$page $page1" -v run="$run0 $run1" -v client="$client0 $client" -v games="$before $after" 'BEGIN {
    split(page, a); split(run, b); split(client, c); split(games, g)
    hours = (g[6] - g[3]) / 3600
    printf "%d %.4f %.4f %.4f %.1f %.0f\n", p, (a[2] - a[1]) / s, (c[2] - c[1]) / s, (b[2] - b[1]) / s, (g[4] - g[1]) / hours, (g[5] - g[2]) / hours }'
  if [ -n "$watch" ]; then kill "$watch" 2>/dev/null || true; wait "$watch" 2>/dev/null || true; watch=''; fi
}
echo "pages  page, CPU s/s  clients, CPU s/s  run, CPU s/s  games/h  positions/h"
sleep "${SETTLE:-20}" # until what the gate had before it is judged
before=$(net)
for ((round = 1; round <= rounds; round++)); do
  order="0 $pages $pages 0"
  if [ $((round % 2)) = 0 ]; then order="$pages 0 0 $pages"; fi
  for n in $order; do
    interval "$n" >>"$dir/figures"
    tail -n 1 "$dir/figures" | awk '{ printf "%5d  %13s  %16s  %12s  %7.0f  %11.0f\n", $1, $2, $3, $4, $5, $6 }'
  done
done
[ "$(net)" = "$before" ] || echo "the net has changed meanwhile: the games an hour do not compare" >&2
awk 'function compare(what, digits, i, mean, square, d) {
    for (i = 1; i <= rounds; i++) { d[i] = 100 * (rate[what, 1, i] / rate[what, 0, i] - 1); mean += d[i] / rounds }
    for (i = 1; i <= rounds; i++) square += (d[i] - mean) ^ 2
    printf "%s: %.*f without pages, %.*f with them: %+.2f %%", what, digits, sum[what, 0] / each, digits, sum[what, 1] / each, mean
    if (rounds > 1) printf ", standard error %.2f %%", sqrt(square / (rounds - 1) / rounds)
    printf "\n" }
  function add(what, with, value) { sum[what, with] += value; rate[what, with, round] += value / 2 }
  { with = $1 > 0; n[with]++; page[with] += $2; run += $4; round = int((NR - 1) / 4) + 1
    add("games an hour", with, $5); add("positions an hour", with, $6); add("positions a CPU second of the run", with, $6 / 3600 / $4) }
  END {
    each = n[1]; rounds = each / 2
    printf "the page takes %.4f CPU s/s without pages and %.4f with them; the run takes %.4f: the pages take %.2f %% of it\n",
      page[0] / each, page[1] / each, run / (2 * each), 100 * (page[1] - page[0]) / each / (run / (2 * each))
    compare("games an hour", 0); compare("positions an hour", 0); compare("positions a CPU second of the run", 0) }' "$dir/figures"

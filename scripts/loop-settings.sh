#!/usr/bin/env bash
# Measures what settings of a loop are worth: each runs from zero for the same processor
# time, with the same seeds, and its last net plays material and the net of the first
# row with the same seed.
#
#   scripts/loop-settings.sh list cpu-time 'seeds...' games directory [loop-flag...]
#   scripts/loop-settings.sh settings 10m '1 2' 2000 runs/settings
#
# The list has settings a line: a name, without spaces, then what is set, in quotes where
# it has spaces. Lines from # are left out. The first line is what the others are compared
# with. For example:
#
#   base
#   squares   net.features='All + Hand'
#   deeper    actor.nodes=500
#   research  actor.nodes=120 actor.research_share=0.1 train.research_weight=3
#
# Games are those of each match, 400 nodes a move, from the program's own book. All runs
# wait for their processor time, so other work on the machine changes what a row is only
# by what its threads cost each other. After an interruption the same command goes on with
# what is left; a loop that was cut short begins anew.
#
# Environment: SELFPLAY is our program, by default built from this tree; NODES are those
# of the matches, 400.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
trap 'exit 143' TERM # after the loop that is under way, which nothing else would end
if [ $# -lt 5 ]; then
  refuse "found $# arguments, expected 5 at least"
fi
list=$1 cpu=$2 seeds=$3 games=$4 dir=$5
shift 5
nodes=${NODES:-400}
readable "$list"
whole games "$games"
whole NODES "$nodes"
base=$(awk '!/^ *(#|$)/{print $1; exit}' "$list")
if [ -z "$base" ] || [ -z "${seeds// /}" ]; then
  refuse "found settings '$base' first in $list and seeds '$seeds', expected one of both at least"
fi
for seed in $seeds; do whole 'a seed' "$seed" 0; done
mkdir -p "$dir"
dir=$(realpath "$dir")
if [ -z "${SELFPLAY:-}" ]; then
  SELFPLAY=$dir/selfplay
  [ -e "$SELFPLAY" ] || (cd "$(dirname "$0")/.." && go build -o "$SELFPLAY" ./cmd/selfplay)
fi

# elo A B NAME: plays a match, or goes on with it, and prints the result.
elo() {
  if ! "$SELFPLAY" match "$1" "$2" --games "$games" --nodes "$nodes" --log "$3.jsonl" >"$3.table" 2>"$3.err"; then
    tail -3 "$3.err" >&2
    return 1
  fi
  awk '/^Elo: /{sub(/,$/, "", $4); print $2 " ± " $4}' "$3.table"
}

printf '| settings | seed | games | positions | generation | Elo against material | against %s |\n|---|---|---|---|---|---|---|\n' \
  "$base"
for seed in $seeds; do
  first=''
  while read -r name text || [ -n "$name" ]; do
    case $name in '' | '#'*) continue ;; esac
    run=$dir/$name-$seed
    : "${first:=$run}"
    if [ ! -e "$run.done" ]; then
      rm -rf "$run" "$run.log"
      eval "set=($text)"
      if ! "$SELFPLAY" --dir "$run" --seed "$seed" --cpu-time "$cpu" "${set[@]/#/--set=}" "$@" >"$run.log" 2>&1; then
        tail -3 "$run.log" >&2
        exit 1
      fi
      touch "$run.done"
    fi
    stopped=$(sed -n 's/.*stopped with \([0-9]*\) games, \([0-9]*\) positions, .*generation \([0-9]*\).*/\1 \2 \3/p' "$run.log" | tail -1)
    if [ -z "$stopped" ]; then
      echo "loop-settings: found no line of the end in $run.log, expected 'stopped with … games'" >&2
      exit 1
    fi
    read -r played positions generation <<<"$stopped"
    material=$(elo "$run" material "$run.material")
    against=-
    [ "$run" = "$first" ] || against=$(elo "$run" "$first" "$run.first")
    printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$name" "$seed" "$played" "$positions" "$generation" "$material" "$against"
  done <"$list"
done

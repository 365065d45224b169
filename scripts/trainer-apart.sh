#!/usr/bin/env bash
# Training samples a second at full speed, of the trainer in three places: in the loop;
# as a process of its own on the replay role's directory; and on another directory, with
# a copy of the window over the bus. All train on the same games, beside one actor. Prints
# a line a round and the ratios to the loop.
#
#   scripts/trainer-apart.sh [rounds=4] [seconds=32]
set -euo pipefail
. "$(dirname "$0")/usage.bash"
most 2 $#
rounds=${1:-4} seconds=${2:-32}
whole rounds "$rounds"
whole seconds "$seconds"
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
server="" pids=()
stop() { for p in "${pids[@]}"; do kill -9 "$p" 2>>"$dir/log" && wait "$p" 2>>"$dir/log" || true; done; pids=(); }
cleanup() {
	[ -z "$server" ] || pids+=("$server")
	stop
	rm -rf "$dir"
}
trap cleanup EXIT
fail() {
	tail -q -n 3 "$dir/log" "$out" >&2
	echo "trainer-apart: $1" >&2
	exit 1
}
start() { "$@" >"$out" 2>>"$dir/log" & pids+=($!); }

go build -o "$dir/selfplay" ./cmd/selfplay
go build -o "$dir/nats-server" github.com/nats-io/nats-server/v2
out="$dir/base.out"
start "$dir/selfplay" --dir "$dir/base" --seed 1 --set run.id=apart --set run.name=apart --set actor.nodes=15 \
	--set train.min_positions=1000000000 --games 3000 --json
wait "${pids[0]}" || fail "the loop that makes the games failed"
pids=()
"$dir/nats-server" -js -sd "$dir/js" -a 127.0.0.1 -p 42229 >>"$dir/log" 2>&1 &
server=$!
on=(--nats nats://127.0.0.1:42229 --run apart --json)
full=(--set train.min_positions=100000 --set train.samples_per_row=1000 --set train.steps_per_net=1000000
	--set train.checkpoint=1000000 --set actor.nodes=1000000 --set actor.workers=1)

# rate WHERE sets speed to the samples a second, the mean of the last 15 seconds. It prints
# nothing: in a subshell, the script would not know which processes to end.
rate() {
	local where=$1 d="$dir/$1"
	rm -rf "$d" "$dir/games" "$dir/actor"
	cp -r "$dir/base" "$d"
	out="$dir/$where.out"
	if [ "$where" = loop ]; then
		start "$dir/selfplay" --dir "$d" "${on[@]}" "${full[@]}"
	else
		local games="$d"
		if [ "$where" = apart ]; then
			games="$dir/games"
			mkdir "$games"
			mv "$d/replay" "$d/run.json" "$games/"
			cp "$games/run.json" "$d/"
		fi
		start "$dir/selfplay" trainer --dir "$d" "${on[@]}" "${full[@]}"
		out="$dir/replay.out"
		start "$dir/selfplay" replay --dir "$games" "${on[@]}"
		out="$dir/actor.out"
		start "$dir/selfplay" actor --dir "$dir/actor" --workers 1 "${on[@]}"
	fi
	sleep "$seconds"
	stop
	out="$dir/$where.out" # of the trainer, which says why if there is no speed
	speed=$(sed -n 's/.*"samples_per_s":\([0-9]*\).*/\1/p' "$dir/$where.out" | tail -1)
	[ "${speed:-0}" -gt 0 ] || fail "found '$speed' samples a second of $where after $seconds s, expected some"
}

for ((round = 1; round <= rounds; round++)); do
	rate loop
	loop=$speed
	rate beside
	beside=$speed
	rate apart
	apart=$speed
	awk -v n="$round" -v l="$loop" -v b="$beside" -v a="$apart" \
		'BEGIN { printf "round %d: loop %d, replay'"'"'s directory %d (%.2f), another %d (%.2f)\n", n, l, b, b / l, a, a / l }'
done

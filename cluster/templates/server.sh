#!/bin/sh
# Runs nats-server with the arguments given, and ends it when it has served no JetStream for a
# minute, though it did: a server whose disk was full turns that off, and does not turn it on
# again when there is room. What started this script starts it again. One that does not
# answer counts likewise. Needs curl or wget.
every=${WATCH_EVERY:-10} fails=${WATCH_FAILS:-6} # seconds between questions; bad answers in a row
url="${WATCH_URL:-http://127.0.0.1:8222}/healthz?js-enabled-only=true"

serves() {
	if command -v curl; then
		curl -fs -m 5 -o /dev/null "$url"
	else
		wget -q -T 5 -O /dev/null "$url"
	fi >/dev/null 2>&1
}

# watch ends the process $1 when that has to be.
watch() {
	well='' failed=0
	while sleep "$every"; do
		if serves; then
			well=yes failed=0
		elif [ -n "$well" ] && failed=$((failed + 1)) && [ "$failed" -ge "$fails" ]; then
			echo "nats-server has served no JetStream $failed times in a row, every $every s: it is started again" >&2
			kill "$1"
			sleep 30
			kill -9 "$1"
		fi
	done
}

nats-server "$@" &
server=$!
watch "$server" &
watcher=$!
for signal in HUP USR2 TERM INT; do
	trap "kill -$signal $server" "$signal"
done
while # a signal ends a wait early
	wait "$server"
	code=$?
	kill -0 "$server" 2>/dev/null
do :; done
wait "$server" # it may have ended just after that signal
last=$?
[ "$last" = 127 ] || code=$last # 127: the wait before had its code
kill "$watcher"
exit "$code"

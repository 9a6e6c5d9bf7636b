#!/bin/sh
# Goes from a clone to the first spoken answer in a directory that has nothing, and prints how
# many seconds each command took.
#
#   deploy/first-answer.sh REPOSITORY [DIR]
#
# REPOSITORY is what git clones, an address or a path. DIR must be missing or empty, and stays;
# without it a directory of its own is used, and removed in the end. The server listens on free
# ports of this machine, and is stopped in the end. Packages that make build installs stay.
set -eu

usage() {
	echo "usage: deploy/first-answer.sh REPOSITORY [DIR]" >&2
	exit 2
}
[ $# -eq 1 ] || [ $# -eq 2 ] || usage
repository=$1
[ ! -d "$repository" ] || repository=$(cd "$repository" && pwd)

own=
if [ $# -eq 2 ]; then
	dir=$2
	mkdir -p "$dir"
	[ -z "$(ls -A "$dir")" ] || { echo "$dir is not empty" >&2; usage; }
else
	own=yes
	dir=$(mktemp -d)
	chmod 755 "$dir" # the database's account, where this is run as root
fi

server=
finish() {
	status=$?
	trap - EXIT
	[ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" || true; }
	if [ -n "$own" ]; then
		cd / && rm -rf "$dir"
	fi
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$dir"

# A newcomer's shell has no settings and no key.
for name in $(env | sed -n 's/^\(PARLEY_[A-Z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done

now() { date +%s.%N; }
began=$(now)

# seconds prints how long it is since $1, before what took so long.
seconds() {
	awk -v from="$1" -v to="$(now)" -v what="$2" 'BEGIN { printf "%7.1f s  %s\n", to - from, what }'
}

# failed says what a command printed last.
failed() {
	echo "failed: $1" >&2
	tail -n 20 "$2" >&2
	exit 1
}

# step runs a command line and says how long it took; what it prints goes to the file output.
step() {
	from=$(now)
	sh -c "$1" >"$dir/output" 2>&1 || failed "$1" "$dir/output"
	seconds "$from" "$1"
}

dir=$PWD
step "git clone --quiet '$repository' parley"
cd parley
step "make build"

from=$(now)
export PARLEY_HTTP_ADDR=127.0.0.1:0 PARLEY_METRICS_ADDR=127.0.0.1:0 PARLEY_SIP_ADDR=127.0.0.1:0 PARLEY_WEBRTC_UDP_PORT=0
bin/parley serve --demo >"$dir/server" 2>&1 &
server=$!
tries=0

# until_true asks again until a command succeeds, for two minutes at most.
until_true() {
	until "$@" >/dev/null 2>&1; do
		kill -0 "$server" 2>/dev/null && [ $((tries += 1)) -le 600 ] || failed "bin/parley serve --demo" "$dir/server"
		sleep 0.2
	done
}

# The server says how to talk to it, before it is ready to.
until_true grep '^  bin/parley talk ' "$dir/server"
environment=$(sed -n 's/^  \(export PARLEY_URL=.*\)/\1/p' "$dir/server")
talk=$(sed -n 's/^  \(bin\/parley talk .*\)/\1/p' "$dir/server")
eval "$environment"
until_true curl -fsS "$PARLEY_URL/readyz"
seconds "$from" "bin/parley serve --demo"
step "$talk"
[ -s answer.wav ] || failed "$talk" "$dir/output"
seconds "$began" "from the clone to the answer:"
sed 's/^/           /' "$dir/output"

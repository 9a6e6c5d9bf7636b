#!/bin/sh
# Brings the TypeScript compiler, which builds the client for TypeScript, once.
#
#   deploy/typescript.sh DIR   puts the npm package typescript into DIR
#
# None of its scripts runs. It is Apache-2.0-licensed, by Microsoft Corporation.
set -eu

version=5.9.3
sum=10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3

[ $# = 1 ] || {
	echo "usage: deploy/typescript.sh DIR" >&2
	exit 2
}
command -v npm >/dev/null || {
	echo "npm brings it and is not installed: apt-get install npm" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent --ignore-scripts "typescript@$version" >/dev/null)
echo "$sum  $work/typescript-$version.tgz" | sha256sum --check --status || {
	echo "this is not the TypeScript $version that is known here" >&2
	exit 1
}
rm -rf "$1"
mkdir -p "$1"
tar -xzf "$work/typescript-$version.tgz" -C "$1" --strip-components 1

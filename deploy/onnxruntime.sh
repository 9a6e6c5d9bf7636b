#!/bin/sh
# Brings ONNX Runtime, which runs neural models that users bring, once.
#
#   deploy/onnxruntime.sh DIR   puts libonnxruntime.so.1 into DIR
#
# The library is part of the npm package onnxruntime-node, of which nothing else is kept and
# none of whose scripts runs. It is MIT-licensed, by Microsoft Corporation.
set -eu

version=1.24.3
case "$(uname -s)-$(uname -m)" in
Linux-x86_64) arch=x64 sum=92ba8e44d31b80a34f5e805076a044122c3be1fffe0d88ed790de7267b0b2682 ;;
Linux-aarch64) arch=arm64 sum=33032cb5b91c12edbf028d7c69fa40a31848d66c0095448758af237d5e0b07db ;;
*)
	echo "onnxruntime-node $version has no ONNX Runtime for $(uname -sm)" >&2
	exit 1
	;;
esac

[ $# = 1 ] || {
	echo "usage: deploy/onnxruntime.sh DIR" >&2
	exit 2
}
mkdir -p "$1"
file="$(cd "$1" && pwd)/libonnxruntime.so.1"
right() { [ -e "$file$1" ] && echo "$sum  $file$1" | sha256sum --check --status; }
right "" && exit 0

command -v npm >/dev/null || {
	echo "npm brings it and is not installed: apt-get install npm" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work" "$file.part"' EXIT
cd "$work"
npm pack --silent --ignore-scripts "onnxruntime-node@$version" >/dev/null
tar -xzOf "onnxruntime-node-$version.tgz" "package/bin/napi-v6/linux/$arch/libonnxruntime.so.1" >"$file.part"
right .part || {
	echo "this is not the ONNX Runtime $version that is known here" >&2
	exit 1
}
mv "$file.part" "$file"

#!/bin/sh
# Installs the system packages that Parley needs on Debian and Ubuntu, once.
#
#   deploy/install.sh build   to build and run it
#   deploy/install.sh test    to run its tests too
#   deploy/install.sh image   to make images of it
#
# As root it uses apt, else sudo; where that is not possible it prints the one
# command to run. When everything is there it does nothing and needs no network.
set -eu

build="build-essential pkg-config postgresql ffmpeg libopus-dev libopusfile-dev
	espeak-ng libespeak-ng-dev libpocketsphinx-dev libsphinxbase-dev pocketsphinx-en-us"
# Other people's telephones, voices and tools, to test against, and the languages
# that the documentation's examples and the clients are written in.
test="flite sox sip-tester baresip-core linphone-cli kamailio kamailio-tls-modules rtpengine-daemon keepalived redis-server pgbouncer prometheus docker-compose iproute2 iptables openssl python3 python3-websockets python3-pip python3-setuptools python3-wheel nodejs node-ws curl chromium-headless-shell"

# Brings ONNX Runtime and the TypeScript compiler to the tests; packages of Node.js from elsewhere have it, and conflict with Debian's.
command -v npm >/dev/null || test="$test npm"

case "${1-}" in
build) wanted=$build ;;
test) wanted="$build $test" ;;
image) wanted="$build mmdebstrap umoci runc" ;;
*)
	echo "usage: deploy/install.sh build|test|image" >&2
	exit 2
	;;
esac

if ! command -v apt-get >/dev/null; then
	echo "This is neither Debian nor Ubuntu. Install what corresponds to:" $wanted >&2
	exit 1
fi

installed() {
	dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q ' installed$'
}

missing=""
for p in $wanted; do
	installed "$p" || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	# sudo may ask for a password only where somebody can type one.
	ask=-n
	[ -t 0 ] && ask=
	if command -v sudo >/dev/null && sudo $ask true 2>/dev/null; then
		exec sudo "$0" "$1"
	fi
	echo "Packages are missing:$missing" >&2
	echo "Run this as root, then try again: $(cd "$(dirname "$0")" && pwd)/install.sh $1" >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
install() {
	apt-get install -y --no-install-recommends "$@"
}

apt-get update
case "$missing" in
*" postgresql"*)
	# Parley runs a PostgreSQL of its own; the package's usual one, which would
	# start with the machine, is not wanted.
	install postgresql-common
	sed -i -E 's/^#? *create_main_cluster *=.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
	;;
esac
# Tests run these themselves; as services they would take the usual ports.
for p in kamailio rtpengine-daemon keepalived redis-server pgbouncer prometheus; do
	case "$missing " in
	*" $p "*)
		mkdir -p /etc/systemd/system
		[ -e "/etc/systemd/system/$p.service" ] || ln -s /dev/null "/etc/systemd/system/$p.service"
		;;
	esac
done
# Without systemd, packages ask this whether to start what they bring.
policy=/usr/sbin/policy-rc.d
if [ ! -d /run/systemd/system ] && [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
# Older releases have no rtpengine; its tests are skipped there.
apt-cache show rtpengine-daemon >/dev/null 2>&1 || missing=$(echo "$missing" | sed 's/ rtpengine-daemon//')
install $missing

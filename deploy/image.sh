#!/bin/sh
# Builds an OCI image of Debian's packages, without a container engine, and prints its name and digest.
#
#   deploy/image.sh parley VERSION IMAGE.tar FILE...   the server: FILE... go into /opt/parley/bin
#   deploy/image.sh edge VERSION IMAGE.tar             Kamailio and rtpengine, for deploy/kamailio
#
# The packages are those of the release, and of the mirrors, of this machine, on which the files were built. From the same packages and
# files comes the same image, byte by byte; SOURCE_DATE_EPOCH, by default the time of the last commit, is the time of all in it.
# Packages are in a layer of their own, so that a new version of the server is a small one. It wants the system packages mmdebstrap and
# umoci, and root, or user namespaces.
set -eu

[ $# -ge 3 ] || {
	echo "usage: deploy/image.sh parley|edge VERSION IMAGE.tar [FILE...]" >&2
	exit 2
}
name=$1 version=$2 image=$3
shift 3
top=$(cd "$(dirname "$0")/.." && pwd)
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH-$(git -C "$top" log -1 --format=%ct)}"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

case "$name" in
parley)
	# What bin/parley and bin/parley-speech are linked to, converters of audio, and what the server is without a database of yours.
	packages="ca-certificates tzdata libopus0 libespeak-ng1 espeak-ng-data libpocketsphinx3 libsphinxbase3 pocketsphinx-en-us ffmpeg postgresql"
	;;
edge) packages="ca-certificates iproute2 kamailio kamailio-tls-modules rtpengine-daemon" ;;
*)
	echo "there is no image $name" >&2
	exit 2
	;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# No database cluster is wanted at installation, no compiler for long queries and no graphics, nor keys and names that all containers
# would share.
mmdebstrap --quiet --variant=essential --include="$packages" --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-confold --dpkgopt=force-unsafe-io \
	--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	--dpkgopt='path-exclude=/usr/lib/*/libLLVM-*' --dpkgopt='path-exclude=/usr/lib/postgresql/*/llvmjit*' --dpkgopt='path-exclude=/usr/lib/postgresql/*/bitcode/*' --dpkgopt='path-exclude=/usr/lib/*/dri/*' \
	--essential-hook='mkdir -p "$1/etc/postgresql-common" && echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"' \
	--customize-hook="chroot \"\$1\" useradd --system --uid 10001 -K SYS_UID_MAX=10001 --user-group --home-dir /var/lib/$name --shell /usr/sbin/nologin $name" \
	--customize-hook="chroot \"\$1\" install -d -m 700 -o $name -g $name /var/lib/$name /srv/$name" \
	--customize-hook='cd "$1" && rm -rf etc/dpkg/dpkg.cfg.d/99mmdebstrap etc/hostname etc/resolv.conf etc/machine-id var/lib/dbus/machine-id etc/ssl/private/* etc/ssl/certs/ssl-cert-snakeoil.pem var/cache/debconf/* var/log/*' \
	--customize-hook='find "$1/etc/ssl/certs" -xtype l -lname "*snakeoil*" -delete' \
	"$suite" "$work/packages.tar" $(find /etc/apt -name '*.sources' -o -name '*.list' | sort)

plain="--sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime=@$SOURCE_DATE_EPOCH --mode=u+rwX,go+rX,go-w"
mkdir -p "$work/files/opt/$name/bin"
cp "$top/LICENSE" "$top/NOTICE" "$work/files/opt/$name"
[ $# -eq 0 ] || cp -r "$@" "$work/files/opt/$name/bin"
tar $plain -C "$work/files" -cf "$work/files.tar" opt

time=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
oci="$work/oci:$name:$version"
umoci init --layout "$work/oci"
umoci new --image "$oci"
for layer in packages files; do
	umoci raw add-layer --image "$oci" --history.created "$time" --history.created_by "deploy/image.sh: $layer" "$work/$layer.tar"
done
case "$name" in
parley)
	set -- --config.entrypoint /opt/parley/bin/parley --config.cmd serve --config.volume /var/lib/parley --config.env PARLEY_DATA_DIR=/var/lib/parley \
		--config.exposedports 8080/tcp --config.exposedports 8443/udp --config.exposedports 5060/udp --config.exposedports 5060/tcp
	;;
edge) set -- ;;
esac
umoci config --image "$oci" --no-history --created "$time" --os linux --config.user 10001:10001 --config.workingdir "/var/lib/$name" --config.stopsignal SIGTERM \
	--config.env "PATH=/opt/$name/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" --config.env LANG=C.UTF-8 \
	--config.label "org.opencontainers.image.title=$name" --config.label "org.opencontainers.image.version=$version" "$@"
umoci gc --layout "$work/oci"

# Docker without the store of containerd reads manifest.json, which names the same blobs.
digest=$(grep -o 'sha256:[0-9a-f]*' "$work/oci/index.json")
set -- $(grep -o 'sha256:[0-9a-f]*' "$work/oci/blobs/sha256/${digest#sha256:}" | sed 's|sha256:|blobs/sha256/|')
printf '[{"Config":"%s","RepoTags":["%s"],"Layers":["%s","%s"]}]\n' "$1" "$name:$version" "$2" "$3" >"$work/oci/manifest.json"
mkdir -p "$(dirname "$image")"
tar $plain -C "$work/oci" -cf "$image" .
echo "$name:$version $digest"

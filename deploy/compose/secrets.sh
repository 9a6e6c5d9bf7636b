#!/bin/sh
# Makes the files of secrets that compose.yaml names, beside it. Those that there are stay as they are.
set -eu
umask 077
cd "$(dirname "$0")"
if [ ! -e parley.env ] && [ ! -e postgres.env ]; then
	password=$(openssl rand -hex 24)
	echo "POSTGRES_PASSWORD=$password" >postgres.env
	printf 'PARLEY_SECRET=%s\nPARLEY_DATABASE_URL=postgres://parley:%s@127.0.0.1:5432/parley\n' "$(openssl rand -hex 32)" "$password" >parley.env
fi
[ -e grafana.env ] || echo "GF_SECURITY_ADMIN_PASSWORD=$(openssl rand -hex 12)" >grafana.env

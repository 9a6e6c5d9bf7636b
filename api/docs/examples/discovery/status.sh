#!/bin/sh
set -eu
for part in health voices models; do
  curl -sS --fail-with-body "$PARLEY_URL/api/status/$part" -H "Authorization: Bearer $PARLEY_API_KEY"
done

#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/v1/account" -H "Authorization: Bearer $PARLEY_API_KEY"

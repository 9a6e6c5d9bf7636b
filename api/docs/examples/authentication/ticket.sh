#!/bin/sh
set -eu
curl -sS --fail-with-body -X POST "$PARLEY_URL/ws-ticket" -H "Authorization: Bearer $PARLEY_API_KEY"

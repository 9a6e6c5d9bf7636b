#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/v1/tickets" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/json" \
  -d '{"scope": ["synthesis"], "expires_in": 60}'

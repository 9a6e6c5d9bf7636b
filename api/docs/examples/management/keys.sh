#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

# The answer holds the key itself, this once.
key=$(curl -sS --fail-with-body "$PARLEY_URL/v1/keys" -H "$auth" \
  -H "Content-Type: application/json" -d '{"name": "website"}' | sed -n 's/.*"id": *"\(key_[^"]*\)".*/\1/p')

curl -sS --fail-with-body "$PARLEY_URL/v1/keys" -H "$auth"
curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/keys/$key" -H "$auth"
echo "$key revoked"

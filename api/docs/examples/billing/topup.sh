#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

# The customer pays at "url".
topup=$(curl -sS --fail-with-body "$PARLEY_URL/v1/topups" -H "$auth" \
  -H "Content-Type: application/json" -d '{"amount": 25}' | sed -n 's/.*"id": *"\(top_[^"]*\)".*/\1/p')

curl -sS --fail-with-body "$PARLEY_URL/v1/topups/$topup" -H "$auth"
curl -sS --fail-with-body "$PARLEY_URL/v1/topups?limit=5" -H "$auth"

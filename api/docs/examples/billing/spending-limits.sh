#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
url="$PARLEY_URL/v1/spending-limits"

# In place of account stands the identifier of a key or an agent; null takes the limit away.
curl -sS --fail-with-body -X PATCH "$url/account" -H "$auth" -H "Content-Type: application/json" -d '{"daily_limit": 20}'

curl -sS --fail-with-body "$url" -H "$auth"

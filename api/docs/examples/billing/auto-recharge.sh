#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
json="Content-Type: application/json"
url="$PARLEY_URL/v1/auto-recharge"

# A card has to have paid a top-up before this can be enabled.
card=$(curl -sS --fail-with-body "$url" -H "$auth" | sed -n 's/.*"card_saved": *\([a-z]*\).*/\1/p')

curl -sS --fail-with-body -X PUT "$url" -H "$auth" -H "$json" \
  -d "{\"enabled\": $card, \"threshold\": 10, \"amount\": 50, \"monthly_cap\": 200}"

# What is not sent stays as it is.
curl -sS --fail-with-body -X PATCH "$url" -H "$auth" -H "$json" -d '{"monthly_cap": 300}'

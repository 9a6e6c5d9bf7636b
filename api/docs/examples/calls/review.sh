#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

curl -sS --fail-with-body "$PARLEY_URL/v1/latency?group_by=day" -H "$auth"
curl -sS --fail-with-body "$PARLEY_URL/v1/latency/engines" -H "$auth"
curl -sS --fail-with-body "$PARLEY_URL/v1/calls.csv?state=ended" -H "$auth"

ended=0
for call in $(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?state=live&direction=outbound" -H "$auth" | grep -o '"id":"ses_[^"]*' | sed 's/.*"//'); do
  curl -sS --fail-with-body -X POST "$PARLEY_URL/v1/calls/$call/hangup" -H "$auth"
  ended=$((ended + 1))
done
echo "$ended calls hung up"

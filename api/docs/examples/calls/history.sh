#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

list=$(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?limit=10" -H "$auth")
echo "$list"
call=$(echo "$list" | grep -o '"id":"ses_[^"]*' | head -n 1 | sed 's/.*"//')
if [ -n "$call" ]; then
  for part in "" /quality /sip; do
    curl -sS --fail-with-body "$PARLEY_URL/v1/calls/$call$part" -H "$auth"
  done
fi

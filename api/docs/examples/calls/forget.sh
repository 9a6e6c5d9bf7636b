#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

forgotten=0
for call in $(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?limit=100&number=%2B34600111222" -H "$auth" | grep -o '"id":"ses_[^"]*' | sed 's/.*"//'); do
  curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/calls/$call" -H "$auth"
  forgotten=$((forgotten + 1))
done
echo "$forgotten calls forgotten"

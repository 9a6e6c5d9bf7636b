#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
at="$PARLEY_URL/callcenter/call-window"

# Nobody is called before nine and after eight, by the clocks where they are.
curl -sS --fail-with-body -X PUT "$at" -H "$auth" -H "Content-Type: application/json" \
  -d '{"start": "09:00", "end": "20:00", "timezone": "destination"}'
curl -sS --fail-with-body "$at" -H "$auth"
curl -sS --fail-with-body -X DELETE "$at" -H "$auth" # people are called at any time again

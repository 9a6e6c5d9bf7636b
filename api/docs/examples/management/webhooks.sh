#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

ask() { curl -sS --fail-with-body -X "$1" "$PARLEY_URL$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }

made=$(ask POST /v1/webhooks '{"url": "https://bookings.example/parley", "events": ["call.ended", "call.transcript"]}')
hook=$(echo "$made" | sed -n 's/.*"id": *"\(wh_[^"]*\)".*/\1/p')
echo "$hook" # "secret" of the answer is shown this once: keep it

ask GET /v1/webhooks
ask GET "/v1/webhooks/$hook"
ask PATCH "/v1/webhooks/$hook" '{"description": "Bookings"}'

event=$(ask POST "/v1/webhooks/$hook/test" | sed -n 's/.*"id": *"\(evt_[^"]*\)".*/\1/p')
ask GET "/v1/webhooks/$hook/deliveries?limit=5"
ask POST "/v1/webhooks/$hook/deliveries/$event/retry"

ask POST "/v1/webhooks/$hook/rotate" > rotated.json # both secrets sign for a day
ask DELETE "/v1/webhooks/$hook"
echo removed

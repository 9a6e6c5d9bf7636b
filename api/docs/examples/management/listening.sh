#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

ask() { curl -sS --fail-with-body -X "$1" "$PARLEY_URL$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }

# The address is for people: nothing is sent there.
made=$(ask POST /v1/webhooks '{"url": "http://localhost:3000/parley", "listen": true}')
hook=$(echo "$made" | sed -n 's/.*"id": *"\(wh_[^"]*\)".*/\1/p')
ask POST "/v1/webhooks/$hook/test" > event.json

taken=$(ask POST "/v1/webhooks/$hook/deliveries/take?wait=20") # {"event": {"headers": {…}, "body": "…"}}
echo "$taken"
event=$(echo "$taken" | sed -n 's/.*"id": *"\(evt_[^"]*\)".*/\1/p')

# Here it is posted to the address, with its headers.
ask POST "/v1/webhooks/$hook/deliveries/$event/attempts" '{"status": 200, "latency_ms": 12}'
ask DELETE "/v1/webhooks/$hook"
echo removed

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY" # a key with the mark listen

streams=0
for call in $(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?state=live&number=%2B34600111222" -H "$auth" | grep -o '"id":"ses_[^"]*' | sed 's/.*"//'); do
  stream=$(curl -sS --fail-with-body "$PARLEY_URL/v1/calls/$call/streams" -H "$auth" -H "Content-Type: application/json" \
    -d '{"url": "wss://example.com/calls", "headers": {"Authorization": "Bearer {{secret.RECEIVER}}"}}' | grep -o '"id":"[^"]*' | sed 's/.*"//')
  streams=$((streams + 1))
  sleep 10
  curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/calls/$call/streams/$stream" -H "$auth"
done
echo "$streams streams"

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

fetched=0
for call in $(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?limit=10&state=ended" -H "$auth" | grep -o '"id":"ses_[^"]*' | sed 's/.*"//'); do
  # 404: it was not recorded; 409: not ready yet; 410: deleted, or kept long enough.
  status=$(curl -sS "$PARLEY_URL/v1/calls/$call/recording" -H "$auth" -o "$call.ogg" -w '%{http_code}')
  if [ "$status" = 200 ]; then
    curl -sS --fail-with-body "$PARLEY_URL/v1/calls/$call/recording/peaks" -H "$auth" >"$call.json"
    curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/calls/$call/recording" -H "$auth"
    fetched=$((fetched + 1))
  else
    rm -f "$call.ogg"
  fi
done
echo "$fetched recordings fetched"

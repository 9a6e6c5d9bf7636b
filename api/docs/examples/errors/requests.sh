#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

refused=0
for request in $(curl -sS --fail-with-body "$PARLEY_URL/v1/requests?outcome=refused&limit=5" -H "$auth" | grep -o '"id":"req_[^"]*' | sed 's/.*"//'); do
  curl -sS --fail-with-body "$PARLEY_URL/v1/requests/$request" -H "$auth"
  refused=$((refused + 1))
done
echo "$refused requests were refused"

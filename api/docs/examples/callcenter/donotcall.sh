#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
at="$PARLEY_URL/v1/do-not-call"

curl -sS --fail-with-body "$at" -H "$auth" -H "Content-Type: application/json" \
  -d '{"number": "+34 612 345 671", "reason": "wrote to us"}'
curl -sS --fail-with-body "$at/+34612345671" -H "$auth"
curl -sS --fail-with-body "$at?limit=10" -H "$auth"

# A list from elsewhere, and ours as a file.
printf 'number,reason\n+34612345672,asked by mail\n' |
  curl -sS --fail-with-body "$at.csv" -H "$auth" -H "Content-Type: text/csv" --data-binary @-
curl -sS --fail-with-body "$at.csv" -H "$auth"

for number in +34612345671 +34612345672; do
  curl -sS --fail-with-body -X DELETE "$at/$number" -H "$auth"
done
echo removed

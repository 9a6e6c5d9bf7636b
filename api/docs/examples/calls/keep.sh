#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

found=0
for call in $(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?q=refund+or+money" -H "$auth" | grep -o '"id":"ses_[^"]*' | sed 's/.*"//'); do
  curl -sS --fail-with-body -X PATCH "$PARLEY_URL/v1/calls/$call" -H "$auth" -H "Content-Type: application/json" \
    -d '{"tags": ["refund"], "note": "Look at the order.", "metadata": {"order": "42"}}'
  found=$((found + 1))
done
echo "$found calls about refunds"

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

# Something that costs.
curl -sS --fail-with-body -o charged.wav "$PARLEY_URL/tts/synthesize" -H "$auth" \
  -H "Content-Type: application/json" -d '{"text": "This costs me.", "voice": "F1", "language": "en"}'

session=$(curl -sS --fail-with-body "$PARLEY_URL/v1/ledger?kind=usage&limit=100" -H "$auth" |
  grep -o '"component":"tts","session_id":"ses_[^"]*' | head -n 1 | sed 's/.*"//')
curl -sS --fail-with-body "$PARLEY_URL/v1/calls/$session/receipt" -H "$auth"

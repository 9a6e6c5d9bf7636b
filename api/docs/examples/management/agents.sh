#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
json="Content-Type: application/json"

agent=$(curl -sS --fail-with-body "$PARLEY_URL/v1/agents" -H "$auth" -H "$json" \
  -d '{"name": "Lola", "voice": "F1", "language": "en", "prompt": "We are open from nine to six.", "metadata": {"team": "sales"}}' |
  sed -n 's/.*"id": *"\(ag_[^"]*\)".*/\1/p')

# The ETag makes sure that nobody else has changed it in between.
etag=$(curl -sS --fail-with-body -D - -o agent.json "$PARLEY_URL/v1/agents/$agent" -H "$auth" |
  tr -d '\r' | sed -n 's/^[Ee][Tt][Aa][Gg]: //p')
curl -sS --fail-with-body -X PATCH "$PARLEY_URL/v1/agents/$agent" -H "$auth" -H "$json" \
  -H "If-Match: $etag" -d '{"name": "Lola the Second"}'

curl -sS --fail-with-body -g "$PARLEY_URL/v1/agents?limit=5&metadata[team]=sales" -H "$auth"
curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/agents/$agent" -H "$auth"
echo deleted

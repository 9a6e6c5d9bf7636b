#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

ask() { curl -sS --fail-with-body -X "$1" "$PARLEY_URL$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }

ask GET /v1/agents/schema >agent.schema.json # editors check agents by it

ask POST /v1/agents/validate '{"name": "Lola", "settings": {"speed": 9}}' # what is wrong with it; nothing is stored

agent=$(ask POST /v1/agents '{"name": "Lola", "first_message": "Hello {{caller.name}} from {{city}}!",
  "settings": {"variables": {"city": "Rome"}}}' | sed -n 's/.*"id": *"\(ag_[^"]*\)".*/\1/p')
ask PATCH "/v1/agents/$agent" '{"first_message": "Hello!"}'

versions=$(ask GET "/v1/agents/$agent/versions" | grep -o '"version":' | wc -l)
echo "$((versions)) versions"
ask GET "/v1/agents/$agent/versions/2/diff"
first=$(ask GET "/v1/agents/$agent/versions/1")
ask PUT "/v1/agents/$agent" "$first" | sed -n 's/.*"first_message": *"\([^"]*\)".*/restored: \1/p'

ask DELETE "/v1/agents/$agent"

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
json="Content-Type: application/json"
field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" | head -n 1; }

curl -sS --fail-with-body "$PARLEY_URL/callcenter/status" -H "$auth"
curl -sS --fail-with-body "$PARLEY_URL/callcenter/agents" -H "$auth"

# Of the first page, the first number that a month includes.
number=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers/search?country_code=PT&page=1" -H "$auth" |
  tr '{' '\n' | grep '"monthly_cost": *[0-4]\.\{0,1\}' | field phone_number)

# It is charged at once. The key makes it safe to send this again after a lost answer.
bought=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers" -H "$auth" -H "$json" \
  -H "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' ')" \
  -d "{\"phone_number\": \"$number\", \"agent_id\": \"$AGENT_ID\"}")
id=$(echo "$bought" | field id)

# Now another agent, or with an empty agent_id nobody, answers it.
curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers/$id/assign" -H "$auth" -H "$json" -d '{"agent_id": ""}'
curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers" -H "$auth"

# For good: it cannot be recovered.
curl -sS --fail-with-body -X DELETE "$PARLEY_URL/callcenter/numbers/$id" -H "$auth"

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
json="Content-Type: application/json"
at="$PARLEY_URL/v1/trunks"

# An exchange in Germany sends its calls from 192.0.2.17; extensions 100 to 199 are answered by an agent.
curl -sS --fail-with-body "$at" -H "$auth" -H "$json" -d '{"name": "office-1", "allow": ["192.0.2.17"], "country": "DE",
  "extensions": [{"match": "1xx", "agent_id": "'"$AGENT_ID"'"}]}'
trunk=$(curl -sS --fail-with-body "$at/office-1" -H "$auth" | sed 's/.*"id":"\(trk_[^"]*\)".*/\1/')
curl -sS --fail-with-body "$at?limit=10" -H "$auth"

# One of its numbers, which the agent answers, too.
number=$(curl -sS --fail-with-body "$at/$trunk/numbers" -H "$auth" -H "$json" -d '{"phone_number": "+4934112345671", "agent_id": "'"$AGENT_ID"'"}' |
  sed 's/.*"id":"\(num_[^"]*\)".*/\1/')

# All settings are replaced: this one identifies itself by a password.
curl -sS --fail-with-body -X PUT "$at/$trunk" -H "$auth" -H "$json" -d '{"name": "office-1", "allow": ["192.0.2.17"], "country": "DE",
  "inbound_username": "office-1", "inbound_password": "'"$(date +%s%N)"'"}'
curl -sS --fail-with-body -X POST "$at/$trunk/check" -H "$auth"

curl -sS --fail-with-body -X DELETE "$PARLEY_URL/callcenter/numbers/$number" -H "$auth"
curl -sS --fail-with-body -X DELETE "$at/$trunk" -H "$auth"
echo removed

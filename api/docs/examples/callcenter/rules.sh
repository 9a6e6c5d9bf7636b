#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
json="Content-Type: application/json"
number=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers" -H "$auth" | grep -o '"id": *"num_[^"]*"' | head -n 1 | cut -d '"' -f 4)
at="$PARLEY_URL/callcenter/numbers/$number"

curl -sS --fail-with-body "$PARLEY_URL/callcenter/rules/schema" -H "$auth"
curl -sS --fail-with-body -X PUT "$at/rules" -H "$auth" -H "$json" -d '{
  "time_zone": "Europe/Madrid", "schedule": {"monday": ["09:00-14:00", "16:00-20:00"], "friday": ["22:00-02:00"]},
  "holidays": [{"date": "2026-12-25", "name": "Christmas"}],
  "closed": {"message": "We are closed. Please call on Monday."}
}'
curl -sS --fail-with-body "$at/rules" -H "$auth"

# Where would a call go on Christmas morning, by the clocks of Madrid?
curl -sS --fail-with-body "$at/try" -H "$auth" -H "$json" -d '{"at": "2026-12-25T10:00"}'

curl -sS --fail-with-body -X PUT "$at/rules" -H "$auth" -H "$json" -d '{}' # its agent answers all calls again

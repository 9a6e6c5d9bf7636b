#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
at="$PARLEY_URL/v1/messages"

# A number that was bought here; messages come from no other.
number=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers/search?country_code=UK" -H "$auth" |
  sed -n 's/.*"phone_number": *"\([^"]*[0-3]\)".*/\1/p' | head -n 1)
bought=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers" -H "$auth" -H "Content-Type: application/json" -d "{\"phone_number\": \"$number\"}" |
  sed -n 's/.*"id": *"\(num_[^"]*\)".*/\1/p')

# The key makes it safe to send it again after a lost answer.
id=$(curl -sS --fail-with-body "$at" -H "$auth" -H "Content-Type: application/json" -H "Idempotency-Key: reminder-1-$$" \
  -d "{\"from\": \"$number\", \"to\": \"+1 202 555 0177\", \"text\": \"Your table is booked for Friday at 8 pm.\"}" | tee /dev/stderr |
  sed -n 's/.*"id": *"\(msg_[^"]*\)".*/\1/p')
echo queued

# A webhook for message.delivered and message.failed saves asking.
until curl -sS --fail-with-body "$at/$id" -H "$auth" | grep -E '"status": *"(sent|delivered)"'; do
  sleep 1
done
curl -sS --fail-with-body "$at?direction=outbound&peer=12025550177&limit=10" -H "$auth"

curl -sS --fail-with-body -X DELETE "$at/$id" -H "$auth"
echo deleted
curl -sS --fail-with-body -X DELETE "$PARLEY_URL/callcenter/numbers/$bought" -H "$auth"

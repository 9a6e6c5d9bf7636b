#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
from=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers" -H "$auth" | sed -n 's/.*"phone_number": *"\([^"]*\)".*/\1/p')

# Say "consent_confirmed" only when the callee has agreed to be called.
call=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/dial" -H "$auth" -H "Content-Type: application/json" \
  -d "{\"from\": \"$from\", \"to\": \"+12025550100\", \"agent_id\": \"$AGENT_ID\", \"consent_confirmed\": true}" |
  sed -n 's/.*"call_id": *"\([^"]*\)".*/\1/p')

# The first words that are said, and then it is enough.
curl -sSN --fail-with-body "$PARLEY_URL/callcenter/sse/call-monitor?call_id=$call" -H "$auth" | grep -m 1 '"type":"transcript"'
curl -sS --fail-with-body "$PARLEY_URL/callcenter/call-monitor?call_id=$call" -H "$auth"
curl -sS --fail-with-body -X POST "$PARLEY_URL/callcenter/hangup/$call" -H "$auth"

# Of a call that has ended the stream tells everything at once.
curl -sSN --fail-with-body "$PARLEY_URL/v1/calls/$call/events" -H "$auth"

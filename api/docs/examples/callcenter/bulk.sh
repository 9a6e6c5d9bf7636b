#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
from=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/numbers" -H "$auth" | sed -n 's/.*"phone_number": *"\([^"]*\)".*/\1/p')

# Say "consent_confirmed" only when all of them have agreed to be called.
wish="{
  \"name\": \"Reminders\", \"from\": \"$from\", \"agent_id\": \"$AGENT_ID\", \"consent_confirmed\": true, \"on_machine\": \"hangup\",
  \"call_window\": {\"start\": \"09:00\", \"end\": \"20:00\", \"timezone\": \"destination\"},
  \"retries\": [{\"on\": \"busy\", \"attempts\": 3, \"after_seconds\": 900}],
  \"metadata\": {\"season\": \"spring\"},
  \"rows\": [{\"to\": \"+12025550101\"}, {\"to\": \"+12025550102\", \"scheduled_at\": \"$(date -u -d tomorrow +%Y-%m-%dT%H:%M:%SZ)\"}]
}"
curl -sS --fail-with-body "$PARLEY_URL/callcenter/bulk-dial/check" -H "$auth" -H "Content-Type: application/json" -d "$wish" # calls nobody
batch=$(curl -sS --fail-with-body "$PARLEY_URL/callcenter/bulk-dial" -H "$auth" -H "Content-Type: application/json" \
  -H "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' ')" -d "$wish" | sed -n 's/.*"id": *"\(bulk_[^"]*\)".*/\1/p')

for turn in pause resume; do
  curl -sS --fail-with-body -X POST "$PARLEY_URL/callcenter/bulk-dial/$batch/$turn" -H "$auth"
done
curl -sS --fail-with-body "$PARLEY_URL/callcenter/bulk-dial" -H "$auth"        # all batches, with counts
curl -sS --fail-with-body "$PARLEY_URL/callcenter/bulk-dial/$batch" -H "$auth" # this one, row by row
curl -sS --fail-with-body -X POST "$PARLEY_URL/callcenter/bulk-dial/$batch/cancel" -H "$auth"
curl -sS --fail-with-body "$PARLEY_URL/callcenter/bulk-dial/$batch/results.csv" -H "$auth"

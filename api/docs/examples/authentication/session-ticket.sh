#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/v1/session-tickets" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/json" \
  -d "{\"agent_id\": \"$AGENT_ID\", \"ttl_seconds\": 120, \"max_sessions\": 1, \"max_duration_seconds\": 300}"

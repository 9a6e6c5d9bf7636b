#!/bin/sh
set -eu
# A CGI program, for a web server that you have: it serves POST /talk-ticket. The page has
# <script src="$PARLEY_URL/widget.js" data-ticket-url="/talk-ticket" async></script>
ticket=$(curl -sS --fail-with-body "$PARLEY_URL/v1/session-tickets" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/json" \
  -d "{\"agent_id\": \"$AGENT_ID\", \"ttl_seconds\": 60, \"max_sessions\": 1, \"max_duration_seconds\": 300}")
printf 'Content-Type: application/json\r\nCache-Control: no-store\r\n\r\n%s\n' "$ticket"

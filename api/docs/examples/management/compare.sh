#!/bin/sh
set -eu
answer=$(curl -sS --fail-with-body "$PARLEY_URL/v1/agents/$AGENT_ID/compare" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/json" \
  -d '{"calls": 5, "definition": {"name": "Lola", "prompt": "We are open from ten to six.", "settings": {"min_endpoint_ms": 700}}}')
calls=$(printf %s "$answer" | grep -o '"call_id"' | wc -l)
differ=$(printf %s "$answer" | grep -o '"outcome": *"differs"' | wc -l)
echo $calls recorded calls, $differ would differ

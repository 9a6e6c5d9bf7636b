#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/mcp" -H "Authorization: Bearer $PARLEY_API_KEY" \
  -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" \
  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "synthesize_speech",
       "arguments": {"text": "Good morning!", "voice": "F1", "language": "en"}}}'

#!/bin/sh
set -eu
# Without --fail-with-body curl treats an error as any other answer.
curl -sS "$PARLEY_URL/tts/synthesize" -H "Authorization: Bearer $PARLEY_API_KEY" \
  -H "Content-Type: application/json" -d '{"text": "Hello", "voice": "Z9", "language": "en"}' -w '\n%{http_code}\n'

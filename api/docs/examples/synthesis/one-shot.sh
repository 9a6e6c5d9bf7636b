#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/tts/synthesize" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/json" \
  -d '{"text": "Good morning! Your table is ready.", "voice": "F1", "language": "en"}' \
  -o hello.wav -w 'hello.wav: %{size_download} bytes\n'

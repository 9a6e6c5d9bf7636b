#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/stt/transcribe" -H "Authorization: Bearer $PARLEY_API_KEY" \
  -F audio=@speech.wav -F language=en

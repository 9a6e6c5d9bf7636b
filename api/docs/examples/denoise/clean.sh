#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/denoise" -H "Authorization: Bearer $PARLEY_API_KEY" \
  -H "Content-Type: audio/wav" --data-binary @speech.wav -o clean.wav -w 'clean.wav: %{size_download} bytes\n'

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

task=$(curl -sS --fail-with-body "$PARLEY_URL/api/tts/M1/async" -H "$auth" -H "Content-Type: application/json" \
  -d '{"text": "Once upon a time there was a telephone.", "language": "en", "output_format": "wav"}' |
  sed -n 's/.*"task_id": *"\([^"]*\)".*/\1/p')

while :; do
  state=$(curl -sS --fail-with-body "$PARLEY_URL/api/tts/tasks/$task" -H "$auth")
  case $state in
  *'"status":"completed"'*) break ;;
  *'"status":"failed"'*) echo "$state" >&2; exit 1 ;;
  esac
  sleep 2
done

curl -sS --fail-with-body "$PARLEY_URL/api/tts/tasks/$task/download" -H "$auth" \
  -o story.wav -w 'story.wav: %{size_download} bytes\n'

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
text=$(yes "Once upon a time there was a telephone." | head -n 500 | tr '\n' ' ')

task=$(curl -sS --fail-with-body "$PARLEY_URL/api/tts/M1/async" -H "$auth" -H "Content-Type: application/json" \
  -d "{\"text\": \"$text\", \"language\": \"en\"}" | sed -n 's/.*"task_id": *"\([^"]*\)".*/\1/p')

curl -sS --fail-with-body -X DELETE "$PARLEY_URL/api/tts/tasks/$task" -H "$auth"

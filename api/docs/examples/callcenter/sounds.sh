#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
at="$PARLEY_URL/v1/sounds"

id=$(curl -sS --fail-with-body "$at?name=Waltz" -H "$auth" -H "Content-Type: audio/wav" --data-binary @speech.wav |
  sed -n 's/.*"id": *"\(snd_[^"]*\)".*/\1/p') # name it in settings.hold_sound of an agent
curl -sS --fail-with-body "$at" -H "$auth"
curl -sS --fail-with-body "$at/$id/audio" -H "$auth" -o waltz.wav -w 'waltz.wav: %{size_download} bytes\n'
curl -sS --fail-with-body -X DELETE "$at/$id" -H "$auth"
echo removed

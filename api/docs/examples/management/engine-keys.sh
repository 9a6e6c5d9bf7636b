#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
keys="$PARLEY_URL/v1/engine-keys"

ask() { curl -sS --fail-with-body -X "$1" "$keys$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }

ask PUT /flux '{"key": "the-key-of-deepgram-2a71"}'
ask GET "" # the last four characters: the key is never shown
ask POST /flux/test

ask DELETE /flux
echo removed

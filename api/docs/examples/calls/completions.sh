#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

call=$(curl -sS --fail-with-body "$PARLEY_URL/v1/calls?limit=1" -H "$auth" | sed -n 's/.*"id":"\(ses_[^"]*\)".*/\1/p')
[ -n "$call" ] || { echo "no call yet"; exit; }
all=$(curl -sS --fail-with-body "$PARLEY_URL/v1/calls/$call/completions" -H "$auth")
echo "$all"
case $all in
*'"no":0'*) curl -sS --fail-with-body "$PARLEY_URL/v1/calls/$call/completions/0" -H "$auth" ;; # with all that the model was given
esac

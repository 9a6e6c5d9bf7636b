#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

curl -sS --fail-with-body "$PARLEY_URL/v1/consents?limit=10" -H "$auth"

# The file: curl fails when it breaks off. The other languages verify it.
curl -sS --fail-with-body -o consents.csv "$PARLEY_URL/v1/consents.csv" -H "$auth"
head -n 1 consents.csv

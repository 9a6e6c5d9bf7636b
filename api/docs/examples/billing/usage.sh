#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

curl -sS --fail-with-body "$PARLEY_URL/v1/usage?group_by=component&from=2026-03-01" -H "$auth"

# A file for the books: curl fails when it breaks off.
curl -sS --fail-with-body -o usage.csv "$PARLEY_URL/v1/usage.csv?group_by=day" -H "$auth"
curl -sS --fail-with-body -o ledger.csv "$PARLEY_URL/v1/ledger.csv?from=2026-03-01" -H "$auth"
head -n 1 usage.csv ledger.csv

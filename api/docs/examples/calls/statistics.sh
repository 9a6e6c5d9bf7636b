#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

curl -sS --fail-with-body "$PARLEY_URL/v1/statistics?direction=inbound&group_by=day" -H "$auth"

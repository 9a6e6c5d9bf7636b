#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/v1/operator/nodes" -H "Authorization: Bearer $OPERATOR_KEY"

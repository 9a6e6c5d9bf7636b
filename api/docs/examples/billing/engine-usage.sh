#!/bin/sh
set -eu

# Of your account, in calls and in everything else.
curl -sS --fail-with-body "$PARLEY_URL/v1/usage/engines?from=2026-03-01" -H "Authorization: Bearer $PARLEY_API_KEY"

# Of all accounts, with what the vendors charge: for operators.
curl -sS --fail-with-body "$PARLEY_URL/v1/operator/usage/engines?from=2026-03-01" -H "Authorization: Bearer $OPERATOR_KEY"

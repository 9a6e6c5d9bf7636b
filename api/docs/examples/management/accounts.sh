#!/bin/sh
set -eu
auth="Authorization: Bearer $OPERATOR_KEY" # of the operator
accounts="$PARLEY_URL/v1/operator/accounts"

ask() { # method, address, body
  curl -sS --fail-with-body -X "$1" "$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}
}
show() { sed -n 's/.*"suspended": *\([a-z]*\).*/suspended: \1/p'; }

# The answer holds a key of the account, this once: it is whose the account is.
made=$(ask POST "$accounts" '{"name": "Casa Lola", "create_key": true}')
echo "$made"
account=$(echo "$made" | sed -n 's/.*"id": *"\(acc_[^"]*\)".*/\1/p')

ask GET "$accounts?limit=5"
ask PATCH "$accounts/$account" '{"suspended": true, "concurrency": 20}' | show
ask POST "$accounts/$account/resolve-disputes" >/dev/null
ask PATCH "$accounts/$account" '{"suspended": false}' >/dev/null
ask GET "$accounts/$account" | show

#!/bin/sh
set -eu
url="$PARLEY_URL/v1/operator/users"
list=$(curl -sS --fail-with-body "$url?limit=100" -H "Authorization: Bearer $OPERATOR_KEY")
echo "users: $(echo "$list" | grep -o '"id":' | wc -l | tr -d ' ')"
for id in $(echo "$list" | tr '}' '\n' | grep '"email":"gone@example.com"' | sed 's/.*"id":"\([^"]*\)".*/\1/'); do
  curl -sS --fail-with-body -X PATCH "$url/$id" -H "Authorization: Bearer $OPERATOR_KEY" \
    -H 'Content-Type: application/json' -d '{"disabled": true}'
  curl -sS --fail-with-body -X DELETE "$url/$id?keys=revoke" -H "Authorization: Bearer $OPERATOR_KEY"
done

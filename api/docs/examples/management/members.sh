#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

# One line for each: user_id, address, role.
curl -sS --fail-with-body "$PARLEY_URL/v1/members" -H "$auth" | tr '{' '\n' |
  sed -n 's/.*"user_id": *"\([^"]*\)".*"email": *"\([^"]*\)".*"role": *"\([^"]*\)".*/\1 \2 \3/p' |
  while read -r user email role; do
    case "$email" in
      *@former.example.com) # left
        curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/members/$user" -H "$auth" ;;
      *@agency.example.com) # helps out, and need not invite people
        curl -sS --fail-with-body -X PATCH "$PARLEY_URL/v1/members/$user" -H "$auth" \
          -H "Content-Type: application/json" -d '{"role": "member"}' ;;
    esac
  done
echo "everybody was looked at"

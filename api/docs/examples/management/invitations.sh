#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

# The answer holds the link, this once: send it to them.
made=$(curl -sS --fail-with-body "$PARLEY_URL/v1/invitations" -H "$auth" \
  -H "Content-Type: application/json" -d "{\"email\": \"guest-$$@example.com\", \"role\": \"member\"}")
echo "$made"
invitation=$(echo "$made" | sed -n 's/.*"id": *"\(inv_[^"]*\)".*/\1/p')

curl -sS --fail-with-body "$PARLEY_URL/v1/invitations" -H "$auth"
curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/invitations/$invitation" -H "$auth"
echo "$invitation taken back"

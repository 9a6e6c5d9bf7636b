#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

ask() { curl -sS --fail-with-body -X "$1" "$PARLEY_URL$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }

ask PUT /v1/secrets/ORDERS_KEY '{"value": "8f0c2a71"}'
ask GET /v1/secrets # names alone: values are never shown

agent=$(ask POST /v1/agents '{"name": "Orders", "tools": [{
  "type": "http", "name": "order_status", "description": "Returns the status of an order.",
  "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
  "http": {"method": "GET", "url": "https://api.example.com/orders/{order}",
           "headers": {"Authorization": "Bearer {{secret.ORDERS_KEY}}"}}}]}' | sed -n 's/.*"id": *"\(ag_[^"]*\)".*/\1/p')
echo "$agent calls order_status"

ask DELETE "/v1/agents/$agent"
ask DELETE /v1/secrets/ORDERS_KEY
echo removed

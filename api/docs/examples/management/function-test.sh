#!/bin/sh
set -eu
answer=$(curl -sS --fail-with-body "$PARLEY_URL/v1/functions/test" \
  -H "Authorization: Bearer $PARLEY_API_KEY" -H "Content-Type: application/json" -d '{
  "tools": [{"type": "http", "name": "order_status", "description": "Returns the status of an order.",
    "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "http": {"method": "GET", "url": "https://api.example.com/orders/{order}", "timeout_ms": 2000}}],
  "name": "order_status", "arguments": {"order": "42"}}')
outcome=$(printf %s "$answer" | sed -n 's/.*"outcome": *"\([a-z]*\)".*/\1/p')
took=$(printf %s "$answer" | sed -n 's/.*"took_ms": *\([0-9]*\).*/\1/p')
echo "$outcome after $took ms" # result has what the model would read

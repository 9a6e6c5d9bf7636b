#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"
json="Content-Type: application/json"

# What is known of exchanges and carriers.
curl -sS --fail-with-body "$PARLEY_URL/v1/trunk-presets" -H "$auth"

# An Asterisk at 192.0.2.31 sends its calls here. The answer has in far_end what to enter there; what is sent counts before the preset.
curl -sS --fail-with-body "$PARLEY_URL/v1/trunks" -H "$auth" -H "$json" -d '{"name": "pbx-1", "preset": "asterisk", "allow": ["192.0.2.31"],
  "inbound_username": "pbx-1", "inbound_password": "'"$(date +%s%N)"'", "codecs": ["PCMA"]}'

curl -sS --fail-with-body -X DELETE "$PARLEY_URL/v1/trunks/pbx-1" -H "$auth"
echo removed

#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/openapi.json" -o openapi.json
curl -sS --fail-with-body "$PARLEY_URL/openapi.yaml" | grep '^openapi:'
curl -sS --fail-with-body "$PARLEY_URL/asyncapi.yaml" | grep '^asyncapi:'

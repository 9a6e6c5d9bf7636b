#!/bin/sh
set -eu
curl -sS --fail-with-body "$PARLEY_URL/health"
curl -sS --fail-with-body "$PARLEY_URL/status"

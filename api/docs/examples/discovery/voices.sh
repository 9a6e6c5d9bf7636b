#!/bin/sh
set -eu
for list in voices languages models config; do
  curl -sS --fail-with-body "$PARLEY_URL/$list"
done

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

ask() { curl -sS --fail-with-body -X "$1" "$PARLEY_URL$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }

base=$(ask POST /v1/knowledge '{"name": "Handbook", "language": "en"}' | sed -n 's/.*"id": *"\(kb_[^"]*\)".*/\1/p')
documents=/v1/knowledge/$base/documents
ask PATCH "/v1/knowledge/$base" '{"name": "Bicycle shop"}'

printf '# Opening hours\n\nWe open at nine and close at noon on Saturdays.\n' > hours.md
file=$(curl -sS --fail-with-body "$PARLEY_URL$documents" -H "$auth" -F file=@hours.md | sed -n 's/.*"id": *"\(doc_[^"]*\)".*/\1/p')
until ask GET "$documents/$file" | grep -Eq '"state": *"(ready|failed)"'; do sleep 0.2; done

page=$(ask POST "$documents" '{"url": "https://example.com/", "title": "Example"}' | sed -n 's/.*"id": *"\(doc_[^"]*\)".*/\1/p')
ask POST "$documents/$page/refresh" # fetches it again
ask GET "$documents"

ask POST "/v1/knowledge/$base/search" '{"query": "closing time on Saturday"}'
ask GET "/v1/knowledge/$base" # name it in settings.knowledge_bases of an agent

ask DELETE "$documents/$page"
ask DELETE "/v1/knowledge/$base"
ask GET /v1/knowledge
echo removed

#!/bin/sh
set -eu
auth="Authorization: Bearer $PARLEY_API_KEY"

ask() { curl -sS --fail-with-body -X "$1" "$PARLEY_URL$2" -H "$auth" -H "Content-Type: application/json" ${3:+-d "$3"}; }
id() { sed -n "s/.*\"id\": *\"\\($1_[^\"]*\\)\".*/\\1/p"; }

agent=$(ask POST /v1/agents '{"name": "Lola", "first_message": "Casa Lola, hello.",
  "prompt": "When the caller says \"when are you open\": We are open from nine to six."}' | id ag)
case=$(ask POST "/v1/agents/$agent/cases" '{"name": "Hours", "script": {"caller": [{"say": "When are you open?"}]}}' | id case)
ask PUT "/v1/agents/$agent/cases/$case" '{"name": "Opening hours", "script": {"caller": [{"say": "When are you open?", "expect": ["nine"]}],
  "criteria": [{"name": "closing time", "rubric": "The agent also says when it closes: \"to six\"."}]}}'
ask GET "/v1/agents/$agent/cases/$case"
ask GET "/v1/agents/$agent/cases"

simulate() {
  simulation=$(ask POST "/v1/agents/$agent/simulations" "$1" | id sim)
  until ask GET "/v1/simulations/$simulation" >simulation.json && ! grep -q '"ended_at": *null' simulation.json; do sleep 0.5; done
  cat simulation.json # what each case came to
  state=$(sed -n 's/.*"state": *"\([a-z]*\)".*/\1/p' simulation.json)
  if grep -q '"cases_failed": *0' simulation.json; then echo "$state: true"; else echo "$state: false"; fi
}
simulate '{}'                                                                                        # all cases of the agent as it is
simulate '{"cases": ["'"$case"'"], "runs": 2, "definition": {"name": "Lola", "prompt": "We are closed."}}' # and of a draft

ask POST "/v1/simulations/$simulation/cancel" # one that has ended stays as it is
ask GET "/v1/agents/$agent/simulations"
ask DELETE "/v1/agents/$agent/cases/$case"
ask DELETE "/v1/agents/$agent"

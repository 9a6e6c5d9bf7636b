import json
import os
import urllib.request

draft = {"name": "Lola", "prompt": "We are open from ten to six.", "settings": {"min_endpoint_ms": 700}}
request = urllib.request.Request(
    f"{os.environ['PARLEY_URL']}/v1/agents/{os.environ['AGENT_ID']}/compare",
    data=json.dumps({"calls": 5, "definition": draft}).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    calls = json.load(answer)["calls"]
for call in calls:
    for turn in call["answers"]:
        print(turn["heard"], "|", turn["recorded"]["text"], "→", turn["now"]["text"])
print(len(calls), "recorded calls,", sum(c["outcome"] == "differs" for c in calls), "would differ")

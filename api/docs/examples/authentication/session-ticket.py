import json
import os
import urllib.request

wanted = {"agent_id": os.environ["AGENT_ID"], "ttl_seconds": 120, "max_sessions": 1, "max_duration_seconds": 300}
request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/session-tickets",
    data=json.dumps(wanted).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    minted = json.load(answer)
print(f"{minted['ticket']} opens one conversation with {wanted['agent_id']}")

import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/events?limit=10",
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    events = json.load(answer)["data"]
print(len(events), "events")
for event in events:
    print(event["created_at"], event["kind"], event["message"], "(over)" if event["cleared_at"] else "")

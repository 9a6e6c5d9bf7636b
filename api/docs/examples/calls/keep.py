import json
import os
import urllib.parse
import urllib.request


def ask(path, method="GET", body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


calls = ask("/v1/calls?q=" + urllib.parse.quote("refund or money"))["data"]
for call in calls:
    ask(f"/v1/calls/{call['id']}", "PATCH", {"tags": ["refund"], "note": "Look at the order.", "metadata": {"order": "42"}})
print(len(calls), "calls about refunds")

import json
import os
import time
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        # A key with the mark listen.
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or "null")


receiver = {"url": "wss://example.com/calls", "headers": {"Authorization": "Bearer {{secret.RECEIVER}}"}}
calls = ask("GET", "/v1/calls?state=live&number=%2B34600111222")["data"]
for call in calls:
    stream = ask("POST", f"/v1/calls/{call['id']}/streams", receiver)
    time.sleep(10)
    ask("DELETE", f"/v1/calls/{call['id']}/streams/{stream['id']}")
print(len(calls), "streams")

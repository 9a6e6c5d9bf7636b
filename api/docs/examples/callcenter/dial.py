import json
import os
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    return urllib.request.urlopen(request)


numbers = json.load(ask("GET", "/callcenter/numbers"))["numbers"]
call = json.load(ask("POST", "/callcenter/dial", {
    "from": numbers[0]["phone_number"],
    "to": "+12025550100",
    "agent_id": os.environ["AGENT_ID"],
    "consent_confirmed": True,  # only when the callee has agreed to be called
}))["call_id"]
with ask("GET", f"/callcenter/sse/call-monitor?call_id={call}") as events:
    for line in events:
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            print(event)
            if event["type"] == "transcript":
                break  # the first words are enough
print(json.load(ask("GET", f"/callcenter/call-monitor?call_id={call}"))["status"])
print(json.load(ask("POST", f"/callcenter/hangup/{call}")))
print(ask("GET", f"/v1/calls/{call}/events").read().decode())  # of a call that has ended: all at once

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
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


number = ask("GET", "/callcenter/numbers")["numbers"][0]
assign = f"/callcenter/numbers/{number['id']}/assign"
hook = ask("POST", "/v1/webhooks", {"url": "https://bookings.example/incoming", "events": ["call.incoming"]})

# From now on it answers such as {"agent_id": "ag_…", "variables": {"name": "Ann"}} while it rings.
print(ask("POST", assign, {"webhook_id": hook["id"]})["webhook_id"])

ask("POST", assign, {"webhook_id": ""})  # it is not asked any more
ask("DELETE", "/v1/webhooks/" + hook["id"])
print("removed")

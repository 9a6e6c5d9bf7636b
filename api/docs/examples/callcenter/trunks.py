import json
import os
import secrets
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


agent = os.environ["AGENT_ID"]

# An exchange in Germany sends its calls from 192.0.2.19; extensions 100 to 199 are answered by an agent.
settings = {"name": "office-3", "allow": ["192.0.2.19"], "country": "DE"}
trunk = ask("POST", "/v1/trunks", settings | {"extensions": [{"match": "1xx", "agent_id": agent}]})
at = "/v1/trunks/" + trunk["id"]
print(ask("GET", at)["name"], len(ask("GET", "/v1/trunks?limit=10")["data"]))

# One of its numbers, which the agent answers, too.
number = ask("POST", at + "/numbers", {"phone_number": "+4934112345673", "agent_id": agent})
print(number["phone_number"], number["monthly_price"])

# All settings are replaced: this one identifies itself by a password.
ask("PUT", at, settings | {"inbound_username": "office-3", "inbound_password": secrets.token_urlsafe()})
print(ask("POST", at + "/check")["status"]["calls"], "calls on it")

ask("DELETE", "/callcenter/numbers/" + number["id"])
ask("DELETE", at)
print("removed")

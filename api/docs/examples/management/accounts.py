import json
import os
import urllib.request


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["OPERATOR_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


# The answer holds a key of the account, this once: it is whose the account is.
made = ask("POST", "/v1/operator/accounts", {"name": "Casa Lola", "create_key": True})
print(made["id"], made["api_key"])

for account in ask("GET", "/v1/operator/accounts?limit=5")["data"]:
    print(account["name"], account["balance"])

one = f"/v1/operator/accounts/{made['id']}"
limited = ask("PATCH", one, {"suspended": True, "concurrency": 20})
print("suspended:", str(limited["suspended"]).lower())
ask("POST", f"{one}/resolve-disputes")
ask("PATCH", one, {"suspended": False})
print("suspended:", str(ask("GET", one)["suspended"]).lower())

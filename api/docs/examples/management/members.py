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


for member in ask("GET", "/v1/members")["data"]:
    path = f"/v1/members/{member['user_id']}"
    if member["email"].endswith("@former.example.com"):
        ask("DELETE", path)  # left
    elif member["email"].endswith("@agency.example.com"):
        ask("PATCH", path, {"role": "member"})  # helps out, and need not invite people
print("everybody was looked at")

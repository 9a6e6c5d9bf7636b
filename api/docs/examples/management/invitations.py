import json
import os
import urllib.request
import uuid


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


email = f"guest-{uuid.uuid4().hex}@example.com"
invitation = ask("POST", "/v1/invitations", {"email": email, "role": "member"})
print(invitation["url"])  # this once: send it to them

for i in ask("GET", "/v1/invitations")["data"]:
    print(i["email"], "until", i["expires_at"])
ask("DELETE", f"/v1/invitations/{invitation['id']}")
print(invitation["id"], "taken back")

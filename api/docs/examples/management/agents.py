import json
import os
import urllib.request


def ask(method, path, body=None, **headers):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json", **headers},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None, answer.headers


wanted = {"name": "Lola", "voice": "F1", "language": "en", "prompt": "We are open from nine to six.", "metadata": {"team": "sales"}}
agent, _ = ask("POST", "/v1/agents", wanted)

# The ETag makes sure that nobody else has changed it in between.
agent, headers = ask("GET", f"/v1/agents/{agent['id']}")
agent, _ = ask("PATCH", f"/v1/agents/{agent['id']}", {"name": "Lola the Second"}, **{"If-Match": headers["ETag"]})
print(agent["name"])

page, _ = ask("GET", "/v1/agents?limit=5&metadata[team]=sales")
print(len(page["data"]), "agents of the team")
ask("DELETE", f"/v1/agents/{agent['id']}")
print("deleted")

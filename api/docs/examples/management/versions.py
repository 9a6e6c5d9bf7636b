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
        return json.loads(text) if text else None


schema = ask("GET", "/v1/agents/schema")  # editors check agents by it
print(len(schema["properties"]["settings"]["properties"]), "settings")

for mistake in ask("POST", "/v1/agents/validate", {"name": "Lola", "settings": {"speed": 9}})["mistakes"]:  # nothing is stored
    print(mistake["path"], mistake["problem"])

wanted = {"name": "Lola", "first_message": "Hello {{caller.name}} from {{city}}!", "settings": {"variables": {"city": "Rome"}}}
path = "/v1/agents/" + ask("POST", "/v1/agents", wanted)["id"]
changed = ask("PATCH", path, {"first_message": "Hello!"})

print(len(ask("GET", path + "/versions")["data"]), "versions")
for change in ask("GET", path + "/versions/2/diff")["changes"]:
    print(change["path"], change.get("before"), change.get("after"))
first = ask("GET", path + "/versions/1")
# Refused by 412 when somebody else has changed it in between.
restored = ask("PUT", path, first, **{"If-Match": f'"{changed["version"]}"'})
print("restored:", restored["first_message"])

ask("DELETE", path)

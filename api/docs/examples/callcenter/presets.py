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


# What is known of exchanges and carriers.
for preset in ask("GET", "/v1/trunk-presets")["data"]:
    print(preset["name"], preset["needs"])

# An Asterisk at 192.0.2.33 sends its calls here. What is sent counts before the preset.
trunk = ask("POST", "/v1/trunks", {
    "name": "pbx-3", "preset": "asterisk", "allow": ["192.0.2.33"],
    "inbound_username": "pbx-3", "inbound_password": secrets.token_urlsafe(), "codecs": ["PCMA"],
})
print(trunk["name"], trunk["dtmf"], "enter there:", *trunk["far_end"], sep="\n")

ask("DELETE", "/v1/trunks/" + trunk["id"])
print("removed")

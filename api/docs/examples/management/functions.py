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


ask("PUT", "/v1/secrets/ORDERS_TOKEN", {"value": "8f0c2a71"})
for secret in ask("GET", "/v1/secrets")["data"]:
    print(secret["name"])  # values are never shown

order_status = {
    "type": "http",
    "name": "order_status",
    "description": "Returns the status of an order.",
    "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "http": {
        "method": "GET",
        "url": "https://api.example.com/orders/{order}",
        "headers": {"Authorization": "Bearer {{secret.ORDERS_TOKEN}}"},
    },
}
agent = ask("POST", "/v1/agents", {"name": "Orders", "tools": [order_status]})
print(agent["id"], "calls", agent["tools"][0]["name"])

ask("DELETE", f"/v1/agents/{agent['id']}")
ask("DELETE", "/v1/secrets/ORDERS_TOKEN")
print("removed")

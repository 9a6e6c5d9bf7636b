import json
import os
import urllib.request

order_status = {
    "type": "http",
    "name": "order_status",
    "description": "Returns the status of an order.",
    "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "http": {"method": "GET", "url": "https://api.example.com/orders/{order}", "timeout_ms": 2000},
}
request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/functions/test",
    data=json.dumps({"tools": [order_status], "name": "order_status", "arguments": {"order": "42"}}).encode(),
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    test = json.load(answer)
print(test["outcome"], "after", test["took_ms"], "ms:", test["result"])  # what the model would read

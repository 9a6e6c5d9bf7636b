import json
import os
import urllib.request
from decimal import Decimal


def ask(method, path, body=None):
    request = urllib.request.Request(
        os.environ["PARLEY_URL"] + path,
        method=method,
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def read(path):
    return json.loads(ask("GET", path), parse_float=Decimal)  # amounts are exact


ask("POST", "/tts/synthesize", {"text": "This costs me.", "voice": "F1", "language": "en"})  # something that costs

entry = next(e for e in read("/v1/ledger?kind=usage&limit=100")["data"] if e["component"] == "tts")
print(f"{entry['at']} {entry['amount']} USD, then there were {entry['balance_after']} USD")
receipt = read(f"/v1/calls/{entry['session_id']}/receipt")
for line in receipt["lines"]:
    print(f"{line['component']}: {line['quantity']} {line['unit']}s, {line['amount']} USD")
print(f"total {receipt['total']} USD by rate card {receipt['price_version']}")

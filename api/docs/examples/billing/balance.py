import json
import os
import urllib.request
from decimal import Decimal

request = urllib.request.Request(
    os.environ["PARLEY_URL"] + "/v1/balance",
    headers={"Authorization": "Bearer " + os.environ["PARLEY_API_KEY"]},
)
with urllib.request.urlopen(request) as answer:
    wallet = json.load(answer, parse_float=Decimal)  # exact, as the service writes it
print(f"Balance {wallet['balance']} USD: {wallet['paid']} paid, {wallet['bonus']} bonus")
for warning in wallet["warnings"]:
    print(warning["kind"], warning["message"])

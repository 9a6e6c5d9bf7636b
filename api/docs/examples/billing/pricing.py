import json
import os
import urllib.request

with urllib.request.urlopen(os.environ["PARLEY_URL"] + "/v1/pricing") as answer:
    card = json.load(answer)
print(f"Card {card['version']}: a minute with an agent costs {card['agent']['platform_per_minute']} {card['currency']}")

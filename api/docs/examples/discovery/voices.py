import json
import os
import urllib.request


def ask(path):
    with urllib.request.urlopen(os.environ["PARLEY_URL"] + path) as answer:
        return json.load(answer)


print("voices:", *(v["id"] for v in ask("/voices")["voices"]))
print("languages:", *(l["code"] for l in ask("/languages")["languages"]))
print("models:", *(m["name"] for m in ask("/models")["models"]))
config = ask("/config")
print(f"up to {config['max_text_length']} characters, {config['sample_rate']} samples a second")

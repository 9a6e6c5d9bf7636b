import json
import os
import urllib.request

with urllib.request.urlopen(os.environ["PARLEY_URL"] + "/openapi.json") as answer:
    document = json.load(answer)
print(f"OpenAPI {document['openapi']}, {len(document['paths'])} paths")

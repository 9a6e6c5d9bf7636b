"""Client of Parley, a real-time voice server.

    from parley_client import Parley

    parley = Parley("https://voice.example.com", api_key)
    for call in parley.each_calls(direction="inbound"):
        print(call["id"], call["duration"])

Conversations with agents are in parley_client.session, which needs the package websockets.
"""

from .client import Parley
from .transport import Answer, ParleyError

__all__ = ["Answer", "Parley", "ParleyError"]

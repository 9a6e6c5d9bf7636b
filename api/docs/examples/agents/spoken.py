import asyncio
import json
import os
import wave

import websockets


async def speak(socket):
    with wave.open("speech.wav") as question:  # 16 kHz, mono, 16 bits
        while True:
            # A microphone that has said the question goes on to send silence.
            await socket.send(question.readframes(320) or bytes(640))
            await asyncio.sleep(0.02)


async def main():
    url = os.environ["PARLEY_URL"].replace("http", "ws", 1) + "/ws/agent?agent_id=" + os.environ["AGENT_ID"]
    headers = {"X-API-Key": os.environ["PARLEY_API_KEY"]}
    microphone, voice = None, b""
    # From version 14 on the package calls it additional_headers.
    async with websockets.connect(url, extra_headers=headers) as socket:
        async for frame in socket:
            if isinstance(frame, bytes):
                voice += frame if microphone else b""
                continue
            message = json.loads(frame)
            if message["type"] == "transcript":
                print(message["role"] + ": " + message["data"])
            if message["type"] == "status" and message["data"] == "listening":
                if voice:
                    break
                microphone = microphone or asyncio.create_task(speak(socket))
        microphone.cancel()
    with open("answer.pcm", "wb") as file:
        file.write(voice)
    print(f"answer.pcm: {len(voice)} bytes")


asyncio.run(main())

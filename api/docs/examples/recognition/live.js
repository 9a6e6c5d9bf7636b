import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const samples = (await readFile("speech.wav")).subarray(44); // 16 kHz, mono, 16 bits: past the header

const socket = new WebSocket(`${PARLEY_URL.replace(/^http/, "ws")}/ws/stt?api_key=${PARLEY_API_KEY}`);
socket.onopen = async () => {
  socket.send(JSON.stringify({ language: "en", vad: "rms" }));
  for (let at = 0; at < samples.length; at += 3200) {
    socket.send(samples.subarray(at, at + 3200)); // as a microphone would: a tenth of a second at a time
    await sleep(100);
  }
  socket.send(JSON.stringify({ type: "end" }));
};
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "error") throw new Error(message.data);
  if (message.type !== "transcript") return;
  console.log(message.isFinal ? message.data : `… ${message.data}`);
  if (message.isFinal) socket.close();
};

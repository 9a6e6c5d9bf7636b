// Taking part in a live call: its sound, a voice in the agent's place, or for the colleague who has the caller, and words that the caller
// does not hear.
import { say } from "./dashboard.js";
import { Microphone } from "./voice/microphone.js";

const panel = document.getElementById("part");
const [listen, takeOver, coach, whisper, said] = ["listen", "take-over", "coach", "whisper", "part-said"].map((id) => document.getElementById(id));
const worklets = new URL("voice/", import.meta.url).href;
const words = {
  taken_over: "The caller hears you.", coaching: "Your colleague alone hears you.", whispered: "It was passed on.", ended: "The call is over.",
  given_back: { take_over: "The agent has the call back.", coach: "Your colleague does not hear you any more." },
};

/** @type {{socket: WebSocket, context: AudioContext, queue: AudioWorkletNode | null, rate: number} | null} */
let part = null;
/** @type {Microphone | null} with which the user speaks */
let voice = null;
/** As what they spoke last: take_over or coach. */
let as = "";

const tell = (text) => (said.textContent = text);

/** What the buttons say follows from what is open. */
function show() {
  listen.textContent = part ? "Stop listening" : "Listen";
  listen.ariaPressed = String(Boolean(part));
  if (!takeOver) return;
  const [over, aside] = [Boolean(voice) && as === "take_over", Boolean(voice) && as === "coach"];
  takeOver.disabled = !part?.rate || aside;
  takeOver.textContent = over ? "Give back" : "Take over";
  takeOver.ariaPressed = String(over);
  coach.disabled = !part?.rate || over;
  coach.textContent = aside ? "Stop coaching" : "Coach";
  coach.ariaPressed = String(aside);
  whisper.querySelector("button").disabled = !part?.rate;
}

async function begin() {
  const address = new URL(panel.dataset.socket, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  part = { socket, context: new AudioContext({ latencyHint: "interactive" }), queue: null, rate: 0 };
  socket.onmessage = ({ data }) => (data instanceof ArrayBuffer ? hear(new Int16Array(data)) : told(JSON.parse(data)));
  socket.onclose = () => void end();
  tell("Connecting…");
}

/** @param {{type: string, sample_rate?: number, data?: {message: string, code: string}}} m */
async function told(m) {
  if (m.type === "error") {
    tell(m.data.message);
    if (voice && m.data.code.startsWith("call.")) await mute();
  } else if (m.type === "listening") {
    const at = part;
    await at.context.close();
    at.context = new AudioContext({ sampleRate: m.sample_rate, latencyHint: "interactive" });
    await at.context.audioWorklet.addModule(worklets + "playback-worklet.js");
    at.queue = new AudioWorkletNode(at.context, "parley-playback", { numberOfInputs: 0, numberOfOutputs: 1, outputChannelCount: [1] });
    at.queue.connect(at.context.destination);
    at.rate = m.sample_rate;
    tell("You hear the call.");
  } else tell(words[m.type]?.[as] ?? words[m.type] ?? "");
  show();
}

/** Both sides together; of a call that the user has taken over, the caller alone. @param {Int16Array} both */
function hear(both) {
  if (!part?.queue) return;
  const samples = new Int16Array(both.length / 2);
  for (let i = 0; i < samples.length; i++) samples[i] = Math.max(-32768, Math.min(32767, both[2 * i] + (voice && as === "take_over" ? 0 : both[2 * i + 1])));
  part.queue.port.postMessage({ samples }, [samples.buffer]);
}

/** The microphone's frames at 16 kHz, at the rate of the call. @param {Int16Array} frame */
function speak(frame) {
  if (!part || part.socket.readyState !== WebSocket.OPEN) return;
  if (part.rate === 8000) frame = Int16Array.from({ length: frame.length / 2 }, (_, i) => (frame[2 * i] + frame[2 * i + 1]) >> 1);
  part.socket.send(frame);
}

async function take(type) {
  voice = await Microphone.open();
  as = type;
  part.socket.send(JSON.stringify({ type }));
  await voice.listen(worklets, speak);
}

async function mute() {
  const open = voice;
  voice = null;
  await open?.close();
}

async function giveBack() {
  part.socket.send(JSON.stringify({ type: "give_back" }));
  await mute();
}

async function end() {
  const over = part;
  part = null;
  if (!over) return;
  over.socket.close();
  over.queue?.port.postMessage({ end: true });
  await mute();
  if (over.context.state !== "closed") await over.context.close();
  if (said.textContent === "You hear the call.") tell("");
  show();
}

const faults = { denied: "The microphone was refused.", missing: "No microphone was found.", busy: "The microphone cannot be used.", insecure: "Browsers let pages use the microphone only over https, or on localhost." };

/** Does something, and says why where it fails. */
const act = (what) => async () => {
  try {
    await what();
  } catch (e) {
    say(faults[e.code] ?? e.message);
  }
  show();
};

panel.hidden = false;
listen.addEventListener("click", act(() => (part ? end() : begin())));
takeOver?.addEventListener("click", act(() => (voice ? giveBack() : take("take_over"))));
coach?.addEventListener("click", act(() => (voice ? giveBack() : take("coach"))));
whisper?.addEventListener("submit", (e) => {
  e.preventDefault();
  const field = whisper.querySelector("input");
  part?.socket.send(JSON.stringify({ type: "whisper", text: field.value }));
  field.value = "";
});
addEventListener("pagehide", () => void end());

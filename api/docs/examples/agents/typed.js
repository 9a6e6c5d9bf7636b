const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

const query = `api_key=${PARLEY_API_KEY}&agent_id=${AGENT_ID}`;
const socket = new WebSocket(`${PARLEY_URL.replace(/^http/, "ws")}/ws/agent?${query}`);
socket.binaryType = "arraybuffer";
let asked = false;

socket.onmessage = ({ data }) => {
  if (data instanceof ArrayBuffer) return; // the agent's voice: 16-bit samples, 44.1 kHz
  const message = JSON.parse(data);
  if (message.type === "transcript") console.log(`${message.role}: ${message.data}`);
  if (message.type === "status" && message.data === "listening") {
    if (asked) socket.close(); // the answer has been played
    else socket.send(JSON.stringify({ type: "text", data: "When do you open on Monday?" }));
    asked = true;
  }
};
socket.onclose = ({ code, reason }) => code >= 1008 && console.error(code, reason);

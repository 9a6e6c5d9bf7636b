const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/mcp`, {
  method: "POST",
  headers: {
    Authorization: `Bearer ${PARLEY_API_KEY}`,
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "synthesize_speech", arguments: { text: "Good morning!", voice: "F1", language: "en" } },
  }),
});
const { result } = await answer.json();
const [audio] = result.content;
console.log(`${audio.mimeType}: ${Buffer.from(audio.data, "base64").length} bytes`);

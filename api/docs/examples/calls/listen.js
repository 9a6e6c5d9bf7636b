const { PARLEY_URL, PARLEY_API_KEY } = process.env; // a key with the mark listen

const answer = await fetch(`${PARLEY_URL}/v1/calls?state=live&limit=1`, {
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}` },
});
const [call] = (await answer.json()).data;
if (!call) {
  console.log("no call in progress");
} else {
  const socket = new WebSocket(`${PARLEY_URL.replace(/^http/, "ws")}/v1/calls/${call.id}/listen?api_key=${PARLEY_API_KEY}`);
  socket.binaryType = "arraybuffer";
  let frames = 0;
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) {
      frames++; // 20 ms of both sides, 16-bit samples: the caller on the left
    } else if (JSON.parse(data).type === "error") {
      throw new Error(data);
    }
    if (frames === 500) socket.close();
  };
  socket.onclose = () => console.log(`${frames / 50} seconds heard`);
}

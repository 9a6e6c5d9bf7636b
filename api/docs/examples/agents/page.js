// Your server has minted the ticket for this visitor; voice is an <audio autoplay> of the page. onEnd gets
// why it is over: "closed", or "failed" when no connection came about or it broke.
export async function talk(server, ticket, agent, voice, onMessage, onEnd) {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true } });
  const connection = new RTCPeerConnection();
  microphone.getTracks().forEach((track) => connection.addTrack(track, microphone));
  connection.ontrack = ({ streams }) => (voice.srcObject = streams[0]);
  const events = connection.createDataChannel("events"); // before the offer, which mentions it
  events.onmessage = ({ data }) => onMessage(JSON.parse(data));

  let over = false;
  const end = (why) => {
    if (over) return;
    over = true;
    microphone.getTracks().forEach((track) => track.stop());
    connection.close();
    onEnd(why);
  };
  events.onclose = () => end("closed");
  connection.onconnectionstatechange = () => connection.connectionState === "failed" && end("failed");
  setTimeout(() => ["new", "connecting"].includes(connection.connectionState) && end("failed"), 30_000);

  const offer = await connection.createOffer();
  const answer = await fetch(`${server}/webrtc/agent?agent_id=${agent}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${ticket}`, "Content-Type": "application/sdp" },
    body: offer.sdp,
  });
  if (answer.status !== 201) {
    microphone.getTracks().forEach((track) => track.stop());
    throw await answer.json();
  }
  // The relays are known now, so this is when addresses are gathered.
  const relays = (answer.headers.get("Link") ?? "").matchAll(/<([^>]+)>; rel="ice-server"(?:; username="([^"]+)"; credential="([^"]+)")?/g);
  connection.setConfiguration({ iceServers: [...relays].map(([, urls, username, credential]) => ({ urls, username, credential })) });
  await connection.setLocalDescription(offer);
  await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });

  const session = new URL(answer.headers.get("Location"), server);
  return {
    type: (text) => events.send(JSON.stringify({ type: "text", data: text })),
    hangUp: () => {
      fetch(session, { method: "DELETE", headers: { Authorization: `Bearer ${ticket}` } });
      end("closed");
    },
  };
}

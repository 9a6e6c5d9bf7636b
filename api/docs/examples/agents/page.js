// Your server has minted the ticket for this visitor; voice is an <audio autoplay> of the page.
export async function talk(server, ticket, agent, voice, onMessage) {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true } });
  const connection = new RTCPeerConnection();
  microphone.getTracks().forEach((track) => connection.addTrack(track, microphone));
  connection.ontrack = ({ streams }) => (voice.srcObject = streams[0]);
  const events = connection.createDataChannel("events"); // before the offer, which mentions it
  events.onmessage = ({ data }) => onMessage(JSON.parse(data));

  await connection.setLocalDescription();
  const answer = await fetch(`${server}/webrtc/agent?agent_id=${agent}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${ticket}`, "Content-Type": "application/sdp" },
    body: connection.localDescription.sdp,
  });
  if (answer.status !== 201) throw await answer.json();
  await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });

  const session = new URL(answer.headers.get("Location"), server);
  return {
    type: (text) => events.send(JSON.stringify({ type: "text", data: text })),
    hangUp: () => {
      fetch(session, { method: "DELETE", headers: { Authorization: `Bearer ${ticket}` } });
      microphone.getTracks().forEach((track) => track.stop());
      connection.close();
    },
  };
}

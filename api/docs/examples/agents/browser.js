// capture.js, a worklet: hands 16-bit samples to the page.
registerProcessor("capture", class extends AudioWorkletProcessor {
  process([[channel]]) {
    if (channel) {
      const pcm = Int16Array.from(channel, (v) => Math.max(-1, Math.min(1, v)) * 32767);
      this.port.postMessage(pcm.buffer, [pcm.buffer]);
    }
    return true;
  }
});

// page.js: your server has minted the ticket for this visitor.
export async function talk(server, ticket, agent) {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true } });
  const input = new AudioContext({ sampleRate: 16000 });
  await input.audioWorklet.addModule("capture.js");
  const capture = new AudioWorkletNode(input, "capture");
  input.createMediaStreamSource(microphone).connect(capture);

  const output = new AudioContext({ sampleRate: 44100 });
  let playing = [];
  let end = 0;
  const flush = () => {
    playing.forEach((source) => source.stop());
    playing = [];
    end = 0;
  };
  const play = (bytes) => {
    const pcm = new Int16Array(bytes);
    const clip = output.createBuffer(1, pcm.length, 44100);
    clip.copyToChannel(Float32Array.from(pcm, (v) => v / 32768), 0);
    const source = new AudioBufferSourceNode(output, { buffer: clip });
    source.connect(output.destination);
    source.onended = () => (playing = playing.filter((s) => s !== source));
    end = Math.max(end, output.currentTime + 0.06);
    source.start(end);
    end += clip.duration;
    playing.push(source);
  };

  const socket = new WebSocket(`${server}/ws/agent?api_key=${ticket}&agent_id=${agent}`);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => (capture.port.onmessage = ({ data }) => socket.send(data));
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) return play(data);
    const message = JSON.parse(data);
    if (message.type === "status" && message.data === "interrupted") flush();
  };
  socket.onclose = () => microphone.getTracks().forEach((track) => track.stop());
  return socket;
}

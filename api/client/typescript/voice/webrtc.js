// The agent over WebRTC, in the form of WHIP (RFC 9725): an offer is posted, the answer
// comes back, the resource that it names ends the conversation. Messages go over a data
// channel.
import { refusal } from "./refusal.js";

// How long a connection may be without a sign of the far end before ICE is restarted, in
// ms: networks change, and browsers take their time to give up.
const PATIENCE = 4000;

/**
 * One WebRTC connection. It is opened once; a new one is a new conversation.
 * @implements {import("./session.js").Transport}
 */
export class WebRTCTransport {
  /** @param {import("./session.js").TransportOptions} options */
  constructor(options) {
    this.options = options;
    this.meter = null;
    this.over = false;
    this.address = ""; // of the resource
    this.ended = false; // the server has ended it
    this.goodbye = null; // and what it said
    // The element makes the sound: it is what the browser's echo canceller listens to.
    this.audio = new Audio();
    this.audio.autoplay = true;
  }

  async open(microphone) {
    this.ticket = await this.options.ticket();
    if (this.over) return;
    this.peer = new RTCPeerConnection({ iceServers: this.options.iceServers });
    this.peer.onconnectionstatechange = () => this.moved();
    this.peer.ontrack = (e) => this.play(e.streams[0] ?? new MediaStream([e.track]));
    if (microphone) for (const t of microphone.stream.getAudioTracks()) this.peer.addTrack(t, microphone.stream);
    else this.peer.addTransceiver("audio", { direction: "recvonly" });
    this.events = this.peer.createDataChannel("events");
    this.events.onmessage = (e) => this.take(JSON.parse(e.data));
    this.events.onclose = () => {
      this.ended = true;
      this.lost();
    };
    const opened = new Promise((done) => {
      this.settle = done;
      this.events.onopen = done;
    });
    await this.offer();
    await opened;
    if (this.over) return;
    // Also without any: it tells the server that the configuration has begun.
    this.send({ type: "features", data: this.options.insight ? ["insight"] : [] });
  }

  async change(microphone) {
    const [track] = microphone.stream.getAudioTracks();
    await this.peer?.getSenders().find((s) => s.track?.kind === "audio")?.replaceTrack(track);
  }

  // The offer is posted before addresses are gathered, because the answer names the servers
  // that help with it (RFC 9725 section 4.6). The agent's server finds our addresses by our
  // first packets, so they need not be sent.
  async offer() {
    const url = new URL("/webrtc/agent", this.options.server);
    if (this.options.agentId) url.searchParams.set("agent_id", this.options.agentId);
    const offer = await this.peer.createOffer();
    const answer = await this.ask("POST", url, "application/sdp", offer.sdp);
    const text = await answer.text();
    this.address = new URL(answer.headers.get("Location"), url).href;
    if (this.over) return this.end();
    this.peer.setConfiguration({ iceServers: [...this.options.iceServers, ...servers(answer.headers.get("Link"))] });
    await this.peer.setLocalDescription(offer);
    await this.peer.setRemoteDescription({ type: "answer", sdp: text });
  }

  async ask(method, url, type, body, more = {}) {
    const answer = await fetch(url, { method, headers: { "Content-Type": type, Authorization: "Bearer " + this.ticket, ...more }, body });
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }

  // Plays the agent. Web Audio only measures it, and must not play it a second time.
  play(stream) {
    this.audio.srcObject = stream;
    this.audio.play().catch(() => {}); // it is over already
    this.meter = new AnalyserNode(this.options.context, { fftSize: 2048 });
    this.source = this.options.context.createMediaStreamSource(stream);
    this.source.connect(this.meter);
  }

  take(m) {
    if (m.type === "closed") [this.goodbye, this.ended] = [m.data, true];
    this.options.message(m);
    if (m.type === "status" && m.data === "interrupted") this.options.flushed(0); // by the server
    if (m.type === "closed") this.lost();
  }

  moved() {
    clearTimeout(this.waiting);
    const state = this.peer.connectionState;
    if (state === "failed") this.restart();
    if (state === "disconnected") this.waiting = setTimeout(() => this.restart(), PATIENCE);
    if (state === "connected") this.restarted = false;
  }

  // Looks for another way to the server, once, without ending the conversation.
  async restart() {
    if (this.over) return;
    if (this.restarted) return this.lost();
    this.restarted = true;
    this.waiting = setTimeout(() => this.judge(), 3 * PATIENCE);
    try {
      this.ticket = await this.options.ticket();
      const offer = await this.peer.createOffer({ iceRestart: true });
      await this.peer.setLocalDescription(offer);
      const answer = await this.ask("PATCH", this.address, "application/trickle-ice-sdpfrag", credentials(offer.sdp).join("\r\n") + "\r\n", { "If-Match": "*" });
      const remote = { type: "answer", sdp: renewed(this.peer.remoteDescription.sdp, await answer.text()) };
      await this.peer.setRemoteDescription(remote);
    } catch {
      this.lost(); // what the reason was does not matter: the connection is gone
    }
  }

  // Whether the restart has helped. A connection that never broke tells of no change.
  judge() {
    if (this.peer.connectionState !== "connected") return this.lost();
    this.restarted = false;
  }

  send(message) {
    if (this.events?.readyState === "open") this.events.send(JSON.stringify(message));
  }

  lost() {
    if (this.over) return;
    this.close();
    const { code = 1006, reason = "" } = this.goodbye ?? {};
    this.options.closed({ code: "", reason, again: [1001, 1006, 1011, 1012, 1013, 1014].includes(code), policy: code === 1008 });
  }

  close() {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.waiting);
    this.source?.disconnect();
    this.audio.srcObject = null;
    this.settle?.();
    if (this.address && !this.ended) this.end();
    else this.peer?.close();
  }

  // Has the server end it, and closes the connection after that: else it had ended when
  // the request came.
  end() {
    // keepalive: the page may be going away.
    fetch(this.address, { method: "DELETE", headers: { Authorization: "Bearer " + this.ticket }, keepalive: true })
      .catch(() => {}) // the server notices, too
      .finally(() => this.peer.close());
  }

  /** How the connection is, in words. */
  async report() {
    if (!this.peer || this.over) return "";
    const stats = await this.peer.getStats();
    const all = [...stats.values()];
    const words = [];
    const sound = all.find((s) => s.type === "inbound-rtp");
    if (sound) words.push(`${sound.packetsLost} of ${sound.packetsReceived} packets lost, ${Math.round(sound.jitter * 1000)} ms jitter`);
    // Several pairs may have been nominated; one is used.
    const used = stats.get(all.find((s) => s.type === "transport")?.selectedCandidatePairId) ?? all.find((s) => s.type === "candidate-pair" && s.nominated);
    if (used?.currentRoundTripTime !== undefined) words.push(`${Math.round(used.currentRoundTripTime * 1000)} ms round trip`);
    return words.join(", ");
  }
}

/**
 * The servers that Link headers name (RFC 9725 section 4.6).
 * @param {string | null} links
 * @returns {RTCIceServer[]}
 */
export function servers(links) {
  return [...(links ?? "").matchAll(/<([^>]+)>([^<]*)/g)]
    .filter(([, , rest]) => /rel="?ice-server"?/.test(rest))
    .map(([, urls, rest]) => ({ urls, ...Object.fromEntries([...rest.matchAll(/(username|credential)="([^"]*)"/g)].map(([, k, v]) => [k, v])) }));
}

const line = (sdp, name) => sdp.match(new RegExp(`^a=${name}:.*`, "m"))?.[0].trim() ?? "";

// Our side of ICE, as a fragment (RFC 8840 section 9): all media share one transport.
function credentials(sdp) {
  return [line(sdp, "ice-ufrag"), line(sdp, "ice-pwd"), "m=audio 9 RTP/AVP 0", line(sdp, "mid")];
}

/**
 * The server's answer with its side of ICE from a fragment in place of the old one.
 * @param {string} sdp @param {string} fragment
 */
export function renewed(sdp, fragment) {
  const candidates = fragment.split(/\r?\n/).filter((l) => /^a=(candidate|end-of-candidates)/.test(l));
  const kept = sdp.split(/\r?\n/).filter((l) => l && !/^a=(candidate|end-of-candidates)/.test(l));
  let first = true;
  return kept.flatMap((l) => {
    if (l.startsWith("a=ice-ufrag:")) return [line(fragment, "ice-ufrag")];
    if (!l.startsWith("a=ice-pwd:")) return [l];
    const here = first ? candidates : [];
    first = false;
    return [line(fragment, "ice-pwd"), ...here];
  }).join("\r\n") + "\r\n";
}

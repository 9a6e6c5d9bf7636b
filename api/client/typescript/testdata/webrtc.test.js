// What WebRTC's texts are made of.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebRTCTransport, renewed, servers } from "./webrtc.js";

test("servers that help with addresses are named in links", () => {
  assert.deepEqual(servers(null), []);
  assert.deepEqual(
    servers('<stun:stun.example.net>; rel="ice-server", <turn:turn.example.net?transport=udp>; rel="ice-server"; username="17:rtc_1"; credential="a+b/c="; credential-type="password", </docs>; rel="help"'),
    [{ urls: "stun:stun.example.net" }, { urls: "turn:turn.example.net?transport=udp", username: "17:rtc_1", credential: "a+b/c=" }],
  );
});

test("after a restart the answer has the server's new side, once", () => {
  const sdp = ["v=0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=ice-ufrag:old", "a=ice-pwd:oldpwd", "a=candidate:1 1 udp 1 10.0.0.1 1 typ host", "a=end-of-candidates", "a=mid:0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=ice-ufrag:old", "a=ice-pwd:oldpwd", "a=mid:1", ""].join("\r\n");
  const fragment = "a=ice-ufrag:new\r\na=ice-pwd:newpwd\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\na=candidate:2 1 udp 1 10.0.0.2 2 typ host\r\n";
  assert.deepEqual(renewed(sdp, fragment).split("\r\n"), ["v=0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=ice-ufrag:new", "a=ice-pwd:newpwd", "a=candidate:2 1 udp 1 10.0.0.2 2 typ host", "a=mid:0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=ice-ufrag:new", "a=ice-pwd:newpwd", "a=mid:1", ""]);
});

test("the report is of the pair in use, however many were nominated", async () => {
  const stats = new Map([
    ["T", { type: "transport", selectedCandidatePairId: "P2" }],
    ["P1", { type: "candidate-pair", nominated: true, currentRoundTripTime: 0.001 }],
    ["P2", { type: "candidate-pair", nominated: true, currentRoundTripTime: 0.007 }],
    ["I", { type: "inbound-rtp", packetsLost: 1, packetsReceived: 9, jitter: 0.004 }],
  ]);
  const report = () => WebRTCTransport.prototype.report.call({ peer: { getStats: async () => stats }, over: false });
  assert.equal(await report(), "1 of 9 packets lost, 4 ms jitter, 7 ms round trip");
  stats.delete("T"); // not every browser has it
  assert.equal(await report(), "1 of 9 packets lost, 4 ms jitter, 1 ms round trip");
});

package node

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/phone"
	"parley/inference"
	"parley/inference/enginetest"
)

// telephonePage is a phone in a browser. told is what has happened, and heard how much was loud of what the other side says, in tenths
// of a second. A library brings the functions call and press.
const telephonePage = `<!doctype html><html lang="en"><title>Telephone</title><link rel="icon" href="data:,">%s<script>
const told = [];
let heard = 0, session;
function listen(stream) {
  const speaker = new Audio();
  speaker.muted = true;
  speaker.srcObject = stream;
  speaker.play();
  const context = new AudioContext(), analyser = context.createAnalyser(), samples = new Float32Array(analyser.fftSize);
  context.createMediaStreamSource(stream).connect(analyser);
  setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    if (samples.some((s) => Math.abs(s) > 0.02)) heard++;
  }, 100);
}
</script></html>`

const jsSIP = `<script src="jssip.min.js"></script><script>
function call(server, user, password, called) {
  const ua = new JsSIP.UA({sockets: [new JsSIP.WebSocketInterface(server)], uri: "sip:" + user + "@voice.example.com", password, register: false});
  ua.on("connected", () => {
    session = ua.call("sip:" + called + "@voice.example.com", {mediaConstraints: {audio: true, video: false}});
    session.on("failed", (e) => told.push("failed " + e.cause));
    session.on("confirmed", () => told.push("confirmed"));
    session.on("ended", (e) => told.push("ended by " + e.originator));
    session.connection.addEventListener("track", (e) => listen(new MediaStream([e.track])));
  });
  ua.start();
}
function press(key) { session.sendDTMF(key, {transportType: "RFC2833"}); }
</script>`

const sipJS = `<script src="sip.min.js"></script><script>
async function call(server, user, password, called) {
  const at = (name) => SIP.UserAgent.makeURI("sip:" + name + "@voice.example.com");
  const ua = new SIP.UserAgent({uri: at(user), authorizationUsername: user, authorizationPassword: password, transportOptions: {server}, logBuiltinEnabled: false});
  await ua.start();
  session = new SIP.Inviter(ua, at(called), {sessionDescriptionHandlerOptions: {constraints: {audio: true, video: false}}});
  session.delegate = {onBye: () => told.push("ended by remote")};
  session.stateChange.addListener((state) => {
    if (state !== SIP.SessionState.Established) return;
    told.push("confirmed");
    listen(new MediaStream(session.sessionDescriptionHandler.peerConnection.getReceivers().map((r) => r.track)));
  });
  await session.invite({requestDelegate: {onReject: (r) => told.push("failed " + r.message.statusCode)}});
}
function press(key) { session.sessionDescriptionHandler.sendDtmf(key); }
</script>`

// TestBrowserPhones: a page with a library for telephones, in a real browser, calls an agent over DTLS and ICE, hears it, presses a key
// and is hung up on.
func TestBrowserPhones(t *testing.T) {
	for name, library := range map[string]string{"JsSIP": jsSIP, "SIP.js": sipJS} {
		t.Run(name, func(t *testing.T) { callByPage(t, library) })
	}
}

func callByPage(t *testing.T, library string) {
	d := newDesk(t)
	server := httptest.NewServer(d.node.Handler())
	t.Cleanup(server.Close)
	d.browserPhone()
	model := enginetest.NewFakeLLM()
	model.Replies = [][]enginetest.Step{{{Text: "Goodbye."}, {Tool: &inference.ToolCall{Name: "end_call", Arguments: "{}"}}}}
	d.node.engines.LLM = model
	d.changed()

	site := http.NewServeMux()
	site.Handle("/", http.FileServer(http.Dir("vendor")))
	site.HandleFunc("/telephone.html", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, telephonePage, library) })
	pages := httptest.NewServer(site)
	t.Cleanup(pages.Close)
	const second = 48000
	b := dashboardtest.Open(t, pages.URL, append(voicetest.Microphone(t, make([]int16, second)), "--autoplay-policy=no-user-gesture-required")...)
	b.Go("/telephone.html")
	dashboardtest.Eval[bool](b, fmt.Sprintf("void call(%q, %q, %q, %q) || true", "ws"+strings.TrimPrefix(server.URL, "http")+phone.Path, "ann", "open sesame", "help"))
	b.Wait(`told.length > 0`)
	if got := dashboardtest.Eval[string](b, `told[0]`); got != "confirmed" {
		t.Fatalf("the page saw %s", got)
	}
	b.Wait(`heard >= 10`)
	dashboardtest.Eval[bool](b, `void press("1") || true`)
	b.Wait(`told.length > 1`)
	if got := dashboardtest.Eval[string](b, `told.join()`); got != "confirmed,ended by remote" {
		t.Errorf("the page saw %s", got)
	}
	call := d.history(1)[0]
	if call.From != "ann" || call.To != "help" || call.EndReason == nil || *call.EndReason != "agent_hangup" {
		t.Errorf("%+v", call)
	}
	b.Check()
}

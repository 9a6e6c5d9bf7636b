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

// telephonePage is a phone made of JsSIP. told is what has happened, and heard how much was loud of what the other side says, in tenths of
// a second.
const telephonePage = `<!doctype html><html lang="en"><title>Telephone</title><link rel="icon" href="data:,"><script src="jssip.min.js"></script><script>
const told = [];
let heard = 0, session;
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

// TestJsSIP: a page with JsSIP, in a real browser, calls an agent over DTLS and ICE, hears it, presses a key and is hung up on.
func TestJsSIP(t *testing.T) {
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
	site.HandleFunc("/telephone.html", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, telephonePage) })
	pages := httptest.NewServer(site)
	t.Cleanup(pages.Close)
	const second = 48000
	b := dashboardtest.Open(t, pages.URL, append(voicetest.Microphone(t, make([]int16, second)), "--autoplay-policy=no-user-gesture-required")...)
	b.Go("/telephone.html")
	dashboardtest.Eval[bool](b, fmt.Sprintf("call(%q, %q, %q, %q) || true", "ws"+strings.TrimPrefix(server.URL, "http")+phone.Path, "ann", "open sesame", "help"))
	b.Wait(`told.length > 0`)
	if got := dashboardtest.Eval[string](b, `told[0]`); got != "confirmed" {
		t.Fatalf("the page saw %s", got)
	}
	b.Wait(`heard >= 10`)
	dashboardtest.Eval[bool](b, `session.sendDTMF("1", {transportType: "RFC2833"}) || true`)
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

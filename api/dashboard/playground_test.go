package dashboard_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/webrtc"
	"parley/api/wsagent"
	"parley/media"
	"parley/media/mediatest"
	line "parley/media/webrtc"
	"parley/store"
)

// Microphones, at 48 kHz.

func quietRoom() []int16 { return make([]int16, media.Rate48k) }

// faint is a tone that interrupts nobody.
func faint() []int16 { return mediatest.Tone(1000, media.Rate48k, int(media.Rate48k), 0.01) }

// speaker is silent for two seconds and then as loud as somebody who speaks, for half of one.
func speaker() []int16 {
	return append(make([]int16, 2*media.Rate48k), mediatest.Tone(700, media.Rate48k, int(media.Rate48k)/2, 0.3)...)
}

// playground is the page with an agent behind it.
type playground struct {
	*testing.T
	*dashboardtest.Tab
	agent  *voicetest.Agent
	stored *store.Agent

	mu      sync.Mutex
	sockets []net.Conn
}

// serve has the site's pages come over connections that the test can break.
func (p *playground) serve(s *dashboardtest.Site) {
	server := httptest.NewUnstartedServer(s.Handler)
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if state == http.StateHijacked {
			p.sockets = append(p.sockets, c)
		}
	}
	server.Start()
	p.T.Cleanup(server.Close)
	s.URL = server.URL
}

// breaks ends the connections of all sockets without a word.
func (p *playground) breaks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.sockets {
		c.Close()
	}
	p.sockets = nil
}

// openPlayground opens the page in a browser with these flags.
func openPlayground(t *testing.T, agent *voicetest.Agent, query string, flags ...string) *playground {
	t.Helper()
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		manage.Mount(a, s.DB, export.New(s.DB), fakeDefinition)
		wsagent.Mount(a, &wsagent.Handler{Agents: agent, Resume: &wsagent.Resumption{Key: "a key", Now: time.Now}})
		port, err := line.Listen(line.Config{Addr: netip.MustParseAddr("127.0.0.1")})
		s.OK(err)
		h := webrtc.New(webrtc.Options{Agents: agent})
		h.Listen(port)
		webrtc.Mount(a, h)
		t.Cleanup(func() { s.OK(h.Close()) })
	}})
	p := &playground{T: t, agent: agent, stored: makeAgent(s, s.Account, lola)}
	p.serve(s)
	p.Tab = s.Tab(flags...)
	p.open(query)
	return p
}

func (p *playground) open(query string) {
	p.T.Helper()
	p.Go("/app/playground" + query)
	p.until("panel && session.state === 'idle'")
}

// names are what expressions of the tests may use besides the page's own.
const names = `const panel = document.querySelector("[data-voice-panel]")?.voice, session = panel?.session;
	const part = (name) => document.querySelector('[data-voice="' + name + '"]');
	const text = (name) => part(name).textContent;
	const choose = (name, value) => { part(name).value = value; part(name).dispatchEvent(new Event("change")); };
	const spectrum = (analyser) => {
		if (!analyser) return { top: 0, level: -200, rest: 0 };
		const bins = new Float32Array(analyser.frequencyBinCount);
		analyser.getFloatFrequencyData(bins);
		const at = bins.indexOf(Math.max(...bins));
		return { top: at * analyser.context.sampleRate / analyser.fftSize, level: bins[at], rest: Math.max(...bins.filter((_, i) => Math.abs(i - at) > 6)) };
	};
	const samples = (analyser) => { const v = new Float32Array(2048); analyser.getFloatTimeDomainData(v); return v; };
`

func js(expression string) string { return "(() => {" + names + "return (" + expression + ")})()" }

// until waits for an expression to be true.
func (p *playground) until(expression string) {
	p.T.Helper()
	p.Wait(js(expression))
}

// run evaluates an expression for what it does.
func (p *playground) run(expression string) {
	p.T.Helper()
	dashboardtest.Eval[bool](p.Tab, js("("+expression+", true)"))
}

func (p *playground) press(part string) { p.T.Helper(); p.Click(`[data-voice="` + part + `"]`) }

func (p *playground) types(text string) {
	p.T.Helper()
	p.Fill("[data-voice=text]", text)
	p.Press(kb.Enter)
}

// tone waits until the agent's voice, where the page plays it, is this tone and little else.
func (p *playground) tone(freq float64) {
	p.T.Helper()
	p.until(fmt.Sprintf("(s => s.level > -40 && Math.abs(s.top - %g) < 35 && s.rest < s.level - 30)(spectrum(session.transport?.meter))", freq))
}

// silence waits until the page plays nothing.
func (p *playground) silence() {
	p.T.Helper()
	p.until("samples(session.transport.meter).every((v) => Math.abs(v) < 1e-3)")
}

// talk waits for the agent's nth conversation, from 1.
func (p *playground) talk(n int) *voicetest.Talk {
	p.T.Helper()
	eventually(p.T, fmt.Sprintf("conversation %d", n), func() bool { return len(p.agent.Talks()) >= n })
	return p.agent.Talks()[n-1]
}

func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(dashboardtest.Patience)
	for !f() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: never", what)
		}
	}
}

// firstScreen fails the test where one must scroll to begin or end a conversation, or to read what is said.
func (p *playground) firstScreen() {
	p.T.Helper()
	for _, screen := range []struct {
		name string
		show func()
		menu bool // it stands open beside the page
	}{{"a desk's", func() { p.Width(1440) }, true}, {"a telephone's", p.Phone, false}} {
		screen.show()
		p.until(fmt.Sprintf("document.querySelector('.side > details').open === %v", screen.menu)) // it follows with the next frame
		p.run("(scrollTo(0, 0), document.activeElement.blur())")
		for _, name := range []string{"start", "stop"} {
			if over := dashboardtest.Eval[float64](p.Tab, js("part('"+name+"').getBoundingClientRect().bottom - innerHeight")); over > 0 {
				p.T.Errorf("the button %s ends %.0f pixels below %s screen", name, over, screen.name)
			}
		}
		if seen := dashboardtest.Eval[float64](p.Tab, js("innerHeight - part('transcript').getBoundingClientRect().top")); seen < 100 {
			p.T.Errorf("%s screen shows %.0f pixels of the transcript", screen.name, seen)
		}
	}
	p.Wide()
}

// TestPlaygroundConversation: one click, and the agent's tone comes out of the page, what
// it says stands there, the server hears the microphone, and the page shows what goes on.
// Another click, and nothing is left open.
func TestPlaygroundConversation(t *testing.T) {
	overBoth(t, faint(), false, func(p *playground, webrtc bool) {
		p.converses()
		if webrtc {
			p.until("text('stats').includes('packets lost')")
			p.run("window.peer = session.transport.peer")
		} else {
			p.copesWithSlowNetworks()
		}
		p.stopsCleanly()
		if webrtc {
			p.until("peer.connectionState === 'closed'")
		}
	})
}

// overBoth runs a test over either transport, in one browser.
func overBoth(t *testing.T, microphone []int16, silent bool, test func(p *playground, webrtc bool)) {
	flags := voicetest.Microphone(t, microphone)
	for _, transport := range []string{"websocket", "webrtc"} {
		t.Run(transport, func(t *testing.T) {
			test(openPlayground(t, &voicetest.Agent{Silent: silent}, "?raw&transport="+transport, flags...), transport == "webrtc")
		})
	}
}

// copesWithSlowNetworks: while the network is stuck, the microphone is dropped.
func (p *playground) copesWithSlowNetworks() {
	p.T.Helper()
	p.run("Object.defineProperty(session.transport.socket, 'bufferedAmount', { get: () => 65000, configurable: true })")
	p.until("session.transport.stats.dropped > 1000")
	p.run("(delete session.transport.socket.bufferedAmount, window.sent = session.transport.stats.sent)")
	p.until("session.transport.stats.sent > window.sent")
	p.until("session.transport.stats.heard > 300")
}

// converses has a conversation, over whichever transport.
func (p *playground) converses() {
	p.T.Helper()
	p.press("start")
	p.tone(voicetest.GreetingTone)
	p.until("session.state === 'live' && text('transcript').includes('long greeting')")
	talk := p.talk(1)
	if talk.AgentID != p.stored.ID || !strings.HasPrefix(talk.Who.Key, "usr_") {
		p.T.Errorf("it talks with the agent %q as %s", talk.AgentID, talk.Who.Key)
	}
	eventually(p.T, "the microphone's tone", func() bool {
		heard, _, _ := talk.Heard()
		return len(heard) > 16000 && mediatest.SNR(heard[len(heard)-8000:], media.Rate16k, 1000) > 20
	})
	for _, shown := range []string{
		"part('caller-level').value > 0.2 && part('agent-level').value > 0.5",
		"document.querySelector('[data-phase=speaking]').ariaCurrent === 'true'",
		"part('turns').rows.length === 1 && part('turns').rows[0].innerText.includes('300') && part('turns').querySelectorAll('rect:not(.voice-point)').length === 4",
		"text('told').includes('Be a tone.')",
		"text('cost') === '$0.0125'",
		"[...part('events').rows].some((r) => r.innerText.includes('model asked'))",
		"panel.scope.samples.length > 20 && panel.scope.samples.at(-1).agent > 0.2 && panel.scope.samples.at(-1).caller > 0.005",
		"part('scope').getContext('2d').getImageData(0, 0, part('scope').width, part('scope').height).data.some((v) => v > 0)",
		"part('device').options.length > 1 && part('stop').disabled === false && part('agent').disabled",
	} {
		p.until(shown)
	}
	p.firstScreen()
	p.Accessible()
	p.Shot("live")
	p.Phone()
	p.NoSidewaysScroll()
	p.Shot("phone")
	p.Wide()
	// Voice and language change while it lasts.
	p.run("(choose('voice', 'M2'), choose('language', 'es'))")
	eventually(p.T, "the change of voice and language", func() bool {
		all := talk.Changes()
		v, l := all[max(0, len(all)-2)].Voice, all[len(all)-1].Language
		return v != nil && *v == "M2" && l != nil && *l == "es"
	})
	p.press("mute")
	eventually(p.T, "silence of the microphone", func() bool {
		heard, _, _ := talk.Heard()
		return mediatest.Level(heard[len(heard)-3200:]) < -80
	})
	p.until("part('mute').ariaPressed === 'true'")
}

// stopsCleanly ends a conversation and has another.
func (p *playground) stopsCleanly() {
	p.T.Helper()
	p.run("window.left = { tracks: session.microphone.stream.getTracks(), capture: session.microphone.context, playback: session.context }")
	p.press("stop")
	p.until("session.state === 'ended' && left.tracks.every((t) => t.readyState === 'ended') && left.capture.state === 'closed' && left.playback.state === 'closed'")
	p.until("session.transport === null && session.microphone === null && !part('start').disabled && document.activeElement === part('start')")
	p.until("text('state') === 'The conversation has ended.' && part('agent-level').value === 0")
	eventually(p.T, "the end at the server", p.talk(1).Over)

	p.press("start")
	p.tone(voicetest.GreetingTone)
	p.press("stop")
	eventually(p.T, "the end of the second", p.talk(2).Over)
}

// TestPlaygroundBargeIn: who speaks over the agent silences the page at once, and what was
// not heard is struck.
func TestPlaygroundBargeIn(t *testing.T) {
	overBoth(t, speaker(), false, func(p *playground, webrtc bool) {
		p.run("session.addEventListener('flushed', (e) => (window.flushed = e.detail.heard))")
		p.press("start")
		p.tone(voicetest.GreetingTone)
		p.until("part('transcript').querySelector('del')?.textContent === 'that nobody wants to hear to its end.'")
		p.until("text('transcript').includes('This is a long greeting') && text('transcript').includes('Stop, please.')")
		p.silence()
		p.until("session.state === 'live' && text('turns').includes('cut off')")
		if _, _, n := p.talk(1).Heard(); n != 1 {
			p.T.Errorf("it was interrupted %d times", n)
		}
		if !webrtc { // there the server holds what is not heard yet
			p.until("window.flushed > 0 && session.transport.stats.buffered === 0")
		}
		p.Shot("interrupted")
	})
}

// TestPlaygroundConnectionLost: a server that restarts is found again; one that hangs up,
// or refuses, is not asked again, and the page says why.
func TestPlaygroundConnectionLost(t *testing.T) {
	overBoth(t, quietRoom(), true, func(p *playground, webrtc bool) {
		p.losesConnection()
		if webrtc {
			p.findsAnotherWay()
		}

		p.Allow("402")
		p.agent.Refusing(store.ErrInsufficientBalance)
		p.press("start")
		p.until("session.state === 'nobalance' && text('state').startsWith('The balance does not suffice.')")
		p.Shot("nobalance")

		p.agent.Refusing(nil)
		p.Allow("401")
		p.run("fetch('/app/sign-out', { method: 'POST', redirect: 'manual' })")
		p.until("fetch('/app/ticket', { method: 'POST' }).then((a) => a.status === 401)")
		p.press("start")
		p.until("session.state === 'ended' && text('state').includes('You are not signed in any more')")
	})
}

// TestPlaygroundGoesOn: when the network breaks the conversation goes on, the agent in the middle of what it says.
func TestPlaygroundGoesOn(t *testing.T) {
	p := openPlayground(t, &voicetest.Agent{}, "", voicetest.Microphone(t, faint())...)
	p.press("start")
	p.tone(voicetest.GreetingTone)
	for n := range 2 {
		p.breaks()
		p.until(fmt.Sprintf("panel.conversation.events.filter((e) => e.label === 'reconnecting').length === %d && session.state === 'live'", n+1))
		p.tone(voicetest.GreetingTone)
	}
	p.types("hello")
	p.tone(voicetest.AnswerTone)
	_, before, _ := p.talk(1).Heard()
	eventually(t, "the microphone is heard again", func() bool { _, frames, _ := p.talk(1).Heard(); return frames > before+50 })
	p.until("!text('transcript').includes('new conversation') && text('transcript').includes('You said hello.')")
	p.press("stop")
	eventually(t, "the end", p.talk(1).Over)
	if n := len(p.agent.Talks()); n != 1 {
		t.Errorf("%d conversations", n)
	}
}

// TestPlaygroundLimits: the page goes by the code of the limit that a conversation reached,
// and not by an error of before.
func TestPlaygroundLimits(t *testing.T) {
	overBoth(t, quietRoom(), true, func(p *playground, _ bool) {
		p.run("session.addEventListener('state', (e) => (window.last = e.detail))")
		for _, tt := range []struct{ typed, state, code, says string }{
			{voicetest.TypeEnd + "balance_exhausted", "nobalance", "billing.insufficient_balance", "The balance does not suffice."},
			{voicetest.TypeEnd + "balance_exhausted disputed", "ended", "billing.account_disputed", "The conversation has ended. A payment of the account is disputed."},
			{voicetest.TypeEnd + "balance_exhausted spending_limit", "ended", "limit.spending", "The conversation has ended."},
			{voicetest.TypeEnd + "max_duration", "ended", "auth.time_limited", "The conversation has ended."},
			{voicetest.TypeHangUp, "ended", "", "The conversation has ended."},
		} {
			p.press("start")
			p.until("session.state === 'live'")
			p.run("session.sendText('x'.repeat(4001))")
			p.types("hello")
			p.until("text('transcript').includes('You said hello.')")
			p.run("session.sendText('x'.repeat(4001))")
			p.types(tt.typed)
			p.until(fmt.Sprintf("window.last.state === %q && window.last.code === %q && text('state').startsWith(%q)", tt.state, tt.code, tt.says))
		}
	})
}

// findsAnotherWay restarts ICE in the midst of a conversation.
func (p *playground) findsAnotherWay() {
	p.T.Helper()
	p.press("start")
	p.until("session.state === 'live'")
	const ufrag = "session.transport.peer.localDescription.sdp.match(/ice-ufrag:(.*)/)[1]"
	p.run("(window.ufrag = " + ufrag + ", session.transport.restart())")
	p.until("session.transport.peer.signalingState === 'stable' && " + ufrag + " !== window.ufrag && session.transport.peer.connectionState === 'connected'")
	p.types("hello")
	p.tone(voicetest.AnswerTone)
	p.until("session.state === 'live'")
	if n := len(p.agent.Talks()); n != 3 {
		p.T.Errorf("%d conversations instead of 3", n)
	}
	p.press("stop")
}

func (p *playground) losesConnection() {
	p.T.Helper()
	p.press("start")
	p.until("session.state === 'live'")
	p.types("hello")
	p.tone(voicetest.AnswerTone)
	p.until("text('transcript').includes('You said hello.')")

	p.types(voicetest.TypeDrop)
	p.until("text('transcript').includes('What follows is a new conversation')")
	p.talk(2)
	p.until("session.state === 'live' && session.microphone.stream.active")
	p.types("again")
	p.tone(voicetest.AnswerTone)

	p.types(voicetest.TypeHangUp)
	p.until("session.state === 'ended' && text('state') === 'The conversation has ended.'") // the server's reason says the same
	eventually(p.T, "the ends at the server", func() bool { return p.talk(1).Over() && p.talk(2).Over() })
}

// denied are the flags of a browser whose user refuses the microphone.
var denied = []string{"--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream=deny"}

// TestPlaygroundMicrophoneRefused: the page says so and how to undo it, and goes on without.
func TestPlaygroundMicrophoneRefused(t *testing.T) {
	p := openPlayground(t, &voicetest.Agent{Silent: true}, "", denied...)
	p.press("start")
	p.until("session.state === 'denied' && text('state').includes('site settings beside the address')")
	p.until("session.context.state === 'closed' && session.microphone === null")
	if n := len(p.agent.Talks()); n != 0 {
		t.Errorf("%d conversations began", n)
	}
	p.Accessible()
	p.Shot("refused")
	for name, says := range map[string]string{"NotFoundError": "No microphone was found.", "NotReadableError": "The microphone cannot be used."} {
		p.run("navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '" + name + "'))")
		p.press("start")
		p.until("!session.running && text('state').startsWith('" + says + "')")
	}
	p.press("start-typed")
	p.until("session.state === 'live' && part('mute').disabled")
	p.types("hello")
	p.tone(voicetest.AnswerTone)
	p.press("stop")
	p.until("session.state === 'ended'")
}

// TestPlaygroundMicrophoneLost: it is unplugged in a conversation, which goes on without,
// and with the next one that is plugged in.
func TestPlaygroundMicrophoneLost(t *testing.T) {
	overBoth(t, faint(), false, func(p *playground, _ bool) { p.losesMicrophone() })
}

func (p *playground) losesMicrophone() {
	p.T.Helper()
	p.press("start")
	p.tone(voicetest.GreetingTone)
	p.run(`(window.media = navigator.mediaDevices.getUserMedia,
		navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotFoundError')),
		window.gone = session.microphone, gone.stream.getTracks().forEach((t) => { t.stop(); t.dispatchEvent(new Event('ended')) }))`)
	p.until("session.state === 'live' && text('state').startsWith('The microphone was unplugged.')")
	p.Accessible()
	p.Shot("unplugged")
	p.types("hello")
	p.tone(voicetest.AnswerTone)
	p.run("(navigator.mediaDevices.getUserMedia = media, navigator.mediaDevices.dispatchEvent(new Event('devicechange')))")
	p.until("text('state').startsWith('The conversation goes on with another microphone') && session.microphone !== gone && gone.context.state === 'closed'")
	eventually(p.T, "the next microphone", func() bool {
		heard, _, _ := p.talk(1).Heard()
		return len(heard) > 16000 && mediatest.SNR(heard[len(heard)-8000:], media.Rate16k, 1000) > 20
	})
	p.press("stop")
	eventually(p.T, "the end", p.talk(1).Over)
	p.run("(window.opened = 0, navigator.mediaDevices.getUserMedia = () => { window.opened++ }, navigator.mediaDevices.dispatchEvent(new Event('devicechange')))")
	p.until("window.opened === 0")
}

// TestPlaygroundNames: what an agent is called, and what is said, is text and never markup.
func TestPlaygroundNames(t *testing.T) {
	p := openPlayground(t, &voicetest.Agent{Silent: true}, "", denied...)
	p.press("start-typed")
	p.until("session.state === 'live'")
	const evil = `<img src=x onerror="window.hit=1"><b>bold</b>`
	p.types(evil)
	p.until("text('transcript').includes('<b>bold</b>') && text('told').includes('<b>bold</b>') && text('events').includes('<b>bold</b>')")
	p.until("window.hit === undefined && !part('transcript').querySelector('b') && !part('events').querySelector('img, b') && !part('told').querySelector('img')")
}

// TestTestCall: the small panel works wherever a script puts it, and its conversation ends
// when it is taken away.
func TestTestCall(t *testing.T) {
	p := openPlayground(t, &voicetest.Agent{Silent: true}, "", denied...)
	p.press("start-typed")
	p.until("session.state === 'live'")
	first := p.talk(1)
	at := "/app/playground/test-call/"
	p.run("htmx.ajax('GET', '" + at + p.stored.ID + "', { target: '[data-voice-panel]', swap: 'outerHTML' })")
	eventually(t, "the end of what was taken away", first.Over)
	p.until("panel && part('scope') === null && session.state === 'idle'")
	p.Accessible()
	p.press("start-typed")
	p.types("hello")
	p.tone(voicetest.AnswerTone)
	p.until("text('transcript').includes('You said hello.') && text('turns').includes('300')")
	if id := p.talk(2).AgentID; id != p.stored.ID {
		t.Errorf("it talks with the agent %q", id)
	}
	p.Shot("testcall")
	p.press("stop")
	p.until("session.state === 'ended'")
	p.Allow("404")
	p.until("fetch('" + at + "ag_of_somebody_else').then((a) => a.status === 404)")
}

// TestPlaygroundWeight: what the page loads at first has less than 300 kB compressed.
func TestPlaygroundWeight(t *testing.T) {
	p := openPlayground(t, &voicetest.Agent{Silent: true}, "", denied...)
	if n := dashboardtest.Eval[int](p.Tab, loadedBytes); n < 20_000 || n > firstLoad {
		t.Errorf("the page loads %d bytes", n)
	}
}

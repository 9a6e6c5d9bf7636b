package dashboard_test

import (
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/webrtc"
	"parley/api/wsagent"
	"parley/media/mediatest"
	line "parley/media/webrtc"
	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

// stranger is a site of somebody else, with a strict policy, that has the button on its
// page. Its own backend, which knows the key, makes tickets.
type stranger struct {
	*testing.T
	*dashboardtest.Tab
	site   *dashboardtest.Site
	agent  *voicetest.Agent
	stored *store.Agent
	key    string
	refuse atomic.Int32 // the status that the backend answers with instead of a ticket
	dead   atomic.Int32 // how many tickets that are none it gives first
	minted atomic.Int32
}

// openStranger opens the page with a button for each of these attributes of its tag.
func openStranger(t *testing.T, agent *voicetest.Agent, flags []string, buttons ...string) *stranger {
	t.Helper()
	s := &stranger{T: t, agent: agent}
	s.site = dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(site *dashboardtest.Site, a *api.API) {
		wsagent.Mount(a, &wsagent.Handler{Agents: agent})
		port, err := line.Listen(line.Config{Addr: netip.MustParseAddr("127.0.0.1")})
		site.OK(err)
		h := webrtc.New(webrtc.Options{Agents: agent})
		h.Listen(port)
		webrtc.Mount(a, h)
		t.Cleanup(func() { site.OK(h.Close()) })
	}})
	s.stored = makeAgent(s.site, s.site.Account, lola)
	_, key, err := people.New(s.site.DB).MakeKey(storetest.At(t.Context(), stamp()), people.NewKey{Account: s.site.Account, Name: "website", Role: people.RoleMember})
	s.site.OK(err)
	s.key = key

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' "+s.site.URL+"; connect-src 'self' "+s.site.URL+" ws"+strings.TrimPrefix(s.site.URL, "http")+"; img-src data:")
		h.Set("Permissions-Policy", "microphone=(self)")
		h.Set("Cross-Origin-Embedder-Policy", "require-corp")
		page := `<!doctype html><html lang="en"><head><title>Casa Lola</title><link rel="icon" href="data:,"><script src="/heard.js"></script>`
		for _, attributes := range buttons {
			page += `<script src="` + s.site.URL + `/widget.js" data-ticket-url="/talk-ticket" ` + attributes + ` async></script>`
		}
		_, _ = io.WriteString(w, page+`</head><body><main><h1>Casa Lola</h1></main></body></html>`)
	})
	mux.HandleFunc("GET /heard.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, `window.heard = [];
for (const name of ["start", "transcript", "end"]) document.addEventListener("parley:" + name, (e) => heard.push([name, e.detail]));`)
	})
	mux.HandleFunc("GET /elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,">`)
	})
	mux.HandleFunc("POST /talk-ticket", s.ticket)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.Tab = dashboardtest.Open(t, server.URL, flags...)
	s.Go("/")
	return s
}

// ticket is the site's own backend.
func (s *stranger) ticket(w http.ResponseWriter, r *http.Request) {
	if status := s.refuse.Load(); status != 0 {
		http.Error(w, "not now", int(status))
		return
	}
	if s.dead.Add(-1) >= 0 {
		_, _ = io.WriteString(w, `{"ticket":"wst_dead"}`)
		return
	}
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.site.URL+"/v1/session-tickets", strings.NewReader(`{"agent_id":"`+s.stored.ID+`"}`))
	if err != nil {
		panic(err)
	}
	ask.Header.Set("Authorization", "Bearer "+s.key)
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	s.minted.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}

// widgetNames are what expressions of the tests may use besides those of the playground's.
const widgetNames = `const talk = document.querySelector("parley-talk"), box = talk?.shadowRoot?.querySelector(".box");
	const session = talk?.session, seen = () => box.innerText;
	const find = (selector) => talk.shadowRoot.querySelector(selector);
	const shown = (text) => [...talk.shadowRoot.querySelectorAll("button")].find((b) => b.textContent === text && b.checkVisibility());
	const status = () => find("[role=status]").textContent;
`

func widgetJS(expression string) string {
	return "(() => {" + strings.Replace(names, ", session = panel?.session", "", 1) + widgetNames + "return (" + expression + ")})()"
}

func (s *stranger) until(expression string) { s.T.Helper(); s.Wait(widgetJS(expression)) }

func (s *stranger) run(expression string) {
	s.T.Helper()
	dashboardtest.Eval[bool](s.Tab, widgetJS("("+expression+", true)"))
}

// press presses the button with this text, as a visitor does: the browser then lets the
// page make a sound.
func (s *stranger) press(text string) {
	s.T.Helper()
	name, _ := json.Marshal(text)
	s.until("shown(" + string(name) + ")")
	s.run("shown(" + string(name) + ").focus()")
	s.Press(kb.Enter)
}

func (s *stranger) talk(n int) *voicetest.Talk {
	s.T.Helper()
	eventually(s.T, "a conversation", func() bool { return len(s.agent.Talks()) >= n })
	return s.agent.Talks()[n-1]
}

// TestWidgetConversation: on a page of another origin with a strict policy, one click, and
// the visitor talks with the agent that the ticket is for. Another click, and nothing is
// left open.
func TestWidgetConversation(t *testing.T) {
	flags := voicetest.Microphone(t, faint())
	for _, transport := range []string{"websocket", "webrtc"} {
		t.Run(transport, func(t *testing.T) {
			s := openStranger(t, &voicetest.Agent{}, flags, `data-agent-name="Lola" data-variables='{"page":"rooms"}' data-transport="`+transport+`"`)
			s.press("Talk to us")
			s.until("session.state === 'live' && status() === 'Connected. Say something.' && seen().includes('Talk to Lola') && seen().includes('long greeting')")
			s.until("(s => s.level > -40 && Math.abs(s.top - 440) < 35)(spectrum(session.transport?.meter))")
			s.until("find('.orb').checkVisibility() && find('.orb').style.getPropertyValue('--agent') > 0.3")
			talk := s.talk(1)
			if ticket := talk.Who.Ticket; ticket == nil || ticket.Agent != s.stored.ID {
				t.Errorf("it talks as %+v", talk.Who)
			}
			if asked := talk.Changes()[0]; !maps.Equal(asked.Variables, map[string]string{"page": "rooms"}) {
				t.Errorf("the page says %v of its visitor", asked.Variables)
			}
			eventually(t, "the microphone's tone", func() bool {
				heard, _, _ := talk.Heard()
				return len(heard) > 8000 && mediatest.Level(heard[len(heard)-8000:]) > -60
			})
			s.Accessible()
			s.Shot("live")
			s.Phone()
			s.NoSidewaysScroll()
			s.Shot("phone")
			s.Wide()

			s.press("Mute")
			s.until("session.muted && shown('Mute').ariaPressed === 'true'")
			eventually(t, "silence of the microphone", func() bool {
				heard, _, _ := talk.Heard()
				return mediatest.Level(heard[len(heard)-3200:]) < -80
			})
			s.run("find('input').focus()")
			s.Press("h", "i", kb.Enter)
			s.until("seen().includes('You said hi.')")
			s.until("heard.some(([name, d]) => name === 'transcript' && d.role === 'user' && d.text === 'hi')")

			s.run("window.left = { tracks: session.microphone.stream.getTracks(), capture: session.microphone.context, playback: session.context }")
			s.press("Hang up")
			s.until("session.state === 'ended' && !find('.orb').checkVisibility() && status() === 'The conversation has ended.' && talk.shadowRoot.activeElement === shown('Talk again')")
			s.until("left.tracks.every((t) => t.readyState === 'ended') && left.capture.state === 'closed' && left.playback.state === 'closed'")
			s.until("heard[0][0] === 'start' && heard[0][1].agent === 'Lola' && heard.at(-1)[0] === 'end' && heard.at(-1)[1].code === 'stopped'")
			eventually(t, "the end at the server", talk.Over)

			// Another one, which ends because the visitor leaves.
			s.press("Talk again")
			s.until("session.state === 'live'")
			s.Go("/elsewhere")
			eventually(t, "the end of the second", s.talk(2).Over)
			if n := s.minted.Load(); n != 2 {
				t.Errorf("%d tickets for two conversations", n)
			}
		})
	}
}

// TestWidgetByKeyboard: without a mouse and without a microphone, in the page's language,
// and what is said, and what the agent is called, is text.
func TestWidgetByKeyboard(t *testing.T) {
	const evil = `<img src=x onerror="window.hit=1"><b>bold</b>`
	s := openStranger(t, &voicetest.Agent{Silent: true}, denied, `data-language="es" data-label="`+html.EscapeString("Hola "+evil)+`" data-agent-name="`+html.EscapeString(evil)+`" data-position="top-left" data-theme="dark"`)
	s.until("find('.launch')?.textContent === 'Hola <img src=x onerror=\"window.hit=1\"><b>bold</b>'")
	s.until("talk.getBoundingClientRect().top < 40 && talk.getBoundingClientRect().left < 40")
	s.Accessible()
	s.Press(kb.Tab)
	s.until("talk.shadowRoot.activeElement === find('.launch') && getComputedStyle(find('.launch')).outlineStyle === 'solid'")
	s.Press(kb.Enter)
	s.until("session.state === 'denied' && status().startsWith('Se rechazó el micrófono.') && session.context.state === 'closed'")
	s.until("talk.shadowRoot.activeElement === shown('Hablar otra vez') && seen().includes('<b>bold</b>')")
	s.Accessible()
	s.Shot("refused")
	s.Press(kb.Tab, kb.Enter) // to "Escribir"
	s.until("session.state === 'live' && status() === 'Conectado. Di algo.' && shown('Colgar') && !shown('Silenciar')")
	s.run("find('input').focus()")
	s.Press(evil, kb.Enter)
	s.until("seen().includes('You said <img')")
	s.until("window.hit === undefined && !find('img, b')")
	s.press("Colgar")
	s.until("session.state === 'ended'")
	s.Press(kb.Escape)
	s.until("!seen().includes('Colgar') && talk.shadowRoot.activeElement === find('.launch')")
}

// TestWidgetSaysWhatFails: the site's backend, the balance, a server that is full; and of
// two buttons one talks.
func TestWidgetSaysWhatFails(t *testing.T) {
	s := openStranger(t, &voicetest.Agent{Silent: true}, voicetest.Microphone(t, quietRoom()), "", `data-label="Also here" data-position="bottom-left"`)
	says := func(text string) {
		t.Helper()
		s.until("!session.running && status().startsWith('" + text + "') && session.microphone === null && session.context.state === 'closed'")
	}
	// The scripts are loaded in any order.
	s.until("document.querySelectorAll('parley-talk').length === 2")
	s.run("(e => e.dataset.label && document.body.append(e))(talk)")
	s.Allow("500")
	s.refuse.Store(500)
	s.press("Talk to us")
	says("This site could not start a conversation.")
	s.Allow("429")
	s.refuse.Store(429)
	s.press("Talk again")
	says("All lines are busy.")
	s.refuse.Store(0)
	// A socket that is refused is not tried again, though browsers do not tell why it was.
	s.Allow("401")
	s.Allow("WebSocket connection to")
	s.dead.Store(1)
	s.press("Talk again")
	says("This site could not start a conversation.")
	s.until("find('.lines').textContent === ''")
	s.agent.Refusing(store.ErrInsufficientBalance)
	s.press("Talk again")
	says("Nobody can answer at the moment.")
	s.agent.Refusing(store.ErrConcurrency)
	s.press("Talk again")
	says("All lines are busy.")
	s.until("talk.dataset.state === 'ended' && heard.length === 5 && heard.every(([name]) => name === 'end')")

	s.agent.Refusing(store.ErrSpending)
	s.press("Talk again")
	says("Nobody can answer at the moment.")
	s.agent.Refusing(store.ErrDisputed)
	s.press("Talk again")
	says("Nobody can answer at the moment.")
	s.agent.Refusing(nil)
	for _, end := range [][2]string{{"balance_exhausted", "Nobody can answer at the moment."}, {"balance_exhausted disputed", "Nobody can answer at the moment."},
		{"balance_exhausted ticket_cost", "The conversation has ended."}, {"max_duration", "The conversation has ended."}} {
		s.press("Talk again")
		s.until("session.state === 'live'")
		s.run("session.sendText('" + voicetest.TypeEnd + end[0] + "')")
		says(end[1])
	}

	s.press("Talk again")
	s.until("session.state === 'live'")
	s.run("document.querySelectorAll('parley-talk')[1].shadowRoot.querySelector('.launch').focus()")
	s.Press(kb.Enter)
	s.until("session.state === 'ended' && document.querySelectorAll('parley-talk')[1].session.state === 'live'")
	s.run("document.querySelectorAll('parley-talk')[1].remove()")
	eventually(t, "the ends at the server", func() bool { return s.talk(5).Over() && s.talk(6).Over() })
}

// TestWidgetFiles: pages of all sites may load them, whatever version they ask for, and
// nothing else of the dashboard.
func TestWidgetFiles(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	check := func(path, cache string) dashboardtest.Answer {
		t.Helper()
		a := s.Get(path)
		if a.Status != http.StatusOK || a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" ||
			a.Header.Get("Cache-Control") != cache || a.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || a.Header.Get("ETag") == "" {
			t.Errorf("%s: %d %v", path, a.Status, a.Header)
		}
		if again := s.Get(path, "If-None-Match", a.Header.Get("ETag")); again.Status != http.StatusNotModified {
			t.Errorf("%s again: %d", path, again.Status)
		}
		return a
	}
	loader := check("/widget.js", "public, max-age=300")
	talk := regexp.MustCompile(`/widget/assets/[0-9a-f]{16}/widget/talk\.js`).FindString(loader.Body)
	if talk == "" {
		t.Fatal(loader.Body)
	}
	root := strings.TrimSuffix(talk, "widget/talk.js")
	// Whatever is imported, and the worklets, is there.
	imports := regexp.MustCompile(`(?:from "|base \+ ")([^"]+)"`)
	seen, queue := map[string]bool{}, []string{"widget/talk.js"}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		a := check(root+name, "public, max-age=31536000, immutable")
		if other := check("/widget/assets/0123456789abcdef/"+name, "no-cache"); other.Body != a.Body {
			t.Errorf("%s of another version differs", name)
		}
		for _, m := range imports.FindAllStringSubmatch(a.Body, -1) {
			at := m[1]
			if strings.HasPrefix(at, "../") {
				at = strings.TrimPrefix(at, "../")
			} else {
				at = name[:strings.LastIndex(name, "/")+1] + strings.TrimPrefix(at, "./")
			}
			queue = append(queue, at)
		}
	}
	if len(seen) != 17 {
		t.Errorf("%d files are loaded: %v", len(seen), seen)
	}
	for _, none := range []string{root + "static/dashboard.css", root + "widget/loader.js", "/widget/assets/x/static/voice/panel.js", "/widget/assets/x/../../dashboard.go"} {
		if a := s.Get(none); a.Status == http.StatusOK {
			t.Errorf("%s: %d", none, a.Status)
		}
	}
	if a := s.Get("/app/sign-in"); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("pages are open to other sites")
	}
}

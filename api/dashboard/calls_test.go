package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/dashboard/dashboardtest"
	"parley/api/messages"
	"parley/api/recording"
	"parley/api/wire"
	"parley/billing"
	"parley/media"
	"parley/media/quality"
	"parley/media/record"
	"parley/media/wav"
	"parley/store"
	"parley/store/blob"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// exchange is a site with calls: one that is over and was recorded, and one that lasts.
type exchange struct {
	*dashboardtest.Site
	over, lasts string
	speaker     string // the agent of both
	mu          sync.Mutex
	hungUp      string
	dialled     atomic.Int64
	texts       *messages.Desk
	headers     wire.CallHeaders       // of the call that was dialled last
	changes     chan callcenter.Change // of the one that lasts
}

// hostile is a name and a text that would be a script where somebody forgot to escape it.
const hostile = `<script>alert("x")</script><img src=x onerror=alert(1)>`

func newExchange(t *testing.T) *exchange {
	t.Helper()
	x := &exchange{changes: make(chan callcenter.Change, 10)}
	dir := t.TempDir()
	x.Site = dashboardtest.NewSite(t, dashboardtest.Options{Mount: x.mount(dir)})
	x.SignIn()
	x.fill(dir)
	return x
}

// mount adds the routes of calls, whose recordings are in a directory.
func (x *exchange) mount(dir string) func(*dashboardtest.Site, *api.API) {
	return func(s *dashboardtest.Site, a *api.API) {
		recording.Mount(a, recording.New(recording.Config{Store: s.DB, Queue: jobs.New(slog.New(slog.DiscardHandler)), Node: "node",
			Files: blob.NewFolder(func() string { return dir }), Raw: func() string { return dir }, Log: slog.New(slog.DiscardHandler)}))
		callcenter.MountFollow(a, s.DB, x, nil)
	}
}

// fill makes the calls.
func (x *exchange) fill(dir string) {
	t := x.T
	t.Helper()
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	node, _, err := ledger.New(x.DB).RegisterNode(storetest.At(t.Context(), at), "node", "127.0.0.1:1")
	x.OK(err)
	agent, err := x.DB.CreateAgent(storetest.At(t.Context(), at), x.Account, store.Agent{Name: "Ana " + hostile, Voice: "F1", Language: "en"})
	x.OK(err)
	x.speaker = agent.ID
	start := func(at time.Time) *ledger.Session {
		c, err := ledger.New(x.DB).StartSession(storetest.At(t.Context(), at), ledger.Start{Node: node, Account: x.Account, Agent: agent.ID, From: "+34612345678", To: "+34911234567",
			Verstat: "TN-Validation-Passed", Attestation: "A", Headers: map[string]string{"X-Customer-Id": "42 " + hostile}, Origin: &store.CallOrigin{DivertedBy: "+34911234569"},
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}, Card: billing.DefaultRateCard()})
		x.OK(err)
		return c
	}
	c := start(at)
	x.over = c.ID
	free, cost := billing.Money(0), 4321*billing.Cent
	x.OK(history.New(x.DB).SaveConversation(t.Context(), x.Account, c.ID, history.Conversation{
		Engines: &store.ServedBy{ASR: []string{"flux"}, LLM: []string{"haiku"}, TTS: []string{"espeak"}},
		Transcript: []history.TranscriptLine{{Role: "agent", Text: "Good morning, Casa Lola.", AtMS: 100}, {Role: "user", Text: hostile, AtMS: 900},
			{Role: "agent", Text: "A table", AtMS: 2900, Estimated: true, Words: []history.SpokenWord{{Text: "A", StartMS: 2100, EndMS: 2200}, {Text: "table", StartMS: 2250, EndMS: 2700}},
				Interruption: &history.Interruption{AtMS: 2800, Unheard: "for two, at eight " + hostile}}},
		Functions: []history.FunctionCall{{ID: "call_1_1", Name: "book", Arguments: `{"people":2}`, Turn: 1, BeganMS: 1500, EndedMS: new(int64(1740)), Outcome: "ok", Result: "booked " + hostile},
			{ID: "call_1_2", Name: "look", ByClient: true, Turn: 1, BeganMS: 1600}},
		Turns: json.RawMessage(`[{"turn":1,"generation":2,"at_ms":2100,"endpoint_ms":400,"model_ms":300,"voice_ms":100,"total_ms":800},
			{"turn":2,"generation":3,"at_ms":2900,"endpoint_ms":200,"model_ms":0,"voice_ms":0,"total_ms":210,"points":{"speech_end_ms":2690,"final_text_ms":121,"first_token_ms":151,
			"first_sentence_ms":162,"first_audio_ms":null,"first_packet_ms":211}}]`)}))
	prompt := "You answer the telephone of Casa Lola. " + hostile
	x.OK(history.New(x.DB).SaveEvents(t.Context(), []history.Happened{{Account: x.Account, Call: c.ID, Completion: &history.Completion{
		Request: history.CompletionRequest{AtMS: 1200, System: &prompt, Tools: []history.CompletionTool{{Name: "book", Description: "Books a table. " + hostile}},
			Messages: []history.CompletionMessage{{Role: "agent", Text: "Good morning, Casa Lola."}, {Role: "user", Text: hostile}}},
		Answer: &history.CompletionAnswer{Engine: "haiku", FirstMS: new(int64(310)), TookMS: 540, Outcome: history.CompletionDone, Text: "A table " + hostile,
			Calls: []history.CompletionCall{{ID: "call_1_1", Name: "book", Arguments: `{"people":2}`}}}}}}))
	x.OK(history.New(x.DB).BeginRecording(storetest.At(t.Context(), at), c.ID, "node"))
	_, err = ledger.New(x.DB).CloseSession(storetest.At(t.Context(), at.Add(3*time.Second)), c, ledger.Closing{Reason: "user_hangup", StartedAt: at, Usage: billing.Usage{billing.AgentTime: 3000, billing.LineTime: 3000},
		Uses: []store.EngineUse{{Stage: "asr", Engine: "flux", Unit: billing.OpenSeconds, Quantity: 12_500, Source: "counted", Cost: &cost},
			{Stage: "llm", Engine: "haiku", Model: "claude-haiku-4-5", Own: true, Unit: billing.TokensIn, Quantity: 1840, Source: "provider", Price: &free}}})
	x.OK(err)
	x.OK(history.New(x.DB).SaveWire(t.Context(), x.Account, c.ID, history.Wire{Quality: &quality.Report{MOS: 4.25, MOSMin: 4.1, Received: 150, Lost: 2},
		SIP: []history.SIPMessage{{At: at, Transport: "UDP", From: "127.0.0.1:1", To: "127.0.0.1:2", Text: "INVITE sip:x SIP/2.0\r\nFrom: <sip:a@b>\r\n\r\n"}}}))
	x.record(dir, at)
	at = time.Now().UTC().Add(-time.Minute).Truncate(time.Second)
	lasts := start(at)
	x.lasts = lasts.ID
	r, err := ledger.New(x.DB).Checkpoints(storetest.At(t.Context(), at.Add(50*time.Second)), []ledger.Checkpoint{{Session: lasts, Seq: 1, StartedAt: at, Usage: billing.Usage{billing.AgentTime: 50_000, billing.LineTime: 50_000}}})
	x.OK(err)
	x.OK(r[0].Err)
}

// record keeps three seconds of a call: the caller hums, then the agent does.
func (x *exchange) record(dir string, at time.Time) {
	x.T.Helper()
	path := filepath.Join(dir, x.over+".wav")
	f, err := os.Create(path)
	x.OK(err)
	w, err := wav.NewWriter(f, media.Rate8k, record.Channels)
	x.OK(err)
	samples := make([]int16, 3*8000*record.Channels)
	for i := range len(samples) / 2 {
		samples[2*i+i/12000] = int16(8000 * math.Sin(float64(i)/4))
	}
	x.OK(w.Write(samples))
	x.OK(w.Close())
	x.OK(f.Close())
	peaks := make([]byte, 600)
	for i := range peaks {
		if i < 150 || i >= 450 {
			peaks[i] = 120
		}
	}
	ctx := x.T.Context()
	_, err = history.New(x.DB).EndRecording(storetest.At(ctx, at.Add(3*time.Second)), history.Recording{Call: x.over, Node: "node", Rate: 8000, Length: 3 * time.Second}, false,
		func(context.Context, pgx.Tx, string, string) error { return nil })
	x.OK(err)
	info, err := os.Stat(path)
	x.OK(err)
	x.OK(history.New(x.DB).RecordingEncoded(ctx, history.Recording{Account: x.Account, Call: x.over, Format: "wav", Bytes: info.Size(), Peaks: peaks}, false))
}

// TestHistoryAsFile: the file has the calls that the page lists, and none that lasts.
func TestHistoryAsFile(t *testing.T) {
	x := newExchange(t)
	for _, path := range []string{"/app/calls", "/app/calls?direction=inbound"} {
		m := regexp.MustCompile(`href="(/v1/calls\.csv[^"]*)"`).FindStringSubmatch(x.Get(path).Body)
		if m == nil {
			t.Fatalf("%s has no file", path)
		}
		file := x.Get(html.UnescapeString(m[1]))
		if file.Status != http.StatusOK || !strings.Contains(file.Body, x.over) || strings.Contains(file.Body, x.lasts) {
			t.Errorf("%s: %d %s", path, file.Status, file.Body)
		}
	}
}

// The rest is callcenter.Calls, for the call that lasts.

func (x *exchange) Dial(_ context.Context, _ api.Principal, o callcenter.Order) (*wire.Placed, error) {
	if len(o.To) < 8 {
		return nil, api.Detail(api.ErrDestination, "this is not a telephone number")
	}
	if x.lasts == "" {
		return nil, store.ErrNotFound
	}
	x.dialled.Add(1)
	x.mu.Lock()
	x.headers = o.Headers
	x.mu.Unlock()
	return &wire.Placed{CallID: x.lasts, Status: "dialing", From: o.From, To: o.To, AgentID: o.Agent, CreatedAt: stamp()}, nil
}
func (x *exchange) Placed(context.Context, string, string) (*wire.Placed, error) {
	return nil, store.ErrNotFound
}
func (x *exchange) Look(context.Context, string, string) (*wire.CallState, error) {
	return nil, store.ErrNotFound
}
func (x *exchange) Log(context.Context, string, string) (*callcenter.CallLog, error) {
	return nil, nil
}
func (x *exchange) Follow(ctx context.Context, account, id string, tell func(callcenter.Change) error) error {
	if account != x.Account || id != x.lasts {
		return store.ErrNotFound
	}
	for {
		select {
		case c := <-x.changes:
			if err := tell(c); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}
func (x *exchange) Hangup(_ context.Context, account, id string) error {
	if account != x.Account {
		return store.ErrNotFound
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hungUp = id
	return nil
}

// ended is the call that was hung up last.
func (x *exchange) ended() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hungUp
}

// TestCallPages shows calls to their account alone, and what was said in them as text.
func TestCallPages(t *testing.T) {
	x := newExchange(t)
	for path, want := range map[string][]string{
		"/app/calls":                        {x.over, "Caller hung up", "0:03", "34612345678"},
		"/app/calls?direction=web":          {"No calls"},
		"/app/calls?number=12":              {"international format"},
		"/app/calls?end_reason=user_hangup": {x.over},
		"/app/calls?q=casa+lola":            {x.over},
		"/app/calls?q=nobody":               {"No calls match"},
		"/app/calls?q=!":                    {"with a letter or a digit"},
		"/app/calls?header=X-Customer-Id:7": {"No calls match", `value="X-Customer-Id:7"`},
		"/app/calls?header=Subject:7":       {"Names are X-"},
		"/app/calls?sort=worst_sound":       {x.over, "Sound (MOS)", ">4.2<"},
		"/app/calls?sort=up":                {"Expected value to be one of"},
		"/app/calls/" + x.over: {"Casa Lola", "0:02", "4.2 of 4.4", "800 ms", "211 ms", ">162<", ">–<", `data-from="2250" data-to="2700"`, "<del>", "for two, at eight", "<code>book</code>", "Done in 240ms", "{&#34;people&#34;:2}", "booked ", "No result", "by estimate", `"caller":[`, "/app/balance/receipts/" + x.over,
			"What the engines used", "12.5 seconds of connection", ">this server<", ">the operator<", ">included<", ">$43.21<", "1840 tokens read", "claude-haiku-4-5", ">the account<", ">$0.00<"},
		"/app/calls/" + x.over + "?":              {"number checked, attestation A", "<dt>Sent on by</dt><dd>&#43;34911234569</dd>", "<dt>Header</dt><dd>X-Customer-Id: 42 &lt;script&gt;"},
		"/app/engines":                            {"in your calls of the last 7 days", "first words", ">0 ms<", ">300 ms<"},
		"/app/calls/" + x.over + "/signalling":    {"INVITE sip:x SIP/2.0"},
		"/app/calls/" + x.over + "/completions":   {"A table", "<code>book</code>", "Answered", ">haiku<", ">310 ms<", ">540 ms<", "/completions/0"},
		"/app/calls/" + x.over + "/completions/0": {"telephone of Casa Lola", "Books a table", "Good morning, Casa Lola", "first words after 310 ms"},
		"/app/live":                                  {x.lasts},
		"/app/live/rows":                             {x.lasts, `data-running="6`},
		"/app/overview/live":                         {x.lasts, `id="in-progress" hx-swap-oob="true">1<`, `data-running="6`},
		"/app/calls/" + x.lasts + "/meter":           {`data-running="6`, "$0.0"},
		"/app/calls/" + x.lasts:                      {"Hang up", "/v1/calls/" + x.lasts + "/events"},
		"/app/calls/" + x.over + "/recording/delete": {"Delete the recording?"},
		"/app/calls/" + x.over + "/delete":           {"Delete transcript and recording?"},
	} {
		page := x.Get(path)
		for _, w := range want {
			if !strings.Contains(page.Body, w) {
				t.Errorf("%s: no %q", path, w)
			}
		}
		if strings.Contains(page.Body, "<script>alert") || strings.Contains(page.Body, "<img src=x") {
			t.Errorf("%s holds what somebody said as it was said", path)
		}
	}
	member := x.NewClient()
	luis := x.NewUser("luis@example.com", people.RoleMember)
	x.OK(people.New(x.DB).AddMember(t.Context(), x.Account, luis, people.RoleMember))
	x.SignInAs(member, luis)
	if page := x.Ask(member, "GET", "/app/calls/"+x.over, ""); !strings.Contains(page.Body, "1840 tokens read") || strings.Contains(page.Body, "$43.21") || strings.Contains(page.Body, "harged by the vendor") {
		t.Errorf("who is no operator sees what vendors charge, or no usage: %d", page.Status)
	}
	if page := x.Get("/app/calls/" + x.lasts); strings.Contains(page.Body, "What the engines used") {
		t.Error("a call that lasts shows usage")
	}
	if page := x.Get("/app/live"); strings.Contains(page.Body, x.over) {
		t.Error("a call that is over counts as live")
	}
	if page := x.Post("/app/calls/" + x.lasts + "/hangup"); page.Status != http.StatusSeeOther || x.ended() != x.lasts {
		t.Errorf("hang up: %d, %q", page.Status, x.ended())
	}
	if page := x.Post("/app/calls/"+x.over+"/keep", "tags", "vip, very angry,", "note", "Call back "+hostile); page.Status != http.StatusSeeOther {
		t.Errorf("keep with the call: %d %s", page.Status, page.Body)
	}
	if page := x.Get("/app/calls/" + x.over); !strings.Contains(page.Body, `value="vip, very angry"`) || !strings.Contains(page.Body, "Call back &lt;script&gt;") {
		t.Error("tags and note are not shown")
	}
	if page := x.Get("/app/calls?tag=very+angry"); !strings.Contains(page.Body, x.over) || !strings.Contains(page.Body, `<span class="badge">vip</span>`) {
		t.Error("the tag does not find the call")
	}
	if page := x.Post("/app/calls/"+x.over+"/keep", "tags", strings.Repeat("a", 41)); page.Status == http.StatusSeeOther {
		t.Errorf("a tag that is too long: %d", page.Status)
	}
	if page := x.Post("/app/calls/" + x.over + "/recording/delete"); page.Status != http.StatusSeeOther {
		t.Errorf("delete the recording: %d", page.Status)
	}
	if page := x.Get("/app/calls/" + x.over); !strings.Contains(page.Body, "The recording was deleted.") {
		t.Error("nothing says that the recording is gone")
	}
	if page := x.Get("/app/calls/" + x.over); !strings.Contains(page.Body, "/app/calls/"+x.over+"/delete\"") {
		t.Error("no way to delete what was said")
	}
	if page := x.Post("/app/calls/" + x.over + "/delete"); page.Status != http.StatusSeeOther {
		t.Errorf("delete what was said: %d", page.Status)
	}
	if page := x.Get("/app/calls/" + x.over); !strings.Contains(page.Body, "It was deleted") || strings.Contains(page.Body, "for two, at eight") || strings.Contains(page.Body, "booked") ||
		strings.Contains(page.Body, x.over+"/delete\"") || strings.Contains(page.Body, "<h3>Analysis") {
		t.Errorf("after what was said was deleted: %s", page.Body)
	}
	other, err := ledger.New(x.DB).CreateAccount(t.Context(), "Other", billing.DefaultRateCard())
	x.OK(err)
	node, _, err := ledger.New(x.DB).RegisterNode(t.Context(), "node2", "127.0.0.1:1")
	x.OK(err)
	foreign, err := ledger.New(x.DB).StartSession(t.Context(), ledger.Start{Node: node, Account: other.ID, Terms: billing.Terms{Kind: billing.Web}, Card: billing.DefaultRateCard()})
	x.OK(err)
	for _, path := range []string{"", "/signalling", "/completions", "/completions/0", "/recording/delete", "/delete"} {
		if page := x.Get("/app/calls/" + foreign.ID + path); page.Status != http.StatusNotFound || !strings.Contains(page.Body, "Request <code>"+page.Header.Get("X-Request-Id")+"</code>") {
			t.Errorf("a foreign call%s: %d", path, page.Status)
		}
	}
}

// TestCallInABrowser listens to a call that is over, and reads along in one that lasts.
func TestCallInABrowser(t *testing.T) {
	x := newExchange(t)
	b := x.Tab()
	b.Go("/app/calls/" + x.over)
	b.Wait(`document.getElementById("audio")?.duration > 2.9`)
	b.Wait(`(() => { const c = document.getElementById("waves"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; return d.some((v) => v > 0) })()`)
	b.TabTo(`#said li:nth-child(5) button`)
	b.Press(kb.Enter)
	b.Wait(`document.getElementById("audio").currentTime >= 2.1 && document.querySelector("#said li:nth-child(5)").hasAttribute("aria-current")`)
	b.Wait(`(() => { const a = document.getElementById("audio"); a.pause(); a.currentTime = 2.4; return true })()`)
	b.Wait(`document.querySelectorAll("#said .spoken").length === 1 && document.querySelector("#said .spoken").textContent === "table"`)
	b.Shot("words")

	b.Go("/app/calls/" + x.lasts)
	b.Wait(`(window.first ??= document.querySelector("[data-running]").textContent) !== document.querySelector("[data-running]").textContent`)
	b.Wait(`document.querySelector("[data-running]") !== (window.clock ??= document.querySelector("[data-running]"))`) // it was asked for anew
	x.changes <- callcenter.Change{Kind: callcenter.Snapshot, State: wire.CallState{Status: "connected"}}
	x.changes <- callcenter.Change{Kind: callcenter.LineAdded, Line: wire.SpokenLine{Role: "user", Text: hostile, At: 1.5}}
	b.Says(hostile)
	for _, text := range []string{"One moment.", "One moment. I look " + hostile} {
		x.changes <- callcenter.Change{Kind: callcenter.Speaking, Line: wire.SpokenLine{Role: "agent", Text: text, At: 1.8}}
		b.Wait(fmt.Sprintf(`document.querySelectorAll("#said li.agent").length === 1 && document.querySelector("#speaking :last-child").textContent === %q`, text))
	}
	b.Accessible()
	x.changes <- callcenter.Change{Kind: callcenter.LineAdded, Line: wire.SpokenLine{Role: "agent", Text: "One moment.", At: 1.8}}
	b.Wait(`document.querySelectorAll("#said li.agent").length === 1 && !document.getElementById("speaking") && document.querySelector("#said li.agent").textContent.includes("One moment.")`)
	f := wire.CallFunction{ID: "call_1_1", Name: "book_table", StartMS: 1600}
	x.changes <- callcenter.Change{Kind: callcenter.FunctionCalled, Function: f}
	b.Says("book_table …")
	f.Outcome, f.EndMS = new("ok"), new(int64(1850))
	x.changes <- callcenter.Change{Kind: callcenter.FunctionCalled, Function: f}
	b.Says("book_table ok, 250 ms")
	x.changes <- callcenter.Change{Kind: callcenter.Corrected, State: wire.CallState{Transcript: []wire.SpokenLine{{Role: "agent", Text: "Never mind.", At: 1}}}}
	b.Says("Never mind.")
	b.Says("book_table ok, 250 ms")
	b.Wait(`document.querySelectorAll("#said li.agent").length === 1 && document.getElementById("state").textContent === "Talking"`)
	b.Accessible()
}

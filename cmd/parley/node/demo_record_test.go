package node

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/callcenter"
	"parley/billing"
	"parley/cmd/parley/afterwards"
	"parley/cmd/parley/config"
	"parley/cmd/parley/demo"
	"parley/inference"
	"parley/media"
	"parley/media/resample"
	"parley/media/wav"
	"parley/sip/simulated"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// studio is a node with the embedded engines, on which the demonstration's calls take place.
type studio struct {
	*testing.T
	node *Node
	url  string // of its database
	demo demo.Account
}

// TestRecordDemonstration has the demonstration's calls take place, and keeps them:
//
//	make build && PATH=$PWD/bin:$PATH PARLEY_GOLDEN=update go test ./cmd/parley/node -run TestRecordDemonstration
//
// Listen to them before they are committed, on a machine that does nothing else.
func TestRecordDemonstration(t *testing.T) {
	if os.Getenv("PARLEY_GOLDEN") != "update" {
		t.Skip("PARLEY_GOLDEN=update records the demonstration's calls again")
	}
	s := newStudio(t)
	calls := []demo.Call{{Name: "opening-hours", Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}},
		{Name: "call-back", Terms: billing.Terms{Kind: billing.Outbound, Country: "US"}}, {Name: "another-call-back", Terms: billing.Terms{Kind: billing.Outbound, Country: "US"}}}
	ids := []string{s.callIn(), s.callOut("+12025550100", "slt", "Are you open on Saturday?", "Where are you?"), s.callOut("+12025550110", "rms", "How much is the menu?", "Where can I park?")}
	for i := range calls {
		s.keep(&calls[i], ids[i])
	}
	text, err := json.MarshalIndent(calls, "", " ")
	s.ok(err)
	s.ok(os.WriteFile("../demo/recorded/calls.json", append(text, '\n'), 0o644))
}

func newStudio(t *testing.T) *studio {
	s := &studio{T: t, url: storetest.URL(t)}
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_NODE=studio", "PARLEY_SIP_ADDR=127.0.0.1:5060", "PARLEY_PAYMENTS=none"}})
	s.ok(err)
	s.node, err = Open(t.Context(), cfg, s.url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	s.ok(err)
	n := s.node
	n.DataDir = t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, p := range n.Parts() {
		parts.Go(func() { _ = p.Run(ctx) })
	}
	t.Cleanup(func() { stop(); parts.Wait(); _ = n.Close() })
	recorded := demo.Lola
	recorded.Settings = json.RawMessage(strings.Replace(string(demo.Lola.Settings), "{", `{"record":true,`, 1))
	a, err := ledger.New(n.db).CreateAccount(t.Context(), "studio", n.db.RateCard())
	s.ok(err)
	_, _, err = ledger.New(n.db).Credit(t.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "1", Source: "sim"})
	s.ok(err)
	agent, err := n.db.CreateAgent(t.Context(), a.ID, recorded)
	s.ok(err)
	s.demo = demo.Account{ID: a.ID, Agent: agent.ID}
	s.ok((&demo.Seeder{Numbers: numbers.New(n.db), Network: true}).SeedNumbers(t.Context(), &s.demo))
	for _, w := range n.engines.Workers {
		s.until(w.Name+" is ready", func() bool { return w.Ready(t.Context()) == nil })
	}
	return s
}

func (s *studio) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *studio) until(what string, ok func() bool) {
	s.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("gave up waiting: ", what)
		}
	}
}

// say is a sentence in one of flite's voices, at 8 kHz.
func (s *studio) say(voice, text string) []int16 {
	path := filepath.Join(s.TempDir(), "say.wav")
	s.ok(exec.CommandContext(s.Context(), "flite", "-voice", voice, "-t", text, "-o", path).Run())
	file, err := os.Open(path)
	s.ok(err)
	defer file.Close()
	clip, err := wav.Decode(file, 1<<24)
	s.ok(err)
	return resample.All(clip.Samples, clip.Rate, media.Rate8k)
}

// says is what a caller says, with pauses of so many seconds between the sentences.
func (s *studio) says(voice string, lines ...any) (samples []int16) {
	for _, l := range lines {
		switch l := l.(type) {
		case float64:
			samples = append(samples, make([]int16, int(l*8000))...)
		case string:
			samples = append(samples, s.say(voice, l)...)
		}
	}
	return samples
}

// callIn is somebody who asks, and talks over the answer.
func (s *studio) callIn() (id string) {
	_, err := simulated.Call(s.Context(), simulated.PhoneConfig{URI: "sip:" + s.demo.Number + "@" + s.node.SIPAddr(), Number: "+447700900123",
		Play: s.says("rms", 4.2, "What time do you open on Monday?", 4.2, "Where are you?", 5.0, "How much is the menu?", 5.0, "Goodbye."), Wait: 8 * time.Second})
	s.ok(err)
	return s.over()
}

// callOut calls somebody whom the network plays, who waits for the agent to speak, and
// asks two things.
func (s *studio) callOut(to, voice, first, second string) (id string) {
	s.node.person = func(text string) ([]int16, bool) {
		switch text {
		case "Yes, that is me.":
			return s.say(voice, first), true
		case "That works for me, thank you.":
			return s.say(voice, second), true
		case "Goodbye.":
			return s.say(voice, text), true
		}
		return make([]int16, 800), true
	}
	_, err := s.node.dialler.Dial(s.Context(), api.Principal{Account: s.demo.ID}, callcenter.Order{From: s.demo.Second, To: to, Agent: s.demo.Agent,
		OnMachine: "message", Message: demo.MachineMessage})
	s.ok(err)
	return s.over()
}

// over waits until the latest call is over and all of it is kept.
func (s *studio) over() (id string) {
	s.until("the call is over", func() bool {
		calls, err := history.New(s.node.db).Calls(s.Context(), s.demo.ID, history.CallPage{})
		s.ok(err)
		if len(calls) == 0 || calls[0].EndedAt == nil || len(calls[0].Transcript) == 0 {
			return false
		}
		id = calls[0].ID
		r, err := history.New(s.node.db).Recording(s.Context(), s.demo.ID, id)
		w, wrong := history.New(s.node.db).Wire(s.Context(), s.demo.ID, id)
		return err == nil && wrong == nil && r.State == history.RecordingReady && w.Quality != nil && len(w.SIP) > 0
	})
	return id
}

// keep reads a call, and keeps its audio.
func (s *studio) keep(c *demo.Call, id string) {
	s.Helper()
	ctx, db := s.Context(), s.node.db
	call, err := history.New(db).Call(ctx, s.demo.ID, id)
	s.ok(err)
	c.From, c.To, c.OpenedAt, c.RangAt, c.StartedAt, c.EndedAt = call.From, call.To, call.OpenedAt, call.RangAt, *call.StartedAt, *call.EndedAt
	c.Reason, c.Detail, c.Conversation = *call.EndReason, *call.EndDetail, call.Conversation
	c.Log, err = history.New(db).CallLog(ctx, s.demo.ID, id)
	s.ok(err)
	wire, err := history.New(db).Wire(ctx, s.demo.ID, id)
	s.ok(err)
	r, err := history.New(db).Recording(ctx, s.demo.ID, id)
	s.ok(err)
	c.Wire, c.Rate, c.Length = *wire, r.Rate, r.Length.Milliseconds()
	c.Peaks, err = history.New(db).RecordingPeaks(ctx, s.demo.ID, id)
	s.ok(err)
	audio, err := os.ReadFile(filepath.Join(s.node.DataDir, "recordings", id+"."+r.Format))
	s.ok(err)
	s.ok(os.WriteFile("../demo/recorded/"+c.Name+".ogg", audio, 0o644))
	s.readUsage(c, id)
	if c.Terms.Kind == billing.Outbound {
		s.summarize(c)
	}
	s.Log(c.Name, c.Reason, c.Summary)
	for _, l := range call.Transcript {
		s.Log(l.AtMS, l.Role, l.Text)
	}
	s.Log(string(call.Turns))
}

// summarize is what follows a call of a batch: the model says what it came to, and that
// costs tokens.
func (s *studio) summarize(c *demo.Call) {
	text, took, err := afterwards.Complete(s.Context(), s.node.engines.LLM, inference.SummaryRequest(afterwards.SummaryLines(c.Transcript), "en"))
	s.ok(err)
	g := took.Generation
	g.Kind, c.Summary = "summary", text
	c.Generations = append(c.Generations, g)
	c.Usage[billing.SummaryIn.String()], c.Usage[billing.SummaryOut.String()] = g.InTokens, g.OutTokens
}

// readUsage reads the counters, which only the books have.
func (s *studio) readUsage(c *demo.Call, id string) {
	conn, err := pgx.Connect(s.Context(), s.url)
	s.ok(err)
	defer conn.Close(context.WithoutCancel(s.Context()))
	var u billing.Usage
	s.ok(conn.QueryRow(s.Context(), `select agent_ms, line_ms, reply_in, reply_out, speculative_in, speculative_out from session_usage where session_id = $1`, id).
		Scan(&u[billing.AgentTime], &u[billing.LineTime], &u[billing.ReplyIn], &u[billing.ReplyOut], &u[billing.SpeculativeIn], &u[billing.SpeculativeOut]))
	c.Usage = map[string]int64{}
	for i, n := range u {
		if n > 0 {
			c.Usage[billing.Component(i).String()] = n
		}
	}
}

package node

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/wav"
	"parley/sip/simulated"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/storetest"
)

// flite is a voice in a process for each text: real speech without a server.
type flite struct{ dir string }

func (flite) Info() inference.Info      { return inference.Info{Name: "flite"} }
func (flite) Voices() []inference.Voice { return nil }

func (f flite) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		clip, err := f.say(ctx, s)
		yield(inference.Chunk{Samples: clip.Samples, Rate: clip.Rate}, err)
	}
}

func (f flite) say(ctx context.Context, s inference.Speech) (clip wav.Clip, err error) {
	dir, err := os.MkdirTemp(f.dir, "")
	if err != nil {
		return clip, err
	}
	name := map[string]string{"M2": "rms"}[s.Voice] // who the network plays; agents are slt
	if name == "" {
		name = "slt"
	}
	path := filepath.Join(dir, "say.wav")
	if out, err := exec.CommandContext(ctx, "flite", "-voice", name, "-t", s.Text, "-o", path).CombinedOutput(); err != nil {
		return clip, fmt.Errorf("%w: %s", err, out)
	}
	file, err := os.Open(path)
	if err != nil {
		return clip, err
	}
	defer file.Close()
	return wav.Decode(file, 1<<24)
}

// desk is a node with a telephone and the simulated network, and an account that calls.
type desk struct {
	*testing.T
	node  *Node
	who   api.Principal
	agent string
	heard chan simulated.Heard
	reg   *prometheus.Registry
}

const deskNumber = "+34911234567"

// changed comes after a change of the running node's engines. A call that begins later asks
// the database first, so what it reads then is ordered behind this question.
func (d *desk) changed() {
	d.Helper()
	_, err := d.node.db.Agent(d.Context(), d.who.Account, d.agent)
	d.ok(err)
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return deskOn(t, storetest.URL(t))
}

// deskOn is a desk whose node has the database at url, and settings beside its own.
func deskOn(t *testing.T, url string, settings ...string) *desk {
	t.Helper()
	return deskWith(t, url, func(*config.Config) {}, settings...)
}

// deskWith is a desk whose configuration is changed before its node has it. With another carrier
// it has no network.
func deskWith(t *testing.T, url string, change func(*config.Config), settings ...string) *desk {
	t.Helper()
	return deskLogged(t, url, slog.New(slog.DiscardHandler), change, settings...)
}

// deskLogged is a desk whose node logs to log.
func deskLogged(t *testing.T, url string, log *slog.Logger, change func(*config.Config), settings ...string) *desk {
	t.Helper()
	d := &desk{T: t, heard: make(chan simulated.Heard, 4), reg: prometheus.NewRegistry()}
	cfg, _, err := config.Load(config.Sources{Env: append(settings, "PARLEY_NODE=desk", "PARLEY_CARRIER=simulated", "PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_CARRIER_SIP_ADDR=127.0.0.1:0")})
	d.ok(err)
	change(cfg)
	n, err := Open(t.Context(), cfg, url, "a master secret of a test, long enough", d.reg, log)
	d.ok(err)
	d.node = n
	n.engines.TTS, n.engines.ASR, n.engines.LLM = flite{t.TempDir()}, enginetest.NewFakeASR(), enginetest.NewFakeLLM()
	runs := []func(context.Context) error{n.manager.Run, n.cluster.Run, n.phone.Run, n.lines.Run}
	if n.network != nil {
		n.network.Record(func(h simulated.Heard) { d.heard <- h })
		runs = append(runs, n.network.Run)
	}
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, run := range runs {
		parts.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		if err := n.Drain(over); err != nil {
			t.Error(err)
		}
		stop()
		parts.Wait()
		_ = n.Close()
	})
	d.customer()
	return d
}

// customer makes the account that calls.
func (d *desk) customer() {
	d.Helper()
	now, n := d.node.db.Now(), d.node
	a, err := ledger.New(n.db).CreateAccount(d.Context(), "A", n.db.RateCard())
	d.ok(err)
	_, _, err = ledger.New(n.db).Credit(d.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:1", Source: "sim"})
	d.ok(err)
	k, _, err := people.New(n.db).MakeKey(storetest.At(d.Context(), now), people.NewKey{Account: a.ID, Name: "first", Role: people.RoleMember})
	d.ok(err)
	agent, err := n.db.CreateAgent(d.Context(), a.ID, store.Agent{Name: "Ana", Voice: "F1", Language: "en", FirstMessage: "Hello, this is Ana of the dental clinic."})
	d.ok(err)
	_, err = numbers.New(n.db).Import(d.Context(), a.ID, deskNumber, agent.ID)
	d.ok(err)
	d.who, d.agent = api.Principal{Account: a.ID, Key: k.ID}, agent.ID
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// counted are the values of a counter of the node, by its first label.
func (d *desk) counted(name string) map[string]float64 {
	d.Helper()
	families, err := d.reg.Gather()
	d.ok(err)
	counted := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				counted[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return counted
}

// dial calls the one whom the network plays for the two digits.
func (d *desk) dial(digits, onMachine, message string) (id string) {
	d.Helper()
	p, err := d.node.dialler.Dial(d.Context(), d.who, callcenter.Order{From: deskNumber, To: "+120255501" + digits, Agent: d.agent, OnMachine: onMachine, Message: message})
	d.ok(err)
	return p.CallID
}

// ended follows a call to its end, and hangs up when told says so.
func (d *desk) ended(id string, told func(callcenter.Change) (enough bool)) (last wire.CallState) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), 2*time.Minute)
	defer cancel()
	d.ok(d.node.cluster.Follow(ctx, d.who.Account, id, func(c callcenter.Change) error {
		last = c.State
		if told != nil && c.Kind != callcenter.Over && told(c) {
			return d.node.cluster.Hangup(ctx, d.who.Account, id)
		}
		return nil
	}))
	return last
}

// by is what the history says of who answered.
func (d *desk) by(id string) string {
	d.Helper()
	c, err := history.New(d.node.db).Call(d.Context(), d.who.Account, id)
	d.ok(err)
	return c.AnsweredBy
}

// voiced is how much of the samples is louder than the silence of a line.
func voiced(samples []int16) (d time.Duration) {
	for ; len(samples) >= 160; samples = samples[160:] {
		for _, s := range samples[:160] {
			if s > 500 || s < -500 {
				d += media.FrameDuration
				break
			}
		}
	}
	return d
}

// TestMachineHearsTheMessage: over real SIP, after its tone and not before, once.
func TestMachineHearsTheMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	const message = "Good morning. This is the dental clinic, we call about your appointment on Friday. Please call us back."
	id := d.dial("04", "message", message)
	toldBy := ""
	end := d.ended(id, func(c callcenter.Change) bool {
		if c.Kind == callcenter.StatusChanged && c.State.AnsweredBy != "" {
			toldBy = c.State.AnsweredBy
		}
		return false
	})
	if end.EndReason != "voicemail" || end.AnsweredBy != "machine" || toldBy != "machine" || d.by(id) != "machine" {
		t.Errorf("it ended %s, answered by %q, as was told %q, in the history %q", end.EndReason, end.AnsweredBy, toldBy, d.by(id))
	}
	if n := len(end.Transcript); n == 0 || end.Transcript[n-1].Role != "agent" || end.Transcript[n-1].Text != message {
		t.Errorf("the transcript is %+v", end.Transcript)
	}
	h := <-d.heard
	tone := media.FromDuration(h.Said).Samples(media.Rate8k)
	if h.Said == 0 || tone > len(h.Samples) {
		t.Fatalf("the machine never came to its tone: it said %v of its greeting, and heard %v", h.Said, media.Rate8k.Duration(len(h.Samples)).Duration())
	}
	if before := voiced(h.Samples[:tone]); before != 0 {
		t.Errorf("the agent spoke for %v into the greeting", before)
	}
	clip, err := flite{t.TempDir()}.say(t.Context(), inference.Speech{Text: message})
	d.ok(err)
	whole := clip.Rate.Duration(len(clip.Samples)).Duration()
	if after := voiced(h.Samples[tone:]); after < whole*6/10 || after > whole*12/10 {
		t.Errorf("the message lasts %v, and %v of speech were heard after the tone", whole, after)
	}
}

// TestMachineIsHungUpOn: nothing is said to it, and the answered line is charged.
func TestMachineIsHungUpOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.dial("04", "hangup", "")
	if end := d.ended(id, nil); end.EndReason != "voicemail" || end.AnsweredBy != "machine" {
		t.Errorf("it ended %s, answered by %q", end.EndReason, end.AnsweredBy)
	}
	if h := <-d.heard; voiced(h.Samples) != 0 || h.Said != 0 {
		t.Errorf("the machine heard %v of speech, and came to the end of its greeting after %v", voiced(h.Samples), h.Said)
	}
	c, err := history.New(d.node.db).Call(t.Context(), d.who.Account, id)
	d.ok(err)
	if c.StartedAt == nil || c.Cost == 0 {
		t.Errorf("it costs %v", c.Cost)
	}
	eventually(t, "the verdict is counted", func() bool { return d.counted("parley_calls_answered_by_total")["machine"] == 1 })
}

// TestPersonIsTalkedTo whatever a machine would get.
func TestPersonIsTalkedTo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, policy := range []string{"hangup", "message", "continue"} {
		message := ""
		if policy == "message" {
			message = "Never said."
		}
		id := d.dial("00", policy, message)
		greeted := false
		end := d.ended(id, func(c callcenter.Change) bool {
			greeted = greeted || c.Kind == callcenter.LineAdded && c.Line.Role == "agent"
			return greeted && c.State.AnsweredBy != ""
		})
		if end.EndReason != "api_hangup" || end.AnsweredBy != "human" || d.by(id) != "human" {
			t.Errorf("%s: it ended %s, answered by %q", policy, end.EndReason, end.AnsweredBy)
		}
		if h := <-d.heard; voiced(h.Samples) == 0 {
			t.Errorf("%s: nobody was greeted", policy)
		}
	}
}

package bench

import (
	"context"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/listen"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
	"parley/sip"
	"parley/sip/rtpport"
)

// benchAgent is whom a caller talks to.
type benchAgent struct {
	asr         instantASR
	tts         instantTTS
	speculative bool // replies are begun in pauses
	front       func(media.Rate) (listen.FrontEnd, error)
}

// newAgent is an agent whose every sentence takes as long as reply, and who hears
// by level alone.
func newAgent(reply time.Duration) *benchAgent {
	return &benchAgent{tts: newInstantTTS(reply), front: func(media.Rate) (listen.FrontEnd, error) { return levelListener{}, nil }}
}

// config is a call's. Any text is taken for a complete sentence, so that the turn
// is over after 200 ms of silence.
func (a *benchAgent) config(rate media.Rate) (pipeline.Config, error) {
	front, err := a.front(rate)
	cfg := pipeline.Config{Agent: agent.Agent{Prompt: "Be brief.", FirstMessage: greeting, Voice: "F1", Language: "en"},
		ASR: &a.asr, LLM: instantLLM{}, TTS: a.tts, FrontEnd: front, Turn: turn.DefaultConfig("en")}
	if a.speculative {
		cfg.Speculation = reply.SpeculateSpeech
	}
	cfg.Turn.MinDelay, cfg.Turn.Complete = 200*media.Millisecond, func(string) float64 { return 1 }
	cfg.Turn.Idle = 0
	return cfg, err
}

// agents answer to their index, as a number that is called or a prompt.
type agents []*benchAgent

func (list agents) find(name string) *benchAgent {
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}

// Where the telephone of a measurement has its RTP ports: below those of the
// phones that call it.
const (
	firstPort = 20000
	lastPort  = 29999
	portDrain = 500 * time.Millisecond
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// telephone is a SIP user agent whose calls are conducted by the pipeline.
type telephone struct {
	traffic
	ua     *sip.UserAgent
	ports  *rtpport.Pool
	agents agents
	rate   media.Rate // of its calls
	stop   func()

	mu     sync.Mutex
	hungUp int // calls that their callers ended
	faults []error
}

// newTelephone starts a telephone whose calls are in a codec; close ends it.
func newTelephone(list agents, c codec.Codec) (*telephone, error) {
	ports, err := rtpport.New(rtpport.Config{Addr: loopback, First: firstPort, Last: lastPort, Drain: portDrain})
	if err != nil {
		return nil, err
	}
	t := &telephone{ports: ports, agents: list, rate: c.Rate()}
	t.ua, err = sip.New(sip.Config{Listen: netip.AddrPortFrom(loopback, 0), Ports: ports, OnCall: t.answer, Codecs: []codec.Codec{c},
		Allow: func(a netip.Addr) bool { return a.Unmap().IsLoopback() }})
	if err != nil {
		return nil, err
	}
	t.stop = beginServer(func(ctx context.Context) { _ = t.ua.Run(ctx) }) // a lost listener shows as calls that are not answered
	return t, nil
}

func (t *telephone) close() {
	t.stop()
	t.ports.Close()
}

// uri is where agent i answers.
func (t *telephone) uri(i int) string { return "sip:" + strconv.Itoa(i) + "@" + t.ua.Addr().String() }

// answer conducts one call as a server does, without a bill.
func (t *telephone) answer(ctx context.Context, in *sip.Incoming) {
	a := t.agents.find(in.Called)
	if a == nil {
		in.Reject(404, "", 0)
		return
	}
	if err := t.converse(ctx, in, a); err != nil {
		t.mu.Lock()
		t.faults = append(t.faults, err)
		t.mu.Unlock()
	}
}

func (t *telephone) converse(ctx context.Context, in *sip.Incoming, a *benchAgent) error {
	if err := in.Ring(); err != nil {
		return err
	}
	cfg, err := a.config(t.rate)
	if err != nil {
		return err
	}
	call := pipeline.New(cfg)
	if err := call.Prepare(ctx); err != nil {
		return err
	}
	<-call.Rehearsed()
	leg, err := in.Answer(ctx)
	if err != nil {
		call.Close()
		return err
	}
	defer t.begin(leg)()
	if call.Run(leg).Reason == media.UserHangup {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.hungUp++
	}
	return nil
}

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"parley/api/client"
	"parley/api/wire"
	"parley/media"
	"parley/media/resample"
	"parley/media/wav"
)

// Talk measures how many people this machine can talk with at once: a server of its own
// with the embedded engines, and a second process whose callers all ask the same question
// by telephone and listen to the answer.
type Talk struct {
	Calls    int           // calls that arrive, 1 to 100
	Length   time.Duration // of the measurement, after all calls are up
	Question string        // WAV file with the question "What time do you open on Monday?"
	// Program is the parley command, which is started as server and as Generator is.
	Program string
}

const (
	// talkCycle is the time of one question and its answer: the caller speaks for a
	// quarter of it, the agent for half.
	talkCycle = 8 * time.Second
	// talkEvery is the time between two calls. Few servers get more than four a second, and
	// it gives the server time to notice what the calls before cost.
	talkEvery = 250 * time.Millisecond
	// talkCalls is the longest page of the call history.
	talkCalls = 100
)

// Bars of Talk for the calls that the server takes: the percentage of the frames of a call
// that are sent late, the MOS of its worst 5 s (below 3.1 nearly all users are dissatisfied,
// ITU-T G.107 annex B), and the percentage of the questions that are understood.
const (
	talkLateBar  = 1
	talkMOSBar   = 3.1
	talkHeardBar = 90
)

// Run measures and returns the rows.
func (t Talk) Run(ctx context.Context) ([]Row, error) {
	if t.Calls < 1 || t.Calls > talkCalls || t.Length <= 0 {
		return nil, fmt.Errorf("no measurement of %d calls: 1 to %d", t.Calls, talkCalls)
	}
	said, err := question(t.Question)
	if err != nil {
		return nil, err
	}
	s, err := startTalkServer(ctx, t.Program)
	if err != nil {
		return nil, err
	}
	defer s.close()
	l, err := Call{Generator: []string{t.Program, "bench", "load"}}.start(ctx,
		loadOrder{Calls: t.Calls, URI: s.uri, Speech: said, Cycle: talkCycle, Every: talkEvery})
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(t.Length):
	case <-ctx.Done():
	}
	result, err := l.stop()
	if err = errors.Join(context.Cause(ctx), err); err != nil {
		return nil, err
	}
	seen, err := s.calls(ctx, t.Calls-result.Refused)
	if err != nil {
		return nil, err
	}
	return t.rows(result, seen), nil
}

// question reads what callers ask, at 8 kHz and in whole frames.
func question(file string) ([]int16, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const limit = 1 << 20 // bytes: more than half a minute
	clip, err := wav.Decode(f, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if !resample.Supported(clip.Rate, media.Rate8k) {
		return nil, fmt.Errorf("%s: no rate of speech: %d Hz", file, clip.Rate)
	}
	said := resample.All(clip.Samples, clip.Rate, media.Rate8k)
	frame := media.Rate8k.FrameSamples()
	said = said[:len(said)/frame*frame]
	if len(said) == 0 || media.Rate8k.Duration(len(said)).Duration() > talkCycle/2 {
		return nil, fmt.Errorf("%s: a question has speech, of up to %s", file, talkCycle/2)
	}
	return said, nil
}

// talked is a call in the server's history.
type talked struct {
	wire.CallDetail
	Quality *wire.CallQuality
}

// late is the share of the frames, in percent, that were sent late or not at all.
func (t *talked) late() float64 {
	return percent(t.Quality.PacketsSentLate+t.Quality.PacketsUnsent, t.Quality.PacketsSent+t.Quality.PacketsUnsent)
}

// understood is how often the question is in the transcript.
func (t *talked) understood() (n int) {
	for _, l := range t.Transcript {
		if l.Role == "user" {
			n += strings.Count(strings.ToLower(l.Text), "open on monday")
		}
	}
	return n
}

// calls waits until n calls have ended and been kept, and returns them.
func (s *talkServer) calls(ctx context.Context, n int) ([]talked, error) {
	var list []wire.CallSummary
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var err error
		if list, _, err = s.client.Calls(ctx, client.CallQuery{State: "ended", Limit: talkCalls}); err != nil {
			return nil, err
		}
		if len(list) >= n {
			break
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%d of %d calls have ended", len(list), n)
		}
	}
	seen := make([]talked, len(list))
	for i, c := range list {
		text, err := s.client.CallText(ctx, c.ID)
		if err == nil {
			err = json.Unmarshal(text, &seen[i].CallDetail)
		}
		if err == nil {
			seen[i].Quality, err = s.client.CallQuality(ctx, c.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// rows describe what the callers and the server saw.
func (t Talk) rows(r loadResult, seen []talked) []Row {
	g := group(fmt.Sprintf("%d talking calls, embedded engines", t.Calls))
	var waits []time.Duration
	lates, mos, heard := []float64{0}, 4.4, 0
	for i := range seen {
		lates = append(lates, seen[i].late())
		mos = min(mos, seen[i].Quality.MOSMin)
		heard += seen[i].understood()
		for _, turn := range seen[i].Turns {
			waits = append(waits, time.Duration(turn.TotalMS)*time.Millisecond)
		}
	}
	rows := []Row{
		g.row("calls refused", float64(r.Refused), ""), g.most("calls dropped", float64(r.Dropped), "", 0),
		g.least("questions understood", percent(uint64(heard), r.Asked), "%", talkHeardBar),
		g.most("frames late or unsent, worst call", slices.Max(lates), "%", talkLateBar),
		g.least("worst 5 s of any call", mos, "MOS", talkMOSBar),
		g.row("late packets of the generator", percent(r.Late, r.Sent), "%"),
	}
	if len(waits) == 0 {
		return rows
	}
	return append(rows, g.latencies("answer after the question", waits, 0, 0)...)
}

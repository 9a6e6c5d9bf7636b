package endpoint

import (
	"cmp"
	"slices"
	"strings"

	"parley/media"
	"parley/pipeline/turn"
)

// Result is how the turns of a half went.
type Result struct {
	Turns int
	Cut   int          // in which the machine took a pause for the end
	Waits []media.Time // from the end of each until the machine took it for that, ascending
}

// Median is that of the waits.
func (r Result) Median() media.Time { return r.Waits[len(r.Waits)/2] }

// Share is that of the turns that were cut, in percent.
func (r Result) Share() float64 { return 100 * float64(r.Cut) / float64(r.Turns) }

// Play plays the turns of a half in some languages to the turn machine, as config says for each language.
func Play(half Half, languages []string, config func(language string) turn.Config) Result {
	var r Result
	for _, language := range languages {
		for _, c := range calls(language, half) {
			r.add(config(language), c)
		}
	}
	slices.Sort(r.Waits)
	return r
}

// patience is how long a turn's end is waited for.
const patience = 10 * media.Second

// add plays one call.
func (r *Result) add(cfg turn.Config, turns call) {
	c := &caller{cfg: cfg}
	c.step(turn.Event{Kind: turn.Ready})
	c.step(turn.Event{Kind: turn.Drained}) // nobody greets
	for _, t := range turns {
		c.silent(media.Second)
		r.Turns++
		if c.speak(t) {
			r.Cut++
		}
		end := c.now
		for c.commits = 0; c.commits == 0 && c.now < end+patience; {
			c.silent(media.FrameTime)
		}
		r.Waits = append(r.Waits, c.now-end)
		c.step(turn.Event{Kind: turn.FirstAudio})
		c.step(turn.Event{Kind: turn.Drained})
	}
}

// caller speaks to the turn machine. A turn that is cut is not answered before it has ended: the
// machine hears that the caller goes on.
type caller struct {
	cfg     turn.Config
	state   turn.State
	acts    []turn.Action
	now     media.Time
	due     []due    // what the engines have yet to say, by time
	heard   []string // words of the utterance in progress
	phrase  *phrase  // before the latest pause
	commits int
}

type due struct {
	at    media.Time
	event turn.Event
}

// speak says a turn and reports whether it was cut.
func (c *caller) speak(t scripted) bool {
	c.commits = 0
	for i := range t {
		for _, w := range t[i].words {
			c.frames(w.length, turn.CallerSpeech)
			c.heard = append(c.heard, w.text)
			c.expect(w.lag, c.result(turn.Partial))
		}
		c.phrase = &t[i]
		c.silent(c.phrase.pause)
	}
	return c.commits > 0
}

func (c *caller) silent(d media.Time) { c.frames(d, turn.NoSpeech) }

func (c *caller) frames(d media.Time, s turn.Speech) {
	for ; d > 0; d -= media.FrameTime {
		c.now += media.FrameTime
		for len(c.due) > 0 && c.due[0].at <= c.now {
			e := c.due[0].event
			c.due = c.due[1:]
			if e.Kind == turn.LastFinal {
				c.withdraw(turn.Partial) // those of the utterance
			}
			c.step(e)
		}
		c.step(turn.Event{Kind: turn.Frame, Speech: s})
	}
}

// result is what the recogniser makes of the utterance so far.
func (c *caller) result(kind turn.EventKind) turn.Event {
	return turn.Event{Kind: kind, Utt: c.state.Utterance(), Text: strings.Join(c.heard, " ")}
}

// expect has an engine say something after a while.
func (c *caller) expect(after media.Time, e turn.Event) {
	c.due = append(c.due, due{c.now + after, e})
	slices.SortStableFunc(c.due, func(a, b due) int { return cmp.Compare(a.at, b.at) })
}

// withdraw has it say nothing of a kind.
func (c *caller) withdraw(kind turn.EventKind) {
	c.due = slices.DeleteFunc(c.due, func(d due) bool { return d.event.Kind == kind })
}

// step gives the machine an event, and the engines what follows from it.
func (c *caller) step(e turn.Event) {
	e.Now = c.now
	c.state, c.acts = turn.Step(&c.cfg, c.state, e, c.acts[:0])
	for _, a := range c.acts {
		switch a.Kind {
		case turn.OpenUtterance:
			c.heard = nil
		case turn.CloseUtterance:
			c.expect(c.phrase.final, c.result(turn.LastFinal))
		case turn.ResumeUtterance:
			c.withdraw(turn.LastFinal)
		case turn.AskScore:
			c.withdraw(turn.Scored)
			if scorerDelay <= a.Wait {
				c.expect(scorerDelay, turn.Event{Kind: turn.Scored, Pause: a.Pause, Prob: c.phrase.score()})
			}
		case turn.Commit:
			c.commits++
		}
	}
}

// score is what the fake of a scorer makes of the pause after the phrase.
func (p *phrase) score() float64 {
	if ends := p.pause == 0; ends != p.wrong {
		return 1 - scorerError
	}
	return scorerError
}

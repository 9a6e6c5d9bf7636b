package replay

import (
	"fmt"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/journal"
)

// What follows matters when a call goes another way than it went: which recorded reply
// answers, which utterance a result is of.

// Times of a reply that nobody recorded, and what it says.
const (
	standInAfter = 100 * time.Millisecond
	standInRune  = 60 * time.Millisecond // of audio for each character
	standInText  = "This was not said in the recorded call."
	standInRate  = media.Rate16k
)

// answer has the recorded reply follow that fits what the engines were asked for.
func (p *player) answer(n journal.Note) {
	was, ok := p.find(n)
	if !ok {
		p.standIn(n)
		return
	}
	if !p.parted() && was != n.N {
		p.part()
	}
	p.used[was], p.plays[n.N] = true, was
	list := p.bound[was]
	if was != n.N {
		list = make([]item, len(list))
		for i, it := range p.bound[was] {
			in, m := *it.in, *it.in.Message
			m.Gen, in.Message = n.N, &m
			it.in = &in
			list[i] = it
		}
	}
	p.tie(list, n.At)
}

// find is the number of the recorded reply: to the same words, else the next one to
// other words. Lines of the agent's own have no other.
func (p *player) find(n journal.Note) (int, bool) {
	if p.file.Replies[n.N].Text == n.Text && n.Text != "" && !p.used[n.N] {
		return n.N, true
	}
	other := 0
	for k := 1; k <= len(p.file.Replies); k++ {
		was := p.file.Replies[k]
		switch {
		case p.used[k] || was.N == 0:
		case was.Text == n.Text:
			return k, true
		case other == 0 && !isLine(was.Text) && !isLine(n.Text):
			other = k
		}
	}
	return other, other > 0
}

func isLine(text string) bool { return strings.HasPrefix(text, "line: ") }

// standIn answers with a text of its own, or says the line.
func (p *player) standIn(n journal.Note) {
	p.part()
	p.result.Unheard++
	text, line := strings.CutPrefix(n.Text, "line: ")
	if !line {
		text = standInText
	}
	samples := int(time.Duration(len([]rune(text))) * standInRune * time.Duration(standInRate) / time.Second)
	say := []journal.Message{{Kind: "sentence", Text: text}, {Kind: "audio", Samples: samples, Rate: standInRate}, {Kind: "spoken"}, {Kind: "done"}}
	if !line {
		say = append(say[:3], journal.Message{Kind: "written", Usage: &inference.Usage{Source: inference.UsageCounted}}, say[3])
	}
	var list []item
	for i, m := range say {
		at := n.At + standInAfter
		m.Gen, m.At, m.Whole = n.N, &at, &at
		list = append(list, item{at: standInAfter, seq: len(p.file.Steps) + i, in: &journal.Input{Kind: journal.Received, Message: &m}, step: -1})
	}
	p.tie(list, n.At)
}

// recorded is the identifier that a function call had in the recorded call.
func (p *player) recorded(id string) string {
	var gen, n int
	if k, err := fmt.Sscanf(id, "call_%d_%d", &gen, &n); err != nil || k != 2 || p.plays[gen] == 0 {
		return id
	}
	return fmt.Sprintf("call_%d_%d", p.plays[gen], n)
}

// adapt makes a message one of the call as it goes now.
func (p *player) adapt(in *journal.Input) {
	m := *in.Message
	if m.At != nil {
		at := in.At
		if m.Sent != nil {
			sent := *m.Sent + at - *m.At
			m.Sent = &sent
		}
		m.At = &at
	}
	if m.Whole != nil {
		at := in.At
		m.Whole = &at
	}
	if m.ID != "" {
		for gen, was := range p.plays {
			if rest, ok := strings.CutPrefix(m.ID, fmt.Sprintf("call_%d_", was)); ok {
				m.ID = fmt.Sprintf("call_%d_%s", gen, rest)
				break
			}
		}
	}
	if m.Result != nil {
		r := *m.Result
		r.Utterance = p.utterance(r.Utterance, in.At)
		m.Result = &r
	}
	in.Message = &m
}

// utterance is the one of now for the recorded one n: the latest that was opened since
// that was, and before the one after it.
func (p *player) utterance(n int, now time.Duration) int {
	from, to := time.Duration(0), now+1
	for _, was := range p.file.Opened {
		switch was.N {
		case n:
			from = was.At
		case n + 1:
			to = min(to, was.At)
		}
	}
	found := 0
	for _, o := range p.opened {
		if o.At < to && (o.At >= from || found == 0 || o.At <= from) {
			found = o.N
		}
	}
	return found
}

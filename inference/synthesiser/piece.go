package synthesiser

import (
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/media"
)

// take delivers a piece; false: nobody wants more.
func (u *utterance) take(p Piece) bool {
	u.note(p)
	if len(p.Samples) > 0 {
		u.audio += u.rate().Duration(len(p.Samples)).Duration()
		if !u.advance() || !u.deliver(u.chunk(p.Samples)) {
			return false
		}
		u.gave = true
	}
	if p.Flushed {
		u.flushed = u.audio
		u.settle(p.Billed)
	}
	if p.Flushed && !u.mark(false) || p.Characters > 0 && !u.count(p.Characters) {
		return false
	}
	if p.Done {
		u.done = true
		return u.mark(true)
	}
	u.done = u.over()
	return true
}

// over says that all was spoken, of a vendor that does not say so.
func (u *utterance) over() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.engine.vendor.Limits().FlushEnds && u.end == sent && u.marked >= len(u.texts)
}

// restart is how much a word lies before the end of what was flushed, at least, when its time counts from there.
const restart = 100 * time.Millisecond

// note keeps the words of a piece for its audio.
func (u *utterance) note(p Piece) {
	if len(p.Words) == 0 {
		return
	}
	if p.Restarts && u.base+p.Words[0].Start < u.flushed-restart {
		u.base = u.flushed
	}
	shift := u.base
	if p.Loose && shift+p.Words[0].Start < u.said {
		shift = u.audio
	}
	for _, w := range p.Words {
		w.Start, w.End = w.Start+shift, w.End+shift
		u.words, u.said = append(u.words, w), max(u.said, w.End)
	}
}

// count takes characters that were spoken, and marks the end of the Says of which they are the last.
func (u *utterance) count(characters int) bool {
	u.characters += characters
	u.mu.Lock()
	n, sum := 0, 0
	for _, t := range u.texts {
		if sum += t.visible; sum > u.characters {
			break
		}
		n++
	}
	for u.spoken < len(u.groups) && u.groups[u.spoken] <= n {
		u.spoken++
	}
	u.mu.Unlock()
	return u.ends(n, nil)
}

func (u *utterance) rate() media.Rate { return u.engine.vendor.Rate(u.voice) }

// current is the number of the Say that is spoken now, or of the last of those that were flushed together. The lock is held.
func (u *utterance) current() int {
	if u.spoken < len(u.groups) {
		return u.groups[u.spoken]
	}
	return len(u.texts)
}

// advance marks the ends of Says that were flushed together, up to the one in which the oldest waiting word is; false: nobody
// wants more.
func (u *utterance) advance() bool {
	u.mu.Lock()
	to := u.marked
	if n := u.current(); len(u.words) > 0 && u.words[0].Text != "" {
		for i := u.marked; i < n; i++ {
			if t := u.texts[i]; strings.Contains(t.string[t.found:], u.words[0].Text) {
				to = i
				break
			}
		}
	}
	u.mu.Unlock()
	return u.ends(to, nil)
}

// chunk is audio of the Say that is spoken now, with the words that wait.
func (u *utterance) chunk(samples []int16) inference.Chunk {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := min(u.marked+1, len(u.texts))
	return inference.Chunk{Samples: samples, Rate: u.rate(), Words: u.place(n), Usage: u.usage(), Say: n, Sent: u.texts[n-1].at, Got: time.Now()}
}

// place finds the words that wait in the text of Say n. A word that is not there, because the vendor says it otherwise, has
// no place.
func (u *utterance) place(n int) []inference.Mark {
	words, t := u.words, &u.texts[n-1]
	u.words = nil
	for k := range words {
		w := &words[k]
		w.Char = -1
		if at := strings.Index(t.string[t.found:], w.Text); at >= 0 && w.Text != "" {
			w.Char = utf8.RuneCountInString(t.string[:t.found+at])
			t.found += at + len(w.Text)
		}
	}
	return words
}

// settle takes what the vendor charges for the oldest flush that is not settled; 0: it does not say.
func (u *utterance) settle(characters int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.billed += characters
	for last := characters == 0; !last && u.settled < u.sent; u.settled++ {
		last = u.messages[u.settled].flush
	}
}

// bill is the usage, once the vendor has said what it charges.
func (u *utterance) bill() *inference.Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.billed == 0 {
		return nil
	}
	return u.usage()
}

// usage is what was said so far: as the vendor charges, or else counted. The lock is held.
func (u *utterance) usage() *inference.Usage {
	usage := inference.Usage{Characters: u.billed, Audio: u.audio, Requests: 1, Source: inference.UsageProvider}
	for _, m := range u.messages[u.settled:u.sent] {
		usage.Characters += utf8.RuneCountInString(m.text)
		usage.Source = inference.UsageCounted
	}
	return &usage
}

// spend reports what the utterance has consumed.
func (u *utterance) spend() {
	u.mu.Lock()
	used := u.usage()
	u.mu.Unlock()
	if used.Characters > 0 {
		inference.Spent(u.ctx, inference.StageTTS, u.engine.client.Engine(), *used)
	}
}

// mark marks the end of the Says that were flushed together, or of all; false: nobody wants more.
func (u *utterance) mark(all bool) bool {
	u.mu.Lock()
	n := u.current()
	if all {
		n = len(u.texts)
	}
	var words []inference.Mark
	if n > u.marked {
		words = u.place(n)
	}
	u.mu.Unlock()
	u.spoken++
	return u.ends(n, words)
}

// ends delivers the ends of the Says up to n, the last with words.
func (u *utterance) ends(n int, words []inference.Mark) bool {
	for u.marked < n {
		u.marked++
		c := inference.Chunk{Say: u.marked, Last: true, Rate: u.rate(), Got: time.Now()}
		if u.marked == n {
			c.Words, c.Usage = words, u.bill()
		}
		if !u.deliver(c) {
			return false
		}
	}
	return true
}

// deliver says false when the utterance has ended first.
func (u *utterance) deliver(c inference.Chunk) bool {
	select {
	case u.chunks <- c:
		return true
	case <-u.ctx.Done():
		return false
	}
}

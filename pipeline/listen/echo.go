package listen

import (
	"strings"
	"time"
	"unicode"

	"parley/media"
)

// begin prepares for a leg that is written to at most lead ahead of its far end.
func (g *guard) begin(lead media.Time) {
	g.queue = make([]echoPart, int(lead/media.FrameTime)+8)
}

// flushed learns that the last d of what was written will not be played.
func (g *guard) flushed(d media.Time) { g.n = max(0, g.n-int(d/media.FrameTime)) }

// search weighs every delay by the frame heard.
func (g *guard) search() {
	heard, sum := &g.heard.band, float32(0)
	for _, v := range heard {
		sum += v * v
	}
	g.own = echoForget*g.own + sum
	sum = 0
	for _, v := range g.line[echoLags:] {
		sum += v * v
	}
	best, most := 0, float32(0)
	for lag := range g.cross {
		from := echoLags - lag
		x := (*[echoFrame]float32)(g.line[from : from+echoFrame])
		var a, b, c, d float32
		for i := 0; i < echoFrame; i += 4 {
			a += heard[i] * x[i]
			b += heard[i+1] * x[i+1]
			c += heard[i+2] * x[i+2]
			d += heard[i+3] * x[i+3]
		}
		cross := echoForget*g.cross[lag] + a + b + c + d
		energy := echoForget*g.energy[lag] + max(0, sum)
		g.cross[lag], g.energy[lag] = cross, energy
		if lag+1 < echoLags { // the next delay's frame begins one sample earlier
			first, last := g.line[from-1], x[echoFrame-1]
			sum += first*first - last*last
		}
		if cross*cross > most*(energy+1e-9) {
			best, most = lag, cross*cross/(energy+1e-9)
		}
	}
	g.seen++
	g.settle(best, most)
}

// settle believes in a delay that stays the best one and explains enough.
func (g *guard) settle(best int, most float32) {
	switch {
	case g.clear == echoTrain || g.seen < echoSeen:
	case most < echoUnlike*g.own:
		g.clear++
	default:
		g.clear = 0
	}
	if d := best - g.best; d < -echoSame || d > echoSame || most < echoAlike*g.own {
		g.best, g.steady = best, 0
		return
	}
	g.best = best
	if g.steady++; g.steady < echoSteady || g.seen < echoSeen {
		return
	}
	// What explains the band explains about as much of the whole.
	ratio := most / (g.energy[best] + 1e-9)
	if !g.found || g.lag != best {
		g.gain = ratio
	} else {
		g.gain += (ratio - g.gain) / 10
	}
	g.found, g.lag = true, best
}

// transcriptEcho is what the agent has said in the last seconds. It finds recognised text
// that repeats it: an echo that the echo guard let pass.
type transcriptEcho struct {
	texts [8]struct {
		text string
		at   time.Time // when its last frame was written
	}
	n int // written; the latest is at (n-1) modulo len
}

const (
	transcriptEchoFor = 4 * time.Second
	// A text is an echo when echoWords hundredths of its words are the agent's, in their
	// order. Where no echo was found on the line it must have leastEcho words: a short
	// answer often repeats the question.
	echoWords = 80
	leastEcho = 5
)

// repeats says whether text is the agent's own. over says that it was begun while the
// agent spoke: what is said after it answers it. found says that the line has an echo.
func (l *transcriptEcho) repeats(text string, over, found bool, now time.Time) bool {
	if !over || text == "" {
		return false
	}
	words := wordsOf(text)
	if len(words) == 0 || !found && len(words) < leastEcho {
		return false
	}
	var said []string
	for i := max(0, l.n-len(l.texts)); i < l.n; i++ {
		if t := &l.texts[i%len(l.texts)]; now.Sub(t.at) <= transcriptEchoFor {
			said = append(said, wordsOf(t.text)...)
		}
	}
	return 100*common(words, said) >= echoWords*len(words)
}

// wordsOf is a text's words in lower case without punctuation.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// common is the length of the longest sequence of words that a and b share, in order
// and with others in between.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			up := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

package listen

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"parley/media"
)

// The echo guard. A far end on a loudspeaker gives the agent its own voice back, which
// is no speech of the caller's. The guard looks for what was played in what is heard,
// by cross-correlation of both at echoRate over delays of up to half a second: when what was
// played explains half of what is heard at one delay, the echo's level is known at any time, and only
// what is echoMargin above it passes for speech. The floor of -35 dBFS holds until a line is known to have
// no echo, and on lines that have one: quiet callers have a right to interrupt. It costs nothing while the agent
// is silent, and one search of about 25 us a frame otherwise at most.
//
// An echo that passes is found by its words (transcriptEcho): text that was begun over the agent's voice and repeats it, when it has
// five words or the line has an echo; short answers repeat the question.
const (
	echoRate  = 2000 // Hz
	echoFrame = echoRate / 50
	echoLags  = echoRate / 2 // half a second
	echoLine  = echoLags + echoFrame
	// echoPowers are the played frames whose echo can be heard now, and the ones around.
	echoPowers = echoLags/echoFrame + 2
	// echoTrain is how many frames nothing of the agent's voice is heard in, while it
	// could be, until a line is believed to have no echo: 300 ms after the longest delay.
	echoTrain = 40
)

const (
	echoForget  = 0.95   // of what was seen, a frame: it fades in 400 ms
	echoSeen    = 12     // frames of both before a delay is looked at
	echoSteady  = 8      // frames that a delay stays the best one
	echoSame    = 2      // samples by which it may move
	echoAlike   = 0.5    // share of what is heard that what is played explains, at least
	echoUnlike  = 0.25   // and at most where there is no echo
	echoQuiet   = 1e-6   // -60 dBFS: below is nothing
	echoFloor   = 1e-5   // -50 dBFS: what is left must be this loud
	echoUnknown = 3.2e-4 // -35 dBFS: and this loud while the line is not known,
	echoWorst   = 0.03   // or within 15 dB of what is played, where that is less
	echoMargin  = 4      // 6 dB: and this many times the echo
	echoSure    = 3      // frames of speech after which a gap in it
	echoHold    = 5      // of this many frames stays speech
	echoLess    = 0.25   // -6 dB: heard below the estimate, which is too high then
	echoDecline = 0.97   // by which it falls a frame
)

// echoPart is one frame of one end: its band around 500 Hz and its whole power.
type echoPart struct {
	band  [echoFrame]float32
	power float32
}

// guard is the echo guard. It allocates with begin only.
type guard struct {
	far, near echoBand
	queue     []echoPart // written and not yet played; a ring
	head, n   int
	line      [echoLine]float32   // played, the newest last
	powers    [echoPowers]float32 // of the frames played, the newest last
	active    int                 // frames until nothing of it can be heard any more
	heard     echoPart            // the frame heard last

	clear   int               // frames in a row without the agent's voice, up to echoTrain
	seen    int               // frames of both
	cross   [echoLags]float32 // of line and heard, by delay
	energy  [echoLags]float32 // of line, by delay
	own     float32           // of heard
	best    int               // delay
	steady  int
	found   bool
	lag     int
	gain    float32 // power of the echo, of what was played
	sure    int
	holding int
}

// echoBand reduces frames to echoRate: means of 0.5 ms, and their difference to the last
// but one, which passes 500 Hz and neither hum nor what the means have folded down.
type echoBand struct{ before, last float32 }

func (b *echoBand) reduce(f media.Frame, p *echoPart) {
	n := len(f.Samples)
	sum := 0.0
	from := 0
	for k := range p.band {
		to := (k + 1) * n / echoFrame
		mean := float32(0)
		for _, v := range f.Samples[from:to] {
			x := float32(v) / 32768
			mean += x
			sum += float64(x * x)
		}
		mean /= float32(max(1, to-from))
		from = to
		p.band[k] = mean - b.before
		b.before, b.last = b.last, mean
	}
	p.power = float32(sum / float64(max(1, n)))
}

// begin prepares for a leg that is written to at most lead ahead of its far end.
func (g *guard) begin(lead media.Time) {
	g.queue = make([]echoPart, int(lead/media.FrameTime)+8)
}

// wrote takes a frame that was written to the leg; speech says that it is not silent.
func (g *guard) wrote(f media.Frame, speech bool) {
	if g.n == len(g.queue) { // more than the far end can hold: the oldest has been played
		g.head = (g.head + 1) % len(g.queue)
		g.n--
	}
	p := &g.queue[(g.head+g.n)%len(g.queue)]
	g.n++
	if !speech {
		*p = echoPart{}
		g.far = echoBand{}
		return
	}
	g.far.reduce(f, p)
}

// flushed learns that the last d of what was written will not be played.
func (g *guard) flushed(d media.Time) { g.n = max(0, g.n-int(d/media.FrameTime)) }

// listen takes a frame that was heard, as it came, while the oldest one written was
// being played.
func (g *guard) listen(f media.Frame) {
	played := &echoPart{}
	if g.n > 0 {
		played = &g.queue[g.head]
		g.head = (g.head + 1) % len(g.queue)
		g.n--
	}
	if played.power > echoQuiet {
		g.active = echoPowers
	} else if g.active > 0 {
		g.active--
	}
	if g.active == 0 {
		return
	}
	copy(g.line[:], g.line[echoFrame:])
	copy(g.powers[:], g.powers[1:])
	copy(g.line[echoLags:], played.band[:])
	g.powers[echoPowers-1] = played.power
	g.near.reduce(f, &g.heard)
}

// speech says whether the frame that was listened to holds speech of the caller's, when
// the detector says that it holds speech.
func (g *guard) speech(detected bool) bool {
	if g.active == 0 {
		g.sure, g.holding = 0, 0
		return detected
	}
	if g.heard.power <= echoQuiet {
		if g.clear = min(g.clear+1, echoTrain); g.seen == 0 { // a line on which nothing was ever heard
			return detected
		}
	} else if detected || g.clear < echoTrain {
		g.search()
	}
	estimate := g.estimate()
	if !detected {
		g.sure, g.holding = 0, max(0, g.holding-1)
		return false
	}
	if !g.found && g.clear < echoTrain {
		estimate = min(echoUnknown, echoWorst*slices.Max(g.powers[:])) / echoMargin
	}
	left := g.heard.power - estimate
	begun := !g.found && g.sure >= echoSure // speech goes on through its weak sounds
	if (g.found || g.clear < echoTrain) && !begun && (left < echoFloor || left < echoMargin*estimate) {
		g.sure, g.holding = 0, max(0, g.holding-1)
		return g.holding > 0
	}
	if g.sure++; g.sure >= echoSure {
		g.holding = echoHold
	}
	return true
}

// estimate is the power of the echo in the frame heard, at most.
func (g *guard) estimate() float32 {
	if !g.found {
		return 0
	}
	at := echoPowers - 1 - g.lag/echoFrame
	played := max(g.powers[min(at+1, echoPowers-1)], g.powers[at], g.powers[max(at-1, 0)])
	if e := g.gain * played; e > echoQuiet && g.heard.power < echoLess*e {
		g.gain *= echoDecline
		g.found = g.gain > echoQuiet
	}
	return g.gain * played
}

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

// note takes the sentence whose frame is being written. It does not allocate.
func (l *transcriptEcho) note(text string, now time.Time) {
	if l.n == 0 || l.texts[(l.n-1)%len(l.texts)].text != text {
		l.n++
	}
	t := &l.texts[(l.n-1)%len(l.texts)]
	t.text, t.at = text, now
}

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

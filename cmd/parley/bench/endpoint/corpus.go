// Package endpoint has scripted callers take turns with pauses in them, in six languages and simulated time, and says how often
// the turn machine cuts them off and how long it has them wait. There is no sound: what counts are words and pauses.
//
// The turns are ours (turns/*.txt). A stroke is a pause of a speaker who goes on: "/" after words that could have ended the
// turn, "|" after words that could not, and a third of them are of the first kind. How long it lasts is drawn from a lognormal
// distribution: the logarithms of pauses are close to normally distributed in all languages that were measured, say E. Campione
// and J. Véronis, "A large-scale multilingual study of silent pause duration", Speech Prosody 2002, of 6,000 pauses in English,
// French, German, Italian and Spanish, brief ones below 200 ms, medium ones, and in free speech long ones above 1 s; and M. Demol,
// W. Verhelst and P. Verhoeve, "The duration of speech pauses in a multilingual environment", Interspeech 2007. Each speaker has a
// median of 0.3 to 0.5 s, as speakers differ (K. Lundholm Fors, "Production and perception of pauses in speech", Gothenburg 2015). With
// a deviation of 0.6 of the natural logarithm an eighth of the pauses are brief and one in sixteen is long.
//
// Rules are tuned on the turns of odd lines, and judged by those of even ones, which have other sentences and other speakers.
package endpoint

import (
	"embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/media"
)

// Languages are those of the turns.
var Languages = []string{"de", "en", "es", "fr", "it", "pt"}

// Half is which half of the turns.
type Half int

// The halves.
const (
	Tuned  Half = iota // rules are made by these
	Judged             // and judged by these
)

// What the turns are drawn with.
const (
	seed     = 8
	speakers = 10 // of a language, in each half
	turns    = 10 // of a speaker

	leastMedian, mostMedian = 0.3, 0.5 // of a speaker's pauses, in seconds
	deviation               = 0.6      // of their natural logarithm
)

// call is a speaker's turns.
type call []scripted

// scripted is a turn.
type scripted []phrase

// phrase is what is said between two pauses.
type phrase struct {
	words []word
	pause media.Time // after it; 0: the turn has ended
	could bool       // the words so far could have ended the turn
	final media.Time // what the recogniser takes for its last result, once the utterance is finished
	wrong bool       // a scorer misjudges the pause
}

type word struct {
	text   string
	length media.Time
	lag    media.Time // from its end until the recogniser reports it
}

//go:embed turns/*.txt
var files embed.FS

// calls are those of a language in a half, always the same.
func calls(language string, half Half) []call {
	text, err := files.ReadFile("turns/" + language + ".txt")
	if err != nil {
		panic(err) // the languages are ours
	}
	var lines []string
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i%2 == int(half) {
			lines = append(lines, line)
		}
	}
	d := drawer{rand.New(rand.NewPCG(seed, uint64(2*slices.Index(Languages, language)+int(half))))}
	var deck []string
	var all []call
	for range speakers {
		median := leastMedian + (mostMedian-leastMedian)*d.Float64()
		var c call
		for range turns {
			if len(deck) == 0 { // each line is as frequent as any other
				deck = slices.Clone(lines)
				d.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
			}
			c = append(c, d.turn(deck[0], median))
			deck = deck[1:]
		}
		all = append(all, c)
	}
	return all
}

// drawer draws what the script leaves open.
type drawer struct{ *rand.Rand }

// turn reads a line: words, strokes, and {one,or,the other}.
func (d drawer) turn(line string, median float64) scripted {
	t := scripted{d.phrase()}
	for _, w := range strings.Fields(d.choose(line)) {
		p := &t[len(t)-1]
		if w != "/" && w != "|" {
			p.words = append(p.words, d.word(w))
			continue
		}
		p.could = w == "/"
		p.pause = seconds(median * math.Exp(deviation*d.NormFloat64()))
		t = append(t, d.phrase())
	}
	return t
}

func (d drawer) choose(line string) string {
	for {
		before, rest, found := strings.Cut(line, "{")
		if !found {
			return line
		}
		choice, after, closed := strings.Cut(rest, "}")
		if !closed {
			panic(fmt.Sprintf("endpoint: a choice is not closed in %q", line))
		}
		options := strings.Split(choice, ",")
		line = before + options[d.IntN(len(options))] + after
	}
}

// Scorer is how good the fake of a scorer is: it takes scorerDelay for an answer and is wrong in a share of
// scorerError of the pauses.
const (
	scorerError = 0.05
	scorerDelay = 60 * media.Millisecond
)

// phrase draws a recogniser's delay of 80 to 200 ms for the last result.
func (d drawer) phrase() phrase {
	return phrase{final: d.between(80, 200), wrong: d.Float64() < scorerError}
}

// word is spoken at some 45 ms a letter, and reported after 150 to 350 ms.
func (d drawer) word(text string) word {
	length := (0.12 + 0.045*float64(utf8.RuneCountInString(text))) * (0.8 + 0.4*d.Float64())
	return word{text: text, length: seconds(length), lag: d.between(150, 350)}
}

func (d drawer) between(least, most int) media.Time {
	return media.Time(least+d.IntN(most-least)) * media.Millisecond
}

// seconds is the nearest number of frames, at least one.
func seconds(s float64) media.Time {
	return max(1, media.Time(math.Round(s*float64(media.Second)/float64(media.FrameTime)))) * media.FrameTime
}

package acceptance

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/media"
)

// A narrator is a language model and a voice behind HTTP. Its voice says each word as a
// pair of tones of the word's own, so whoever listens knows which words they heard, to
// the sample; and its sentences are numbered, so none is ever meant twice.
type narrator struct {
	*httptest.Server

	mu        sync.Mutex
	requests  []request // what the model was asked
	sentences int       // written so far
	codes     map[string]int
	words     []string // by code
}

// request is what the model was told, and what it wrote.
type request struct {
	told     []told
	written  string
	reported int64 // tokens of what it wrote
}

// firstPrompt is how many tokens the first request is reported to have; each has one more
// than the one before.
const firstPrompt = 100

type told struct{ Role, Content string }

// Words of tones. Those of replies are equally long, so that the share of a sentence's
// letters is the share of its time.
const (
	toneTime   = 200 * time.Millisecond
	wordTime   = 240 * time.Millisecond
	narrated   = media.Rate24k
	lows       = 10
	lowTone    = 400.0 // Hz
	lowStep    = 90.0
	highTone   = 1500.0
	highStep   = 150.0
	perPlace   = 16 // words that may stand in one place of a sentence
	placeCount = 4
)

var vocabulary = strings.Fields(`
	apple bread chair dress eagle fruit glass horse image jelly knife lemon metal night ocean piano
	queen river sheep table uncle voice water youth zebra amber brick cloud daisy earth flame grape
	heart ivory juice koala light mango novel olive paper quilt raven sugar tiger umbra vapor whale
	acorn berry coral dough elbow fairy globe honey igloo joker kayak lilac maple nurse opera pearl`)

func newNarrator() *narrator {
	n := &narrator{codes: map[string]int{}}
	for _, w := range vocabulary {
		n.code(w)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", n.complete)
	mux.HandleFunc("POST /v1/audio/speech", n.speak)
	n.Server = httptest.NewServer(mux)
	return n
}

// code is a word's pair of tones.
func (n *narrator) code(word string) int {
	c, ok := n.codes[word]
	if !ok {
		c = len(n.words) % (lows * lows) // the agent's own lines have few words
		n.codes[word], n.words = c, append(n.words, word)
	}
	return c
}

// numbered is sentence i: its first three words are its number, the last may be any.
func numbered(i int) string {
	parts := make([]string, placeCount)
	for place := range parts {
		parts[place] = vocabulary[perPlace*place+i>>(4*place)%perPlace]
	}
	parts[placeCount-1] = vocabulary[perPlace*(placeCount-1)+i*7%perPlace]
	return strings.ToUpper(parts[0][:1]) + strings.Join(parts, " ")[1:] + "."
}

// sentenceOf is the number of the sentence that three words begin; below 0: none.
func sentenceOf(words []string) int {
	i := 0
	for place, w := range words[:placeCount-1] {
		at := slices.Index(vocabulary[perPlace*place:perPlace*(place+1)], w)
		if at < 0 {
			return -1
		}
		i += at << (4 * place)
	}
	return i
}

// complete writes two to eight sentences, word by word, and says with each what was used.
func (n *narrator) complete(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Messages []told }
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	at := len(n.requests)
	var list []string
	for range 2 + (at*5)%7 {
		list = append(list, numbered(n.sentences))
		n.sentences++
	}
	text := strings.Join(list, " ")
	n.requests = append(n.requests, request{asked.Messages, text, int64(placeCount * len(list))})
	n.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	out := 0
	for piece := range strings.SplitAfterSeq(text, " ") {
		out++
		b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": piece}}},
			"usage": map[string]int{"prompt_tokens": firstPrompt + at, "completion_tokens": out}}) // maps of strings and numbers
		fmt.Fprintf(w, "data: %s\n\n", b)
		w.(http.Flusher).Flush()
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func (n *narrator) speak(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Input string }
	if json.NewDecoder(r.Body).Decode(&asked) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var pcm []byte
	for _, word := range plain(asked.Input) {
		n.mu.Lock()
		code := n.code(word)
		n.mu.Unlock()
		low, high := tones(code)
		for i := range media.FromDuration(wordTime).Samples(narrated) {
			v, at := 0.0, float64(i)/float64(narrated)
			if at < toneTime.Seconds() {
				edge := min(1, at/0.005, (toneTime.Seconds()-at)/0.005)
				v = 8000 * edge * (math.Sin(2*math.Pi*low*at) + math.Sin(2*math.Pi*high*at))
			}
			pcm = binary.LittleEndian.AppendUint16(pcm, uint16(int16(v)))
		}
	}
	w.Header().Set("Content-Type", "audio/pcm")
	_, _ = w.Write(pcm)
}

func tones(code int) (low, high float64) {
	return lowTone + lowStep*float64(code%lows), highTone + highStep*float64(code/lows)
}

// heardWord is a word that somebody heard, from where to where in the samples.
type heardWord struct {
	word     string
	from, to int
	sound    int // samples of it; there may be a hole between
}

func (h heardWord) String() string {
	return fmt.Sprintf("%s %v %v", h.word, media.Rate8k.Duration(h.from).Duration(), h.length())
}

// length is how much of the word was heard.
func (h heardWord) length() time.Duration { return media.Rate8k.Duration(h.sound).Duration() }

// listen finds the words in what was heard at 8 kHz. One that a busy machine has torn, with
// silence in between, is one: the voice never says the same word twice in a row.
func (n *narrator) listen(samples []int16) (heard []heardWord) {
	const window, hop = 160, 80
	torn := media.FromDuration(time.Second).Samples(media.Rate8k)
	for at := 0; at+window <= len(samples); at += hop {
		code, ok := tonesOf(samples[at : at+window])
		if !ok || code >= len(n.words) {
			continue
		}
		word := n.words[code]
		// A window's middle stands for it.
		from, to := at+window/2-hop/2, at+window/2+hop/2
		if k := len(heard) - 1; k >= 0 && heard[k].word == word && from-heard[k].to < torn {
			heard[k].to = to
			heard[k].sound += hop
			continue
		}
		heard = append(heard, heardWord{word, from, to, hop})
	}
	return heard
}

// tonesOf is the pair of tones that a piece of sound is, if it is one (Goertzel).
func tonesOf(x []int16) (code int, ok bool) {
	total := 0.0
	for _, v := range x {
		total += float64(v) * float64(v)
	}
	if total/float64(len(x)) < 100*100 { // -50 dBFS
		return 0, false
	}
	power := func(tone float64) float64 {
		c := 2 * math.Cos(2*math.Pi*tone/float64(media.Rate8k))
		a, b := 0.0, 0.0
		for _, v := range x {
			a, b = float64(v)+c*a-b, a
		}
		return (a*a + b*b - c*a*b) * 2 / float64(len(x))
	}
	var best [2]int
	var sum float64
	for group, first := range [2]float64{lowTone, highTone} {
		most := 0.0
		for k := range lows {
			if p := power(first + [2]float64{lowStep, highStep}[group]*float64(k)); p > most {
				most, best[group] = p, k
			}
		}
		if most < total/10 {
			return 0, false
		}
		sum += most
	}
	return best[0] + lows*best[1], sum > 0.7*total
}

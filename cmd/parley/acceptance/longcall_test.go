package acceptance

import (
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
)

// TestLongCall is the short form of TestSoakLongCall.
func TestLongCall(t *testing.T) {
	t.Parallel()
	longCall(t, time.Minute)
}

// TestSoakLongCall: a conversation of twenty minutes on the telephone with interruptions,
// noise and silence, in which no reply is spoken twice, the model is told of no word that
// was not heard, and the two sides of the recording lie beside each other.
func TestSoakLongCall(t *testing.T) {
	soak(t)
	longCall(t, 20*time.Minute)
}

const longCallAgent = `name: Lola
voice: F1
language: en
prompt: You answer the telephone of a restaurant.
first_message: Hello, how can I help you?
settings:
  idle_seconds: 8
  idle_reprompts: 10
  speculative_llm: true
  speculative_voice: true
  record: true
  ring_ms: 200
  analysis:
    summary: true
  phrases:
    - what time do you open on Monday
    - stop please wait
    - tell me a story
    - thank you
`

// visitor is a caller who does by chance what callers do.
type visitor struct {
	*caller
	rng    *rand.Rand
	begins []time.Time // of each clip
	clips  [][]int16
	asks   [][]int16
	stop   []int16
	did    map[string]int
}

func longCall(t *testing.T, lasts time.Duration) {
	n := newNarrator()
	t.Cleanup(n.Close)
	s := serve(t, newDataDir(t), []string{"PARLEY_LLM=openai", "PARLEY_LLM_URL=" + n.URL + "/v1", "PARLEY_TTS=openai", "PARLEY_TTS_URL=" + n.URL + "/v1"})
	who := newCustomer(t, s, "100")
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(longCallAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, s.dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--file", file)
	v := &visitor{rng: rand.New(rand.NewPCG(uint64(lasts), 1)), did: map[string]int{}}
	for i, text := range []string{"What time do you open on Monday", "Tell me a story", "Thank you", "What time do you open on Monday"} {
		v.asks = append(v.asks, speak(t, []string{"slt", "rms", "awb", "slt"}[i], text, media.Rate8k))
	}
	v.stop = speak(t, "slt", "Stop please wait", media.Rate8k)
	line := newBadLine(t, s, mediatest.Link{}) // it is a good one: what passes is only listened to
	line.mu.Lock()
	line.taps = [2]*wiretap{{}, {}}
	line.mu.Unlock()
	var err error
	if v.caller, err = dialAt(t, line.sip.LocalAddr().String(), newPhone(t), who.number, "+34600000001"); err != nil {
		t.Fatal(err)
	}
	v.awaitVoice("the greeting", 0, time.Second)
	v.converse(v.answered.Add(lasts))
	v.hangUp()

	b := openBooks(t, s)
	x := b.closed(who.account, 1)[0]
	if x.Reason != "user_hangup" {
		t.Errorf("ended with %s %s", x.Reason, x.Detail)
	}
	n.checkMetered(t, b, who.account)
	line.mu.Lock()
	defer line.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	words := n.listen(line.taps[1].samples)
	t.Logf("the caller %v; %d requests", v.did, len(n.requests))
	checkOnce(t, words)
	n.checkTold(t, words)
	checkAligned(t, v, line.taps, words, getRecording(t, s, who, x.ID))
}

// getRecording is the two sides of a call's recording, at 8 kHz.
func getRecording(t *testing.T, s *server, who customer, id string) (sides [2][]int16) {
	t.Helper()
	status, body := 0, []byte(nil)
	for end := time.Now().Add(10 * patience); status != http.StatusOK; time.Sleep(100 * time.Millisecond) {
		if status, body = ask(t, s, who.key, "/v1/calls/"+id+"/recording?format=wav"); time.Now().After(end) {
			t.Fatalf("the recording is not ready: %d", status) // it is encoded when nothing else is to do
		}
	}
	if len(body) < 44 || string(body[:4]) != "RIFF" || body[22] != 2 || int(body[24])|int(body[25])<<8 != int(media.Rate8k) {
		t.Fatalf("the recording is no WAV of two channels at 8 kHz: %q", body[:min(44, len(body))])
	}
	for body = body[44:]; len(body) >= 4; body = body[4:] {
		for side := range sides {
			sides[side] = append(sides[side], int16(uint16(body[2*side])|uint16(body[2*side+1])<<8))
		}
	}
	return sides
}

// converse does one thing after another until the end.
func (v *visitor) converse(end time.Time) {
	for time.Now().Before(end) {
		switch v.rng.IntN(6) {
		case 0, 1:
			v.asksAndListens()
		case 2, 3:
			v.interrupts()
		case 4:
			v.isNoisy()
		default:
			v.did["kept silent"]++
			time.Sleep(time.Duration(1+v.rng.IntN(11)) * time.Second) // the conversation goes on in real time
		}
	}
}

func (v *visitor) says(clip []int16) {
	v.t.Helper()
	v.mu.Lock()
	v.begins, v.clips = append(v.begins, time.Now()), append(v.clips, clip)
	v.speech.add(clip)
	v.mu.Unlock()
	v.say(nil)
}

// asksAndListens asks something; what was not understood has no answer but a re-prompt.
func (v *visitor) asksAndListens() {
	v.did["asked"]++
	mark := v.mark()
	v.says(v.asks[v.rng.IntN(len(v.asks))])
	v.awaitVoice("an answer", mark, 300*time.Millisecond)
}

// interrupts asks, and does not want to hear the end of it.
func (v *visitor) interrupts() {
	v.did["interrupted"]++
	mark := v.mark()
	v.says(v.asks[v.rng.IntN(len(v.asks))])
	least := time.Duration(300+v.rng.IntN(2500)) * time.Millisecond
	eventually(v.t, "the beginning of an answer", func() bool { return v.hears(mark) >= least || v.rested(mark) })
	mark = v.mark()
	v.says(v.stop)
	v.awaitVoice("an answer", mark, 300*time.Millisecond)
}

// isNoisy asks, and something falls down or rushes while the answer is heard.
func (v *visitor) isNoisy() {
	v.did["was noisy"]++
	mark := v.mark()
	v.says(v.asks[v.rng.IntN(len(v.asks))])
	eventually(v.t, "the beginning of an answer", func() bool { return v.hears(mark) >= 300*time.Millisecond })
	length, level := time.Duration(80+v.rng.IntN(300))*time.Millisecond, -15.0
	if v.rng.IntN(2) == 0 {
		length, level = time.Duration(1+v.rng.IntN(4))*time.Second, -38
	}
	noise := make([]int16, media.FromDuration(length).Samples(media.Rate8k))
	for i := range noise {
		noise[i] = int16(math.Pow(10, level/20) * 32767 * max(-1, min(1, v.rng.NormFloat64()/3)))
	}
	v.say(noise)
	v.awaitVoice("the rest", mark, 300*time.Millisecond)
}

// checkOnce wants the numbers of the sentences heard to grow: none came twice, none of a
// reply that is over came late.
func checkOnce(t *testing.T, heard []heardWord) {
	t.Helper()
	var words []string
	for _, h := range heard {
		words = append(words, h.word)
	}
	last, count := -1, 0
	for i := 0; i+placeCount-1 <= len(words); i++ {
		switch n := sentenceOf(words[i : i+placeCount-1]); {
		case n < 0:
		case n <= last:
			t.Errorf("after sentence %d came sentence %d: %q", last, n, numbered(n))
		default:
			last = n
			count++
		}
	}
	t.Logf("%d words heard, %d whole sentences", len(words), count)
	if count < 5 {
		t.Errorf("%d sentences were heard", count)
	}
}

// checkTold wants every word that the model was told it had said to have been heard, to
// its end and in that order; and of what was heard it was told all but the last two words
// of each reply.
func (n *narrator) checkTold(t *testing.T, heard []heardWord) {
	t.Helper()
	said := map[string]bool{} // what the model was told that it had said, once each
	next := 0                 // the request whose reply comes next
	at := 0                   // the word heard after those of the reply before
	replies, cut := 0, 0
	for _, r := range n.requests {
		for _, m := range r.told {
			text, interrupted := strings.CutSuffix(m.Content, " …")
			words := plain(text)
			if m.Role != "assistant" || said[text] || len(words) == 0 || n.codes[words[0]] >= perPlace {
				continue // a line of the agent's own begins with another word
			}
			said[text] = true
			for next < len(n.requests) && !strings.HasPrefix(n.requests[next].written, text) {
				next++
			}
			if next == len(n.requests) {
				t.Fatalf("the model was told that it had said %q, which it had not, or not then", m.Content)
			}
			replies++
			if interrupted {
				cut++
			}
			from, most := at, 0
			for i := at; i < len(heard); i++ {
				if k := begins(heard[i:], words); k > most {
					from, most = i, k
				}
			}
			if most < len(words) {
				t.Errorf("the model was told that it had said %q; heard was %v", m.Content, heard[from:min(len(heard), from+len(words)+3)])
				continue
			}
			at = from + most
			rest := plain(n.requests[next].written)[len(words):]
			if interrupted && len(rest) >= 3 && begins(heard[at:], rest[:3]) == 3 {
				t.Errorf("of %q the caller heard %q more", text, rest[:3])
			}
		}
	}
	t.Logf("the model was told of %d replies, %d of them cut", replies, cut)
	if replies < 3 || cut < 1 {
		t.Errorf("the model was told of %d replies, %d of them cut", replies, cut)
	}
}

// begins is how many of words what was heard begins with. The last of them must be whole:
// the others are what came before it, however a busy machine tore them.
func begins(heard []heardWord, words []string) int {
	for i, w := range words {
		least := toneTime / 4
		if i == len(words)-1 {
			least = toneTime - 60*time.Millisecond // 10 ms are missing at each edge and each tear
		}
		if i == len(heard) || heard[i].word != w || heard[i].length() < least {
			return i
		}
	}
	return len(words)
}

package dashboard_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/denoise"
	"parley/api/socket"
	"parley/api/stt"
	"parley/api/tts"
	"parley/billing"
	"parley/inference/enginetest"
	"parley/media/vad"
	"parley/store"
)

// tried are fake books: they note what was used, and by whom.
type tried struct {
	mu     sync.Mutex
	refuse error
	used   map[billing.Kind]int64
	who    api.Principal
}

func (b *tried) Begin(ctx context.Context, who api.Principal, j api.Job) (api.Work, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.who = who
	return &triedWork{b, j.Kind, ctx}, b.refuse
}

// of is how much of a kind was used.
func (b *tried) of(kind billing.Kind) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used[kind]
}

type triedWork struct {
	books *tried
	kind  billing.Kind
	ctx   context.Context
}

func (w *triedWork) Context() context.Context { return w.ctx }
func (w *triedWork) End(error)                {}
func (w *triedWork) Used(n int64) {
	w.books.mu.Lock()
	defer w.books.mu.Unlock()
	used := maps.Clone(w.books.used)
	if used == nil {
		used = map[billing.Kind]int64{}
	}
	used[w.kind] += n
	w.books.used = used
}

// mountTrials adds the routes of speech, with fake engines.
func mountTrials(a *api.API, books api.Books) {
	voice, ear := enginetest.NewFakeTTS(), enginetest.NewFakeASR()
	voice.FirstAudio = 0
	ear.Name, ear.Texts = "fake ear", []string{"what time do you open " + hostile}
	log := slog.New(slog.DiscardHandler)
	tts.Mount(a, tts.New(voice), nil, books, log)
	stt.Mount(a, stt.Options{ASR: ear, VAD: vad.Spectral, Books: books, Sockets: socket.NewSet(), Log: log})
	denoise.Mount(a, books)
}

// speaks has the text that is there spoken.
func speaks(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("[data-speech=synthesis] [data-part=go]")
	b.Press(kb.Enter)
	b.Wait(trial("synthesis", `facts.textContent.includes("of speech in") && audio.duration > 0`))
	b.Accessible()
}

// trial is an expression about one of the things to try, in which its parts have their names.
func trial(name, expression string) string {
	return fmt.Sprintf(`(() => { const root = document.querySelector("[data-speech=%s]"), part = (n) => root.querySelector("[data-part=" + n + "]"),
		facts = part("facts"), fault = part("fault"), audio = part("audio"); return %s })()`, name, expression)
}

// TestSpeech: what is tried goes through the API as the user who is signed in, is charged to the account, and comes
// back to hear and to read; a refusal is said in words.
func TestSpeech(t *testing.T) {
	books := &tried{}
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(_ *dashboardtest.Site, a *api.API) { mountTrials(a, books) }}).SignIn()
	b := s.Tab(voicetest.Microphone(t, speaker())...)
	b.Allow("status of 402")
	b.Allow("status of 400")
	b.Allow("status of 415")
	b.Go("/app/speech")

	b.Fill("#text", "Good day, María.")
	b.Click("[data-speech=synthesis] [data-part=go]")
	b.Wait(trial("synthesis", `facts.textContent.includes("of speech in") && audio.duration > 0 && part("file").href.startsWith("blob:")`))
	if n := books.of(billing.TTS); n != 16 {
		t.Errorf("%d characters are charged", n)
	}
	tariff, err := billing.DefaultRateCard().Tariff(billing.Terms{Kind: billing.TTS})
	s.OK(err)
	bill, err := tariff.Price(billing.Usage{billing.TTSChars: 16})
	s.OK(err)
	shown := dashboardtest.Eval[float64](b, trial("synthesis", `Number(/Cost \$([0-9.]+)\./.exec(facts.textContent)?.[1])`))
	if want := float64(bill.Total()) / float64(billing.USD); shown < want*0.9 || shown > want*1.1 {
		t.Errorf("the page says $%g, and it is $%g", shown, want)
	}
	if books.who.Account != s.Account || books.who.Ticket == nil {
		t.Errorf("%+v asks", books.who)
	}
	books.mu.Lock()
	books.refuse = store.ErrInsufficientBalance
	books.mu.Unlock()
	b.Click("[data-speech=synthesis] [data-part=go]")
	b.Wait(trial("synthesis", fmt.Sprintf(`!fault.hidden && fault.textContent.includes(%q) && facts.textContent === ""`, api.ProblemOf(store.ErrInsufficientBalance).Message)))
	books.mu.Lock()
	books.refuse = nil
	books.mu.Unlock()

	b.Click("[data-speech=transcription] [data-part=go]")
	b.Wait(trial("transcription", `!fault.hidden && fault.textContent === "Choose a file." && document.activeElement === part("file")`))
	speech, err := filepath.Abs("../../testdata/speech/opening-hours.wav")
	s.OK(err)
	b.Do(chromedp.SetUploadFiles(chromedp.CSS("#recording"), []string{speech}))
	b.Click("[data-speech=transcription] [data-part=go]")
	b.Wait(trial("transcription", `fault.hidden && part("segments").rows.length > 0 && facts.textContent.includes("by fake ear")`))
	row := dashboardtest.Eval[string](b, trial("transcription", `[...part("segments").rows[0].cells].map((c) => c.textContent).join("|")`))
	if from, text, _ := strings.Cut(row, " s|"); from == "" || !strings.HasSuffix(text, "what time do you open "+hostile) {
		t.Errorf("the first utterance is %q", row)
	}
	charged := books.of(billing.STT)
	if charged <= 0 {
		t.Error("nothing is charged for a transcript")
	}
	b.Accessible()

	b.Click("[data-speech=transcription] [data-part=record]")
	b.Wait(trial("transcription", `part("record").textContent === "Stop (1 s)"`))
	b.Click("[data-speech=transcription] [data-part=record]")
	b.Wait(trial("transcription", `part("record").textContent === "Record" && facts.textContent.includes("of audio in")`))
	if n := books.of(billing.STT) - charged; n < 1000 || n > 60_000 {
		t.Errorf("%d ms of the microphone are charged", n)
	}

	b.Do(chromedp.SetUploadFiles(chromedp.CSS("#noisy"), []string{speech}))
	b.Click("[data-speech=denoise] [data-part=go]")
	b.Wait(trial("denoise", `facts.textContent.includes("of audio in") && audio.duration > 0 && part("before").duration > 0 && Math.abs(part("before").duration - audio.duration) < 0.1`))
	if books.of(billing.Denoise) <= 0 {
		t.Error("nothing is charged for a cleaned recording")
	}
	text := filepath.Join(t.TempDir(), "notes.txt")
	s.OK(os.WriteFile(text, []byte("no sound"), 0o600))
	b.Do(chromedp.SetUploadFiles(chromedp.CSS("#noisy"), []string{text}))
	b.Click("[data-speech=denoise] [data-part=go]")
	b.Wait(trial("denoise", `!fault.hidden && fault.textContent.length > 10`))
	b.Accessible()
	b.Check()
}

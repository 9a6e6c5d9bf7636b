package amd_test

import (
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/pipeline/amd"
)

// say feeds ms of speech or silence.
func feed(d *amd.Detector, ms int, speech bool) amd.Verdict {
	var frame [160]int16
	v := d.Verdict()
	for range ms / 20 {
		d.Listen(media.Frame{Samples: frame[:], Rate: rate})
		v = d.Step(speech, -20)
	}
	return v
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		language, text string
		want           amd.Verdict
	}{
		{"en", "Hi, you've reached Tom. Please LEAVE a  message!", amd.Machine},
		{"en", "i can’t take your call", amd.Machine},
		{"en", "hi if you record your name and reason for calling i'll see if this person is available", amd.Screening},
		{"en", "The person you're calling is using a screening service from Google. Go ahead and say your name and why you're calling.", amd.Screening},
		{"en", "you have reached the front desk", amd.Undecided},
		{"en", "mail box", amd.Undecided},
		{"es", "DEJE SU MENSAJE", amd.Machine}, {"es", "después de la señal", amd.Machine}, {"es", "diga su nombre y el motivo de la llamada", amd.Screening}, {"es", "dígame", amd.Undecided},
		{"fr", "laissez-moi un message après le bip", amd.Machine}, {"fr", "il n’est pas disponible", amd.Machine}, {"fr", "indiquez votre nom et la raison de votre appel", amd.Screening},
		{"de", "Bitte sprechen Sie nach dem Signalton", amd.Machine}, {"de", "nicht verfügbar", amd.Machine}, {"de", "nennen Sie den Grund Ihres Anrufs", amd.Screening},
		{"it", "il cliente non è al momento raggiungibile, lasciate un messaggio", amd.Machine}, {"it", "dica il suo nome e il motivo della chiamata", amd.Screening},
		{"pt", "Após o sinal, deixe a sua mensagem", amd.Machine}, {"pt", "diga o seu nome", amd.Screening},
		{"eu", "leave a message", amd.Undecided}, // there is nobody to recognise it
	} {
		d := amd.New(tt.language, rate)
		feed(d, 900, true)
		d.Words(tt.text)
		if got := feed(d, 20, true); got != amd.Undecided {
			t.Errorf("%s %q: %v before a second of speech", tt.language, tt.text, got)
		}
		if got := feed(d, 80, true); got != tt.want {
			t.Errorf("%s %q: %v, want %v", tt.language, tt.text, got, tt.want)
		}
	}
	d := amd.New("en", rate)
	long := ""
	for range 100 {
		long += "blah ß œ "
	}
	d.Words(long + "leave a message")
	if v := feed(d, 1000, true); v != amd.Machine {
		t.Errorf("the end of a long text counts for nothing: %v", v)
	}
}

// TestVerdicts are decisions by duration.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name string
		ms   []int // silence, speech, silence...
		want amd.Verdict
		by   int // ms
	}{
		{"nobody speaks", []int{4000}, amd.Unknown, 4000},
		{"a click", []int{300, 100, 3600}, amd.Unknown, 4000},
		{"hello", []int{500, 400, 1000}, amd.Human, 1900},
		{"hello, twice", []int{200, 400, 900, 400, 1000}, amd.Human, 2900},
		{"a late hello", []int{2900, 400, 700}, amd.Human, 4000},
		{"a hello at the last moment", []int{3600, 400}, amd.Unknown, 4000},
		{"a monologue", []int{200, 2600}, amd.Machine, 2800},
		{"a late monologue", []int{2000, 2000}, amd.Machine, 4000},
		{"neither", []int{1800, 1600, 600}, amd.Unknown, 4000},
	} {
		d := amd.New("en", rate)
		at := 0
		for i, ms := range tt.ms {
			for range ms / 20 {
				if v := d.Verdict(); v != amd.Undecided {
					t.Errorf("%s: %v after %d ms already", tt.name, v, at)
				}
				at += 20
				feed(d, 20, i%2 == 1)
			}
		}
		if v := d.Verdict(); v != tt.want || at != tt.by {
			t.Errorf("%s: %v after %d ms, want %v", tt.name, v, at, tt.want)
		}
	}
}

// TestBackground: what is far below the speaker's voice, and single frames, keep no
// person from having finished.
func TestBackground(t *testing.T) {
	d := amd.New("en", rate)
	feed(d, 500, false)
	feed(d, 600, true)
	for n := range 50 {
		if d.Step(true, -45); n%10 == 0 {
			d.Step(true, -20)
		}
	}
	if v := d.Verdict(); v != amd.Human {
		t.Error(v)
	}
}

// TestOpen: when one may speak.
func TestOpen(t *testing.T) {
	opens := func(d *amd.Detector, speech bool) time.Duration {
		for n := range 3000 {
			if d.Open() {
				return time.Duration(n) * media.FrameDuration
			}
			feed(d, 20, speech)
		}
		return -1
	}
	machine := func() *amd.Detector {
		d := amd.New("en", rate)
		if d.Open() {
			t.Error("before a verdict")
		}
		d.Words("leave a message")
		feed(d, 1000, true)
		return d
	}
	if got := opens(machine(), false); got != 20*time.Second {
		t.Errorf("a machine without a tone: after %v", got)
	}
	if got := opens(machine(), true); got != 30*time.Second {
		t.Errorf("a machine that never stops: after %v", got)
	}
	d := machine()
	feed(d, 19000, true)
	feed(d, 500, false)
	if got := opens(d, false); got != time.Second {
		t.Errorf("a machine that spoke for 19 s: after %v of silence more", got)
	}
	// What a long greeting made a machine was an assistant all the time.
	d = amd.New("en", rate)
	if v := feed(d, 3000, true); v != amd.Machine {
		t.Fatal(v)
	}
	d.Words("say your name and why you're calling")
	if v := feed(d, 1000, true); v != amd.Screening {
		t.Error(v)
	}
	if got := opens(d, false); got != 800*time.Millisecond {
		t.Errorf("an assistant: %v after its question", got)
	}
}

// TestDetectorAllocatesNothing in the 20 ms path, nor for words.
func TestDetectorAllocatesNothing(t *testing.T) {
	d := amd.New("en", rate)
	frame := media.Frame{Samples: beep(1000, 20), Rate: rate}
	mediatest.NoAllocs(t, func() {
		d.Listen(frame)
		d.Step(true, -20)
		d.Words("hello this is nobody you know, say what you want")
		d.Open()
	})
}

func BenchmarkDetector(b *testing.B) {
	d := amd.New("en", rate)
	frame := media.Frame{Samples: beep(1000, 20), Rate: rate}
	for b.Loop() {
		d.Listen(frame)
		d.Step(true, -20)
	}
}

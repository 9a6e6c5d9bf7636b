package wstts_test

import (
	"encoding/binary"
	"log/slog"
	"math"
	"testing"

	"parley/api/apitest"
	"parley/inference/espeak"
	"parley/inference/worker/workertest"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// The whole way with real voices: what a published client checks is there, and the
// mouth moves when there is sound.
func TestRealVoice(t *testing.T) {
	engine := workertest.Run(t, espeak.New(espeak.Config{Program: program, Log: slog.New(slog.DiscardHandler)}))
	s := newServer(t, apitest.OverNetwork, engine)
	c := s.connect(t, "/ws/tts")
	const text = "Hola, buenos días. Quería saber si mañana por la tarde tienen una mesa libre para cuatro personas."
	c.say(`{"text":%q,"voice":"F1","language":"es","visemes":true,"steps":5}`, text)
	list := c.answer()
	var samples []int16
	shapes, vowels, last := 0, 0, message{}
	for _, m := range list {
		for i := 0; i < len(m.audio); i += 2 {
			samples = append(samples, int16(binary.LittleEndian.Uint16(m.audio[i:])))
		}
		for _, v := range m.visemes {
			if shapes++; v.T < 0 || v.V < 0 || v.V >= len([]rune(text)) {
				t.Errorf("%+v", v)
			}
			if v.ID < 5 {
				vowels++
			}
		}
		last = m
	}
	if last.Kind != "EOS" {
		t.Fatalf("it ended with %+v", last)
	}
	// 98 characters: six seconds of speech, about as many sounds as letters.
	if d := float64(len(samples)) / 44100; d < 4 || d > 9 {
		t.Errorf("%.1f s of audio", d)
	}
	if shapes < 60 || shapes > 110 || vowels < shapes/3 {
		t.Errorf("%d shapes, %d of them vowels", shapes, vowels)
	}
	loud := 0.0
	for _, v := range samples {
		loud += float64(v) * float64(v)
	}
	if level := 20 * math.Log10(math.Sqrt(loud/float64(len(samples)))/32768); level < -35 || level > -12 {
		t.Errorf("%.1f dBFS", level)
	}
	if j := s.books.all()[0]; j.used != int64(len([]rune(text))) {
		t.Errorf("%d characters are charged", j.used)
	}
}

package worker

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"parley/media"
)

func TestMessagesComeBack(t *testing.T) {
	var pipe bytes.Buffer
	w := NewWriter(&pipe)
	sent := []Message{{Hello, 0, []byte("engine")}, {Audio, 7, media.AppendPCM(nil, []int16{1, -1, 32767, -32768})}, {Done, 1<<32 - 1, nil}, {Open, 2, make([]byte, MaxPayload)}}
	for _, m := range sent {
		if err := w.Send(m.Kind, m.Stream, m.Payload); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(&pipe)
	for _, want := range sent {
		m, err := r.Next()
		if err != nil || m.Kind != want.Kind || m.Stream != want.Stream || !bytes.Equal(m.Payload, want.Payload) {
			t.Fatalf("kind %d came back as kind %d of stream %d with %d bytes, %v", want.Kind, m.Kind, m.Stream, len(m.Payload), err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestOversizedMessages(t *testing.T) {
	if err := NewWriter(io.Discard).Send(Audio, 1, make([]byte, MaxPayload+1)); !errors.Is(err, ErrFormat) {
		t.Errorf("sent: %v", err)
	}
	if _, err := NewReader(bytes.NewReader([]byte{1, 0, 64, 0, 9, 0, 0, 0, 0})).Next(); !errors.Is(err, ErrFormat) {
		t.Errorf("received: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	var good bytes.Buffer
	w := NewWriter(&good)
	w.Send(Speak, 1, []byte(`{"voice":"en"}`))
	w.Send(Open, 2, EncodeModel([]byte("lm"), []byte("dictionary")))
	w.Send(Heard, 2, EncodeCount(320))
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:12])
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		var again bytes.Buffer
		w, read := NewWriter(&again), 0
		for {
			m, err := r.Next()
			if err != nil {
				break
			}
			read += headerBytes + len(m.Payload)
			DecodeCount(m.Payload)
			samples := media.AppendSamples(nil, m.Payload)
			if b := media.AppendPCM(nil, samples); !bytes.Equal(b, m.Payload[:len(m.Payload)&^1]) {
				t.Fatal("samples changed")
			}
			if lm, dictionary, err := DecodeModel(m.Payload); err == nil && len(lm)+len(dictionary)+4 != len(m.Payload) {
				t.Fatal("a model of another size")
			}
			w.Send(m.Kind, m.Stream, m.Payload)
		}
		if !bytes.Equal(again.Bytes(), data[:read]) {
			t.Fatal("what was read is not what was there")
		}
	})
}

func TestModelPayload(t *testing.T) {
	lm, dictionary, err := DecodeModel(EncodeModel([]byte("lm"), []byte("words")))
	if err != nil || string(lm) != "lm" || string(dictionary) != "words" {
		t.Errorf("%q, %q, %v", lm, dictionary, err)
	}
	for _, bad := range [][]byte{nil, {1, 0}, {9, 0, 0, 0, 'x'}, {255, 255, 255, 255}} {
		if _, _, err := DecodeModel(bad); !errors.Is(err, ErrFormat) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	w := NewWriter(io.Discard)
	audio := media.AppendPCM(nil, slices.Repeat([]int16{1}, 320))
	for b.Loop() {
		w.Send(Audio, 1, audio)
	}
}
